"""Heterogeneous graphs: a budget for each relation, or one that relations share?

ACM and DBLP (HGB's copies: papers of three classes, authors of four) are pruned to a share of all edges, reverse
relations in step. A network of two layers, a SAGE for each relation with skip connections, is trained on what is left,
on the CPU. What is printed is the test accuracy at the best validation accuracy, in percent, the mean over seeds with a
95 % interval; for a shared budget also the paired difference to the same pruner with a budget for each relation.

The labels of HGB's test nodes in these copies say nothing: papers that cite each other have the same class in 91 % of
the cases among training nodes and in 34 % (chance) among test nodes. So only the training nodes are used. Each seed
divides them anew: 40 % for training, 20 % for validation, 40 % for testing. Published figures do not compare.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import stats
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import HeteroData

from common import line
from lsprune import LSP, LocalRandom, LspruneWarning, NoEdges, Random, SharedBudget, prune

WIDTH, EPOCHS, DENSE_SHARE = 32, 40, 0.04
Relation = tuple[str, str, str]

# Kinds of nodes (the first has the labels), and relations by number. Targets, the owners, are nearer to the labels.
KINDS = {"acm": ("paper", "author", "subject", "term"), "dblp": ("author", "paper", "term", "venue")}
RELATIONS: dict[str, dict[int, Relation]] = {
    "acm": {
        0: ("paper", "cites", "paper"), 1: ("paper", "rev_cites", "paper"),
        3: ("author", "writes", "paper"), 2: ("paper", "rev_writes", "author"),
        5: ("subject", "holds", "paper"), 4: ("paper", "rev_holds", "subject"),
        7: ("term", "describes", "paper"), 6: ("paper", "rev_describes", "term"),
    },
    "dblp": {
        3: ("paper", "has", "author"), 0: ("author", "rev_has", "paper"),
        4: ("term", "describes", "paper"), 1: ("paper", "rev_describes", "term"),
        5: ("venue", "prints", "paper"), 2: ("paper", "rev_prints", "venue"),
    },
}  # fmt: skip

Method = Callable[[HeteroData, float, int], HeteroData]  # data, share and seed to what is left


def _each(make: Callable[..., Any], data: HeteroData, keep: float, seed: int) -> HeteroData:
    return prune(data, make(keep=keep, seed=seed))


def _shared(make: Callable[..., Any], data: HeteroData, keep: float, seed: int) -> HeteroData:
    return prune(data, SharedBudget(pruner=make(keep=keep, seed=seed)))


def _without(*names: str) -> Method:
    """Remove whole relations, whatever the share."""
    return lambda data, keep, seed: prune(data, {key: NoEdges() for key in data.edge_types if key[1] in names})


METHODS: dict[str, Method] = {
    "all edges": lambda data, keep, seed: data,
    "no edges": lambda data, keep, seed: prune(data, NoEdges()),
    "no terms": _without("describes"),
    "random": partial(_each, Random),
    "k random": partial(_each, LocalRandom),
    "projection": partial(_each, LSP),
    "auto": partial(_each, LSP.auto),
    "shared, k random": partial(_shared, LocalRandom),
    "shared, projection": partial(_shared, LSP),
    "shared, auto": partial(_shared, LSP.auto),
}
WHATEVER_SHARE = ("all edges", "no edges", "no terms")


def read(name: str, folder: Path) -> HeteroData:
    """Return a graph of HGB; nodes without attributes get one of their own."""
    arrays, data, kinds = np.load(folder / f"hgb_{name}.npz"), HeteroData(), KINDS[name]
    node_type, edge_type = arrays["node_type"], arrays["edge_type"]
    place = np.empty(node_type.shape, np.int64)  # of each node among those of its kind
    for number, kind in enumerate(kinds):
        nodes = np.flatnonzero(node_type == number)
        place[nodes] = np.arange(nodes.size)
        found = f"x_type{number}" in arrays
        data[kind].x = torch.from_numpy(arrays[f"x_type{number}"]).float() if found else torch.eye(nodes.size)
        if number == 0:
            data[kind].y = torch.from_numpy(arrays["y"][nodes])
            data[kind].train_mask = torch.from_numpy(arrays["train_mask"][nodes])  # the labels of others are wrong
    for number, relation in RELATIONS[name].items():
        data[relation].edge_index = torch.from_numpy(place[arrays["edge_index"][:, edge_type == number]])
    return data


def generated(papers: int = 300) -> HeteroData:
    """Papers of three classes: authors write of one class, terms are drawn at random."""
    rng, data = np.random.default_rng(0), HeteroData()
    y = rng.integers(0, 3, papers)
    author = 3 * rng.integers(0, 20, 2 * papers) + np.repeat(y, 2)
    ends = {"writes": ("author", author, 2), "describes": ("term", rng.integers(0, 40, 15 * papers), 15)}
    for name, (kind, source, degree) in ends.items():
        edges = torch.from_numpy(np.stack([source, np.repeat(np.arange(papers), degree)]))
        data[kind, name, "paper"].edge_index, data["paper", f"rev_{name}", kind].edge_index = edges, edges.flip(0)
        data[kind].x = torch.eye(60 if kind == "author" else 40)
    data["paper"].x = torch.from_numpy((np.eye(3)[y] + rng.normal(0, 1, (papers, 3))).astype(np.float32))
    data["paper"].y, data["paper"].train_mask = torch.from_numpy(y), torch.ones(papers, dtype=torch.bool)
    return data


class Net(nn.Module):
    """A linear layer for each kind of nodes, two layers of means over each relation with skip connections, classes."""

    def __init__(self, data: HeteroData, target: str, classes: int) -> None:
        super().__init__()
        self.target, self.relations = target, [tuple(key) for key in data.edge_types]
        first = {kind: torch.empty(data[kind].x.shape[1], WIDTH) for kind in data.node_types}
        self.first = nn.ParameterDict({kind: nn.init.xavier_uniform_(rows) for kind, rows in first.items()})
        self.norms = nn.ModuleList(nn.ModuleDict({k: nn.LayerNorm(WIDTH) for k in first}) for _ in range(2))
        self.own = nn.ModuleList(nn.ModuleDict({k: nn.Linear(WIDTH, WIDTH) for k in first}) for _ in range(2))
        self.others = nn.ModuleList(
            nn.ModuleDict({"-".join(key): nn.Linear(WIDTH, WIDTH, bias=False) for key in self.relations})
            for _ in range(2)
        )
        self.last = nn.Linear(WIDTH, classes)

    def forward(self, x: dict[str, Tensor], means: dict[Relation, Tensor]) -> Tensor:
        h = {kind: functional.relu(rows @ self.first[kind]) for kind, rows in x.items()}
        for norms, own, others in zip(self.norms, self.own, self.others, strict=True):
            z = {kind: functional.dropout(norms[kind](rows), 0.3, self.training) for kind, rows in h.items()}
            new = {kind: own[kind](rows) for kind, rows in z.items()}
            for key in self.relations:
                new[key[2]] = new[key[2]] + means[key] @ others["-".join(key)](z[key[0]])
            h = {kind: h[kind] + functional.relu(rows) for kind, rows in new.items()}
        scores: Tensor = self.last(functional.dropout(h[self.target], 0.3, self.training))
        return scores


def rows_of(x: Tensor) -> Tensor:
    """Attributes with rows of equal length; CSR if nearly all entries are 0."""
    x = functional.normalize(x) * min(x.shape[1], 30) ** 0.5
    return x.to_sparse_csr() if float((x != 0).float().mean()) < DENSE_SHARE else x


def means_of(edges: Tensor, sources: int, targets: int) -> Tensor:
    """The matrix that takes means over the in-neighbours of a relation."""
    source, target = edges.numpy()
    order = np.argsort(target, kind="stable")
    degree = np.bincount(target, minlength=targets)
    starts = torch.from_numpy(np.concatenate([[0], degree.cumsum()]))
    share = torch.from_numpy((1 / np.maximum(degree, 1))[target[order]].astype(np.float32))
    return torch.sparse_csr_tensor(starts, torch.from_numpy(source[order]), share, (targets, sources))


def accuracy(data: HeteroData, target: str, parts: dict[str, Tensor], seed: int, epochs: int) -> float:
    """Test accuracy at the epoch of the best validation accuracy."""
    torch.manual_seed(seed)
    x, y, best = {kind: rows_of(data[kind].x) for kind in data.node_types}, data[target].y, (-1.0, 0.0)
    sizes = {kind: data[kind].num_nodes for kind in data.node_types}
    means = {key: means_of(data[key].edge_index, sizes[key[0]], sizes[key[2]]) for key in map(tuple, data.edge_types)}
    net = Net(data, target, int(y.max()) + 1)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(epochs):
        net.train()
        optimiser.zero_grad()
        functional.cross_entropy(net(x, means)[parts["train"]], y[parts["train"]]).backward()
        optimiser.step()
        if epoch % 3 == 2:
            net.eval()
            with torch.no_grad():
                right = (net(x, means).argmax(1) == y).float()
            pair = (float(right[parts["val"]].mean()), float(right[parts["test"]].mean()))
            best = max(best, pair, key=lambda pair: pair[0])
    return best[1]


def divided(data: HeteroData, target: str, seed: int) -> tuple[HeteroData, dict[str, Tensor]]:
    """The data with training nodes alone in its mask, and the nodes for training, validation and testing."""
    data, known = data.clone(), data[target].train_mask
    drawn = torch.rand(known.shape, generator=torch.Generator().manual_seed(seed))
    parts = {"train": drawn < 0.4, "val": (drawn >= 0.4) & (drawn < 0.6), "test": drawn >= 0.6}
    parts = {name: known & part for name, part in parts.items()}
    data[target].train_mask = parts["train"]
    return data, parts


def measure(name: str, whole: HeteroData, method: str, keep: float, options: argparse.Namespace) -> tuple[Any, float]:
    """Return the accuracy of a method on one graph for each seed, and the share of edges that was kept."""
    target, values, shares = KINDS.get(name, ("paper",))[0], [], []
    for seed in range(options.seeds):
        data, parts = divided(whole, target, seed)
        small = METHODS[method](data, keep, seed)
        shares.append(small.num_edges / data.num_edges)
        values.append(100 * accuracy(small, target, parts, seed, options.epochs))
    return np.array(values), float(np.mean(shares))


def interval(values: Any) -> str:
    """The mean with half the width of its 95 % interval (Student's t)."""
    wide = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values) if len(values) > 1 else 0.0
    return f"{np.mean(values):+.1f} +- {wide:.1f}"


