"""Pruning for inference only: train on the whole graph, serve from a pruned one; accuracy and latency of that."""

from __future__ import annotations

import copy
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from lsprune.checks import did_you_mean
from lsprune.chooser.trials import Progress
from lsprune.errors import OptionError
from lsprune.lab.acceleration.measure import MAX_ERROR_CHARACTERS, free_memory, seconds
from lsprune.lab.acceleration.neighbourhood_batches import InNeighbours
from lsprune.lab.acceleration.pruned_graphs import PrunedGraphs, open_dataset
from lsprune.lab.studies.methods import UNPRUNED, find_method
from lsprune.lab.studies.result_files import Results
from lsprune.lab.studies.run import Run, content_key
from lsprune.lab.studies.run_study import Clock, Status
from lsprune.lab.training.environment import checked_device, environment, timed
from lsprune.lab.training.tasks import Task, make_task

DATASETS = ("computers", "github")
MODELS = {"gat": "node-gat", "gcn": "node-gcn", "sage": "node-sage"}
METHODS = ("lsp-auto", "lsp-projection", "random", "local-random")
SHARES = (0.5, 0.25, 0.1)
SEEDS = 3
EPOCHS, TINY_EPOCHS = 200, 3
LEARNING_RATE, WEIGHT_DECAY = 0.005, 5e-4
HOPS = 2  # layers of the models
BATCH_NODES = (1, 1024)
MAX_BATCHES, TINY_BATCHES = 50, 2

Record = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Serving:
    """A model trained on the whole graph that answers from a pruned one.

    Args:
        method: a method of the studies; `unpruned` serves from the whole graph.
        share: of the edges to serve from.
        seed: of the training and of the pruner.
    """

    dataset: str
    model: str
    method: str
    share: float
    seed: int = 0
    device: str = "cpu"
    size: str = "full"
    epochs: int = EPOCHS

    @property
    def key(self) -> str:
        """The content hash."""
        return content_key({"task": "serving", **asdict(self)})

    @property
    def training(self) -> tuple[str, str, int]:
        """What decides the trained weights; servings with the same follow each other."""
        return self.dataset, self.model, self.seed

    def to_dict(self) -> Record:
        """Return what a record says of it, with the fields that every record of a run has."""
        pruner = find_method(self.method).pruner
        keep = None if self.method == UNPRUNED else self.share
        return {**asdict(self), "study": "serving", "pruner": None if pruner is None else dict(pruner), "keep": keep}

    def __str__(self) -> str:
        return f"{self.dataset}, {self.model}, {self.method} {self.share:g}, seed {self.seed}, {self.device}"


