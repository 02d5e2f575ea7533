"""The paper's own families, against a second reading of its text and of its published runs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from graphs import random_graph, view_of
from lsprune import LSP, OptionError
from lsprune.hashing import PaperProjection, PaperThreshold, Projection, Threshold, paper
from lsprune.pruners import PaperLSP
from naive import algorithm_1, md5_key, projection_key, published_projection_key, published_threshold_key

HUGE = 2**31 - 1  # the largest k


@pytest.mark.parametrize("edge_dim", [0, 3])
@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(("kind", "key"), [("p", projection_key), ("t", md5_key)])
def test_paper_presets_are_algorithm_1(kind, key, replace, edge_dim):
    for seed in range(3):
        graph = random_graph(seed, nodes=9, edges=50, edge_dim=edge_dim)
        pruner = dataclasses.replace(LSP.paper(kind, k=3, seed=seed), replace=replace)
        np.testing.assert_array_equal(pruner.mask(graph), algorithm_1(graph, 3, key, seed=seed, replace=replace))


@pytest.mark.parametrize("edge_dim", [0, 3])
@pytest.mark.parametrize("kind", ["p", "t"])
def test_published_presets_are_what_the_runs_did(kind, edge_dim):
    key = published_projection_key if kind == "p" else published_threshold_key(3)
    for seed in range(3):
        graph = random_graph(seed, nodes=9, edges=50, edge_dim=edge_dim)
        mask = LSP.published(kind, k=3, sparsity=4, seed=seed).mask(graph)
        np.testing.assert_array_equal(mask, algorithm_1(graph, 3, key, seed=seed, loops=True))


def test_uniform_offsets_are_those_of_a_plain_projection():
    graph = random_graph(4, nodes=12, edges=200)
    plain, same, other = (
        LSP(k=3, hash=family).mask(graph)
        for family in (Projection(l=0.5), PaperProjection(l=0.5, offset="uniform"), PaperProjection(l=0.5))
    )
    np.testing.assert_array_equal(plain, same)
    assert (plain != other).any()


def test_a_projection_without_bins_has_no_offset():
    graph = random_graph(4, nodes=12, edges=200)
    np.testing.assert_array_equal(LSP(k=3, hash=PaperProjection()).mask(graph), LSP(k=3).mask(graph))


def test_md5_and_affine_digests_take_no_weights_and_say_what_they_need():
    graph = random_graph(0)
    for digest in ("md5", "affine"):
        family = PaperThreshold(digest=digest)
        assert not family.has_codes and Threshold().has_codes
        assert family.needs_k == (digest == "affine")
        assert family.needs.key_table == (digest == "affine")
        with pytest.raises(OptionError, match=rf"weights must be None with PaperThreshold\(.*digest='{digest}'"):
            LSP(k=1, hash=family, weights="degree").mask(graph)


def test_affine_keys_are_permutations_of_one_signature():
    graph = random_graph(3, nodes=10, edges=90)
    view = view_of(LSP(k=6, hash=PaperThreshold(digest="affine")), graph, 6)
    table = PaperThreshold(digest="affine").keys(view, 0, 6).table[:, :6]
    groups = [np.unique(column, return_inverse=True)[1] for column in table.T]
    _, first = np.unique(groups[0], return_index=True)
    for other in groups[1:]:  # equal in one function, equal in all
        assert len({*zip(groups[0].tolist(), other.tolist(), strict=True)}) == first.size == other.max() + 1
    assert table.min() >= 0 and table.max() < paper.PRIME


@pytest.mark.parametrize("fit_first", [True, False])
def test_a_signature_of_too_many_groups_is_refused(fit_first):
    graph = random_graph(3, nodes=10, edges=49)
    pruner = LSP(k=HUGE, hash=PaperThreshold(digest="affine"), select="bottom")
    with pytest.raises(OptionError, match=r"k must be at most 3355443 with this hash .*, got 2147483647"):
        (pruner.fit(graph) if fit_first else pruner).mask(graph, threads=1)


def test_the_limit_of_groups_counts_entries_and_changes_no_mask(monkeypatch):
    graph = random_graph(3, nodes=10, edges=90)
    pruners = {k: LSP(k=k, hash=PaperThreshold(digest="affine", sparsity=3), symmetric="union") for k in (4, 5, 40)}
    before = {k: pruner.mask(graph) for k, pruner in pruners.items()}
    monkeypatch.setattr(paper, "MAX_SHARED_ENTRIES", 4 * 3)
    np.testing.assert_array_equal(pruners[4].mask(graph), before[4])
    with pytest.raises(OptionError, match="k must be at most 4 with this hash"):
        pruners[5].mask(graph)
    monkeypatch.setattr(paper, "MAX_SHARED_ENTRIES", 20 * 3)  # more than any owner has edges
    np.testing.assert_array_equal(pruners[5].mask(graph), before[5])
    np.testing.assert_array_equal(pruners[40].mask(graph), before[40])


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: PaperProjection(offset="poisson"), "offset must be one of 'uniform', 'normal', got 'poisson'"),
        (lambda: PaperProjection(l=0), "l must be > 0 or None, got 0"),
        (lambda: PaperThreshold(digest="sha"), "digest must be one of 'md5', 'affine', got 'sha'"),
        (lambda: PaperThreshold(digest="mix"), "digest must be one of 'md5', 'affine', got 'mix'"),
        (lambda: LSP(keep=0.5, hash=PaperThreshold(digest="affine")), "k must be given with this hash"),
    ],
)
def test_bad_options_are_named(build, says):
    with pytest.raises(OptionError, match=says):
        build()


def test_extreme_thresholds_set_no_bit():
    graph = random_graph(5, nodes=12, edges=150)
    far, further = (
        PaperLSP(k=3, hash=PaperThreshold(sparsity=4, mean=mean), values="raw").mask(graph) for mean in (1e4, 1e5)
    )
    np.testing.assert_array_equal(far, further)
