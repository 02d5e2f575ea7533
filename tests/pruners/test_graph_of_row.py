"""Errors about one graph of several begin with its number, and count rows within it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lsprune import LSP, Graph, GraphError, LocalRandom, OptionError, choose, prune
from lsprune.errors import NoGpuPath, RowError, naming_graph
from lsprune.pruners.graph_of_row import naming_graph_of_row

ENDS = np.array([[0, 1, 1, 3, 2, 4, 2, 4], [1, 0, 0, 2, 3, 2, 4, 3]])  # two edges and more in graphs of 2 and 3 nodes
PTR = [0, 2, 5]


def graph(row: int | None = None, edge: int | None = None, sparse: bool = False) -> Graph:
    x, edge_attr = np.ones((5, 3)), np.ones((8, 2))
    if row is not None:
        x[row, 1] = np.inf
    if edge is not None:
        edge_attr[edge, 0] = np.nan
    return Graph.from_edges(ENDS, x=sp.csr_array(x) if sparse else x, edge_attr=edge_attr, ptr=PTR)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("row", "words"), [(1, "graph 0: x .* in row 1$"), (3, "graph 1: x .* in row 1$")])
def test_a_row_that_is_not_finite_is_that_of_its_graph(row: int, words: str, sparse: bool) -> None:
    for work in (LSP(keep=0.5).fit, LSP(keep=0.5).mask, lambda data: prune(data, LSP(keep=0.5))):
        with pytest.raises(GraphError, match=words):
            work(graph(row, sparse=sparse))


def test_rows_of_edges_are_counted_within_their_graph() -> None:
    with pytest.raises(GraphError, match="^graph 1: edge_attr .* in row 2$"):
        LSP(keep=0.5).fit(graph(edge=5))


@pytest.mark.parametrize("sparse", [False, True])
def test_choose_names_the_graph(sparse: bool) -> None:
    rng = np.random.default_rng(0)
    ends, x = rng.integers(0, 50, (2, 400)) + np.repeat([0, 50], 200), rng.standard_normal((100, 3))
    x[70, 1] = np.inf
    data = Graph.from_edges(ends, x=sp.csr_array(x) if sparse else x, ptr=[0, 50, 100])
    with pytest.raises(GraphError, match="^graph 1: x must be finite, got inf in row 20$"):
        choose(data, keep=0.5, y=np.arange(100) % 2)


@pytest.mark.parametrize(
    "error", [RowError.at("x is odd", "x", 0), RowError.at("x is odd", "x", 9), RowError.at("t is odd", "t", 1),
              RowError("x is odd in row 1"), GraphError("no")],
    ids=str,
)  # fmt: skip
def test_other_errors_stay_as_they_are(error: GraphError) -> None:
    """Row 0 is finite: the error is about something that was derived from x."""
    with pytest.raises(GraphError, match=f"^{error}$"), naming_graph_of_row({None: graph(1)}):
        raise error


def test_a_single_graph_has_no_number() -> None:
    with pytest.raises(GraphError, match="^x must be finite in float32, got nan in row 1"):
        LSP(keep=0.5).fit(Graph.from_edges(ENDS[:, :3], x=np.array([[1.0], [np.nan]])))


def test_the_kind_of_the_error_stays_and_what_has_no_gpu_path_has_no_number() -> None:
    with pytest.raises(OptionError, match="^graph 2: k must be$"), naming_graph(2):
        raise OptionError("k must be")
    with pytest.raises(NoGpuPath, match="^none$"), naming_graph(2):
        raise NoGpuPath("none")


def test_links_that_are_pruned_one_by_one_have_numbers() -> None:
    torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
    splits = [
        data.Data(
            x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, last]]), edge_label=torch.ones(1),
            edge_label_index=torch.tensor([[0], [1]]),
        )
        for last in (2, 7)
    ]  # fmt: skip
    for work in (LocalRandom(k=1).mask, lambda given: prune(given, LocalRandom(k=1))):
        with pytest.raises(GraphError, match=r"^graph 1: target ids must be in \[0, 3\), got 7"):
            work(splits)
