"""One run of a study: all options that decide its result, and a key that never changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from lsprune.errors import FormatError, OptionError
from lsprune.lab.studies.methods import Method
from lsprune.pruners import Pruner, SharedBudget

PRUNED = ("always", "training", "testing")
SCHEDULES = ("constant", "cosine")


def content_key(options: Mapping[str, Any]) -> str:
    """Return the hash of options, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:16]


def check_version(run: Mapping[str, Any], place: str) -> None:
    """Raise FormatError, beginning with `place`, if the run of a record was written by lsprune 0.1.0."""
    if "pruner" not in run:
        raise FormatError(
            f"{place} was written by lsprune 0.1.0, which called methods by other names; upgrade the file first: "
            "python -m lsprune.lab.studies.upgrade_results FILE"
        )


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything that decides a result, and nothing that does not (no device, no path).

    Args:
        method: the name of the method. pruner, every_epoch, basic: what the method is, see `methods.Method`.
        k, keep: the budget of the pruner, one of them; None for methods that have none.
        target: one of several regression targets.
        schedule: of the learning rate: constant, or a cosine that reaches zero after the last epoch.
        label_smoothing: of the cross-entropy in graph classification.
        batch_size: number of graphs in a batch, for datasets of several graphs.
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
        """The content hash: the same for the same configuration, on any machine.

        Options at their defaults are left out, so that a new option does not change the keys of old runs.
        """
        return content_key({f.name: value for f in fields(self) if (value := getattr(self, f.name)) != f.default})

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, as they stand in a record."""
        return {**asdict(self), "hops": list(self.hops)}

    def make_pruner(self) -> Pruner | None:
        """Build the pruner of this run; None if the graph is not pruned."""
        return Method(self.method, self.pruner).make(k=self.k, keep=self.keep, seed=self.seed)

    def make_plan(self) -> Pruner | SharedBudget | None:
        """Build the pruner of this run, or the budget that relations share; None if the graph is not pruned."""
        return Method(self.method, self.pruner).make_plan(k=self.k, keep=self.keep, seed=self.seed)

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
