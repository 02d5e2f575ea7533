"""Pruning against PyG's own operations: random edge dropping and coalescing the same edges."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch_geometric.data import Data
from torch_geometric.utils import coalesce, dropout_edge

from common import DIM, THREADS, K, header, least, line, sizes
from graphs import features, power_law
from lsprune import LSP, Graph, prune
from lsprune.kernels import runtime
from lsprune.selection.owners import group


def measure(name: str, edges: int, nodes: int) -> None:
    """Print the figures for one graph."""
    torch.set_num_threads(THREADS)
    edge_index, x = power_law(edges, nodes), features(nodes, DIM)
    data = Data(edge_index=torch.from_numpy(edge_index), x=torch.from_numpy(x))
    graph = Graph.from_edges(edge_index, num_nodes=nodes, x=x)
    pruner = LSP(k=K)
    fitted = pruner.fit(graph, threads=THREADS)
    owned = group(graph, LSP(k=K, self_loops="edge"), runtime(THREADS))
    csr = Graph.from_csr(owned.indptr, owned.neighbour, rows="target", x=x)
    kept = float(fitted.mask(graph).mean())
    prune(csr, fitted, threads=THREADS)  # compiled and warm
    prune(data, fitted, threads=THREADS)
    times = least(
        {
            "dropout": lambda: dropout_edge(data.edge_index, 1 - kept),
            "coo": lambda: prune(data, fitted, threads=THREADS),
            "csr": lambda: prune(csr, fitted, threads=THREADS),
            "fit": lambda: pruner.fit(graph, threads=THREADS),
            "coalesce": lambda: coalesce(data.edge_index),
        },
        rounds=9,
    )
    header(f"speed, {name}: {edges:,} edges, {nodes:,} nodes, {kept:.1%} kept; preset {pruner!r} (fitted)")
    drop = times["dropout"]
    line("dropout_edge (random, looks at no feature)", f"{drop * 1e3:.1f} ms")
    line("coalesce", f"{times['coalesce'] * 1e3:.1f} ms")
    line("COO -> COO (PyG Data)", f"{times['coo'] * 1e3:.1f} ms", f"{edges / times['coo'] / 1e6:.0f} M edges/s")
    line("CSR -> CSR", f"{times['csr'] * 1e3:.1f} ms", f"{edges / times['csr'] / 1e6:.0f} M edges/s")
    line("COO -> COO / dropout_edge", f"{times['coo'] / drop:.2f}x", "<= 4, stretch 3")
    line("COO -> COO / coalesce", f"{times['coo'] / times['coalesce']:.2f}x", "<= 0.6")
    line("CSR -> CSR / dropout_edge", f"{times['csr'] / drop:.2f}x", "<= 2, stretch 1.5")
    line("fit / dropout_edge", f"{times['fit'] / drop:.2f}x", "<= 1")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures of the graphs asked for."""
    for size in sizes(__doc__, argv):
        measure(*size)


if __name__ == "__main__":
    main()
