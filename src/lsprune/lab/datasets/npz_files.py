"""Readers of compact `.npz` copies of datasets, which return what PyG's classes would."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data

from lsprune.errors import FormatError
from lsprune.graph import Array
from lsprune.lab.datasets.collated import CollatedDataset
from lsprune.lab.node_splits import MASKS

_PPI_GRAPHS = 24  # 20 for training, 2 for validation, 2 for testing


def read_qm9_npz(path: Path) -> CollatedDataset:
    """Return QM9 with PyG's order of edges; `x` is the atomic number and `edge_attr` the bond order, one category each.

    PyG's QM9 has 11 columns in `x` (hybridisation and more) and one-hot bonds; the `.npz` does not contain those.
    """
    keys = ("z", "pos", "y", "idx", "bonds", "num_atoms", "num_bonds")
    z, pos, y, idx, bonds, num_atoms, num_bonds = read_arrays(path, keys)  # bonds [B, 3]: i, j, order, each bond once
    atoms, edges = _starts(num_atoms), 2 * _starts(num_bonds)
    lengths = len(z), len(pos), 2 * len(bonds), len(y), len(idx), len(num_bonds)
    if lengths != (atoms[-1], atoms[-1], edges[-1], *[len(num_atoms)] * 3):
        raise FormatError(
            f"{path}: num_atoms and num_bonds do not add up to the numbers of atoms and bonds in the file"
        )
    edge_index, order = _both_directions(bonds, np.repeat(atoms[:-1], num_bonds))
    atomic_number, molecules = z.astype(np.int64), np.arange(len(num_atoms) + 1)
    return CollatedDataset.from_arrays(
        {
            "x": (atomic_number[:, None], atoms),
            "z": (atomic_number, atoms),
            "pos": (pos, atoms),
            "edge_index": (edge_index, edges),
            "edge_attr": (order, edges),
            "y": (y, molecules),
            "idx": (idx.astype(np.int64), molecules),
        }
    )


def read_ppi_npz(path: Path) -> tuple[list[Data], list[Data], list[Data]]:
    """Return PPI's 20, 2 and 2 graphs without features and labels: both directions of every edge, no self-loops."""
    edges, graph_id = read_arrays(path, ("edges", "graph_id"))  # [E, 2] global node ids, each edge once; [N] in 1..24
    if set(np.unique(graph_id)) != set(range(1, _PPI_GRAPHS + 1)) or edges.max() >= len(graph_id):
        raise FormatError(f"{path}: graph_id must have the numbers 1..{_PPI_GRAPHS}, and edges must index its entries")
    node_counts = np.bincount(graph_id, minlength=_PPI_GRAPHS + 1)[1:]
    position = np.empty(len(graph_id), dtype=np.int64)  # of each node when nodes are sorted by graph
    position[np.argsort(graph_id, kind="stable")] = np.arange(len(graph_id))
    edge_graph = graph_id[edges[:, 0]]  # both ends are in the same graph
    first_node = _starts(node_counts)[edge_graph - 1]
    edges_and_graph = np.column_stack([position[edges] - first_node[:, None], edge_graph])
    edge_index, edge_graph = _both_directions(edges_and_graph, first_node)
    edge_counts = np.bincount(edge_graph, minlength=_PPI_GRAPHS + 1)[1:]
    parts = np.split(edge_index, np.cumsum(edge_counts)[:-1], axis=1)
    graphs = [
        Data(edge_index=torch.from_numpy(np.ascontiguousarray(part)), num_nodes=int(count))
        for part, count in zip(parts, node_counts, strict=True)
    ]
    return graphs[:20], graphs[20:22], graphs[22:]


def read_labelled_ppi_npz(path: Path) -> tuple[list[Data], list[Data], list[Data]]:
    """Return PPI's 20, 2 and 2 graphs with standardised features, as PyG has them, and with rebuilt labels.

    The labels are not the published ones. Graphs say so: they have an attribute `rebuilt`, the names of what was.
    """
    keys = ("edge_index", "x", "y", "graph_id", "x_mean", "x_std")
    edge_index, x, y, graph_id, mean, std = read_arrays(path, keys)
    if set(np.unique(graph_id)) != set(range(1, _PPI_GRAPHS + 1)) or edge_index.max() >= len(graph_id):
        raise FormatError(f"{path}: graph_id must have the numbers 1..{_PPI_GRAPHS}, and edges must index its entries")
    order = np.argsort(graph_id, kind="stable")
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    edges = position[edge_index]
    edges = edges[:, np.argsort(edges[0] * len(order) + edges[1], kind="stable")]
    nodes = _starts(np.bincount(graph_id, minlength=_PPI_GRAPHS + 1)[1:])
    slots = np.searchsorted(edges[0], nodes)
    features, labels = ((x[order] - mean) / std).astype(np.float32), y[order].astype(np.float32)
    graphs = [
        Data(
            x=torch.from_numpy(features[first:last]), y=torch.from_numpy(labels[first:last]),
            edge_index=torch.from_numpy(edges[:, begin:end] - first), rebuilt=("labels",),
        )
        for first, last, begin, end in zip(nodes, nodes[1:], slots, slots[1:], strict=False)
    ]  # fmt: skip
    return graphs[:20], graphs[20:22], graphs[22:]


def read_graph_npz(path: Path) -> list[Data]:
    """Return one graph: `x` as float32, classes `y` numbered from 0, and the masks `[N]` or `[N, splits]` if any."""
    edge_index, x, y = read_arrays(path, ("edge_index", "x", "y"))
    if y.shape != x.shape[:1] or edge_index.max(initial=-1) >= len(x) or edge_index.min(initial=0) < 0:
        raise FormatError(f"{path}: x and y must have a row for each node, and edge_index must number these nodes")
    if y.min(initial=0) < 0:
        raise FormatError(f"{path}: every node must have a label >= 0, got {int(y.min())}")
    classes = np.unique(y, return_inverse=True)[1]
    graph = Data(
        x=torch.from_numpy(x.astype(np.float32)), y=torch.from_numpy(classes.astype(np.int64)),
        edge_index=torch.from_numpy(edge_index.astype(np.int64)),
    )  # fmt: skip
    with np.load(path) as stored:
        present = [key for key in MASKS if key in stored]
    for key, mask in zip(present, read_arrays(path, tuple(present)), strict=True):
        graph[key] = torch.from_numpy(mask)
    return [graph]


def _both_directions(edges: Array, first_node: Array) -> tuple[Array, Array]:
    """Return both directions `[2, 2B]` of the edges and their values `[2B]`, sorted by graph, source and target.

    Args:
        edges: `[B, 3]` the two ends, numbered within their graph, and a value.
        first_node: `[B]` the number of nodes in the graphs before the edge's graph.
    """
    ends, value = edges[:, :2].T.astype(np.int64), edges[:, 2].astype(np.int64)
    both = np.concatenate([ends, ends[::-1]], axis=1)
    # one integer per edge: sorting it is faster than a lexsort by graph, source and target
    order = np.argsort((both[0] + np.tile(first_node, 2)) * (ends.max(initial=0) + 1) + both[1], kind="stable")
    return np.ascontiguousarray(both[:, order]), np.tile(value, 2)[order]


def _starts(counts: Array) -> Array:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def read_arrays(path: Path, keys: tuple[str, ...]) -> list[Array]:
    """Return these arrays of a file; raise FormatError if one is missing or the file is damaged."""
    try:
        with np.load(path) as stored:
            return [stored[key] for key in keys]
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FormatError(f"{path} cannot be read: {error}") from error
