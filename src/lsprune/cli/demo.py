"""`lsprune demo`: prune a generated graph with several pruners, then train on generated graphs pruned by each."""

from __future__ import annotations

import tempfile
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


def demo_command(
    smoke: Smoke = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="The report to write.")] = Path("lsprune-demo.html"),
    as_json: Json = False,
) -> None:
    """Prune a generated graph with several methods, then train on generated graphs pruned by each (2 minutes).

    Example: lsprune demo --smoke -o demo.html
    """
    with errors():
        reports = _pruned()
        if not as_json:
            show(reports, False, lambda: comparison_table(reports))
        trained, report = _trained(smoke, out)
    if as_json:
        show({"pruning": reports, "training": trained, "report": report}, True, str)
    elif trained:
        show(trained, False, lambda: training_table(trained))
        tell(f"Report: {report}" if report else "For a page with plots: pip install 'lsprune[report]'")
    else:
        tell("To see what pruning does to training: pip install 'lsprune[gnn]'")


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
    """Run the demo study; return a row for each method (none without PyG) and the report (none without jinja2)."""
    from importlib.util import find_spec

    if find_spec("torch_geometric") is None:
        return {}, None
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
