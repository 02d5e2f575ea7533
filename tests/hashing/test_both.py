"""Two families in one: edges share a key where both families give them the same code, and nowhere else."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from golden_graphs import golden_graph

from graphs import STEPS, keys_of, random_graph, reordered
from lsprune import LSP, Graph, GraphError, OptionError, load
from lsprune.hashing import (
    Auto,
    Bins,
    Both,
    Codebook,
    Identity,
    PaperThreshold,
    Projection,
    Signs,
    Structure,
    Threshold,
    both,
    family,
    structure,
)
from lsprune.hashing.projection import WEIGHT_FRACTION_BITS
from lsprune.kernels import runtime
from lsprune.lab.synthetic_graphs import Synthetic
from lsprune.measure import aligned_consistency
from lsprune.numeric.random_numbers import PAIR, draw
from lsprune.pruners import PaperLSP, from_dict
from lsprune.weights import Degree

ALL = ("owner", "edge", "neighbour")


def lsp(hash, **options) -> LSP:
    return LSP(**{"k": STEPS, "hash": hash, "self_loops": "edge", **options})


def coarse_graph(seed: int = 0) -> Graph:
    """40 nodes and 600 edges, each with one of a few vectors and little noise: codes come again and again."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((5, 6))[rng.integers(0, 5, 40)] + 0.05 * rng.standard_normal((40, 6))
    attr = rng.standard_normal((4, 3))[rng.integers(0, 4, 600)] + 0.05 * rng.standard_normal((600, 3))
    ends = rng.integers(0, 40, (2, 600))
    return Graph.from_edges(ends, num_nodes=40, x=x.astype(np.float32), edge_attr=attr.astype(np.float32))


def groups(codes: np.ndarray) -> np.ndarray:
    """The number of the first edge with the same code."""
    _, first, where = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    return first[where.reshape(-1)]


PAIRS = [
    Both(),
    Both(edge=Codebook(words=6), node=Codebook(words=9)),
    Both(edge=Codebook(words=6), node=Projection(l=0.2)),
    Both(edge=Projection(l=0.5, sparsity=2), node=Signs(bits=2)),
    Both(edge=Signs(bits=2), node=Identity()),
    Both(edge=Signs(bits=2), node=Codebook(words=9)),
    Both(edge=Bins(), node=Structure(rounds=0)),
    Both(edge=PaperThreshold(digest="md5"), node=PaperThreshold(digest="affine", sparsity=2)),
    Both(edge=Threshold(m=3), node=Bins(levels=2)),
]


@pytest.mark.parametrize("weights", [None, Degree(power=0.0)])  # weights of one: a race that changes no key
@pytest.mark.parametrize("hash", PAIRS, ids=str)
def test_keys_are_equal_where_both_families_alone_have_equal_keys(hash, weights):
    graph = coarse_graph()
    keys = keys_of(lsp(hash, weights=weights), graph)
    edge = keys_of(lsp(hash.edge, attributes=("edge",)), graph)
    node = keys_of(lsp(hash.node, attributes=("neighbour",)), graph)
    pairs = [groups(np.stack([edge[:, z], node[:, z]], axis=1)) for z in range(STEPS)]
    for z, expected in enumerate(pairs):
        np.testing.assert_array_equal(groups(keys[:, z, None]), expected)
    sizes = [np.unique(expected).size for expected in pairs]
    assert max(sizes) < 600  # some edges are alike
    assert all(max(np.unique(one[:, z]).size for z in range(STEPS)) > 1 for one in (edge, node))
    assert max(sizes) > max(np.unique(one[:, z]).size for one in (edge, node) for z in range(STEPS))


@pytest.mark.parametrize("hash", PAIRS, ids=str)
def test_keys_are_draws_of_the_two_codes(hash):
    graph, steps = coarse_graph(), np.arange(1, STEPS + 1)
    edge, node = (
        keys_of(lsp(part, attributes=(role,), seed=3), graph)
        for part, role in ((hash.edge, "edge"), (hash.node, "neighbour"))
    )
    np.testing.assert_array_equal(keys_of(lsp(hash, seed=3), graph), draw(3, PAIR, steps, edge, node) >> np.uint64(34))


