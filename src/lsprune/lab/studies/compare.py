"""Methods compared on a graph of one's own: a study made in code, and what its runs say, a row for each budget."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from statistics import median
from typing import Any

from lsprune.errors import OptionError
from lsprune.lab.reporting.comparison import Budget, Comparison, make_comparison
from lsprune.lab.reporting.records import Record, check_record
from lsprune.lab.studies.methods import NO_EDGES, UNPRUNED, Method, find_methods
from lsprune.lab.studies.result_files import Results
from lsprune.lab.studies.study import Part, Study
from lsprune.lab.user_graph import UserGraphFiles

ALWAYS = (UNPRUNED, NO_EDGES)  # whether edges matter at all comes first
METHODS = ("random", "local-random", "lsp-projection", "lsp-auto", "low-degree")
SHARES = (0.1, 0.25, 0.5)
MODELS = {
    "node-gat": 0.005,
    "github-gat": 0.01,
    "planetoid-gat": 0.01,
    "ppi-gat": 0.005,
}  # learning rate, as in studies
DECAY = 5e-4
TASKS = ("node-classification",)


def methods_with_shares(specs: Iterable[Any]) -> tuple[Method, ...]:
    """Return these methods, each once; raise OptionError for an unknown one, or one that takes no share.

    >>> [method.name for method in methods_with_shares(["lsp", "random", "lsp"])]
    ['lsp', 'random']
    """
    methods = find_methods(specs)
    for method in methods:
        if method.has_budget and not method.takes_share:
            raise OptionError(f"methods must have a share for their budget, got {method.name!r}, which takes only a k")
    return methods


def own_study(
    files: UserGraphFiles,
    *,
    methods: Iterable[str] = METHODS,
    shares: Iterable[float] = SHARES,
    model: str = "node-gat",
    epochs: int = 200,
    seeds: int = 3,
) -> Study:
    """The study that compares these methods on the graph in these files; `unpruned` and `no-edges` are always there.

    Its name has the hash of the files' content and of how is trained: what has one name may stand in one file. Methods,
    shares and seeds can be added later, and only what is new is run.
    """
    if model not in MODELS:
        raise OptionError(f"model must be one of {', '.join(MODELS)}, got {model!r}")
    wanted = [method for method in methods_with_shares(methods) if method.name not in ALWAYS]
    if not any(method.has_budget for method in wanted):
        names = ", ".join(method.name for method in wanted)
        raise OptionError(f"methods must have at least one that prunes, got {names or 'none'}")
    part = Part(
        dataset=files.name, model=model, shares=tuple(dict.fromkeys(shares)), methods=(*ALWAYS, *wanted),
        epochs=epochs, lr=MODELS[model], weight_decay=DECAY,
    )  # fmt: skip
    same = repr((part.dataset, model, epochs, part.lr, DECAY))
    name = f"{part.dataset.rpartition('-')[0]}-{hashlib.sha256(same.encode()).hexdigest()[:8]}"
    return Study(name=name, title=f"{files.graph.name}: {model}, {epochs} epochs", parts=(part,), seeds=seeds)


@dataclass(frozen=True)
class Row:
    """What the runs of a method at a budget say; the bounds are none for a single run, times are medians."""

    method: str
    keep: float | None
    share: float
    test: float
    low: float | None
    high: float | None
    runs: int
    prune_seconds: float
    train_seconds_per_epoch: float
    seconds: float  # all epochs, and the pruning before them

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def panel_of(study: Study, results: Results) -> Comparison | None:
    """The runs of the study that are done, and no others of its file; None where there is none."""
    wanted = {run.key for run in study.runs()}
    records = [record for record in results.read() if record["key"] in wanted]
    for record in records:
        check_record(record, f"{results.path}, run {record['key']}")
    return make_comparison(results.path, study.parts[0].dataset, None, records) if records else None


def rows(panel: Comparison) -> list[Row]:
    """A row for each method and share, in the order in which they were run."""
    for record in (record for records in panel.cells.values() for record in records.values()):
        check_record(record, f"{panel.study}.jsonl, run {record['key']}", "train_seconds")
    return [_row(panel, method, budget, records) for (method, budget), records in panel.cells.items()]


def ranking(panel: Comparison) -> list[str]:
    """The methods from the best to the worst by validation, over all shares; of those that make the graph smaller."""
    return panel.ranked(name for name in panel.methods if name not in FRESH)


def _row(panel: Comparison, method: str, budget: Budget, records: Mapping[int, Record]) -> Row:
    level = panel.estimate(method, budget)
    assert level is not None
    low, high = (value if isfinite(value) else None for value in (level.low, level.high))
    done = records.values()
    return Row(
        method, budget.keep, panel.share(method, budget), level.mean, low, high, level.runs,
        median(record["prune_seconds"] for record in done),
        median(record["train_seconds_per_epoch"] for record in done),
        median(record["prune_seconds"] + record["train_seconds"] for record in done),
    )  # fmt: skip
