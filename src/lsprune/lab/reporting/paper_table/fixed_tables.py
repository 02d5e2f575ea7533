"""What the paper states without a study: the worked example, the generator's parameters, the sizes of datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from lsprune.lab.reporting.paper_table.figures import EXAMPLE, GENERATOR, ILLUSTRATION, STATISTICS, Unmeasured
from lsprune.lab.reporting.paper_table.verdict import HALF, Count, Verdict, Word
from lsprune.lab.synthetic_graphs import Synthetic

EXAMPLE_ERROR = 0.027  # the paper's text; 1/36 is 0.0278
PARAMETERS = {  # of the paper's Table 1: the field of our generator, the paper's name, its default
    "samples": ("number of samples", 20_000),
    "classes": ("number of classes", 100),
    "min_nodes": ("minimum nodes", 40),
    "max_nodes": ("maximum nodes", 60),
    "node_dim": ("node dimension", 10),
    "edge_dim": ("edge dimension", 40),
    "connectivity": ("connectivity rate", 0.2),
    "node_centre_std": ("node centres, standard deviation", 0.2),
    "edge_centre_std": ("edge centres, standard deviation", 0.2),
    "node_noise_std": ("node noise, standard deviation", 0.25),
    "edge_noise_std": ("edge noise, standard deviation", 0.1),
    "symmetric": ("is symmetric", False),
    "node_removal": ("node removal probability", 0.1),
}
SIZES = {  # nodes, edges and classes: the paper's Table 2, and ours as `lab.datasets.load` reads them
    "github": ((37_700, 578_006, 2), (37_700, 578_006, 2)),
    "cora": ((2_708, 10_556, 7), (2_708, 10_556, 7)),
    "citeseer": ((3_327, 9_104, 6), (3_327, 9_104, 6)),
    "pubmed": ((19_717, 88_648, 3), (19_717, 88_648, 3)),
    "ppi": ((44_906, 1_136_460, 121), (44_906, 1_226_368, 121)),  # ours: the 20 training graphs
}
DEGREES = {"github": 30, "cora": 7, "citeseer": 5, "pubmed": 8, "ppi": 50}  # the paper's average degrees


@dataclass(frozen=True)
class FixedTable:
    """A figure or table without a study, row by row: what, the paper's, ours."""

    about: Unmeasured
    rows: tuple[tuple[str, str, str], ...]
    verdict: Verdict
    remark: str = ""


def fixed_tables() -> tuple[FixedTable, ...]:
    """Return the two figures without data and the two tables."""
    return (
        FixedTable(
            ILLUSTRATION,
            (),
            Verdict("not judged", reason="the paper's figure has no numbers"),
            "The report draws such a pair of neighbourhoods with what each method keeps. The study measures how often "
            "two samples of a class keep the same edges.",
        ),
        _example(),
        _generator(),
        _statistics(),
    )


def example_error() -> float:
    """Return the chance that random pruning of four edges to two keeps the same wrong two at both nodes of a pair."""
    return 1 / comb(4, 2) ** 2


def _example() -> FixedTable:
    ours = example_error()
    agrees = abs(ours - EXAMPLE_ERROR) <= 0.001
    rows = (("error rate of a classifier after random pruning", f"{EXAMPLE_ERROR:.1%}", f"{ours:.2%} (1/36)"),)
    return FixedTable(
        EXAMPLE, rows, _verdict([agrees]),
        "The drawing is missing from the paper's source, so the example has its own sets of four neighbours.",
    )  # fmt: skip


def _generator() -> FixedTable:
    ours = Synthetic()
    rows = [(label, _text(value), _text(getattr(ours, name))) for name, (label, value) in PARAMETERS.items()]
    equal = [value == getattr(ours, name) for name, (_, value) in PARAMETERS.items()]
    return FixedTable(
        GENERATOR, tuple(rows), _verdict(equal),
        "The paper calls the connectivity rate the degree of a node. An edge with this probability gives the shares "
        "of its figure.",
    )  # fmt: skip


def _statistics() -> FixedTable:
    rows, equal = [], []
    for name, (theirs, ours) in SIZES.items():
        for label, paper, own in zip(("nodes", "edges", "classes"), theirs, ours, strict=True):
            rows.append((f"{name}: {label}", f"{paper:,}", f"{own:,}"))
            equal.append(paper == own)
        degree = 2 * ours[1] // ours[0]
        rows.append((f"{name}: average degree", str(DEGREES[name]), str(degree)))
        equal.append(degree == DEGREES[name])
    return FixedTable(
        STATISTICS, tuple(rows), _verdict(equal),
        "Edges are counted in both directions. The paper's average degrees are twice the edges over the nodes, so "
        "each direction counts at both ends. PPI: the training graphs, without self-loops; the paper has fewer edges "
        "than the published set.",
    )  # fmt: skip


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _verdict(equal: Sequence[bool]) -> Verdict:
    count = Count(sum(equal), len(equal))
    word: Word = "reproduced" if count.share == 1 else "not reproduced" if count.share < HALF else "partly"
    return Verdict(word, count)
