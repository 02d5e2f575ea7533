from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
import scipy.sparse
import scipy.stats

from graphs import random_graph, reordered
from lsprune import LSP, Codebook, First, Graph, GraphError, Identity, LocalRandom, NoEdges, OptionError, Random
from lsprune.kernels import runtime
from lsprune.lab.synthetic_graphs import Synthetic
from lsprune.measure import aligned_consistency, consistency, stability
from lsprune.measure.consistency import spearman
from lsprune.measure.inputs import one_graph
from lsprune.measure.noise import dropout_mask, subgraph, with_noise


def jaccard(a: set, b: set) -> float:
    return len(a & b) / len(a | b)


def naive_aligned(mask, edge_ptr, y, centre_edge) -> float:
    """All pairs of all classes, by sets; the mean over the pairs."""
    has = [set(centre_edge[lo:hi].tolist()) for lo, hi in itertools.pairwise(edge_ptr)]
    kept = [set(centre_edge[lo:hi][mask[lo:hi]].tolist()) for lo, hi in itertools.pairwise(edge_ptr)]
    found = []
    for a, b in itertools.combinations(range(len(has)), 2):
        both = has[a] & has[b]
        if y[a] == y[b] and both & (kept[a] | kept[b]):
            found.append(jaccard(kept[a] & both, kept[b] & both))
    return float(np.mean(found))


@pytest.mark.parametrize("seed", range(5))
def test_aligned_is_the_mean_over_all_pairs_by_sets(seed):
    rng = np.random.default_rng(seed)
    samples = [rng.permutation(12)[: rng.integers(0, 10)] for _ in range(9)]
    edge_ptr = np.concatenate([[0], np.cumsum([s.size for s in samples])])
    centre_edge, y = np.concatenate(samples), rng.integers(-1, 2, 9)
    mask = rng.random(centre_edge.size) < 0.5
    found = aligned_consistency(mask, edge_ptr, y, centre_edge, pairs_per_class=100, seed=seed)
    assert found == pytest.approx(naive_aligned(mask, edge_ptr, y, centre_edge), rel=1e-12)


def test_classes_may_have_names():
    rng = np.random.default_rng(0)
    centre_edge, edge_ptr, mask = np.tile(np.arange(5), 40), np.arange(0, 201, 5), rng.random(200) < 0.5
    names = np.array(["left", "right", "\u00e9"])[rng.integers(0, 3, 40)]
    found = aligned_consistency(mask, edge_ptr, names, centre_edge, pairs_per_class=10**6)
    assert found == pytest.approx(naive_aligned(mask, edge_ptr, names, centre_edge), rel=1e-12)
    assert aligned_consistency(mask, edge_ptr, names.tolist(), centre_edge, pairs_per_class=10**6) == found
    alone = np.where(names == "left", names, np.arange(40).astype(str))  # the others become classes of one
    others = np.where(names == "left", names, [f"{n}x" for n in range(40)])
    few = [aligned_consistency(mask, edge_ptr, y, centre_edge, pairs_per_class=3) for y in (alone, others)]
    assert few[0] == few[1]  # a class draws by itself


def test_aligned_takes_different_pairs_as_many_as_asked():
    # 6 samples of one edge each: a pair overlaps fully if both keep it, and not at all if one does.
    mask, one = np.array([True, True, True, True, False, False]), np.zeros(6, np.int64)
    every = aligned_consistency(mask, np.arange(7), one, one)
    assert every == pytest.approx(6 / 14)  # 6 pairs keep both, 8 one, 1 neither
    few = {aligned_consistency(mask, np.arange(7), one, one, pairs_per_class=1, seed=seed) for seed in range(20)}
    assert few >= {0.0, 1.0}
    most = [aligned_consistency(mask, np.arange(7), one, one, pairs_per_class=14, seed=seed) for seed in range(20)]
    assert set(np.round(most, 12)) <= {round(x, 12) for x in (6 / 14, 6 / 13, 5 / 13)}  # 15 less any one, none twice


