"""How many edges each owner keeps: `k`, or quotas that meet `keep` to the edge, computed without collecting all owners.

The histogram of degrees gives the level, which all owners keep. One more edge goes to the owners with the smallest
hashes; the last of them is found by histograms of 16 bits of the hash at a time. An owner's quota then follows from its
id alone, so that no quotas have to be joined to the edges.
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
from lsprune.selection.rules import SelectionRules
from lsprune.spark.columns import to_numpy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MAX_COLLECTED_OWNERS = 1 << 16  # owners whose ids are collected on the driver
_DIGIT_VALUES = 1 << 16  # values of 16 bits of a hash


@dataclass(frozen=True)
class Budget:
    """The quota of every owner: `level`, and one more for the owners up to `last` in the order of (hash, id)."""

    level: int
    seed: int = 0
    last: tuple[int, int] | None = None  # (hash, id); None: no owner keeps one more

    @property
    def largest(self) -> int:
        """The largest quota."""
        return self.level + (self.last is not None)

    def of(self, owner: Array) -> Array:
        """Return the quota of each owner, int64."""
        quota = np.full(owner.shape, self.level, np.int64)
        if self.last is not None:
            hashes, (last_hash, last_id) = draw(self.seed, OWNER, owner), self.last
            quota += (hashes < np.uint64(last_hash)) | ((hashes == np.uint64(last_hash)) & (owner <= last_id))
        return quota


def find_budget(rules: SelectionRules, degrees: DataFrame | None) -> tuple[Budget, int | None]:
    """Return the budget, and the largest degree if it was computed; `degrees` (owner, degree) are needed for `keep`."""
    if rules.k is not None:
        return Budget(rules.k), None
    assert rules.keep is not None and degrees is not None
    histogram = degrees.groupBy("degree").count().toArrow()
    degree, count = (to_numpy(histogram.column(name)).astype(np.int64) for name in ("degree", "count"))
    level, left = split_budget(rules.keep, degree, count)
    last = _last_owner(degrees.where(f"degree > {level}"), left, rules.seed) if left else None
    return Budget(level, rules.seed, last), int(degree.max(initial=0))


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
