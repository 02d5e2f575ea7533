"""A paired gain is the mean difference and its standard error, of areas under ROC curves too."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune.chooser.scores import paired_gain, roc_auc_values


def test_pairs_matter_and_their_order_does_not():
    rng = np.random.default_rng(0)
    first = rng.normal(size=300)
    second = first + rng.normal(0.1, 0.01, 300)
    mean, error = paired_gain(second, first)
    assert mean == pytest.approx((second - first).mean()) and error < 0.001  # much less than the spread of the values
    order = rng.permutation(300)
    assert paired_gain(second[order], first[order]) == pytest.approx((mean, error))
    assert paired_gain(second, first[::-1])[1] > 0.05


def area(predicted, positive):
    """The ROC AUC by its definition: the share of pairs in the right order; ties count half."""
    difference = predicted[positive][:, None] - predicted[~positive][None]
    return (np.sign(difference).mean() + 1) / 2


@pytest.mark.parametrize("rare", [0.5, 0.1])
def test_the_mean_is_the_roc_auc_with_ties_too(rare):
    rng = np.random.default_rng(0)
    positive = rng.random(200) < rare
    for predicted in (rng.normal(size=200) + positive, rng.integers(0, 4, 200) + positive, np.zeros(200)):
        values = roc_auc_values(predicted, positive)
        assert values.mean() == pytest.approx(area(predicted, positive))
        assert roc_auc_values(-predicted, ~positive).mean() == pytest.approx(values.mean())


def test_the_standard_error_of_a_difference_of_areas_is_right():
    rng, found, errors = np.random.default_rng(1), [], []
    for _ in range(300):
        positive = rng.random(250) < 0.2
        shared = rng.normal(size=250) + positive
        first, second = (shared + noise * rng.normal(size=250) for noise in (0.5, 1.0))
        gain, error = paired_gain(roc_auc_values(first, positive), roc_auc_values(second, positive))
        found.append(gain)
        errors.append(error)
    assert np.mean(errors) == pytest.approx(np.std(found), rel=0.12)
