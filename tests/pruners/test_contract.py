"""What every pruner promises, checked on every pruner, executor and thread count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphs import ALL_PRUNERS, graphs, kept_edges, name_of, owners_of, random_graph, reordered, suits, with_budget
from lsprune import (
    FAMILIES,
    LSP,
    PRUNERS,
    First,
    Graph,
    Guarded,
    LocalRandom,
    NoEdges,
    OptionError,
    Projection,
    Random,
    Timed,
    adapters,
    prune,
)
from lsprune.baselines import Cosine, Disparity, MetricBackbone, TopWeight
from lsprune.kernels import executors, runtime
from lsprune.pruners import PaperLSP
from lsprune.pruners.global_pruner import GlobalPruner
from lsprune.selection import owners

FEW = settings(max_examples=12, deadline=None, derandomize=True)
MORE = settings(FEW, max_examples=40)
every_pruner = pytest.mark.parametrize("pruner", ALL_PRUNERS, ids=name_of)


def test_every_registered_method_and_family_is_in_the_contract():
    apart = {Guarded, Timed, Disparity, MetricBackbone}  # which have tests of their own
    assert {type(p) for p in ALL_PRUNERS} == set(PRUNERS.values()) - apart
    assert {type(p.hash) for p in ALL_PRUNERS if isinstance(p, LSP)} == set(FAMILIES.values())


@every_pruner
@given(graph=graphs())
@MORE
def test_executors_and_threads_agree(pruner, graph):
    assume(suits(pruner, graph))
    reference = pruner.mask(graph, executor="reference")
    assert reference.dtype == bool
    assert reference.shape == (graph.num_edges,)
    for threads in (1, 2, 3):
        np.testing.assert_array_equal(pruner.mask(graph, threads=threads), reference)


@every_pruner
@given(graph=graphs(), seed=st.integers(0, 1000))
@FEW
def test_edge_order_does_not_matter(pruner, graph, seed):
    if isinstance(pruner, First) or getattr(pruner, "ties", "") == "position":
        pytest.skip("this pruner goes by the caller's order")
    assume(suits(pruner, graph))
    order = np.random.default_rng(seed).permutation(graph.num_edges)
    shuffled = reordered(graph, order)
    before, after = pruner.mask(graph), pruner.mask(shuffled)
    # Parallel edges with equal keys may be swapped, so attributes are not compared here.
    assert kept_edges(graph, before, attr=False) == kept_edges(shuffled, after, attr=False)


@pytest.mark.parametrize("pruner", [p for p in ALL_PRUNERS if getattr(p, "hash", None) == Projection()], ids=name_of)
def test_parallel_edges_are_told_apart_by_their_attributes(pruner):
    for seed in range(8):
        graph = random_graph(seed, nodes=6, edges=70, edge_dim=9)  # many parallel edges, hardly two equal keys
        shuffled = reordered(graph, np.random.default_rng(seed).permutation(graph.num_edges))
        assert kept_edges(graph, pruner.mask(graph)) == kept_edges(shuffled, pruner.mask(shuffled))


@every_pruner
@given(graph=graphs())
@FEW
def test_isolated_nodes_are_counted(pruner, graph):
    assume(suits(pruner, graph))
    source, target = graph.ends()
    for executor in ("cpu", "reference"):
        found = pruner.mask_graph(graph, runtime(2, executor))
        before, after = (np.zeros(graph.num_nodes, bool) for _ in range(2))
        for state, chosen in ((before, source != target), (after, (source != target) & found.mask)):
            state[source[chosen]] = state[target[chosen]] = True
        assert found.isolated == (before & ~after).sum()


@pytest.mark.parametrize("pruner", [p for p in with_budget(k=2) if p.symmetric is None], ids=name_of)
@given(graph=graphs())
@FEW
def test_every_owner_keeps_min_k_degree(pruner, graph):
    assume(suits(pruner, graph))
    mask = pruner.mask(graph)
    source, target = graph.ends()
    real = source != target if pruner.self_loops != "edge" else np.ones(graph.num_edges, bool)
    assert mask[~real].all()  # self-loops are free
    owner = owners_of(graph, pruner.side)
    degree = np.bincount(owner[real], minlength=graph.num_nodes)
    kept = np.bincount(owner[real & mask], minlength=graph.num_nodes)
    if isinstance(pruner, GlobalPruner):
        assert kept.sum() == np.minimum(degree, 2).sum()
    else:
        np.testing.assert_array_equal(kept, np.minimum(degree, 2))


@pytest.mark.parametrize("pruner", range(len(with_budget(k=1))))
@given(graph=graphs())
@FEW
def test_more_functions_keep_what_fewer_keep(pruner, graph):
    assume(suits(with_budget(k=1)[pruner], graph))
    masks = [with_budget(k=k)[pruner].mask(graph) for k in (0, 1, 2, 5, 17)]
    for smaller, larger in zip(masks, masks[1:], strict=False):
        assert not (smaller & ~larger).any()


@pytest.mark.parametrize("pruner", range(len(with_budget(k=1))))
@given(graph=graphs())
@FEW
def test_larger_shares_keep_what_smaller_keep(pruner, graph):
    assume(suits(with_budget(k=1)[pruner], graph))
    masks = [with_budget(keep=keep)[pruner].mask(graph) for keep in (0.1, 0.35, 0.5, 0.9, 1.0)]
    for smaller, larger in zip(masks, masks[1:], strict=False):
        assert not (smaller & ~larger).any()


@pytest.mark.parametrize("keep", [0.01, 0.3, 0.5, 0.77, 1.0])
@pytest.mark.parametrize("index", range(len(with_budget(k=1))))
@given(graph=graphs())
@FEW
def test_keep_is_met_to_the_edge(index, keep, graph):
    pruner = with_budget(keep=keep)[index]
    assume(suits(pruner, graph))
    source, target = graph.ends()
    real = source != target if pruner.self_loops != "edge" else np.ones(graph.num_edges, bool)
    mask = pruner.mask(graph)
    if pruner.symmetric is None:
        assert mask[real].sum() == np.floor(keep * real.sum() + 0.5)
    else:
        pairs, kept = count_pairs(source[real], target[real]), count_pairs(source[real & mask], target[real & mask])
        assert kept == np.floor(keep * pairs + 0.5)


def count_pairs(source, target):
    forward: dict[tuple[int, int], int] = {}
    for edge in zip(source.tolist(), target.tolist(), strict=True):
        forward[edge] = forward.get(edge, 0) + 1
    total = 0
    for (s, t), count in forward.items():
        if s == t:
            total += count
        elif s < t or (t, s) not in forward:
            total += max(count, forward.get((t, s), 0))
    return total


@every_pruner
def test_graphs_with_nothing_to_do(pruner):
    empty = Graph.from_edges(np.empty((2, 0), np.int64), num_nodes=0, x=np.empty((0, 3)))
    no_edges = Graph.from_edges(np.empty((2, 0), np.int64), num_nodes=4, x=np.ones((4, 3)))
    one_node = Graph.from_edges(np.zeros((2, 2), np.int64), num_nodes=1, x=np.ones((1, 3)), edge_attr=np.ones((2, 2)))
    assert pruner.mask(empty).shape == (0,)
    assert pruner.mask(no_edges).shape == (0,)
    loops = pruner.mask(one_node)
    if pruner.self_loops == "edge":
        assert loops.sum() == (1 if pruner.keep else 2)  # two edges; k is 2, keep is 0.4
    else:
        assert loops.tolist() == [pruner.self_loops == "free"] * 2


@every_pruner
def test_csr_and_coo_give_the_same_mask(pruner):
    if isinstance(pruner, NoEdges):
        pytest.skip("no selection to compare")
    graph = random_graph(3, nodes=15, edges=90, edge_dim=2)
    for rows in ("source", "target"):
        source, target = graph.ends()
        row, other = (source, target) if rows == "source" else (target, source)
        order = np.argsort(row, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=15))])
        csr = Graph.from_csr(indptr, other[order], rows=rows, x=graph.x, edge_attr=graph.edge_attr[order])
        np.testing.assert_array_equal(pruner.mask(csr), pruner.mask(reordered(graph, order)))


@every_pruner
def test_a_batch_is_pruned_as_its_graphs_one_by_one(pruner):
    fitted = pruner.fit(random_graph(0, edge_dim=2))
    single = [random_graph(seed, nodes=6 + seed, edges=10 * seed, edge_dim=2) for seed in range(1, 6)]
    offsets = np.cumsum([0, *(g.num_nodes for g in single)])
    joined = Graph.from_edges(
        np.concatenate([np.stack(g.ends()) + o for g, o in zip(single, offsets[:-1], strict=True)], axis=1),
        num_nodes=int(offsets[-1]),
        x=np.concatenate([g.x for g in single]),
        edge_attr=np.concatenate([g.edge_attr for g in single]),
        ptr=offsets,
    )
    np.testing.assert_array_equal(fitted.mask(joined), np.concatenate([fitted.mask(g) for g in single]))


def test_pooled_meets_the_share_over_all_graphs():
    edges = np.array([[1, 2, 3, 5, 6], [0, 0, 0, 4, 4]])  # 3 edges in one graph, 2 in the other
    graph = Graph.from_edges(edges, num_nodes=7, ptr=np.array([0, 4, 7]))
    for method in (LocalRandom, Random):
        assert method(keep=0.5).mask(graph).sum() == 2 + 1
        assert method(keep=0.5, pooled=True).mask(graph).sum() == 3
        assert method(keep=0.3).mask(graph).sum() == 1 + 1
        assert method(keep=0.3, pooled=True).mask(graph).sum() == 2


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_feature_types_and_sparse_features_give_the_same_bits(dtype):
    import scipy.sparse

    rng = np.random.default_rng(0)
    x = (rng.integers(-8, 9, (20, 30)) * (rng.random((20, 30)) < 0.3)).astype(np.float32) / 8
    edges = rng.integers(0, 20, (2, 200))
    for pruner in (LSP(k=3), LSP(k=3, hash="threshold"), LSP.paper("p", k=3), LSP.paper("t", k=2)):
        expected = pruner.mask(Graph.from_edges(edges, num_nodes=20, x=x))
        np.testing.assert_array_equal(pruner.mask(Graph.from_edges(edges, x=x.astype(dtype))), expected)
        np.testing.assert_array_equal(pruner.mask(Graph.from_edges(edges, x=scipy.sparse.csr_matrix(x))), expected)
        np.testing.assert_array_equal(pruner.mask(Graph.from_edges(edges.astype(np.int32), x=x)), expected)
        np.testing.assert_array_equal(pruner.mask(Graph.from_edges(edges, x=np.asfortranarray(x))), expected)


@pytest.mark.parametrize("side", ["in", "out"])
def test_side_says_which_end_owns_an_edge(side):
    # a star: node 0 receives from all others, so it owns everything on side "in" and nothing on side "out"
    edges = np.stack([np.arange(1, 9), np.zeros(8, int)])
    graph = Graph.from_edges(edges, x=np.random.default_rng(0).standard_normal((9, 3)))
    for pruner in (LSP(k=2, side=side), LocalRandom(k=2, side=side), First(k=2, side=side), Random(k=2, side=side)):
        assert pruner.mask(graph).sum() == (2 if side == "in" else 8)


def test_two_sides_of_a_turned_graph_are_the_same():
    graph = random_graph(7, nodes=14, edges=80)
    source, target = graph.ends()
    turned = Graph.from_edges((target, source), num_nodes=14, x=graph.x)
    for make in (lambda side: LSP(k=2, side=side), lambda side: LSP(keep=0.4, side=side, hash="identity")):
        np.testing.assert_array_equal(make("in").mask(graph), make("out").mask(turned))
        assert (make("in").mask(graph) != make("out").mask(graph)).any()


def test_blocks_of_owners_equal_the_whole():
    graph = random_graph(5, nodes=40, edges=400)
    source, target = graph.ends()
    pruner = LSP(k=3).fit(graph)
    whole = pruner.mask(graph)
    for lo, hi in ((0, 7), (7, 25), (25, 40)):
        inside = (target >= lo) & (target < hi)
        block = Graph.from_edges((source[inside], target[inside]), num_nodes=40, x=graph.x)
        np.testing.assert_array_equal(pruner.mask(block), whole[inside])


@every_pruner
def test_small_blocks_equal_one_block(pruner, monkeypatch):
    graph = random_graph(6, nodes=60, edges=1500, edge_dim=3)
    whole = pruner.mask(graph)
    for place, name, size in (
        (owners, "BLOCK_EDGES", 7),
        (executors, "SPAN_EDGES", 5),
        (executors, "BLOCK_ROWS", 3),
        (executors, "BLOCK_VALUES", 9),
    ):
        monkeypatch.setattr(place, name, size)
    np.testing.assert_array_equal(pruner.mask(graph, threads=3), whole)


def as_kinds(graph):
    """(name, object, the order in which it lists the edges, whether it carries attributes) for every kind of object."""
    import networkx as nx
    import scipy.sparse

    source, target = graph.ends()
    everything = np.arange(graph.num_edges)
    yield "numpy", np.stack([source, target]), everything, False
    matrix = scipy.sparse.coo_array((everything + 1, (source, target)), shape=(graph.num_nodes,) * 2)
    yield "scipy coo", matrix, everything, False
    for kind in ("csr", "csc"):
        yield f"scipy {kind}", matrix.asformat(kind), matrix.asformat(kind).data - 1, False
    network = nx.DiGraph()
    network.add_nodes_from((u, {"x": graph.x[u].tolist()}) for u in range(graph.num_nodes))
    edges = zip(source.tolist(), target.tolist(), graph.edge_attr.tolist(), everything.tolist(), strict=True)
    network.add_edges_from((s, t, {"edge_attr": attr, "number": i}) for s, t, attr, i in edges)
    yield "networkx", network, np.array([number for _, _, number in network.edges(data="number")]), True
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric.data")
    edge_index = torch.from_numpy(np.stack([source, target]))
    data = pyg.Data(torch.from_numpy(graph.x), edge_index, torch.from_numpy(graph.edge_attr))
    yield "tensor", edge_index, everything, False
    yield "Data", data, everything, True
    yield "Batch", pyg.Batch.from_data_list([data]), everything, True


@every_pruner
@given(seed=st.integers(0, 2**32 - 1))
@settings(FEW, max_examples=3)
def test_every_kind_of_object_gives_the_same_mask(pruner, seed):
    if isinstance(pruner, First) or getattr(pruner, "ties", "") == "position":
        pytest.skip("this pruner goes by the caller's order, which is not the same in every kind")
    rng = np.random.default_rng(seed)
    ends = np.unique(rng.integers(0, 20, (2, 150)), axis=1)
    x, attr = (
        rng.standard_normal((20, 4)).astype(np.float32),
        rng.standard_normal((ends.shape[1], 3)).astype(np.float32),
    )
    graph = Graph.from_edges(ends[:, rng.permutation(ends.shape[1])], num_nodes=20, x=x, edge_attr=attr)
    needs_attributes = isinstance(pruner, LSP) and pruner.family.needs_attributes
    needs_attributes |= isinstance(pruner, Cosine | TopWeight)
    expected = pruner.mask(graph)
    for kind, thing, order, carries in as_kinds(graph):
        if carries or not needs_attributes:
            np.testing.assert_array_equal(pruner.mask(thing), expected[order], err_msg=kind)
            smaller, mask = prune(thing, pruner, return_mask=True)
            assert adapters.find(smaller).graphs(smaller)[None].num_edges == mask.sum()


def test_parallel_edges_are_edges_of_their_own():
    edges = np.array([[1, 1, 1, 2], [0, 0, 0, 0]])
    graph = Graph.from_edges(edges, x=np.random.default_rng(0).standard_normal((3, 4)))
    for k in range(5):
        assert LSP(k=k).mask(graph).sum() == min(k, 4)
        assert LocalRandom(k=k).mask(graph).sum() == min(k, 4)


@every_pruner
def test_unbiased_factors_are_given_or_refused_with_a_reason(pruner):
    ends = np.unique(random_graph(1, nodes=12, edges=90).ends(), axis=1)
    graph = random_graph(1, nodes=12, edges=ends.shape[1], edge_dim=1)
    graph = Graph.from_edges(ends, x=graph.x, edge_attr=np.abs(graph.edge_attr) + 1, num_nodes=12)
    run = runtime(1)
    mask = pruner.mask_graph(graph, run).mask
    try:
        factors = pruner.unbiased_factors(graph, mask, run)
    except OptionError as error:
        assert 'rescale="unbiased"' in str(error)
        assert "rescale=True" in str(error)
    else:
        assert pruner.unbiased_problem == ""
        assert factors.dtype == np.float32
        assert (factors >= 1).all()
        assert (factors[mask] > 1).any() or mask.all()


def test_who_has_unbiased_factors():
    """Others must say why not: a new pruner or family is not here until its factors are tested."""
    pruners = {type(p).name for p in ALL_PRUNERS if not isinstance(p, LSP) and not p.unbiased_problem}
    assert pruners == {"random", "local-random", "dspar"}
    families = {name for name, family in FAMILIES.items() if not family().unbiased_problem}
    assert families == {"identity", "auto"}
    assert "promises" in Guarded(pruner=LocalRandom(k=3)).unbiased_problem
    assert "several steps" in PaperLSP(k=3, hash="identity", replace=True).unbiased_problem
    assert 'select="bottom"' in LSP(k=3, hash="identity", weights="degree").unbiased_problem
    assert "convex hull" in LSP(k=3).unbiased_problem
    assert "outermost bin" in LSP(k=3, hash="projection:l=1").unbiased_problem
    assert "draws nothing" in LSP(k=3, hash="constant", weights="degree", select="bottom").unbiased_problem
    assert "share a code" in LSP(k=3, hash="codebook", select="bottom").unbiased_problem


def test_unbiased_factors_of_what_fit_chooses():
    graph = random_graph(1, nodes=12, edges=40)
    graph = Graph.from_edges(np.unique(graph.ends(), axis=1), x=graph.x, num_nodes=12)
    run = runtime(1)
    chosen = LSP(k=2, hash="auto")
    with pytest.raises(OptionError, match='rescale="unbiased" is not possible'):
        chosen.unbiased_factors(graph, chosen.mask_graph(graph, run).mask, run)
    learns = LSP(k=2, hash="identity", weights="similarity", select="bottom")
    mask, fitted = learns.mask_graph(graph, run).mask, learns.fit(graph)
    expected = fitted.unbiased_factors(graph, fitted.mask_graph(graph, run).mask, run)
    np.testing.assert_array_equal(learns.unbiased_factors(graph, mask, run), expected)
    assert expected.max() > 1
