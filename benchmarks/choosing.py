"""What `lsprune.choose` costs beside training every candidate once, on the CPU with as many threads.

Training is that of the study `choose`: 200 epochs on the graph that k random neighbours leave. The first choice in a
process loads compiled kernels; it is made twice, and the faster one counts.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence

import torch

from common import line
from lsprune import choose
from lsprune.chooser.candidates import CANDIDATES
from lsprune.errors import LspruneError, LspruneWarning
from lsprune.lab.studies.run import Run
from lsprune.lab.training.prepare import load_dataset
from lsprune.lab.training.train import train

GRAPHS = (
    "chameleon-filtered", "squirrel-filtered", "cora", "citeseer", "cora-ml", "actor", "minesweeper", "pubmed",
    "twitch-de", "computers", "facebook-pages", "blogcatalog", "flickr", "github", "tolokers", "cs",
)  # fmt: skip
MODELS = {"GAT": "node-gat-skip", "SAGE": "node-sage-skip"}


def seconds_to_choose(name: str, keep: float, threads: int, rounds: int) -> float:
    """The least seconds of some choices on a dataset."""
    data, best = load_dataset(name, None, None).train, float("inf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LspruneWarning)
        for _ in range(rounds):
            start = time.perf_counter()
            choose(data, keep=keep, seconds=3600, threads=threads)
            best = min(best, time.perf_counter() - start)
    return best


def seconds_to_train(name: str, model: str, keep: float, epochs: int) -> float:
    """The seconds of a training on the edges that k random neighbours keep."""
    run = Run(study="choose", dataset=name, model=model, method="local-random", keep=keep, epochs=epochs, lr=0.005)
    seconds: float = train(run, device="cpu")["train_seconds"]
    return seconds


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures of the graphs asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="a comma-separated list")
    parser.add_argument("--models", default=",".join(MODELS), help="a comma-separated list")
    parser.add_argument("--keep", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args(argv)
    torch.set_num_threads(options.threads)
    print(f"\n## choosing: {options.keep:.0%} of the edges, {options.threads} threads, {len(CANDIDATES)} candidates")
    for name in options.graphs.split(","):
        try:
            chosen = seconds_to_choose(name, options.keep, options.threads, options.rounds)
        except (LspruneError, OSError) as error:
            print(f"   {name}: not measured ({error})")
            continue
        line(f"{name}: to choose", f"{chosen:.1f} s")
        for label in options.models.split(","):
            model = MODELS[label]
            trained = seconds_to_train(name, model, options.keep, options.epochs)
            share = chosen / (len(CANDIDATES) * trained)
            line(f"{name}: one training of {label}; choosing costs", f"{trained:.1f} s; {share:.1%}", "<= 5 %")


if __name__ == "__main__":
    main()
