"""Edge weights judged by a small network: which edges should a node keep?

Each node keeps the edges of largest weight (or random ones); a SAGE of two layers with skip connections is trained on
what is left, on the CPU, and its test accuracy at the best validation accuracy is printed, with the gain over k random
neighbours in points. `choose` is the pruner that `lsprune.choose` picks. One run differs from the next by half a point
or more: look at means over graphs and seeds. Sparse attributes stay sparse, so that wide ones are quick.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Data

from common import line
from lsprune import LSP, LocalRandom, LspruneWarning, NoEdges, choose
from lsprune.baselines import TopWeight
from lsprune.errors import LspruneError
from lsprune.lab.datasets import load
from lsprune.lab.training.tasks.single_graph import roc_auc
from lsprune.weights.recommended import WITH_LABELS, WITHOUT_LABELS

GRAPHS = (
    "chameleon-filtered", "squirrel-filtered", "blogcatalog", "flickr", "twitch-de", "facebook-pages", "computers",
    "github", "cora", "citeseer", "cora-ml",
)  # fmt: skip
WIDTH, EPOCHS, DENSE_SHARE = 64, 100, 0.04

Method = Callable[[Any, float, int], Any]  # data, share and seed to a mask

METHODS: dict[str, Method] = {
    "k random": lambda data, keep, seed: LocalRandom(keep=keep, seed=seed).mask(data),
    "with labels": lambda data, keep, seed: TopWeight(keep=keep, weights=WITH_LABELS, seed=seed).mask(data),
    "without labels": lambda data, keep, seed: TopWeight(keep=keep, weights=WITHOUT_LABELS, seed=seed).mask(data),
    "jaccard": lambda data, keep, seed: TopWeight(keep=keep, weights="jaccard", seed=seed).mask(data),
    "projection": lambda data, keep, seed: LSP(keep=keep, seed=seed).mask(data),
    "choose": lambda data, keep, seed: choose(data, keep=keep, seed=seed, seconds=3600).pruner.mask(data),
    "no edges": lambda data, keep, seed: NoEdges().mask(data),
    "all edges": lambda data, keep, seed: torch.ones(data.num_edges, dtype=torch.bool),
}


class Net(nn.Module):
    """A linear layer, two convolutions with skip connections, a linear layer."""

    def __init__(self, columns: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Parameter(nn.init.xavier_uniform_(torch.empty(columns, WIDTH)))
        self.bias = nn.Parameter(torch.zeros(WIDTH))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.own = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))
        self.others = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.last = nn.Linear(WIDTH, classes)

    def forward(self, x: Tensor, means: Tensor) -> Tensor:
        dense = x.layout == torch.strided
        h = functional.relu((functional.dropout(x, 0.2, self.training) if dense else x) @ self.first + self.bias)
        for norm, own, others in zip(self.norms, self.own, self.others, strict=True):
            z = functional.dropout(norm(h), 0.3, self.training)
            h = h + functional.relu(own(z) + means @ others(z))
        scores: Tensor = self.last(functional.dropout(h, 0.3, self.training))
        return scores


def rows_of(x: Tensor) -> Tensor:
    """Attributes with rows of equal length; CSR if nearly all entries are 0."""
    x = functional.normalize(x) * min(x.shape[1], 30) ** 0.5
    return x.to_sparse_csr() if float((x != 0).float().mean()) < DENSE_SHARE else x


def means_of(data: Any, mask: Tensor) -> Tensor:
    """The matrix that takes means over the in-neighbours that are kept."""
    source, target = data.edge_index[:, mask & (data.edge_index[0] != data.edge_index[1])].numpy()
    order = np.argsort(target, kind="stable")
    degree = np.bincount(target, minlength=data.num_nodes)
    starts = torch.from_numpy(np.concatenate([[0], degree.cumsum()]))
    share = torch.from_numpy((1 / np.maximum(degree, 1))[target[order]].astype(np.float32))
    size = (data.num_nodes, data.num_nodes)
    return torch.sparse_csr_tensor(starts, torch.from_numpy(source[order]), share, size)


def accuracy(data: Any, mask: Tensor, metric: str | None, seed: int, epochs: int) -> float:
    """Test accuracy (or ROC AUC) at the epoch of the best validation accuracy."""
    torch.manual_seed(seed)
    x, means, best = rows_of(data.x), means_of(data, mask), (-1.0, 0.0)
    net = Net(x.shape[1], int(data.y.max()) + 1)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(epochs):
        net.train()
        optimiser.zero_grad()
        functional.cross_entropy(net(x, means)[data.train_mask], data.y[data.train_mask]).backward()
        optimiser.step()
        if epoch % 3 == 2 and epoch >= epochs // 5:
            net.eval()
            with torch.no_grad():
                scores = net(x, means)
            val, test = (judge(scores[part], data.y[part], metric) for part in (data.val_mask, data.test_mask))
            best = max(best, (val, test), key=lambda pair: pair[0])
    return best[1]


def judge(scores: Tensor, y: Tensor, metric: str | None) -> float:
    """Accuracy, or the area under the ROC curve."""
    if metric == "roc-auc":
        return roc_auc(scores[:, 1] - scores[:, 0], y == 1)
    return float((scores.argmax(1) == y).float().mean())


def generated(nodes: int = 300, degree: int = 10) -> Data:
    """Three classes; half of the edges stay within a class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, nodes)
    target = np.repeat(np.arange(nodes), degree)
    same = np.argsort(y, kind="stable")
    start = np.searchsorted(np.sort(y), [0, 1, 2, 3])
    source = np.where(
        rng.random(target.size) < 0.5, same[rng.integers(start[y[target]], start[y[target] + 1])],
        rng.integers(0, nodes, target.size),
    )  # fmt: skip
    part = torch.from_numpy(rng.integers(0, 3, nodes))
    x = torch.from_numpy((np.eye(3)[y] + rng.normal(0, 0.7, (nodes, 3))).astype(np.float32))
    masks = {f"{name}_mask": part == number for number, name in enumerate(("train", "val", "test"))}
    return Data(x=x, y=torch.from_numpy(y), edge_index=torch.from_numpy(np.stack([source, target])), **masks)


