"""Draw a new pruning for every epoch of a PyG NodeLoader; print how many nodes a batch of two hops has.

A sampler that draws k neighbours for each node by itself reads many nodes for a few targets. With `hash="identity"`
every node has one random number, the same for all its neighbours, and each keeps the k neighbours with the smallest
numbers. Nodes with common neighbours keep the same ones, as in LABOR sampling, so that a batch has fewer nodes; what a
single node keeps is a fair sample. The seed is the number of the epoch: every epoch sees other edges.
The graph is `graphs/musae_facebook.npz` in LSPRUNE_DATA or in `shared/data` beside the checkout, else it is made up.
Run it: `python examples/epoch_sampler.py`, or with `--smoke` for a small graph.
"""

from __future__ import annotations

import argparse
import os
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.loader import NodeLoader
from torch_geometric.sampler import BaseSampler, NodeSamplerInput, SamplerOutput

from lsprune import LSP, LocalRandom, mask
from lsprune.pruners import Pruner


class EpochSampler(BaseSampler):
    """Take all neighbours that a pruning has left, hop by hop; `draw` prunes anew."""

    def __init__(self, data: Data, pruner: Pruner, hops: int = 2) -> None:
        self.data, self.pruner, self.hops = data, pruner, hops
        self.draw(0)

    def draw(self, epoch: int) -> None:
        """Prune with the number of the epoch as the seed; keep the edges sorted by target."""
        kept = np.flatnonzero(mask(self.data, replace(self.pruner, seed=epoch)))
        target = self.data.edge_index[1].numpy()[kept]
        order = np.argsort(target, kind="stable")
        self.edge = torch.from_numpy(kept[order])
        self.first = torch.from_numpy(np.searchsorted(target[order], np.arange(self.data.num_nodes + 1)))

    def sample_from_nodes(self, index: NodeSamplerInput, **options: object) -> SamplerOutput:
        """Return the nodes within so many hops, and the edges that lead to all but the last."""
        nodes, new, edges, counts = index.node, index.node, [], ([len(index.node)], [])
        for _ in range(self.hops):
            first, degree = self.first[new], self.first[new + 1] - self.first[new]
            starts = (first - degree.cumsum(0) + degree).repeat_interleave(degree)
            edges.append(found := self.edge[starts + torch.arange(len(starts))])
            sources = self.data.edge_index[0, found].unique()
            new = sources[~torch.isin(sources, nodes)]
            nodes = torch.cat([nodes, new])
            counts = ([*counts[0], len(new)], [*counts[1], len(found)])
        edge = torch.cat(edges)
        place = torch.empty(self.data.num_nodes, dtype=torch.long)
        place[nodes] = torch.arange(len(nodes))
        ends = place[self.data.edge_index[:, edge]]
        return SamplerOutput(nodes, *ends, edge, None, *counts, metadata=(index.input_id, index.time))

    def sample_from_edges(self, index: object, neg_sampling: object = None) -> SamplerOutput:
        raise NotImplementedError("this example samples from nodes only")


def graph(smoke: bool) -> Data:
    """Return a real graph if it is at hand, else communities of 50 nodes with a fifth of all edges between them."""
    folder = Path(os.environ.get("LSPRUNE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    path = folder / "graphs" / "musae_facebook.npz"
    if path.exists() and not smoke:
        edges = torch.from_numpy(np.load(path)["edge_index"])
        return Data(edge_index=edges, num_nodes=int(edges.max()) + 1)
    random, nodes = np.random.default_rng(0), 1_000 if smoke else 20_000
    source, other, place = (random.integers(0, top, 20 * nodes) for top in (nodes, nodes, 50))
    target = np.where(random.random(20 * nodes) < 0.2, other, source // 50 * 50 + place)
    edges = torch.from_numpy(np.stack([source, target]))
    return Data(edge_index=torch.cat([edges, edges.flip(0)], 1), num_nodes=nodes).coalesce()


def main(arguments: list[str] | None = None) -> None:
    """Load all batches of a few epochs with each pruner; print their sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="a small graph, to see that it works")
    smoke, epochs = parser.parse_args(arguments).smoke, 3
    data, k, size = (graph(True), 4, 64) if smoke else (graph(False), 10, 512)
    print(f"{data.num_nodes:,} nodes, {data.num_edges:,} edges; k={k}, 2 hops, {size} targets, {epochs} epochs")
    print(f"{'method':16}{'nodes/batch':>12}{'edges/batch':>12}")
    pruners = {"local-random": LocalRandom(k=k), "lsp-identity": LSP(k=k, hash="identity", select="bottom")}
    for name, pruner in pruners.items():
        sampler, sizes = EpochSampler(data, pruner), []
        loader = NodeLoader(data, sampler, batch_size=size, shuffle=True, generator=torch.Generator().manual_seed(0))
        for epoch in range(epochs):
            sampler.draw(epoch)  # before the loader starts: its workers have copies of the sampler
            sizes += [(batch.num_nodes, batch.num_edges) for batch in loader]  # train here
        nodes, edges = (statistics.mean(column) for column in zip(*sizes, strict=True))
        print(f"{name:16}{nodes:>12,.0f}{edges:>12,.0f}")


if __name__ == "__main__":
    main()
