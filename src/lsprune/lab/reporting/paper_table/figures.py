"""The figures and tables of the paper by number: what each shows, which study runs it again, where our data differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from lsprune.lab.reporting.paper import TIME

if TYPE_CHECKING:
    from lsprune.lab.studies.study import Part

VARIANCE_STUDY = "neighbourhood-variance"
GITHUB = (
    "Edges and labels are the original ones. The 128 features of our copy are not PyG's own: they are derived from the "
    "raw features by a truncated SVD. Accuracies do not compare digit for digit."
)
ZINC = (
    "Our copy is rebuilt from SMILES, and its target is recomputed (penalised logP by RDKit): it differs from the "
    "official one by some thousandths."
)
QM9 = (
    "The bonds of our copy are derived from distances; their number is that of PyG's set. The paper has homo, lumo, "
    "U0, U, H and G in meV, our lines in eV: they are shown here times 1,000."
)
PPI = (
    "The published labels are not in our copy: labels are rebuilt, so that values do not compare and only the order of "
    "the methods counts. The paper counts a self-loop for each node, our copy has none, so that equal k keep slightly "
    "different shares."
)


@dataclass(frozen=True)
class Panel:
    """One plot of a figure.

    Args:
        figure: the figures that have it, such as "3" or "4b and 8".
        dataset, target, metric: as in paper.csv.
        study: the study that runs it in full.
        title: what the paper calls it.
        note: where our data or units differ from the paper's.
        differs: the same in two words, for the summary; of the copy that the committed lines were made with.
        scale: what our numbers are multiplied by, to be in the paper's unit.
    """

    figure: str
    title: str
    dataset: str
    metric: str
    study: str
    target: str | None = None
    note: str = ""
    differs: str = ""
    scale: float = 1.0

    @property
    def key(self) -> str:
        """A name for links: letters, digits and hyphens.

        >>> PANELS[0].key
        'cora-accuracy'
        """
        return "-".join(part for part in (self.dataset, self.target, self.metric) if part).lower()

    @property
    def is_time(self) -> bool:
        """Whether the plot is of times."""
        return self.metric == TIME

    @cached_property
    def part(self) -> Part:
        """The part of the study that is about this plot."""
        from lsprune.lab.studies import study_files  # which imports the rules of result lines from here

        return next(part for part in study_files.read(self.study).parts if part.dataset == self.dataset)

    @property
    def command(self) -> str:
        """The command that does every run of the plot."""
        targets = f" --targets {self.target}" if self.part.targets else ""
        device = "" if self.study == VARIANCE_STUDY else " --device cuda"
        datasets = f" --datasets {self.dataset}" if self.study == VARIANCE_STUDY else ""
        return f"lsprune study run {self.study}{datasets}{targets}{device}"


@dataclass(frozen=True)
class Unmeasured:
    """A figure or table without a study: an illustration, an example or a list of numbers."""

    figure: str
    title: str
    shows: str
    command: str


_TARGETS = {  # by their names in paper.csv
    "mu": "µ", "alpha": "α", "homo": "ε HOMO", "lumo": "ε LUMO", "gap": "Δε", "r2": "⟨R²⟩", "zpve": "ZPVE", "U0": "U₀",
    "U": "U", "H": "H", "G": "G", "Cv": "Cᵥ",
}  # fmt: skip
_IN_MEV = ("homo", "lumo", "U0", "U", "H", "G")


def _with_time(panel: Panel) -> tuple[Panel, Panel]:
    """Return the plot and the plot of times that the paper draws into it."""
    return panel, Panel(panel.figure, panel.title, panel.dataset, TIME, panel.study, target=panel.target)


PANELS: tuple[Panel, ...] = (
    *_with_time(Panel("3", "Cora", "cora", "accuracy", "cora")),
    *_with_time(Panel("3", "PubMed", "pubmed", "accuracy", "pubmed")),
    *_with_time(Panel("3", "CiteSeer", "citeseer", "accuracy", "citeseer")),
    *_with_time(Panel("3", "PPI", "ppi", "micro-f1", "ppi", note=PPI, differs="rebuilt labels")),
    *_with_time(
        Panel(
            "4a", "ZINC, solubility", "zinc", "mae", "zinc", target="constrained-solubility", note=ZINC,
            differs="recomputed target",
        )
    ),
    *(
        panel
        for name, title in _TARGETS.items()
        for panel in _with_time(
            Panel(
                "4b and 8" if name == "mu" else "8", f"QM9, {title}", "qm9", "mae", "qm9", target=name, note=QM9,
                differs="derived bonds", scale=1000.0 if name in _IN_MEV else 1.0,
            )
        )
    ),
    *_with_time(Panel("5", "synthetic graphs", "synthetic", "accuracy", "synthetic")),
    *(
        Panel("6", f"neighbourhood sizes, {title}", title.lower(), "variance", VARIANCE_STUDY)
        for title in ("CiteSeer", "Cora", "PubMed")
    ),
    *_with_time(Panel("7", "GitHub", "github", "accuracy", "github", note=GITHUB, differs="derived features")),
)  # fmt: skip

ILLUSTRATION = Unmeasured(
    "1", "consistent pruning", "A drawing of two neighbourhoods before and after pruning; it has no numbers.",
    "lsprune study run consistency",
)  # fmt: skip
EXAMPLE = Unmeasured(
    "2", "worked example", "Two classes that only shared neighbours tell apart; random pruning confuses a pair.",
    "python examples/shared_neighbours.py",
)  # fmt: skip
GENERATOR = Unmeasured(
    "Table 1", "generator of synthetic graphs", "Its parameters and their defaults.",
    'python -c "from lsprune.lab.synthetic_graphs import Synthetic; print(Synthetic())"',
)  # fmt: skip
STATISTICS = Unmeasured(
    "Table 2", "datasets for node classification", "Nodes, edges, classes and average degrees.",
    "python -c \"from lsprune.lab.datasets import load; print(load('cora').train)\"",
)  # fmt: skip
