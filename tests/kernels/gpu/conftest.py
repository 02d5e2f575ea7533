"""Where the tests of this folder run."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from lsprune.kernels.gpu.triton_support import triton_kernels


def devices() -> list[str]:
    """The types of torch devices that this machine has."""
    if find_spec("torch") is None:
        return ["cpu"]
    import torch

    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


@pytest.fixture(params=devices())
def device(request, monkeypatch):
    """A device on which torch does the work, and Triton none of it."""
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("LSPRUNE_TRITON", "0")
    triton_kernels.cache_clear()
    yield torch.device(request.param)
    triton_kernels.cache_clear()
