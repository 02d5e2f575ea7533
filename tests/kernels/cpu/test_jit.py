from __future__ import annotations

import os
import subprocess
import sys

import pytest

from graphs import random_graph
from lsprune import LSP


def test_a_damaged_numba_cache_is_compiled_anew(tmp_path):
    code = (
        "import numpy as np; from lsprune import LSP, Graph;"
        "g = Graph.from_edges(np.random.default_rng(0).integers(0, 9, (2, 60)), x=np.eye(9));"
        "print(LSP(k=2).mask(g).astype(int).tolist())"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def call():
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)

    expected = call().stdout
    files = [path for path in tmp_path.rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert files
    for i, path in enumerate(files):
        path.write_bytes([b"", path.read_bytes()[:37], b"not a cache at all"][i % 3])
    assert call().stdout == expected


def test_global_thread_settings_are_left_alone():
    torch = pytest.importorskip("torch")
    import numba

    before = (torch.get_num_threads(), numba.get_num_threads())
    LSP(k=2).mask(random_graph(0), threads=7)
    assert (torch.get_num_threads(), numba.get_num_threads()) == before


INTERRUPTED = """
import signal
from llvmlite.binding.executionengine import ExecutionEngine
from lsprune.kernels.cpu.jit import kernel
find = ExecutionEngine._find_module_ptr
def interrupted(self, pointer):
    signal.raise_signal(signal.SIGINT)
    return find(self, pointer)
ExecutionEngine._find_module_ptr = interrupted
def double(x):
    return 2 * x
try:
    kernel(double)(3)
except KeyboardInterrupt:
    print("interrupted")
ExecutionEngine._find_module_ptr = find
print(kernel(double)(3))
"""


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_a_kernel_is_compiled_comes_after_it():
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "interrupted\n6\n", "")