def measure(name: str, options: argparse.Namespace) -> dict[str, float]:
    """Print the accuracy of each method on one graph; return the gains over k random neighbours, in points."""
    metric, found = None, {}
    try:
        if name == "generated":
            data = generated()
        else:
            dataset = load(name, data=options.data)
            data, metric = dataset.train, dataset.metric
    except LspruneError as error:
        print(f"   {name}: not measured ({error})")
        return {}
    for method in options.methods:
        start, values = time.perf_counter(), []
        for seed in range(options.seeds):
            mask = METHODS[method](data, options.keep, seed)
            values.append(accuracy(data, torch.as_tensor(mask), metric, seed, options.epochs))
        found[method] = float(np.mean(values))
        gain = 100 * (found[method] - found["k random"]) if "k random" in found else float("nan")
        seconds = (time.perf_counter() - start) / options.seeds
        line(f"{name}, {method}", f"{found[method]:.3f}  {gain:+.1f}  ({seconds:.0f} s a run)")
    return {method: 100 * (value - found["k random"]) for method, value in found.items()} if "k random" in found else {}


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare the methods on every graph, and print means over graphs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=float, default=0.1)
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=list(GRAPHS), help="or generated")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--data", default=None, help="the folder of local datasets; default LSPRUNE_DATA")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", LspruneWarning)
    gains = [found for name in options.graphs if (found := measure(name, options))]
    for method in options.methods:
        values = [found[method] for found in gains]
        if values:
            line(f"mean over {len(values)} graphs, {method}", f"{np.mean(values):+.2f}  worst {min(values):+.1f}")


if __name__ == "__main__":
    main()
