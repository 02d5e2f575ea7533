"""The compact npz forms of QM9 and PPI, read into what PyG's classes would give, without a loop over molecules."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data, InMemoryDataset

from lsprune.errors import FormatError
from lsprune.graph import Array


class Stacked(InMemoryDataset):  # type: ignore[misc]  # PyG has no types
    """A dataset of graphs stored one after the other: `slices[key]` says where each graph's part of `key` starts."""

    def __init__(self, stored: Data, slices: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self._data, self.slices = stored, slices


def qm9_npz(path: Path) -> Stacked:
    """QM9, edges sorted as by PyG; `x` is the atomic number and `edge_attr` the bond order, both one category.

    PyG's own QM9 has 11 columns in `x` (hybridisation and more) and one-hot bonds: these are not in the npz.
    """
    keys = ("z", "pos", "y", "idx", "bonds", "num_atoms", "num_bonds")
    z, pos, y, idx, bonds, num_atoms, num_bonds = _arrays(path, keys)  # bonds [B, 3], each once: i, j, order
    atoms, edges = _starts(num_atoms), 2 * _starts(num_bonds)
    found = len(z), len(pos), 2 * len(bonds), len(y), len(idx), len(num_bonds)
    if found != (atoms[-1], atoms[-1], edges[-1], *[len(num_atoms)] * 3):
        raise FormatError(f"{path}: num_atoms and num_bonds do not add up to the atoms and bonds that are there")
    edge_index, order = _both_directions(bonds, np.repeat(atoms[:-1], num_bonds))
    number, graphs = z.astype(np.int64), np.arange(len(num_atoms) + 1)
    stored = {
        "x": (number[:, None], atoms),
        "z": (number, atoms),
        "pos": (pos, atoms),
        "edge_index": (edge_index, edges),
        "edge_attr": (order, edges),
        "y": (y, graphs),
        "idx": (idx.astype(np.int64), graphs),
    }
    tensors = {key: torch.from_numpy(value) for key, (value, _) in stored.items()}
    return Stacked(Data(**tensors), {key: torch.from_numpy(starts) for key, (_, starts) in stored.items()})


def ppi_npz(path: Path) -> tuple[list[Data], list[Data], list[Data]]:
    """PPI's 20, 2 and 2 graphs without features and labels: both directions of every edge, no self-loops."""
    edges, graph_id = _arrays(path, ("edges", "graph_id"))  # [E, 2], each once, global ids; [N] in 1..24
    if set(np.unique(graph_id)) != set(range(1, 25)) or edges.max() >= len(graph_id):
        raise FormatError(f"{path}: graph_id must have the numbers 1..24, and edges the numbers of its entries")
    counts = np.bincount(graph_id, minlength=25)[1:]
    starts = _starts(counts)
    place = np.empty(len(graph_id), dtype=np.int64)  # of each node when the graphs stand one after the other
    place[np.argsort(graph_id, kind="stable")] = np.arange(len(graph_id))
    first = starts[graph_id[edges[:, 0]] - 1]  # of the graph of each edge, whose ends are in the same graph
    ends = place[edges] - first[:, None]
    once = np.column_stack([ends, graph_id[edges[:, 0]]])
    edge_index, owner = _both_directions(once, first)
    parts = np.split(edge_index, np.cumsum(np.bincount(owner, minlength=25)[1:-1]), axis=1)
    graphs = [
        Data(edge_index=torch.from_numpy(np.ascontiguousarray(part)), num_nodes=int(count))
        for part, count in zip(parts, counts, strict=True)
    ]
    return graphs[:20], graphs[20:22], graphs[22:]


def _both_directions(once: Array, first: Array) -> tuple[Array, Array]:
    """Both directions `[2, 2B]` of the edges and their values `[2B]`, sorted by graph, source and target.

    Args:
        once: `[B, 3]` the two ends, numbered within their graph, and a value.
        first: `[B]` the number of nodes in the graphs before the edge's own.
    """
    ends, value = once[:, :2].T.astype(np.int64), once[:, 2].astype(np.int64)
    both = np.concatenate([ends, ends[::-1]], axis=1)
    # One integer per edge, as sources of different graphs differ once shifted: a lexsort of three takes longer.
    order = np.argsort((both[0] + np.tile(first, 2)) * (ends.max(initial=0) + 1) + both[1], kind="stable")
    return np.ascontiguousarray(both[:, order]), np.tile(value, 2)[order]


def _starts(counts: Array) -> Array:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _arrays(path: Path, keys: tuple[str, ...]) -> list[Array]:
    try:
        with np.load(path) as stored:
            return [stored[key] for key in keys]
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FormatError(f"{path} cannot be read: {error}") from error
