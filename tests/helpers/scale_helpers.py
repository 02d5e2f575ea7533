"""What the tests of edge lists on disk share: all edges of an `EdgeFiles`, its shards written to a folder."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lsprune.files import EdgeFiles


def together(files: EdgeFiles, rows: int, attributes: bool = False) -> tuple:
    """All sources, targets and attributes; checks sizes and positions of the batches on the way."""
    batches = list(files.batches(rows, attributes=attributes))
    at = 0
    for batch in batches:
        assert batch.first == at
        assert 0 < batch.source.size <= rows
        assert batch.source.dtype == batch.target.dtype == files.dtype
        at += batch.source.size
    assert files.edges == at
    none = np.empty(0, files.dtype)
    source, target = (np.concatenate([none, *(getattr(b, end) for b in batches)]) for end in ("source", "target"))
    if not attributes:
        assert all(batch.edge_attr is None for batch in batches)
        return source, target, None
    empty = np.empty((0, *files.attr_shape), files.attr_dtype)
    for batch in batches:
        assert batch.edge_attr.dtype == files.attr_dtype
    return source, target, np.concatenate([empty, *(batch.edge_attr for batch in batches)])


def asked(mask: np.ndarray) -> Callable[[int, int], np.ndarray]:
    """A mask as `write_shard` asks for it; never beyond its ends."""

    def kept(first: int, last: int) -> np.ndarray:
        assert 0 <= first < last <= mask.size
        return mask[first:last]

    return kept


def write_all(files: EdgeFiles, out: Path, mask: np.ndarray, rows: int) -> Path:
    """Every shard written under `out`, or to `out` itself where there is one file."""
    for shard in files.shards:
        path = out / shard.name if shard.name else out
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = io.BytesIO()
        read, written = files.write_shard(shard, handle, asked(mask), rows)
        assert (read, written) == (shard.last - shard.first, int(mask[shard.first : shard.last].sum()))
        path.write_bytes(handle.getvalue())
    return out
