"""What `hash="auto"` and the codebook that it chooses cost on the graphs of the study `synthetic`, 8.1 M edges."""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Sequence

from lsprune import LSP
from lsprune.lab.datasets.synthetic import GENERATED, synthetic_dataset
from lsprune.lab.synthetic_graphs import Synthetic
from lsprune.lab.training.graph_store import GraphStore

WARM_UP = 64  # graphs


def measure(generator: Synthetic, executor: str) -> None:
    """Print the seconds of `fit` on the training graphs, and of `mask` on all of them."""
    data = synthetic_dataset(generator)
    graphs = [GraphStore.of(part).to_graph() for part in (data.train, data.val, data.test)]
    small = [
        GraphStore.of([part[i] for i in range(min(WARM_UP, len(part)))]).to_graph() for part in (data.train, data.val)
    ]
    pruner = LSP(k=3, hash="auto", select="bottom")
    pruner.fit(small[0], executor=executor).mask(small[1], executor=executor)  # compile
    start = time.perf_counter()
    fitted = pruner.fit(graphs[0], executor=executor)
    between = time.perf_counter()
    for graph in graphs:
        fitted.mask(graph, executor=executor)
    end = time.perf_counter()
    print(f"fit on {graphs[0].num_edges:,} edges: {between - start:.1f} s; {fitted!r}")
    print(f"mask of {sum(graph.num_edges for graph in graphs):,} edges: {end - between:.1f} s")


def main(argv: Sequence[str] | None = None) -> None:
    """Read the options and measure."""
    whole = GENERATED["synthetic"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executor", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--classes", type=int, default=whole.classes)
    parser.add_argument("--samples", type=int, default=whole.samples)
    options = parser.parse_args(argv)
    measure(dataclasses.replace(whole, classes=options.classes, samples=options.samples), options.executor)


if __name__ == "__main__":
    main()
