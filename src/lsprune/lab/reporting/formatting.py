"""Write numbers as text, the same way on every page and figure."""

from __future__ import annotations

import math

from lsprune.lab.reporting.statistics import PairedDifference

METRIC_NAMES = {"accuracy": "accuracy", "roc-auc": "ROC AUC", "micro-f1": "micro-F1", "mae": "MAE"}
METRIC_LABELS = {
    "accuracy": "Test accuracy",
    "roc-auc": "Test ROC AUC",
    "micro-f1": "Test micro-F1",
    "r2": "Test R²",
    "mae": "Test MAE, lower is better",
    "overlap": "Overlap of what two samples keep",
}


def metric_name(metric: str) -> str:
    """Return the name of a metric within a sentence.

    >>> metric_name("mae")
    'MAE'
    """
    return METRIC_NAMES.get(metric, metric)


def metric_label(metric: str, field: str = "test") -> str:
    """Return the name of a number on an axis.

    >>> metric_label("mae", "val")
    'Validation MAE, lower is better'
    """
    label = METRIC_LABELS.get(metric, f"Test {metric}")
    if field == "test_max":
        return f"{label}, best epoch by test (as in the paper)"
    return label if field == "test" else label.replace("Test", "Validation", 1)


def axis_label(metric: str, higher_is_better: bool, field: str = "test") -> str:
    """Return the name of a number on an axis, and which way is better.

    >>> axis_label("accuracy", True), axis_label("mae", False)
    ('Test accuracy (higher is better ↑)', 'Test MAE (lower is better ↓)')
    """
    label = metric_label(metric, field).replace(", lower is better", "")
    return f"{label} ({'higher is better ↑' if higher_is_better else 'lower is better ↓'})"


def per_cent(share: float | None, missing: str = "") -> str:
    """Return a share in three digits.

    >>> per_cent(0.2571)
    '25.7 %'
    """
    return missing if share is None else f"{100 * share:.3g} %"


def unit(metric: str, higher_is_better: bool) -> str:
    """Return the unit of differences: points of a score, or the error itself."""
    return "points" if higher_is_better else metric


def difference(gain: PairedDifference, higher_is_better: bool, digits: int | None = None) -> str:
    """Return a paired difference with its interval, in points of a score or in the unit of an error.

    >>> difference(PairedDifference(0.01, 0.005, 0.015, 0.1, 5), True)
    '+1.00 [+0.50, +1.50]'
    """
    scale, usual = (100, 2) if higher_is_better else (1, 3)
    places = usual if digits is None else digits
    mean, low, high = (f"{scale * value:+.{places}f}" for value in (gain.difference, gain.low, gain.high))
    return mean if gain.runs < 2 else f"{mean} [{low}, {high}]"


def short(value: float | None) -> float | None:
    """Return six significant digits, which keep a page small; None for what is not a number.

    >>> short(0.123456789), short(float("nan"))
    (0.123457, None)
    """
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")
