from __future__ import annotations

import pytest
from lab_records import BOTH, comparison, comparison_maker

from lsprune.lab.reporting.recommendation import recommend
from lsprune.lab.reporting.statistics import paired_difference
from lsprune.lab.reporting.timing import timing_of

compared = pytest.fixture(comparison_maker, name="compared")


def falls(m: str, s: float) -> float:
    return 0.5 if m == "no-edges" else 0.8 if s >= 0.25 else 0.6


def test_the_smallest_lossless_share_is_recommended_in_words(compared):
    result = compared(comparison(test=falls))
    advice = recommend(result, timing_of(result))
    assert (advice.found, advice.method, advice.share) == (True, result.best_method, 0.25)
    assert advice.text == "Keep 25 % with lsp-projection: ±0 points, 3.1× faster training"  # 1.1 / 0.35
    assert any(f"chosen on validation among {len(result.methods)} methods" in line for line in advice.reasons)
    assert any("less half a point" in line for line in advice.reasons)


@pytest.mark.parametrize(
    ("seconds", "says"),
    [(1.0, "training takes as long"), (0.5, "2.0× faster training"), (1.25, "1.2× slower training")],
)
def test_speed_is_named_only_where_there_is_a_difference(compared, seconds, says):
    records = [
        {**one, "train_seconds_per_epoch": 1.02 if one["run"]["method"] == "unpruned" else seconds}
        for one in comparison(test=falls)
    ]
    result = compared(records)
    assert recommend(result, timing_of(result)).text == f"Keep 25 % with lsp-projection: ±0 points, {says}"


def test_what_is_lost_has_a_sign_and_its_interval(compared):
    result = compared(comparison(test=lambda m, s: 0.796 if m.startswith("lsp") else falls(m, 1), jobs=3))
    advice = recommend(result, timing_of(result))
    assert advice.text == "Keep 10 % with lsp-projection: −0.4 points"
    gain = paired_difference(result.values(advice.method, result.budgets[0]), result.values("unpruned"))
    low, high = (f"{100 * value:+.1f}".replace("-", "−") for value in (gain.low, gain.high))
    assert any(f"5 seeds, 95 % interval {low} to {high} points" in line for line in advice.reasons)
    assert any("smallest share measured" in line for line in advice.reasons)
    assert any("Speed is not known: up to 3 runs" in line for line in advice.reasons)


def test_errors_are_in_their_own_units(compared):
    result = compared(comparison(mae=True, test=lambda m, s: 0.796 if m.startswith("lsp") else falls(m, 1)))
    advice = recommend(result, timing_of(result))
    assert advice.text.startswith("Keep 10 % with lsp-projection: 0.0040 MAE higher (worse)")
    assert any("plus 0.01" in line for line in advice.reasons)
    assert any("MAE (lower is better)." in line for line in advice.reasons)


def test_a_smaller_error_is_better(compared):
    def gains(m: str, s: float) -> float:
        return 0.5 if m == "no-edges" else 0.82 if m.startswith("lsp") else 0.8

    records = comparison(mae=True, test=gains)
    for one in records:
        one["val"] = one["test"]
    result = compared(records)
    advice = recommend(result, timing_of(result))
    assert advice.text.startswith("Keep 10 % with lsp-projection: 0.0200 MAE lower (better), ")
    assert any("95 % interval −0.02" in line for line in advice.reasons)


def test_a_method_with_a_larger_error_is_worse(compared):
    result = compared(comparison(mae=True, test=lambda m, s: 0.8 if m == "unpruned" else 0.7))
    advice = recommend(result, timing_of(result))
    assert not advice.found and advice.text.endswith("at 50 % it is 0.1000 MAE higher (worse).")


def test_where_nothing_can_be_recommended_it_is_said(compared):
    for records, said in (
        (comparison(), "No share measured comes within half a point of the unpruned graph: at 50 % it is −2.0 points."),
        (comparison(methods=("unpruned", "no-edges")), "No recommendation: no method that prunes was run here."),
        (
            comparison(methods=("unpruned", "lsp-projection"), shares=(0.1, 0.25))
            + comparison(methods=("random",), shares=(0.25, 0.5)),
            "No recommendation yet: lsp-projection was not run at every share.",
        ),
        (
            comparison(methods=("random", "lsp-projection")),
            "No recommendation: there is no unpruned run to compare with.",
        ),
    ):
        result = compared(records)
        advice = recommend(result, timing_of(result))
        assert (advice.found, advice.text) == (False, said)


def test_a_loss_that_only_the_interval_forgives_is_said(compared):
    records = comparison(methods=("unpruned", "no-edges", "random", "lsp-projection"), seeds=2)
    for one in records:
        if one["run"]["method"] == "lsp-projection":
            one["test"] = 0.8 if one["run"]["seed"] else 0.76
    result = compared(records)
    advice = recommend(result, timing_of(result))
    assert advice.text.startswith("Keep 10 % with lsp-projection: −2.") and advice.runs == 2
    assert any("The mean loss is more than half a point" in line for line in advice.reasons)


def test_one_run_is_said_to_be_one(compared):
    result = compared(comparison(test=falls, seeds=1))
    assert any("One run only" in line for line in recommend(result, timing_of(result)).reasons)


