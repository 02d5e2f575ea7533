"""What the default pruner costs beside one training epoch, on the dataset of every study that is there.

Pruning includes fitting. A single graph is pruned where it is trained on; many graphs are pruned as the lab does it, on
a GPU with the copies there and back. The epoch is one on the unpruned graphs, with the model of the study, as the lab
trains it (on a GPU a CUDA graph where that is possible). For single graphs it is also one of GAT with PyG's layers as
they are, which is what most people run.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import torch

from common import line
from gpu import milliseconds
from lsprune import LSP, prune
from lsprune.errors import LspruneError
from lsprune.lab.acceleration.measure import make_workload
from lsprune.lab.acceleration.measurement import Measurement
from lsprune.lab.studies.run import Run
from lsprune.lab.studies.study_files import read
from lsprune.lab.training.prepare import RunGraphs, prepare
from lsprune.lab.training.train import train

STUDIES = ("cora", "citeseer", "pubmed", "cs", "computers", "github", "ppi", "zinc", "qm9", "synthetic")
METHODS = ("unpruned", "lsp-projection")
KEEP = 0.5
ROUNDS = 5


def runs(study: str, epochs: int, limit: int | None) -> dict[str, Run]:
    """The first run of a study for each method, shortened, with half of the edges kept."""
    found: dict[str, Run] = {}
    for run in read(study).runs(seeds=1):
        if run.method in METHODS and run.method not in found:
            budget: dict[str, Any] = {} if run.method == "unpruned" else {"k": None, "keep": KEEP}
            found[run.method] = replace(run, epochs=epochs, limit=limit, **budget)
    return found


def measure(study: str, device: str, data: str | None, epochs: int, limit: int | None) -> None:
    """Print the seconds of pruning and of an epoch, and how many epochs pruning costs."""
    chosen = runs(study, epochs, limit)
    try:
        graphs, _ = prepare(chosen["unpruned"], data)
        epoch = train(chosen["unpruned"], device=device, data=data)["train_seconds_per_epoch"]
        if graphs.dataset.single:
            seconds = _prune_one(graphs, device)
        else:
            seconds = train(chosen["lsp-projection"], device=device, data=data)["prune_seconds"]
    except (LspruneError, OSError, ImportError) as error:
        print(f"   {study}: not measured ({error})")
        return
    line(f"{study}: fit and prune, an epoch", f"{seconds:.4f} s, {epoch:.4f} s")
    line(f"{study}: epochs that pruning costs", f"{seconds / epoch:.2f}", "< 1")
    if graphs.dataset.single:
        ordinary = _ordinary_epoch(graphs, device)
        line(f"{study}: epochs of PyG's GAT", f"{seconds / ordinary:.2f} (of {ordinary:.4f} s)", "< 1")


def _prune_one(graphs: RunGraphs, device: str) -> float:
    """The least seconds to fit on a graph and prune it, on the device."""
    graph = copy(graphs.train).to(device)
    return milliseconds(lambda: prune(graph, LSP(keep=KEEP)), device, ROUNDS) / 1e3


def _ordinary_epoch(graphs: RunGraphs, device: str) -> float:
    """The least seconds of an epoch with PyG's layers on a COO `edge_index`."""
    measurement = Measurement(dataset=graphs.dataset.name, model="gat", backend="ordinary", share=1, device=device)
    workload, _ = make_workload(measurement, graphs, torch.device(device))
    return milliseconds(workload.train_epoch, device, ROUNDS) / 1e3


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
