"""Consistency as a run: whether two samples of a class keep the same edges. No model is trained.

The seed of a run draws the samples, the pairs and the functions of the pruner. So an interval over seeds covers the
choice of samples, and methods with the same seed are compared on the same pairs. Pruners are fitted on other samples.
"""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from lsprune.errors import LspruneWarning, OptionError
from lsprune.graph import Array
from lsprune.lab.datasets.synthetic import GENERATED
from lsprune.lab.studies.methods import Method
from lsprune.lab.studies.run import Run
from lsprune.lab.synthetic_graphs import Samples
from lsprune.lab.training.callbacks import Callback
from lsprune.lab.training.environment import environment
from lsprune.measure import aligned_consistency
from lsprune.pruners import Pruner

MAX_CLASSES, MAX_SAMPLES_PER_CLASS = 20, 20  # that are compared


def measure(run: Run, *, callbacks: Iterable[Callback] = ()) -> dict[str, Any]:
    """Return the record of a run; `overlap` is the mean Jaccard overlap of what two samples of a class keep."""
    callbacks = tuple(callbacks)
    if run.dataset not in GENERATED:
        raise OptionError(f"pairs can be compared on generated sets ({', '.join(GENERATED)}), not on {run.dataset}")
    compared, _ = _samples(run.dataset, run.seed, run.limit)
    for callback in callbacks:
        callback.on_run_start(run)
    mask, pruning = _pruned(run, compared)
    overlap = aligned_consistency(
        mask, compared.edge_ptr, compared.y, compared.centre_edge, pairs_per_class=run.pairs, seed=run.seed
    )
    if math.isnan(overlap):
        raise OptionError("pairs must keep an edge that both samples have, but none of them does")
    record = {
        "key": run.key, "run": run.to_dict(), **pruning, "task": "consistency", "metric": "overlap",
        "higher_is_better": True, "overlap": overlap, **environment(torch.device("cpu")),
    }  # fmt: skip
    for callback in callbacks:
        callback.on_run_end(record)
    return record


@lru_cache(maxsize=1)  # runs come seed by seed
def _samples(dataset: str, seed: int, limit: int | None) -> tuple[Samples, Samples]:
    """Return the samples to compare and those to fit on, at most `limit` of each."""
    generator = replace(GENERATED[dataset], seed=seed)
    if limit is not None:
        generator = replace(generator, samples=2 * limit, classes=max(limit // 4, 1))
    return generator.make().split_by_class(
        MAX_CLASSES, min(MAX_SAMPLES_PER_CLASS, generator.samples // generator.classes // 2)
    )


def _pruned(run: Run, compared: Samples) -> tuple[Array, dict[str, Any]]:
    """Return the mask of the compared samples, and the fields of the record about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LspruneWarning)  # a study measures what the warnings are about
        fitted, seconds = _fitted(json.dumps(run.pruner), run.dataset, run.seed, run.limit)
        if fitted is None:
            return np.ones(compared.centre_edge.size, bool), {"share": 1.0, "prune_seconds": 0.0, "pruner": None}
        pruner = fitted.with_budget(k=run.k, keep=run.keep)
        start = time.perf_counter()
        mask = pruner.mask(compared.graph)
        seconds += time.perf_counter() - start
    return mask, {"share": float(mask.mean()), "prune_seconds": seconds, "pruner": pruner.to_dict()}


@lru_cache(maxsize=1)  # fit does not depend on the budget, and the runs of a method follow each other
def _fitted(options: str, dataset: str, seed: int, limit: int | None) -> tuple[Pruner | None, float]:
    """Fit a pruner, given by its options as JSON, on the other samples; return it and the seconds that took."""
    pruner = Method("fitted", json.loads(options)).make(k=1, seed=seed)
    if pruner is None:
        return None, 0.0
    compared, others = _samples(dataset, seed, limit)
    if options not in _WARM:  # the first call of a kernel compiles or loads it: not timed
        _WARM.add(options)
        few = compared.select(np.arange(min(16, compared.y.size))).graph
        pruner.fit(few).mask(few)
    start = time.perf_counter()
    fitted = pruner.fit(others.graph)
    return fitted, time.perf_counter() - start


_WARM: set[str] = set()