def compare(name: str, options: argparse.Namespace) -> None:
    """Print the accuracy of each method at each share on one graph."""
    whole = generated() if name == "generated" else read(name, options.data)
    found: dict[tuple[str, float], Any] = {}
    for keep in options.keep:
        for method in options.methods:
            if method in WHATEVER_SHARE and keep != options.keep[0]:
                continue
            start = time.perf_counter()
            values, share = measure(name, whole, method, keep, options)
            found[method, keep] = values
            alone = found.get((method.removeprefix("shared, "), keep)) if method.startswith("shared") else None
            gain = "" if alone is None else f"  {interval(values - alone)}"
            seconds = (time.perf_counter() - start) / options.seeds
            text = f"{interval(values).lstrip('+')}{gain}"
            line(f"{name}, {100 * share:.1f} % kept, {method}", text, f"({seconds:.0f} s a run)")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare the methods on every graph at every share."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=float, nargs="+", default=[0.1, 0.25])
    parser.add_argument("--graphs", nargs="+", default=list(KINDS), help="acm, dblp, or generated")
    parser.add_argument("--methods", type=lambda text: text.split(";"), default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/graphs"), help="folder of hgb_acm.npz, …")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", LspruneWarning)
    for name in options.graphs:
        if name != "generated" and not (options.data / f"hgb_{name}.npz").exists():
            print(f"   {name}: not measured (there is no {options.data / f'hgb_{name}.npz'})")
            continue
        compare(name, options)


if __name__ == "__main__":
    main()
