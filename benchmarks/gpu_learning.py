"""Codebooks and "auto" on a graph that is on a GPU: to fit, and to prune once fitted.

Without a CUDA device there is nothing to measure; `--device cpu` runs the same code on CPU tensors, to see that it
works.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from common import K, line
from gpu import extra_bytes, milliseconds, power_law
from lsprune import LSP, prune
from lsprune.hashing import Both, Codebook, Signs

EDGES, DIM, KINDS = 10_000_000, 64, 5_000


def clusters(count: int, dim: int, device: str, seed: int) -> Tensor:
    """Rows around some thousand centres, so that there is something to learn."""
    generator = torch.Generator(device).manual_seed(seed)
    centres = torch.randn(KINDS, dim, device=device, generator=generator)
    which = torch.randint(0, KINDS, (count,), device=device, generator=generator)
    return centres[which] + 0.3 * torch.randn(count, dim, device=device, generator=generator)


def pruners(words: int) -> dict[str, LSP]:
    """The pruners to measure; `words` is a number of words that is searched in lists."""
    nodes = ("neighbour",)
    return {
        "codebook of nodes": LSP(k=K, hash=Codebook(), attributes=nodes),
        "codebook of edges and nodes": LSP(k=K, hash=Codebook()),
        f"codebook of edges and nodes, {words:,} words": LSP(k=K, hash=Codebook(words=words)),
        "Both": LSP(k=K, hash=Both(edge=Codebook(), node=Signs(bits=6))),
        'hash="auto", weights="auto"': LSP.auto(k=K),
    }


def measure(data: Data, words: int, device: str, rounds: int) -> None:
    """Print the figures of one graph."""
    where = torch.cuda.get_device_name() if device != "cpu" else "CPU tensors"
    print(f"\n## gpu_learning: {data.num_edges:,} edges, {data.num_nodes:,} nodes, d={data.x.shape[1]}\n   {where}")
    for name, pruner in pruners(words).items():
        fitted: Any = pruner.fit(data)
        line(f"fit, {name}", f"{milliseconds(lambda p=pruner: p.fit(data), device, 0):.1f} ms")
        line(f"prune, {name}", f"{milliseconds(lambda f=fitted: prune(data, f), device, rounds):.2f} ms")
        if device != "cpu":
            extra = extra_bytes(lambda f=fitted: prune(data, f)) / data.num_edges
            line(f"prune, {name}: extra memory", f"{extra:.0f} B an edge")
        if fitted.learned is not None:
            line(f"{name}: learned", f"{fitted.learned.shape}")
        print(f"      {fitted!r}")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--nodes", type=int, default=None, help="default: a tenth of the edges")
    parser.add_argument("--words", type=int, default=1 << 16)
    parser.add_argument("--device", default="cuda", help="cuda or cpu")
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args(argv)
    if options.device != "cpu" and not torch.cuda.is_available():
        print("\n## gpu_learning: no CUDA device here, so that there is nothing to measure")
        return
    nodes = options.nodes or options.edges // 10
    data = Data(
        edge_index=power_law(options.edges, nodes, options.device),
        x=clusters(nodes, DIM, options.device, 1),
        edge_attr=clusters(options.edges, DIM // 4, options.device, 2),
    )
    measure(data, options.words, options.device, options.rounds)


if __name__ == "__main__":
    main()
