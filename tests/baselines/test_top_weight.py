from __future__ import annotations

import dataclasses
import itertools
import re
import warnings

import numpy as np
import pytest
import scipy.sparse
from baselines_helpers import best_of_each
from hypothesis import given
from hypothesis import strategies as st

import lsprune
from graphs import random_graph, reordered
from lsprune import LSP, Graph, GraphError, OptionError, prune
from lsprune.baselines import TopWeight
from lsprune.baselines.top_weight import descending
from lsprune.weights import Column, Degree, Jaccard, Similarity


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int64, np.uint8, bool])
def test_the_heaviest_edges_are_kept(side, kind):
    for seed in range(4):
        bare = random_graph(seed, nodes=9, edges=60)
        weight = np.random.default_rng(seed).integers(-4, 5, 60)
        weight = (weight if np.dtype(kind).kind in "fi" else np.abs(weight)).astype(kind)
        graph = Graph.from_edges(bare.ends(), num_nodes=9, edge_attr=weight)
        expected = best_of_each(graph, 2, lambda u, v, e, w=weight: -float(w[e]), side, seed=seed)
        np.testing.assert_array_equal(TopWeight(k=2, side=side, seed=seed).mask(graph), expected)


@pytest.mark.parametrize(
    "weights",
    [
        np.array([-np.float32(1e38), -1e-40, 0.0, 1e-40, 1e38], np.float32),
        np.array([-(2**63), -(2**62) - 1, 0, 2**62, 2**62 + 1]),
        np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64),
        np.array([-1e300, np.nextafter(-0.1, -1), -0.1, 5e-324, 1.7e308]),
        0.1 + np.arange(5) * np.spacing(0.1),
        1.7e9 + np.arange(5) * 1e-6,  # seconds with microseconds: one value in float32
        1_700_000_000_000_000_000 + np.arange(5),
        (1.7e9 + np.arange(5) * 1e-6).astype(">f8"),
        np.arange(2**63 - 3, 2**63 + 2, dtype=np.uint64).astype(">u8"),
        np.array([-6e4, -6e-8, 0, 6e-8, 6e4], np.float16),
    ],
)
def test_any_two_weights_are_told_apart(weights):
    ends = np.stack([np.arange(1, 6), np.zeros(5, int)])
    for k in range(6):
        assert TopWeight(k=k).mask(Graph.from_edges(ends, edge_attr=weights)).tolist() == [False] * (5 - k) + [True] * k


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20))
def test_keys_order_floats_as_floats_are_ordered(values):
    weights = np.array(values)
    keys = descending(weights, np.arange(weights.size))
    np.testing.assert_array_equal(keys[:, None] < keys, weights[:, None] > weights)
    np.testing.assert_array_equal(keys[:, None] == keys, weights[:, None] == weights)


def test_extended_floats_are_compared_as_float64_or_refused():
    ends = np.stack([np.arange(1, 4), np.zeros(3, int)])
    exact = np.array([1, 3, 2], np.longdouble)
    assert TopWeight(k=1).mask(Graph.from_edges(ends, edge_attr=exact)).tolist() == [False, True, False]
    finer = exact + np.finfo(np.longdouble).eps * 4
    if finer.astype(np.float64).astype(np.longdouble).tolist() != finer.tolist():  # longdouble is wider here
        with pytest.raises(GraphError, match=r"edge_attr must be float64 or narrower for top-weight"):
            TopWeight(k=1).mask(Graph.from_edges(ends, edge_attr=finer))