def test_a_class_draws_by_itself():
    data = Synthetic(samples=60, classes=3).make()
    mask = np.random.default_rng(0).random(data.centre_edge.size) < 0.5
    first = data.edge_ptr[np.flatnonzero(data.y == 0)[-1] + 1]
    alone, y = mask.copy(), np.where(data.y == 0, 0, 100 + np.arange(60))  # the others become classes of one
    assert aligned_consistency(alone, data.edge_ptr, y, data.centre_edge, pairs_per_class=5) == aligned_consistency(
        alone[:first], data.edge_ptr[: int(np.flatnonzero(data.y == 0)[-1]) + 2],
        y[: int(np.flatnonzero(data.y == 0)[-1]) + 1], data.centre_edge[:first], pairs_per_class=5,
    )  # fmt: skip


def test_aligned_without_a_pair_is_nothing():
    assert np.isnan(aligned_consistency(np.array([True]), np.array([0, 1]), np.array([0]), np.array([0])))
    assert np.isnan(aligned_consistency(np.zeros(0, bool), np.array([0]), np.zeros(0, int), np.zeros(0, int)))


def test_aligned_faults_are_named():
    with pytest.raises(GraphError, match="centre_edge must not repeat"):
        aligned_consistency(np.ones(2, bool), np.array([0, 2]), np.array([0]), np.array([3, 3]))
    for edge_ptr in ([0, 1], [1, 2], [0, 3, 2], [], [[0, 2]], [0.0, 2.0]):
        with pytest.raises(GraphError, match=r"edge_ptr must rise from 0 to the number of edges \(2\), got \["):
            aligned_consistency(np.ones(2, bool), np.array(edge_ptr), np.zeros(len(edge_ptr)), np.array([3, 4]))
    for mask in (np.ones(3, bool), np.ones(2, int)):
        with pytest.raises(GraphError, match=r"mask must be bool \[2\], got"):
            aligned_consistency(mask, np.array([0, 2]), np.array([0]), np.array([3, 4]))
    for centre_edge in ([-1, 0], [0.5, 1.0], [[0, 1]]):
        with pytest.raises(GraphError, match=r"centre_edge must be whole numbers \[E\] >= 0"):
            aligned_consistency(np.ones(2, bool), np.array([0, 2]), np.array([0]), np.array(centre_edge))
    for which in ([float("nan")], [None], [1j]):
        with pytest.raises(GraphError, match="class_of_sample must be finite numbers or strings"):
            aligned_consistency(np.ones(2, bool), np.array([0, 2]), np.array(which), np.array([3, 4]))
    with pytest.raises(GraphError, match="class_of_sample must have 1 values"):
        aligned_consistency(np.ones(2, bool), np.array([0, 2]), np.array([0, 1]), np.array([3, 4]))
    with pytest.raises(OptionError, match="pairs_per_class must be a whole number >= 1"):
        aligned_consistency(np.ones(2, bool), np.array([0, 2]), np.array([0]), np.array([3, 4]), pairs_per_class=0)


MEASURED = {  # consistency for k = 1, 3, 5 measured before the library: 20 classes x 20 samples, 28 pairs a class
    "local random": (0.069, 0.228, 0.430),
    "LSP-T as in the text": (0.071, 0.230, 0.429),
    "LSP-P as in the text": (0.262, 0.397, 0.553),
    "edge projection, k functions": (0.345, 0.453, 0.589),
    "edge projection, k smallest of one": (0.345, 0.535, 0.679),
}


