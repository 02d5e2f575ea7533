"""LSP-P: keys are projections on random directions, cut into bins."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import keys_of, random_graph, view_of
from lsprune import LSP, Graph, OptionError, Projection
from lsprune.hashing.keys import spread_of
from lsprune.pruners import PaperLSP


def test_one_bin_leaves_everything_to_the_tie_rule():
    graph = random_graph(0, nodes=10, edges=80)
    by_id = PaperLSP(k=2, hash=Projection(l=1e6), ties="id").mask(graph)
    source, target = graph.ends()
    for u in range(10):
        mine = np.flatnonzero((target == u) & (source != u))
        smallest = sorted(mine, key=lambda e: (source[e], e))[:2]
        assert sorted(np.flatnonzero(by_id & (target == u) & (source != u))) == sorted(smallest)


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


def test_bins_are_intervals_of_the_projection_without_bins():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((500, 8)).astype(np.float32)
    graph = Graph.from_edges(np.stack([np.arange(500), np.full(500, 499)]), x=x)
    lsp = {"k": 5, "self_loops": "edge", "attributes": ("neighbour",)}
    plain, bins = (keys_of(LSP(hash=Projection(l=length), **lsp), graph) for length in (None, 0.5))
    for z in range(5):
        order = np.argsort(plain[:, z], kind="stable")
        assert (np.diff(bins[order, z]) >= 0).all()
        assert 3 < np.unique(bins[:, z]).size < 30


def test_the_owner_decides_nothing_without_bins():
    graph = random_graph(2, nodes=15, edges=150)
    both, alone = ("owner", "neighbour"), ("neighbour",)
    np.testing.assert_array_equal(LSP(k=2, attributes=both).mask(graph), LSP(k=2, attributes=alone).mask(graph))
    binned = [LSP(k=2, hash=Projection(l=0.3), attributes=parts).mask(graph) for parts in (both, alone)]
    assert (binned[0] != binned[1]).any()
    assert Projection().uses(both) == {"neighbour"} and Projection(l=0.3).uses(both) == {"owner", "neighbour"}


def test_half_the_weight_counts_one_standard_deviation_where_there_are_no_bins():
    view = view_of(LSP(k=1), random_graph(0))
    assert Projection().log_unit(view) == spread_of(view) > 1
    assert Projection(l=1.0).log_unit(view) == 0
    raw = view_of(PaperLSP(k=1, values="raw"), random_graph(0))
    assert Projection().log_unit(raw) == 0


def test_bins_for_codes_are_one_standard_deviation_long():
    view = view_of(LSP(k=1, attributes=("neighbour",)), random_graph(0, nodes=400, edges=900))
    given = Projection(l=0.25)
    assert given.with_codes(view) is given
    coded = Projection().with_codes(view)
    deviation = keys_of(LSP(k=16, self_loops="edge"), random_graph(0, nodes=400, edges=900), 16).std(0).mean()
    scale = view.scales["neighbour"]
    assert coded.l * 2.0 ** (scale.exponent + 5) == pytest.approx(deviation, rel=0.25)
    with pytest.raises(OptionError, match='l must be given for a Projection in Both with values="raw"'):
        Projection().with_codes(view_of(PaperLSP(k=1, values="raw"), random_graph(0)))


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Projection(l=0), "l must be > 0 or None, got 0"),
        (lambda: Projection(l=float("nan")), "l must be > 0 or None, got nan"),
        (lambda: Projection(sparsity=0), r"sparsity must be a whole number in \[1, 1048576\] or None, got 0"),
        (lambda: LSP(k=1, hash=Projection(l=1e-9)).mask(random_graph(0)), r"l must be in \[.*, got 1e-09"),
        (lambda: LSP(k=1, hash=Projection(l=1e30)).mask(random_graph(0)), r"l must be in \[.*, got 1e\+30"),
    ],
)
def test_bad_options_are_named(build, says):
    with pytest.raises(OptionError, match=says):
        build()
