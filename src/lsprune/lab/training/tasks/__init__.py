"""What a model is trained for: classes, labels or values of nodes, classes or values of graphs."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from lsprune.errors import OptionError
from lsprune.lab.datasets import Dataset
from lsprune.lab.datasets.splits import labelled_kind
from lsprune.lab.models import build, build_hetero
from lsprune.lab.studies.run import Run
from lsprune.lab.training.graph_store import GraphStore
from lsprune.lab.training.prepare import RunGraphs
from lsprune.lab.training.tasks.base import Task
from lsprune.lab.training.tasks.hetero_graph import HeteroNodeClassification
from lsprune.lab.training.tasks.many_graphs import GraphClassification, GraphRegression, NodeMultiLabel
from lsprune.lab.training.tasks.single_graph import NodeClassification, NodeLabels, NodeRanking, NodeRegression

__all__ = [
    "GraphClassification",
    "GraphRegression",
    "HeteroNodeClassification",
    "NodeClassification",
    "NodeLabels",
    "NodeMultiLabel",
    "NodeRanking",
    "NodeRegression",
    "Task",
    "in_degree_histogram",
    "make_task",
]


def make_task(run: Run, graphs: RunGraphs, device: torch.device) -> Task:
    """Return the task of the run's dataset, with a new model."""
    dataset = graphs.dataset
    if run.every_epoch and (dataset.hetero or not dataset.single):
        raise OptionError(
            f"method {run.method} draws edges in every epoch, which works on single graphs of one kind of nodes, "
            f"not on {run.dataset}"
        )
    if dataset.hetero:
        hetero = build_hetero(run.model, graphs.train, target=labelled_kind(graphs.train), out_dim=dataset.num_classes)
        return HeteroNodeClassification(run, graphs, device, hetero)
    degrees = in_degree_histogram(graphs.train) if "pna" in run.model else None
    if dataset.single:
        model = _model(run, dataset.num_features, dataset.num_classes, degrees)
        return _single_graph_task(dataset, graphs)(run, graphs, device, model)
    regression = dataset.task == "graph-regression"
    out_dim = 1 if regression else dataset.num_classes
    model = _model(run, dataset.num_features, out_dim, degrees)
    if dataset.task == "node-classification":
        return NodeMultiLabel(run, graphs, device, model)
    return (GraphRegression if regression else GraphClassification)(run, graphs, device, model)


def _single_graph_task(dataset: Dataset, graphs: RunGraphs) -> type[NodeClassification]:
    if dataset.task == "node-regression":
        return NodeRegression
    if graphs.train.y.dim() == 2:
        return NodeLabels
    return NodeRanking if dataset.metric == NodeRanking.metric else NodeClassification


def _model(run: Run, in_dim: int, out_dim: int, degrees: Tensor | None = None) -> torch.nn.Module:
    return build(run.model, in_dim=in_dim, out_dim=out_dim, basic=run.basic, degrees=degrees)


def in_degree_histogram(graphs: Data | GraphStore) -> Tensor:
    """Return how many nodes of one graph or of several have in-degree 0, 1, ..."""
    if isinstance(graphs, Data):
        return torch.bincount(torch.bincount(graphs.edge_index[1], minlength=graphs.num_nodes or 0))
    graph = graphs.to_graph()
    return torch.bincount(torch.bincount(torch.as_tensor(graph.ends()[1]), minlength=graph.num_nodes))
