"""The hash families of the paper's presets: LSP-P and LSP-T as its text and its published runs have them.

Nothing here is needed to prune a graph well: `Projection` and `Threshold` are the families to use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from lsprune.attributes import PARTS
from lsprune.checks import check_choice
from lsprune.errors import OptionError
from lsprune.graph import Array
from lsprune.hashing.base import STEPS, EdgeKeys, Keys, View
from lsprune.hashing.keys import NO_KEY
from lsprune.hashing.projection import FRACTION, Projection
from lsprune.hashing.threshold import Bits, Threshold, additive
from lsprune.kernels import BLOCK_ROWS, BLOCK_VALUES, not_finite
from lsprune.needs import Needs
from lsprune.numeric.normal_table import normal
from lsprune.numeric.random_numbers import AFFINE, below, draw, mix64

PRIME = 2**31 - 1
LANES = STEPS  # functions that MD5 digests side by side
MAX_SHARED_ENTRIES = 1 << 24  # of the signature that all functions of "affine" share
MAX_TABLE_BYTES = 1 << 29  # bits of all nodes are packed ahead if that takes no more
assert PRIME <= NO_KEY


@dataclass(frozen=True, kw_only=True)
class PaperProjection(Projection):
    """LSP-P with the offsets of the paper's published runs.

    Args:
        l, sparsity: as for `Projection`.
        offset: the distribution of b: "uniform" in [0, l] (the paper's text) or "normal" (its published runs).

    >>> PaperProjection(l=1.0, offset="normal", sparsity=25)
    PaperProjection(l=1.0, sparsity=25, offset='normal')
    """

    name: ClassVar[str] = "paper-projection"
    about: ClassVar[str] = "LSP-P with the offsets of the paper's published runs"

    offset: Literal["uniform", "normal"] = "normal"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("offset", self.offset, ("uniform", "normal"))

    def _offsets(self, draws: list[int], length: int, power: int) -> list[int]:
        """Return b of each function in quanta."""
        if self.offset == "uniform":
            return super()._offsets(draws, length, power)
        values = [int(normal(np.array(value, np.uint64))) for value in draws]
        return [round(value * 2.0 ** (power - FRACTION)) for value in values]


@dataclass(frozen=True, kw_only=True)
class PaperThreshold(Threshold):
    """LSP-T with the digests of the paper; its keys cannot be weighted.

    Args:
        m, sparsity, mean: as for `Threshold`.
        digest: "md5" (the paper's text) or "affine" (its published runs: one signature of k groups of entries that
            all functions share, then k affine permutations modulo 2^31 - 1).

    >>> PaperThreshold(digest="affine", sparsity=25, mean=1.0).digest
    'affine'
    """

    name: ClassVar[str] = "paper-threshold"
    about: ClassVar[str] = "LSP-T with the paper's digests: MD5, or affine permutations of a shared signature"
    has_codes: ClassVar[bool] = False

    digest: Literal["md5", "affine"] = "md5"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("digest", self.digest, ("md5", "affine"))

    @property
    def needs_k(self) -> bool:
        """The shared signature of "affine" is made of k groups."""
        return self.digest == "affine"

    @property
    def needs(self) -> Needs:
        """Say that MD5 makes keys of single edges."""
        return replace(super().needs, key_table=self.digest != "md5")

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count."""
        if self.digest == "md5":
            return _md5(view, self._bits(view, range(first + 1, first + count + 1)), self.m)
        groups = self._bits(view, range(1, self._groups(view) + 1))
        shared = Bits(*(np.ascontiguousarray(field.reshape(1, -1)) for field in vars(groups).values()))
        return additive(view, shared, _affine(view.seed, first, count))

    def _groups(self, view: View) -> int:
        """Count the groups of entries in the shared signature: k, or fewer if every owner keeps all edges anyway."""
        dim = sum(view.scales[role].dim for role in view.parts)
        most = max(MAX_SHARED_ENTRIES // max(min(self.sparsity or dim, dim), 1), 1)
        if min(view.total, view.needed) > most:
            raise OptionError(
                f"k must be at most {most} with this hash and these attributes, got {view.total}: the signature of "
                'digest="affine" is made of k groups of entries'
            )
        return view.total if view.total <= most else view.needed


def _affine(seed: int, first: int, count: int) -> Callable[[Array], Array]:
    steps = np.arange(first + 1, first + count + 1)
    slope = 1 + below(draw(seed, AFFINE, steps, 0), PRIME - 1)
    offset = below(draw(seed, AFFINE, steps, 1), PRIME)

    def finish(sums: Array) -> Array:
        signature = (mix64(sums.view(np.uint64)) % np.uint64(PRIME)).astype(np.int64)  # [rows, 1]
        return np.asarray((signature * slope + offset) % PRIME)

    return finish


def _md5(view: View, bits: Bits, m: int) -> Keys:
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
    def of(cls, view: View, bits: Bits, role: str) -> _Words:
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
    if words.role != "edge" and part.rows.count * words.count * LANES * 4 <= MAX_TABLE_BYTES:
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
