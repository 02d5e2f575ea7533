"""The generated graph of the demo: circles of one class, links to anybody, hubs, the same every time."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch_geometric")

from lsprune.lab.datasets.noisy_links import NoisyLinks  # noqa: E402


def test_edges_have_their_reverse_and_no_end_twice():
    ends = NoisyLinks(nodes=100).edge_index()
    pairs = set(zip(*ends.tolist(), strict=True))
    assert len(pairs) == ends.shape[1] and (ends[0] != ends[1]).all()
    assert pairs == {(target, source) for source, target in pairs}


def test_most_links_are_noise_and_some_nodes_are_hubs():
    generator = NoisyLinks()
    source, target = generator.edge_index()
    same_circle = float((source // generator.circle == target // generator.circle).mean())
    assert 0.2 < same_circle < 0.3
    degrees = np.bincount(target)
    assert degrees.max() > 3 * degrees.mean()  # uniform links reach less than twice the mean
    assert np.argmax(degrees) > 10  # ids do not tell degrees


def test_members_of_a_circle_have_one_class_and_attributes_tell_little_of_it():
    generator = NoisyLinks()
    data = generator.make().train
    y, x = data.y.numpy(), data.x.numpy()
    for circle in range(0, generator.nodes, generator.circle):
        assert len(set(y[circle : circle + generator.circle])) == 1
    train, test = data.train_mask.numpy(), data.test_mask.numpy()
    centres = np.stack([x[train & (y == label)].mean(0) for label in range(generator.classes)])
    nearest = ((x[test, None] - centres) ** 2).sum(2).argmin(1)
    assert 1 / generator.classes < float((nearest == y[test]).mean()) < 0.6


def test_it_is_a_dataset_that_does_not_change():
    one, two = (NoisyLinks(nodes=100, columns=3, classes=4).make() for _ in range(2))
    assert one.single and one.num_features == 3 and one.num_classes == 4
    for key, value in one.train.to_dict().items():
        assert (two.train[key] == value).all(), key
    masks = [one.train[f"{part}_mask"] for part in ("train", "val", "test")]
    assert [int(mask.sum()) for mask in masks] == [60, 20, 20] and sum(masks).max() == 1
