"""The graph of an edge list: its nodes counted by the caller, the file, the attributes or the ids, in that order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from files_helpers import EDGES, parquet, save, text

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files import read_edges


def test_who_says_how_many_nodes_there_are(tmp_path: Path) -> None:
    plain = save(tmp_path / "plain.npz", edge_index=EDGES)
    stored = save(tmp_path / "stored.npz", edge_index=EDGES, num_nodes=6)
    np.save(tmp_path / "x.npy", np.ones((5, 2)))
    assert read_edges(plain).graph.num_nodes == 4
    assert read_edges(plain, features=tmp_path / "x.npy").graph.num_nodes == 5
    assert read_edges(stored).graph.num_nodes == 6
    assert read_edges(stored, num_nodes=7).graph.num_nodes == 7
    with pytest.raises(GraphError, match=r"stored\.npz: x must have 6 rows, one for each node, got \[5, 2\]"):
        read_edges(stored, features=tmp_path / "x.npy")


def test_two_kinds_have_their_own_numbers_and_tables(tmp_path: Path) -> None:
    edges = text(tmp_path / "in.csv", "user,item\n0,4\n1,0\n")
    np.save(tmp_path / "items.npy", np.ones((6, 1)))
    options = {"source": "user", "target": "item", "bipartite": True}
    graph = read_edges(edges, **options).graph
    assert (graph.bipartite, graph.num_sources, graph.num_targets) == (True, 2, 5)
    graph = read_edges(edges, **options, target_features=tmp_path / "items.npy", num_nodes=(3, None)).graph
    assert (graph.num_sources, graph.num_targets, graph.x_source) == (3, 6, None)
    with pytest.raises(OptionError, match="num_nodes must be a pair .* got 9"):
        read_edges(edges, **options, num_nodes=9)
    with pytest.raises(FormatError, match=r"items\.npy: has 6 rows, but the edges name node 7"):
        text(edges, "user,item\n0,7\n")
        read_edges(edges, **options, target_features=tmp_path / "items.npy")


def test_edges_must_be_among_the_nodes_of_a_table_with_ids(tmp_path: Path) -> None:
    nodes = parquet(tmp_path / "nodes.parquet", id=[0, 1, 3], a=[1.0, 2, 3])
    edges = text(tmp_path / "in.csv", "0,1\n3,2\n")
    with pytest.raises(
        GraphError, match=r"in\.csv: column 'target', line 2: ids in edges must be among the nodes, got 2"
    ):
        read_edges(edges, features=nodes)
    text(edges, "0,1\n3,1\n")
    graph = read_edges(edges, features=nodes).graph
    assert graph.known[0].tolist() == [True, True, False, True]


def test_an_id_far_beyond_the_edges_is_one_only_if_nothing_says_that_it_is_meant(tmp_path: Path) -> None:
    edges = save(tmp_path / "in.npz", edge_index=np.array([[0, 10**10], [1, 2]]))
    with pytest.raises(
        FormatError, match=r"edge_index\[0\]', row 1: id 10000000000 is far beyond the 2 edges.*num_nodes"
    ):
        read_edges(edges)
    assert read_edges(edges, num_nodes=10**10 + 1, memory="1GB").graph.num_nodes == 10**10 + 1


def test_what_a_content_cannot_decide_is_asked_with_the_name_of_the_file(tmp_path: Path) -> None:
    read = read_edges(save(tmp_path / "in.npz", edge_index=EDGES, num_nodes=5, y=np.arange(5)))
    with pytest.raises(FormatError, match=r"in\.npz: array 'y' is as long as the 5 edges and as the 5 nodes"):
        read.check()
