"""What the default pruner costs beside one training epoch, on the dataset of every study that is there.

Pruning includes fitting, and on a GPU the copies there and back. It is compared with an epoch on the unpruned graphs,
with the model of the study.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from common import line
from lsprune.errors import LspruneError
from lsprune.lab.studies.run import Run
from lsprune.lab.studies.study_files import read
from lsprune.lab.training.train import train

STUDIES = ("cora", "citeseer", "pubmed", "cs", "computers", "github", "ppi", "zinc", "qm9", "synthetic")
METHODS = ("unpruned", "lsp-projection")
KEEP = 0.5


def runs(study: str, epochs: int, limit: int | None) -> dict[str, Run]:
    """The first run of a study for each method, shortened, with half of the edges kept."""
    found: dict[str, Run] = {}
    for run in read(study).runs(seeds=1):
        if run.method in METHODS and run.method not in found:
            budget = {} if run.method == "unpruned" else {"k": None, "keep": KEEP}
            found[run.method] = replace(run, epochs=epochs, limit=limit, **budget)
    return found


def measure(study: str, device: str, data: str | None, epochs: int, limit: int | None) -> None:
    """Print the seconds of pruning and of an epoch, and how many epochs pruning costs."""
    try:
        whole, pruned = (train(run, device=device, data=data) for run in runs(study, epochs, limit).values())
    except (LspruneError, OSError, ImportError) as error:
        print(f"{study}: not measured ({error})")
        return
    epoch, seconds = whole["train_seconds_per_epoch"], pruned["prune_seconds"]
    line(f"{study}: fit and prune, an epoch", f"{seconds:.4f} s, {epoch:.4f} s")
    line(f"{study}: epochs that pruning costs", f"{seconds / epoch:.2f}", "< 1")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures of the studies asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", default=",".join(STUDIES), help="a comma-separated list")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--data", help="folder of local datasets (default: LSPRUNE_DATA)")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--limit", type=int, help="so many graphs of each split, or 256 times as many nodes")
    options = parser.parse_args(argv)
    print(f"\n## epoch: LSP(keep={KEEP}) beside one training epoch on {options.device}")
    for study in options.studies.split(","):
        measure(study, options.device, options.data, options.epochs, options.limit)


if __name__ == "__main__":
    main()
