"""The fused attention kernel: PyG's results and gradients, on a GPU or in Triton's interpreter."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.nn import GATConv  # noqa: E402

from lsprune.lab.models.attention import FusedGATConv, SortedEdges  # noqa: E402

NODES = 14


def some_edges() -> torch.Tensor:
    """Return edges, some twice, and self-loops; the last node has none."""
    draw = torch.Generator().manual_seed(2)
    edges = torch.randint(NODES - 1, (2, 50), generator=draw)
    return torch.cat([edges, edges[:, :3], torch.arange(NODES - 1).repeat(2, 1)], dim=1)


def check_against_pyg(device: str) -> None:
    """Compare results and gradients for heads and widths that are powers of two and others."""
    edges = some_edges().to(device)
    for heads, width, concat in ((3, 5, True), (4, 8, False), (1, 1, True)):
        torch.manual_seed(heads)
        theirs = GATConv(6, width, heads=heads, concat=concat, add_self_loops=False).to(device)
        ours = FusedGATConv(6, width, heads=heads, concat=concat, add_self_loops=False).to(device)
        ours.load_state_dict(theirs.state_dict())
        x = (3 * torch.randn(NODES, 6, device=device)).requires_grad_()
        expected, result = theirs(x, edges), ours(x, SortedEdges.of(edges, NODES))
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)
        weights = torch.randn_like(expected)
        for mine, other in zip(
            torch.autograd.grad(result, [x, *ours.parameters()], weights),
            torch.autograd.grad(expected, [x, *theirs.parameters()], weights),
            strict=True,
        ):
            torch.testing.assert_close(mine, other, rtol=1e-3, atol=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.filterwarnings("ignore:.*torch-scatter.*:UserWarning")
def test_results_and_gradients_on_a_gpu_are_those_of_pyg():
    check_against_pyg("cuda")


@pytest.mark.skipif(torch.cuda.is_available(), reason="tested on the GPU itself")
@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton, which comes with torch for CUDA")
@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= "2.4.0", reason="Triton's interpreter needs an older numpy")
def test_results_and_gradients_in_the_interpreter_are_those_of_pyg():
    code = "import test_attention_triton as tests; tests.check_against_pyg('cpu')"
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
