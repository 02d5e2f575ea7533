"""The compact files of QM9 and PPI: their graphs in the form of PyG, and damaged files."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch_geometric")

from lsprune.errors import FormatError
from lsprune.lab.datasets.npz_files import read_ppi_npz, read_qm9_npz


def molecules(**changed):
    """Return the arrays of qm9.npz for two molecules, of three atoms and of two."""
    arrays = {"z": [6, 8, 1, 1, 7], "pos": np.arange(15, dtype=np.float32).reshape(5, 3), "idx": [4, 9]}
    arrays |= {"y": np.arange(38, dtype=np.float32).reshape(2, 19), "num_atoms": [3, 2], "num_bonds": [2, 1]}
    arrays |= {"bonds": [[2, 0, 1], [0, 1, 2], [0, 1, 3]]}
    return {key: np.asarray(value) for key, value in (arrays | changed).items()}


def test_qm9_has_both_directions_of_every_bond_sorted_by_source(tmp_path):
    np.savez(tmp_path / "qm9.npz", **molecules())
    first, second = read_qm9_npz(tmp_path / "qm9.npz")
    assert first.edge_index.tolist() == [[0, 0, 1, 2], [1, 2, 0, 0]] and first.edge_attr.tolist() == [2, 1, 2, 1]
    assert second.edge_index.tolist() == [[0, 1], [1, 0]] and second.edge_attr.tolist() == [3, 3]
    assert first.z.tolist() == [6, 8, 1] and first.x.tolist() == [[6], [8], [1]]
    assert second.pos.tolist() == [[9, 10, 11], [12, 13, 14]]
    assert second.idx.tolist() == [9] and second.y[0, 0] == 19


@pytest.mark.parametrize(
    "changed", [{"num_atoms": [3, 3]}, {"num_bonds": [2, 2]}, {"idx": [0]}, {"pos": np.zeros((6, 3))}], ids=str
)
def test_qm9_arrays_of_different_lengths_are_refused(tmp_path, changed):
    np.savez(tmp_path / "qm9.npz", **molecules(**changed))
    with pytest.raises(FormatError, match="do not add up"):
        read_qm9_npz(tmp_path / "qm9.npz")


def test_ppi_numbers_the_nodes_of_each_graph_from_zero(tmp_path):
    graph_id = np.r_[np.arange(24, 0, -1), np.arange(1, 25)]  # node n and node 47 - n are in one graph
    edges = np.array([[0, 47], [46, 1], [23, 24]])
    np.savez(tmp_path / "ppi.npz", edges=edges, graph_id=graph_id)
    train, val, test = read_ppi_npz(tmp_path / "ppi.npz")
    assert (len(train), len(val), len(test)) == (20, 2, 2)
    graphs = [*train, *val, *test]
    assert all(graph.num_nodes == 2 for graph in graphs)
    with_edges = [number for number, graph in enumerate(graphs, 1) if graph.num_edges]
    assert with_edges == [1, 23, 24]
    assert all(graphs[number - 1].edge_index.tolist() == [[0, 1], [1, 0]] for number in with_edges)


@pytest.mark.parametrize("read", [read_qm9_npz, read_ppi_npz])
@pytest.mark.parametrize("content", [b"PK not a zip", b""])
def test_damaged_files_are_named(tmp_path, read, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(FormatError, match=r"a\.npz cannot be read"):
        read(tmp_path / "a.npz")


def test_ppi_needs_all_graphs_and_edges_between_known_nodes(tmp_path):
    for edges, graph_id in (([[0, 1]], [1, 1]), ([[0, 24]], np.arange(1, 25))):
        np.savez(tmp_path / "ppi.npz", edges=np.array(edges), graph_id=np.array(graph_id))
        with pytest.raises(FormatError, match=r"graph_id must have the numbers 1\.\.24, and edges must index"):
            read_ppi_npz(tmp_path / "ppi.npz")
