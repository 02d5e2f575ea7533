"""The command line: parse, call one library function, print.

Libraries that take long to import (numba, pyarrow) are loaded by the command that needs them, so that `--help` and
`--version` answer at once.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from lsprune.errors import LspruneError, LspruneWarning, OptionError

if TYPE_CHECKING:
    from rich.table import Table

    from lsprune.graph import Array, Graph
    from lsprune.lab.results import Results
    from lsprune.lab.runs import Run
    from lsprune.lab.study import Status, Study
    from lsprune.lab.watchers import Watcher
    from lsprune.pruners import Pruner

PRESETS = ("paper-p", "paper-t", "published-p", "published-t")
Report = dict[str, Any]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]

app = typer.Typer(
    name="lsprune",
    help="Prune the edges of a graph so that a graph neural network trains on less and learns as much.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; the entry point of the `lsprune` script."""
    app()


def _version(wanted: bool) -> None:
    if wanted:
        from lsprune import __version__

        typer.echo(f"lsprune {__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")]


@app.callback()
def _options(version: Version = False) -> None:
    pass  # the callback of --version has done the work


# One parameter for each option of the library: long, but a list and nothing else.
@app.command("prune")
def prune_command(
    source_file: Annotated[Path, typer.Argument(metavar="IN", help="Edge list: .npz, .parquet, .csv, .tsv, .txt")],
    output_file: Annotated[Path, typer.Argument(metavar="OUT", help="Where to write; the suffix decides the format.")],
    features: Annotated[Path | None, typer.Option(help="Node attributes: .npy, .npz or .parquet.")] = None,
    edge_attr: Annotated[str, typer.Option(metavar="COLUMNS", help="Edge attributes: columns, by commas.")] = "",
    source: Annotated[str | None, typer.Option(metavar="NAME", help="Column of the sources.")] = None,
    target: Annotated[str | None, typer.Option(metavar="NAME", help="Column of the targets.")] = None,
    num_nodes: Annotated[int | None, typer.Option(help="Number of nodes (default: largest id + 1).")] = None,
    keep: Annotated[float | None, typer.Option(help="Share of the edges to keep, in (0, 1].")] = None,
    k: Annotated[int | None, typer.Option("--k", help="The most edges that a node keeps.")] = None,
    method: Annotated[str, typer.Option(help="A pruning method; see `lsprune methods`.")] = "lsp",
    hash_family: Annotated[str | None, typer.Option("--hash", help="A hash family; see `lsprune methods`.")] = None,
    side: Annotated[str | None, typer.Option(help="Which end owns an edge: in (target) or out (source).")] = None,
    length: Annotated[float | None, typer.Option("--l", help="Projection: bin length (default: no bins).")] = None,
    sparsity: Annotated[int | None, typer.Option(help="Entries that a hash function looks at.")] = None,
    digest: Annotated[str | None, typer.Option(help="Threshold: mix, md5 or affine.")] = None,
    bins: Annotated[int | None, typer.Option("--m", help="Threshold: number of bins of the digest.")] = None,
    words: Annotated[int | None, typer.Option(help="Codebook: number of words (default: from the data).")] = None,
    bits: Annotated[int | None, typer.Option(help="Signs: bits of a code.")] = None,
    weights: Annotated[
        str | None, typer.Option(help="Prefer low-degree neighbours: degree; large edge_attr: edge.")
    ] = None,
    power: Annotated[float | None, typer.Option(help="How much weights count.")] = None,
    attributes: Annotated[str | None, typer.Option(help="Parts that are hashed: owner,edge,neighbour.")] = None,
    values: Annotated[str | None, typer.Option(help="unit (normalised, centred, scaled) or raw.")] = None,
    select: Annotated[str | None, typer.Option(help="functions or bottom.")] = None,
    replace: Annotated[bool | None, typer.Option("--replace/--no-replace", help="Take an edge again?")] = None,
    ties: Annotated[str | None, typer.Option(help="Order of equal keys: hash, id or position.")] = None,
    symmetric: Annotated[str | None, typer.Option(help="Keep both directions together: union or intersection.")] = None,
    self_loops: Annotated[str | None, typer.Option(help="free, edge or drop.")] = None,
    seed: Annotated[int | None, typer.Option(help="The only source of chance (default: 0).")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads (default: LSPRUNE_THREADS, else all cores).")] = None,
    preset: Annotated[str | None, typer.Option(help=f"LSP as in the paper: {', '.join(PRESETS)}.")] = None,
    as_json: Json = False,
) -> None:
    """Prune the edge list IN and write what is kept to OUT.

    OUT appears whole or not at all, and is never IN.
    """
    hashing = {"l": length, "sparsity": sparsity, "digest": digest, "m": bins, "words": words, "bits": bits}
    options: dict[str, Any] = {
        "keep": keep, "k": k, "hash": hash_family, "side": side, "select": select, "replace": replace, "ties": ties,
        "symmetric": symmetric, "self_loops": self_loops, "seed": seed, "values": values,
        "weights": weights, "power": power,
        "attributes": None if attributes is None else _listed(attributes),
    }  # fmt: skip
    if any(value is not None for value in hashing.values()):
        options["hash"] = {"name": hash_family or "projection", **_given(hashing)}
    columns = tuple(_listed(edge_attr))
    with _errors(), _steps(3) as step:
        from lsprune.adapters.files import check_output, read_edges, write_edges

        check_output(output_file, source_file, *([features] if features else []))
        pruner = make_pruner(method, preset, _given(options))
        step(f"reading {source_file.name}")
        read = read_edges(
            source_file, source=source, target=target, edge_attr=columns, features=features, num_nodes=num_nodes
        )
        step("pruning")
        mask, report = measured(read.graph, pruner, threads)
        step(f"writing {output_file.name}")
        write_edges(output_file, read, mask)
    files = {"input": str(source_file), "output": str(output_file), "pruner": pruner.to_dict()}
    with _errors():
        _print({**files, **report}, as_json, lambda: _kept_table(output_file.name, report))


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


@app.command("methods")
def methods_command(as_json: Json = False) -> None:
    """List the pruning methods and hash families."""
    with _errors():
        from lsprune.baselines import METHODS
        from lsprune.hashing import FAMILIES

        listed = {
            "methods": {name: kind.about for name, kind in METHODS.items()},
            "hash families": {name: kind.about for name, kind in FAMILIES.items()},
        }
        _print(listed, as_json, lambda: _registry_table(listed))


study_app = typer.Typer(help="Run the paper's experiments, and your own, in slices that can be stopped at any time.")
app.add_typer(study_app, name="study")
Out = Annotated[Path, typer.Option("--out", help="Folder of the results.")]
Seeds = Annotated[int | None, typer.Option(min=1, help="Number of seeds (default: the study's).")]
StudyName = Annotated[str, typer.Argument(metavar="NAME", help="A study of `lsprune study list`, or a .toml file.")]
Ks = Annotated[str, typer.Option("--k", metavar="LIST", help="Only these k, by commas, and no shares.")]
Methods = Annotated[str, typer.Option(metavar="LIST", help="Only these methods, by commas.")]
Datasets = Annotated[str, typer.Option(metavar="LIST", help="Only these datasets of the study, by commas.")]
Targets = Annotated[str, typer.Option(metavar="LIST", help="Only these regression targets, by commas.")]
Epochs = Annotated[int | None, typer.Option(min=1, help="Epochs (default: the study's).")]
Smoke = Annotated[bool, typer.Option("--smoke", help="Two epochs of one seed and one budget, to see that it works.")]


@study_app.command("list")
def study_list(as_json: Json = False) -> None:
    """List the studies that come with lsprune."""
    with _errors():
        from lsprune.lab import study

        listed = {name: study.read(name).title for name in study.names()}
        _print(listed, as_json, lambda: _registry_table({"studies": listed}))


# One parameter for each option of the library, as with `prune`.
@study_app.command("run")
def study_run(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A study of `lsprune study list`, a .toml file, or all of them: all.")
    ],
    seeds: Seeds = None,
    budget: Annotated[str | None, typer.Option(help="Stop in time, as 90s, 9m or 2h.")] = None,
    out: Out = Path("results"),
    data: Annotated[str | None, typer.Option(help="Folder of local datasets (default: LSPRUNE_DATA).")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time, each in its own process.")] = 1,
    k: Ks = "",
    methods: Methods = "",
    datasets: Datasets = "",
    targets: Targets = "",
    epochs: Epochs = None,
    smoke: Smoke = False,
    tensorboard: Annotated[Path | None, typer.Option(help="Write every epoch to TensorBoard files here.")] = None,
    wandb: Annotated[str | None, typer.Option(metavar="PROJECT", help="Log to this Weights & Biases project.")] = None,
    as_json: Json = False,
) -> None:
    """Do the runs of a study that are missing; start it again to go on.

    Example: lsprune study run cora --seeds 5 --budget 9m --device cuda
    """
    with _errors():
        from lsprune.lab import study

        seconds, begun, reports = None if budget is None else _seconds(budget), time.monotonic(), []
        if jobs > 1 and (tensorboard or wandb):
            raise OptionError("jobs must be 1 with tensorboard or wandb, which follow one run at a time")
        for one in study.names() if name == "all" else [name]:
            chosen, results = _chosen_study(one, out, smoke, k, methods, datasets, targets, epochs)
            left = None if seconds is None else seconds - (time.monotonic() - begun)
            if left is not None and left <= 0:
                break
            with _watchers(study.status(chosen, results, seeds), tensorboard, wandb) as watchers:
                now = study.run_study(
                    chosen, results, seeds=seeds, budget=left, jobs=jobs, device=device, data=data,
                    watchers=watchers, told=None if as_json else _tell,
                )  # fmt: skip
            reports.append({"study": chosen.name, **asdict(now)})
            if not as_json:
                _print({}, False, lambda report=reports[-1]: _status_text(report))  # type: ignore[misc]
        if as_json:
            _print(reports if name == "all" else reports[0], True, str)


@study_app.command("status")
def study_status(
    name: StudyName,
    seeds: Seeds = None,
    out: Out = Path("results"),
    k: Ks = "",
    methods: Methods = "",
    datasets: Datasets = "",
    targets: Targets = "",
    epochs: Epochs = None,
    smoke: Smoke = False,
    as_json: Json = False,
) -> None:
    """Say how far a study is."""
    with _errors():
        from lsprune.lab import study

        chosen, results = _chosen_study(name, out, smoke, k, methods, datasets, targets, epochs)
        report = {"study": chosen.name, **asdict(study.status(chosen, results, seeds))}
        _print(report, as_json, lambda: _status_text(report))


def _chosen_study(
    name: str, out: Path, smoke: bool, k: str, methods: str, datasets: str, targets: str, epochs: int | None
) -> tuple[Study, Results]:
    """The study, or the part of it that was asked for, and where its results are."""
    from lsprune.lab import study
    from lsprune.lab.results import Results

    for one in _listed(k):
        if not one.isdigit() or int(one) < 1:
            raise OptionError(f"k must be whole numbers >= 1, by commas, got {one!r}")
    whole = study.read(name)
    chosen = (whole.smoke() if smoke else whole).only(
        k=[int(one) for one in _listed(k)], methods=_listed(methods), datasets=_listed(datasets),
        targets=_listed(targets), epochs=epochs,
    )  # fmt: skip
    return chosen, Results(out / f"{chosen.name}.jsonl")


@contextmanager
def _watchers(now: Status, tensorboard: Path | None, wandb: str | None) -> Iterator[list[Watcher]]:
    """Those who are told of every epoch; closed whatever happens."""
    from lsprune.lab.watchers import Bars, TensorBoard, WandB

    with ExitStack() as stack:
        watching: list[Watcher] = [Bars(now.total, now.done)]
        watching += [TensorBoard(tensorboard)] if tensorboard else []
        watching += [WandB(wandb)] if wandb else []
        for watcher in watching:
            stack.callback(watcher.close)
        yield watching


def _seconds(text: str) -> float:
    unit = {"s": 1, "m": 60, "h": 3600}.get(text[-1:])
    number = text[:-1] if unit else text
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise OptionError(f"budget must be a time such as 90s, 9m or 2h, got {text!r}")
    return value * (unit or 1)


def _tell(run: Run, record: Mapping[str, Any]) -> None:
    said = ", ".join(f"{hops} hops {value:.5g}" for hops, value in record.get("variance", {}).items())
    if not said:
        said = f"{record['metric']} {record['test']:.4f} in {record['train_seconds']:.1f} s"
    typer.echo(f"{run.study}: {run}: share {record['share']:.3f}, {said}")


def _status_text(report: Report) -> str:
    missing = report["total"] - report["done"]
    left = "complete" if not missing else f"{missing} to do; the same command goes on"
    left = "skipped: " + "; ".join(report["skipped"].values()) if report["skipped"] else left
    return f"{report['study']}: {report['done']} of {report['total']} runs, {left}"


@app.command("demo")
def demo_command(smoke: Smoke = False, as_json: Json = False) -> None:
    """Prune a generated graph with several methods, then train on generated graphs pruned by each (2 minutes)."""
    methods = ("lsp", "random", "local-random")
    with _errors(), _steps(len(methods) + 1) as step:
        step("making a graph of 20,000 nodes and 200,000 edges")
        graph = power_law_graph(nodes=20_000, edges=200_000, features=64, seed=0)
        reports = {}
        for method in methods:
            step(f"pruning with {method}")
            pruner = make_pruner(method, None, {"keep": 0.5})
            measured(graph, pruner, None)  # the first call loads compiled code, which is not what is compared
            reports[method] = measured(graph, pruner, None)[1]
    if not as_json:
        _print(reports, False, lambda: _comparison_table(reports))
    with _errors():
        trained = _trained(smoke)
    if as_json:
        _print({"pruning": reports, "training": trained}, True, str)
    elif trained:
        _print(trained, False, lambda: _training_table(trained))
    else:
        typer.echo("To see what pruning does to training: pip install 'lsprune[gnn]'")


def _trained(smoke: bool) -> dict[str, Report]:
    """What the demo study says of each method; nothing where PyTorch Geometric is not installed."""
    from importlib.util import find_spec

    if find_spec("torch_geometric") is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        study, results = _chosen_study("demo", Path(folder), smoke, "", "", "", "", None)
        from lsprune.lab.study import run_study, status

        with _watchers(status(study, results), None, None) as watchers:
            run_study(study, results, watchers=watchers)
        records = results.read()
    rows: dict[str, Report] = {}
    for method in dict.fromkeys(record["run"]["method"] for record in records):
        of_method = [record for record in records if record["run"]["method"] == method]
        numbers = ("test", "share", "prune_seconds", "train_seconds_per_epoch", "test_seconds")
        rows[method] = {name: mean([record[name] for record in of_method]) for name in numbers}
        rows[method]["runs"] = [record["test"] for record in of_method]
    return rows


def make_pruner(method: str, preset: str | None, options: Mapping[str, Any]) -> Pruner:
    """The pruner of that name, or the preset; an option it does not have is an OptionError."""
    from lsprune.baselines import from_dict

    return _preset(method, preset, options) if preset else from_dict({"method": method, **options})


def measured(graph: Graph, pruner: Pruner, threads: int | None) -> tuple[Array, Report]:
    """The mask, and what it did: counts, seconds and edges per second."""
    from lsprune.kernels import runtime
    from lsprune.measure import summary

    _ = runtime(threads).module  # importing numba is not pruning
    start = time.perf_counter()
    mask = pruner.mask(graph, threads=threads)
    seconds = time.perf_counter() - start
    counts = asdict(summary(graph, mask, side=pruner.side, threads=threads))
    return mask, {**counts, "seconds": seconds, "edges_per_second": graph.num_edges / max(seconds, 1e-9)}


def power_law_graph(*, nodes: int, edges: int, features: int, seed: int) -> Graph:
    """A directed Chung-Lu graph: endpoints drawn with probability ~ (rank + 10)^-0.5, ids permuted, no self-loops."""
    import numpy as np

    from lsprune.graph import Graph

    random = np.random.default_rng(seed)
    weight = (np.arange(nodes) + 10.0) ** -0.5
    ids = random.permutation(nodes)
    ends = ids[random.choice(nodes, (2, edges), p=weight / weight.sum())]
    ends[1] = np.where(ends[0] == ends[1], (ends[1] + 1) % nodes, ends[1])
    x = random.standard_normal((nodes, features), dtype=np.float32)
    return Graph.from_edges(ends, num_nodes=nodes, x=x)


def _preset(method: str, preset: str, options: Mapping[str, Any]) -> Pruner:
    from lsprune.pruners import LSP

    if preset not in PRESETS:
        raise OptionError(f"preset must be one of {', '.join(PRESETS)}, got {preset!r}")
    foreign = [name for name in options if name not in ("k", "seed")]
    if method != "lsp" or foreign:
        what = foreign[0] if foreign else f"method {method}"
        raise OptionError(f"{what} does not go with preset {preset}, which takes only k and seed")
    if "k" not in options:
        raise OptionError(f"preset {preset} needs k, the most edges that a node keeps")
    maker, _, kind = preset.partition("-")
    make = {"paper": LSP.paper, "published": LSP.published}[maker]
    return make("p" if kind == "p" else "t", k=options["k"], seed=options.get("seed", 0))


@contextmanager
def _errors() -> Iterator[None]:
    """Errors a user can meet become one line and exit code 1, warnings one line each."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", LspruneWarning)
        warnings.showwarning = _show_warning
        try:
            yield
        except BrokenPipeError:  # nobody reads on: typer ends quietly
            raise
        except (LspruneError, OSError) as error:
            _say("error", error)
        except MemoryError as error:
            _say("error", f"not enough memory ({error or 'the graph is too large'})")
        else:
            return
    raise typer.Exit(1)


def _show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: TextIO | None = None,
    line: str | None = None,
) -> None:  # fmt: skip
    _say("warning", message)


def _say(kind: str, message: object) -> None:
    typer.echo(f"{kind}: {' '.join(str(message).split())}", err=True)


@contextmanager
def _steps(total: int) -> Iterator[Callable[[str], None]]:
    """A function that names the next of `total` steps on a progress bar, which is there only on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        started = False

        def step(name: str) -> None:
            nonlocal started
            progress.update(task, description=name, advance=1 if started else 0)
            started = True

        yield step


def _print(report: Any, as_json: bool, table: Callable[[], Table | str]) -> None:
    if as_json:
        typer.echo(json.dumps(report))
        return
    from rich.console import Console

    # a pipe has no width to fit into; rich would take 80 columns for it and cut cells
    Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else 120).print(table())


