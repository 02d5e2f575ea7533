"""What one run is: everything that decides its result, with a key that never changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from lsprune.errors import OptionError
from lsprune.lab.studies.methods import Method
from lsprune.pruners import Pruner

PRUNED = ("always", "training", "testing")
SCHEDULES = ("constant", "cosine")


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything that decides a result, and nothing that does not (no device, no path).

    Args:
        method: the name of the method. pruner, every_epoch, basic: what the method is, see `methods.Method`.
        k, keep: the budget of the pruner, one of them; None for methods that have none.
        target: one of several regression targets.
        schedule: how the learning rate goes: constant, or down to zero along a cosine over the epochs.
        label_smoothing: of the cross-entropy that graphs are classified with.
        batch_size: graphs in a batch, where there are several graphs.
        patience: stop after so many epochs without a better validation metric.
        pruned: where the pruned graph is used: always, only in training, or only in validation and testing.
        limit: graphs of each split at most, and 256 times as many nodes of a single graph, to try things out.
        hops: measure the variance of neighbourhood sizes within these hops instead of training a model.
        pairs: measure how similarly two samples of a class are pruned, over so many pairs, instead of training.
    """

    study: str
    dataset: str
    model: str
    method: str
    k: int | None = None
    keep: float | None = None
    seed: int = 0
    target: str | None = None
    epochs: int = 200
    lr: float = 0.01
    schedule: Literal["constant", "cosine"] = "constant"
    weight_decay: float = 0.0
    label_smoothing: float = 0.0
    batch_size: int = 512
    patience: int | None = None
    pruned: Literal["always", "training", "testing"] = "always"
    limit: int | None = None
    hops: tuple[int, ...] = ()
    pairs: int = 0
    pruner: Mapping[str, Any] | None = None
    every_epoch: bool = False
    basic: bool = False

    def __post_init__(self) -> None:
        if self.pruned not in PRUNED:
            raise OptionError(f"pruned must be one of {', '.join(PRUNED)}, got {self.pruned!r}")
        if self.schedule not in SCHEDULES:
            raise OptionError(f"schedule must be one of {', '.join(SCHEDULES)}, got {self.schedule!r}")
        if not 0 <= self.label_smoothing < 1:
            raise OptionError(f"label_smoothing must be in [0, 1), got {self.label_smoothing}")
        if self.epochs < 1:
            raise OptionError(f"epochs must be a whole number >= 1, got {self.epochs}")
        object.__setattr__(self, "hops", tuple(self.hops))  # JSON gives a list

    @property
    def key(self) -> str:
        """A content hash: the same for the same configuration, on any machine.

        Options at their defaults are left out, so that a new option does not change the keys of old runs.
        """
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, as they stand in a record."""
        return {**asdict(self), "hops": list(self.hops)}

    def make_pruner(self) -> Pruner | None:
        """Build the pruner of this run; None if the graph is not pruned."""
        return Method(self.method, self.pruner).make(k=self.k, keep=self.keep, seed=self.seed)

    @property
    def budget(self) -> str:
        """The budget in words: `k=3`, `keep=0.25` or nothing.

        >>> Run(study="s", dataset="d", model="m", method="random", keep=0.25).budget
        'keep=0.25'
        """
        return f"k={self.k}" if self.k is not None else f"keep={self.keep}" if self.keep is not None else ""

    def __str__(self) -> str:
        parts = (self.dataset, self.target, self.method, self.budget, f"seed {self.seed}")
        return " ".join(part for part in parts if part)
