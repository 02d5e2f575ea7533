"""The runs on one dataset as numbers: levels with intervals, differences in pairs, verdicts, lossless shares."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from statistics import fmean

from lsprune.errors import FormatError
from lsprune.lab.reporting.records import OVERLAP, TOLERANCE, Record, is_finite_number, wrong_fields
from lsprune.lab.reporting.statistics import Comparison, Estimate, compare, estimate, lossless_share
from lsprune.lab.studies.methods import FRESH
from lsprune.lab.studies.result_files import Results

Budget = tuple[int | None, float | None]  # (k, keep)
WHOLE: Budget = (None, None)
RIVALS = ("random", "local-random")
OUT = "-out"  # how a method is called whose edges belong to their sources
FEWEST = 3  # runs that a verdict needs
MEASURED = ("variance", OVERLAP)  # a record with one of these has no model


@dataclass(frozen=True, eq=False)
class Panel:
    """The runs of one dataset of a study, and of one target where there are several.

    Args:
        cells: for each method and budget the record of every seed, in the order in which they were done.
    """

    study: str
    dataset: str
    target: str | None
    metric: str
    higher_is_better: bool
    cells: Mapping[tuple[str, Budget], Mapping[int, Record]]

    @property
    def name(self) -> str:
        """The dataset, and the target if there is one."""
        return self.dataset + (f", {self.target}" if self.target else "")

    @cached_property
    def references(self) -> list[str]:
        """The methods without a budget."""
        return [method for method, budget in self.cells if budget == WHOLE]

    @cached_property
    def methods(self) -> list[str]:
        """The methods with a budget."""
        return list(dict.fromkeys(method for method, budget in self.cells if budget != WHOLE))

    @cached_property
    def budgets(self) -> list[Budget]:
        """All budgets, the smallest share first."""
        first: dict[Budget, float] = {}
        for method, budget in self.cells:
            if budget != WHOLE:
                first.setdefault(budget, self.share(method, budget))
        return sorted(first, key=first.__getitem__)

    def column(self, budget: Budget) -> float:
        """The share of edges that a budget stands for."""
        return next(self.share(*cell) for cell in self.cells if cell[1] == budget)

    def share(self, method: str, budget: Budget) -> float:
        """The mean share of edges that a method kept."""
        return fmean(self.values(method, budget, "share").values())

    def values(self, method: str, budget: Budget = WHOLE, field: str = "test") -> dict[int, float]:
        """A number of every seed; none where nothing was run."""
        return {seed: float(record[field]) for seed, record in self.cells.get((method, budget), {}).items()}

    def level(self, method: str, budget: Budget = WHOLE) -> Estimate | None:
        """The mean test metric with its interval."""
        values = self.values(method, budget)
        return _estimate(tuple(values.values())) if values else None

    def gain(self, method: str, rival: str, at: Budget = WHOLE) -> Comparison | None:
        """How much better a method is, in pairs by seed; above zero is better, for errors too."""
        pair = self.values(method, at), self.values(rival, at)
        if not set(pair[0]) & set(pair[1]):
            return None
        ours, theirs = (tuple(one.items()) for one in (pair if self.higher_is_better else pair[::-1]))
        return _compare(ours, theirs)

    def against_whole(self, method: str, budget: Budget) -> Comparison | None:
        """How much better a method is at a budget than the whole graph, in pairs by seed."""
        pair = self.values(method, budget), self.values("none")
        if not set(pair[0]) & set(pair[1]):
            return None
        ours, theirs = (tuple(one.items()) for one in (pair if self.higher_is_better else pair[::-1]))
        return _compare(ours, theirs)

    @cached_property
    def topology(self) -> Comparison | None:
        """What all the edges are worth beside none."""
        return self.gain("none", "no-edges")

    @cached_property
    def topology_matters(self) -> bool:
        """Whether the whole graph is clearly better than no edges."""
        worth = self.topology
        return worth is not None and verdict(worth) == "better"

    def complete(self, method: str) -> bool:
        """Whether the method was run at every share."""
        return all((method, budget) in self.cells for budget in self.budgets)

    def lossless(self, method: str) -> float | None:
        """The smallest share from which on nothing is lost; None if there is none, or no unpruned runs.

        A method that was not run at every share has none: nobody knows what it loses at the others.
        """
        if not self.complete(method):
            return None
        runs = tuple(
            (self.share(method, budget), tuple(self.values(method, budget).values()))
            for budget in self.budgets
            if (method, budget) in self.cells
        )
        whole = tuple(self.values("none").values())
        return _lossless(runs, whole, TOLERANCE[self.metric], self.higher_is_better) if runs and whole else None

    def ratio(self, method: str, rival: str = "random") -> float | None:
        """A method's lossless share over the rival's; where no share is lossless, it is the whole graph's."""
        if not (self.complete(method) and self.complete(rival) and self.values("none")):
            return None
        return (self.lossless(method) or 1.0) / (self.lossless(rival) or 1.0)

    def needed(self, method: str, rival: str, budget: Budget) -> float | None:
        """The smallest share from which on the method's mean reaches the rival's at a budget; None if it never does."""
        sign, level, found = 1 if self.higher_is_better else -1, self.level(rival, budget), None
        for one in reversed(self.budgets):
            ours = self.level(method, one)
            if level is None or ours is None or sign * (ours.mean - level.mean) < 0:
                break
            found = self.column(one)
        return found

    def best(self, among: Iterable[str]) -> list[str]:
        """The methods from the best to the worst by the validation metric; no test figure has a say.

        Only methods with all the budgets, and at least half the runs, that any of them has are ranked, by the mean over
        the runs that all of them share. Equal ones stay in their order.
        """
        runs = {name: {(b, s) for b in self.budgets for s in self.values(name, b, "val")} for name in among}
        spans = {name: len({budget for budget, _ in cells}) for name, cells in runs.items()}
        whole = [name for name in runs if spans[name] == max(spans.values()) > 0]
        whole = [name for name in whole if 2 * len(runs[name]) >= max(len(runs[one]) for one in whole)]
        common = sorted(set.intersection(*(runs[name] for name in whole)), key=str) if whole else []
        if not common:
            return []
        means = {name: fmean(self.values(name, b, "val")[s] for b, s in common) for name in whole}
        return sorted(whole, key=lambda name: -means[name] if self.higher_is_better else means[name])

    @cached_property
    def ours(self) -> list[str]:
        """The calibrated LSPs whose edges belong to their targets, as those of their rivals do."""
        return [method for method in self.methods if calibrated(method) and not method.endswith(OUT)]

    @cached_property
    def best_lsp(self) -> str | None:
        """The calibrated LSP that validation chooses."""
        return next(iter(self.best(self.ours)), None)