@pytest.mark.parametrize("name", MEASURED)
def test_the_figures_of_the_prototype(name):
    edge = {"side": "out", "attributes": ("edge",)}
    make = {
        "local random": lambda k, seed: LocalRandom(k=k, side="out", seed=seed),
        "LSP-T as in the text": lambda k, seed: LSP.paper("t", k=k, seed=seed),
        "LSP-P as in the text": lambda k, seed: LSP.paper("p", k=k, seed=seed),
        "edge projection, k functions": lambda k, seed: LSP(k=k, seed=seed, **edge),
        "edge projection, k smallest of one": lambda k, seed: LSP(k=k, seed=seed, select="bottom", **edge),
    }[name]
    found = np.zeros((4, 3))
    for seed in range(4):
        data = Synthetic(samples=400, classes=20, seed=seed).make()
        # ids of the whole set: LocalRandom draws by id, and samples of one class have nearly the same ones
        graph = dataclasses.replace(data.graph, source_ptr=None, target_ptr=None)
        for at, k in enumerate((1, 3, 5)):
            mask = make(k, seed).mask_graph(graph, runtime()).mask
            found[seed, at] = aligned_consistency(mask, data.edge_ptr, data.y, data.centre_edge, seed=seed)
    assert found.mean(axis=0) == pytest.approx(MEASURED[name], abs=0.03)


def neighbours(graph: Graph, mask, side: str) -> dict[int, set[int]]:
    out: dict[int, set[int]] = {}
    for (s, t), kept in zip(np.stack(graph.ends()).T.tolist(), mask, strict=True):
        if kept and s != t:
            owner, other = (t, s) if side == "in" else (s, t)
            out.setdefault(owner, set()).add(other)
    return out


def naive_pairs(graph: Graph, mask, side: str) -> list[tuple[float, float]]:
    """The similarity before and after, of every two owners that share a neighbour."""
    whole, pruned = (neighbours(graph, kept, side) for kept in (np.ones(graph.num_edges, bool), mask))
    return [
        (jaccard(whole[a], whole[b]), jaccard(pruned[a], pruned[b]))
        for a, b in itertools.combinations(sorted(whole), 2)
        if whole[a] & whole[b]
    ]


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("seed", range(3))
def test_consistency_is_the_rank_correlation_over_all_pairs(seed, side):
    graph, pruner = random_graph(seed, nodes=14, edges=50), LSP(k=2, side=side)
    before, after = zip(*naive_pairs(graph, pruner.mask_graph(graph, runtime()).mask, side), strict=True)
    found = consistency(graph, pruner, pairs=3000)  # enough draws to find all
    assert found.pairs == len(before)
    assert (found.before, found.after) == pytest.approx((np.mean(before), np.mean(after)))
    assert found.correlation == pytest.approx(scipy.stats.spearmanr(before, after).statistic)


def test_nothing_removed_is_fully_consistent():
    graph = random_graph(1, nodes=30, edges=200)
    found = consistency(graph, LSP(keep=1.0))
    assert found.correlation == pytest.approx(1) and found.before == found.after
    assert np.isnan(consistency(graph, NoEdges()).correlation)


def test_min_hash_keeps_what_chance_does_not():
    # Two families of nodes: each hears most of its own 20 sources, so members of one family are alike.
    rng = np.random.default_rng(0)
    source, target = np.nonzero(np.kron(np.eye(2), np.ones((20, 100))) * (rng.random((40, 200)) < 0.7))
    ends = np.concatenate([[source, target + 40], [rng.integers(0, 40, 800), rng.integers(40, 240, 800)]], axis=1)
    graph = Graph.from_edges(ends)
    hashed, blind = (consistency(graph, pruner) for pruner in (LSP(k=3, hash=Identity()), LocalRandom(k=3)))
    assert hashed.after > 2 * blind.after


def test_pairs_are_limited_to_nodes_and_count():
    graph = random_graph(0, nodes=40, edges=400)
    assert consistency(graph, LocalRandom(k=2), pairs=25).pairs == 25
    some = consistency(graph, LocalRandom(k=2), nodes=np.array([3]), pairs=500)
    assert 0 < some.pairs < 39  # pairs of node 3 with each of the others at most
    lonely = Graph.from_edges(np.array([[0, 1], [2, 3]]))
    assert consistency(lonely, LocalRandom(k=1)).pairs == 0
    assert np.isnan(consistency(lonely, LocalRandom(k=1)).before)
    assert consistency(Graph.from_edges(np.empty((2, 0), int), num_nodes=3), LocalRandom(k=1)).pairs == 0
    for nodes in (np.array([40]), np.array([-1]), np.array([0.5]), np.array([[1]])):
        with pytest.raises(OptionError, match=r"nodes must be ids in \[0, 40\)"):
            consistency(graph, LocalRandom(k=2), nodes=nodes)


