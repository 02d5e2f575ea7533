"""`weights="similarity"`: neighbours that are like the owner are preferred, the same ones on every executor."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse

from lsprune import LSP, Codebook, Graph, GraphError, OptionError, Projection, load
from lsprune.errors import ConstantWarning
from lsprune.kernels import runtime
from lsprune.pruners import calibration as calibrate
from lsprune.selection.owners import group
from lsprune.weights import Column, Similarity
from lsprune.weights.surroundings import COSINE_BITS, cosines, surroundings, tried


def communities(nodes: int = 240, width: int = 12, noise: float = 1.0, seed: int = 0) -> tuple[Graph, np.ndarray]:
    """Nodes of three kinds, each with some ten neighbours, half of them of its kind; attributes tell the kind."""
    rng = np.random.default_rng(seed)
    kind = np.arange(nodes) % 3
    target = np.repeat(np.arange(nodes), 10)
    source = rng.integers(0, nodes, target.size)
    near = rng.random(target.size) < 0.3
    source[near] = source[near] // 3 * 3 + kind[target[near]]
    source, target = np.unique(np.stack([source, target]), axis=1)
    x = rng.normal(0, 1, (3, width))[kind] + 5 + rng.normal(0, noise, (nodes, width))
    return Graph.from_edges(np.stack([source, target]), num_nodes=nodes, x=x.astype(np.float32)), kind


def naive(graph: Graph) -> np.ndarray:
    """The cosine of the surroundings of both ends of every edge, in floats."""
    x = graph.x_source.astype(np.float64)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    centred = unit - unit.mean(0)
    source, target = graph.ends()
    sums = centred.copy()
    other = source != target
    np.add.at(sums, target[other], centred[source[other]])
    rows = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return (rows[source] * rows[target]).sum(1)


def same_kind(graph: Graph, kind: np.ndarray, mask: np.ndarray) -> float:
    source, target = (end[mask] for end in graph.ends())
    return float((kind[source] == kind[target]).mean())


@pytest.mark.parametrize("power", [1.0, 0.25])
def test_the_weight_is_a_power_of_the_cosine_of_the_surroundings(power):
    graph, _ = communities()
    weight = np.exp2(16 * naive(graph)).astype(np.float32)
    given = Graph.from_edges(np.stack(graph.ends()), num_nodes=graph.num_nodes, edge_attr=weight)
    one = LSP(k=3, hash="identity", weights=Similarity(power=power)).mask(graph)
    other = LSP(k=3, hash="identity", weights=Column(power=power)).mask(given)
    assert (one != other).mean() < 0.02  # rows have 8 bits
    assert (one != LSP(k=3, hash="identity").mask(graph)).mean() > 0.1


def test_cosines_are_those_of_a_plain_loop():
    rng = np.random.default_rng(1)
    graph, _ = communities(60)
    rows = rng.integers(-127, 128, (60, 7)).astype(np.int16)
    found = []
    for executor in ("cpu", "reference"):
        run = runtime(2, executor)
        owned = group(graph, LSP(k=1), run)
        units = surroundings(rows, owned, run)
        found.append(cosines(units, owned, run))
    np.testing.assert_array_equal(*found)
    for slot in (0, 17, owned.neighbour.size - 1):
        owner = int(np.searchsorted(owned.indptr, slot, side="right")) - 1
        ends = []
        for node in (owner, int(owned.neighbour[slot])):
            around = owned.neighbour[owned.indptr[node] : owned.indptr[node + 1]]
            ends.append(rows[node].astype(float) + rows[around].astype(float).sum(0))
        cosine = ends[0] @ ends[1] / np.linalg.norm(ends[0]) / np.linalg.norm(ends[1])
        assert found[0][slot] / 2**COSINE_BITS == pytest.approx(cosine, abs=1e-3)


@pytest.mark.parametrize("hash", ["projection", "identity", "codebook"])
@pytest.mark.parametrize("width", [12, 200])
def test_neighbours_of_the_same_kind_are_kept_and_executors_agree(hash, width):
    graph, kind = communities(width=width)
    pruner = LSP(keep=0.3, hash=hash, weights="similarity")
    mask = pruner.mask(graph)
    assert same_kind(graph, kind, mask) > same_kind(graph, kind, LSP(keep=0.3, hash=hash).mask(graph)) + 0.15
    np.testing.assert_array_equal(pruner.mask(graph, executor="reference"), mask)
    np.testing.assert_array_equal(pruner.mask(graph, threads=3), mask)
    sparse = Graph.from_edges(
        np.stack(graph.ends()), num_nodes=graph.num_nodes, x=scipy.sparse.csr_array(graph.x_source)
    )
    np.testing.assert_array_equal(pruner.mask(sparse), mask)


def test_the_order_of_edges_does_not_matter():
    graph, _ = communities()
    ends, order = np.stack(graph.ends()), np.random.default_rng(2).permutation(graph.num_edges)
    pruner = LSP(k=3, weights="similarity")
    shuffled = Graph.from_edges(ends[:, order], num_nodes=graph.num_nodes, x=graph.x_source)
    np.testing.assert_array_equal(pruner.mask(shuffled), pruner.mask(graph)[order])


def test_a_fitted_pruner_prunes_graphs_one_by_one_as_together():
    one, two = communities(90, seed=3)[0], communities(60, seed=4)[0]
    ends = np.concatenate([np.stack(one.ends()), np.stack(two.ends()) + 90], axis=1)
    both = Graph.from_edges(ends, num_nodes=150, x=np.concatenate([one.x_source, two.x_source]))
    pruner = LSP(k=2, weights="similarity").fit(both)
    apart = np.concatenate([pruner.mask(one), pruner.mask(two)])
    np.testing.assert_array_equal(apart, pruner.mask(both))


def test_a_fitted_pruner_is_saved_and_loaded(tmp_path):
    graph, _ = communities()
    for hash in ("projection", "identity"):
        pruner = LSP(k=2, hash=hash, weights="similarity").fit(graph)
        pruner.save(tmp_path / "pruner.npz")
        again = load(tmp_path / "pruner.npz")
        assert again == pruner
        other = communities(seed=5)[0]
        np.testing.assert_array_equal(again.mask(other), pruner.mask(other))


def test_categories_are_alike_where_their_surroundings_are():
    graph, kind = communities()
    values = Graph.from_edges(np.stack(graph.ends()), num_nodes=graph.num_nodes, x=kind)
    mask = LSP(keep=0.3, hash="identity", weights="similarity").mask(values)
    assert same_kind(values, kind, mask) > 0.8


def test_what_cannot_be_compared_is_refused_by_name():
    ends = np.random.default_rng(0).integers(0, 9, (2, 40))
    with pytest.raises(GraphError, match='weights="similarity" needs node attributes'):
        LSP(k=1, hash="identity", weights="similarity").mask(Graph.from_edges(ends))
    two = Graph.from_edges(ends, num_nodes=(9, 9), x=(np.eye(9, dtype=np.float32),) * 2)
    with pytest.raises(GraphError, match='weights="similarity" needs one kind of nodes'):
        LSP(k=1, weights="similarity").mask(two)
    bad = np.eye(9, dtype=np.float32)
    bad[3, 3] = np.nan
    with pytest.raises(GraphError, match="finite"):
        LSP(k=1, hash="identity", weights="similarity").mask(Graph.from_edges(ends, x=bad))


@pytest.mark.parametrize("hash", ["projection", "identity", "structure"])
@pytest.mark.parametrize("width", [3, 13, 200])
def test_attributes_must_be_as_when_fitted(hash, width):
    fitted = LSP(k=2, hash=hash, weights="similarity").fit(communities()[0])
    for executor in ("cpu", "reference"):
        with pytest.raises(GraphError, match=f"x must have 12 columns as when fitted, got {width}"):
            fitted.mask(communities(width=width)[0], executor=executor)
    bare = Graph.from_edges(np.stack(communities()[0].ends()))
    with pytest.raises(GraphError, match="attributes"):
        fitted.mask(bare)


def test_categories_must_be_as_when_fitted_where_nobody_has_a_choice_too():
    ends = np.array([[0, 1], [1, 2]])
    fitted = LSP(k=2, hash="identity", weights="similarity").fit(Graph.from_edges(ends, x=np.array([0, 1, 3])))
    for x, says in ((np.array([0, 1, 50]), "as a category must be in"), (np.eye(3, dtype=np.float32), "a category")):
        with pytest.raises(GraphError, match=says):
            fitted.mask(Graph.from_edges(ends, x=x))


def test_what_was_fitted_otherwise_must_be_fitted_again():
    graph, _ = communities()
    plain = LSP(k=2).fit(graph)
    for other in (
        dataclasses.replace(plain, weights="similarity"),
        dataclasses.replace(plain, weights="auto"),
        dataclasses.replace(LSP(k=2, hash="identity", weights="similarity").fit(graph), hash="projection"),
    ):
        with pytest.raises(OptionError, match="fit it again"):
            other.mask(graph)
        np.testing.assert_array_equal(other.fit(graph).mask(graph), dataclasses.replace(other, fitted=None).mask(graph))


@pytest.mark.parametrize("hash", ["projection", "identity"])
def test_fitting_twice_is_fitting_once(hash):
    graph, _ = communities()
    once = LSP(k=2, hash=hash, weights="similarity").fit(graph)
    assert once.fit(graph) == once
    assert once.fit(communities(width=5)[0]) == LSP(k=2, hash=hash, weights="similarity").fit(communities(width=5)[0])


# weights="auto"


def test_auto_prefers_the_like_where_noise_does_not_change_who_they_are():
    graph, kind = communities(600, width=40)
    for options in ({"hash": "auto"}, {"hash": "projection"}, {"hash": "identity"}):
        fitted = LSP(keep=0.3, weights="auto", **options).fit(graph)
        assert fitted.weights == "similarity"
        assert fitted.hash == (Projection() if options["hash"] == "auto" else LSP(k=1, **options).hash)
        assert same_kind(graph, kind, fitted.mask(graph)) > 0.6
        np.testing.assert_array_equal(
            LSP(keep=0.3, weights="auto", **options).mask(graph, threads=2), fitted.mask(graph)
        )


@pytest.mark.parametrize(
    ("few", "many"),
    [({"keep": 0.33}, {"keep": 0.34}), ({"k": 3}, {"k": 4})],
)
def test_auto_prefers_nobody_where_a_third_is_kept_or_more(few, many):
    graph, _ = communities(600, width=40)
    assert LSP(weights="auto", **few).fit(graph).weights == "similarity"
    assert LSP(weights="auto", hash="auto", **many).fit(graph) == LSP(hash="auto", **many).fit(graph)
    np.testing.assert_array_equal(LSP(weights="auto", **many).mask(graph), LSP(**many).mask(graph))


def test_a_projection_goes_with_similarity_whatever_hash_is_most_stable(monkeypatch):
    """Nodes that are one of twenty vectors with hardly any noise: a codebook tells them apart best."""
    rng = np.random.default_rng(7)
    ends = np.stack([rng.integers(0, 600, 6000), np.repeat(np.arange(600), 10)])
    x = rng.normal(0, 1, (20, 16))[rng.integers(0, 20, 600)] + rng.normal(0, 0.01, (600, 16))
    graph = Graph.from_edges(ends, num_nodes=600, x=x.astype(np.float32))
    assert isinstance(LSP(keep=0.3, hash="auto").fit(graph).hash, Codebook)
    monkeypatch.setattr(calibrate, "_alike", lambda *_: 1.0)
    fitted = LSP(keep=0.3, hash="auto", weights="auto").fit(graph)
    assert (fitted.weights, fitted.hash) == ("similarity", Projection())


def test_auto_leaves_weights_where_edges_say_more():
    """Edges that are one of twenty vectors with hardly any noise, between nodes that nothing is known of."""
    rng = np.random.default_rng(6)
    ends = np.stack([rng.integers(0, 300, 3000), np.repeat(np.arange(300), 10)])
    which = rng.integers(0, 20, 3000)
    edges = rng.normal(0, 1, (20, 16))[which] + rng.normal(0, 0.01, (3000, 16))
    graph = Graph.from_edges(
        ends, num_nodes=300, x=rng.normal(0, 1, (300, 4)).astype(np.float32), edge_attr=edges.astype(np.float32)
    )
    fitted = LSP(keep=0.3, hash="auto", weights="auto").fit(graph)
    assert (fitted.weights, fitted.attributes) == (None, ("edge",))
    assert fitted == LSP(keep=0.3, hash="auto").fit(graph)


def test_auto_looks_at_few_nodes_of_a_dense_graph(monkeypatch):
    graph, _ = communities(2100)
    seen = []
    monkeypatch.setattr(calibrate, "AROUND", 3000)
    monkeypatch.setattr(calibrate, "tried", lambda graph, owned, side, slots, *rest: seen.append(slots.size) or tried(
        graph, owned, side, slots, *rest))  # fmt: skip
    fitted = LSP(keep=0.3, weights="auto").fit(graph)
    assert seen == [512]
    assert fitted.weights == "similarity"


def test_auto_refuses_what_is_not_finite_where_nobody_has_a_choice_too():
    x = np.zeros((9, 4), np.float32)
    x[7, 1] = np.nan
    for hash in ("identity", "projection"):
        with pytest.raises(GraphError, match="finite"):
            LSP(k=2, hash=hash, weights="auto").mask(Graph.from_edges(np.array([[0], [1]]), num_nodes=9, x=x))


@pytest.mark.parametrize("hash", ["identity", "structure"])
def test_auto_measures_noise_against_a_projection_where_the_hash_has_none(hash, monkeypatch):
    graph, _ = communities(600, width=40)
    assert LSP(keep=0.1, hash=hash, weights="auto").fit(graph).weights == "similarity"
    monkeypatch.setattr(calibrate, "_alike", lambda *_: 0.1)
    assert LSP(keep=0.1, hash=hash, weights="auto").fit(graph) == LSP(keep=0.1, hash=hash).fit(graph)


@pytest.mark.parametrize("hash", ["identity", "projection", "auto"])
@pytest.mark.filterwarnings("ignore::lsprune.errors.ConstantWarning")
def test_auto_prefers_nobody_where_all_nodes_are_alike(hash):
    graph, _ = communities(600)
    same = Graph.from_edges(np.stack(graph.ends()), num_nodes=600, x=np.ones((600, 3), np.float32))
    assert LSP(keep=0.1, hash=hash, weights="auto").fit(same).weights is None


def test_similarity_of_equal_nodes_is_warned_of():
    graph = Graph.from_edges(np.array([[0, 1, 2], [2, 2, 1]]), x=np.ones((3, 4), np.float32))
    with pytest.warns(ConstantWarning, match="nobody is more like the owner than others"):
        LSP(k=1, hash="identity", weights="similarity").fit(graph)


def test_auto_leaves_weights_where_nodes_have_no_attributes():
    ends = np.random.default_rng(0).integers(0, 30, (2, 300))
    pruner = LSP(keep=0.2, hash="identity", weights="auto")
    graph = Graph.from_edges(ends)
    np.testing.assert_array_equal(pruner.mask(graph), LSP(keep=0.2, hash="identity").mask(graph))
    assert pruner.fit(graph).weights is None
