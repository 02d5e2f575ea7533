"""LSP-P, random projections (paper, section 3.2): key = floor((<attributes, w> + b) / l)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Literal

import numpy as np

from lsprune.attributes import PARTS
from lsprune.errors import OptionError
from lsprune.graph import Array
from lsprune.hashing.base import Family, Keys, View, of_nodes, project, spread_of, sums_of
from lsprune.kernels.mix import ENTRY, OFFSET, WEIGHT, below, draw
from lsprune.kernels.normals import normal

FRACTION = 5  # weights are in units of 2^-5


@dataclass(frozen=True, kw_only=True)
class Projection(Family):
    """LSP-P: the key is the attributes' projection on a random direction, cut into bins of length l.

    Args:
        l: bin length in the units of the attributes (after L2 normalisation if calibrated); None: no binning.
        offset: the law of b: "uniform" in [0, l] (the paper's text) or "normal" (its published runs).
        sparsity: entries of the attribute vector that a function looks at, drawn with replacement; None: all.

    >>> Projection(l=1.0)
    Projection(l=1.0, offset='uniform', sparsity=None)
    """

    name: ClassVar[str] = "projection"
    about: ClassVar[str] = "LSP-P: random projection of the attributes, optionally in bins of length l"

    l: float | None = None  # noqa: E741  (the paper's own letter)
    offset: Literal["uniform", "normal"] = "uniform"
    sparsity: int | None = None

    def __post_init__(self) -> None:
        if self.l is not None and not (isinstance(self.l, Real) and 0 < self.l < float("inf")):
            raise OptionError(f"l must be > 0 or None, got {self.l!r}; it is the bin length")
        if self.offset not in ("uniform", "normal"):
            raise OptionError(f'offset must be "uniform" or "normal", got {self.offset!r}')
        check_sparsity(self.sparsity)

    def doubling(self, view: View) -> int:
        """The standard deviation of a projection; weights go with projections that are not cut into bins."""
        return spread_of(view) if self.l is None and view.calibrated else 0

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Keys of the functions first+1 .. first+count."""
        weights = self._weights(view, first, count)
        if self.l is None:
            weights.pop("owner", None)  # the same for all edges of an owner: without bins it decides nothing
        if not weights:  # and if there is nothing else, the tie rule decides everything
            return of_nodes(view, view.runtime.zeros((view.neighbours, 8 if count <= 8 else 16), np.int32))
        if self.l is None and list(weights) == ["neighbour"] and view.parts["neighbour"].index is None:
            part, scale = view.parts["neighbour"], view.scales["neighbour"]
            return of_nodes(view, project(view, part, scale, weights["neighbour"], width=8 if count <= 8 else 16))
        return sums_of(view, weights, self._bins(view, first, count))

    def _weights(self, view: View, first: int, count: int) -> dict[str, Array]:
        """Integer weights `[count, d]` of each part, keyed by (seed, function, part, coordinate)."""
        step = np.arange(first + 1, first + count + 1)[:, None]
        dims = {role: view.scales[role].dim for role in view.parts}
        if self.sparsity is None:
            return {
                role: normal(draw(view.seed, WEIGHT, step, PARTS.index(role), np.arange(dim)[None, :]))
                for role, dim in dims.items()
            }
        total = sum(dims.values())
        which = np.arange(self.sparsity)[None, :]
        at = below(draw(view.seed, ENTRY, step, which), total)  # with replacement: two draws of an entry add up
        flat = np.zeros((count, total), np.int16)
        np.add.at(flat, (np.arange(count)[:, None], at), normal(draw(view.seed, WEIGHT, step, which)))
        borders = np.cumsum([0, *dims.values()])
        return {role: np.ascontiguousarray(flat[:, borders[i] : borders[i + 1]]) for i, role in enumerate(dims)}

    def _bins(self, view: View, first: int, count: int) -> _Bins:
        scale = view.scales[list(view.parts)[-1]]
        power = scale.exponent + scale.shift + FRACTION
        if self.l is None:
            return _Bins(None, 0)
        length = round(self.l * 2.0**power)
        if not 1 <= length < 2**62:
            raise OptionError(
                f"l must be in [{2.0**-power:.3g}, {2.0 ** (62 - power):.3g}] for these attributes, got {self.l}"
            )
        steps = range(first + 1, first + count + 1)
        draws = [int(draw(view.seed, OFFSET, step)) for step in steps]
        if self.offset == "uniform":
            offsets = [(value * length) >> 64 for value in draws]
        else:
            values = [int(normal(np.array(value, np.uint64))) for value in draws]
            offsets = [round(value * 2.0 ** (power - FRACTION)) for value in values]
        return _Bins(np.array(offsets, np.int64), length)


@dataclass(frozen=True, eq=False)
class _Bins:
    """floor((sum + offset) / length) in integers, or the sum itself."""

    offsets: Array | None
    length: int

    def __call__(self, sums: Array) -> Array:
        return sums if self.offsets is None else (sums + self.offsets) // self.length


def check_sparsity(sparsity: int | None) -> None:
    """Raise unless sparsity is None or a positive whole number."""
    whole = isinstance(sparsity, int) and not isinstance(sparsity, bool)
    if sparsity is not None and not (whole and 1 <= sparsity < 1 << 24):
        raise OptionError(
            f"sparsity must be a whole number >= 1 or None, got {sparsity!r}; it counts entries, at most 2^24"
        )