def plan(
    *,
    device: str = "cpu",
    size: str = "full",
    datasets: Sequence[str] = DATASETS,
    models: Sequence[str] = tuple(MODELS),
    seeds: int = SEEDS,
    epochs: int | None = None,
) -> Iterator[Serving]:
    """Yield all servings, GAT first; every training is followed by all that is served with its weights."""
    for model in models:
        if model not in MODELS:
            raise OptionError(f"model must be one of {', '.join(MODELS)}, got {model!r}{did_you_mean(model, MODELS)}")
    points = [(UNPRUNED, 1.0), *((method, share) for method in METHODS for share in SHARES)]
    for model in models:
        for dataset in datasets:
            for seed in range(seeds):
                for method, share in points:
                    yield Serving(
                        dataset=dataset, model=model, method=method, share=share, seed=seed, device=device, size=size,
                        epochs=epochs or (TINY_EPOCHS if size == "tiny" else EPOCHS),
                    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Trained:
    """A model with the weights of its best validation epoch on the whole graph, and its test accuracy there."""

    model: nn.Module
    test: float
    val: float


def train_whole(serving: Serving, graphs: PrunedGraphs) -> Trained:
    """Train on the whole graph; return the model at its best validation epoch."""
    torch.manual_seed(serving.seed)
    run = Run(
        study="serving", dataset=serving.dataset, model=MODELS[serving.model], method=UNPRUNED, seed=serving.seed,
        epochs=serving.epochs, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY,
    )  # fmt: skip
    whole = graphs.unpruned()
    whole = type(whole)(whole.dataset, *(copy.copy(split) for split in (whole.train, whole.val, whole.test)))
    task = make_task(run, whole, torch.device(serving.device))
    return _best_epoch(task, serving.epochs)


def _best_epoch(task: Task, epochs: int) -> Trained:
    best: tuple[float, float, dict[str, Tensor]] | None = None
    for _ in range(epochs):
        task.train_epoch()
        val, test, _ = task.evaluate()
        if best is None or val > best[0]:
            best = val, test, copy.deepcopy(task.model.state_dict())
    assert best is not None
    task.model.load_state_dict(best[2])
    return Trained(task.model.eval(), best[1], best[0])


def serve(serving: Serving, trained: Trained, graphs: PrunedGraphs) -> Record:
    """Return the record of serving: accuracy on the test nodes, seconds of full-graph and mini-batch inference."""
    device = torch.device(serving.device)
    record: Record = {
        "key": serving.key, "task": "serving", "run": serving.to_dict(), "metric": "accuracy", "higher_is_better": True,
        "trained_test": trained.test, "trained_val": trained.val, **environment(device),
    }  # fmt: skip
    try:
        return {**record, **_figures(serving, trained.model, graphs, device), "error": None}
    except Exception as error:  # noqa: BLE001  # whatever fails here must not stop what follows
        message = " ".join(f"{type(error).__name__}: {error}".split())
        return {**record, "error": message[:MAX_ERROR_CHARACTERS]}
    finally:
        free_memory()


@torch.no_grad()
def _figures(serving: Serving, model: nn.Module, graphs: PrunedGraphs, device: torch.device) -> Record:
    whole = serving.method == UNPRUNED
    pruned, prune_seconds = (graphs.unpruned(), 0.0) if whole else graphs.prune(serving.method, serving.share)
    data = copy.copy(pruned.test).to(device)
    precompute: Callable[[Data], Data] = getattr(model, "precompute")  # noqa: B009  # Module does not declare it
    ready = precompute(data)  # a served graph does not change, so its self-loops are added once
    nodes = data.test_mask.nonzero()[:, 0]
    correct = model(ready)[nodes].argmax(1) == data.y[nodes]
    tiny = serving.size == "tiny"
    return {
        "test": float(correct.float().mean()), "share": graphs.share_of(pruned), "edges": int(data.num_edges),
        "prune_seconds": prune_seconds, **seconds(device, lambda: model(ready), "inference", tiny),
        "batches": _batches(model, data, nodes, TINY_BATCHES if tiny else MAX_BATCHES),
    }  # fmt: skip


def _batches(model: nn.Module, data: Data, nodes: Tensor, count: int) -> list[Record]:
    """Return latency and size of mini-batches of random test nodes: the neighbourhood is gathered, then scored."""
    num_nodes = int(data.num_nodes or 0)
    rows = InNeighbours.of(data.edge_index, num_nodes)
    others = data.edge_index[1][data.edge_index[0] != data.edge_index[1]]
    in_degree = torch.bincount(others, minlength=num_nodes)
    generator = torch.Generator().manual_seed(0)
    found = []
    for size in BATCH_NODES:
        times: list[float] = []
        edges: list[int] = []
        for _ in range(count + 1):
            chosen = nodes[torch.randperm(len(nodes), generator=generator)[:size].to(nodes.device)]

            def answer(chosen: Tensor = chosen) -> tuple[int, Tensor]:
                batch = rows.batch(chosen, HOPS, data.x)
                batch.in_degree = in_degree[batch.n_id]
                return int(batch.num_edges), model(batch)[: len(chosen)].argmax(1)

            taken, (num_edges, _) = timed(data.x.device, answer)
            times.append(taken)
            edges.append(num_edges)
        times, edges = times[1:], edges[1:]  # the first loads kernels
        p95 = sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]
        found.append({
            "nodes": size, "seconds_min": min(times), "seconds_median": statistics.median(times), "seconds_p95": p95,
            "edges_mean": statistics.fmean(edges), "rounds": len(times),
        })  # fmt: skip
    return found


def run_servings(
    servings: Sequence[Serving],
    results: Results,
    *,
    budget: float | None = None,
    data: str | None = None,
    on_record: Callable[[Serving, Record], None] | None = None,
    progress: Progress | None = None,
) -> Status:
    """Do what is missing and append each record; weights are trained once for all that is served with them.

    Args: as those of `run_measurements`.
    """
    for name in dict.fromkeys(serving.device for serving in servings):
        checked_device(name)
    clock = Clock(budget)
    opened: dict[tuple[str, str, int], PrunedGraphs] = {}  # models of one dataset and seed share the pruned graphs
    trained: tuple[tuple[str, str, int], Trained] | None = None
    with results.writing():
        done = results.keys()
        missing = [serving for serving in servings if serving.key not in done]
        for number, serving in enumerate(missing):
            if not clock.may_start():
                break
            if progress is not None:
                progress(number, len(missing), str(serving))
            begin = monotonic()
            place = (serving.dataset, serving.size, serving.seed)
            if place not in opened:
                opened[place] = PrunedGraphs(open_dataset(serving.dataset, data, serving.size), serving.seed)
            graphs = opened[place]
            if trained is None or trained[0] != serving.training:
                trained = serving.training, train_whole(serving, graphs)
            record = serve(serving, trained[1], graphs)
            results.append(record)
            clock.longest = max(clock.longest, monotonic() - begin)
            if on_record is not None:
                on_record(serving, record)
        done = results.keys()
    return Status(len(servings), sum(serving.key in done for serving in servings))
