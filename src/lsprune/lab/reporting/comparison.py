"""Compare the methods on one dataset: estimates, gains in pairs, lossless shares, the order by validation.

`read_studies` is the only way from files to comparisons; every renderer starts from what it returns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from lsprune.errors import FormatError, OptionError
from lsprune.lab.reporting.method_styles import RANDOM_BASELINES
from lsprune.lab.reporting.neighbourhood_sizes import NeighbourhoodSizes
from lsprune.lab.reporting.records import (
    ACCELERATION,
    OVERLAP,
    SERVING,
    TOLERANCE,
    VARIANCE,
    Record,
    methods_of,
    read_records,
    result_files,
)
from lsprune.lab.reporting.statistics import Estimate, PairedDifference, estimate, lossless_share, paired_difference
from lsprune.lab.studies.methods import NO_EDGES, RANDOM, UNPRUNED, Method


class Budget(NamedTuple):
    """What a run was allowed to keep: k edges per node, or a share of all edges; neither for a reference."""

    k: int | None = None
    keep: float | None = None


NO_BUDGET = Budget()


@dataclass(frozen=True, eq=False)
class Comparison:
    """The runs of all methods on one dataset of a study, and on one target where there are several.

    Args:
        dataset: its name, with the model where a study has several on it, and with what of it was rebuilt.
        cells: for each method and budget the record of every seed, in the order in which they were run.
        defined: each method by its name: its options, as the records have them.
    """

    study: str
    dataset: str
    target: str | None
    metric: str
    higher_is_better: bool
    cells: Mapping[tuple[str, Budget], Mapping[int, Record]]
    defined: dict[str, Method]

    @property
    def name(self) -> str:
        """The dataset, and the target if there is one."""
        return self.dataset + (f", {self.target}" if self.target else "")

    # What was run

    @cached_property
    def references(self) -> list[str]:
        """The methods without a budget."""
        return [method for method, budget in self.cells if budget == NO_BUDGET]

    @cached_property
    def methods(self) -> list[str]:
        """The methods with a budget."""
        return list(dict.fromkeys(method for method, budget in self.cells if budget != NO_BUDGET))

    @cached_property
    def lsp_methods(self) -> list[str]:
        """The LSP methods, without the paper's presets and those that prune the out-neighbours."""
        return [name for name in self.methods if self.defined[name].is_lsp and not self.defined[name].is_out]

    @cached_property
    def _roles(self) -> dict[str, str]:
        """The first method in each role."""
        return {method.role: name for name, method in reversed(self.defined.items()) if method.role}

    def in_role(self, role: str) -> str:
        """Return the method that is the unpruned graph, no edges, random, ...; an empty string if there is none."""
        return self._roles.get(role, "")

    @property
    def unpruned(self) -> str:
        """The method that trains on the whole graph; an empty string, which has no runs, if there is none."""
        return self.in_role(UNPRUNED)

    @cached_property
    def random_baselines(self) -> list[str]:
        """The methods that choose at random, of all edges or of each node's, and have a budget."""
        return [name for role in RANDOM_BASELINES if (name := self.in_role(role)) in self.methods]

    def in_neighbour_partner(self, method: str) -> str | None:
        """Return the method with the same options but for the side, which prunes the in-neighbours of each node."""
        return next((n for n, other in self.defined.items() if other.is_in_partner(self.defined[method])), None)

    @cached_property
    def shared_budgets(self) -> dict[str, str]:
        """The methods whose budget all relations share, each with the same pruner that has a budget for each."""
        kinds = {name: self.defined[name] for name in self.methods}
        pairs = ((a, b) for a, shared in kinds.items() for b, own in kinds.items() if own.is_separate_partner(shared))
        return dict(pairs)

    @cached_property
    def budgets(self) -> list[Budget]:
        """All budgets, the smallest share first."""
        return sorted(self._column_shares, key=self._column_shares.__getitem__)

    @cached_property
    def _column_shares(self) -> dict[Budget, float]:
        shares: dict[Budget, float] = {}
        for method, budget in self.cells:
            if budget != NO_BUDGET and budget not in shares:
                shares[budget] = self.share(method, budget)
        return shares

    def column_share(self, budget: Budget) -> float:
        """Return the share of edges that stands for a budget: that of the first method with it."""
        return self._column_shares[budget]

    def share(self, method: str, budget: Budget) -> float:
        """Return the mean share of edges that a method kept."""
        return fmean(self.values(method, budget, "share").values())

    def values(self, method: str, budget: Budget = NO_BUDGET, field: str = "test") -> dict[int, float]:
        """Return a number of every seed; an empty dict where nothing was run."""
        return {seed: float(record[field]) for seed, record in self.cells.get((method, budget), {}).items()}

    def budgets_of(self, method: str) -> list[Budget]:
        """Return the budgets at which a method was run, the smallest share first."""
        return [budget for budget in self.budgets if (method, budget) in self.cells]

    def complete(self, method: str) -> bool:
        """Return whether the method was run at every budget."""
        return len(self.budgets_of(method)) == len(self.budgets)

    # What the runs say

    def estimate(self, method: str, budget: Budget = NO_BUDGET, field: str = "test") -> Estimate | None:
        """Return the mean of a field with its interval; None where nothing was run."""
        values = self.values(method, budget, field)
        return estimate(tuple(values.values())) if values else None

    def gain(self, method: str, rival: str, budget: Budget = NO_BUDGET) -> PairedDifference | None:
        """Return how much better a method is than another at the same budget; positive is better, for errors too."""
        return self._better(self.values(method, budget), self.values(rival, budget))

    def gain_over(self, method: str, budget: Budget, reference: str) -> PairedDifference | None:
        """Return how much better a method is at a budget than one that has none."""
        return self._better(self.values(method, budget), self.values(reference))

    def gain_over_unpruned(self, method: str, budget: Budget) -> PairedDifference | None:
        """Return how much better a method is at a budget than the unpruned graph."""
        return self.gain_over(method, budget, self.unpruned)

    def _better(self, ours: dict[int, float], theirs: dict[int, float]) -> PairedDifference | None:
        """Return the difference in pairs by seed; None without a common seed."""
        if not set(ours) & set(theirs):
            return None
        return paired_difference(ours, theirs) if self.higher_is_better else paired_difference(theirs, ours)

    @cached_property
    def topology_gain(self) -> PairedDifference | None:
        """How much better the whole graph is than no edges."""
        return self.gain(self.unpruned, self.in_role(NO_EDGES))

    @property
    def topology_matters(self) -> bool:
        """Whether the whole graph is clearly better than no edges."""
        return self.topology_gain is not None and self.topology_gain.verdict == "better"

    def lossless_share(self, method: str) -> float | None:
        """Return the smallest share from which on nothing is lost.

        None if there is no such share, no unpruned run, or the method was not run at every share.
        """
        if not self.complete(method):
            return None
        runs = {
            self.share(method, budget): tuple(self.values(method, budget).values())
            for budget in self.budgets_of(method)
        }
        unpruned = tuple(self.values(self.unpruned).values())
        if not runs or not unpruned:
            return None
        return lossless_share(runs, unpruned, tolerance=TOLERANCE[self.metric], higher_is_better=self.higher_is_better)

    def lossless_ratio(self, method: str, rival: str | None = None) -> float | None:
        """Return a method's lossless share over the rival's, by default random's; no lossless share counts as 100 %."""
        rival = self.in_role(RANDOM) if rival is None else rival
        if not (self.complete(method) and self.complete(rival) and self.values(self.unpruned)):
            return None
        return (self.lossless_share(method) or 1.0) / (self.lossless_share(rival) or 1.0)

    def share_needed(self, method: str, rival: str, budget: Budget) -> float | None:
        """Return the smallest share from which on the method's mean reaches the rival's at a budget, or None."""
        sign, level, smallest = 1 if self.higher_is_better else -1, self.estimate(rival, budget), None
        for at in reversed(self.budgets):
            ours = self.estimate(method, at)
            if level is None or ours is None or sign * (ours.mean - level.mean) < 0:
                break
            smallest = self.column_share(at)
        return smallest

    # What validation chooses

    def ranked(self, methods: Iterable[str]) -> list[str]:
        """Return the methods from the best to the worst by the validation metric; no test metric is used.

        Only methods with all the budgets, and at least half the runs, that any of them has are ranked, by the mean over
        the runs that all of them share. Equal ones stay in their order.
        """
        runs = {name: {(b, s) for b in self.budgets for s in self.values(name, b, "val")} for name in methods}
        spans = {name: len({budget for budget, _ in cells}) for name, cells in runs.items()}
        whole = [name for name in runs if spans[name] == max(spans.values()) > 0]
        whole = [name for name in whole if 2 * len(runs[name]) >= max(len(runs[other]) for other in whole)]
        common = set.intersection(*(runs[name] for name in whole)) if whole else set()
        if not common:
            return []
        means = {name: fmean(float(self.cells[name, b][s]["val"]) for b, s in common) for name in whole}
        return sorted(whole, key=lambda name: -means[name] if self.higher_is_better else means[name])

    @cached_property
    def best_lsp(self) -> str | None:
        """The LSP method that validation chooses."""
        return next(iter(self.ranked(self.lsp_methods)), None)

    @cached_property
    def best_method(self) -> str | None:
        """The method that validation chooses, of any kind: all but those on the other side and those of every epoch."""
        names = [name for name in self.methods if not (self.defined[name].is_out or self.defined[name].every_epoch)]
        return next(iter(self.ranked(names)), None)

    def best_budget(self, method: str) -> Budget:
        """Return the budget at which a method has the best validation metric."""
        sign = 1 if self.higher_is_better else -1
        means = {budget: fmean(self.values(method, budget, "val").values()) for budget in self.budgets_of(method)}
        return max(means, key=lambda budget: sign * means[budget])

    def methods_to_draw(self, lsp: int = 3, others: int = 2) -> list[str]:
        """Return the lines of a figure: both random baselines, and by validation the best LSPs and the best others."""
        baselines = self.random_baselines
        kinds = {name: self.defined[name] for name in self.methods if name not in baselines}
        rest = [name for name, method in kinds.items() if not (method.is_lsp or method.every_epoch)]
        return [*baselines, *self.ranked(self.lsp_methods)[:lsp], *self.ranked(rest)[:others]]


