"""Device, versions, time and memory of a run."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lsprune.errors import OptionError  # noqa: E402
from lsprune.lab.training.environment import checked_device, environment, peak_bytes, timed  # noqa: E402

CPU = torch.device("cpu")


def test_an_unknown_device_is_named():
    message = "device must be one that this machine has, such as cpu or cuda, got 'abacus'"
    with pytest.raises(OptionError, match=message):
        checked_device("abacus")
    assert checked_device("cpu") == CPU


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_a_device_that_torch_knows_but_the_machine_lacks_is_named():
    with pytest.raises(OptionError, match="this machine has, and it has no CUDA device, got 'cuda:1'"):
        checked_device("cuda:1")


def test_the_environment_has_device_and_versions():
    described = environment(CPU)
    assert described["device"] == f"cpu ({torch.get_num_threads()} threads)"
    assert set(described["versions"]) == {"lsprune", "torch", "pyg", "numpy", "python"}
    assert described["versions"]["python"] == platform.python_version()


def test_timed_returns_seconds_and_result(monkeypatch):
    clock = iter([5.0, 7.5])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    assert timed(CPU, lambda: "result") == (2.5, "result")


def test_peak_memory_is_between_the_present_and_the_physical_memory():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    page = os.sysconf("SC_PAGE_SIZE")
    assert 0.9 * pages * page <= peak_bytes(CPU) <= os.sysconf("SC_PHYS_PAGES") * page
