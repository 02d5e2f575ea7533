"""Weisfeiler-Lehman labels: neighbours that look alike have the same key, whoever they are."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import view_of
from lsprune import LSP, Graph, OptionError
from lsprune.hashing import Structure
from lsprune.hashing.structure import labels_of


def labels(graph: Graph, rounds: int) -> list[int]:
    family = Structure(rounds=rounds)
    return labels_of(view_of(LSP(k=1, hash=family), graph), rounds).tolist()


def both(edges: list[tuple[int, int]], nodes: int) -> Graph:
    ends = np.array(edges + [(b, a) for a, b in edges]).T
    return Graph.from_edges(ends, num_nodes=nodes)


def test_more_rounds_see_further():
    # two paths 0-1-2-3-4-5-6 and a star at 7: the middle of a path is told from its ends step by step
    graph = both([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (7, 8), (7, 9), (7, 10)], 11)
    none, one, two = (labels(graph, rounds) for rounds in (0, 1, 2))
    assert len(set(none)) == 2  # bit lengths of degrees 1, and 2 and 3
    assert none[1] == none[3] == none[7]
    assert one[1] == one[5] != one[2] == one[3]  # 1 has an end beside it
    assert two[2] == two[4] != two[3]  # 2 has such a one beside it
    assert one[0] == one[6] and one[8] == one[9] == one[10]


def test_labels_do_not_depend_on_numbers_or_order():
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 30, (2, 120))
    graph = Graph.from_edges(ends, num_nodes=30)
    names = rng.permutation(30)
    order = rng.permutation(120)
    other = Graph.from_edges(names[ends][:, order], num_nodes=30)
    mine, theirs = labels(graph, 2), labels(other, 2)
    assert [theirs[names[v]] for v in range(30)] == mine


def test_it_works_between_two_kinds_of_nodes_and_without_attributes():
    rng = np.random.default_rng(0)
    ends = np.stack([rng.integers(0, 9, 50), rng.integers(0, 14, 50)])
    graph = Graph.from_edges(ends, num_nodes=(9, 14))
    for side in ("in", "out"):
        mask = LSP(k=2, hash="structure", side=side).mask(graph)
        degree = np.bincount(ends[1 if side == "in" else 0])
        assert mask.sum() == np.minimum(degree, 2).sum()


def test_bad_options_are_named():
    with pytest.raises(OptionError, match=r"rounds must be a whole number in \[0, 8\], got -1"):
        Structure(rounds=-1)
