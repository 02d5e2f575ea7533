"""The options that all pruners with a budget share."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from lsprune import LSP, Graph, LocalRandom, OptionError, Random
from lsprune.selection.rules import SelectionRules


@pytest.mark.parametrize("kind", [SelectionRules, LSP, Random])
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "exactly one of k .*, keep .* and budget .*, got none of them"),
        ({"k": 1, "keep": 0.5}, "got k=1 and keep=0.5"),
        ({"keep": 1.5}, r"keep must be in \(0, 1\], got 1.5; it is the share of edges to keep"),
        ({"keep": 2}, r"keep must be in \(0, 1\], got 2"),
        ({"keep": 0.0}, r"keep must be in \(0, 1\], got 0.0"),
        ({"keep": float("nan")}, "keep must be in"),
        ({"keep": True}, "keep must be in"),
        ({"keep": "half"}, "keep must be in"),
        ({"k": -1}, r"k must be a whole number in \[0, 2\^31\), got -1"),
        ({"k": 2.0}, "k must be a whole number .*, got 2.0"),
        ({"k": 2**63}, "k must be a whole number"),
        ({"k": True}, "k must be a whole number"),
        ({"k": 1, "side": "both"}, "side must be one of 'in', 'out', got 'both'"),
        ({"k": 1, "symmetric": "both"}, "symmetric must be one of None, 'union', 'intersection', got 'both'"),
        ({"k": 1, "self_loops": "add"}, "self_loops must be one of 'free', 'edge', 'drop', got 'add'"),
        ({"k": 1, "pooled": 1}, "pooled must be True or False, got 1"),
        ({"k": 1, "seed": 0.5}, "seed must be a whole number of at most 1024 bits, got 0.5"),
    ],
    ids=str,
)
def test_bad_options_are_named(kind, options, says):
    with pytest.raises(OptionError, match=says):
        kind(**options)


def test_numpy_scalars_become_plain_numbers():
    rules = SelectionRules(k=np.int64(2), seed=np.int32(3), pooled=np.bool_(False))
    assert rules == SelectionRules(k=2, seed=3)
    assert [type(value) for value in (rules.k, rules.seed, rules.pooled)] == [int, int, bool]
    assert type(SelectionRules(keep=np.float32(0.5)).keep) is float


def test_pairs_are_kept_together_where_asked_or_where_the_graph_is_undirected():
    directed = Graph.from_edges(np.array([[0], [1]]))
    undirected = dataclasses.replace(directed, undirected=True)
    relation = Graph.from_edges(np.array([[0], [0]]), num_nodes=(1, 1))
    plain, both = LocalRandom(k=1), LocalRandom(k=1, symmetric="intersection")
    assert [rules.symmetry(graph) for graph in (directed, undirected) for rules in (plain, both)] == [
        None, "intersection", "union", "intersection",
    ]  # fmt: skip
    assert plain.symmetry(relation) is None
    with pytest.raises(OptionError, match="symmetric must be None for a relation between two node types"):
        both.symmetry(relation)
