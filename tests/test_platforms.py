"""Systems without what POSIX has: lsprune is imported and prunes in memory; what needs more says so in a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

WITHOUT_POSIX = """
import os, sys
for name in ("fcntl", "resource", "pwd", "grp", "termios"):  # modules that Windows lacks
    sys.modules[name] = None
for name in ("posix_fallocate", "sched_getaffinity", "sysconf", "O_NOFOLLOW", "O_DIRECTORY"):
    delattr(os, name)
"""
WITHOUT_PROC = """
from pathlib import Path
read = Path.read_text
def refuse(path, *args, **kwargs):
    if path.parts[:2] in (("/", "proc"), ("/", "sys")):
        raise FileNotFoundError(2, "No such file or directory", str(path))
    return read(path, *args, **kwargs)
Path.read_text = refuse
"""
PRUNE = """
import numpy as np
from lsprune import LSP, Graph, OptionError, prune
from lsprune.files import read_edges, write_edges
from lsprune.outofcore import prune_stream
from lsprune.cli import app
from typer.testing import CliRunner
ends = np.random.default_rng(0).integers(0, 30, (2, 300))
x = np.random.default_rng(1).standard_normal((30, 4)).astype(np.float32)
mask = LSP(k=3).mask(Graph.from_edges(ends, num_nodes=30, x=x))
np.savez("in.npz", edge_index=ends, x=x)
read = read_edges("in.npz")
write_edges("out.npz", read, LSP(k=3).mask(read.graph))
assert np.array_equal(np.load("out.npz")["edge_index"], ends[:, mask])
np.savetxt("in.csv", ends.T, fmt="%d", delimiter=",")
done = CliRunner().invoke(app, ["prune", "in.csv", "out.csv", "--hash", "identity", "--k", "2"])
assert done.exit_code == 0, done.output
print("kept", *np.flatnonzero(mask))
try:
    print("streamed", prune_stream("in.csv", "streamed.csv", LSP(k=2, hash="identity")).kept)
except OptionError as error:
    print("error", error)
"""


def _run(tmp_path: Path, *parts: str) -> list[str]:
    """Return the lines that these parts of a program print."""
    paths = os.pathsep.join([str(Path(__file__).parents[1] / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent("\n".join(parts))],
        env={**os.environ, "PYTHONPATH": paths}, cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.skipif(os.name != "posix", reason="takes away what POSIX has")
def test_without_posix_memory_gives_the_same_mask_and_streaming_says_what_it_needs(tmp_path):
    kept, refused = _run(tmp_path, WITHOUT_POSIX, WITHOUT_PROC, PRUNE)
    left = {path.name for path in tmp_path.iterdir()}
    same, streamed = _run(tmp_path, PRUNE)
    assert kept == same and len(kept) > 100
    assert streamed.startswith("streamed ")
    assert refused.startswith("error streaming must run on Linux or macOS, got a system without fcntl")
    assert left == {"in.npz", "out.npz", "in.csv", "out.csv"}


@pytest.mark.skipif(os.name != "posix", reason="takes away what POSIX has")
def test_without_proc_streaming_gives_the_same(tmp_path):
    assert (
        _run(tmp_path, WITHOUT_PROC, "import os", "del os.posix_fallocate, os.sched_getaffinity", PRUNE)[1]
        == (_run(tmp_path, PRUNE)[1])
    )


def test_the_lab_is_imported_without_posix(tmp_path):
    pytest.importorskip("torch_geometric")
    code = "from lsprune.lab.training import environment\nfrom lsprune.lab.studies import result_files\nimport torch"
    lines = _run(
        tmp_path, "import torch_geometric", WITHOUT_POSIX, code,  # the first needs these modules itself, on Linux
        "print(environment.peak_bytes(torch.device('cpu')))",
        "with result_files.Results(__import__('pathlib').Path('r.jsonl')).writing() as results: print(results.keys())",
    )  # fmt: skip
    assert lines == ["0", "set()"]
