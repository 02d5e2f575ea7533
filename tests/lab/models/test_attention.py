"""Attention without a row for every edge: PyG's result and gradients, on a GPU or in Triton's interpreter."""

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

from lsprune.lab.models.attention import Links, SmallGAT  # noqa: E402

NODES = 14


def some_edges() -> torch.Tensor:
    """Edges, some twice, and self-loops; the last node has none."""
    draw = torch.Generator().manual_seed(2)
    edges = torch.randint(NODES - 1, (2, 50), generator=draw)
    return torch.cat([edges, edges[:, :3], torch.arange(NODES - 1).repeat(2, 1)], dim=1)


@pytest.mark.parametrize("hidden", [0, 4])
def test_links_are_the_edges_sorted_both_ways_without_those_of_nodes_that_are_not_real(hidden):
    edges, real = some_edges(), torch.arange(NODES) < NODES - hidden
    links = Links.of(edges, NODES, real)
    pairs = [pair for pair in edges.T.tolist() if real[pair[0]]], [pair for pair in edges.T.tolist() if real[pair[1]]]
    for starts, others, own, kept in (
        (links.back_starts, links.targets, 0, pairs[0]), (links.starts, links.sources, 1, pairs[1]),
    ):  # fmt: skip
        assert int(starts[-1]) == len(kept)
        for node in range(NODES):
            found = others[starts[node] : starts[node + 1]].tolist()
            assert found == [pair[1 - own] for pair in kept if pair[own] == node]


def test_without_links_the_layer_is_that_of_pyg():
    torch.manual_seed(0)
    ours, x = SmallGAT(5, 4, heads=2), torch.randn(NODES, 5)
    theirs = GATConv(5, 4, heads=2)
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(ours(x, some_edges()), theirs(x, some_edges()))


def check_against_pyg(device: str) -> None:
    """Results and gradients, for heads and widths that are powers of two and that are not."""
    edges = some_edges().to(device)
    for heads, width, concat in ((3, 5, True), (4, 8, False), (1, 1, True)):
        torch.manual_seed(heads)
        theirs = GATConv(6, width, heads=heads, concat=concat, add_self_loops=False).to(device)
        ours = SmallGAT(6, width, heads=heads, concat=concat, add_self_loops=False).to(device)
        ours.load_state_dict(theirs.state_dict())
        x = (3 * torch.randn(NODES, 6, device=device)).requires_grad_()
        expected, found = theirs(x, edges), ours(x, Links.of(edges, NODES))
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
        weights = torch.randn_like(expected)
        for mine, other in zip(
            torch.autograd.grad(found, [x, *ours.parameters()], weights),
            torch.autograd.grad(expected, [x, *theirs.parameters()], weights),
            strict=True,
        ):
            torch.testing.assert_close(mine, other, rtol=1e-3, atol=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.filterwarnings("ignore:.*torch-scatter.*:UserWarning")
def test_on_a_gpu_with_links_the_layer_is_that_of_pyg():
    check_against_pyg("cuda")


@pytest.mark.skipif(torch.cuda.is_available(), reason="tested on the GPU itself")
@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton, which comes with torch for CUDA")
@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= "2.4.0", reason="Triton's interpreter needs an older numpy")
def test_in_the_interpreter_with_links_the_layer_is_that_of_pyg():
    code = "import test_attention as tests; tests.check_against_pyg('cpu')"
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
