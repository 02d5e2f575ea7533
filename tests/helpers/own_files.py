"""Small graphs of a user's own in files: two classes that the features tell apart, edges mostly within a class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

NODES, EDGES = 60, 400


def arrays(seed: int = 0) -> dict[str, np.ndarray]:
    """Edges in one direction and no self-loops, features, labels, no masks."""
    random = np.random.default_rng(seed)
    y = np.arange(NODES) % 2
    source = random.integers(0, NODES, EDGES)
    other = random.integers(0, NODES // 2, EDGES) * 2 + y[source]
    target = np.where(random.random(EDGES) < 0.8, other, random.integers(0, NODES, EDGES))
    target = np.where(target == source, (target + 2) % NODES, target)
    x = random.standard_normal((NODES, 5)).astype(np.float32) + 2 * y[:, None]
    return {"edge_index": np.stack([source, target]), "x": x.astype(np.float32), "y": y}


def masks() -> dict[str, np.ndarray]:
    """Half of the nodes for training, a quarter each for validation and test."""
    place = np.arange(NODES) // 2 % 4
    return {"train_mask": place < 2, "val_mask": place == 2, "test_mask": place == 3}


def npz(path: Path, **changed: np.ndarray) -> Path:
    """An `.npz` of all of it."""
    np.savez(path, **{**arrays(), **changed})
    return path


def tables(folder: Path, **columns: object) -> tuple[Path, Path]:
    """(edges, nodes): two Parquet files; nodes have columns f0 .. f4 and those given."""
    made = arrays()
    ends = dict(zip(("source", "target"), made["edge_index"], strict=True))
    parquet.write_table(pa.table(ends), folder / "edges.parquet")
    nodes = {f"f{i}": made["x"][:, i] for i in range(5)}
    parquet.write_table(pa.table({**nodes, **columns}), folder / "nodes.parquet")
    return folder / "edges.parquet", folder / "nodes.parquet"
