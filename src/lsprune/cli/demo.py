"""`lsprune demo`: train on a generated graph, unpruned and pruned by several methods, and summarise the results."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated

import typer

from lsprune.cli.console import Json, Report, comparison_table, errors, show, steps, tell, training_table
from lsprune.cli.prune import measured
from lsprune.cli.study import Selection, Smoke, open_callbacks

if TYPE_CHECKING:
    from lsprune.graph import Graph

PRUNERS = ("lsp", "random", "local-random")
OURS = ("lsp-auto", "choose")
SAME = 0.01  # with two seeds, smaller differences in accuracy are noise
NAMES = {
    "unpruned": "all edges", "no-edges": "no edges", "random": "random edges", "local-random": "k random neighbours",
    "lsp-auto": "LSP.auto", "choose": "choose",
}  # fmt: skip
STORY = (
    "A generated graph: 2,400 people in circles of 16. All members of a circle have the same class, but three of four "
    "links go to random people, mostly popular ones. A GAT predicts the class."
)


def demo_command(
    smoke: Smoke = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="The report to write.")] = Path("lsprune-demo.html"),
    as_json: Json = False,
) -> None:
    """Train on a generated graph with noisy links, unpruned and pruned by several methods (one minute).

    Without PyTorch Geometric (extra gnn), the demo only prunes a graph.

    Example: lsprune demo --smoke -o demo.html
    """
    from importlib.util import find_spec

    with errors():
        if find_spec("torch_geometric") is None:
            _show_pruning(as_json)
        else:
            _show_training(smoke, out, as_json)


def _show_pruning(as_json: bool) -> None:
    reports = _pruned()
    show({"pruning": reports, "training": {}, "report": None}, as_json, lambda: comparison_table(reports))
    if not as_json:
        tell("To train on pruned graphs too: pip install 'lsprune[gnn]'")


def _show_training(smoke: bool, out: Path, as_json: bool) -> None:
    if not as_json:
        tell(STORY)
    rows, report = _trained(smoke, out)
    title = "A GAT, one seed, two epochs" if smoke else "A GAT, mean of two seeds"
    show({"pruning": {}, "training": rows, "report": report}, as_json, lambda: training_table(title, rows))
    if not as_json:
        for line in what_you_saw(rows):
            tell(line)
        tell(f"Report: {report}" if report else "For a page with plots: pip install 'lsprune[report]'")


def what_you_saw(rows: Mapping[str, Report]) -> list[str]:
    """Summarise the table in sentences: our best method against the others, and its cost.

    Args:
        rows: for each method its accuracy (`test`), `share`, `prune_seconds` and `train_seconds_per_epoch`.
    """
    ours = {method: rows[method] for method in OURS}
    others = [method for method in rows if method not in OURS]
    best, best_other = (max(names, key=lambda method: rows[method]["test"]) for names in (OURS, others))
    difference = rows[best]["test"] - rows[best_other]["test"]
    verdict = "as good as" if abs(difference) < SAME else "better than" if difference > 0 else "worse than"
    whole = rows["unpruned"]["train_seconds_per_epoch"]
    epoch = rows[best]["train_seconds_per_epoch"] / whole
    pruning = [f"{NAMES[name]} took {row['prune_seconds']:.2f} s" for name, row in ours.items()]
    return [
        f"What you saw: with {rows[best]['share']:.0%} of the edges, accuracy is {_listed(rows, OURS)}; "
        f"{_listed(rows, others)}. {NAMES[best]} is {verdict} {NAMES[best_other]}.",
        f"An epoch takes {epoch:.2f} of the time with all edges ({whole:.2f} s). Pruning: {' and '.join(pruning)}; "
        "choose tries eleven pruners with labels, LSP.auto needs no labels.",
        "This graph was built with noisy links. For your own graph, use lsprune inspect, choose and compare.",
    ]


def _listed(rows: Mapping[str, Report], methods: Iterable[str]) -> str:
    return ", ".join(f"{NAMES[method]} {rows[method]['test']:.2f}" for method in methods)


def _pruned() -> dict[str, Report]:
    """Prune one graph with each pruner; return the reports."""
    from lsprune.pruners import pruner

    reports = {}
    with steps(len(PRUNERS) + 1) as step:
        step("making a graph of 20,000 nodes and 200,000 edges")
        graph = power_law_graph(nodes=20_000, edges=200_000, features=64, seed=0)
        for name in PRUNERS:
            step(f"pruning with {name}")
            half = pruner(name, keep=0.5)
            measured(graph, half, None)  # the first call loads compiled code, which is not compared
            reports[name] = measured(graph, half, None)[1]
    return reports


def _trained(smoke: bool, out: Path) -> tuple[dict[str, Report], str | None]:
    """Run the demo study; return a row for each method and the report (none without jinja2)."""
    from importlib.util import find_spec

    with tempfile.TemporaryDirectory() as folder:
        study, results = Selection(smoke=smoke).read("demo", Path(folder))
        from lsprune.lab.studies.run_study import run_study, status

        with open_callbacks(status(study, results)) as callbacks:
            run_study(study, results, callbacks=callbacks)
        records = results.read()
        report = None
        if find_spec("jinja2") is not None:
            from lsprune.lab.reporting import write_report

            report = str(write_report([results.path], out).path)
    rows: dict[str, Report] = {}
    for method in dict.fromkeys(record["run"]["method"] for record in records):
        of_method = [record for record in records if record["run"]["method"] == method]
        numbers = ("test", "share", "prune_seconds", "train_seconds_per_epoch", "test_seconds")
        rows[method] = {name: mean([record[name] for record in of_method]) for name in numbers}
        rows[method]["runs"] = [record["test"] for record in of_method]
    return rows, report


def power_law_graph(*, nodes: int, edges: int, features: int, seed: int) -> Graph:
    """Generate a directed Chung-Lu graph: ends drawn in proportion to (rank + 10)^-0.5, ids permuted, no self-loops."""
    import numpy as np

    from lsprune.graph import Graph

    random = np.random.default_rng(seed)
    weight = (np.arange(nodes) + 10.0) ** -0.5
    ids = random.permutation(nodes)
    ends = ids[random.choice(nodes, (2, edges), p=weight / weight.sum())]
    ends[1] = np.where(ends[0] == ends[1], (ends[1] + 1) % nodes, ends[1])
    x = random.standard_normal((nodes, features), dtype=np.float32)
    return Graph.from_edges(ends, num_nodes=nodes, x=x)