def test_the_codes_of_a_part_do_not_depend_on_the_scale_of_the_other():
    graph = random_graph(0, nodes=400, edges=900, edge_dim=1)  # a single column is not normalised: its quanta are finer
    scale = dict(LSP(k=1).fit(graph).scales)["neighbour"]
    assert scale.shift > 0  # for hashing both together, sums of the neighbour's part are moved up
    fine = Projection(l=20.5 * 2.0 ** -(scale.exponent + WEIGHT_FRACTION_BITS))  # so short that rounding changes bins
    edge, node = (keys_of(lsp(h, attributes=(r,)), graph) for h, r in ((Signs(bits=2), "edge"), (fine, "neighbour")))
    for z, column in enumerate(keys_of(lsp(Both(edge=Signs(bits=2), node=fine)), graph).T):
        np.testing.assert_array_equal(groups(column[:, None]), groups(np.stack([edge[:, z], node[:, z]], axis=1)))


def test_the_owner_is_hashed_with_the_neighbour_if_asked():
    graph = coarse_graph()
    hash = Both(edge=Signs(bits=2), node=Signs(bits=2))
    edge, node = (keys_of(lsp(Signs(bits=2), attributes=roles), graph) for roles in (("edge",), ("owner", "neighbour")))
    for z, column in enumerate(keys_of(lsp(hash, attributes=ALL), graph).T):
        np.testing.assert_array_equal(groups(column[:, None]), groups(np.stack([edge[:, z], node[:, z]], axis=1)))


def kinds_graph(kinds: int) -> Graph:
    """One owner, and an edge for every pair of an edge's kind and a node's kind."""
    node, edge = np.divmod(np.arange(kinds * kinds), kinds)
    ends = np.stack([np.arange(kinds * kinds), np.full(kinds * kinds, kinds * kinds)])
    rows = np.eye(kinds, dtype=np.float32)
    return Graph.from_edges(ends, x=rows[np.append(node, 0)], edge_attr=rows[edge])


def test_keys_of_different_pairs_are_uniform_and_independent():
    keys = keys_of(lsp(Both()), kinds_graph(60))
    assert all(np.unique(column).size == 3600 for column in keys.T)
    assert keys.min() >= 0
    share = keys / 2**30
    counts = np.stack([np.bincount((column * 36).astype(int), minlength=36) for column in share.T])
    assert counts.shape == (STEPS, 36)
    assert (((counts - 100) ** 2).sum(1) / 100 < 70).all()  # chi squared, 35 degrees of freedom: 99.9 % below 67
    assert np.abs(np.corrcoef(share.T) - np.eye(STEPS)).max() < 0.06
    table = share[:, 0].reshape(60, 60)
    assert table.mean(0).std() < 2 * (1 / 720) ** 0.5  # no code of a part makes keys small in all its pairs
    assert table.mean(1).std() < 2 * (1 / 720) ** 0.5


def test_a_pair_is_not_the_pair_the_other_way_round():
    graph = kinds_graph(60)
    edge, node = (keys_of(lsp("codebook", attributes=(role,)), graph)[:, 0] for role in ("edge", "neighbour"))
    np.testing.assert_array_equal(edge.reshape(60, 60), node.reshape(60, 60).T)  # the two have the same codes
    table = keys_of(lsp(Both()), graph)[:, 0].reshape(60, 60)
    assert np.count_nonzero(table == table.T) == 60
    assert np.corrcoef(table.ravel(), table.T.ravel())[0, 1] < 0.08


def test_every_pair_is_the_smallest_equally_often():
    graph, hash = kinds_graph(3), Both(edge=Signs(bits=40), node=Signs(bits=40))
    keys = np.array([keys_of(lsp(hash, seed=seed), graph, 1)[:, 0] for seed in range(900)])
    assert all(np.unique(some).size == 9 for some in keys)
    wins = np.bincount(np.argmin(keys, axis=1), minlength=9)
    assert ((wins - 100) ** 2 / 100).sum() < 26.2  # chi squared, 8 degrees of freedom: 99.9 % below that


def turned(rng: np.random.Generator, angle: float, rows: int, dim: int = 12) -> np.ndarray:
    """Unit rows, the same turned by an angle, and their opposites, so that the mean is about zero."""
    one, other = rng.standard_normal((2, rows, dim))
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    other -= (other * one).sum(1, keepdims=True) * one
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    twin = np.cos(angle) * one + np.sin(angle) * other
    return np.concatenate([one, twin, -one, -twin]).astype(np.float32)


