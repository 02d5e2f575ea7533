"""The graphs of a run: loaded, limited and pruned."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch

from lsprune.api import prune
from lsprune.errors import Lacking, LspruneWarning, NoGpuPath, OptionError
from lsprune.lab.datasets import Dataset, load
from lsprune.lab.datasets.hetero_small import HETERO_SMALL, hetero_small
from lsprune.lab.datasets.noisy_links import NoisyLinks
from lsprune.lab.datasets.synthetic import GENERATED, synthetic_dataset
from lsprune.lab.datasets.user_graph import user_graph_dataset
from lsprune.lab.studies.run import Run
from lsprune.lab.training.environment import Seconds
from lsprune.lab.training.graph_store import GraphStore
from lsprune.lab.user_graph import UserGraphFiles
from lsprune.pruners import Pruner, SharedBudget
from lsprune.pruners.relations import pruners_of

GENERATED_GRAPHS: dict[str, Callable[[], Dataset]] = {"noisy-links": NoisyLinks().make, HETERO_SMALL: hetero_small}
NODES_PER_LIMIT = 256  # a limit of g graphs allows a single graph g times as many nodes
WARM_UP_GRAPHS = 64

_Splits = tuple[Any, Any, Any]  # train, validation, test: three times one `Data` or `HeteroData`, or three `GraphStore`
_Plan = Pruner | SharedBudget


@dataclass(frozen=True, eq=False)
class RunGraphs:
    """The graphs of one run, pruned where the run says so.

    `Data` or `HeteroData` for a single graph, `GraphStore` for several.
    """

    dataset: Dataset
    train: Any
    val: Any
    test: Any


def prepare(
    run: Run, data: str | UserGraphFiles | None, executor: str | None = None
) -> tuple[RunGraphs, dict[str, Any]]:
    """Return the graphs of a run, all pruned by one fitted pruner, and what its record says of the pruning."""
    plan = run.make_plan()
    dataset = load_dataset(run.dataset, data, run.limit)
    if dataset.missing:
        missing = " and ".join(dataset.missing)
        raise Lacking(f"the local copy of dataset {dataset.name} has no {missing}, which training requires")
    if isinstance(plan, SharedBudget) and not dataset.single:
        raise OptionError(f"method {run.method} has one budget for one graph, not for those of {run.dataset}")
    whole = _limited_splits(dataset, run.limit)
    if dataset.redraw is not None:
        whole = (dataset.redraw(whole[0], run.seed),) * 3
    pruned, fitted, seconds = _timed_prune(dataset, whole, plan, executor)
    train = whole[0] if run.pruned == "testing" else pruned[0]
    val, test = (whole if run.pruned == "training" or run.every_epoch else pruned)[1:]
    record = {
        "key": run.key, "run": run.to_dict(), "share": pruned[0].num_edges / max(whole[0].num_edges, 1),
        "prune_seconds": seconds, "pruner": None if fitted is None else fitted.to_dict(),
    }  # fmt: skip
    if dataset.rebuilt:
        record["rebuilt"] = list(dataset.rebuilt)
    return RunGraphs(dataset, train, val, test), record


@cache
def load_dataset(name: str, data: str | UserGraphFiles | None, limit: int | None) -> Dataset:
    """Return the dataset of a run; generated datasets have no more graphs than the limit needs."""
    if isinstance(data, UserGraphFiles):
        return user_graph_dataset(data)
    if name in GENERATED:
        generator = GENERATED[name]
        return synthetic_dataset(generator if limit is None else replace(generator, samples=4 * limit))
    if name in GENERATED_GRAPHS:
        return GENERATED_GRAPHS[name]()
    try:
        return load(name, data=data)
    except OptionError as error:
        generated = ", ".join((*GENERATED, *GENERATED_GRAPHS))
        raise OptionError(f"{error}; generated datasets are {generated}") from None


@cache
def _limited_splits(dataset: Dataset, limit: int | None) -> _Splits:
    """Return the first `limit` graphs of each split, or every n-th node (of each kind) of a single graph."""
    if dataset.single:
        nodes = dataset.train.num_nodes
        step = 1 if limit is None else -(-nodes // (NODES_PER_LIMIT * limit))
        data = dataset.train if step == 1 else dataset.train.subgraph(_every(dataset, step))
        return data, data, data
    train, val, test = (
        GraphStore.of(part if limit is None else [part[i] for i in range(min(limit, len(part)))])
        for part in (dataset.train, dataset.val, dataset.test)
    )
    return train, val, test


def _every(dataset: Dataset, step: int) -> Any:
    """Return every n-th node of a single graph: its numbers, or those of each kind."""
    graph = dataset.train
    if dataset.hetero:
        return {kind: torch.arange(0, graph[kind].num_nodes, step) for kind in graph.node_types}
    return torch.arange(0, graph.num_nodes, step)


def _timed_prune(
    dataset: Dataset, whole: _Splits, plan: _Plan | None, executor: str | None
) -> tuple[Any, _Plan | None, Seconds]:
    """Return (pruned splits, fitted pruner, seconds); the splits themselves if there is no pruner."""
    if plan is None:
        return whole, None, 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LspruneWarning)  # a study measures what the warnings are about
        _warm_up(dataset, whole, plan, executor)
        start = time.perf_counter()
        splits, fitted = _prune_splits(dataset, whole, plan, executor)
        return splits, fitted, time.perf_counter() - start


_WARMED_UP: set[Any] = set()


def _warm_up(dataset: Dataset, whole: _Splits, plan: _Plan, executor: str | None) -> None:
    """Prune once untimed, since the first call of a kernel compiles or loads it; not where that takes a minute."""
    if not all(getattr(pruner, "warms_up", True) for pruner in pruners_of(plan)):
        return
    kind = (dataset.name, *((type(pruner), getattr(pruner, "hash", None)) for pruner in pruners_of(plan)))
    if kind not in _WARMED_UP:
        _WARMED_UP.add(kind)
        if not dataset.single:
            train, val, test = (part.select(torch.arange(min(WARM_UP_GRAPHS, len(part)))) for part in whole)
            whole = train, val, test
        _prune_splits(dataset, whole, plan, executor)


def _prune_splits(dataset: Dataset, whole: _Splits, plan: _Plan, executor: str | None) -> tuple[Any, _Plan]:
    """Return (pruned splits, pruner fitted on the training split); on the host if there is no GPU path."""
    try:
        has_path = all(pruner.needs.gpu for pruner in pruners_of(plan))
        return _prune_by(dataset, whole, plan, executor if has_path else None)
    except NoGpuPath:  # too little memory, or attributes that the GPU cannot read
        return _prune_by(dataset, whole, plan, None)


def _prune_by(dataset: Dataset, whole: _Splits, plan: _Plan, executor: str | None) -> tuple[Any, _Plan]:
    if dataset.hetero or isinstance(plan, SharedBudget):  # `prune` fits the pruner of each relation by itself
        return (prune(whole[0], plan, executor=executor),) * 3, plan
    if dataset.single:
        fitted = plan.fit(whole[0], executor=executor)
        return (prune(whole[0], fitted, executor=executor),) * 3, fitted
    graphs = [store.to_graph() for store in whole]
    training = whole[0].to_graph(labels=True) if dataset.task == "node-classification" else graphs[0]
    fitted = plan.fit(training, categories=dataset.categories, executor=executor)
    masks = (fitted.mask(graph, executor=executor) for graph in graphs)
    return tuple(store.keep_edges(mask) for store, mask in zip(whole, masks, strict=True)), fitted
