"""The paper's synthetic set as a `Dataset`, split as in its runs."""

from __future__ import annotations

import numpy as np
import torch
from torch_geometric.data import Data

from lsprune.lab.datasets import Dataset
from lsprune.lab.datasets.compact_files import Stacked
from lsprune.lab.synthetic_graphs import Synthetic

GENERATED = {"synthetic": Synthetic(), "synthetic-small": Synthetic(samples=2_000, classes=20)}


def synthetic_dataset(generator: Synthetic | None = None, *, seed: int = 0) -> Dataset:
    """The generator's graphs, 75 % for training and 25 % for testing; a tenth of the former for validation.

    >>> made = synthetic_dataset(Synthetic(samples=40, classes=2))
    >>> len(made.train), len(made.val), len(made.test), made.num_classes
    (27, 3, 10, 2)
    """
    made = (generator or Synthetic()).make()
    local = made.edge_index - np.repeat(made.ptr[:-1], np.diff(made.edge_ptr))
    stored = {
        "x": (made.x, made.ptr),
        "edge_index": (local, made.edge_ptr),
        "edge_attr": (made.edge_attr, made.edge_ptr),
        "y": (made.y, np.arange(made.y.size + 1)),
    }
    data = Data(**{key: torch.from_numpy(value) for key, (value, _) in stored.items()})
    graphs = Stacked(data, {key: torch.from_numpy(starts) for key, (_, starts) in stored.items()})
    order = torch.from_numpy(np.random.default_rng(seed).permutation(made.y.size))
    quarter, tenth = made.y.size // 4, made.y.size * 3 // 40
    test, val, train = order[:quarter], order[quarter : quarter + tenth], order[quarter + tenth :]
    return Dataset(
        name="synthetic", task="graph-classification", train=graphs[train], val=graphs[val], test=graphs[test],
        num_features=int(made.x.shape[1]), num_classes=int(made.y.max()) + 1,
    )  # fmt: skip
