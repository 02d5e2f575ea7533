"""The compact files: their graphs in the form of PyG, and damaged files."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch_geometric")

from lsprune.errors import FormatError
from lsprune.lab.datasets.npz_files import read_graph_npz, read_labelled_ppi_npz, read_ppi_npz, read_qm9_npz


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


def proteins(**changed):
    """Return the arrays of ppi.npz: 24 graphs of two nodes, n and 47 - n, and three links in both directions."""
    links = np.array([[0, 47], [46, 1], [23, 24]])
    arrays = {"graph_id": np.r_[np.arange(24, 0, -1), np.arange(1, 25)], "edge_index": np.r_[links, links[:, ::-1]].T}
    arrays |= {"x": np.arange(96).reshape(48, 2), "y": np.arange(48)[:, None] % 2, "x_mean": [1, 2], "x_std": [2.0, 4]}
    return {key: np.asarray(value) for key, value in (arrays | changed).items()}


def test_labelled_ppi_has_standardised_features_in_the_order_of_the_nodes(tmp_path):
    np.savez(tmp_path / "ppi.npz", **proteins())
    train, val, test = read_labelled_ppi_npz(tmp_path / "ppi.npz")
    assert (len(train), len(val), len(test)) == (20, 2, 2)
    graphs = [*train, *val, *test]
    assert [number for number, graph in enumerate(graphs, 1) if graph.num_edges] == [1, 23, 24]
    assert graphs[23].edge_index.tolist() == [[0, 1], [1, 0]]
    assert graphs[23].x.tolist() == [[-0.5, -0.25], [46.5, 23.25]]  # nodes 0 and 47
    assert graphs[23].y.tolist() == [[0], [1]] and graphs[23].rebuilt == ("labels",)


def test_labelled_ppi_needs_all_graphs(tmp_path):
    np.savez(tmp_path / "ppi.npz", **proteins(graph_id=np.ones(48, int)))
    with pytest.raises(FormatError, match=r"graph_id must have the numbers 1\.\.24"):
        read_labelled_ppi_npz(tmp_path / "ppi.npz")


def one_graph(**changed):
    arrays = {"edge_index": [[0, 1], [1, 0]], "x": np.eye(3, dtype=np.uint8), "y": [4, 1, 4]}
    return {key: np.asarray(value) for key, value in (arrays | changed).items()}


def test_a_graph_has_float_features_and_classes_from_zero(tmp_path):
    np.savez(tmp_path / "a.npz", **one_graph(val_mask=[True, False, True]))
    (graph,) = read_graph_npz(tmp_path / "a.npz")
    assert graph.x.tolist() == np.eye(3).tolist() and graph.x.is_floating_point()
    assert graph.y.tolist() == [1, 0, 1] and graph.edge_index.tolist() == [[0, 1], [1, 0]]
    assert graph.val_mask.tolist() == [True, False, True] and "train_mask" not in graph


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"y": [0, 1]}, "x and y must have a row for each node"),
        ({"edge_index": [[0], [3]]}, "edge_index must number these nodes"),
        ({"edge_index": [[0], [-1]]}, "edge_index must number these nodes"),
        ({"y": [0, -1, 1]}, "every node must have a label >= 0, got -1"),
    ],
)
def test_graphs_that_do_not_fit_together_are_refused(tmp_path, changed, says):
    np.savez(tmp_path / "a.npz", **one_graph(**changed))
    with pytest.raises(FormatError, match=says):
        read_graph_npz(tmp_path / "a.npz")


@pytest.mark.parametrize("read", [read_qm9_npz, read_ppi_npz, read_labelled_ppi_npz, read_graph_npz])
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
