"""Graphs larger than memory: edge lists read in bounded pieces, pruned on disk, written in shards with a manifest."""

from lsprune.files.manifest import verify
from lsprune.outofcore.stream import Streamed, prune_stream

__all__ = ["Streamed", "prune_stream", "verify"]
