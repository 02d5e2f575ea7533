"""LSP-P, random projections (paper, section 3.2): key = floor((<attributes, w> + b) / l)."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from lsprune.attributes import PARTS
from lsprune.checks import set_number, set_whole
from lsprune.errors import OptionError
from lsprune.graph import Array
from lsprune.hashing.base import Family, Keys, View
from lsprune.hashing.keys import equal_keys, of_nodes, project, spread_of, sums_of
from lsprune.needs import Needs
from lsprune.numeric.normal_table import normal
from lsprune.numeric.random_numbers import ENTRY, OFFSET, WEIGHT, below, draw

WEIGHT_FRACTION_BITS = 5  # weights are in units of 2^-5
MAX_SAMPLED_ENTRIES = 1 << 20  # the largest `sparsity`


@dataclass(frozen=True, kw_only=True)
class Projection(Family):
    """LSP-P: the key is the projection of the attributes on a random direction, cut into bins of length l.

    Args:
        l: bin length in the units of the attributes (after L2 normalisation, unless raw); None: no binning.
        sparsity: number of entries of the attribute vector that each function uses, drawn with replacement; None: all.

    >>> Projection(l=1.0)
    Projection(l=1.0, sparsity=None)
    """

    name: ClassVar[str] = "projection"
    about: ClassVar[str] = "LSP-P: random projection of the attributes, optionally in bins of length l"

    l: float | None = None  # noqa: E741  (the paper's own letter)
    sparsity: int | None = None

    def __post_init__(self) -> None:
        about = "; it is the bin length"
        set_number(self, "l", lambda length: 0 < length < math.inf, "> 0 or None", none=True, about=about)
        wanted = f"a whole number in [1, {MAX_SAMPLED_ENTRIES}] or None"
        set_whole(self, "sparsity", 1, MAX_SAMPLED_ENTRIES, wanted, none=True)

    def log_unit(self, view: View) -> int:
        """Return the standard deviation of a projection; 0 with bins or raw values, which cannot be weighted."""
        return spread_of(view) if self.l is None and view.normalised else 0

    @property
    def unbiased_problem(self) -> str:
        """Say that some edges are never kept."""
        if self.l is not None:
            return "edges win by lying in the outermost bin of a projection, not by a draw of their own"
        return (
            "no unbiased estimator exists for a projection without bins: only edges on the outside of a neighbourhood "
            "can win (vertices of the convex hull of its attributes, if one is kept); no factor makes up for the others"
        )

    def uses(self, parts: Collection[str]) -> frozenset[str]:
        """Leave out the owner if there are no bins: it adds the same number to all keys of an owner."""
        return frozenset(parts) - ({"owner"} if self.l is None else set())

    def with_codes(self, view: View) -> Projection:
        """Return this with bins of one standard deviation if it has none: keys without bins hardly ever repeat."""
        if self.l is not None:
            return self
        if not view.normalised:
            raise OptionError('l must be given for a Projection in Both with values="raw"; it is the bin length')
        energy, entries = spread_of(view) ** 2, sum(scale.dim for scale in view.scales.values())
        if self.sparsity is not None:
            energy = energy * self.sparsity // entries
        scale = view.scales[list(view.parts)[-1]]
        power = scale.exponent + scale.shift + WEIGHT_FRACTION_BITS
        return replace(self, l=max(math.isqrt(energy), 1) / 2.0**power)

    @property
    def needs(self) -> Needs:
        """Say that keys are computed once per neighbour, on a GPU too."""
        return replace(super().needs, gpu=True)

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count."""
        weights = self._weights(view, first, count)
        if self.l is None:
            weights.pop("owner", None)  # without bins it changes nothing, see `uses`
        if not weights:  # all keys are equal: ties decide
            return equal_keys(view, count)
        if self.l is None and list(weights) == ["neighbour"] and view.parts["neighbour"].index is None:
            part, scale = view.parts["neighbour"], view.scales["neighbour"]
            return of_nodes(view, project(view, part, scale, weights["neighbour"], width=8 if count <= 8 else 16))
        return sums_of(view, weights, self._bins(view, first, count))

    def _weights(self, view: View, first: int, count: int) -> dict[str, Array]:
        """Return integer weights `[count, d]` of each part, drawn by (seed, function, part, coordinate)."""
        step = np.arange(first + 1, first + count + 1)[:, None]
        dims = {role: view.scales[role].dim for role in view.parts}
        if self.sparsity is None:
            return {role: _dense_weights(view.seed, first, count, PARTS.index(role), dim) for role, dim in dims.items()}
        total = sum(dims.values())
        numbers = np.arange(self.sparsity)[None, :]
        entries = below(draw(view.seed, ENTRY, step, numbers), total)
        flat = np.zeros((count, total), np.int16)  # with replacement: the weights of an entry drawn twice add up
        np.add.at(flat, (np.arange(count)[:, None], entries), normal(draw(view.seed, WEIGHT, step, numbers)))
        borders = np.cumsum([0, *dims.values()])
        return {role: np.ascontiguousarray(flat[:, borders[i] : borders[i + 1]]) for i, role in enumerate(dims)}

    def _bins(self, view: View, first: int, count: int) -> _Bins:
        """Return the bins of the functions first+1 .. first+count, in quanta."""
        scale = view.scales[list(view.parts)[-1]]
        power = scale.exponent + scale.shift + WEIGHT_FRACTION_BITS
        if self.l is None:
            return _Bins(None, 0)
        length = round(min(self.l * 2.0**power, 2.0**62))
        if not 1 <= length < 2**62:
            raise OptionError(
                f"l must be in [{2.0**-power:.3g}, {2.0 ** (62 - power):.3g}] for these attributes, got {self.l}"
            )
        draws = [int(draw(view.seed, OFFSET, step)) for step in range(first + 1, first + count + 1)]
        return _Bins(view.constant(np.array(self._offsets(draws, length, power), np.int64)), length)

    def _offsets(self, draws: list[int], length: int, power: int) -> list[int]:
        """Return the offset b of each function in quanta, uniform in [0, l], from uint64 draws."""
        return [(value * length) >> 64 for value in draws]


@lru_cache(maxsize=64)
def _dense_weights(seed: int, first: int, count: int, part: int, dim: int) -> Array:
    """Return the weights `[count, dim]` of all entries of a part; drawn once, for on a GPU drawing takes longer."""
    step = np.arange(first + 1, first + count + 1)[:, None]
    weights = normal(draw(seed, WEIGHT, step, part, np.arange(dim)[None, :]))
    weights.setflags(write=False)
    return weights


@dataclass(frozen=True, eq=False)
class _Bins:
    """The function from sums to keys: floor((sum + offset) / length), or the sum itself without bins."""

    offsets: Array | None
    length: int

    def __call__(self, sums: Array) -> Array:
        return sums if self.offsets is None else (sums + self.offsets) // self.length
