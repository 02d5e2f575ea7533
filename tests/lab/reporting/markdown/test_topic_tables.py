from __future__ import annotations

import pytest
from lab_records import BOTH, comparison, comparison_maker, level, lsp

from lsprune.lab.reporting.comparison import Comparison
from lsprune.lab.reporting.markdown.syntax import Headings
from lsprune.lab.reporting.markdown.topic_tables import (
    auto_table,
    needed_table,
    point_table,
    shared_table,
    sides_table,
)

compare = pytest.fixture(comparison_maker)
NAME = "[cora](#compare-cora)"
METHODS = ("unpruned", "no-edges", "random", "local-random", "lsp-projection", "lsp-auto-hash", "lsp-auto")


def rows_of(make, comparison: Comparison) -> list[str]:
    return make([comparison], Headings([comparison]))


def test_the_calibrated_one_is_judged_up_to_a_half_and_by_enough_runs(compare):
    records = comparison(methods=METHODS, shares=(0.1, 0.5, 0.75))
    found = compare(records)
    rows = rows_of(auto_table, found)[2:]
    expected = [(method, rival) for method in ("lsp-auto", "lsp-auto-hash") for rival in ("random", "local-random")]
    assert [tuple(row.split(" | ")[1:3]) for row in rows] == expected
    gain = found.gain("lsp-auto", "random", found.budgets[0])
    assert gain is not None
    assert gain.verdict in rows[0]
    assert "10 %:" in rows[0]
    assert "50 %:" in rows[0]
    assert "75 %" not in rows[0]
    few = compare([record for record in records if record["run"]["seed"] < 2])
    assert rows_of(auto_table, few) == []


def test_one_share_shows_what_validation_chooses_and_the_range_of_all(compare):
    def val(method, share):
        return {"lsp-projection": 0.9, "lsp-auto-hash": 0.5}.get(method, 0.1)

    found = compare(comparison(methods=METHODS, shares=(0.25,), val=val))
    row = rows_of(point_table, found)[2]
    ours = [found.estimate(name, found.budgets[0]).mean for name in METHODS[4:]]
    assert f"lsp-projection {ours[0]:.3f}" in row
    assert f"{min(ours):.3f} to {max(ours):.3f}" in row
    gain = found.gain_over_unpruned("lsp-projection", found.budgets[0])
    pairs = [
        found.values("lsp-projection", found.budgets[0])[seed] - found.values("unpruned")[seed]
        for seed in range(gain.runs)
    ]
    assert abs(gain.difference - sum(pairs) / len(pairs)) < 1e-12


@BOTH
def test_shared_budgets_have_their_gains_over_budgets_for_each_relation(compare, mae):
    def test(method, share):
        return level(method.removeprefix("shared-"), share) + (0.03 if method.startswith("shared") else 0)

    methods = (*METHODS, "shared-lsp-projection", "shared-lsp-auto")
    found = compare(comparison(methods=methods, shares=(0.1, 0.5), test=test, mae=mae))
    rows = shared_table([found])[2:]
    pairs = [("shared-lsp-projection", "lsp-projection"), ("shared-lsp-auto", "lsp-auto")]
    assert [tuple(row.split(" | ")[1:3]) for row in rows] == pairs
    assert all("better" in row and "10 %: " in row and "50 %: " in row for row in rows)
    gain = found.gain("shared-lsp-auto", "lsp-auto", found.budgets[0])
    assert gain.difference == pytest.approx(0.03, abs=0.002)
    assert shared_table([compare(comparison(methods=METHODS))]) == []


# lsp loses 0.04 of what is cut and random 0.1: at 10 % it has 0.764, random 0.725 at 25 % and 0.775 at 75 %


@BOTH
def test_the_share_needed_is_the_smallest_that_has_what_random_has(compare, mae):
    found = compare(comparison(methods=METHODS, shares=(0.1, 0.25, 0.5, 0.75), mae=mae))
    table = rows_of(needed_table, found)
    said = "10 % for 25 %; 10 % for 50 %; 50 % for 75 %"
    ratio = (0.1 / 0.25 + 0.1 / 0.5 + 0.5 / 0.75) / 3
    assert table[2:] == [f"| {NAME} | lsp-auto | {said} | {ratio:.2f} |", f"| *mean* |  |  | {ratio:.2f} (1) |"]


def test_a_share_that_a_larger_one_falls_short_of_is_not_enough(compare):
    def score(method, share):
        return 0.6 if method == "lsp-auto" and share == 0.75 else level(method, share)

    found = compare(comparison(methods=METHODS, shares=(0.1, 0.25, 0.5, 0.75), test=score))
    (row,) = rows_of(needed_table, found)[2:-1]
    assert "100 % for 25 %; 100 % for 50 %; 100 % for 75 %" in row


def test_needed_shares_are_of_datasets_where_edges_matter(compare):
    def score(method, share):
        return 0.9 if method == "no-edges" else level(method, share)

    assert rows_of(needed_table, compare(comparison(methods=METHODS, test=score))) == []
    assert rows_of(needed_table, compare(comparison(methods=METHODS[:5]))) == []


@BOTH
def test_sides_are_compared_where_a_method_was_run_with_both(compare, mae):
    mine = lsp("mine", side="out")
    methods = ("unpruned", "random", "lsp-projection", mine, "first-out", "local-random-out", "lsp-projection-paper")

    def score(method, share):
        same = {"mine": "lsp-projection", "first-out": "first", "local-random-out": "local-random"}.get(method, method)
        return level(same, share) + (0.02 if method == "mine" else 0.0)

    found = compare(comparison(methods=methods, shares=(0.25, 0.75), test=score, mae=mae))
    one, other, third = rows_of(sides_table, found)[2:]  # first and local-random were not run
    at = found.gain("mine", "lsp-projection", found.budgets[0])
    assert at is not None
    assert at.verdict == "better"
    assert one.startswith(f"| {NAME} | mine | lsp-projection | 25 %: +{'0.020' if mae else '2.00'} [")
    assert "better; 75 %: +" in one
    assert other.startswith(f"| {NAME} | mine | local-random-out | 25 %: +{'0.050' if mae else '5.0'}")
    assert third.startswith(f"| {NAME} | first-out | local-random-out | 25 %: ")
    assert rows_of(sides_table, compare(comparison(methods=METHODS))) == []
