"""The generated graph: both directions, no self-loops, hubs, the same every time."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch_geometric")

from lsprune.lab.datasets.power_law import PowerLaw  # noqa: E402


def test_edges_have_their_reverse_and_no_end_twice():
    ends = PowerLaw(nodes=50, edges=1_000).edge_index()
    assert ends.shape == (2, 1_000)
    assert (ends[0] != ends[1]).all()
    assert sorted(zip(*ends, strict=True)) == sorted(zip(*ends[::-1], strict=True))


def test_some_nodes_have_many_more_edges_than_most():
    degrees = np.bincount(PowerLaw(nodes=20_000, edges=200_000).edge_index()[1], minlength=20_000)
    assert degrees.max() > 8 * degrees.mean()  # 8 is far from what 200,000 uniform edges reach
    assert np.argmax(degrees) > 100  # ids do not tell degrees


def test_it_is_a_dataset_that_does_not_change():
    one, two = (PowerLaw(nodes=100, edges=400, columns=3, classes=4).make() for _ in range(2))
    assert one.single and one.num_features == 3 and one.num_classes == 4
    for key, value in one.train.to_dict().items():
        assert (two.train[key] == value).all(), key
    masks = [one.train[f"{part}_mask"] for part in ("train", "val", "test")]
    assert [int(mask.sum()) for mask in masks] == [60, 20, 20] and sum(masks).max() == 1
