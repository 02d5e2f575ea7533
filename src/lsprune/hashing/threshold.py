"""LSP-T, binary signatures (paper, section 3.2): compare entries with random thresholds, then digest the bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import ClassVar

import numpy as np

from lsprune.attributes import PARTS
from lsprune.checks import MOST_WHOLE, set_number, set_whole
from lsprune.graph import Array
from lsprune.hashing.base import Family, Keys, View
from lsprune.hashing.keys import edge_rows, of_sums, uniform
from lsprune.needs import Needs
from lsprune.numeric.normal_table import UNIT, normal
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.random_numbers import CODE, ENTRY, THRESHOLD, draw, mix64, modulo


@dataclass(frozen=True, eq=False)
class Bits:
    """The bits of several functions z: is entry `coordinate[z, i]` of part `role[z, i]` above `threshold[z, i]`?"""

    role: Array  # [count, s] index into PARTS
    coordinate: Array  # [count, s]
    threshold: Array  # [count, s] int64, in quanta
    code: Array  # [count, s] uint64: added to the signature if the bit is set


@dataclass(frozen=True, kw_only=True)
class Threshold(Family):
    """LSP-T: the key is a digest of the bits "entry > threshold", in one of m bins.

    Args:
        m: number of bins of the digest.
        sparsity: number of entries in a signature, drawn without replacement; None: all. Use few: one flipped bit
            changes the whole digest, so that long signatures are no better than random selection.
        mean: mean of the thresholds, in standard deviations of the column (raw values: in their own unit).

    >>> Threshold(sparsity=4)
    Threshold(m=2147483647, sparsity=4, mean=0.0)
    """

    name: ClassVar[str] = "threshold"
    about: ClassVar[str] = "LSP-T: digest of the bits entry > random threshold"
    has_codes: ClassVar[bool] = True

    m: int = 2**31 - 1
    sparsity: int | None = 6
    mean: float = 0.0

    def __post_init__(self) -> None:
        set_whole(self, "m", 1, 2**63 - 1, "a whole number in [1, 2^63)")
        set_whole(self, "sparsity", 1, MOST_WHOLE, "a whole number in [1, 2^63) or None", none=True)
        about = "; it is the mean of the thresholds"
        set_number(self, "mean", lambda mean: abs(mean) < 2**20, "a number in (-2^20, 2^20)", about=about)

    @property
    def needs(self) -> Needs:
        """Say that keys are computed once per neighbour, on a GPU too."""
        return replace(super().needs, gpu=True)

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count."""
        bits = self._bits(view, range(first + 1, first + count + 1))
        return keys_of_bits(view, bits, self._digest(view, first, count))

    def _digest(self, view: View, first: int, count: int) -> Callable[[Array], Array]:
        """Return the function from signatures to keys."""
        start = view.constant(draw(view.seed, CODE, np.arange(first + 1, first + count + 1)))
        if view.log_keys:
            return lambda sums: uniform(view, mix64(sums ^ start))
        # With the default m, keys are below 2^31 - 1 and fit the fast int32 table.
        return lambda sums: modulo(mix64(sums ^ start), self.m)

    def _bits(self, view: View, steps: range) -> Bits:
        """Draw the entries and thresholds of these functions."""
        dims = [view.scales[role].dim for role in view.parts]
        ids = np.concatenate([np.arange(dim) for dim in dims])
        roles = np.repeat([PARTS.index(role) for role in view.parts], dims)
        step = np.arange(steps.start, steps.stop)[:, None]
        entries = _without_replacement(view.seed, steps, ids, roles, self.sparsity)  # [count, s] ascending
        role, coordinate = roles[entries], ids[entries]
        raw = normal(draw(view.seed, THRESHOLD, step, role, coordinate)).astype(np.int64) + round(self.mean * UNIT)
        return Bits(
            role, coordinate, _thresholds(view, role, coordinate, raw), draw(view.seed, CODE, step, role, coordinate)
        )


def _without_replacement(seed: int, steps: range, ids: Array, roles: Array, sparsity: int | None) -> Array:
    """Return the positions `[steps, s]` of the entries of each function: those with the smallest draws, ascending."""
    if sparsity is None or sparsity >= ids.size:
        return np.tile(np.arange(ids.size), (len(steps), 1))
    draws = (draw(seed, ENTRY, step, roles, ids) for step in steps)
    return np.array([np.sort(np.argsort(values, kind="stable")[:sparsity]) for values in draws]).reshape(-1, sparsity)


def _thresholds(view: View, role: Array, coordinate: Array, raw: Array) -> Array:
    """Return thresholds in quanta, rounded down: an integer exceeds t if and only if it exceeds floor(t)."""
    if not view.normalised:
        exponent = next(iter(view.scales.values())).exponent
        return raw << (exponent - 5) if exponent >= 5 else raw >> (5 - exponent)
    spread = np.zeros(raw.shape, np.int64)
    for name, scale in view.scales.items():
        here = role == PARTS.index(name)
        spread[here] = np.array(scale.spread, np.int64)[coordinate[here]]
    return (raw * spread) >> 10  # raw: 1/32 of a deviation; spread: deviations in 1/32 quanta


def keys_of_bits(view: View, bits: Bits, digest: Callable[[Array], Array]) -> Keys:
    """Return keys `digest(signature)`; a signature is the sum of the codes of the set bits, over all parts."""
    if view.device is not None:
        parts = {role: _of_part(bits, role) for role in view.parts}
        keys: Keys = import_module("lsprune.hashing.device_keys").of_signatures(view, parts, digest)
        return keys
    tables = {role: _signatures(view, role, bits) for role in view.parts if role != "edge"}

    def edge(ids: Array) -> Array:
        edge_bits, out = _of_part(bits, "edge"), np.zeros((ids.shape[0], bits.role.shape[0]), np.uint64)
        edge_rows(view, ids, lambda block: _signature_into(view, block, view.scales["edge"], *edge_bits, out))
        return out

    return of_sums(view, tables, edge if "edge" in view.parts else None, digest)


def _of_part(bits: Bits, role: str) -> tuple[Array, Array, Array]:
    """Return (coordinate, threshold, code) of the bits of one part; bits of other parts have code 0."""
    here = bits.role == PARTS.index(role)
    used = here.any(axis=0)  # columns in which some function has a bit of this part
    return (
        np.ascontiguousarray(np.where(here, bits.coordinate, 0)[:, used]),
        np.ascontiguousarray(bits.threshold[:, used]),
        np.ascontiguousarray(np.where(here, bits.code, np.uint64(0))[:, used]),
    )


def _signatures(view: View, role: str, bits: Bits) -> Array:
    """Return what each row of a node part adds to the signatures, `[rows, count]` uint64."""
    part, scale, part_bits = view.parts[role], view.scales[role], _of_part(bits, role)
    out = view.runtime.zeros((part.rows.count, bits.role.shape[0]), np.uint64)

    def fill(block: Array, lo: int, hi: int) -> int:
        return _signature_into(view, block, scale, *part_bits, out[lo:hi])

    view.runtime.over_rows(part.rows, fill)
    return out


def _signature_into(
    view: View, block: Array, scale: Scale, entry: Array, threshold: Array, code: Array, out: Array
) -> int:
    """Write the signatures of a block of rows to `out`; return the number of a row that is not finite, or -1."""
    centre = np.array(scale.centre, np.int32)
    return int(view.runtime.module.signature(block, scale.unit, scale.exponent, centre, entry, threshold, code, out))
