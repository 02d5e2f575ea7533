"""Edges by number that must stay, compared by what they are."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import GraphError, OptionError
from lsprune.pruners.protected_edges import ProtectedEdges


def test_numbers_and_marks_are_read_alike():
    for edges in ([3, 1, 3], np.array([1, 3]), (1, 3), np.array([3, 1], np.uint8)):
        assert ProtectedEdges.of(edges) == ProtectedEdges.of([1, 3])
    marks = ProtectedEdges.of([False, True, False, True, False])
    assert marks.numbers.tolist() == [1, 3] and marks.edges == 5
    assert repr(marks) == "<2 edges>"
    assert hash(ProtectedEdges.of([3, 1])) == hash(ProtectedEdges.of([1, 3]))


def test_they_are_marked_in_a_graph_that_has_them():
    assert ProtectedEdges.of([1, 3]).mask(5).tolist() == [False, True, False, True, False]
    assert not ProtectedEdges.of([]).mask(3).any()
    with pytest.raises(GraphError, match="protected must be a boolean array of the 3 edges, .* got number 3"):
        ProtectedEdges.of([1, 3]).mask(3)
    with pytest.raises(GraphError, match="got one of 2"):
        ProtectedEdges.of([True, False]).mask(3)


@pytest.mark.parametrize("edges", [[0.5], [-1], [[1], [2]], [[1], [2, 3]], {1}, "1", np.ma.array([1, 2], mask=[0, 1])])
def test_what_names_no_edges_is_refused(edges):
    with pytest.raises(OptionError, match="protected must be"):
        ProtectedEdges.of(edges)
