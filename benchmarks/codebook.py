"""LSP-Q on 10 M edges of 40 columns: seconds to give each one of 8,192 and of 32,768 words, exactly and by lists.

`--executor gpu` lets a CUDA device search, and compares the words of a sample with those of the cpu executor.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Callable, Sequence

import numpy as np

from lsprune import LSP, Graph
from lsprune.hashing import codebook
from lsprune.hashing.base import View
from lsprune.hashing.k_means import nearest
from lsprune.hashing.quantised_rows import row_blocks
from lsprune.kernels import Runtime, runtime
from lsprune.selection.owners import group

DIM = 40
SAMPLE = 200_000


def view_of(edges: int, run: Runtime) -> View:
    """Random attributes of `edges` edges, with scales that were fitted on some of them."""
    rng = np.random.default_rng(0)
    nodes = max(edges // 10, 2)
    source = rng.integers(0, nodes, edges)
    target = (source + rng.integers(1, nodes, edges)) % nodes  # no self-loops
    values = rng.standard_normal((edges, DIM), np.float32)
    some, every = (Graph.from_edges((source[:n], target[:n]), num_nodes=nodes, edge_attr=values[:n])
                   for n in (SAMPLE, edges))  # fmt: skip
    pruner = LSP(k=2, hash=codebook.Codebook(words=16, iterations=1)).fit(some)
    return pruner.view(every, group(every, pruner, run), 1, run)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def quantise(view: View) -> None:
    """Make the rows of all edges, and nothing of them."""
    blocks, read = row_blocks(view, view.runtime.module.SEARCH_ROWS)
    view.runtime.spread(len(blocks), lambda i, _: read(*blocks[i]), 1)


def measure(edges: int, counts: list[int], executor: str) -> None:
    """Print the seconds for `edges` edges."""
    run = runtime(executor=executor)
    view = view_of(edges, run)
    rows = row_blocks(view)[1](0, min(SAMPLE, edges))
    print(f"{edges:,} edges of {DIM} columns, executor {executor}, {run.threads} threads: "
          f"{seconds(lambda: quantise(view)):.2f} s to quantise")  # fmt: skip
    for count in counts:
        book = dataclasses.replace(view, learned=rows[:count].copy())
        nearest(rows[: 1 << 14], book.learned, run)  # compile, start the device
        found: list[np.ndarray] = []
        took = seconds(lambda book=book, found=found: found.append(codebook.assigned_words(book, exact=True)))
        lists = seconds(lambda book=book, found=found: found.append(codebook.assigned_words(book)))
        rate = edges * count * DIM / took / 1e9
        print(f"{count:,} words: {took:.2f} s with quantising and copies, {rate:.0f} G products/s")
        print(f"    by lists: {lists:.2f} s, {(found[0] == found[1]).mean():.1%} of the edges have the same word")
        for words in found:
            assert np.array_equal(words[:count], np.arange(count)), "a word is its own nearest word"
        if executor != "cpu":
            expected = nearest(rows, book.learned, runtime())
            assert np.array_equal(found[0][: rows.shape[0]], expected), "the words are not those of the cpu executor"
            print(f"    the words of {rows.shape[0]:,} edges are those of the cpu executor")


def main(argv: Sequence[str] | None = None) -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("edges", type=int, nargs="?", default=10_000_000)
    parser.add_argument("--words", type=int, nargs="+", default=[8_192, 32_768])
    parser.add_argument("--executor", default="cpu", choices=("cpu", "gpu", "reference"))
    options = parser.parse_args(argv)
    measure(options.edges, options.words, options.executor)


if __name__ == "__main__":
    main()
