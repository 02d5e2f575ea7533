"""The synthetic dataset: its graphs and its split."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch_geometric")

from lsprune.lab.datasets.synthetic import GENERATED, synthetic_dataset
from lsprune.lab.synthetic_graphs import Synthetic

SMALL = Synthetic(samples=80, classes=4, min_nodes=5, max_nodes=9)


def test_every_sample_is_in_one_split():
    dataset = synthetic_dataset(SMALL)
    assert (len(dataset.train), len(dataset.val), len(dataset.test)) == (54, 6, 20)
    indices = np.concatenate([part.indices() for part in (dataset.train, dataset.val, dataset.test)])
    assert np.array_equal(np.sort(indices), np.arange(80))
    assert (dataset.task, dataset.num_features, dataset.num_classes) == ("graph-classification", 10, 4)


def test_graphs_are_those_of_the_generator():
    dataset, samples = synthetic_dataset(SMALL), SMALL.make().to_data_list()
    for position, number in enumerate(dataset.test.indices()):
        graph, sample = dataset.test[position], samples[number]
        assert graph.to_dict().keys() == sample.to_dict().keys()
        assert all(graph[key].equal(sample[key]) for key in sample.to_dict())


def test_the_seed_decides_the_split():
    first, again, other = (list(synthetic_dataset(SMALL, seed=seed).test.indices()) for seed in (0, 0, 1))
    assert first == again != other


def test_generated_datasets_have_the_sizes_of_the_paper_and_a_tenth():
    assert {name: (generator.samples, generator.classes) for name, generator in GENERATED.items()} == {
        "synthetic": (20_000, 100), "synthetic-small": (2_000, 20),
    }  # fmt: skip