def test_tensors_are_compared_exactly():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data(
        edge_index=torch.tensor([[1, 2, 3], [0, 0, 0]]), num_nodes=4
    )
    for weights in (
        torch.tensor([0.1, 0.1 + 2e-17, 0.1 + 4e-17], dtype=torch.float64),
        torch.tensor([0, 2, 1]) + 1_700_000_000_000_000_000,
        torch.tensor([1.0, 1.0078125, 1.0], dtype=torch.bfloat16),
    ):
        data.edge_attr = weights
        best = torch.zeros(3, dtype=torch.bool)
        best[weights.argmax()] = True
        assert TopWeight(k=1).mask(data).tolist() == best.tolist()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_zeros_of_either_sign_are_equal(kind):
    ends = np.stack([np.arange(1, 31), np.zeros(30, int)])
    plus, minus = np.zeros(30, kind), np.where(np.arange(30) % 2, -0.0, 0.0).astype(kind)
    masks = [TopWeight(k=9).mask(Graph.from_edges(ends, edge_attr=w)) for w in (plus, minus)]
    np.testing.assert_array_equal(*masks)


def test_a_column_is_chosen():
    graph = random_graph(1, nodes=9, edges=60, edge_dim=3)
    for column in range(3):
        one = Graph.from_edges(graph.ends(), num_nodes=9, edge_attr=graph.edge_attr[:, [column]])
        np.testing.assert_array_equal(TopWeight(k=2, column=column).mask(graph), TopWeight(k=2).mask(one))
    with pytest.raises(GraphError, match=r"edge_attr must have one column for top-weight, got 3; choose one"):
        TopWeight(k=2).mask(graph)
    with pytest.raises(GraphError, match=r"edge_attr must have a column 3 for top-weight, got 3 columns"):
        TopWeight(k=2, column=3).mask(graph)


def test_sparse_attributes_give_the_same_mask():
    import scipy.sparse

    graph = random_graph(1, nodes=9, edges=60, edge_dim=3)
    fine = 0.1 + np.arange(180).reshape(60, 3) * np.spacing(0.1)
    for attr in (graph.edge_attr, fine, np.arange(180).reshape(60, 3) + 1_700_000_000_000_000_000):
        dense, sparse = (
            Graph.from_edges(graph.ends(), num_nodes=9, edge_attr=make(attr))
            for make in (np.array, scipy.sparse.csr_array)
        )
        np.testing.assert_array_equal(TopWeight(k=2, column=1).mask(sparse), TopWeight(k=2, column=1).mask(dense))


def test_parallel_edges_are_told_apart_by_their_weights():
    graph = random_graph(3, nodes=4, edges=50, edge_dim=1)
    order = np.random.default_rng(0).permutation(50)
    np.testing.assert_array_equal(TopWeight(k=3).mask(graph)[order], TopWeight(k=3).mask(reordered(graph, order)))


def test_what_is_wrong_is_named():
    with pytest.raises(GraphError, match=re.escape("no edge attributes (edge_attr), which top-weight needs")):
        TopWeight(k=1).mask(random_graph(0))
    for value in (np.nan, np.inf, -np.inf):
        weight = np.array([1.0, value, 2.0])
        with pytest.raises(GraphError, match=rf"edge_attr must be finite, got {value} in row 1"):
            TopWeight(k=1).mask(Graph.from_edges(np.array([[1, 2, 3], [0, 0, 0]]), edge_attr=weight))
    for column in (-1, True, 0.5):
        with pytest.raises(
            OptionError, match=r"column must be a whole number in \[0, 2\^63\), the name of a column, or None"
        ):
            TopWeight(k=1, column=column)


@pytest.mark.parametrize("budget", [{"k": 2}, {"keep": 0.3}], ids=str)
@pytest.mark.parametrize("side", ["in", "out"])
def test_a_column_as_an_edge_weight_keeps_the_same_edges(budget, side):
    bare = random_graph(3, nodes=12, edges=200)
    attr = np.random.default_rng(0).integers(1, 9, 200).astype(np.float32)  # with ties
    graph = Graph.from_edges(bare.ends(), num_nodes=12, edge_attr=attr)
    expected = TopWeight(**budget, side=side).mask(graph)
    for power in (0.3, 1.0, 7.0):
        found = TopWeight(**budget, side=side, weights=Column(power=power)).mask(graph)
        np.testing.assert_array_equal(found, expected)


