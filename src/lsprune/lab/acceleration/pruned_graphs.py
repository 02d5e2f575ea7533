"""The graphs of a dataset at several shares of their edges, each pruned once."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

from torch_geometric.data import Data

from lsprune.api import prune
from lsprune.errors import LspruneWarning, OptionError
from lsprune.lab.acceleration.measurement import LARGE
from lsprune.lab.datasets import Dataset
from lsprune.lab.datasets.power_law import PowerLaw
from lsprune.lab.datasets.synthetic import synthetic_dataset
from lsprune.lab.studies.methods import find_method
from lsprune.lab.synthetic_graphs import Synthetic
from lsprune.lab.training.environment import Seconds
from lsprune.lab.training.graph_store import GraphStore
from lsprune.lab.training.prepare import RunGraphs, load_dataset
from lsprune.pruners import Pruner

TINY_GRAPH = PowerLaw(nodes=300, edges=3_000, columns=8, classes=4)
TINY_SET = Synthetic(samples=40, classes=3, min_nodes=8, max_nodes=12)


def open_dataset(name: str, data: str | None, size: str = "full") -> Dataset:
    """Return the dataset of a measurement; the large one and those of size tiny are generated."""
    if size == "tiny":
        many = name.startswith("synthetic")
        return replace(synthetic_dataset(TINY_SET) if many else TINY_GRAPH.make(), name=name)
    if name == LARGE:
        return replace(PowerLaw().make(), name=name)
    dataset = load_dataset(name, data, None)
    if dataset.task not in ("node-classification", "graph-classification") or dataset.missing or dataset.hetero:
        raise OptionError(f"dataset must have classes of nodes of one kind or of graphs, got {name}")
    return dataset


class PrunedGraphs:
    """A dataset and its pruned versions.

    Args:
        seed: of the pruners.
    """

    def __init__(self, dataset: Dataset, seed: int = 0) -> None:
        self.dataset, self.seed = dataset, seed
        splits = (dataset.train, dataset.val, dataset.test)
        self.whole = splits if dataset.single else tuple(GraphStore.of(split) for split in splits)
        self._pruned: dict[tuple[str, float], tuple[RunGraphs, Seconds]] = {}

    def unpruned(self) -> RunGraphs:
        """Return the graphs themselves."""
        return RunGraphs(self.dataset, *self.whole)

    def prune(self, method: str, share: float) -> tuple[RunGraphs, Seconds]:
        """Return the graphs pruned by a method of the studies to a share of their edges, and the seconds that took.

        The pruner is fitted on the training graphs. The first call of a kernel compiles or loads it, which is included.
        """
        if (method, share) not in self._pruned:
            pruner = find_method(method).make(keep=share, seed=self.seed)
            if pruner is None:
                raise OptionError(f"method must prune, got {method}")
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LspruneWarning)  # what they warn of is what is measured here
                splits = self._masked(pruner)
            self._pruned[method, share] = RunGraphs(self.dataset, *splits), time.perf_counter() - start
        return self._pruned[method, share]

    def _masked(self, pruner: Pruner) -> tuple[Any, Any, Any]:
        if isinstance(self.whole[0], Data):
            pruned = prune(self.whole[0], pruner)
            return pruned, pruned, pruned
        graphs = [store.to_graph() for store in self.whole]
        fitted = pruner.fit(graphs[0], categories=self.dataset.categories or None)
        train, val, test = (
            store.keep_edges(fitted.mask(graph)) for store, graph in zip(self.whole, graphs, strict=True)
        )
        return train, val, test

    def share_of(self, graphs: RunGraphs) -> float:
        """Return the share of the training graphs' edges that is left."""
        return float(graphs.train.num_edges / max(self.whole[0].num_edges, 1))
