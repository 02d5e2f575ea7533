"""Train a small GAT on a generated citation-like graph, whole and pruned; print accuracy and time of each.

Papers belong to topics of 16, each topic to one of five classes. One citation in four stays within the topic, the
others go anywhere, to famous papers above all. A paper is a set of words; those of its own class come a little more
often. The graph is pruned once, before training, and the time that takes is in the table. One seed on a made-up graph
with many noisy citations: it shows how to do it, and what pruning does where most edges are noise.
Run it: `python examples/train_pruned.py`, or with `--smoke` for a small graph and few epochs.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass

import torch
from torch.nn import functional
from torch_geometric.data import Data
from torch_geometric.nn import GATConv

from lsprune import LSP, LocalRandom, prune

CLASSES, WORDS, TOPIC = 5, 200, 16
KEEP = 0.2  # the share of edges to keep


def citations(nodes: int, edges: int, seed: int = 0) -> Data:
    """The graph: every edge in both directions, words as a 0/1 matrix, a split of 60, 20 and 20 %."""
    random = torch.Generator().manual_seed(seed)
    topic = torch.arange(nodes) // TOPIC
    y = torch.randint(CLASSES, (nodes // TOPIC + 1,), generator=random)[topic]
    citing = torch.randint(nodes, (edges,), generator=random)
    # Who is cited: every fourth time a paper of the same topic, else by chance in proportion to a power law.
    fame = (torch.randperm(nodes, generator=random) + 10.0) ** -0.5
    cited = torch.multinomial(fame, edges, replacement=True, generator=random)
    near = citing // TOPIC * TOPIC + torch.randint(TOPIC, (edges,), generator=random)
    cited = torch.where(torch.rand(edges, generator=random) < 0.25, near.clamp(max=nodes - 1), cited)
    pairs = torch.stack([citing, cited])[:, citing != cited]

    # A word of the own class comes a little more often than any other.
    chance = torch.full((nodes, WORDS), 0.05)
    own = torch.arange(WORDS).remainder(CLASSES) == y[:, None]
    x = (torch.rand(nodes, WORDS, generator=random) < torch.where(own, 0.075, chance)).float()

    part = torch.rand(nodes, generator=random)
    return Data(
        x=x, y=y, edge_index=torch.cat([pairs, pairs.flip(0)], 1).unique(dim=1),
        train=part < 0.6, valid=(part >= 0.6) & (part < 0.8), test=part >= 0.8,
    )  # fmt: skip


class GAT(torch.nn.Module):
    """Two layers of attention."""

    def __init__(self) -> None:
        super().__init__()
        self.first = GATConv(WORDS, 8, heads=4, dropout=0.3)
        self.second = GATConv(32, CLASSES, dropout=0.3)

    def forward(self, data: Data) -> torch.Tensor:
        hidden = functional.elu(self.first(data.x, data.edge_index))
        return self.second(functional.dropout(hidden, 0.5, self.training), data.edge_index)


@dataclass(frozen=True)
class Trained:
    """What training came to."""

    accuracy: float  # of the test nodes, at the epoch with the best validation accuracy
    epoch: float  # median seconds of a training epoch


def train(data: Data, epochs: int, seed: int = 0) -> Trained:
    """A model trained on this graph and tested on it."""
    torch.manual_seed(seed)
    model = GAT()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best, test, seconds = -1.0, 0.0, []
    for _ in range(epochs):
        start = time.perf_counter()
        model.train()
        optimizer.zero_grad()
        functional.cross_entropy(model(data)[data.train], data.y[data.train]).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)

        model.eval()
        with torch.no_grad():
            right = (model(data).argmax(1) == data.y).float()
        if (valid := float(right[data.valid].mean())) > best:
            best, test = valid, float(right[data.test].mean())
    return Trained(test, statistics.median(seconds))


def compare(nodes: int, edges: int, epochs: int) -> None:
    """Train on the whole graph and on two pruned ones of the same size; print a table and a sentence."""
    data = citations(nodes, edges)
    # symmetric="union" keeps both directions of an edge together: the graph stays undirected.
    pruners = {
        "unpruned": None,
        "lsp-auto": LSP.auto(keep=KEEP, symmetric="union", labels=False),
        "local-random": LocalRandom(keep=KEEP, symmetric="union"),
    }
    results: dict[str, Trained] = {}
    print(f"{nodes:,} nodes, {data.num_edges:,} edges, {epochs} epochs")
    print(f"{'method':14}{'edges':>10}{'share':>8}{'pruning, s':>12}{'epoch, s':>10}{'accuracy':>10}")
    for name, pruner in pruners.items():
        small, seconds = data, 0.0
        if pruner is not None:
            prune(data, pruner)  # the first call loads compiled code
            start = time.perf_counter()
            small = prune(data, pruner)
            seconds = time.perf_counter() - start
        results[name] = found = train(small, epochs)
        share = small.num_edges / data.num_edges
        print(
            f"{name:14}{small.num_edges:>10,}{share:>8.1%}{seconds:>12.3f}{found.epoch:>10.4f}{found.accuracy:>10.3f}"
        )
    print(sentence(results))


def sentence(results: dict[str, Trained]) -> str:
    """What came of it, in a sentence."""
    whole, lsp, random = (results[name] for name in ("unpruned", "lsp-auto", "local-random"))
    points = [100 * (lsp.accuracy - other.accuracy) for other in (whole, random)]
    return (
        f"With {KEEP:.0%} of the edges, LSP.auto is {points[0]:+.1f} points from all edges and {points[1]:+.1f} from "
        f"as many random ones; an epoch takes {lsp.epoch / whole.epoch:.2f} of the time."
    )


def main(arguments: list[str] | None = None) -> None:
    """Read the options and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="a small graph and few epochs, to see that it works")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)  # times compare better, also where the machine has other work
    if given.smoke:
        compare(nodes=600, edges=12_000, epochs=40)
    else:
        compare(nodes=3_000, edges=60_000, epochs=40)


if __name__ == "__main__":
    main()
