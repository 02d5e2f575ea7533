"""Triton is used where it works and nowhere else: the torch functions stand in for it silently."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from lsprune.kernels.gpu import triton_support as support

torch = pytest.importorskip("torch")

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """Answers are remembered: forget those of other tests, and those of each test after it."""
    functions = (support.triton_kernels, support._can_import, support._compiles)
    for name in ("LSPRUNE_TRITON", "TRITON_INTERPRET"):
        monkeypatch.delenv(name, raising=False)
    for function in functions:
        function.cache_clear()
    yield
    for function in functions:
        function.cache_clear()


@pytest.fixture
def gpu(monkeypatch):
    """A CUDA device on which kernels compile: set `capability` or `fault` to change that."""
    state = SimpleNamespace(capability=(9, 0), fault=None, compiled=0)

    def mix_values(values):
        state.compiled += 1
        if state.fault is not None:
            raise state.fault

    arange = torch.arange
    monkeypatch.setattr(torch, "arange", lambda stop, device: arange(stop))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: state.capability)
    monkeypatch.setattr(support, "_can_import", lambda: True)
    monkeypatch.setattr(support, "_module", lambda name: SimpleNamespace(name=name, mix_values=mix_values))
    return state


def test_tensors_of_the_host_need_no_triton(gpu):
    assert support.triton_kernels("splitmix_triton", CPU) is None
    assert gpu.compiled == 0


def test_one_small_kernel_is_tried_on_a_device(gpu):
    for name in ("choose_triton", "masking_triton", "choose_triton"):
        assert support.triton_kernels(name, CUDA).name == name
    assert gpu.compiled == 1


def test_old_devices_are_left_alone(gpu):
    gpu.capability = (7, 5)
    assert support.triton_kernels("choose_triton", CUDA) is None
    assert gpu.compiled == 0


@pytest.mark.parametrize("fault", [RuntimeError("no C compiler"), OSError("read-only"), SystemError()])
def test_whatever_keeps_kernels_from_compiling_is_no_error(gpu, fault):
    gpu.fault = fault
    assert support.triton_kernels("choose_triton", CUDA) is None


def test_a_variable_switches_triton_off(gpu, monkeypatch):
    monkeypatch.setenv("LSPRUNE_TRITON", "0")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert support.triton_kernels("choose_triton", CUDA) is None


def test_interpreted_kernels_run_on_the_host(gpu, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert support.triton_kernels("choose_triton", CPU).name == "choose_triton"
    assert gpu.compiled == 0


def test_a_machine_without_triton_uses_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    assert support.triton_kernels("choose_triton", CUDA) is None
    support.triton_kernels.cache_clear()
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert support.triton_kernels("choose_triton", CPU) is None
