"""Where Triton kernels are tested: on a GPU, or in Triton's interpreter, which a process has on or off from its start.

A test that imports this is skipped on a machine without torch or Triton.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="no Triton on this machine")

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
HERE = INTERPRETED or torch.cuda.is_available()  # kernels run in this process
DEVICE = torch.device("cpu" if INTERPRETED else "cuda")

runs = pytest.mark.skipif(not HERE, reason="torch finds no CUDA device here")
elsewhere = pytest.mark.skipif(HERE, reason="the other tests of this file run in this process")


def run_interpreted(path: str) -> int:
    """Run the tests of a file in a process that interprets Triton kernels; return its exit status."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path]
    return subprocess.run(command, env=environment).returncode


def _allow_ranges() -> None:
    """Let the interpreter of Triton 3.6 run `range(number)` with NumPy 2.4, which makes no int of an array of one."""
    from triton.runtime import interpreter

    patch = getattr(interpreter, "_patch_lang_tensor", None)

    def patch_more(tensor, *scopes) -> None:
        patch(tensor, *scopes)
        for scope in scopes:  # none in older versions
            scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())

    if patch is not None:
        interpreter._patch_lang_tensor = patch_more


if INTERPRETED:
    _allow_ranges()
