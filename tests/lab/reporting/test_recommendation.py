from __future__ import annotations

import pytest
from lab_records import comparison, comparison_maker

from lsprune.lab.reporting.recommendation import recommend
from lsprune.lab.reporting.statistics import paired_difference
from lsprune.lab.reporting.timing import timing_of

compared = pytest.fixture(comparison_maker, name="compared")


def falls(m: str, s: float) -> float:
    return 0.5 if m == "no-edges" else 0.8 if s >= 0.25 else 0.6


def test_the_smallest_lossless_share_is_recommended_in_words(compared):
    result = compared(comparison(test=falls))
    advice = recommend(result, timing_of(result))
    assert (advice.found, advice.method, advice.share) == (True, result.best_lsp, 0.25)
    assert advice.text == "Keep 25 %: ±0 points, 3.1× faster training"  # 1.1 / 0.35
    assert any("chosen on validation among 2 LSP methods" in line for line in advice.reasons)
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
    assert recommend(result, timing_of(result)).text == f"Keep 25 %: ±0 points, {says}"


def test_what_is_lost_has_a_sign_and_its_interval(compared):
    result = compared(comparison(test=lambda m, s: 0.796 if m.startswith("lsp") else falls(m, 1), jobs=3))
    advice = recommend(result, timing_of(result))
    assert advice.text == "Keep 10 %: −0.4 points"
    gain = paired_difference(result.values(advice.method, result.budgets[0]), result.values("unpruned"))
    low, high = (f"{100 * value:+.1f}".replace("-", "−") for value in (gain.low, gain.high))
    assert any(f"5 seeds, 95 % interval {low} to {high} points" in line for line in advice.reasons)
    assert any("smallest share measured" in line for line in advice.reasons)
    assert any("Speed is not known: up to 3 runs" in line for line in advice.reasons)


def test_errors_are_in_their_own_units(compared):
    result = compared(comparison(mae=True, test=lambda m, s: 0.796 if m.startswith("lsp") else falls(m, 1)))
    advice = recommend(result, timing_of(result))
    assert advice.text.startswith("Keep 10 %: +0.0040 MAE")
    assert any("plus 0.01" in line for line in advice.reasons)


def test_where_nothing_can_be_recommended_it_is_said(compared):
    for records, said in (
        (comparison(), "No share measured comes within half a point of the unpruned graph: at 50 % it is −2.0 points."),
        (comparison(methods=("unpruned", "random")), "No recommendation: no LSP method was run here."),
        (
            [one for one in comparison(methods=("unpruned", "random", "lsp-projection")) if one["run"]["keep"] != 0.5]
            + comparison(methods=("random",), shares=(0.5,)),
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
    assert advice.text.startswith("Keep 10 %: −2.") and advice.runs == 2
    assert any("The mean loss is more than half a point" in line for line in advice.reasons)


def test_one_run_is_said_to_be_one(compared):
    result = compared(comparison(test=falls, seeds=1))
    assert any("One run only" in line for line in recommend(result, timing_of(result)).reasons)