def test_edges_are_kept_by_a_product_of_weights():
    graph = random_graph(5, nodes=15, edges=120)
    source, target = graph.ends()
    around = [{v} | {int(s) for s, t in zip(source, target, strict=True) if t == v} for v in range(15)]
    degree = np.bincount(source[source != target], minlength=15)

    def key(owner: int, neighbour: int, edge: int) -> float:
        first, second = around[owner], around[neighbour]
        jaccard = len(first & second) / len(first | second)
        return -round(0.5 * np.log2(jaccard) - 0.5 * np.log2(max(degree[neighbour], 1)), 6)

    pruner = TopWeight(k=3, weights=Jaccard(power=0.5) * Degree(power=0.5))
    np.testing.assert_array_equal(pruner.mask(graph), best_of_each(graph, 3, key, "in"))
    assert TopWeight(k=3, weights="jaccard:0.5*degree:0.5") == pruner == lsprune.pruner(pruner.to_dict())


def test_weights_that_learn_are_fitted_and_saved(tmp_path):
    graph, other = random_graph(0, edges=80), random_graph(1, edges=80)
    pruner = TopWeight(keep=0.4, weights=Similarity() * Degree())
    assert not pruner.is_fitted and TopWeight(k=1).is_fitted and TopWeight(k=1, weights="degree").is_fitted
    fitted = pruner.fit(graph)
    assert fitted.is_fitted
    np.testing.assert_array_equal(fitted.mask(graph), pruner.mask(graph))
    fitted.save(tmp_path / "fit.npz")
    np.testing.assert_array_equal(lsprune.load(tmp_path / "fit.npz").mask(other), fitted.mask(other))
    same = LSP(keep=0.4, hash="constant", select="bottom", weights=pruner.weights)
    np.testing.assert_array_equal(same.mask(graph), pruner.mask(graph))


def test_weights_are_refused_with_a_column_and_as_a_stand_in():
    with pytest.raises(OptionError, match="weights must be None with a column, got Degree"):
        TopWeight(k=1, column=0, weights="degree")
    with pytest.raises(OptionError, match="weights must be a weight that is chosen already, got AutoWeight"):
        TopWeight(k=1, weights="auto")


# Weights that an object has already.


def weighted_matrix(nodes: int = 40) -> scipy.sparse.csr_array:
    """Distinct weights, some negative, one zero that is stored; no self-loops."""
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((nodes, nodes)) < 0.2, rng.permutation(nodes**2).reshape(nodes, nodes) - 800, 0)
    np.fill_diagonal(dense, 0)
    matrix = scipy.sparse.csr_array(dense)
    matrix.data[7] = 0
    return matrix


def heaviest(matrix: scipy.sparse.csr_array, k: int) -> set[tuple[int, int]]:
    """The k entries of largest value of each row."""
    rows = [(matrix.indices[lo:hi], matrix.data[lo:hi]) for lo, hi in itertools.pairwise(matrix.indptr)]
    return {
        (row, int(column)) for row, (columns, values) in enumerate(rows) for column in columns[np.argsort(-values)[:k]]
    }


def entries_of(matrix) -> set[tuple[int, int]]:
    coo = matrix.tocoo()
    return set(zip(coo.row.tolist(), coo.col.tolist(), strict=True))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_the_values_of_a_sparse_matrix_are_weights(kind):
    matrix = weighted_matrix()
    pruned = prune(matrix.asformat(kind), TopWeight(k=3, side="out"))
    assert pruned.format == kind and entries_of(pruned) == heaviest(matrix, 3)
    assert (abs(pruned - matrix.multiply(pruned != 0)) > 0).nnz == 0  # values stay with their entries
    by_column = prune(matrix.asformat(kind), TopWeight(k=3))  # by default the target of an edge owns it
    assert {(t, s) for s, t in entries_of(by_column)} == heaviest(matrix.T.tocsr(), 3)


