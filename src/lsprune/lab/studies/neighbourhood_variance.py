"""Measure the variance of neighbourhood sizes on a pruned graph (the paper's appendix C). No model is trained."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from lsprune import adapters
from lsprune.errors import OptionError
from lsprune.lab.studies.run import Run
from lsprune.lab.training.callbacks import Callback
from lsprune.lab.training.environment import environment
from lsprune.lab.training.prepare import prepare
from lsprune.lab.user_graph import UserGraphFiles
from lsprune.measure import neighbourhood_variance


def measure(
    run: Run, *, data: str | UserGraphFiles | None = None, callbacks: Iterable[Callback] = ()
) -> dict[str, Any]:
    """Return the record of a run; `variance` has a value for each number of hops."""
    callbacks = tuple(callbacks)
    graphs, pruning = prepare(run, data)
    if not graphs.dataset.single or graphs.dataset.hetero:
        raise OptionError(f"hops can be counted on a single graph of one kind of nodes, not on {run.dataset}")
    graph = adapters.find(graphs.test).graphs(graphs.test)[None]
    for callback in callbacks:
        callback.on_run_start(run)
    variance = neighbourhood_variance(graph, run.hops)
    record = {
        **pruning, "task": "neighbourhood-variance", "metric": "variance", "higher_is_better": False,
        "variance": {str(hops): value for hops, value in variance.items()}, **environment(torch.device("cpu")),
    }  # fmt: skip
    for callback in callbacks:
        callback.on_run_end(record)
    return record
