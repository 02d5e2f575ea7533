"""What the paper promises, measured: do two samples of a class keep the same edges?

The paper's generator; 20 classes of 20 samples, 28 pairs a class; mean Jaccard overlap of the kept edges among those
that both samples have. Whatever a pruner learns, it learns from other samples. `--classes 100 --samples 20000` is the
paper's own set, whose 100 classes have five times as many edges to tell apart. The study `consistency` has the methods
of the lab, at three k and with five seeds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from lsprune import LSP, Codebook, First, LocalRandom
from lsprune.lab.synthetic_graphs import Synthetic
from lsprune.measure import aligned_consistency
from lsprune.pruners import Pruner

CLASSES, EACH = 20, 20


def pruners(k: int, seed: int) -> dict[str, Pruner]:
    """What is compared, by name."""
    edge = ("edge",)
    return {
        "LSP-Q": LSP(k=k, hash=Codebook(), attributes=edge, select="bottom", seed=seed),
        "LSP-Q, functions": LSP(k=k, hash=Codebook(), attributes=edge, seed=seed),
        "LSP-Q of edge and neighbour": LSP(k=k, hash=Codebook(), select="bottom", seed=seed),
        "auto": LSP(k=k, hash="auto", select="bottom", seed=seed),
        "LSP-P of the edge, k smallest": LSP(k=k, attributes=edge, select="bottom", seed=seed),
        "LSP-P of the edge": LSP(k=k, attributes=edge, seed=seed),
        "LSP-P published": LSP.published("p", k=k, seed=seed, sparsity=8),
        "LSP-T published": LSP.published("t", k=k, seed=seed, sparsity=8),
        "local random": LocalRandom(k=k, seed=seed),
        "position, which no user has": First(k=k),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each pruner."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--samples", type=int, default=2_000)
    parser.add_argument("--each", type=int, default=EACH, help="samples of a class that are compared")
    given = parser.parse_args(argv)
    made = Synthetic(classes=given.classes, samples=given.samples, seed=given.seed).make()
    classes = min(CLASSES, given.classes)
    compared, others = made.split_by_class(classes, given.each)
    print(f"k={given.k}, {compared.y.size} samples of {classes} classes; learned from {others.y.size} others")
    for name, pruner in pruners(given.k, given.seed).items():
        begin = time.perf_counter()
        mask = pruner.fit(others.graph).mask(compared.graph)
        found = aligned_consistency(mask, compared.edge_ptr, compared.y, compared.centre_edge, seed=given.seed)
        print(f"{found:.3f}  {name}  ({mask.mean():.1%} kept, {time.perf_counter() - begin:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