def harmful(m: str, s: float) -> float:
    """No edges are best, and the fewer the better."""
    return 0.714 if m == "no-edges" else 0.533 if m == "unpruned" else 0.62 - 0.1 * s


def test_no_edges_are_recommended_where_edges_do_harm(compared):
    records = comparison(test=harmful)
    for one in records:
        one["val"] = one["test"]
    result = compared(records)
    advice = recommend(result, timing_of(result))
    assert (advice.found, advice.method, advice.share) == (True, "no-edges", 0.0)
    assert advice.text == "Keep no edge: +18.1 points against the unpruned graph"
    assert f"{result.best_method} at 10 %" in advice.reasons[0] and "against none" in advice.reasons[0]


def test_a_pruned_graph_that_is_clearly_better_than_no_edges_is_recommended(compared):
    result = compared(comparison(test=lambda m, s: 0.714 if m == "no-edges" else 0.533 if m == "unpruned" else 0.75))
    advice = recommend(result, timing_of(result))
    assert advice.method == result.best_method and advice.text.startswith("Keep ") and "+21.7 points" in advice.text
    assert advice.reasons[0] == "No edges at all are better than all of them: +18.1 points."
    assert "against no edges: clearly better" in advice.reasons[1]


def test_one_run_is_enough_to_doubt_the_edges(compared):
    result = compared(comparison(test=harmful, seeds=1))
    advice = recommend(result, timing_of(result))
    assert advice.method == "no-edges" and any("One run only" in line for line in advice.reasons)


@BOTH
def test_a_clear_loss_in_pairs_is_not_lossless(compared, mae):
    """The splits vary so much that the interval of the mean reaches the unpruned level; each loses 1.3 points."""

    def result(lost: float):
        records = comparison(test=lambda m, s: 0.5 if m == "no-edges" else 0.8 if s >= 0.5 else 0.8 - lost, mae=mae)
        for one in records:
            one["test"] += 0.03 * (one["run"]["seed"] % 2)
        return compared(records)

    lossy = result(0.013)
    assert lossy.lossless_share(lossy.best_method) == 0.1
    assert recommend(lossy, timing_of(lossy)).share == 0.5
    said = "At 10 % this holds too, but the differences in pairs show a clear loss below 50 %."
    assert said in recommend(lossy, timing_of(lossy)).reasons
    fine = result(0.003)
    assert recommend(fine, timing_of(fine)).share == 0.1


@BOTH
def test_no_edges_come_first_where_edges_hardly_matter(compared, mae):
    result = compared(comparison(test=lambda m, s: 0.8, mae=mae))
    advice = recommend(result, timing_of(result))
    assert (advice.found, advice.method, advice.share) == (True, "no-edges", 0.0)
    assert advice.text.startswith("Keep no edge: ±0 ") and "against the unpruned graph" in advice.text
    assert advice.reasons[0].startswith("Without any edge it is ±0 ") and "hardly help" in advice.reasons[0]


def test_edges_that_may_matter_are_kept_and_doubted(compared):
    records = comparison(test=lambda m, s: 0.8)
    for one in records:
        if one["run"]["method"] == "no-edges":
            one["test"] = 0.8 - 0.03 * (one["run"]["seed"] % 2)
    result = compared(records)
    assert result.topology_gain.verdict == "unclear"
    advice = recommend(result, timing_of(result))
    assert advice.method == result.best_method
    assert advice.reasons[0].startswith("Without any edge it is −1.2 points")


def test_the_best_method_of_any_kind_is_recommended(compared):
    def favours_random(m: str, s: float) -> float:
        return 0.5 if m == "no-edges" else 0.82 if m == "random" else 0.8

    records = comparison(test=favours_random)
    for one in records:
        one["val"] = one["test"]
    result = compared(records)
    advice = recommend(result, timing_of(result))
    assert advice.method == "random" and advice.method != result.best_lsp
    assert any(f"{result.best_lsp}, the best LSP method, is −2.0 points" in line for line in advice.reasons)


def test_an_interval_that_holds_a_loss_is_unclear(compared):
    records = comparison(methods=("unpruned", "no-edges", "random", "lsp-projection"), test=falls)
    for one in records:
        if one["run"]["method"] == "lsp-projection":
            one["test"], one["val"] = 0.8 - 0.017 * (one["run"]["seed"] % 2), 0.9
    result = compared(records)
    assert "points (unclear)" in recommend(result, timing_of(result)).text


@BOTH
def test_a_clear_loss_within_the_tolerance_is_said_to_be_clear(compared, mae):
    def test(m: str, s: float) -> float:
        return 0.5 if m == "no-edges" else 0.8 if m == "unpruned" else 0.8 - lost

    lost = 0.009 if mae else 0.004
    records = comparison(test=test, mae=mae)
    for one in records:
        if one["run"]["method"] == "lsp-projection":
            one["test"] += (1 if mae else -1) * 0.0025 * (one["run"]["seed"] % 2)
    result = compared(records)
    advice = recommend(result, timing_of(result))
    assert advice.method == "lsp-projection" and " (clearly worse), " in advice.text
