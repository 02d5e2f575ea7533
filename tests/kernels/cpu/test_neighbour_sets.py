from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphs import graphs
from lsprune.kernels import cpu, reference, runtime
from lsprune.selection.owners import by_owner

FEW = settings(max_examples=25, deadline=None, derandomize=True)


@given(graph=graphs(), width=st.integers(1, 20), seed=st.integers(0, 1000))
@FEW
def test_sets_are_compared_the_same(graph, width, seed):
    owned, nodes = by_owner(graph, "in", runtime(1)), graph.num_nodes
    table = np.random.default_rng(seed).integers(0, 5, (nodes, width)).astype(np.uint32)
    pairs = np.unique(owned.owners(0, nodes) * np.int64(nodes) + owned.neighbour)
    begins, members = np.searchsorted(pairs, np.arange(nodes + 1) * nodes), pairs % nodes
    results = []
    for module in (cpu, reference):
        rows, equal, common = (np.full((nodes, width), 7, np.uint32), *np.zeros((2, graph.num_edges), np.int32))
        for lo, hi in ((0, nodes // 2), (nodes // 2, nodes)):
            module.min_rows(owned.indptr, owned.neighbour, table, lo, hi, rows)
            module.count_equal(owned.indptr, owned.neighbour, table, lo, hi, equal)
            module.count_common(owned.indptr, owned.neighbour, begins, members, lo, hi, common)
        results.append((rows.tolist(), equal.tolist(), common.tolist()))
    assert results[0] == results[1]
