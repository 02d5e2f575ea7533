"""LSP-Q: the nearest word exactly, words that do not depend on the order of edges, and a number of words that fits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune import LSP, Graph, GraphError, OptionError
from lsprune.hashing import codebook, k_means
from lsprune.hashing import codebook_training as vocabulary
from lsprune.hashing.codebook import Codebook
from lsprune.hashing.quantised_rows import PROJECTED_COLUMNS
from lsprune.kernels import runtime
from lsprune.kernels.cpu import nearest_words as kernel
from lsprune.lab.synthetic_graphs import Synthetic
from lsprune.measure import aligned_consistency
from lsprune.selection.owners import group


@given(data=st.data())
@settings(max_examples=30, deadline=None, derandomize=True)
def test_the_nearest_word_is_found_and_the_first_of_equals(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    count, dim, rows = (data.draw(st.integers(1, most)) for most in (70, 9, 40))
    high = data.draw(st.sampled_from([1, 3, 127]))  # few values: many ties
    words, points = (rng.integers(-high, high + 1, (n, dim)).astype(np.int16) for n in (count, rows))
    distance = ((points[:, None].astype(int) - words[None]) ** 2).sum(2)
    expected = distance.argmin(1)  # the first of equals
    np.testing.assert_array_equal(k_means.nearest(points, words, runtime(2)), expected)
    np.testing.assert_array_equal(k_means.nearest(points, words, runtime(1, "reference")), expected)
    stored, bias = kernel.packed(words)
    out = np.full(rows, -1, np.int32)
    kernel.nearest_words(kernel.packed_rows(points), stored, bias, 1, rows, out)
    np.testing.assert_array_equal(out[1:], expected[1:])
    assert out[0] == -1


def synthetic(samples: int, seed: int = 0):
    return Synthetic(samples=samples, classes=4, min_nodes=12, max_nodes=14, seed=seed).make()


def test_the_codebook_depends_on_what_edges_hold_and_not_on_their_order():
    made = synthetic(200)
    order = np.random.default_rng(0).permutation(made.edge_attr.shape[0])
    one = Graph.from_edges(made.edge_index, x=made.x, edge_attr=made.edge_attr)
    other = Graph.from_edges(made.edge_index[:, order], x=made.x, edge_attr=made.edge_attr[order])
    pruner = LSP(k=2, hash=Codebook(words=100), attributes=("edge",))
    assert pruner.fit(one) == pruner.fit(other, threads=1)
    assert pruner.fit(one) != LSP(k=2, hash=Codebook(words=100), attributes=("edge",), seed=1).fit(one)
    np.testing.assert_array_equal(pruner.fit(one).mask(one)[order], pruner.fit(other).mask(other))


def test_noisy_copies_of_a_neighbourhood_keep_the_same_edges():
    made = Synthetic(samples=500, classes=5, min_nodes=20, max_nodes=24).make()
    half = int(made.edge_ptr[250])
    nodes = int(made.ptr[250])
    first = Graph.from_edges(
        made.edge_index[:, :half], num_nodes=nodes, edge_attr=made.edge_attr[:half], ptr=made.ptr[:251]
    )
    rest = Graph.from_edges(
        made.edge_index[:, half:] - nodes, edge_attr=made.edge_attr[half:], num_nodes=int(made.ptr[-1]) - nodes
    )
    overlap = {}
    for name, family in (("codebook", Codebook()), ("projection", "projection"), ("identity", "identity")):
        pruner = LSP(k=2, hash=family, side="out", select="bottom").fit(rest)
        overlap[name] = aligned_consistency(
            pruner.mask(first), made.edge_ptr[:251], made.y[:250], made.centre_edge[:half]
        )
    assert overlap["codebook"] > 0.75 > 0.65 > overlap["projection"] > overlap["identity"]


def test_the_number_of_words_is_one_under_which_copies_agree():
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((300, 24))
    which = rng.integers(0, 300, 20_000)
    noise = 0.5 * rng.standard_normal((2, 20_000, 24))
    ends = np.stack([rng.integers(0, 500, 20_000), rng.integers(500, 1000, 20_000)])  # no self-loops
    graph, copy = (Graph.from_edges(ends, edge_attr=(centres[which] + noise[i]).astype(np.float32)) for i in range(2))

    def agreement(family: Codebook) -> float:
        pruner = LSP(k=2, hash=family).fit(graph)
        views = [pruner.view(one, group(one, pruner, runtime(1)), 1, runtime(1)) for one in (graph, copy)]
        return vocabulary.agreement(*(codebook.assigned_words(view) for view in views), 7)

    chosen = agreement(Codebook())
    others = {words: agreement(Codebook(words=words)) for words in (16, 64, 1024, 2500)}
    assert chosen > max(others.values()) - 0.02
    assert chosen > min(others.values()) + 0.1


def test_a_sample_of_many_rows_is_that_of_all_of_them_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.integers(-3, 4, (5000, 3)).astype(np.int16)
    names = codebook.row_hashes(rows, 0)
    monkeypatch.setattr(codebook, "MAX_SAMPLED_ROWS", 60)
    expected = rows[np.unique(names, return_index=True)[1][:60]]
    for order in (np.arange(5000), rng.permutation(5000)):
        sample = codebook.RowSample(3)
        for part in np.array_split(order, 37):
            sample.add(names[part], rows[part])
        np.testing.assert_array_equal(sample.rows(), expected)


def test_few_distinct_rows_are_words_themselves():
    kinds = np.array([[0, 1], [1, 0], [1, 1]], np.float32)
    which = np.random.default_rng(0).integers(0, 3, 200)
    graph = Graph.from_edges(np.random.default_rng(1).integers(0, 30, (2, 200)), edge_attr=kinds[which])
    pruner = LSP(k=3, hash="codebook").fit(graph)
    assert pruner.learned.shape == (3, 2)
    category = Graph.from_edges(graph.ends(), num_nodes=30, edge_attr=which)
    assert LSP(k=3, hash="codebook").fit(category).learned.shape[0] == 3


def test_nodes_alone_are_words_too_and_a_saved_codebook_is_the_same(tmp_path):
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 60, (2, 500)), x=rng.standard_normal((60, 6)).astype(np.float32))
    pruner = LSP(keep=0.3, hash=Codebook(words=12)).fit(graph)
    assert pruner.learned.shape == (12, 6)
    pruner.save(tmp_path / "q.npz")
    loaded = LSP.load(tmp_path / "q.npz")
    assert loaded == pruner
    np.testing.assert_array_equal(loaded.mask(graph), pruner.mask(graph))
    np.testing.assert_array_equal(pruner.mask(graph), LSP(keep=0.3, hash=Codebook(words=12)).mask(graph))


@pytest.mark.filterwarnings("ignore::lsprune.ConstantWarning")
def test_constant_attributes_leave_the_choice_to_the_tie_rule():
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 20, (2, 100)), x=np.ones((20, 4), np.float32))
    pruner = LSP(k=2, hash="codebook")
    assert pruner.fit(graph).learned.shape[0] == 1
    identity_like = LSP(k=2).mask(graph)  # a projection of constant rows ties everywhere too
    np.testing.assert_array_equal(pruner.mask(graph), identity_like)


@pytest.mark.parametrize(
    ("build", "error", "says"),
    [
        (lambda g: Codebook(words=0), OptionError, "words must be a whole number in"),
        (lambda g: Codebook(iterations=0), OptionError, r"iterations must be a whole number in \[1, 2\^63\), got 0"),
        (
            lambda g: LSP(k=1, hash=Codebook(words=99)).fit(g),
            GraphError,
            "words must be at most 20, the number of distinct attribute rows to learn from, got 99",
        ),
        (
            lambda g: LSP(k=1, hash="codebook").mask(Graph.from_edges(g.ends())),
            GraphError,
            "neither node attributes .* hash=.identity",
        ),
    ],
)
def test_what_cannot_be_learned_is_said(build, error, says):
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 20, (2, 60)), x=rng.standard_normal((20, 3)).astype(np.float32))
    with pytest.raises(error, match=says):
        build(graph)


def test_wide_rows_are_projected_and_near_ones_stay_near():
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((40, 300))
    x = (centres[np.arange(200) % 40] + 0.3 * rng.standard_normal((200, 300))).astype(np.float32)
    ends = np.stack([np.arange(200), np.full(200, 199)])
    graph = Graph.from_edges(ends, x=x)
    pruner = LSP(k=2, hash=Codebook(words=40)).fit(graph)
    assert pruner.learned.shape == (40, PROJECTED_COLUMNS)
    view = pruner.view(graph, group(graph, pruner, runtime(1)), 1, runtime(1))
    words = codebook.assigned_words(view)
    same = words[:, None] == words[None, :]
    alike = np.arange(200)[:, None] % 40 == np.arange(200)[None, :] % 40
    assert same[alike].mean() > 0.6 > 0.1 > same[~alike].mean()
    np.testing.assert_array_equal(pruner.mask(graph), pruner.mask(graph, executor="reference"))


def test_a_single_column_beside_wide_ones_weighs_as_much_as_they_do():
    rng = np.random.default_rng(4)
    edges = np.stack([rng.integers(0, 40, 600), rng.integers(0, 40, 600)])
    x, column = rng.normal(size=(40, 6)).astype(np.float32), rng.uniform(size=(600, 1)).astype(np.float32)
    graph = Graph.from_edges(edges, num_nodes=40, x=x, edge_attr=column)
    fitted = LSP(k=2, hash=Codebook(words=64), attributes=("owner", "edge", "neighbour")).fit(graph)
    spread = fitted.learned.array.std(axis=0)
    own, edge, other = np.linalg.norm(spread[:6]), spread[6], np.linalg.norm(spread[7:])
    assert 0.3 < edge / own < 3
    assert 0.3 < edge / other < 3


def test_the_largest_values_of_a_column_are_not_taken_for_the_smallest():
    column = np.repeat(np.array([[0.0], [0.5], [1.0]], np.float32), 8, axis=0)
    graph = Graph.from_edges(np.stack([np.arange(24), np.zeros(24, int)]), num_nodes=24, edge_attr=column)
    words = np.sort(LSP(k=2, hash=Codebook(), attributes=("edge",)).fit(graph).learned.array[:, 0])
    assert np.abs(words).max() <= 127
    assert words[0] < 0 < words[-1]
    assert abs(int(words[0]) + int(words[-1])) <= 2  # as far above the middle as below


def test_node_categories_are_words_themselves():
    rng = np.random.default_rng(5)
    edges = rng.integers(0, 600, (2, 3000))
    graph = Graph.from_edges(edges, num_nodes=600, x=np.arange(600).astype(np.int64) % 60)
    assert LSP(k=2, hash=Codebook(), attributes=("neighbour",)).fit(graph).learned.array.shape[0] == 60


def test_a_codebook_without_words_says_why():
    x = np.eye(5, dtype=np.float32)
    empty = Graph.from_edges(np.zeros((2, 0), int), num_nodes=5, x=x, edge_attr=np.zeros((0, 3), np.float32))
    full = Graph.from_edges(np.array([[1, 2, 3], [0, 0, 0]]), num_nodes=5, x=x, edge_attr=np.eye(3, dtype=np.float32))
    pruner = LSP(k=1, hash=Codebook(), attributes=("edge",)).fit(empty)
    assert pruner.mask(empty).shape == (0,)
    with pytest.raises(GraphError, match="fitted on a graph without edges"):
        pruner.mask(full)
