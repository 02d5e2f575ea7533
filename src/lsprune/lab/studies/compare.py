"""Compare methods on a user's graph: the study, and a row of results for each method and budget."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from statistics import fmean, median
from typing import Any

from lsprune.checks import did_you_mean
from lsprune.errors import OptionError
from lsprune.lab.reporting.comparison import Budget, Comparison, make_comparison
from lsprune.lab.reporting.records import Record, check_record
from lsprune.lab.studies.methods import NO_EDGES, UNPRUNED, Method, find_methods
from lsprune.lab.studies.result_files import Results
from lsprune.lab.studies.study import Part, Study
from lsprune.lab.user_graph import UserGraphFiles

ALWAYS = (UNPRUNED, NO_EDGES)  # they show whether edges matter at all
METHODS = ("random", "local-random", "lsp-projection", "lsp-auto", "low-degree")
SHARES = (0.1, 0.25, 0.5)
MODELS = {  # with their learning rates, as in the studies
    "node-gat": 0.005,
    "node-gcn": 0.005,
    "node-sage": 0.005,
    "github-gat": 0.01,
    "planetoid-gat": 0.01,
    "ppi-gat": 0.005,
    "node-gcn-skip": 0.005,
    "node-sage-skip": 0.005,
    "node-gat-skip": 0.005,
}
DECAY = 5e-4  # weight decay


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


def user_graph_study(
    files: UserGraphFiles,
    *,
    methods: Iterable[Any] = METHODS,
    shares: Iterable[float] = SHARES,
    model: str = "node-gat-skip",
    epochs: int = 200,
    seeds: int = 3,
) -> Study:
    """Return the study that compares these methods on the graph in these files, and with the unpruned and empty graph.

    Its name contains a hash of the files' content and of the training options, so that results of one name belong in
    one file. Methods, shares and seeds can be added later; then only what is new is run.

    Args:
        methods: names, tables or short forms such as `(lsp:hash=signs)`; see `methods.find_method`.
    """
    if model not in MODELS:
        raise OptionError(f"model must be one of {', '.join(MODELS)}, got {model!r}{did_you_mean(model, MODELS)}")
    compared = [method for method in methods_with_shares(methods) if method.name not in ALWAYS]
    if not any(method.has_budget for method in compared):
        names = ", ".join(method.name for method in compared)
        raise OptionError(f"methods must have at least one that prunes, got {names or 'none'}")
    part = Part(
        dataset=files.name, model=model, shares=tuple(dict.fromkeys(shares)), methods=(*ALWAYS, *compared),
        epochs=epochs, lr=MODELS[model], weight_decay=DECAY,
    )  # fmt: skip
    options = repr((part.dataset, model, epochs, part.lr, DECAY))
    name = f"{part.dataset.rpartition('-')[0]}-{hashlib.sha256(options.encode()).hexdigest()[:8]}"
    return Study(name=name, title=f"{files.graph.name}: {model}, {epochs} epochs", parts=(part,), seeds=seeds)


@dataclass(frozen=True)
class Row:
    """The results of a method at a budget: means over runs, median times; a single run has no bounds."""

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
    mae: float | None = None  # mean absolute error of a regression

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return asdict(self)


def read_comparison(study: Study, results: Results) -> Comparison | None:
    """Return the comparison of the study's runs that are done, without others in its file; None if there are none."""
    keys = {run.key for run in study.runs()}
    records = [record for record in results.read() if record["key"] in keys]
    for record in records:
        check_record(record, f"{results.path}, run {record['key']}")
    return make_comparison(results.path, study.parts[0].dataset, None, records) if records else None


def rows(comparison: Comparison) -> list[Row]:
    """Return a row for each method and share, in the order in which they were run."""
    for record in (record for records in comparison.cells.values() for record in records.values()):
        check_record(record, f"{comparison.study}.jsonl, run {record['key']}", "train_seconds")
    return [_row(comparison, method, budget, records) for (method, budget), records in comparison.cells.items()]


def ranking(comparison: Comparison) -> list[str]:
    """Return the methods that make the graph smaller, from the best to the worst by validation over all shares."""
    return comparison.ranked(name for name in comparison.methods if not comparison.defined[name].every_epoch)


def _row(comparison: Comparison, method: str, budget: Budget, records: Mapping[int, Record]) -> Row:
    level = comparison.estimate(method, budget)
    assert level is not None
    low, high = (value if isfinite(value) else None for value in (level.low, level.high))
    runs = records.values()
    return Row(
        method, budget.keep, comparison.share(method, budget), level.mean, low, high, level.runs,
        median(record["prune_seconds"] for record in runs),
        median(record["train_seconds_per_epoch"] for record in runs),
        median(record["prune_seconds"] + record["train_seconds"] for record in runs),
        fmean(record["test_mae"] for record in runs) if all("test_mae" in record for record in runs) else None,
    )  # fmt: skip
