"""Choose what the first picture shows: one pruner and the random baselines on three graphs on which edges matter.

The method is what `LSP.auto` does on a graph with labels, which is the call that the README shows first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lsprune.lab.reporting.comparison import NO_BUDGET, Budget, Comparison, StudyResults
from lsprune.lab.studies.methods import LOCAL_RANDOM, NO_EDGES, RANDOM, UNPRUNED

GRAPHS = {  # by dataset; a dense one, one of medium density and a sparse one, where all edges are worth two points
    "computers": "Computers, 36 edges a node",
    "facebook-pages": "Facebook, 15 edges a node",
    "cora": "Cora, 4 edges a node",
}
MIN_SEEDS = 2
MIN_SHARES = (0.1, 0.25)


@dataclass(frozen=True)
class Source:
    """Where the runs of the picture may come from.

    Args:
        method: the method of the study that is ours.
        label: how a user writes it.
        model: the model in words. models: its names in the study.
    """

    study: str
    method: str
    label: str
    model: str
    models: tuple[str, ...]


SOURCES = (  # the first that has enough runs is drawn
    Source("choose", "lsp-auto-labels", "LSP.auto", "GAT with skip connections", ("node-gat-skip",)),
    Source("choose", "lsp-auto-labels", "LSP.auto", "SAGE with skip connections", ("node-sage-skip",)),
)


@dataclass(frozen=True)
class Headline:
    """Three comparisons, in the order of GRAPHS, and what is drawn of them.

    Args:
        lines: the label of each method that is drawn.
        shares: the shares of edges at which all of these methods have enough runs on all graphs.
    """

    source: Source
    comparisons: tuple[Comparison, ...]
    lines: dict[str, str]
    shares: tuple[float, ...]

    @property
    def runs(self) -> str:
        """How many runs a point is the mean of: `3`, or `3 to 5`."""
        cells = [
            *((name, Budget(keep=share)) for name in self.lines for share in self.shares),
            *((role, NO_BUDGET) for role in (UNPRUNED, NO_EDGES)),
        ]
        counts = [len(comparison.values(*cell)) for comparison in self.comparisons for cell in cells]
        return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def find_headline(studies: Sequence[StudyResults]) -> Headline | None:
    """Return what to draw from the first source that has enough runs; None if there is none."""
    for source in SOURCES:
        found = [
            next((one for study in studies for one in study.comparisons if _fits(one, source, dataset)), None)
            for dataset in GRAPHS
        ]
        comparisons = tuple(comparison for comparison in found if comparison is not None)
        if len(comparisons) < len(GRAPHS):
            continue
        lines = {source.method: source.label, LOCAL_RANDOM: "k random neighbours", RANDOM: "random edges"}
        shares = _common_shares(comparisons, list(lines))
        if set(MIN_SHARES) <= set(shares):
            return Headline(source, comparisons, lines, shares)
    return None


def _fits(comparison: Comparison, source: Source, dataset: str) -> bool:
    """Return whether these are runs of this study and dataset, with one of the models and both levels."""
    runs = [record["run"] for cell in comparison.cells.values() for record in cell.values()]
    return (
        comparison.study == source.study
        and all(run["dataset"] == dataset and run.get("model") in source.models for run in runs)
        and all(len(comparison.values(role)) >= MIN_SEEDS for role in (UNPRUNED, NO_EDGES))
    )


def _common_shares(comparisons: Sequence[Comparison], methods: Sequence[str]) -> tuple[float, ...]:
    """Return the shares at which every method has enough runs on every graph, the smallest first."""
    shares = {budget.keep for comparison in comparisons for _, budget in comparison.cells if budget.keep is not None}
    return tuple(
        share
        for share in sorted(shares)
        if all(len(one.values(name, Budget(keep=share))) >= MIN_SEEDS for one in comparisons for name in methods)
    )
