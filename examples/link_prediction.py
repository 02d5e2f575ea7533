"""Predict who rates what, with all edges and with pruned ones; print AUC, recall@20 and seconds for each.

Links are split first; then the edges that messages pass along are pruned, each direction by itself: an item chooses
among its users, and a user among its items. Links to be predicted stay as they are. A small GraphSAGE is trained with
`LinkNeighborLoader` where pyg-lib or torch-sparse is installed, else on the whole graph at every step.
The ratings are MovieLens-100k, if `graphs/rec_ml100k.npz` is in LSPRUNE_DATA or in `shared/data` beside the checkout,
else made up. Run it: `python examples/link_prediction.py`, or with `--smoke` for a small graph and few epochs.
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric import seed_everything
from torch_geometric.data import HeteroData
from torch_geometric.loader import LinkNeighborLoader
from torch_geometric.nn import SAGEConv
from torch_geometric.transforms import RandomLinkSplit, ToUndirected
from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE

from lsprune import LSP, LocalRandom
from lsprune.pyg import Prune, check_link_split

RATES, RATED_BY = ("user", "rates", "item"), ("item", "rev_rates", "user")
WIDTH, LAYERS, LINKS_PER_STEP, TOP = 32, 2, 4096, 20
LOADER = WITH_PYG_LIB or WITH_TORCH_SPARSE


def movielens() -> HeteroData | None:
    """Return the ratings of MovieLens-100k with what is known of users and items; None if they are not at hand."""
    folder = Path(os.environ.get("LSPRUNE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not (folder / "graphs" / "rec_ml100k.npz").exists():
        return None
    read = np.load(folder / "graphs" / "rec_ml100k.npz")
    return graph(read["user_x"], read["item_x"], np.stack([read["user"], read["item"]]))


def made_up(users: int = 300, items: int = 200, ratings: int = 6_000) -> HeteroData:
    """Return ratings within eight tastes; the features are noisy hints at them."""
    random = np.random.default_rng(0)
    tastes = [random.integers(0, 8, count) for count in (users, items)]
    ends = np.stack([random.integers(0, count, 8 * ratings) for count in (users, items)])
    likes = (tastes[0][ends[0]] == tastes[1][ends[1]]) | (random.random(8 * ratings) < 0.02)
    x = [np.eye(8)[taste] + random.normal(size=(len(taste), 8)) for taste in tastes]
    return graph(*x, np.unique(ends[:, likes][:, :ratings], axis=1))


def graph(user_x: np.ndarray, item_x: np.ndarray, ends: np.ndarray) -> HeteroData:
    """Return the graph in both directions."""
    data = HeteroData()
    for kind, x in (("user", user_x), ("item", item_x)):
        data[kind].x = torch.from_numpy(np.asarray(x, dtype=np.float32))
        data[kind].n_id = torch.arange(len(x))
    data[RATES].edge_index = torch.from_numpy(ends)
    return ToUndirected()(data)


class Model(torch.nn.Module):
    """An embedding of every node, two layers of GraphSAGE, and the dot product of both ends of a link."""

    def __init__(self, data: HeteroData) -> None:
        super().__init__()
        kinds = {kind: data[kind].x for kind in data.node_types}
        self.own = torch.nn.ModuleDict({k: torch.nn.Embedding(len(x), WIDTH) for k, x in kinds.items()})
        self.known = torch.nn.ModuleDict({k: torch.nn.Linear(x.shape[1], WIDTH) for k, x in kinds.items()})
        self.layers = torch.nn.ModuleList(
            torch.nn.ModuleDict({kind: SAGEConv((WIDTH, WIDTH), WIDTH) for kind in kinds}) for _ in range(LAYERS)
        )

    def forward(self, data: HeteroData) -> tuple[Tensor, Tensor]:
        """Return the vectors of users and items."""
        user, item = (self.own[k](data[k].n_id) + self.known[k](data[k].x) for k in ("user", "item"))
        for depth, layer in enumerate(self.layers):
            new_item = layer["item"]((user, item), data[RATES].edge_index)
            new_user = layer["user"]((item, user), data[RATED_BY].edge_index)
            user, item = (new_user, new_item) if depth + 1 == LAYERS else (new_user.relu(), new_item.relu())
        return user, item


def score(vectors: tuple[Tensor, Tensor], links: Tensor) -> Tensor:
    """Return a number for each link, larger if it is more likely."""
    return (vectors[0][links[0]] * vectors[1][links[1]]).sum(1)


def batches(train: HeteroData) -> Iterator[HeteroData]:
    """Iterate over the training links once, each time with as many random ones beside them."""
    links = train[RATES].edge_label_index
    if LOADER:  # num_neighbors=-1: all neighbours that pruning has left
        yield from LinkNeighborLoader(
            train, [-1] * LAYERS, (RATES, links), neg_sampling="binary", batch_size=LINKS_PER_STEP, shuffle=True
        )
        return
    for chosen in torch.randperm(links.shape[1]).split(LINKS_PER_STEP):
        batch, size = copy.copy(train), len(chosen)
        random = [torch.randint(train[kind].num_nodes, (size,)) for kind in ("user", "item")]
        batch[RATES].edge_label_index = torch.cat([links[:, chosen], torch.stack(random)], 1)
        batch[RATES].edge_label = torch.cat([torch.ones(size), torch.zeros(size)])
        yield batch


@torch.no_grad()
def auc(model: Model, split: HeteroData) -> float:
    """Return the chance that a link of the split has a larger score than a random pair."""
    scores, label = score(model(split), split[RATES].edge_label_index), split[RATES].edge_label
    rank = torch.empty(len(scores))
    rank[scores.argsort()] = torch.arange(1.0, len(scores) + 1)
    ones, zeros = int(label.sum()), int((label == 0).sum())
    return (float(rank[label == 1].sum()) - ones * (ones + 1) / 2) / (ones * zeros)


@torch.no_grad()
def recall(model: Model, split: HeteroData, known: Tensor) -> float:
    """Return the share of test links among the TOP items of their users, without items that they are known to rate."""
    user, item = model(split)
    scores = user @ item.T
    scores[known[0], known[1]] = -torch.inf
    best = torch.zeros_like(scores, dtype=torch.bool).scatter_(1, scores.topk(TOP).indices, True)
    links = split[RATES].edge_label_index[:, split[RATES].edge_label == 1]
    return float(best[links[0], links[1]].float().mean())


def train_model(splits: list[HeteroData], known: Tensor, epochs: int, seed: int) -> tuple[float, float, float]:
    """Return AUC and recall on the test links at the best epoch of validation, and seconds of an epoch."""
    seed_everything(seed)
    train, val, test = splits
    model, best, seconds = Model(train), (-1.0, 0.0, 0.0), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        start = time.perf_counter()
        for batch in batches(train):
            optimizer.zero_grad()
            scores = score(model(batch), batch[RATES].edge_label_index)
            functional.binary_cross_entropy_with_logits(scores, batch[RATES].edge_label).backward()
            optimizer.step()
        seconds.append(time.perf_counter() - start)
        if (found := auc(model, val)) > best[0]:
            best = (found, auc(model, test), recall(model, test, known))
    return best[1], best[2], statistics.median(seconds)


def compare(data: HeteroData, epochs: int, seeds: int) -> None:
    """Split, prune and train for every seed; print a table of means."""
    split = RandomLinkSplit(
        0.1, 0.1, disjoint_train_ratio=0.3, add_negative_train_samples=False, edge_types=RATES, rev_edge_types=RATED_BY
    )
    methods = {"unpruned": None}
    for keep in (0.5, 0.25):
        methods[f"local-random {keep}"] = lambda seed, keep=keep: LocalRandom(keep=keep, seed=seed)
        methods[f"lsp {keep}"] = lambda seed, keep=keep: LSP(keep=keep, seed=seed)
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in methods}
    for seed in range(seeds):
        seed_everything(seed)
        whole = split(data)
        check_link_split(*whole)
        for name, make in methods.items():  # a pruner for each direction, so that users choose as items do
            splits = whole if make is None else Prune({RATES: make(seed), RATED_BY: make(seed)})(whole)
            trained = train_model(list(splits), whole[2][RATES].edge_index, epochs, seed)
            rows[name].append((splits[0][RATES].num_edges, *trained))
    how = "LinkNeighborLoader" if LOADER else "the whole graph at every step (no pyg-lib, no torch-sparse)"
    print(f"{data[RATES].num_edges:,} ratings, {epochs} epochs, {seeds} seeds, trained with {how}")
    print(f"{'method':20}{'edges':>8}{'test AUC':>10}{'+-':>8}{f'recall@{TOP}':>11}{'+-':>8}{'epoch, s':>10}")
    for name, runs in rows.items():
        edges, area, top, seconds = (list(column) for column in zip(*runs, strict=True))
        spread = [statistics.stdev(values) if seeds > 1 else 0.0 for values in (area, top)]
        area, top, seconds = (statistics.mean(values) for values in (area, top, seconds))
        print(f"{name:20}{edges[0]:>8,}{area:>10.4f}{spread[0]:>8.4f}{top:>11.4f}{spread[1]:>8.4f}{seconds:>10.3f}")


def main(arguments: list[str] | None = None) -> None:
    """Read the options and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="a small graph and few epochs, to see that it works")
    parser.add_argument("--epochs", type=int, default=30, help="passes over the training links (default 30)")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)  # times compare better, also where the machine has other work
    if given.smoke:
        compare(made_up(), epochs=10, seeds=1)
    else:
        compare(movielens() or made_up(3_000, 2_000, 100_000), epochs=given.epochs, seeds=3)


if __name__ == "__main__":
    main()