def test_a_relation_between_two_types_has_owners_on_its_side():
    ends = np.array([[0, 1, 0, 1, 2], [0, 0, 1, 1, 2]])
    relation = Graph.from_edges(ends, num_nodes=(3, 3))
    assert consistency(relation, LocalRandom(k=2)).pairs == 1  # targets 0 and 1; ids equal on both sides are no loops
    assert consistency(relation, LocalRandom(k=2)).before == 1


def test_spearman_is_scipys():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 5, 60), rng.integers(0, 9, 60)
    assert spearman(first, second) == pytest.approx(scipy.stats.spearmanr(first, second).statistic)
    assert np.isnan(spearman(np.ones(4), np.arange(4)))


def naive_stability(graph: Graph, side: str, kept, other, common) -> float:
    """The mean over owners that lose an edge of the overlap on common edges, by sets; loops not counted."""
    source, target = graph.ends()
    owner = target if side == "in" else source
    found = []
    for node in range(graph.num_nodes):
        mine = [e for e in range(graph.num_edges) if owner[e] == node and source[e] != target[e]]
        a, b = ({e for e in mine if mask[e] and common[e]} for mask in (kept, other))
        if any(not kept[e] for e in mine) and a | b:
            found.append(jaccard(a, b))
    return float(np.mean(found))


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("seed", range(3))
def test_stability_is_the_overlap_by_sets(seed, side):
    graph, pruner = random_graph(seed, nodes=12, edges=60, edge_dim=2), LSP(k=2, side=side)
    fitted, run = pruner.fit(graph), runtime()
    kept = fitted.mask_graph(graph, run).mask
    shaken = fitted.mask_graph(with_noise(graph, 0.5, seed), run).mask
    left = dropout_mask(graph, 0.4, seed)
    thinned = np.zeros(60, bool)
    thinned[left] = fitted.mask_graph(subgraph(graph, left), run).mask
    found = stability(graph, pruner, noise=0.5, dropout=0.4, seed=seed)
    assert found.noise == pytest.approx(naive_stability(graph, side, kept, shaken, np.ones(60, bool)))
    assert found.dropout == pytest.approx(naive_stability(graph, side, kept, thinned, left))
    assert found.noise < 1 and found.dropout < 1


def test_without_change_everything_is_stable():
    graph = random_graph(0, edge_dim=3)
    for pruner in (LSP(k=2), LSP(keep=0.4, symmetric="union"), LocalRandom(k=1), Random(keep=0.5), First(k=2)):
        found = stability(graph, pruner, noise=0.0, dropout=0.0)
        assert (found.noise, found.dropout) == (1, 1)
    assert stability(graph, LSP(k=2, hash="identity"), noise=9.0).noise == 1  # looks at no attribute


def test_more_change_is_less_stable():
    graph = random_graph(0, nodes=200, edges=4000, dim=8)
    noise = [stability(graph, LSP(k=3), noise=size).noise for size in (0.01, 0.1, 1.0)]
    drop = [stability(graph, LSP(k=3), dropout=size).dropout for size in (0.01, 0.2, 0.6)]
    assert noise == sorted(noise, reverse=True) and noise[0] > 0.9 > 0.5 > noise[2]
    assert drop == sorted(drop, reverse=True) and drop[0] > 0.9 > 0.7 > drop[2]


def test_the_pruner_is_fitted_once_on_the_graph_itself():
    seen = []

    class Watched(LSP):
        def fit(self, data, **options):
            seen.append(data)
            return super().fit(data, **options)

    graph = random_graph(0)
    stability(graph, Watched(k=2))
    assert len(seen) == 1 and seen[0] is graph


