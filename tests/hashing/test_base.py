"""The families: what their keys are, against a second reading of the paper, and what they are for."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from graphs import random_graph
from lsprune import FAMILIES, LSP, Graph, Identity, OptionError, Projection, Threshold
from lsprune.hashing import (
    Bins,
    Both,
    Codebook,
    PaperProjection,
    PaperThreshold,
    Signs,
    Structure,
    family,
    family_from,
    threshold,
)
from lsprune.pruners import PaperLSP
from naive import algorithm_1, md5_key, projection_key, published_projection_key, published_threshold_key


@pytest.mark.parametrize("edge_dim", [0, 3])
@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(("kind", "key"), [("p", projection_key), ("t", md5_key)])
def test_paper_presets_are_algorithm_1(kind, key, replace, edge_dim):
    import dataclasses

    for seed in range(3):
        graph = random_graph(seed, nodes=9, edges=50, edge_dim=edge_dim)
        pruner = dataclasses.replace(LSP.paper(kind, k=3, seed=seed), replace=replace)
        np.testing.assert_array_equal(pruner.mask(graph), algorithm_1(graph, 3, key, seed=seed, replace=replace))


def similar_pairs(noise: float, seed: int = 0):
    """Two owners for each of 300 neighbourhoods: the second sees the same 24 attribute vectors with noise."""
    rng = np.random.default_rng(seed)
    groups, degree, dim = 300, 24, 16
    x = rng.standard_normal((groups * degree, dim))
    twin = x + noise * rng.standard_normal(x.shape)
    owners = np.zeros((2 * groups, dim))
    members = np.arange(groups * degree)
    first = np.stack([members, 2 * groups * degree + members // degree])
    second = np.stack([members + groups * degree, 2 * groups * degree + groups + members // degree])
    return Graph.from_edges(
        np.concatenate([first, second], axis=1), x=np.concatenate([x, twin, owners])
    ), groups * degree


def overlap(pruner, noise: float) -> float:
    """Share of the kept edges that both owners of a neighbourhood keep."""
    graph, half = similar_pairs(noise)
    mask = pruner.mask(graph)
    return float((mask[:half] & mask[half:]).sum() / mask[:half].sum())


@pytest.mark.parametrize("hash", [Projection(), Projection(l=0.5), Threshold(sparsity=6)], ids=str)
def test_similar_neighbourhoods_keep_similar_edges(hash):
    chance = 4 / 24
    assert overlap(LSP(k=4, hash=hash), noise=0.05) > (0.6 if isinstance(hash, Projection) else 0.3)
    assert overlap(LSP(k=4, hash=hash), noise=0.3) > chance + 0.05
    assert abs(overlap(LSP(k=4, hash=hash), noise=100.0) - chance) < 0.06


def test_identity_keeps_the_same_neighbours_everywhere():
    rng = np.random.default_rng(0)
    shared = rng.choice(50, 20, replace=False)
    edges = np.stack([np.tile(shared, 4), np.repeat(np.arange(50, 54), 20)])
    mask = LSP(k=5, hash=Identity()).mask(edges).reshape(4, 20)
    assert (mask == mask[0]).all()
    assert mask[0].sum() == 5


def test_one_bin_leaves_everything_to_the_tie_rule():
    graph = random_graph(0, nodes=10, edges=80)
    by_id = PaperLSP(k=2, hash=Projection(l=1e6), ties="id").mask(graph)
    source, target = graph.ends()
    for u in range(10):
        mine = np.flatnonzero((target == u) & (source != u))
        smallest = sorted(mine, key=lambda e: (source[e], e))[:2]
        assert sorted(np.flatnonzero(by_id & (target == u) & (source != u))) == sorted(smallest)


def test_functions_are_the_same_for_every_k():
    graph = random_graph(1, nodes=10, edges=200)
    masks = [LSP(k=k).mask(graph) for k in range(1, 30)]
    for fewer, more in zip(masks, masks[1:], strict=False):
        assert not (fewer & ~more).any()


def test_sparsity_looks_at_few_entries():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 30, (2, 300))
    x = rng.standard_normal((30, 40)).astype(np.float32)
    pruner = PaperLSP(k=1, hash=Projection(sparsity=1), values="raw").fit(Graph.from_edges(edges, x=x))
    base = pruner.mask(Graph.from_edges(edges, x=x))
    changed = []
    for j in range(40):
        other = x.copy()
        other[:, j] = rng.permutation(other[:, j])
        changed.append((pruner.mask(Graph.from_edges(edges, x=other)) != base).any())
    assert sum(changed) == 1


@pytest.mark.parametrize("edge_dim", [0, 3])
@pytest.mark.parametrize("kind", ["p", "t"])
def test_published_presets_are_what_the_runs_did(kind, edge_dim):
    key = published_projection_key if kind == "p" else published_threshold_key(3)
    for seed in range(3):
        graph = random_graph(seed, nodes=9, edges=50, edge_dim=edge_dim)
        mask = LSP.published(kind, k=3, sparsity=4, seed=seed).mask(graph)
        np.testing.assert_array_equal(mask, algorithm_1(graph, 3, key, seed=seed, loops=True))


def test_seeds_give_different_functions():
    graph = random_graph(0, nodes=20, edges=300)
    for hash in (Projection(), Threshold(), Identity()):
        assert (LSP(k=3, hash=hash, seed=1).mask(graph) != LSP(k=3, hash=hash, seed=2).mask(graph)).any()


@pytest.mark.parametrize("name", FAMILIES)
def test_registry_names(name):
    assert family(name) == FAMILIES[name]()
    assert LSP(k=1, hash=name).hash == FAMILIES[name]()
    assert family_from(FAMILIES[name]().to_dict()) == FAMILIES[name]()
    assert FAMILIES[name].about


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Projection(l=0), "l must be > 0 or None, got 0"),
        (lambda: Projection(l=float("nan")), "l must be > 0 or None, got nan"),
        (lambda: PaperProjection(offset="poisson"), 'offset must be "uniform" or "normal"'),
        (lambda: Projection(sparsity=0), r"sparsity must be a whole number in \[1, 1048576\] or None, got 0"),
        (lambda: Threshold(m=0), r"m must be a whole number in \[1, 2\^63\), got 0"),
        (lambda: PaperThreshold(digest="sha"), 'digest must be "mix", "md5" or "affine"'),
        (lambda: Threshold(sparsity=True), "sparsity must be a whole number"),
        (lambda: Threshold(mean=float("inf")), r"mean must be a number in \(-2\^20, 2\^20\), got inf"),
        (
            lambda: family("simhash"),
            "hash must be one of projection, threshold, codebook, .* structure, both, auto, got 'simhash'",
        ),
        (lambda: LSP(k=1, hash=Projection(l=1e-9)).mask(random_graph(0)), "l must be in "),
    ],
)
def test_bad_options_are_named(build, says):
    with pytest.raises(OptionError, match=says):
        build()


HUGE = 2**31 - 1  # the largest k


@pytest.mark.parametrize("options", [{}, {"symmetric": "union"}, {"symmetric": "intersection"}], ids=str)
@pytest.mark.parametrize(
    "family",
    [
        PaperThreshold(digest="affine"),
        PaperThreshold(digest="affine", sparsity=None),
        Both(edge=Signs(), node=PaperThreshold(digest="affine")),
        Threshold(),
        PaperThreshold(digest="md5"),
        Projection(),
        Signs(),
        Bins(),
        Codebook(),
        Identity(),
        Structure(),
    ],
    ids=repr,
)
def test_memory_does_not_grow_with_k(family, options):
    graph = random_graph(3, nodes=10, edges=49, edge_dim=2)
    pruner = LSP(k=HUGE, hash=family, attributes=("owner", "edge", "neighbour"), **options).fit(graph)
    tracemalloc.start()
    try:
        assert pruner.mask(graph, threads=1).all()
        assert "taken at step" in str(pruner.explain(graph, 3, threads=1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20


def test_a_signature_of_too_many_groups_is_refused():
    graph = random_graph(3, nodes=10, edges=49)
    pruner = LSP(k=HUGE, hash=PaperThreshold(digest="affine"), select="bottom")
    with pytest.raises(OptionError, match=r"k must be at most 3355443 with this hash .*, got 2147483647"):
        pruner.mask(graph, threads=1)


def test_the_limit_of_groups_counts_entries_and_changes_no_mask(monkeypatch):
    graph = random_graph(3, nodes=10, edges=90)
    pruners = {k: LSP(k=k, hash=PaperThreshold(digest="affine", sparsity=3), symmetric="union") for k in (4, 5, 40)}
    before = {k: pruner.mask(graph) for k, pruner in pruners.items()}
    monkeypatch.setattr(threshold, "MOST_ENTRIES", 4 * 3)
    np.testing.assert_array_equal(pruners[4].mask(graph), before[4])
    with pytest.raises(OptionError, match="k must be at most 4 with this hash"):
        pruners[5].mask(graph)
    monkeypatch.setattr(threshold, "MOST_ENTRIES", 20 * 3)  # more than any owner has edges
    np.testing.assert_array_equal(pruners[5].mask(graph), before[5])
    np.testing.assert_array_equal(pruners[40].mask(graph), before[40])
