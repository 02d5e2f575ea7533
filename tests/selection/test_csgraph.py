"""scipy's graph routines get the indices that every version of scipy takes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph as theirs

from lsprune import Graph, GraphError
from lsprune.baselines import EffectiveResistance, SpanningForest
from lsprune.measure import quadratic_error, structure
from lsprune.pruners import LSP
from lsprune.pruners.guarded import Guarded
from lsprune.selection import csgraph


@pytest.fixture
def narrow_only(monkeypatch):
    """The routines as in scipy 1.11, which take indices of 32 bits alone; the names of those that were called."""
    called = set()

    def strict(name, routine):
        def checked(matrix, *args, **options):
            assert matrix.tocsr().indices.dtype == matrix.tocsr().indptr.dtype == np.int32, name
            called.add(name)
            return routine(matrix, *args, **options)

        return checked

    for name in ("connected_components", "minimum_spanning_tree"):
        monkeypatch.setattr(theirs, name, strict(name, getattr(theirs, name)))
    return called


GRAPH = Graph.from_edges(np.random.default_rng(0).integers(0, 40, (2, 80)))


@pytest.mark.parametrize(
    ("work", "routine"),
    [
        (lambda: SpanningForest(keep=0.5).mask(GRAPH), "minimum_spanning_tree"),
        (
            lambda: Guarded(pruner=LSP(keep=0.5, hash="identity"), keep_connected=True).mask(GRAPH),
            "minimum_spanning_tree",
        ),
        (lambda: EffectiveResistance(keep=0.5).mask(GRAPH), "connected_components"),
        (lambda: structure(GRAPH), "connected_components"),
        (lambda: quadratic_error(GRAPH, np.ones(80, bool)), "connected_components"),
    ],
    ids=["forest", "guarded", "resistance", "structure", "spectral"],
)
def test_every_caller_passes_short_indices(narrow_only, work, routine):
    work()
    assert routine in narrow_only


def test_components_and_forests_are_those_of_the_graph():
    low, high = np.array([0, 1, 0, 4]), np.array([1, 2, 2, 5])
    matrix = sparse.coo_array((np.array([3.0, 1, 2, 4]), (low, high)), shape=(6, 6))
    count, label = csgraph.components(matrix)
    assert count == 3
    assert label[0] == label[1] == label[2] and label[4] == label[5] and len({*label.tolist()}) == 3
    assert sorted(csgraph.minimum_forest(matrix).tolist()) == [1, 2, 4]
    assert csgraph.components(sparse.coo_array((0, 0)))[0] == 0


def test_more_than_short_indices_can_count_is_refused(monkeypatch):
    monkeypatch.setattr(csgraph, "MAX_ENTRIES", 39)
    with pytest.raises(GraphError, match="at most 39 nodes and as many links .* got 40 nodes"):
        structure(GRAPH)
