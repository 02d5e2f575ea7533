"""Scores are shown in words: shares as they are, with gains in points, and errors in the unit of the labels."""

from __future__ import annotations

from lsprune.chooser.metrics import ACCURACY, METRICS, ROC_AUC, metric_of


def test_every_metric_is_found_by_its_name():
    for metric in (ROC_AUC, *METRICS.values()):
        assert metric_of(metric.name) is metric
    assert metric_of("") is ACCURACY


def test_scores_in_words():
    assert ACCURACY.of_probe(0.6881) == "accuracy of the probe 0.688"
    assert ROC_AUC.of_probe(0.7) == "ROC AUC of the probe 0.700"
    pairs = "share of node-label pairs that the probe predicts correctly: 0.740"
    assert METRICS["labels"].of_probe(0.74) == pairs
    assert METRICS["numbers"].of_probe(-0.977) == "mean absolute error of the probe 0.977 (lower is better)"
    assert METRICS["numbers"].of_probe(-1.5e6) == "mean absolute error of the probe 1.5e+06 (lower is better)"


def test_gains_are_in_points_or_in_the_unit_of_the_labels():
    assert (ACCURACY.gain(0.1429), ACCURACY.scaled(0.25), ACCURACY.head) == ("+14.29", 25, "score")
    error = METRICS["numbers"]
    assert (error.gain(0.1429), error.scaled(0.25), error.head) == ("+0.143", 0.25, "error")
    assert ACCURACY.about_gains == "gain over k random neighbours, points"
    assert error.about_gains == "error below that of k random neighbours, units of y"
