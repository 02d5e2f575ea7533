"""The examples run and say what they claim."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

import shared_neighbours


def test_random_pruning_confuses_a_pair_once_in_36():
    assert shared_neighbours.exact_probability() == pytest.approx(1 / 36)
    assert shared_neighbours.simulated(1500) == pytest.approx(1 / 36, abs=0.009)  # 6,000 pairs: four standard errors


def test_consistent_pruning_never_does():
    wrong, seen = shared_neighbours.consistent()
    assert wrong == 0
    assert seen > 20
