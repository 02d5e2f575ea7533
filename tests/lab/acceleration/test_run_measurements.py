"""Measurements are made once, go on where they stopped, and one that fails does not stop the others."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch_geometric")

from lsprune.errors import OptionError  # noqa: E402
from lsprune.lab.acceleration import run_measurements as module  # noqa: E402
from lsprune.lab.acceleration.measurement import plan  # noqa: E402
from lsprune.lab.acceleration.run_measurements import run_measurements  # noqa: E402
from lsprune.lab.studies.result_files import Results  # noqa: E402

PLAN = list(plan(size="tiny", datasets=("computers", "large"), models=("gcn",), backends=("ordinary", "sorted"),
                 shares=(1.0, 0.2)))  # fmt: skip


@pytest.fixture
def measured(monkeypatch):
    """What was measured, without measuring it; those in `failing` fail."""
    calls: list = []

    def measure(measurement, graphs):
        assert graphs.dataset.name == measurement.dataset
        calls.append(measurement)
        error = "RuntimeError: no" if measurement.backend in measured.failing else None
        return {"key": measurement.key, "run": measurement.to_dict(), "error": error}

    monkeypatch.setattr(module, "measure", measure)
    measured = type("Measured", (), {"calls": calls, "failing": set()})
    return measured


def test_every_line_is_written_once(tmp_path, measured):
    results = Results(tmp_path / "a.jsonl")
    assert run_measurements(PLAN[:3], results).missing == 0
    told = []
    status = run_measurements(PLAN, results, progress=lambda *step: told.append(step))
    assert told == [(i, len(PLAN) - 3, str(measurement)) for i, measurement in enumerate(PLAN[3:])]
    assert (status.total, status.done) == (8, 8)
    assert measured.calls == sorted(PLAN, key=PLAN.index)
    lines = [json.loads(line) for line in results.path.read_text().splitlines()]
    assert [line["key"] for line in lines] == [measurement.key for measurement in PLAN]


def test_failures_are_recorded_and_tried_again_when_asked(tmp_path, measured):
    results = Results(tmp_path / "a.jsonl")
    measured.failing = {"sorted"}
    assert run_measurements(PLAN, results).done == 8
    run_measurements(PLAN, results)
    assert len(measured.calls) == 8
    measured.failing = set()
    run_measurements(PLAN, results, retry=True)
    assert [m.backend for m in measured.calls[8:]] == ["sorted"] * 4


def test_it_stops_in_time(tmp_path, measured):
    status = run_measurements(PLAN, Results(tmp_path / "a.jsonl"), budget=1e-9)
    assert status.done == 0 and measured.calls == []


def test_it_stops_when_the_device_no_longer_answers(tmp_path, measured, monkeypatch):
    measured.failing = {"ordinary"}
    monkeypatch.setattr(module, "_answers", lambda device: False)
    assert run_measurements(PLAN, Results(tmp_path / "a.jsonl")).done == 1


def test_a_device_that_is_not_here_is_an_error(tmp_path):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(OptionError, match="device must be one that this machine has"):
        run_measurements(plan(device="cuda", size="tiny"), Results(tmp_path / "a.jsonl"))
