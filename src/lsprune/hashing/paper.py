"""The hash families of the paper's presets: LSP-P and LSP-T as in its text and in its published runs.

They exist to reproduce the paper. To prune graphs use `Projection` and `Threshold`.
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
from lsprune.hashing.base import BLOCK_FUNCTIONS, EdgeKeys, Keys, View
from lsprune.hashing.keys import NO_KEY
from lsprune.hashing.projection import WEIGHT_FRACTION_BITS, Projection
from lsprune.hashing.threshold import Bits, Threshold, keys_of_bits
from lsprune.kernels import BLOCK_ROWS, BLOCK_VALUES, not_finite
from lsprune.needs import Needs
from lsprune.numeric.normal_table import normal
from lsprune.numeric.random_numbers import AFFINE, below, draw, mix64, modulo

PRIME = 2**31 - 1
MD5_LANES = BLOCK_FUNCTIONS  # functions whose MD5 digests are computed side by side
MAX_SHARED_ENTRIES = 1 << 24  # in the signature that all functions of digest="affine" share
MAX_TABLE_BYTES = 1 << 29  # the bits of all nodes are packed once if the table is no larger
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
        """Return the offset b of each function in quanta."""
        if self.offset == "uniform":
            return super()._offsets(draws, length, power)
        values = [int(normal(np.array(value, np.uint64))) for value in draws]
        return [round(value * 2.0 ** (power - WEIGHT_FRACTION_BITS)) for value in values]


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
        """Whether the signature consists of k groups, which is so for digest="affine"."""
        return self.digest == "affine"

    @property
    def needs(self) -> Needs:
        """Say that MD5 keys are computed for each edge, and on the host."""
        return replace(super().needs, key_table=self.digest != "md5", gpu=self.digest != "md5")

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count."""
        if self.digest == "md5":
            return _md5(view, self._bits(view, range(first + 1, first + count + 1)), self.m)
        groups = self._bits(view, range(1, self._groups(view) + 1))
        shared = Bits(*(np.ascontiguousarray(field.reshape(1, -1)) for field in vars(groups).values()))
        return keys_of_bits(view, shared, _affine(view, first, count))

    def _groups(self, view: View) -> int:
        """Return the number of groups in the shared signature: k, or the steps in use if k groups are too many."""
        dim = sum(view.scales[role].dim for role in view.parts)
        limit = max(MAX_SHARED_ENTRIES // max(min(self.sparsity or dim, dim), 1), 1)
        if min(view.total, view.needed) > limit:
            raise OptionError(
                f"k must be at most {limit} with this hash and these attributes, got {view.total}: the signature of "
                'digest="affine" is made of k groups of entries'
            )
        return view.total if view.total <= limit else view.needed


def _affine(view: View, first: int, count: int) -> Callable[[Array], Array]:
    """Return the function from shared signatures `[rows, 1]` to keys (slope * signature + offset) mod PRIME."""
    steps = np.arange(first + 1, first + count + 1)
    slope = view.constant(1 + below(draw(view.seed, AFFINE, steps, 0), PRIME - 1))
    offset = view.constant(below(draw(view.seed, AFFINE, steps, 1), PRIME))

    def finish(sums: Array) -> Array:
        keys: Array = (modulo(mix64(sums), PRIME) * slope + offset) % PRIME
        return keys

    return finish


def _md5(view: View, bits: Bits, m: int) -> Keys:
    """Return keys MD5(bits) mod m, with the bits in coordinate order, most significant first, zero-padded."""
    parts = [_MessageWords.of(view, bits, role) for role in PARTS]
    begins, size = np.array([part.begin for part in parts]), -(-bits.role.shape[1] // 8)
    kernel, readers = view.runtime.module.md5_keys, [_reader(view, part) for part in parts]

    def keys_of_owners(lo: int, hi: int) -> Array:
        owned = view.owned
        start, stop = int(owned.indptr[lo]), int(owned.indptr[hi])
        items = (owned.owners(lo, hi), owned.edges(start, stop), owned.neighbour[start:stop])
        tables = [read(ids) for read, ids in zip(readers, items, strict=True)]
        keys = np.empty((stop - start, bits.role.shape[0]), np.int64)
        rows = np.array([rows for _, rows in tables], np.int64).reshape(len(PARTS), stop - start)
        kernel(tuple(table for table, _ in tables), rows, begins, size, m, keys)
        return keys

    return EdgeKeys(keys_of_owners)


@dataclass(frozen=True, eq=False)
class _MessageWords:
    """The bits of one part in the MD5 messages of several functions, and the 32-bit words that contain them."""

    role: str
    spans: list[tuple[int, int]]  # range of the bits of this part in the message of each function
    begin: int  # first word with a bit of this part, in any function
    count: int  # number of words from there on
    coordinate: Array  # [functions, bits of the message]
    threshold: Array  # [functions, bits of the message] int16

    @classmethod
    def of(cls, view: View, bits: Bits, role: str) -> _MessageWords:
        part = PARTS.index(role)
        spans = [(int((roles < part).sum()), int((roles <= part).sum())) for roles in bits.role]
        begin = min((lo for lo, _ in spans), default=0) // 32
        count = -(-max((hi for _, hi in spans), default=0) // 32) - begin if role in view.parts else 0
        # Quanta are in [-32767, 32767]: clipping the thresholds changes no bit.
        thresholds = np.clip(bits.threshold, -32768, 32767).astype(np.int16)
        return cls(role, spans, begin, count, bits.coordinate, thresholds)

    def fill(self, view: View, ids: Array, out: Array) -> None:
        """Set out[i, :, z] to the words of row ids[i] in the message of function z, little-endian."""
        quanta = _quanta(view, self.role, ids)
        for z, (lo, hi) in enumerate(self.spans):
            values = quanta if hi - lo == quanta.shape[1] else quanta[:, self.coordinate[z, lo:hi]]
            marks = np.zeros((ids.shape[0], self.count * 32), bool)
            start = lo - self.begin * 32
            np.greater(values, self.threshold[z, lo:hi], out=marks[:, start : start + hi - lo])
            out[:, :, z] = np.packbits(marks, axis=1).view("<u4")


def _reader(view: View, words: _MessageWords) -> Callable[[Array], tuple[Array, Array]]:
    """Return a function from ids of nodes or edges to a table `[rows, words, MD5_LANES]` and the row of each id.

    Nodes have many edges, so their bits are packed once; those of edges, or of too many nodes, block by block.
    """
    if words.count == 0:
        empty = np.zeros((1, 0, MD5_LANES), np.uint32)
        return lambda items: (empty, np.zeros(items.shape[0], np.int64))
    part = view.parts[words.role]
    size = max(min(BLOCK_ROWS, BLOCK_VALUES // part.rows.dim), 1)
    if words.role != "edge" and part.rows.count * words.count * MD5_LANES * 4 <= MAX_TABLE_BYTES:
        all_rows = view.runtime.zeros((part.rows.count, words.count, MD5_LANES), np.uint32)
        view.runtime.spread(part.rows.count, lambda lo, hi: words.fill(view, np.arange(lo, hi), all_rows[lo:hi]), size)
        return lambda items: (all_rows, part.rows_of(items))

    def read_block(items: Array) -> tuple[Array, Array]:
        ids, rows = np.unique(part.rows_of(items), return_inverse=True)
        table = np.zeros((ids.shape[0], words.count, MD5_LANES), np.uint32)
        for lo in range(0, ids.shape[0], size):
            words.fill(view, ids[lo : lo + size], table[lo : lo + size])
        return table, rows

    return read_block


def _quanta(view: View, role: str, ids: Array) -> Array:
    """Return rows of a part as int16 quanta; raise GraphError for a row that is not finite."""
    rows, scale = view.parts[role].rows, view.scales[role]
    block = rows.take(ids)
    out = np.zeros(block.shape, np.int16)
    bad = view.runtime.module.quanta(block, scale.unit, scale.exponent, np.array(scale.centre, np.int32), out)
    if bad >= 0:
        raise not_finite(rows.name, block[bad], int(ids[bad]))
    return out
