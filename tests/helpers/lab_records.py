"""Made-up results in the format of a study's lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lsprune.lab.reporting.comparison import Comparison, read_study
from lsprune.lab.studies.methods import Method, catalogue
from lsprune.lab.studies.run import Run

SHARES = (0.1, 0.25, 0.5)
METHODS = ("unpruned", "no-edges", "random", "local-random", "lsp-projection", "lsp-codebook", "cosine")
NO_BUDGET = {"unpruned": 1.0, "no-edges": 0.0, "basic": 1.0}  # the share of edges of each reference
JITTER = (0.0, 0.002, -0.002, 0.001, -0.001)  # of the splits, the same for all methods
OWN = (0.0005, -0.0005, 0.0, 0.0003, -0.0003)  # of a method, so that intervals have a width

BOTH = pytest.mark.parametrize("mae", [False, True], ids=["accuracy", "mae"])

Score = Callable[[str, float], float]


def as_method(method: str | Method) -> Method:
    """Return a method of the catalogue by its name; any other name is that of a pruner of its own."""
    if isinstance(method, Method):
        return method
    return catalogue().get(method, Method(method, {"pruner": method}))


def lsp(name: str, **options: Any) -> Method:
    """Return an LSP under this name."""
    return Method(name, {"pruner": "lsp", **options})


def method_fields(method: str | Method) -> dict[str, Any]:
    """Return the fields of a run that say what its method is."""
    method = as_method(method)
    return {
        "method": method.name, "pruner": method.pruner, "every_epoch": method.every_epoch, "basic": method.basic,
    }  # fmt: skip


def record(run: Run, test: float, val: float, share: float, **more: Any) -> dict[str, Any]:
    return {
        "key": run.key, "run": run.to_dict(), "metric": "accuracy", "higher_is_better": True, "share": share,
        "test": test, "val": val, "prune_seconds": 0.5, "train_seconds_per_epoch": 0.1 + share, "jobs": 1,
        "device": "a GPU", **more,
    }  # fmt: skip


def level(method: str, share: float) -> float:
    """A score: edges help, and LSP loses less than chance."""
    if method in NO_BUDGET:
        return 0.6 + 0.2 * share
    lost = {"random": 0.1, "local-random": 0.08}.get(method, 0.04 if method.startswith("lsp") else 0.06)
    return 0.8 - lost * (1 - share)


def comparison(
    *,
    dataset: str = "cora",
    study: str = "compare",
    methods: Iterable[str | Method] = METHODS,
    shares: Sequence[float] = SHARES,
    ks: Sequence[int] = (),
    seeds: int = 5,
    test: Score = level,
    val: Score = level,
    mae: bool = False,
    **more: Any,
) -> list[dict[str, Any]]:
    """The records of all methods at all budgets; with `mae` the mirror image, in which lower is better."""
    records = []
    turn = -1 if mae else 1
    for seed in range(seeds):
        for number, method in enumerate(map(as_method, methods)):
            budgets = [({"keep": share}, share) for share in shares] + [({"k": k}, k / 10) for k in ks]
            for budget, share in [({}, NO_BUDGET[method.role])] if method.role in NO_BUDGET else budgets:
                run = Run(study=study, dataset=dataset, model="m", **method_fields(method), seed=seed, **budget)
                noise = JITTER[seed % 5] + OWN[(seed + number) % 5]
                scores = [turn * (score(method.name, share) + noise) + (1 if mae else 0) for score in (test, val)]
                kind = {"metric": "mae", "higher_is_better": False} if mae else {}
                records.append(record(run, *scores, share, **{**kind, **more}))
    return records


def save(records: Iterable[dict[str, Any]], path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf8")
    return path


def comparison_maker(tmp_path: Path) -> Callable[..., Comparison]:
    """Return what makes the comparison of these records, or of made-up ones with these options."""

    def make(records: list[dict[str, Any]] | None = None, **options: Any) -> Comparison:
        path = save(comparison(**options) if records is None else records, tmp_path / "compare.jsonl")
        (result,) = read_study(path).comparisons
        return result

    return make
