"""One rule for times: bounds as exact numbers, and parts of the edges decided as all of them together."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lsprune import Graph, GraphError, OptionError
from lsprune.time_rules import TimeRule, moment_number

BIG = 2**60
RULES = [
    TimeRule(time="t", until=BIG + 9), TimeRule(time="t", since=BIG + 9), TimeRule(time="t", window=4),
    TimeRule(time="t", window=4, since=BIG + 5, side="out"), TimeRule(time="t", until="owner", window=6),
    TimeRule(time="t", until="owner", node_time="born", side="out"), TimeRule(time="t", until=BIG + 12, window=3),
]  # fmt: skip


def graph(*, edge_times: bool = True) -> Graph:
    rng = np.random.default_rng(0)
    nodes = {"t": rng.integers(0, 20, 15) + BIG, "born": rng.integers(0, 20, 15) + BIG}
    edges = {"t": rng.integers(0, 20, 120) + BIG} if edge_times else None
    return Graph.from_edges(rng.integers(0, 15, (2, 120)), num_nodes=15, edge_columns=edges, node_columns=nodes)


def part(whole: Graph, lo: int, hi: int) -> Graph:
    columns = {name: column[lo:hi] for name, column in (whole.edge_columns or {}).items()}
    nodes = {name: column[0] for name, column in whole.node_columns.items()}
    return Graph.from_edges(
        [end[lo:hi] for end in whole.ends()], num_nodes=15, edge_columns=columns or None, node_columns=nodes
    )


@pytest.mark.parametrize("edge_times", [True, False])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_parts_of_the_edges_are_decided_as_all_of_them_together(rule, edge_times):
    whole = graph(edge_times=edge_times)
    parts, latest = [part(whole, lo, lo + 17) for lo in range(0, 120, 17)], None
    if rule.by_latest:
        for one in parts:
            latest = rule.note_latest(one, latest)
    found = np.concatenate([rule.allowed(one, latest) for one in parts])
    np.testing.assert_array_equal(found, rule.allowed(whole))
    assert 0 < found.sum() < 120


def test_what_a_rule_looks_at_is_said():
    assert [rule.by_owner for rule in RULES] == [False, False, True, True, True, True, False]
    assert [rule.by_latest for rule in RULES] == [False, False, True, True, False, False, False]
    assert RULES[5].columns == ("t", "born") and RULES[4].columns == ("t",) and RULES[4].owner_time == "t"
    assert RULES[0].owner_time is None


def test_bounds_are_exact():
    assert TimeRule(time="t", until=BIG + 1, window=0.5).span(False) == (BIG + Fraction(1, 2), BIG + 1)
    assert TimeRule(time="t", until=9, since=7, window=5).span(False) == (7, 9)
    assert TimeRule(time="t", until="owner", since=7, window=5).span(False) == (7, None)
    assert TimeRule(time="t", since="1970-01-01", window="1h").span(True) == (0, None)
    assert TimeRule(time="t", window="1h").length(True) == 3600 * 10**9
    for rule in (TimeRule(time="t", until="1970-01-01"), TimeRule(time="t", since=3)):
        with pytest.raises(OptionError, match="since the times are"):
            rule.span(isinstance(rule.since, int))
    assert moment_number("until", "1970-01-01T00:00:01", True) == 10**9


def test_errors_name_the_place_of_a_time():
    holes = Graph.from_edges(np.array([[0, 1], [1, 0]]), edge_columns={"t": np.array([1.0, np.nan])})
    with pytest.raises(GraphError, match="time 't' must be finite, got nan in line 8: a time is missing"):
        TimeRule(time="t", until=3).allowed(holes, None, lambda place: f"line {place + 7}")
    dates = Graph.from_edges(np.array([[0, 1], [1, 0]]), edge_columns={"t": np.array(["NaT", "NaT"], "M8[s]")})
    with pytest.raises(GraphError, match=r"a date is missing \(NaT\) in row 5"):
        TimeRule(time="t", until="1970-01-01").allowed(dates, None, lambda place: f"row {place + 5}")
