"""Made-up measurements of acceleration and serving in the format of their lines."""

from __future__ import annotations

from typing import Any

from lsprune.lab.acceleration.measurement import Measurement
from lsprune.lab.acceleration.serving import BATCH_NODES, Serving, plan

GPU = "a GPU"


def timing(dataset: str = "computers", model: str = "gat", backend: str = "ordinary", share: float = 1.0,
           **more: Any) -> dict[str, Any]:  # fmt: skip
    """One measurement: an epoch takes 0.1 s and a second for all edges; other backends are faster by a constant."""
    measurement = Measurement(dataset=dataset, model=model, backend=backend, share=share, device="cuda")
    faster = {"ordinary": 1.0, "sorted": 0.9, "captured": 0.5, "fused": 0.3, "compiled": 0.4}[backend]
    seconds = faster * (0.1 + share)
    return {
        "key": measurement.key, "task": "acceleration", "run": measurement.to_dict(), "share": share,
        "epoch_seconds_min": seconds, "epoch_seconds_median": 1.1 * seconds, "inference_seconds_min": 0.2 * share,
        "data_bytes": 100 + int(100 * share), "training_peak_bytes": 200 + int(1_100 * share), "device": GPU,
        "error": None, **more,
    }  # fmt: skip


def failure(**what: Any) -> dict[str, Any]:
    """A measurement that failed."""
    record = timing(**what)
    kept = {name: record[name] for name in ("key", "task", "run", "device")}
    return {**kept, "error": "OutOfMemoryError: CUDA out of memory"}


def served(serving: Serving) -> dict[str, Any]:
    """One serving: random loses 10 points of what it removes, the others 4; latency is that of the edges."""
    lost = (0.1 if serving.method == "random" else 0.04) * (1 - serving.share)
    test = 0.9 + 0.001 * serving.seed - lost
    seconds = {size: 0.01 * serving.share * size for size in BATCH_NODES}
    batches = [{"nodes": n, "seconds_min": taken, "seconds_median": 2 * taken} for n, taken in seconds.items()]
    return {
        "key": serving.key, "task": "serving", "run": serving.to_dict(), "share": serving.share, "test": test,
        "trained_test": 0.9, "inference_seconds_min": 0.1 + serving.share, "batches": batches, "device": GPU,
        "error": None,
    }  # fmt: skip


def all_served() -> list[dict[str, Any]]:
    """All servings of GAT on Computers, three seeds."""
    return [served(serving) for serving in plan(device="cuda", datasets=("computers",), models=("gat",))]
