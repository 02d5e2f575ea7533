"""Verdicts over all datasets: what counts, with which sign, and each dataset once."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_records import Method, comparison, level, save

from lsprune.lab.reporting.claims import (
    at_share,
    edges_matter,
    gain_over_chance,
    loss,
    shared_gains,
    side_gains,
)
from lsprune.lab.reporting.comparison import Comparison, read_studies

METHODS = ("unpruned", "no-edges", "local-random", "lsp-auto")


def read(folder: Path, **studies: list) -> list[Comparison]:
    for name, records in studies.items():
        save(records, folder / f"{name}.jsonl")
    return [comparison for study in read_studies([folder]) for comparison in study.comparisons]


def shifted(by: float):
    return lambda method, share: level(method, share) if method != "lsp-auto" else 0.8 + by


def flat(method: str, share: float) -> float:
    return 0.7


def test_edges_matter_where_the_whole_graph_is_clearly_better(tmp_path):
    found = edges_matter(read(tmp_path, a=[*comparison(), *comparison(dataset="cs", test=flat)]))
    assert {finding.name: finding.sign for finding in found.all} == {"cora": 1, "cs": 0}
    assert found.counts[1] == 1 and [finding.name for finding in found.of_sign(0)] == ["cs"]


@pytest.mark.parametrize(("shift", "sign"), [(0.02, 1), (-0.001, 1), (-0.0051, 0), (-0.05, -1)])
@pytest.mark.parametrize("mae", [False, True])
def test_a_loss_is_judged_by_the_tolerance(tmp_path, shift, sign, mae):
    shift *= 2 if mae else 1  # errors have twice the tolerance
    records = comparison(methods=METHODS, test=shifted(shift), mae=mae)
    (finding,) = loss(read(tmp_path, a=records), "lsp-auto", 0.5).all
    assert finding.sign == sign
    assert finding.gain.difference == pytest.approx(shift, abs=0.001)
    assert finding.in_points is not mae


def test_where_edges_do_not_matter_nothing_is_judged(tmp_path):
    made = read(tmp_path, a=comparison(methods=METHODS, test=flat))
    assert loss(made, "lsp-auto", 0.5).all == gain_over_chance(made, "lsp-auto", 0.5).all == []


def test_the_gain_over_chance_is_paired_at_the_same_share(tmp_path):
    (finding,) = gain_over_chance(read(tmp_path, a=comparison(methods=METHODS)), "lsp-auto", 0.1).all
    assert finding.gain.difference == pytest.approx(0.04 * 0.9, abs=0.001)
    assert finding.sign == 1


def test_a_dataset_counts_once_with_most_runs(tmp_path):
    few = comparison(methods=METHODS, test=shifted(-0.1), seeds=3)
    found = loss(read(tmp_path, a=few, b=comparison(methods=METHODS, test=shifted(0.0))), "lsp-auto", 0.5)
    assert [(finding.comparison.study, finding.sign) for finding in found.all] == [("b", 1)]


def test_two_runs_get_no_verdict(tmp_path):
    assert edges_matter(read(tmp_path, a=comparison(seeds=2))).all == []


def test_a_share_is_the_same_within_a_tenth_of_it(tmp_path):
    (made,) = read(tmp_path, a=comparison(shares=(0.1, 0.465, 0.54)))
    assert at_share(made, 0.5).keep == 0.465
    assert at_share(made, 0.1).keep == 0.1
    assert at_share(made, 0.25) is None


def test_the_median_and_the_range_are_of_scores_alone(tmp_path):
    records = [
        *comparison(dataset="a", methods=METHODS, test=shifted(-0.1)),
        *comparison(dataset="b", methods=METHODS, test=shifted(0.0)),
        *comparison(dataset="c", methods=METHODS, test=shifted(0.02)),
        *comparison(dataset="d", methods=METHODS, test=shifted(-0.3), mae=True),
    ]
    found = loss(read(tmp_path, a=records), "lsp-auto", 0.5)
    assert len(found.all) == 4
    assert found.range == pytest.approx((0.0, -0.1, 0.02), abs=0.001)
    assert edges_matter([]).range is None


def test_findings_are_compared_on_the_datasets_of_both(tmp_path):
    def better(method: str, share: float) -> float:
        return level(method, share) + (0.02 if method == "lsp-projection" else 0)

    methods = (*METHODS, "lsp-projection")
    records = [
        *comparison(dataset="a", methods=methods, test=better),
        *comparison(dataset="b", methods=methods, test=better),
        *comparison(dataset="c", methods=METHODS),
    ]
    made = read(tmp_path, a=records)
    ours, theirs = (gain_over_chance(made, name, 0.5) for name in ("lsp-projection", "lsp-auto"))
    ahead = ours.over(theirs)
    assert ahead is not None
    assert (ahead[0].mean, ahead[1]) == (pytest.approx(0.02, abs=0.001), 2)
    assert ours.over(edges_matter([])) is None


def test_shared_budgets_are_judged_without_those_that_are_told_what_a_relation_is_worth(tmp_path):
    shared = {"pruner": "shared-budget", "inner": "lsp"}
    told = Method("told", {**shared, "importance": [[["a", "to", "b"], 0.5]]})
    methods = ("unpruned", "no-edges", "local-random", "lsp-projection", "shared-lsp-projection")
    before = shared_gains(read(tmp_path, a=comparison(dataset="acm", methods=methods)))
    assert len(before.all) == 3
    assert len(shared_gains(read(tmp_path, a=comparison(dataset="acm", methods=(*methods, told)))).all) == 3


def test_sides_are_compared_with_the_same_method_on_the_other_side(tmp_path):
    def out(method: str, share: float) -> float:
        return level("lsp-auto", share) - 0.05 if method == "lsp-auto-out" else level(method, share)

    found = side_gains(read(tmp_path, a=comparison(methods=(*METHODS, "lsp-auto-out"), test=out)), "lsp-auto-out")
    assert found.counts == {-1: 3}
    assert side_gains(read(tmp_path, a=comparison(methods=METHODS)), "lsp-auto-out").all == []
