"""What pruners declare that they need: how needs add up, and that what is declared is true."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from graphs import ALL_PRUNERS, name_of, random_graph
from lsprune import LSP, Graph, Timed
from lsprune.baselines import TopWeight
from lsprune.needs import SCOPES, Needs
from lsprune.pruners import PerOwner
from lsprune.time_rules import TimeRule

SINGLE_EDGES = [p for p in ALL_PRUNERS if isinstance(p, PerOwner) and p.needs.scope == "edge" and not p.symmetric]
FLAGS = ("owner", "neighbour", "edge", "degree", "owner_id", "carried", "position", "fit_edges", "own_type")


@pytest.mark.parametrize("flag", FLAGS)
def test_what_either_part_needs_both_together_need(flag):
    one = Needs(**{flag: True})
    for both in (one | Needs(), Needs() | one, one | one):
        assert getattr(both, flag)
        assert not any(getattr(both, other) for other in FLAGS if other != flag)
    assert not getattr(Needs() | Needs(), flag)


@pytest.mark.parametrize("name", ["key_table", "gpu"])
def test_keys_are_a_table_or_made_on_a_gpu_only_if_both_parts_allow_it(name):
    able, plain = Needs(**{name: True}), Needs()
    assert getattr(able | able, name)
    assert not getattr(able | plain, name) and not getattr(plain | able, name)


def test_the_wider_scope_wins_with_its_reason():
    needs = [Needs(scope=scope, reason=scope if scope != "edge" else "") for scope in SCOPES]
    for i, first in enumerate(needs):
        for j, second in enumerate(needs):
            both = first | second
            assert (both.scope, both.reason) == (SCOPES[max(i, j)], needs[max(i, j)].reason)
    first, second = (Needs(scope="graph", reason=reason) for reason in ("first", "second"))
    assert (first | second).reason == "first"


def test_memory_of_edges_adds_up_and_fits_follow_each_other():
    both = Needs(edge_bytes=100, fit_bytes=7) | Needs(edge_bytes=40, fit_bytes=30)
    assert (both.edge_bytes, both.fit_bytes) == (140, 37)


def test_rules_follow_each_other():
    first, second = (TimeRule(time="t", since=since) for since in (1, 2))
    assert (Needs(within=(first,)) | Needs(within=(second,))).within == (first, second)
    inner = TopWeight(k=2, column="w")
    timed = Timed(pruner=Timed(pruner=inner, time="t", since=2), time="t", since=1)
    assert timed.needs.within == (first, second) and timed.needs.edge_columns == ("t", "w")
    assert timed.among_allowed() is inner and inner.needs.within == ()
    assert timed.around(LSP(k=1)) == Timed(pruner=Timed(pruner=LSP(k=1), time="t", since=2), time="t", since=1)
    assert LSP(k=1).around(inner) is inner


def test_nothing_is_lost_when_needs_are_combined():
    able = {"key_table": True, "gpu": True}
    more = {"edge_bytes": 3, "fit_bytes": 5, "edge_columns": ("w",), "within": (TimeRule(time="t", until=3),)}
    full = Needs(**dict.fromkeys(FLAGS, True), **able, scope="graph", reason="all", **more)
    assert {f.name for f in dataclasses.fields(Needs)} == {
        *FLAGS, *able, *more, "scope", "reason",
    }  # fmt: skip
    both = Needs(edge_columns=("w", "t")) | Needs(edge_columns=("u", "w"))
    assert both.edge_columns == ("w", "t", "u")
    assert full | Needs(**able) == Needs(**able) | full == full


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        (Needs(), True),
        (Needs(neighbour=True, degree=True, position=True), True),
        (Needs(owner=True), False),
        (Needs(edge=True), False),
        (Needs(edge_columns=("w",)), False),
        (Needs(owner_id=True), False),
    ],
    ids=str,
)
def test_keys_by_neighbour_need_nothing_of_the_owner_or_the_edge(needs, expected):
    assert needs.by_neighbour == expected


def with_other_rows(graph: Graph, name: str) -> Graph:
    """The graph with other attributes in one place."""
    rng = np.random.default_rng(5)
    if name == "edge":
        return dataclasses.replace(graph, edge_attr=rng.permutation(graph.edge_attr))
    x = rng.permutation(graph.x_source)
    return dataclasses.replace(graph, **{"x_source" if name == "neighbour" else "x_target": x})


@pytest.mark.parametrize("name", ["owner", "neighbour", "edge"])
@pytest.mark.parametrize("pruner", SINGLE_EDGES, ids=name_of)
def test_attributes_that_are_not_needed_change_nothing(pruner, name):
    """A relation, so that owners and neighbours have attributes of their own."""
    plain = random_graph(4, nodes=15, edges=120, edge_dim=2)
    graph = Graph.from_edges(plain.ends(), num_nodes=(15, 15), x=(plain.x, plain.x.copy()), edge_attr=plain.edge_attr)
    fitted = pruner.fit(graph)
    role = name if pruner.side == "in" or name == "edge" else {"owner": "neighbour", "neighbour": "owner"}[name]
    changed = bool((fitted.mask(with_other_rows(graph, role)) != fitted.mask(graph)).any())
    assert getattr(fitted.needs, name) or not changed


def test_pruners_over_the_whole_graph_say_so():
    for pruner in ALL_PRUNERS:
        scope = pruner.needs.scope
        assert scope in SCOPES
        assert bool(pruner.needs.reason) == (scope != "edge")
        assert isinstance(pruner, PerOwner) == (scope != "graph")
    assert LSP(k=1, weights="jaccard").needs.edge_bytes > 0
