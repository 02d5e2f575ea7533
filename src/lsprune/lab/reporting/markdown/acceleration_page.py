"""Make the page of acceleration: measurements of time, memory and serving in, Markdown and figures out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprune.lab.reporting.acceleration import (
    FASTEST,
    ORDINARY,
    PATHS,
    TARGET_RATIO,
    TARGET_SHARE,
    Acceleration,
    SpeedPoint,
    accelerations,
)
from lsprune.lab.reporting.figures import files as figure_files
from lsprune.lab.reporting.figures.acceleration import draw_accelerations, draw_servings
from lsprune.lab.reporting.formatting import difference, per_cent
from lsprune.lab.reporting.markdown.syntax import anchor, block, escape, folded, table
from lsprune.lab.reporting.markdown.tables import cell
from lsprune.lab.reporting.records import Record
from lsprune.lab.reporting.serving import ServingPoint, ServingResults, servings

HOW = """\
Seconds are the least over several rounds, each with the device synchronised, after a warm-up that is not counted.
*Epoch* is one step on the whole graph, or one pass over the training graphs in batches of 1,024; *inference* scores all
nodes, or all test graphs. *Memory* is the peak of what PyTorch allocates in training beyond the graph itself, *in all*
with the graph; on a CPU, PyTorch's memory profiler counts it in an epoch that is not timed. Everything is relative to
the unpruned graph **on the same path**:

- *ordinary*: PyG's layers on a COO `edge_index`; self-loops and normalisation are computed in every step.
- *fastest*: at each share the backend with the shortest epoch of those measured there and on the unpruned graph:
  *sorted* (a sorted `EdgeIndex`, with sparse matrix products for GCN and SAGE; self-loops and normalisation computed
  once), *captured* (that as a CUDA graph), *fused* (attention in Triton kernels that store no row per edge) and
  *compiled* (`torch.compile`, as a CUDA graph on a GPU).

Edges are chosen by `LSP` with its defaults. Time depends on how many edges stay and on degrees, and hardly on which
edges they are. The graph *large* is generated: 2 M nodes, 60 M edges with power-law degrees, 100 columns, about the
size of ogbn-products; GAT has one head of 32 columns there, as on GitHub: with 8 heads of 16, each tensor with a
row per edge would take 32 GB.