# From files to comparisons


@dataclass(frozen=True, eq=False)
class StudyResults:
    """The results in one file.

    Args:
        name: the file's name, with its folder where two files have the same name.
        comparisons: what was trained, for each dataset and target.
        overlaps: the measurements of consistency, for each dataset and target.
        sizes: the measurements of neighbourhood sizes, for each dataset.
        timings: the measurements of time and memory, and of serving from pruned graphs: `reporting.acceleration` and
            `reporting.serving` make sense of them.
    """

    path: Path
    name: str
    runs: int
    comparisons: tuple[Comparison, ...] = ()
    overlaps: tuple[Comparison, ...] = ()
    sizes: tuple[NeighbourhoodSizes, ...] = ()
    timings: tuple[Record, ...] = ()


def read_studies(places: Sequence[Path]) -> list[StudyResults]:
    """Return the results in these files and folders; raise OptionError if there are none at all."""
    paths = list(dict.fromkeys(path for place in places for path in result_files(place)))
    stems = [path.stem for path in paths]
    names = [path.stem if stems.count(path.stem) == 1 else f"{path.stem} ({path.parent})" for path in paths]
    studies = [read_study(path, name) for path, name in zip(paths, names, strict=True)]
    studies = [study for study in studies if study.runs]
    if not studies:
        names = [str(place) for place in places] or ["nothing"]
        raise OptionError(f"results must be files or folders with runs, such as cora.jsonl, got {', '.join(names)}")
    return studies


