"""How many edges each owner keeps: `k`, or what meets `keep` to the edge, without the owners ever being in one place.

A level that all owners keep comes from the histogram of degrees. What is left goes to the owners with the smallest
hashes; the last of them is found by histograms of 16 bits of the hash at a time. From then on an owner's quota follows
from its id alone, so that nothing has to be joined to the edges.
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
from lsprune.spark.frames import numbers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FEW = 1 << 16  # owners whose hashes may come to the driver


@dataclass(frozen=True)
class Budget:
    """The quota of every owner: `level`, and one more up to the owner `last` in the order of (hash, id)."""

    level: int
    seed: int = 0
    last: tuple[int, int] | None = None

    @property
    def most(self) -> int:
        """The largest quota."""
        return self.level + (self.last is not None)

    def of(self, owner: Array) -> Array:
        """The quota of each owner, int64."""
        quota = np.full(owner.shape, self.level, np.int64)
        if self.last is not None:
            hashed, (limit, who) = draw(self.seed, OWNER, owner), self.last
            quota += (hashed < np.uint64(limit)) | ((hashed == np.uint64(limit)) & (owner <= who))
        return quota


def budget(rules: SelectionRules, degrees: DataFrame | None) -> tuple[Budget, int | None]:
    """What the owners keep, and the largest degree if known; `degrees` (owner, degree) are needed for `keep`."""
    if rules.k is not None:
        return Budget(rules.k), None
    assert rules.keep is not None and degrees is not None
    counted = degrees.groupBy("degree").count().toArrow()
    degree, count = (numbers(counted.column(name)).astype(np.int64) for name in ("degree", "count"))
    level, left = split_budget(rules.keep, degree, count)
    last = _last(degrees.where(f"degree > {level}"), left, rules.seed) if left else None
    return Budget(level, rules.seed, last), int(degree.max(initial=0))


def _last(owners: DataFrame, left: int, seed: int) -> tuple[int, int]:
    """The (hash, id) of the owner that comes at place `left`, counted from 1."""
    prefix = 0
    for bits in (16, 32, 48):
        counts = np.zeros(1 << 16, np.int64)
        found = owners.mapInArrow(_Prefixes(seed, bits, prefix).run, "prefix long, count long").toArrow()
        np.add.at(counts, numbers(found.column("prefix")), numbers(found.column("count")))
        here = int(np.searchsorted(np.cumsum(counts), left))
        left -= int(counts[:here].sum())
        prefix = (prefix << 16) | here
        if counts[here] <= FEW:
            break
    near = owners.mapInArrow(_Near(seed, bits, prefix).run, "id long").toArrow()
    ids = np.sort(numbers(near.column("id")))
    hashed = draw(seed, OWNER, ids)
    at = np.argsort(hashed, kind="stable")[left - 1]
    return int(hashed[at]), int(ids[at])


@dataclass(frozen=True)
class _Prefixes:
    """How many owners have which 16 bits after the prefix that is known, `bits` of the hash in all."""

    seed: int
    bits: int
    prefix: int

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = np.zeros(1 << 16, np.int64)
        for batch in batches:
            first = draw(self.seed, OWNER, numbers(batch.column("owner"))) >> np.uint64(64 - self.bits)
            inside = first[(first >> np.uint64(16)) == np.uint64(self.prefix)] & np.uint64(0xFFFF)
            counts += np.bincount(inside.astype(np.int64), minlength=1 << 16)
        found = np.flatnonzero(counts)
        yield pa.RecordBatch.from_pydict({"prefix": pa.array(found), "count": pa.array(counts[found])})


@dataclass(frozen=True)
class _Near:
    """The ids of the owners whose hash begins with `prefix`, which has `bits` bits."""

    seed: int
    bits: int
    prefix: int

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            owner = numbers(batch.column("owner")).astype(np.int64)
            first = draw(self.seed, OWNER, owner) >> np.uint64(64 - self.bits)
            yield pa.RecordBatch.from_pydict({"id": pa.array(owner[first == np.uint64(self.prefix)])})
