"""The paper's synthetic graphs as a `Dataset`, split as in its experiments."""

from __future__ import annotations

import numpy as np
import torch

from lsprune.lab.datasets import Dataset
from lsprune.lab.datasets.collated import CollatedDataset
from lsprune.lab.synthetic_graphs import Synthetic

GENERATED = {"synthetic": Synthetic(), "synthetic-small": Synthetic(samples=2_000, classes=20)}


def synthetic_dataset(generator: Synthetic | None = None, *, seed: int = 0) -> Dataset:
    """Return generated graphs as a dataset: 25 % for testing, 10 % of the rest for validation, the others to train on.

    >>> dataset = synthetic_dataset(Synthetic(samples=40, classes=2))
    >>> len(dataset.train), len(dataset.val), len(dataset.test), dataset.num_classes
    (27, 3, 10, 2)
    """
    samples = (generator or Synthetic()).make()
    count = samples.y.size
    local_edges = samples.edge_index - np.repeat(samples.ptr[:-1], np.diff(samples.edge_ptr))
    graphs = CollatedDataset.from_arrays(
        {
            "x": (samples.x, samples.ptr),
            "edge_index": (local_edges, samples.edge_ptr),
            "edge_attr": (samples.edge_attr, samples.edge_ptr),
            "y": (samples.y, np.arange(count + 1)),
        }
    )
    order = torch.from_numpy(np.random.default_rng(seed).permutation(count))
    num_test, num_val = count // 4, count * 3 // 40
    test, val, train = order[:num_test], order[num_test : num_test + num_val], order[num_test + num_val :]
    return Dataset(
        name="synthetic", task="graph-classification", train=graphs[train], val=graphs[val], test=graphs[test],
        num_features=int(samples.x.shape[1]), num_classes=int(samples.y.max()) + 1,
    )  # fmt: skip