What limits it: each edge costs time and memory, but so do nodes and kernel launches. An ordinary epoch of a few
milliseconds on a GPU is mostly launches, which take as long for a tenth of the edges (a CUDA graph has none), and a
faster backend spends a larger part of its time on nodes. *Memory, fastest* may compare two backends: *fused* needs
little memory at any share, and where *compiled* is faster with fewer edges, it needs more."""

SERVING = """\
The model is trained on the whole graph, and only the graph that it answers from is pruned: no training is repeated.
Accuracy is on the test nodes, with the weights of the best validation epoch on the whole graph; differences are in
points and paired by seed. Latency is relative to the whole graph: *full* scores all nodes at once, *batch* scores so
many random test nodes, with the time to gather everything within two hops of them. Mini-batches come from a loader of
our own that takes whole neighbourhoods: PyG's `NeighborLoader` needs pyg-lib or torch-sparse. `local-random` is k
random neighbours, `random` are random edges of the whole graph."""


def acceleration_page(records: Sequence[Record], link: str) -> tuple[str, dict[str, bytes]] | None:
    """Return Markdown and the figures that it shows, by their path beside it; None without measurements.

    Args:
        link: the path from the page to the folder of results.
    """
    timed, served = accelerations(records), servings(records)
    if not (timed or served):
        return None
    images: dict[str, bytes] = {}
    parts = [
        "# Acceleration",
        *_headline(timed),
        *_served_headline(served),
        f"Made from [the lines of every measurement]({link}) by `lsprune study page`: do not edit.",
        *(_timed(timed, images) if timed else []),
        *(["## Pruning for inference only", *_served(served, images)] if served else []),
    ]
    return "\n\n".join(parts) + "\n", images


# Training and inference


def _headline(groups: Sequence[Acceleration]) -> Iterator[str]:
    """Yield a sentence for each device: what a fifth of the edges costs a GAT."""
    for device in dict.fromkeys(group.device for group in groups):
        ratios = {
            path: {
                group.dataset: point.epoch
                for group in groups
                if (group.device, group.model) == (device, "gat")
                and (point := group.point(path, TARGET_SHARE)) is not None
                and point.epoch is not None
            }
            for path in PATHS
        }
        if ratios[ORDINARY]:
            words = [f"{_listed(ratios[path])} on the {path} path" for path in PATHS if ratios[path]]
            yield (
                f"**With {per_cent(TARGET_SHARE)} of the edges a training epoch of GAT takes {'; '.join(words)}** "
                f"of the time on the unpruned graph ({escape(device)})."
            )


def _listed(ratios: dict[str, float]) -> str:
    return ", ".join(f"{ratio:.2f} ({escape(dataset)})" for dataset, ratio in ratios.items())


def _timed(groups: Sequence[Acceleration], images: dict[str, bytes]) -> Iterator[str]:
    for device in dict.fromkeys(group.device for group in groups):
        here = [group for group in groups if group.device == device]
        yield f"## Time and memory on {escape(device)}"
        path = f"results/acceleration-{anchor(device)}.svg"
        if any(point.epoch is not None for group in here for point in group.points(ORDINARY)):
            images[path] = figure_files.to_svg(draw_accelerations(here))
            yield f"![Relative epoch time against the share of edges kept on {escape(device)}]({path})"
        yield f"Relative to the unpruned graph, with {per_cent(TARGET_SHARE)} of the edges:"
        yield block(_target_table(here))
        yield folded("All shares, in seconds", _seconds_table(here))
        failed = [record for group in here for record in group.errors]
        if failed:
            yield folded(f"What failed ({len(failed)})", [_error_line(record) for record in failed])
    yield "### How it is measured"
    yield HOW


def _target_table(groups: Sequence[Acceleration]) -> list[str]:
    heads = ["dataset", "model", *(f"{what}, {path}" for what in ("epoch", "inference") for path in PATHS)]
    heads += ["memory, ordinary", "in all", "memory, fastest", f"ordinary ≤ {TARGET_RATIO}", "fastest is"]
    rows = []
    for group in groups:
        points = {path: group.point(path, TARGET_SHARE) for path in PATHS}
        ordinary, fastest = points[ORDINARY], points[FASTEST]
        times = [_figure(point, what) for what in ("epoch", "inference") for point in points.values()]
        memory = [_figure(ordinary, "memory"), _figure(ordinary, "total_memory"), _figure(fastest, "memory")]
        met = {None: "", True: "yes", False: "no"}[group.target_met]
        backend = "" if fastest is None else fastest.backend
        rows.append([escape(group.dataset), group.model.upper(), *times, *memory, met, backend])
    return table(heads, rows)


def _seconds_table(groups: Sequence[Acceleration]) -> list[str]:
    heads = ["dataset", "model", "share", "path", "epoch, s", "relative", "inference, s", "relative", "memory"]
    rows = [
        [
            escape(group.dataset), group.model.upper(), per_cent(point.share),
            path if path == ORDINARY else f"{path} ({point.backend})", f"{point.epoch_seconds:.3g}",
            _two_digits(point.epoch), f"{point.inference_seconds:.3g}", _two_digits(point.inference),
            _two_digits(point.memory),
        ]
        for group in groups
        for path in PATHS
        for point in group.points(path)
    ]  # fmt: skip
    return table(heads, rows)


def _error_line(record: Record) -> str:
    run = record["run"]
    what = f"{run['dataset']}, {run['model']}, {run['backend']}, {per_cent(run['share'])}"
    return f"- {escape(what)}: {escape(record['error'])}"


def _figure(point: SpeedPoint | None, what: str) -> str:
    return "" if point is None else _two_digits(getattr(point, what))


def _two_digits(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


# Serving


def _served_headline(groups: Sequence[ServingResults]) -> Iterator[str]:
    """Yield a sentence on GAT for each dataset, with the first method: no test metric chooses one."""
    for group in (group for group in groups if group.model == "gat" and group.methods):
        costs = [
            f"{per_cent(point.share)} of the edges take {point.inference:.2f} of the time and "
            f"{difference(point.cost, True)}"
            for point in group.points(group.methods[0])
            if point.cost is not None and point.inference is not None
        ]
        if costs:
            yield (
                f"**Pruned for inference only**, after training on the whole graph, GAT on {escape(group.dataset)} "
                f"scores all nodes with {escape(group.methods[0])} as follows: {'; '.join(costs)} points of accuracy "
                f"({escape(group.device)})."
            )


def _served(groups: Sequence[ServingResults], images: dict[str, bytes]) -> Iterator[str]:
    yield SERVING
    for device in dict.fromkeys(group.device for group in groups):
        here = [group for group in groups if group.device == device]
        path = f"results/serving-{anchor(device)}.svg"
        if any(group.methods for group in here):
            images[path] = figure_files.to_svg(draw_servings(here))
            yield f"![Test accuracy of serving against its latency on {escape(device)}]({path})"
        for group in here:
            whole = "" if group.accuracy is None else f": {group.accuracy} on the whole graph"
            yield f"**{escape(group.dataset)}, {group.model.upper()}**, {escape(device)}{whole}"
            yield block(_served_table(group))


def _served_table(group: ServingResults) -> list[str]:
    heads = ["method", "share", "accuracy", "points", "full", *(f"batch of {size:,}" for size in group.batch_sizes)]
    points = [point for name in group.methods for point in group.points(name)]
    return table(heads, [_served_row(point, group.batch_sizes) for point in points])


def _served_row(point: ServingPoint, sizes: Sequence[int]) -> list[str]:
    cost = "" if point.cost is None else difference(point.cost, True)
    latency = [_two_digits(point.inference), *(_two_digits(point.batches.get(size)) for size in sizes)]
    return [escape(point.method), per_cent(point.share), cell(point.accuracy), cost, *latency]
