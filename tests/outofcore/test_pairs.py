"""Symmetric masks from blocks of pairs on disk are those of memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune import LSP, Graph, LocalRandom
from lsprune.kernels import Runtime
from lsprune.outofcore import pairs
from lsprune.outofcore.pairs import PairBlocks, symmetric_taken
from lsprune.outofcore.work_folder import Work
from lsprune.selection.owners import group, neighbour_base_of_owner
from lsprune.selection.pairs import pair_up, symmetric_mask

FEW = settings(max_examples=8, deadline=None, derandomize=True)


def both_ways(seed: int, nodes: int = 20, edges: int = 150) -> Graph:
    """Edges with and without their reverse, some of them parallel."""
    rng = np.random.default_rng(seed)
    once = rng.integers(0, nodes, (2, edges))
    ends = np.concatenate([once, once[::-1][:, : edges // 2]], axis=1)
    ends = ends[:, ends[0] != ends[1]]
    return Graph.from_edges(ends, num_nodes=nodes, x=rng.standard_normal((nodes, 3)).astype(np.float32))


@pytest.mark.parametrize("mode", ["union", "intersection"])
@pytest.mark.parametrize("budget", [{"k": 2}, {"k": 0}, {"keep": 0.3}, {"keep": 0.9}, {"keep": 0.001}], ids=str)
@pytest.mark.parametrize("make", [LSP, LocalRandom])
@given(seed=st.integers(0, 999), slots=st.sampled_from([1, 7, 10**6]))
@FEW
def test_what_is_taken_is_what_memory_takes(tmp_path_factory, make, budget, mode, seed, slots):
    graph, run = both_ways(seed), Runtime()
    fitted = make(**budget, symmetric=mode).fit(graph)
    owned = group(graph, fitted.rules, run)
    source, base = fitted.key_source(graph, owned, run), neighbour_base_of_owner(graph, "in")
    expected = symmetric_mask(graph, fitted.rules, mode, owned, source, base, run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_BLOCK_SLOTS", slots)
        work = Work(tmp_path_factory.mktemp("pairs"))
        taken = symmetric_taken(graph, fitted.rules, mode, owned, source, work, run)
    np.testing.assert_array_equal(taken.astype(bool), expected.astype(bool))


@pytest.mark.parametrize("slots", [1, 13, 10**6])
def test_blocks_hold_both_slots_of_every_pair(tmp_path, monkeypatch, slots):
    monkeypatch.setattr(pairs, "_BLOCK_SLOTS", slots)
    graph, run = both_ways(3), Runtime()
    owned = group(graph, LSP(k=1), run)
    everybody = owned.owners(0, graph.num_nodes)
    blocks = PairBlocks.of(owned, graph.num_nodes, Work(tmp_path), run)
    seen = []
    for block, owner, neighbour in blocks:
        np.testing.assert_array_equal(everybody[block], owner)
        np.testing.assert_array_equal(owned.neighbour[block], neighbour)
        seen += block.tolist()
    assert sorted(seen) == list(range(graph.num_edges))
    count = sum(found.count for _, _, _, found in blocks.paired(None))
    assert count == pair_up(everybody, owned.neighbour, graph.num_nodes).count
