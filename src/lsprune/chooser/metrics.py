"""What the scores of a probe are, by the kind of labels, and how scores and gains are shown.

Scores are larger for better predictions, so that all of them are compared alike. Those of numbers are minus an error:
what is shown is the error itself, and gains are in the unit of the labels. All others are shares; gains are in points.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """What scores are.

    Args:
        name: what a score is, in `Choice.metric`. shown: what is shown of it. sentence: the same of one probe, with a
            place for the number.
        unit: of gains.
    """

    name: str
    shown: str
    sentence: str
    unit: str = "points"

    @property
    def is_error(self) -> bool:
        """Whether scores are minus an error."""
        return self.unit != "points"

    @property
    def head(self) -> str:
        """What a column of scores is called."""
        return "error" if self.is_error else "score"

    @property
    def is_better(self) -> str:
        """What a better candidate does."""
        return "have a lower error" if self.is_error else "score higher"

    @property
    def about_gains(self) -> str:
        """What a gain is."""
        return (
            f"error below that of k random neighbours, {self.unit}"
            if self.is_error
            else f"gain over k random neighbours, {self.unit}"
        )

    def score(self, value: float) -> str:
        """Return a score, or the error that it is minus, as text."""
        return f"{-value:.4g}" if self.is_error else f"{value:.3f}"

    def scaled(self, gain: float) -> float:
        """Return a difference of scores in the unit of gains."""
        return gain if self.is_error else 100 * gain

    def gain(self, value: float) -> str:
        """Return a difference of scores as text; what is larger than 0 is better."""
        return f"{value:+.3g}" if self.is_error else f"{100 * value:+.2f}"

    def of_probe(self, value: float) -> str:
        """Return a score in words.

        >>> METRICS["numbers"].of_probe(-0.977)
        'mean absolute error of the probe 0.977 (lower is better)'
        """
        return self.sentence.format(self.score(value))


ACCURACY, ROC_AUC = (Metric(name, name, name + " of the probe {}") for name in ("accuracy", "ROC AUC"))
_PAIRS = "share of node-label pairs that the probe predicts correctly"
_ERROR = "mean absolute error"
METRICS = {  # by the kind of labels
    "classes": ACCURACY,
    "labels": Metric("right labels", _PAIRS, _PAIRS + ": {}"),
    "numbers": Metric(f"minus the {_ERROR}", _ERROR, _ERROR + " of the probe {} (lower is better)", "units of y"),
}
_BY_NAME = {metric.name: metric for metric in (ROC_AUC, *METRICS.values())}


def metric_of(name: str) -> Metric:
    """Return the metric of this name; "" is that of a choice without labels, which has no scores."""
    return _BY_NAME.get(name, ACCURACY)
