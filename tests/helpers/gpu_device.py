"""The device that `tests/gpu` runs on; whoever imports this is skipped where there is none.

`LSPRUNE_TEST_DEVICE=cpu` takes CPU tensors instead, with plain torch, to see that the tests themselves work.
"""

from __future__ import annotations

import os

import pytest

torch = pytest.importorskip("torch")
DEVICE = os.environ.get("LSPRUNE_TEST_DEVICE", "cuda")
if DEVICE == "cuda" and not torch.cuda.is_available():
    pytest.skip("torch finds no CUDA device on this machine", allow_module_level=True)
