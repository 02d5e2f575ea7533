"""The paper's appendix C as a run: how much neighbourhood sizes vary on a pruned graph. No model is trained."""

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
    """The record of one run: `variance` has a number for each of the hops."""
    called = tuple(callbacks)
    parts, pruned = prepare(run, data)
    if not parts.dataset.single:
        raise OptionError(f"hops can be counted on a single graph, not on the graphs of {run.dataset}")
    graph = adapters.find(parts.test).graphs(parts.test)[None]
    for callback in called:
        callback.on_run_start(run)
    found = neighbourhood_variance(graph, run.hops)
    record = {
        **pruned, "task": "neighbourhood-variance", "metric": "variance", "higher_is_better": False,
        "variance": {str(hops): value for hops, value in found.items()}, **environment(torch.device("cpu")),
    }  # fmt: skip
    for callback in called:
        callback.on_run_end(record)
    return record
