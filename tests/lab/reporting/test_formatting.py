from __future__ import annotations

import math

import pytest

from lsprune.lab.reporting.formatting import difference, metric_label, per_cent, short, unit
from lsprune.lab.reporting.statistics import PairedDifference


def test_shares_have_three_digits():
    assert [per_cent(share) for share in (0.1, 0.12345, 1.0, 0.00123)] == ["10 %", "12.3 %", "100 %", "0.123 %"]
    assert per_cent(None, "none") == "none"


def test_differences_of_scores_are_in_points_and_those_of_errors_as_they_are():
    gain = PairedDifference(-0.0123, -0.02, 0.004, 0.5, 5)
    assert difference(gain, True) == "-1.23 [-2.00, +0.40]"
    assert difference(gain, True, 1) == "-1.2 [-2.0, +0.4]"
    assert difference(gain, False) == "-0.012 [-0.020, +0.004]"
    assert (unit("accuracy", True), unit("mae", False)) == ("points", "mae")


def test_a_single_run_has_no_interval():
    assert difference(PairedDifference(0.01, math.nan, math.nan, 1.0, 1), True) == "+1.00"


@pytest.mark.parametrize(("field", "start"), [("test", "Test"), ("val", "Validation"), ("test_max", "Test")])
def test_labels_of_metrics(field, start):
    assert metric_label("accuracy", field).startswith(f"{start} accuracy")
    assert metric_label("beauty", field).startswith(f"{start} beauty")


def test_six_digits_are_enough():
    assert short(1234567.0) == 1234570.0
    assert (short(math.inf), short(None), short(0.1)) == (None, None, 0.1)
