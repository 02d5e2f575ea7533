"""A measurement is a complete record, also where it fails."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lsprune.lab.acceleration import measure as module  # noqa: E402
from lsprune.lab.acceleration.measure import measure, seconds  # noqa: E402
from lsprune.lab.acceleration.measurement import Measurement  # noqa: E402
from lsprune.lab.acceleration.pruned_graphs import PrunedGraphs, open_dataset  # noqa: E402

NUMBERS = ("share", "edges", "prune_seconds", "data_bytes", "epoch_seconds_min", "epoch_seconds_median", "epoch_rounds",
           "inference_seconds_min", "inference_seconds_median", "inference_rounds")  # fmt: skip


def tiny(dataset: str = "computers", **options) -> tuple[Measurement, PrunedGraphs]:
    measurement = Measurement(**{"dataset": dataset, "model": "sage", "backend": "sorted", "share": 0.2, "size": "tiny",
                                 **options})  # fmt: skip
    return measurement, PrunedGraphs(open_dataset(dataset, None, "tiny"))


@pytest.mark.parametrize("dataset", ["computers", "synthetic"])
def test_a_record_is_complete(dataset):
    measurement, graphs = tiny(dataset, backend="ordinary")
    record = json.loads(json.dumps(measure(measurement, graphs), allow_nan=False))
    assert record["key"] == measurement.key and record["error"] is None and record["task"] == "acceleration"
    assert all(record[name] > 0 for name in NUMBERS)
    assert record["epoch_seconds_min"] <= record["epoch_seconds_median"]
    assert record["share"] == pytest.approx(0.2, abs=0.01)
    assert record["training_peak_bytes"] > record["inference_peak_bytes"] > record["data_bytes"]
    assert record["versions"]["torch"] == torch.__version__ and "cpu" in record["device"]


def test_the_whole_graph_stays_on_the_host_and_unpruned():
    measurement, graphs = tiny(share=1.0)
    record = measure(measurement, graphs)
    assert record["share"] == 1 and record["edges"] == 3_000 and record["prune_seconds"] == 0
    assert "prepared" not in graphs.whole[0]


def test_a_failure_is_a_record_with_its_error(monkeypatch):
    def fail(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory.\n  Tried to allocate " + "x" * 1_000)

    monkeypatch.setattr(module, "make_workload", fail)
    record = measure(*tiny())
    assert record["error"].startswith("OutOfMemoryError: CUDA out of memory. Tried")
    assert len(record["error"]) == module.MAX_ERROR_CHARACTERS
    assert "epoch_seconds_min" not in record and record["run"]["backend"] == "sorted"


def test_an_allocator_that_cannot_free_does_not_lose_the_record(monkeypatch):
    def fail():
        raise RuntimeError("captures_underway.empty() INTERNAL ASSERT FAILED")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", fail)
    assert measure(*tiny())["error"] is None


def test_rounds_come_after_a_warm_up():
    calls: list[int] = []
    record = seconds(torch.device("cpu"), lambda: calls.append(1), "epoch")
    assert record["epoch_rounds"] == module.MAX_ROUNDS == len(calls) - module.WARM_UP_ROUNDS