def test_the_weights_of_networkx_pyg_and_torch_are_used():
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric.data")
    networkx = pytest.importorskip("networkx")
    matrix = weighted_matrix()
    expected, pruner = heaviest(matrix, 3), TopWeight(k=3, side="out")
    coo = matrix.tocoo()
    ends = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
    for weight in (torch.from_numpy(coo.data), torch.from_numpy(coo.data).float()[:, None]):
        decoy = torch.zeros(ends.shape[1], 1)  # edge_weight comes before edge_attr
        data = geometric.Data(edge_index=ends, edge_weight=weight, edge_attr=decoy, num_nodes=40)
        lists = prune([data, data], pruner)
        batch = prune(geometric.Batch.from_data_list([data, data]), pruner)
        for pruned in (prune(data, pruner), *lists, *batch.to_data_list()):
            assert set(map(tuple, pruned.edge_index.T.tolist())) == expected
            found = matrix.toarray()[tuple(pruned.edge_index.numpy())]
            assert pruned.edge_weight.flatten().tolist() == found.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls the layout beta
        sparse = torch.sparse_csr_tensor(*(torch.from_numpy(a) for a in (matrix.indptr, matrix.indices, matrix.data)))
        rows = prune(sparse, pruner)
        parts = rows.values(), rows.col_indices(), rows.crow_indices()
        assert entries_of(scipy.sparse.csr_array(tuple(part.numpy() for part in parts))) == expected
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(40))
    graph.add_weighted_edges_from(zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True))
    assert set(prune(graph, pruner).edges) == expected


def test_an_undirected_networkx_graph_has_a_weight_in_both_directions():
    networkx = pytest.importorskip("networkx")
    star = networkx.Graph()
    star.add_weighted_edges_from([(0, leaf, float(leaf)) for leaf in range(1, 6)])
    kept = prune(star, TopWeight(k=2, symmetric="intersection"))
    assert set(kept.edges) == {(0, 4), (0, 5)}


def test_a_column_weight_without_a_number_is_the_weight_of_the_graph():
    rng = np.random.default_rng(1)
    ends, weight = np.stack([np.arange(1, 400), np.zeros(399, int)]), rng.permutation(399) + 1.0
    graph = Graph.from_edges(ends, edge_weight=weight)
    heavy = TopWeight(k=9, weights=Column()).mask(graph)
    assert set(np.flatnonzero(heavy)) == set(np.argsort(-weight)[:9])
    assert np.array_equal(heavy, TopWeight(k=9).mask(graph))
    sampled = np.mean([weight[LSP(k=9, hash="identity", weights="edge", seed=s).mask(graph)].mean() for s in range(20)])
    assert sampled > 1.15 * weight.mean()
    with pytest.raises(GraphError, match="must be > 0 and finite"):
        LSP(k=9, hash="identity", weights="edge").mask(dataclasses.replace(graph, edge_weight=weight - 5))


def test_a_number_of_a_column_means_edge_attr():
    ends, weight = np.stack([np.arange(1, 6), np.zeros(5, int)]), np.arange(5.0)
    graph = Graph.from_edges(ends, edge_weight=weight, edge_attr=-weight[:, None])
    assert np.flatnonzero(TopWeight(k=2).mask(graph)).tolist() == [3, 4]
    assert np.flatnonzero(TopWeight(k=2, column=0).mask(graph)).tolist() == [0, 1]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_named(value):
    matrix = weighted_matrix().astype(float)
    matrix.data[11] = value
    with pytest.raises(GraphError, match=f"edge_weight must be finite, got {value} in row 11"):
        prune(matrix, TopWeight(k=1))


def test_a_matrix_of_complex_numbers_has_no_weights():
    with pytest.raises(GraphError, match="no edge weights"):
        prune(weighted_matrix().astype(complex), TopWeight(k=1))