def test_stability_does_not_depend_on_the_order_of_edges():
    graph = random_graph(3, nodes=30, edges=150)
    keep = np.unique(np.stack(graph.ends()), axis=1, return_index=True)[1]  # parallel edges may swap
    graph = reordered(graph, keep)
    other = reordered(graph, np.random.default_rng(0).permutation(graph.num_edges))
    assert stability(graph, LSP(k=2), seed=4) == stability(other, LSP(k=2), seed=4)


def test_nobody_with_a_choice_is_no_figure():
    graph = random_graph(0)
    for pruner in (LSP(keep=1.0), NoEdges()):
        assert np.isnan(stability(graph, pruner).noise) and np.isnan(stability(graph, pruner).dropout)


def test_several_graphs_are_measured_over_the_pairs_of_all():
    graphs, pruner = [random_graph(seed, nodes=14, edges=50) for seed in range(3)], LSP(k=2)
    fitted = pruner.fit(one_graph(graphs))
    masks = [fitted.mask_graph(graph, runtime()).mask for graph in graphs]
    pairs = [pair for graph, mask in zip(graphs, masks, strict=True) for pair in naive_pairs(graph, mask, "in")]
    before, after = zip(*pairs, strict=True)
    found = consistency(graphs, pruner, pairs=9000)  # enough draws to find all
    assert found.pairs == len(before)
    assert (found.before, found.after) == pytest.approx((np.mean(before), np.mean(after)))
    assert found.correlation == pytest.approx(scipy.stats.spearmanr(before, after).statistic)
    assert consistency(tuple(graphs), pruner, pairs=9000) == found


def test_one_graph_in_a_list_is_the_graph():
    graph = random_graph(0, nodes=40, edges=300, edge_dim=2)
    for pruner in (LSP(keep=0.4), LSP(k=2, hash=Codebook(words=8)), LocalRandom(k=2)):
        assert consistency([graph], pruner) == consistency(graph, pruner)
        assert stability([graph], pruner) == stability(graph, pruner)


def test_arrays_and_matrices_are_measured_too():
    graph = random_graph(0, nodes=40, edges=300, dim=0)
    ends = np.stack(graph.ends())
    matrix = scipy.sparse.coo_array((np.ones(300), (ends[0], ends[1])), shape=(40, 40))
    pruner = LSP(k=2, hash="identity")
    assert consistency(ends, pruner) == consistency(matrix, pruner) == consistency(graph, pruner)
    assert stability(ends, pruner) == stability(matrix, pruner) == stability(graph, pruner)


@pytest.mark.parametrize("measure", [consistency, stability])
def test_what_cannot_be_measured_is_named(measure):
    graph = random_graph(0)
    for data in (None, [], 3, "graph", [graph, None]):
        with pytest.raises(GraphError, match="cannot prune"):
            measure(data, LSP(k=2))
    for pruner in (None, LSP, "lsp"):
        with pytest.raises(OptionError, match=r"pruner must be a pruner such as LSP\(keep=0.5\), got"):
            measure(graph, pruner)
    for seed in (-1, 0.5, None, True):
        with pytest.raises(OptionError, match="seed must be a whole number >= 0, got"):
            measure(graph, LSP(k=2), seed=seed)
    assert measure(graph, LSP(k=2), seed=np.int64(3)) == measure(graph, LSP(k=2), seed=3)


@pytest.mark.parametrize("kind", [scipy.sparse.coo_array, scipy.sparse.csc_array, scipy.sparse.coo_matrix])
def test_stability_with_sparse_edge_attributes_of_any_format(kind):
    graph = random_graph(0, nodes=30, edges=200, edge_dim=4)
    given, rows = (
        dataclasses.replace(graph, edge_attr=make(graph.edge_attr)) for make in (kind, scipy.sparse.csr_array)
    )
    assert stability(given, LSP(k=2)) == stability(rows, LSP(k=2))
