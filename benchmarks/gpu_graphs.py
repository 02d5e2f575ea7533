"""Pruning many small graphs that are on a GPU in one call: as a list of `Data`, as a `Batch`, as a dataset.

The graphs are the synthetic ones of the lab: 20,000 of about 45 nodes and 400 edges. Without a CUDA device there is
nothing to measure; `--device cpu` runs the parts on CPU tensors, with plain torch, and the calls on the host.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch_geometric.data import Batch, InMemoryDataset

from common import K, line
from gpu import milliseconds
from lsprune import LSP, prune
from lsprune.adapters import Kept, find
from lsprune.kernels import Runtime
from lsprune.lab.synthetic_graphs import Synthetic


class Stored(InMemoryDataset):
    """Graphs as a dataset that is not on disk."""

    def __init__(self, graphs: list[Any]) -> None:
        super().__init__()
        self._data, self.slices = self.collate(graphs)


def measure(generator: Synthetic, device: str, rounds: int) -> None:
    """Print the seconds of one call for each form of the graphs, and of its parts."""
    samples = generator.make()
    graphs = [graph.to(device) for graph in samples.to_data_list()]
    nodes, edges = (int(offsets[-1]) // generator.samples for offsets in (samples.ptr, samples.edge_ptr))
    forms = {"list of Data": graphs, "Batch": Batch.from_data_list(graphs), "dataset": Stored(graphs)}
    where = torch.cuda.get_device_name() if device != "cpu" else "CPU tensors"
    fitted = LSP(k=K).fit(forms["Batch"])
    print(f"\n## gpu_graphs: {len(graphs):,} graphs of {nodes} nodes and {edges} edges; {fitted!r}\n   {where}")
    for name, given in forms.items():
        calls: dict[str, Callable[[], Any]] = {
            "fitted": lambda given=given: prune(given, fitted),
            "with fit": lambda given=given: prune(given, LSP(k=K)),
        }
        for kind, call in calls.items():
            target = "<= 1 s" if name == "list of Data" and kind == "fitted" else ""
            line(f"{name}, {kind}", f"{milliseconds(call, device, rounds) / 1e3:.3f} s", target)
        _parts(name, given, fitted, device, rounds)


def _parts(name: str, given: Any, fitted: Any, device: str, rounds: int) -> None:
    """Print the seconds of the three parts of a call: reading, pruning, rebuilding."""
    adapter, run = find(given), Runtime(device=torch.device(device))
    graph = adapter.device_graphs(given)[None]
    outcome = fitted.mask_graph(graph, run)
    kept = {None: Kept(mask=outcome.mask, count=outcome.kept)}
    parts = {
        "reading": lambda: adapter.device_graphs(given),
        "pruning": lambda: fitted.mask_graph(graph, run),
        "rebuilding": lambda: adapter.rebuild(given, kept),
    }
    for part, task in parts.items():
        line(f"{name}: {part}", f"{milliseconds(task, device, rounds) / 1e3:.3f} s")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures of the graphs asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=Synthetic().samples)
    parser.add_argument("--device", default="cuda", help="cuda or cpu")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(argv)
    if options.device != "cpu" and not torch.cuda.is_available():
        print("\n## gpu_graphs: no CUDA device here, so that there is nothing to measure")
        return
    measure(Synthetic(samples=options.graphs), options.device, options.rounds)


if __name__ == "__main__":
    main()