@pytest.mark.parametrize(("edge", "node"), [(0.3, 0.9), (0.8, 0.2), (0.0, 0.6)])
def test_twins_share_a_key_as_often_as_both_codes_agree(edge, node):
    rng, rows = np.random.default_rng(0), 800
    x = np.concatenate([turned(rng, node, rows), np.zeros((1, 12), np.float32)])
    ends = np.stack([np.arange(4 * rows), np.full(4 * rows, 4 * rows)])
    graph = Graph.from_edges(ends, x=x, edge_attr=turned(rng, edge, rows))
    keys = keys_of(lsp(Both(edge=Signs(bits=3), node=Signs(bits=2)), k=16), graph, 16)
    expected = (1 - edge / np.pi) ** 3 * (1 - node / np.pi) ** 2
    assert (keys[:rows] == keys[rows : 2 * rows]).mean() == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("hash", PAIRS, ids=str)
def test_executors_and_threads_give_the_same_keys(hash):
    graph = coarse_graph(1)
    for weights in (None, "degree"):
        pruner = lsp(hash, weights=weights, attributes=ALL)
        expected = keys_of(pruner, graph, executor="reference")
        for threads in (1, 3):
            np.testing.assert_array_equal(keys_of(pruner, graph, threads=threads), expected)
        fits = [pruner.fit_graph(graph, runtime(n, name)) for n, name in ((1, "reference"), (1, "cpu"), (3, "cpu"))]
        assert fits[0] == fits[1] == fits[2]


def test_what_is_learned_is_what_each_family_learns_alone_in_any_order_of_edges():
    graph = coarse_graph()
    hash = Both(edge=Codebook(words=6), node=Codebook(words=9))
    fitted = lsp(hash).fit(graph)
    tables = both._unpacked(fitted.learned.array)
    for table, part, roles in zip(tables, (hash.edge, hash.node), (("edge",), ("neighbour",)), strict=True):
        np.testing.assert_array_equal(table, lsp(part, attributes=roles).fit(graph).learned.array)
    order = np.random.default_rng(0).permutation(graph.num_edges)
    shuffled = reordered(graph, order)
    assert lsp(hash).fit(shuffled) == fitted
    np.testing.assert_array_equal(keys_of(fitted, shuffled), keys_of(fitted, graph)[order])
    assert lsp(Both(edge=Signs(), node=Signs())).fit(graph).learned is None


def test_tables_of_any_shape_are_packed_and_unpacked():
    rng = np.random.default_rng(0)
    for shapes in (((70_000, 2), (3, 128)), ((0, 0), (5, 4)), ((5, 4), (0, 0)), ((0, 7), (1, 1))):
        tables = [rng.integers(-127, 128, shape).astype(np.int16) for shape in shapes]
        for table, back in zip(tables, both._unpacked(both._packed(tables)), strict=True):
            np.testing.assert_array_equal(back, table)
            assert back.dtype == np.int16


@pytest.mark.parametrize("hash", PAIRS, ids=str)
def test_a_saved_combination_is_the_same(hash, tmp_path):
    graph, other = coarse_graph(), coarse_graph(1)
    fitted = lsp(hash, attributes=ALL).fit(graph)
    fitted.save(tmp_path / "both.npz")
    back = load(tmp_path / "both.npz")
    assert back == fitted
    assert back.options.hash == hash
    np.testing.assert_array_equal(keys_of(back, other), keys_of(fitted, other))
    if hash.learns:  # what it has learned counts: it is not learned anew
        assert (keys_of(back, other) != keys_of(lsp(hash, attributes=ALL), other)).any()


def test_a_combination_is_plain_data():
    pruner = LSP(k=2, hash=Both(edge=Codebook(words=7), node=Signs(bits=3)))
    options = json.loads(json.dumps(pruner.to_dict()))
    assert options["hash"] == {
        "name": "both",
        "edge": {"name": "codebook", "words": 7, "iterations": 2, "exact": False},
        "node": {"name": "signs", "bits": 3},
    }
    assert from_dict(options) == pruner
    some = {"pruner": "lsp", "k": 2, "hash": {"name": "both", "node": {"name": "identity"}}}
    assert from_dict(some) == LSP(k=2, hash=Both(node=Identity()))
    assert from_dict({"pruner": "lsp", "k": 2, "hash": "both"}) == LSP(k=2, hash=family("both"))


def test_a_combination_has_a_short_form():
    spec = "both:edge=(signs:bits=2),node=(projection:l=0.5)"
    assert LSP(k=2, hash=spec).hash == Both(edge=Signs(bits=2), node=Projection(l=0.5))
    with pytest.raises(OptionError, match="bits is not an option of hash both; it has edge, node"):
        family("both:bits=3")


