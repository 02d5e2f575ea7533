"""Scores of the judged nodes or graphs, and paired differences of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lsprune.graph import Array


@dataclass(frozen=True, eq=False)
class Scores:
    """How well the labels of each judged node (or graph) were predicted; larger is better.

    Args:
        hits: `[judged]`: 1 for the right class; the share of right labels; minus the error of a number. Of two classes,
            numbers whose mean is the ROC AUC: see `roc_auc_values`.
        closeness: `[judged]`: minus the squared distance of prediction and label, which is less noisy than hits.
    """

    hits: Array
    closeness: Array


def roc_auc_values(predicted: Array, positive: Array) -> Array:
    """Return a number for each node: their mean is the ROC AUC, and their variance is that of DeLong et al. (1988).

    The placement of a node is the share of the nodes of the other class that are on the right side of it. Its distance
    from the AUC, the mean of all placements of a class, is divided by the share of the node's own class.

    Args:
        predicted: larger for nodes that are more likely positive. positive: bool, both values occur.

    >>> values = roc_auc_values(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    >>> float(values.mean())
    0.75
    """
    placements = np.empty(predicted.shape[0])
    for own, sign in ((positive, 1), (~positive, -1)):
        others = np.sort(sign * predicted[~own])
        below, at_most = (np.searchsorted(others, sign * predicted[own], side) for side in ("left", "right"))
        placements[own] = (below + at_most) / (2 * others.shape[0])
    area = placements[positive].mean()
    shares = np.where(positive, positive.mean(), 1 - positive.mean())
    return np.asarray(area + (placements - area) / shares)


def paired_gain(values: Array, reference: Array) -> tuple[float, float]:
    """Return the mean of the paired differences and its standard error.

    >>> import numpy as np
    >>> paired_gain(np.array([1.0, 0.0, 1.0, 0.0]), np.zeros(4))[0]
    0.5
    """
    difference = values - reference
    return float(difference.mean()), float(difference.std(ddof=1) / math.sqrt(difference.shape[0]))
