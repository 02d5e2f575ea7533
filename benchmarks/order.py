"""How much of what stands first in the list the published LSP-P keeps on ZINC, and others beside it.

Where an atom has more than two bonds: the share of its first two that other pruners keep as well. Needs the dataset
(LSPRUNE_DATA, or a download).
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import warnings
from collections.abc import Sequence

import numpy as np

from lsprune import LSP, First, LocalRandom, SymmetryWarning
from lsprune.errors import LspruneError
from lsprune.lab.datasets import load
from lsprune.lab.training.graph_store import GraphStore
from lsprune.pruners import Pruner

K, SEEDS = 2, 3


def pruners(seed: int) -> dict[str, Pruner]:
    """What is compared with the first of the list, by name."""
    published = LSP.published("p", k=K, seed=seed)
    return {
        "published LSP-P": published,
        "published LSP-P, ties by hash": dataclasses.replace(published, ties="hash"),
        "lsp-auto-out": LSP(k=K, hash="auto", weights="auto", side="out", seed=seed),
        "local-random-out": LocalRandom(k=K, side="out", seed=seed),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the shares of the training graphs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, help="only the first so many training graphs")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore", SymmetryWarning)
    try:
        data = load("zinc")
    except LspruneError as error:
        sys.exit(f"error: {error}")
    graph = GraphStore.of(data.train[: options.graphs]).to_graph()
    source, target = graph.ends()
    degree = np.bincount(source, minlength=graph.num_sources)
    chooses = degree > K
    print(f"by chance: {(K / degree[chooses]).mean():.3f}")
    before = np.zeros(graph.num_sources, np.bool_)
    before[source[target == source - 1]] = True
    print(f"atoms with a bond to the one before: {before.mean():.2f}")
    first = First(k=K, side="out").mask(graph) & chooses[source]
    for seed in range(options.seeds):
        for name, pruner in pruners(seed).items():
            kept = pruner.fit(graph, categories=data.categories).mask(graph)
            print(f"seed {seed}, {name}: {(kept & first).sum() / first.sum():.3f}")


if __name__ == "__main__":
    main()
