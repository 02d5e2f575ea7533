"""ACM and DBLP of the Heterogeneous Graph Benchmark (HGB), read from compact `.npz` copies.

The labels of HGB's test nodes in these copies carry no information: papers that cite each other have the same class in
91 % of the cases among training nodes and in 35 % (chance: 33 %) among others. So `known_mask` has the training nodes
alone, and results do not compare with published ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import HeteroData

from lsprune.errors import FormatError
from lsprune.graph import Array
from lsprune.lab.datasets.npz_files import read_arrays
from lsprune.lab.datasets.splits import KNOWN

Relation = tuple[str, str, str]


@dataclass(frozen=True)
class Schema:
    """What the numbers in a file stand for.

    Args:
        kinds: kinds of nodes by number; the first has the labels.
        relations: edge types by number. Targets, which own the edges, are the ends that are nearer to the labels; the
            others are called `rev_`, so that a pruner turns round what it keeps of the first.
    """

    kinds: tuple[str, ...]
    relations: dict[int, Relation]


ACM = Schema(
    ("paper", "author", "subject", "term"),
    {
        0: ("paper", "cites", "paper"), 1: ("paper", "rev_cites", "paper"),
        3: ("author", "writes", "paper"), 2: ("paper", "rev_writes", "author"),
        5: ("subject", "holds", "paper"), 4: ("paper", "rev_holds", "subject"),
        7: ("term", "describes", "paper"), 6: ("paper", "rev_describes", "term"),
    },
)  # fmt: skip
DBLP = Schema(
    ("author", "paper", "term", "venue"),
    {
        3: ("paper", "has", "author"), 0: ("author", "rev_has", "paper"),
        4: ("term", "describes", "paper"), 1: ("paper", "rev_describes", "term"),
        5: ("venue", "prints", "paper"), 2: ("paper", "rev_prints", "venue"),
    },
)  # fmt: skip


def read_hgb_npz(path: Path, schema: Schema) -> HeteroData:
    """Return the graph in a file; nodes without attributes get one of their own (one-hot)."""
    keys = ("edge_index", "edge_type", "node_type", "y", "train_mask")
    edge_index, edge_type, node_type, y, train_mask = read_arrays(path, keys)
    _check(path, schema, edge_index, edge_type, node_type, y)
    data, place = HeteroData(), np.empty(node_type.shape, np.int64)  # place of each node among those of its kind
    for number, kind in enumerate(schema.kinds):
        nodes = np.flatnonzero(node_type == number)
        place[nodes] = np.arange(nodes.size)
        data[kind].x = _features(path, number, nodes.size)
    labelled = node_type == 0
    data[schema.kinds[0]].y = torch.from_numpy(y[labelled].astype(np.int64))
    data[schema.kinds[0]][KNOWN] = torch.from_numpy(train_mask[labelled])
    for number, relation in schema.relations.items():
        data[relation].edge_index = torch.from_numpy(place[edge_index[:, edge_type == number]])
    return data


def _features(path: Path, number: int, nodes: int) -> torch.Tensor:
    with np.load(path) as stored:
        present = f"x_type{number}" in stored
    if not present:
        return torch.eye(nodes)
    (x,) = read_arrays(path, (f"x_type{number}",))
    if len(x) != nodes:
        raise FormatError(f"{path}: x_type{number} must have a row for each of {nodes} nodes, got {len(x)}")
    return torch.from_numpy(x.astype(np.float32))


def _check(path: Path, schema: Schema, edge_index: Array, edge_type: Array, node_type: Array, y: Array) -> None:
    """Raise FormatError unless the arrays number the nodes, kinds and relations of the schema."""
    nodes = len(node_type)
    if y.shape != (nodes,) or edge_index.max(initial=-1) >= nodes or edge_index.min(initial=0) < 0:
        raise FormatError(f"{path}: y and node_type must have an entry for each node that edge_index numbers")
    found = set(np.unique(node_type)), set(np.unique(edge_type))
    if found != (set(range(len(schema.kinds))), set(schema.relations)) or edge_type.shape != edge_index.shape[1:]:
        raise FormatError(
            f"{path}: node_type must number {len(schema.kinds)} kinds and edge_type {len(schema.relations)} relations"
        )
