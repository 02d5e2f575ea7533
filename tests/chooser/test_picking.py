"""What is picked, and what is said of it, follows from the paired scores of the judged nodes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lsprune.chooser.candidates import BASELINE, NO_EDGES, UNPRUNED
from lsprune.chooser.metrics import ACCURACY, METRICS
from lsprune.chooser.picking import best_at, is_lossless, reason_for, table_row
from lsprune.chooser.scores import Scores


def scores(*values):
    return Scores(np.array(values, float), np.array(values, float))


def test_the_recommended_candidate_stays_unless_another_is_clearly_better():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 1, (3, 400))

    def results(gain):
        arrays = noise + np.array([[0.0], [0.0], [gain]])
        return {
            (name, 0.1): (Scores(row, row), 1, 0.0)
            for name, row in zip(("random", "ours", "other"), arrays, strict=True)
        }

    assert best_at(0.1, results(0.05), ["random", "ours", "other"]) == "ours"
    assert best_at(0.1, results(1.0), ["random", "ours", "other"]) == "other"


def test_nodes_that_are_predicted_right_decide_and_not_how_close_a_prediction_is():
    rng = np.random.default_rng(1)
    hits, far = (rng.random(400) < 0.5).astype(float), np.full(400, -1.0)
    results = {
        ("random", 0.1): (Scores(hits, far), 1, 0.0),
        ("ours", 0.1): (Scores(hits, far), 1, 0.0),
        ("closer", 0.1): (Scores(hits, far / 2), 1, 0.0),
    }
    assert best_at(0.1, results, ["random", "ours", "closer"]) == "ours"
    results["right", 0.1] = Scores(np.maximum(hits, rng.random(400) < 0.3), 2 * far), 1, 0.0
    assert best_at(0.1, results, ["random", "ours", "closer", "right"]) == "right"


def test_lossless_is_within_half_a_point_and_not_clearly_worse():
    whole = scores(*[1, 0] * 500)
    assert is_lossless(whole, whole, ACCURACY)
    assert is_lossless(scores(*[1, 0] * 498, 0, 0, 0, 1), whole, ACCURACY)
    assert not is_lossless(scores(*[1, 0] * 490, *[0, 0] * 10), whole, ACCURACY)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e4])
def test_a_lossless_error_is_at_most_one_per_cent_larger_in_any_unit(unit):
    errors = np.random.default_rng(0).random(1000)
    noise = np.random.default_rng(1).normal(0, 0.2, 1000)
    noise -= noise.mean()
    whole = scores(*-unit * errors)
    for larger, expected in ((0.0, True), (0.009, True), (0.011, False)):
        worse = scores(*-unit * (errors + noise + larger * errors.mean()))
        assert is_lossless(worse, whole, METRICS["numbers"]) == expected


def table(**means):
    rng = np.random.default_rng(0)
    draws = rng.random(500)
    names = {"base": (BASELINE, 0.1), "ours": ("ours", 0.1), "whole": (UNPRUNED, 1.0), "none": (NO_EDGES, 0.0)}
    return {names[key]: (scores(*(draws < mean)), 7, 0.5) for key, mean in means.items()}


def test_rows_are_paired_differences_to_the_baseline():
    results = table(base=0.5, ours=0.6, whole=0.9, none=0.2)
    row = table_row(("ours", 0.1), results)
    gain = results["ours", 0.1][0].hits - results[BASELINE, 0.1][0].hits
    assert row.gain == pytest.approx(gain.mean())
    assert (row.high - row.low) / 2 == pytest.approx(1.96 * gain.std(ddof=1) / math.sqrt(500))
    assert math.isnan(table_row((UNPRUNED, 1.0), results).gain) and row.edges == 7


def test_the_reason_says_if_others_score_higher():
    close = table(base=0.5, ours=0.6, whole=0.9, none=0.2)
    assert "not clearly better" in reason_for(BASELINE, 0.1, close, ACCURACY)
    assert "not clearly better" not in reason_for("ours", 0.1, close, ACCURACY)


def test_the_reason_names_what_matters():
    text = reason_for("ours", 0.1, table(base=0.5, ours=0.6, whole=0.9, none=0.2), ACCURACY)
    for words in ("ours at 10 %", "accuracy", "k random neighbours", "all edges", "no edges"):
        assert words in text
    assert "do not clearly help" not in text
    assert "do not clearly help" in reason_for("ours", 0.1, table(base=0.5, ours=0.6, whole=0.3, none=0.3), ACCURACY)


def test_errors_are_shown_as_errors():
    right = table(base=0.5, ours=0.6, whole=0.9, none=0.2)
    results = {key: (scores(*-row[0].hits), *row[1:]) for key, row in right.items()}
    text = reason_for("ours", 0.1, results, METRICS["numbers"])
    error, base = (f"{right[name, 0.1][0].hits.mean():.4g}" for name in ("ours", BASELINE))
    assert f"mean absolute error of the probe {error} (lower is better), k random neighbours {base}" in text
    assert "Candidates that have a lower error are not clearly better" in text and "-0." not in text
