"""Scores of the judged nodes or graphs, and paired differences of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lsprune.graph import Array


@dataclass(frozen=True, eq=False)
class Scores:
    """How well the labels of each judged node (or graph) were predicted; larger is better.

    Args:
        hits: `[judged]`: 1 for the right class; the share of right labels; minus the error of a number.
        closeness: `[judged]`: minus the squared distance of prediction and label, which is less noisy than hits.
    """

    hits: Array
    closeness: Array


def paired_gain(values: Array, reference: Array) -> tuple[float, float]:
    """Return the mean of the paired differences and its standard error.

    >>> import numpy as np
    >>> paired_gain(np.array([1.0, 0.0, 1.0, 0.0]), np.zeros(4))[0]
    0.5
    """
    difference = values - reference
    return float(difference.mean()), float(difference.std(ddof=1) / math.sqrt(difference.shape[0]))
