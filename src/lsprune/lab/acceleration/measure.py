"""Make one measurement: seconds of epochs and inferences, peak memory; a failure is a record with its error."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from typing import Any

import torch

from lsprune.lab.acceleration.backends import make_model, prepare_graph, tensor_bytes
from lsprune.lab.acceleration.measurement import BACKENDS, METHOD, Measurement
from lsprune.lab.acceleration.memory import MemoryOfTensors
from lsprune.lab.acceleration.pruned_graphs import PrunedGraphs
from lsprune.lab.acceleration.workloads import BATCH_GRAPHS, GraphSetWorkload, NodeWorkload, Workload
from lsprune.lab.studies.run import Run
from lsprune.lab.training.environment import environment, timed
from lsprune.lab.training.prepare import RunGraphs
from lsprune.lab.training.tasks import in_degree_histogram

WARM_UP_ROUNDS = 2
WATCHED_ROUNDS = 2  # for memory on a CPU: the first epoch makes the state of the optimiser
MIN_ROUNDS, MAX_ROUNDS, TINY_ROUNDS = 5, 50, 2
MAX_SECONDS = 2.0  # of timed rounds, once there are enough of them
MAX_ERROR_CHARACTERS = 300

Record = dict[str, Any]


def measure(measurement: Measurement, graphs: PrunedGraphs) -> Record:
    """Return the record of a measurement; `error` says why one failed, and is None otherwise."""
    device = torch.device(measurement.device)
    record: Record = {
        "key": measurement.key, "task": "acceleration", "run": measurement.to_dict(),
        "backend": BACKENDS[measurement.backend], "model": measurement.model_name, **environment(device),
    }  # fmt: skip
    try:
        with torch._dynamo.config.patch(fail_on_recompile_limit_hit=True):  # else it stops compiling, and says nothing
            figures = _measure(measurement, graphs, device)
    except Exception as error:  # noqa: BLE001  # whatever fails here must not stop the measurements that follow
        message = " ".join(f"{type(error).__name__}: {error}".split())
        return {**record, "error": message[:MAX_ERROR_CHARACTERS]}
    finally:
        free_memory()
    return {**record, **figures, **environment(device), "error": None}


def free_memory() -> None:
    """Free what earlier measurements left on the device, where that is still possible."""
    gc.collect()
    if torch.cuda.is_available():
        with suppress(RuntimeError):  # a CUDA graph whose capture failed can leave the allocator in a state of its own
            torch.cuda.empty_cache()


def _measure(measurement: Measurement, graphs: PrunedGraphs, device: torch.device) -> Record:
    whole = measurement.share == 1
    pruned, prune_seconds = (graphs.unpruned(), 0.0) if whole else graphs.prune(METHOD, measurement.share)
    free_memory()
    memory = MemoryOfTensors(device)
    (workload, data_bytes), _ = memory.watch(lambda: make_workload(measurement, pruned, device))
    sizes = {
        "share": graphs.share_of(pruned), "edges": int(pruned.train.num_edges), "prune_seconds": prune_seconds,
        "data_bytes": data_bytes,
    }  # fmt: skip
    tiny = measurement.size == "tiny"
    if device.type == "cuda":  # watching costs no time there
        training, training_peak = memory.watch(lambda: seconds(device, workload.train_epoch, "epoch", tiny))
        inference, inference_peak = memory.watch(lambda: seconds(device, workload.infer, "inference", tiny))
    else:
        training_peak, inference_peak = (
            data_bytes + max(memory.watch(work)[1] for _ in range(WATCHED_ROUNDS))
            for work in (workload.train_epoch, workload.infer)
        )
        training = seconds(device, workload.train_epoch, "epoch", tiny)
        inference = seconds(device, workload.infer, "inference", tiny)
    peaks = {"training_peak_bytes": training_peak, "inference_peak_bytes": inference_peak}
    return {**sizes, **training, **inference, **peaks}


def make_workload(measurement: Measurement, graphs: RunGraphs, device: torch.device) -> tuple[Workload, int]:
    """Return what is timed, and the bytes of its data; weights are the same for every backend."""
    torch.manual_seed(0)
    name, backend, dataset = measurement.model_name, measurement.backend, graphs.dataset
    degrees = in_degree_histogram(graphs.train) if measurement.model == "pna" else None
    model = make_model(
        name, backend, in_dim=dataset.num_features, out_dim=dataset.num_classes, degrees=degrees, device=device
    )
    if measurement.many_graphs:
        run = Run(study="acceleration", dataset=dataset.name, model=name, method=METHOD, batch_size=BATCH_GRAPHS)
        data_bytes = sum(
            tensor_bytes(store.with_attributes(("x",))) for store in (graphs.train, graphs.val, graphs.test)
        )
        return GraphSetWorkload(run, graphs, device, model, backend), data_bytes
    torch.set_float32_matmul_precision("highest")
    graph = copy(graphs.train).to(device)  # `to` changes a `Data` in place
    return NodeWorkload(model, prepare_graph(model, graph, backend), backend), tensor_bytes(graphs.train)


def seconds(device: torch.device, work: Callable[[], object], name: str, tiny: bool = False) -> Record:
    """Return the least and the median seconds of the work, the device synchronised, after a warm-up."""
    for _ in range(1 if tiny else WARM_UP_ROUNDS):
        timed(device, work)
    least, most = (TINY_ROUNDS, TINY_ROUNDS) if tiny else (MIN_ROUNDS, MAX_ROUNDS)
    rounds: list[float] = []
    begun = time.perf_counter()
    while len(rounds) < least or (len(rounds) < most and time.perf_counter() - begun < MAX_SECONDS):
        rounds.append(timed(device, work)[0])
    return {
        f"{name}_seconds_min": min(rounds), f"{name}_seconds_median": statistics.median(rounds),
        f"{name}_rounds": len(rounds),
    }  # fmt: skip
