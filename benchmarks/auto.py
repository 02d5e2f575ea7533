"""What `hash="auto"` and the codebook that it chooses cost on the graphs of the study `synthetic`, 8.1 M edges."""

from __future__ import annotations

import argparse
import time

from lsprune import LSP
from lsprune.lab.datasets.generated import GENERATED, synthetic_dataset
from lsprune.lab.stack import Stack


def main(executor: str) -> None:
    """Print the seconds of `fit` on the training graphs, and of `mask` on all of them."""
    data = synthetic_dataset(GENERATED["synthetic"])
    graphs = [Stack.of(part).graph() for part in (data.train, data.val, data.test)]
    small = [Stack.of([part[i] for i in range(64)]).graph() for part in (data.train, data.val)]
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executor", default="cpu", choices=("cpu", "gpu"))
    main(parser.parse_args().executor)
