"""How many edges each owner keeps: `k`, `PerNode`, or what meets `keep` to the edge, without collecting all owners.

The histogram of degrees gives the level, which all owners keep. One more edge goes to the owners with the smallest
hashes; the last of them is found by histograms of 16 bits of the hash at a time. An owner's quota then follows from its
id alone, so that no quotas have to be joined to the edges. With `PerNode` the degree of its owner is joined to each
edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lsprune.graph import Array
from lsprune.numeric.random_numbers import OWNER, draw
from lsprune.selection.budget import split_budget
from lsprune.selection.per_node import PerNode
from lsprune.selection.rules import SelectionRules
from lsprune.spark.columns import to_numpy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MAX_COLLECTED_OWNERS = 1 << 16  # owners whose ids are collected on the driver
_DIGIT_VALUES = 1 << 16  # values of 16 bits of a hash


@dataclass(frozen=True)
class Budget:
    """The quota of every owner: `level`, and one more for the owners up to `last` in the order of (hash, id).

    With `per_node`, the quota of an owner follows from its degree or its id instead, and is at most `most`.
    """

    level: int
    seed: int = 0
    last: tuple[int, int] | None = None  # (hash, id); None: no owner keeps one more
    per_node: PerNode | None = None
    most: int = 0

    @property
    def largest(self) -> int:
        """The largest quota."""
        return self.level + (self.last is not None) if self.per_node is None else self.most

    @property
    def by_degree(self) -> bool:
        """Whether the quota of an owner follows from its degree."""
        return self.per_node is not None and self.per_node.counts is None

    def of(self, owner: Array, degree: Array | None = None) -> Array:
        """Return the quota of each owner, int64; `degree` of each is needed with `by_degree`."""
        if self.per_node is not None and degree is not None:
            degrees, of_owner = np.unique(degree, return_inverse=True)
            return self.per_node.of_degrees(degrees)[of_owner]
        if self.per_node is not None:
            counts: Array = self.per_node.counts.take(owner, mode="clip")  # beyond: an owner of uncounted self-loops
            return counts
        quota = np.full(owner.shape, self.level, np.int64)
        if self.last is not None:
            hashes, (last_hash, last_id) = draw(self.seed, OWNER, owner), self.last
            quota += (hashes < np.uint64(last_hash)) | ((hashes == np.uint64(last_hash)) & (owner <= last_id))
        return quota


def find_budget(rules: SelectionRules, degrees: DataFrame | None) -> tuple[Budget, int | None]:
    """Return the budget, and the largest degree if it was computed; without k, `degrees` (owner, degree) are needed."""
    if rules.k is not None:
        return Budget(rules.k), None
    assert degrees is not None
    if rules.budget is not None:
        return _per_node(rules.budget, degrees)
    assert rules.keep is not None
    histogram = degrees.groupBy("degree").count().toArrow()
    degree, count = (to_numpy(histogram.column(name)).astype(np.int64) for name in ("degree", "count"))
    level, left = split_budget(rules.keep, degree, count)
    last = _last_owner(degrees.where(f"degree > {level}"), left, rules.seed) if left else None
    return Budget(level, rules.seed, last), int(degree.max(initial=0))


def _per_node(per_node: PerNode, degrees: DataFrame) -> tuple[Budget, int]:
    """Return the budget and the largest degree; raise GraphError if there are fewer counts than owners."""
    from pyspark.sql import functions as F

    if per_node.counts is not None:
        row = degrees.agg(F.max("owner"), F.max("degree")).first()
        owner, degree = (-1 if value is None else int(value) for value in (row or (None, None)))
        if owner >= per_node.counts.shape[0]:
            per_node.check_owners(owner + 1)
        return Budget(0, per_node=per_node, most=int(per_node.counts.max(initial=0))), degree
    distinct = to_numpy(degrees.select("degree").distinct().toArrow().column("degree")).astype(np.int64)
    most = int(per_node.of_degrees(distinct).max(initial=0))
    return Budget(0, per_node=per_node, most=most), int(distinct.max(initial=0))


def _last_owner(owners: DataFrame, rank: int, seed: int) -> tuple[int, int]:
    """Return the (hash, id) of the owner of this rank in the order of (hash, id), counted from 1."""
    prefix = 0
    for bits in (16, 32, 48):
        counts = np.zeros(_DIGIT_VALUES, np.int64)
        rows = owners.mapInArrow(_CountDigits(seed, bits, prefix).run, "digit long, count long").toArrow()
        np.add.at(counts, to_numpy(rows.column("digit")), to_numpy(rows.column("count")))
        digit = int(np.searchsorted(np.cumsum(counts), rank))
        rank -= int(counts[:digit].sum())
        prefix = (prefix << 16) | digit
        if counts[digit] <= MAX_COLLECTED_OWNERS:
            break
    candidates = owners.mapInArrow(_OwnersWithPrefix(seed, bits, prefix).run, "id long").toArrow()
    ids = np.sort(to_numpy(candidates.column("id")))
    hashes = draw(seed, OWNER, ids)
    at = np.argsort(hashes, kind="stable")[rank - 1]
    return int(hashes[at]), int(ids[at])


@dataclass(frozen=True)
class _CountDigits:
    """Count owners by the next 16 bits of their hash, of those whose hash begins with `prefix`."""

    seed: int
    bits: int  # of the prefix and the next 16 bits
    prefix: int

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = np.zeros(_DIGIT_VALUES, np.int64)
        for batch in batches:
            first = draw(self.seed, OWNER, to_numpy(batch.column("owner"))) >> np.uint64(64 - self.bits)
            digits = first[(first >> np.uint64(16)) == np.uint64(self.prefix)] & np.uint64(_DIGIT_VALUES - 1)
            counts += np.bincount(digits.astype(np.int64), minlength=_DIGIT_VALUES)
        present = np.flatnonzero(counts)
        yield pa.RecordBatch.from_pydict({"digit": pa.array(present), "count": pa.array(counts[present])})


@dataclass(frozen=True)
class _OwnersWithPrefix:
    """Yield the ids of the owners whose hash begins with `prefix`, which has `bits` bits."""

    seed: int
    bits: int
    prefix: int

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            owner = to_numpy(batch.column("owner")).astype(np.int64)
            first = draw(self.seed, OWNER, owner) >> np.uint64(64 - self.bits)
            yield pa.RecordBatch.from_pydict({"id": pa.array(owner[first == np.uint64(self.prefix)])})
