"""A pruner around another one: what `Guarded` and `Timed` share."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from lsprune.checks import pruner_error, short_repr
from lsprune.errors import OptionError
from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime
from lsprune.pruners.contract import Pruner
from lsprune.pruners.registry import from_dict
from lsprune.selection.per_node import PerNode


@dataclass(frozen=True, kw_only=True, repr=False)
class Wrapper(Pruner):
    """A pruner that changes what the pruner within it sees or keeps; its budget is that of the inner one."""

    pruner: Pruner = field(kw_only=False)

    def __post_init__(self) -> None:
        if not isinstance(self.pruner, Pruner):
            raise pruner_error(self.pruner)

    @property
    def side(self) -> str:
        return self.pruner.side

    @property
    def symmetric(self) -> str | None:
        return self.pruner.symmetric

    @property
    def self_loops(self) -> str:
        return self.pruner.self_loops

    @property
    def seed(self) -> int:
        """The seed of the inner pruner, 0 if it has none."""
        return int(getattr(self.pruner, "seed", 0))

    def with_budget(self, *, k: int | None = None, keep: float | None = None, budget: PerNode | None = None) -> Self:
        """Return the same options on the pruner with another budget."""
        return dataclasses.replace(self, pruner=self.pruner.with_budget(k=k, keep=keep, budget=budget))

    def edge_scores(self, graph: Graph, runtime: Runtime) -> Array:
        """Raise OptionError: scores are those of the pruner within."""
        raise OptionError(f"{self!r} has no scores of its own: ask the pruner within, {self.pruner!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return the options, with those of the pruner within."""
        options = {name: value for name, value in vars(self).items() if name != "pruner"}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}
        return {"pruner": self.name, "inner": self.pruner.to_dict(), **plain}

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """Build the pruner that `to_dict` described, with the one within."""
        known = {f.name for f in dataclasses.fields(cls)} - {"pruner"} | {"inner"}
        keywords = cls._keywords(options, known)
        inner = keywords.pop("inner", None)
        if isinstance(inner, Mapping):
            inner = from_dict(inner)
        return cls(pruner=inner, **keywords)

    def _state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        return self.pruner._state()

    def _with_state(self, arrays: dict[str, Array], state: dict[str, Any]) -> Self:
        return dataclasses.replace(self, pruner=self.pruner._with_state(arrays, state))

    def __repr__(self) -> str:
        return short_repr(self)