def calibrated(method: str) -> bool:
    """Whether it is an LSP of ours, and not one of the paper's presets."""
    return method.startswith("lsp-") and not method.endswith(("-paper", "-published"))


def verdict(gain: Comparison) -> str:
    """What the interval of a difference says.

    >>> verdict(Comparison(0.2, 0.1, 0.3, 0.06, 5)), verdict(Comparison(0.0, 0.0, 0.0, 1.0, 5))
    ('better', 'not worse')
    """
    if gain.runs < FEWEST:
        return "one run" if gain.runs == 1 else f"{gain.runs} runs"
    return "better" if gain.low > 0 else "not worse" if gain.high >= 0 else "worse"


# A page asks for the same numbers in several places, and a bootstrap takes a millisecond.


@cache
def _estimate(values: tuple[float, ...]) -> Estimate:
    return estimate(values)


@cache
def _compare(ours: tuple[tuple[int, float], ...], theirs: tuple[tuple[int, float], ...]) -> Comparison:
    return compare(dict(ours), dict(theirs))


@cache
def _lossless(
    runs: tuple[tuple[float, tuple[float, ...]], ...], whole: tuple[float, ...], tolerance: float, higher: bool
) -> float | None:
    return lossless_share(dict(runs), whole, tolerance=tolerance, higher_is_better=higher)


def lines_of(panel: Panel, ours: int = 3, others: int = 2) -> list[str]:
    """The methods that a figure shows: random, local random, and by validation the best LSPs and the best others."""
    always = [method for method in RIVALS if method in panel.methods]
    rest = [method for method in panel.methods if not calibrated(method) and method not in (*RIVALS, *FRESH)]
    return [*always, *panel.best(panel.ours)[:ours], *panel.best(rest)[:others]]


# Reading


def read_panels(path: Path) -> list[Panel]:
    """The panels of one file of results; measurements without a model are left out."""
    parts = {part: [one for one in every if not measured(one)] for part, every in read_parts(path).items()}
    return [make_panel(path, *part, records) for part, records in parts.items() if records]


def read_overlaps(path: Path) -> list[Panel]:
    """The measurements of consistency in one file of results."""
    parts = {part: [one for one in every if OVERLAP in one] for part, every in read_parts(path).items()}
    return [overlap_panel(path, *part, records) for part, records in parts.items() if records]


def measured(record: Record) -> bool:
    """Whether this is a measurement without a model."""
    return any(name in record for name in MEASURED)


def overlap_panel(path: Path, dataset: str, target: str | None, records: Sequence[Record]) -> Panel:
    """The panel of measurements of consistency: its levels are overlaps."""
    return make_panel(path, dataset, target, [{**record, "test": record.get(OVERLAP)} for record in records])


def read_parts(path: Path) -> dict[tuple[str, str | None], list[Record]]:
    """The records of each dataset and target."""
    parts: dict[tuple[str, str | None], list[Record]] = defaultdict(list)
    for record in Results(path).read():
        check_record(record, path)
        parts[record["run"]["dataset"], record["run"].get("target")].append(record)
    return parts


def make_panel(path: Path, dataset: str, target: str | None, records: Sequence[Record]) -> Panel:
    """The panel of these records, which are checked to be of one kind."""
    cells: dict[tuple[str, Budget], dict[int, Record]] = defaultdict(dict)
    for record in records:
        run = record["run"]
        cell = cells[run["method"], (run.get("k"), run.get("keep"))]
        if cell.setdefault(run["seed"], record)["key"] != record["key"]:
            raise FormatError(
                f"{path}: runs {cell[run['seed']]['key']} and {record['key']} are both {run['method']} on {dataset} at "
                f"seed {run['seed']}, but differ in other options; keep them in files of their own"
            )
        cell[run["seed"]] = record
    kinds = {(record["metric"], record["higher_is_better"]) for record in records}
    if len(kinds) > 1:
        raise FormatError(f"{path}: the runs on {dataset} have several metrics, {sorted(kinds)}")
    return Panel(path.stem, dataset, target, *kinds.pop(), cells)


def check_record(record: Record, path: Path, *numbers: str) -> None:
    """Raise FormatError for a record that lacks something, or one of these numbers besides; it names the key."""
    wrong = wrong_fields(record)
    wrong += [name for name in numbers if name not in wrong and not is_finite_number(record.get(name))]
    if wrong:
        raise FormatError(f"{path}: run {record['key']} has no proper {', '.join(wrong)}; mend or remove that line")
