"""LSP-T, binary signatures (paper, section 3.2): every entry against a random threshold, then a digest of the bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from lsprune.attributes import PARTS
from lsprune.checks import MOST_WHOLE, set_number, set_whole, shown
from lsprune.errors import OptionError
from lsprune.graph import Array
from lsprune.hashing.base import STEPS, EdgeKeys, Family, Keys, View
from lsprune.hashing.keys import NOBODY, edge_rows, of_sums, uniform
from lsprune.kernels import BLOCK_ROWS, BLOCK_VALUES, not_finite
from lsprune.numeric.normal_table import UNIT, normal
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.random_numbers import AFFINE, CODE, ENTRY, THRESHOLD, below, draw, mix64

PRIME = 2**31 - 1
LANES = STEPS  # functions that MD5 digests side by side
MOST_ENTRIES = 1 << 24  # entries of the signature that all functions of "affine" share
TABLE_BYTES = 1 << 29  # bits of all nodes are packed ahead where that takes no more


@dataclass(frozen=True, eq=False)
class _Bits:
    """The bits of some functions: entry `coordinate[z, i]` of part `role[z, i]` against `threshold[z, i]`."""

    role: Array  # [count, s] index into PARTS
    coordinate: Array  # [count, s]
    threshold: Array  # [count, s] int64, in quanta
    code: Array  # [count, s] uint64: what a set bit adds to the signature


@dataclass(frozen=True, kw_only=True)
class Threshold(Family):
    """LSP-T: the key is a digest of the bits "entry > threshold", in one of m bins.

    Args:
        m: number of bins of the digest.
        digest: "mix" (fast, 64-bit), "md5" (the paper's text) or "affine" (its published runs: one signature of
            k groups of entries that all functions share, then k affine permutations modulo 2^31 - 1).
        sparsity: entries a signature looks at, drawn without replacement; None: all. Few: one flipped bit changes
            the whole digest, so long signatures are no better than chance.
        mean: mean of the thresholds, whose deviation is 1 (raw) or that of the column (calibrated).

    >>> Threshold(digest="md5", sparsity=None).m
    2147483647
    """

    name: ClassVar[str] = "threshold"
    about: ClassVar[str] = "LSP-T: digest of the bits entry > random threshold"

    m: int = 2**31 - 1
    digest: Literal["mix", "md5", "affine"] = "mix"
    sparsity: int | None = 6
    mean: float = 0.0

    def __post_init__(self) -> None:
        set_whole(self, "m", 1, 2**63 - 1, "a whole number in [1, 2^63)")
        if not isinstance(self.digest, str) or self.digest not in ("mix", "md5", "affine"):
            raise OptionError(f'digest must be "mix", "md5" or "affine", got {shown(self.digest)}')
        set_whole(self, "sparsity", 1, MOST_WHOLE, "a whole number in [1, 2^63) or None", none=True)
        about = "; it is the mean of the thresholds"
        set_number(self, "mean", lambda mean: abs(mean) < 2**20, "a number in (-2^20, 2^20)", about=about)

    @property
    def needs_k(self) -> bool:
        """The shared signature of "affine" is made of k groups."""
        return self.digest == "affine"

    @property
    def hashed(self) -> bool:
        """True for the digest "mix": the others are the paper's, without weights."""
        return self.digest == "mix"

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Keys of the functions first+1 .. first+count."""
        if self.digest == "affine":
            groups = self._bits(view, range(1, self._groups(view) + 1))
            shared = _Bits(*(np.ascontiguousarray(field.reshape(1, -1)) for field in vars(groups).values()))
            return _additive(view, shared, _affine(view.seed, first, count))
        bits = self._bits(view, range(first + 1, first + count + 1))
        return (
            _md5(view, bits, self.m) if self.digest == "md5" else _additive(view, bits, self._mixed(view, first, count))
        )

    def _mixed(self, view: View, first: int, count: int) -> Callable[[Array], Array]:
        start = draw(view.seed, CODE, np.arange(first + 1, first + count + 1))
        if view.race:
            return lambda sums: uniform(view, mix64(sums.view(np.uint64) ^ start))
        # % m keeps keys below 2^31 - 1 for the default m: they fit the fast int32 table
        return lambda sums: (mix64(sums.view(np.uint64) ^ start) % np.uint64(self.m)).astype(np.int64)

    def _groups(self, view: View) -> int:
        """Groups of entries in the signature of "affine": k, or fewer where every owner keeps all edges anyway."""
        dim = sum(view.scales[role].dim for role in view.parts)
        most = max(MOST_ENTRIES // max(min(self.sparsity or dim, dim), 1), 1)
        if min(view.total, view.needed) > most:
            raise OptionError(
                f"k must be at most {most} with this hash and these attributes, got {view.total}: the signature of "
                'digest="affine" is made of k groups of entries'
            )
        return view.total if view.total <= most else view.needed

    def _bits(self, view: View, steps: range) -> _Bits:
        dims = [view.scales[role].dim for role in view.parts]
        ids = np.concatenate([np.arange(dim) for dim in dims])
        roles = np.repeat([PARTS.index(role) for role in view.parts], dims)
        step = np.arange(steps.start, steps.stop)[:, None]
        chosen = _without_replacement(view.seed, steps, ids, roles, self.sparsity)  # [count, s] ascending
        role, coordinate = roles[chosen], ids[chosen]
        raw = normal(draw(view.seed, THRESHOLD, step, role, coordinate)).astype(np.int64) + round(self.mean * UNIT)
        return _Bits(
            role, coordinate, _thresholds(view, role, coordinate, raw), draw(view.seed, CODE, step, role, coordinate)
        )


def _without_replacement(seed: int, steps: range, ids: Array, roles: Array, sparsity: int | None) -> Array:
    """Positions `[steps, s]` of the entries each function looks at: those with the smallest draws, ascending."""
    if sparsity is None or sparsity >= ids.size:
        return np.tile(np.arange(ids.size), (len(steps), 1))
    draws = (draw(seed, ENTRY, step, roles, ids) for step in steps)
    return np.array([np.sort(np.argsort(values, kind="stable")[:sparsity]) for values in draws]).reshape(-1, sparsity)


def _thresholds(view: View, role: Array, coordinate: Array, raw: Array) -> Array:
    """Thresholds in quanta, floored (an integer exceeds t when it exceeds floor(t))."""
    if not view.calibrated:
        exponent = next(iter(view.scales.values())).exponent
        return raw << (exponent - 5) if exponent >= 5 else raw >> (5 - exponent)
    spread = np.zeros(raw.shape, np.int64)
    for name, scale in view.scales.items():
        here = role == PARTS.index(name)
        spread[here] = np.array(scale.spread, np.int64)[coordinate[here]]
    return (raw * spread) >> 10  # thresholds in 1/32 deviations, deviations in 1/32 quanta


def _additive(view: View, bits: _Bits, finish: Callable[[Array], Array]) -> Keys:
    """Keys from signatures that add up over the parts: the sum of the codes of the set bits."""
    tables = {role: _signatures(view, role, bits) for role in view.parts if role != "edge"}

    def edge(ids: Array) -> Array:
        own, out = _of_part(bits, "edge"), np.zeros((ids.shape[0], bits.role.shape[0]), np.uint64)
        edge_rows(view, ids, lambda block: _signature_into(view, block, view.scales["edge"], *own, out))
        return out

    return of_sums(view, tables, edge if "edge" in view.parts else None, finish)


def _of_part(bits: _Bits, role: str) -> tuple[Array, Array, Array]:
    here = bits.role == PARTS.index(role)
    used = here.any(axis=0)  # columns in which this part has an entry at all
    return (
        np.ascontiguousarray(np.where(here, bits.coordinate, 0)[:, used]),
        np.ascontiguousarray(bits.threshold[:, used]),
        np.ascontiguousarray(np.where(here, bits.code, np.uint64(0))[:, used]),
    )


def _signatures(view: View, role: str, bits: _Bits) -> Array:
    part, scale, own = view.parts[role], view.scales[role], _of_part(bits, role)
    out = view.runtime.zeros((part.rows.count, bits.role.shape[0]), np.uint64)

    def one(block: Array, lo: int, hi: int) -> int:
        return _signature_into(view, block, scale, *own, out[lo:hi])

    view.runtime.over_rows(part.rows, one)
    return out


def _signature_into(
    view: View, block: Array, scale: Scale, entry: Array, threshold: Array, code: Array, out: Array
) -> int:
    centre = np.array(scale.centre, np.int32)
    return int(view.runtime.module.signature(block, scale.unit, scale.exponent, centre, entry, threshold, code, out))


def _affine(seed: int, first: int, count: int) -> Callable[[Array], Array]:
    steps = np.arange(first + 1, first + count + 1)
    slope = 1 + below(draw(seed, AFFINE, steps, 0), PRIME - 1)
    offset = below(draw(seed, AFFINE, steps, 1), PRIME)

    def finish(sums: Array) -> Array:
        signature = (mix64(sums.view(np.uint64)) % np.uint64(PRIME)).astype(np.int64)  # [rows, 1]
        return np.asarray((signature * slope + offset) % PRIME)

    return finish


def _md5(view: View, bits: _Bits, m: int) -> Keys:
    """The paper's digest: bits most significant first in coordinate order, zero-padded; MD5 as an integer mod m."""
    parts = [_Words.of(view, bits, role) for role in PARTS]
    begins, size = np.array([part.begin for part in parts]), -(-bits.role.shape[1] // 8)
    kernel, finders = view.runtime.module.md5_keys, [_finder(view, part) for part in parts]

    def of(lo: int, hi: int) -> Array:
        owned = view.owned
        start, stop = int(owned.indptr[lo]), int(owned.indptr[hi])
        items = (owned.owners(lo, hi), owned.edges(start, stop), owned.neighbour[start:stop])
        found = [find(ids) for find, ids in zip(finders, items, strict=True)]
        keys = np.empty((stop - start, bits.role.shape[0]), np.int64)
        rows = np.array([rows for _, rows in found], np.int64).reshape(len(PARTS), stop - start)
        kernel(tuple(table for table, _ in found), rows, begins, size, m, keys)
        return keys

    return EdgeKeys(of)


@dataclass(frozen=True, eq=False)
class _Words:
    """Where the bits of one part stand in the messages of some functions, and which 32-bit words that is."""

    role: str
    spans: list[tuple[int, int]]  # of each function: its bits of this part, which stand side by side
    begin: int  # first word that has a bit of this part in some function
    count: int  # number of words from there on
    coordinate: Array  # [functions, bits of the message]
    threshold: Array  # [functions, bits of the message] int16

    @classmethod
    def of(cls, view: View, bits: _Bits, role: str) -> _Words:
        part = PARTS.index(role)
        spans = [(int((roles < part).sum()), int((roles <= part).sum())) for roles in bits.role]
        begin = min((lo for lo, _ in spans), default=0) // 32
        count = -(-max((hi for _, hi in spans), default=0) // 32) - begin if role in view.parts else 0
        limits = np.clip(bits.threshold, -32768, 32767).astype(np.int16)  # quanta are in +-32767: nothing changes
        return cls(role, spans, begin, count, bits.coordinate, limits)

    def fill(self, view: View, ids: Array, out: Array) -> None:
        """out[i, :, z] = the words of row ids[i] in the message of function z, first byte lowest."""
        quanta = _quanta(view, self.role, ids)
        for z, (lo, hi) in enumerate(self.spans):
            chosen = quanta if hi - lo == quanta.shape[1] else quanta[:, self.coordinate[z, lo:hi]]
            marks = np.zeros((ids.shape[0], self.count * 32), bool)
            at = lo - self.begin * 32
            np.greater(chosen, self.threshold[z, lo:hi], out=marks[:, at : at + hi - lo])
            out[:, :, z] = np.packbits(marks, axis=1).view("<u4")


def _finder(view: View, words: _Words) -> Callable[[Array], tuple[Array, Array]]:
    """A function from nodes or edges to a table `[rows, words, LANES]` and the row of each in it.

    A node has many edges, so nodes are packed once, ahead; edges, and nodes too many for that, a block at a time.
    """
    if words.count == 0:
        nothing = np.zeros((1, 0, LANES), np.uint32)
        return lambda items: (nothing, np.zeros(items.shape[0], np.int64))
    part = view.parts[words.role]
    size = max(min(BLOCK_ROWS, BLOCK_VALUES // part.rows.dim), 1)
    if words.role != "edge" and part.rows.count * words.count * LANES * 4 <= TABLE_BYTES:
        whole = view.runtime.zeros((part.rows.count, words.count, LANES), np.uint32)
        view.runtime.spread(part.rows.count, lambda lo, hi: words.fill(view, np.arange(lo, hi), whole[lo:hi]), size)
        return lambda items: (whole, part.rows_of(items))

    def few(items: Array) -> tuple[Array, Array]:
        ids, rows = np.unique(part.rows_of(items), return_inverse=True)
        table = np.zeros((ids.shape[0], words.count, LANES), np.uint32)
        for lo in range(0, ids.shape[0], size):
            words.fill(view, ids[lo : lo + size], table[lo : lo + size])
        return table, rows

    return few


def _quanta(view: View, role: str, ids: Array) -> Array:
    rows, scale = view.parts[role].rows, view.scales[role]
    block = rows.take(ids)
    out = np.zeros(block.shape, np.int16)
    bad = view.runtime.module.quanta(block, scale.unit, scale.exponent, np.array(scale.centre, np.int32), out)
    if bad >= 0:
        raise not_finite(rows.name, block[bad], int(ids[bad]))
    return out


assert PRIME <= NOBODY