def synthetic_halves(noise: float) -> tuple[Graph, Graph, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Samples to prune, samples to fit on, and where the edges of the former come from."""
    made = Synthetic(samples=300, classes=5, min_nodes=20, max_nodes=24, node_noise_std=noise).make()
    half, nodes = int(made.edge_ptr[150]), int(made.ptr[150])
    first, rest = (
        Graph.from_edges(
            made.edge_index[:, edges] - start, x=made.x[rows], edge_attr=made.edge_attr[edges], ptr=ptr - start
        )
        for edges, rows, start, ptr in (
            (slice(None, half), slice(None, nodes), 0, made.ptr[:151]),
            (slice(half, None), slice(nodes, None), nodes, made.ptr[150:]),
        )
    )
    return first, rest, (made.edge_ptr[:151], made.y[:150], made.centre_edge[:half])


@pytest.mark.parametrize("hash", [Both(), Both(edge=Codebook(), node=Projection())], ids=str)
def test_the_synthetic_set_is_pruned_to_the_edge(hash):
    graph, rest, (edge_ptr, _, _) = synthetic_halves(0.25)
    mask = LSP(keep=0.3, hash=hash).fit(rest).mask(graph)
    kept = np.add.reduceat(mask.astype(int), edge_ptr[:-1])
    np.testing.assert_array_equal(kept, np.floor(0.3 * np.diff(edge_ptr) + 0.5))


def test_noisy_copies_keep_the_same_edges():
    graph, rest, truth = synthetic_halves(0.05)
    found = {
        hash: aligned_consistency(LSP(k=2, hash=hash, side="out", select="bottom").fit(rest).mask(graph), *truth)
        for hash in (Both(), Both(node=Projection()), Both(node=Signs(bits=12)))
    }
    codes, bins, fine = found.values()
    assert codes > 0.75 > 0.7 > bins > 0.55 > fine  # codes of nodes that are too fine: noise decides


@pytest.mark.parametrize(("power", "share"), [(1.0, 4 / 5), (0.0, 1 / 2)])
def test_the_chance_of_an_edge_is_in_proportion_to_its_weight(power, share):
    owners = 4000
    first, second = np.arange(owners) + owners, np.arange(owners) + 2 * owners
    source = np.concatenate([first, second, np.repeat(second, 3)])  # degrees 1 and 4
    target = np.concatenate([np.tile(np.arange(owners), 2), np.tile(np.arange(3) + 3 * owners, owners)])
    attr = np.random.default_rng(0).standard_normal((source.size, 3)).astype(np.float32)
    graph = Graph.from_edges(np.stack([source, target]), num_nodes=3 * owners + 3, edge_attr=attr)
    hash = Both(edge=Signs(), node=Identity())
    mask = LSP(k=1, hash=hash, attributes=("edge",), weights=Degree(power=power)).mask(graph)
    assert mask[:owners].mean() == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("sparsity", [None, 2])
def test_a_projection_without_bins_gets_bins_of_one_deviation(sparsity):
    rng, rows = np.random.default_rng(0), 3000
    x, ends = rng.standard_normal((rows, 8)).astype(np.float32), np.stack([np.arange(rows), np.full(rows, rows - 1)])
    graph = Graph.from_edges(ends, x=x, edge_attr=np.ones((rows, 1), np.float32))
    lengths, variances = [], []
    for seed in range(6):
        hash = Both(edge=Signs(bits=1), node=Projection(sparsity=sparsity))
        plain = keys_of(lsp(hash.node, attributes=("neighbour",), seed=seed), graph, 16)
        keys = keys_of(lsp(hash, seed=seed), graph, 16)
        for z in range(16):
            order = np.argsort(plain[:, z], kind="stable")
            changes = np.flatnonzero(np.diff(keys[order, z])) + 1
            assert np.unique(keys[:, z]).size == changes.size + 1  # no bin comes twice: bins are intervals
            lengths += np.diff(plain[order, z][changes]).tolist()
        variances += plain.var(0).tolist()
    assert len(lengths) > 100
    assert np.median(lengths) == pytest.approx(np.mean(variances) ** 0.5, rel=0.1)


@pytest.mark.filterwarnings("ignore::lsprune.ConstantWarning")
def test_constant_attributes_leave_the_choice_to_the_tie_rule():
    ends = np.random.default_rng(0).integers(0, 20, (2, 100))
    graph = Graph.from_edges(ends, x=np.ones((20, 4), np.float32), edge_attr=np.ones((100, 3), np.float32))
    for hash in (Both(), Both(edge=Projection(), node=Projection(sparsity=1))):
        np.testing.assert_array_equal(LSP(k=2, hash=hash).mask(graph), LSP(k=2).mask(graph))


@pytest.mark.parametrize(
    ("hash", "expected"),
    [(Both(), "cbd61f0db14a64ae"), (Both(edge=Signs(), node=Projection()), "e560a869a970401e")],
    ids=str,
)
def test_masks_never_change(hash, expected):
    mask = LSP(k=3, hash=hash).mask(golden_graph())
    assert hashlib.sha256(mask.astype(np.uint8).tobytes()).hexdigest()[:16] == expected


def test_seeds_give_different_functions():
    graph = coarse_graph()
    masks = [lsp(Both(edge=Signs(), node=Identity()), seed=seed).mask(graph) for seed in range(2)]
    assert (masks[0] != masks[1]).any()


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Both(edge="codebook"), r"edge must be a hash family such as Codebook\(\), got 'codebook'"),
        (lambda: Both(node=None), r"node must be a hash family such as Codebook\(\), got None"),
        (lambda: Both(node=Both()), "node must be a hash family with codes of its own, got Both"),
        (lambda: Both(edge=Auto()), "edge must be a hash family with codes of its own, got Auto"),
        (lambda: Both(edge=Identity()), r"edge must be a hash family that looks at attributes, got Identity\(\)"),
        (
            lambda: LSP(k=1, hash="both", attributes=("edge",)),
            r"attributes must be more than \('edge',\): hash both needs node attributes \(x\); to hash edges alone use",
        ),
        (
            lambda: LSP(k=1, hash=Both(node=Signs()), attributes=("owner", "neighbour")),
            r"attributes must be more than .*needs edge attributes \(edge_attr\); .*alone use hash=Signs\(bits=8\)",
        ),
        (lambda: LSP(keep=0.5, hash=Both(node=PaperThreshold(digest="affine"))), "k must be given with this hash"),
        (
            lambda: PaperLSP(k=1, hash=Both(node=Projection()), values="raw").mask(coarse_graph()),
            'l must be given for a Projection in Both with values="raw"',
        ),
        (lambda: from_dict({"pruner": "lsp", "k": 1, "hash": {"name": "both", "edge": {}}}), "hash must be one of"),
        (
            lambda: from_dict({"pruner": "lsp", "k": 1, "hash": {"name": "both", "edge": {"name": "signs", "l": 1}}}),
            "l is not an option of hash signs; it has bits",
        ),
    ],
)
def test_bad_options_are_named(build, says):
    with pytest.raises(OptionError, match=says):
        build()


@pytest.mark.parametrize("k", [1, 1000])  # with and without a choice to make
def test_a_graph_without_one_part_is_refused_and_the_way_out_is_named(k):
    nodes_only, edges_only = random_graph(0), random_graph(0, dim=0, edge_dim=3)
    pruner = LSP(k=k, hash=Both(edge=Signs(bits=4), node=Signs(bits=2)))
    with pytest.raises(GraphError, match=r"lacks .* edge attributes \(edge_attr\); .* use hash=Signs\(bits=2\)"):
        pruner.mask(nodes_only)
    with pytest.raises(GraphError, match=r"lacks .* node attributes \(x\); .* use hash=Signs\(bits=4\)"):
        pruner.mask(edges_only)
    with pytest.raises(GraphError, match="neither node attributes"):
        pruner.mask(random_graph(0, dim=0))
    with pytest.raises(GraphError, match="lacks"):
        LSP(k=k, hash="both").fit(nodes_only)
    fitted = pruner.fit(random_graph(0, edge_dim=3))
    with pytest.raises(GraphError, match="lacks"):
        fitted.mask(nodes_only)
    assert LSP(k=k, hash=Both(node=Identity())).mask(edges_only).any()  # the identity needs no attributes


def test_a_combination_that_learns_is_learned_by_fit_once(monkeypatch):
    graph, calls = coarse_graph(), []
    learn = Codebook.learn
    monkeypatch.setattr(Codebook, "learn", lambda self, view: calls.append(list(view.parts)) or learn(self, view))
    fitted = lsp(Both(), k=40).fit(graph)
    assert calls == [["edge"], ["neighbour"]]
    assert keys_of(fitted, graph).shape == (600, STEPS)
    fitted.mask(graph)
    assert len(calls) == 2


def test_what_a_part_needs_for_every_function_is_made_once(monkeypatch):
    calls, labels = [], structure.labels_of
    monkeypatch.setattr(structure, "labels_of", lambda *args: calls.append(1) or labels(*args))
    lsp(Both(edge=Signs(), node=Structure()), k=40).mask(random_graph(0, nodes=4, edges=300, edge_dim=2))
    assert len(calls) == 1