def read_study(path: Path, name: str | None = None) -> StudyResults:
    """Return the results in one file."""
    trained: dict[tuple[str, str | None], list[Record]] = defaultdict(list)
    overlaps: dict[tuple[str, str | None], list[Record]] = defaultdict(list)
    sizes: dict[str, list[Record]] = defaultdict(list)
    timings: list[Record] = []
    read = list(read_records(path))
    models = _models(read)
    for record in read:
        if record.get("task") in (ACCELERATION, SERVING):
            timings.append(record)
            continue
        dataset, target = record["run"]["dataset"], record["run"].get("target")
        if VARIANCE in record:
            sizes[dataset].append(record)
        elif OVERLAP in record:
            overlaps[dataset, target].append({**record, "test": record[OVERLAP]})
        else:
            trained[_described(record, models[dataset]), target].append(record)
    study = name or path.stem
    return StudyResults(
        path,
        study,
        len(read),
        tuple(make_comparison(path, *part, records, study=study) for part, records in trained.items()),
        tuple(make_comparison(path, *part, records, study=study) for part, records in overlaps.items()),
        tuple(
            NeighbourhoodSizes(dataset, records, methods_of(records, f"{path}, {dataset}"))
            for dataset, records in sizes.items()
        ),
        tuple(timings),
    )


def _models(records: Iterable[Record]) -> dict[str, set[str]]:
    """Return the models that were trained on each dataset."""
    models: dict[str, set[str]] = defaultdict(set)
    for run in (record["run"] for record in records):
        models[run["dataset"]].add(run.get("model", ""))
    return models


def _described(record: Record, models: set[str]) -> str:
    """Return the dataset of a record, with its model if there are several, and with what of it was rebuilt."""
    run, rebuilt = record["run"], record.get("rebuilt")
    model = [run["model"]] if len(models - {""}) > 1 else []
    return ", ".join([run["dataset"], *([f"rebuilt {' and '.join(rebuilt)}"] if rebuilt else []), *model])


def make_comparison(
    path: Path, dataset: str, target: str | None, records: Sequence[Record], *, study: str | None = None
) -> Comparison:
    """Return the comparison of these records; raise FormatError if they are not of one kind."""
    cells: dict[tuple[str, Budget], dict[int, Record]] = defaultdict(dict)
    for record in records:
        run = record["run"]
        cell = cells[run["method"], Budget(run.get("k"), run.get("keep"))]
        if cell.setdefault(run["seed"], record)["key"] != record["key"]:
            raise FormatError(
                f"{path}: runs {cell[run['seed']]['key']} and {record['key']} are both {run['method']} on {dataset} at "
                f"seed {run['seed']}, but differ in other options; keep them in separate files"
            )
        cell[run["seed"]] = record
    kinds = {(record["metric"], record["higher_is_better"]) for record in records}
    if len(kinds) > 1:
        raise FormatError(f"{path}: the runs on {dataset} have several metrics, {sorted(kinds)}")
    return Comparison(
        study or path.stem, dataset, target, *kinds.pop(), dict(cells), methods_of(records, f"{path}, {dataset}")
    )