def _kept_table(name: str, report: Report) -> Table:
    table = _table(name, "", "")
    table.add_row("edges before", f"{report['edges']:,}")
    table.add_row("edges kept", f"{report['kept']:,} ({report['share']:.2%})")
    table.add_row("nodes with edges", f"{report['owners']:,}")
    table.add_row("of these, lost some", f"{report['owners_cut']:,}")
    table.add_row("nodes left without any edge", f"{report['isolated']:,}")
    table.add_row("seconds for pruning", f"{report['seconds']:.3f}")
    table.add_row("edges per second", f"{report['edges_per_second']:,.0f}")
    return table


def _comparison_table(reports: Mapping[str, Report]) -> Table:
    edges = next(iter(reports.values()))["edges"]
    table = _table(f"keep=0.5 of {edges:,} edges", "method", "kept", "share", "nodes cut", "isolated", "s", "edges/s")
    for method, report in reports.items():
        nodes = (f"{report[name]:,}" for name in ("owners_cut", "isolated"))
        speed = (f"{report['seconds']:.3f}", f"{report['edges_per_second']:,.0f}")
        table.add_row(method, f"{report['kept']:,}", f"{report['share']:.2%}", *nodes, *speed)
    return table


def _training_table(rows: Mapping[str, Report]) -> Table:
    title = "a GAT on 2,000 synthetic graphs of 20 classes, mean of two seeds"
    table = _table(title, "method", "share kept", "accuracy", "of each seed", "prune s", "train s/epoch", "test s")
    for method, row in rows.items():
        runs = " ".join(f"{value:.3f}" for value in row["runs"])
        seconds = (f"{row[name]:.3f}" for name in ("prune_seconds", "train_seconds_per_epoch", "test_seconds"))
        table.add_row(method, f"{row['share']:.1%}", f"{row['test']:.3f}", runs, *seconds)
    return table


def _registry_table(listed: Mapping[str, Mapping[str, str]]) -> Table:
    from rich.table import Table

    table = Table("", "name", "what it does", box=None)
    for kind, entries in listed.items():
        for i, (name, about) in enumerate(entries.items()):
            table.add_row("" if i else kind, name, about)
    return table


def _table(title: str, *columns: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=any(columns))
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left", no_wrap=True)
    return table


if __name__ == "__main__":
    main()
