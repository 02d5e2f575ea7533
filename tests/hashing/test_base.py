"""What every hash family promises: like neighbourhoods keep like edges, functions differ, memory stays small."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest

from graphs import random_graph, view_of
from lsprune import LSP, Graph, Identity, Projection, Threshold
from lsprune.hashing import Auto, Bins, Both, Codebook, PaperThreshold, Signs, Structure
from lsprune.hashing.base import LEARN_BYTES, Family
from lsprune.numeric.weighted_sampling import LOG_KEY_UNIT


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


def test_functions_are_the_same_for_every_k():
    graph = random_graph(1, nodes=10, edges=200)
    masks = [LSP(k=k).mask(graph) for k in range(1, 30)]
    for fewer, more in zip(masks, masks[1:], strict=False):
        assert not (fewer & ~more).any()


def test_seeds_give_different_functions():
    graph = random_graph(0, nodes=20, edges=300)
    for hash in (Projection(), Threshold(), Identity()):
        assert (LSP(k=3, hash=hash, seed=1).mask(graph) != LSP(k=3, hash=hash, seed=2).mask(graph)).any()


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


@dataclass(frozen=True, kw_only=True)
class Least(Family):
    """A family that defines no more than it must."""

    name = "least"
    about = "nothing"
    size: int = 3

    def keys(self, view, first, count):
        raise NotImplementedError


def test_a_family_learns_nothing_and_takes_no_weights_unless_it_says_so():
    family = Least()
    assert not (family.learns or family.needs_k or family.has_codes or family.chosen_by_fit)
    assert family.needs_attributes
    assert family.log_unit(view_of(LSP(k=1), random_graph(0))) == 0
    assert family.uses(("owner", "edge")) == {"owner", "edge"}
    assert family.learned_problem(None, {}) == ""
    assert family.learned_problem(np.zeros(3, np.int16), {}) == "hash least learns nothing"
    with pytest.raises(NotImplementedError):
        family.learn(view_of(LSP(k=1), random_graph(0)))


def test_families_with_codes_take_weights_in_units_of_a_doubling():
    view = view_of(LSP(k=1), random_graph(0))
    for family in (Signs(), Threshold(), Identity(), Structure(), Codebook(), Both()):
        assert family.log_unit(view) == LOG_KEY_UNIT
    for family in (Bins(), Projection(l=1.0), PaperThreshold()):
        assert family.log_unit(view) == 0


def test_what_a_family_needs():
    assert Codebook().needs.fit_bytes == LEARN_BYTES and Codebook().needs.key_table
    assert Signs().needs.fit_bytes == 0
    assert Auto().needs.fit_edges and not Signs().needs.fit_edges
    assert not Both().needs.key_table
    assert Structure().needs.scope == "neighbourhood" and Structure().needs.reason


def test_plain_data_holds_the_name_and_every_option():
    assert Least(size=5).to_dict() == {"name": "least", "size": 5}
    assert Both(node=Signs(bits=3)).to_dict()["node"] == {"name": "signs", "bits": 3}
