"""The paper's settings: the options that exist only to reproduce it."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, OptionError, Projection
from lsprune.hashing import PaperProjection, PaperThreshold
from lsprune.pruners import PaperLSP
from lsprune.selection.choose import TIES

GRAPH = random_graph(0, nodes=20, edges=200, edge_dim=3)


def test_presets_are_those_of_the_paper():
    for kind in "pt":
        paper, published = LSP.paper(kind, k=3), LSP.published(kind, k=3)
        for preset in (paper, published):
            assert isinstance(preset, PaperLSP)
            assert (preset.side, preset.values, preset.ties) == ("out", "raw", "position")
            assert preset.attributes == ("owner", "edge", "neighbour")
            assert not preset.replace and not preset.normalised
        assert (paper.self_loops, published.self_loops) == ("free", "edge")
    assert LSP.paper("p", k=3).hash == Projection(l=1.0)
    assert LSP.paper("t", k=3).hash == PaperThreshold(m=2**31 - 1, digest="md5", sparsity=None)
    assert LSP.published("p", k=3).hash == PaperProjection(l=1.0, offset="normal", sparsity=25)
    assert LSP.published("t", k=3, sparsity=8).hash == PaperThreshold(digest="affine", sparsity=8, mean=1.0)
    assert LSP.paper("p", k=3, seed=7).seed == LSP.published("t", k=3, seed=7).seed == 7


def test_without_its_options_it_is_lsp():
    np.testing.assert_array_equal(PaperLSP(k=2).mask(GRAPH), LSP(k=2).mask(GRAPH))
    assert PaperLSP(k=2) != LSP(k=2)
    assert repr(PaperLSP(k=2, ties="id")) == "PaperLSP(k=2, ties='id')"


def test_raw_values_are_not_centred():
    scales = dict(PaperLSP(k=2, values="raw").fit(GRAPH).scales)
    assert all(not any(scale.centre) and not scale.unit for scale in scales.values())
    assert all(scale.unit for scale in dict(PaperLSP(k=2).fit(GRAPH).scales).values())


def test_ties_are_ordered_as_asked():
    same = random_graph(0, nodes=20, edges=200, dim=0)
    source, target = same.ends()
    one_bin = Projection(l=1e6)
    graph = random_graph(0, nodes=20, edges=200)
    masks = {ties: PaperLSP(k=1, hash=one_bin, ties=ties, self_loops="edge").mask(graph) for ties in TIES}
    for owner in range(20):
        mine = np.flatnonzero(target == owner)
        if mine.size:
            assert np.flatnonzero(masks["position"] & (target == owner)).tolist() == [mine[0]]
            assert source[np.flatnonzero(masks["id"] & (target == owner))[0]] == source[mine].min()
    np.testing.assert_array_equal(masks["hash"], LSP(k=1, hash=one_bin, self_loops="edge").mask(graph))
    assert [PaperLSP(k=1, ties=ties).tie_rule for ties in TIES] == [0, 1, 2]


def test_with_replacement_an_owner_may_keep_fewer():
    with_it, without = (PaperLSP(k=6, replace=replace).mask(GRAPH) for replace in (True, False))
    assert with_it.sum() < without.sum()
    assert PaperLSP(k=6, replace=True).functions_needed(6) == 6
    assert not PaperLSP(k=6, replace=True).needs.key_table


def test_every_step_has_its_own_function_with_raw_values_and_k_or_with_replacement():
    for pruner in (LSP.paper("p", k=300), LSP.published("p", k=300, sparsity=3), PaperLSP(k=300, replace=True)):
        assert pruner.functions is None
    assert PaperLSP(keep=0.5, values="raw").functions == PaperLSP(k=300).functions == 256


def test_candidates_are_tried_with_ties_by_a_hash():
    trial = PaperLSP(keep=0.3, values="raw", ties="position").for_trials(2)
    assert trial == PaperLSP(k=2, values="raw", ties="hash")


def test_steps_with_replacement_are_limited():
    with pytest.raises(OptionError, match="k must be at most 65536 with replace=True, got 65537"):
        PaperLSP(k=2**16 + 1, replace=True)
    assert PaperLSP(k=2**16, replace=True).k == 2**16


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: PaperLSP(k=1, replace="no"), "replace must be True or False, got 'no'"),
        (lambda: PaperLSP(k=1, ties="random"), "ties must be one of 'hash', 'id', 'position', got 'random'"),
        (lambda: PaperLSP(k=1, values="log"), "values must be one of 'unit', 'raw', got 'log'"),
        (lambda: PaperLSP(keep=0.5, replace=True), "keep must be None with replace=True"),
        (lambda: PaperLSP(k=1, replace=True, select="bottom"), "replace must be False"),
        (lambda: LSP.paper("q", k=1), "kind must be one of 'p', 't', got 'q'"),
        (lambda: LSP.published("x", k=1), "kind must be one of 'p', 't', got 'x'"),
    ],
)
def test_bad_options_are_named(build, says):
    with pytest.raises(OptionError, match=says):
        build()
