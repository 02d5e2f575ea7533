"""The same bits from the reference in plain Python and from numba on any number of threads, in blocks of any size."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lsprune.kernels import runtime
from soak.cases import Options, random_graph, random_pruner
from soak.check import Check, expect
from soak.varied_cases import Case, learned_case, small_blocks, varied_case

THREADS = (1, 2, 5)
LARGE = Options(nodes=3000, edges=40_000)


def expect_mask(case: Case, mask: np.ndarray, where: str) -> None:
    """Raise Broken unless the mask is that of the reference; say how many edges differ."""
    same = mask.dtype == bool and mask.shape == case.mask.shape
    wrong = int((mask != case.mask).sum()) if same else -1
    expect(wrong == 0, f"{where}: {wrong} of {case.mask.size} edges differ for {case.pruner!r} on {case.graph!r}")


def executors(number: int, folder: Path) -> int:
    """Compare numba on several numbers of threads with the reference, the last two in blocks of a few edges."""
    case = varied_case(20, number)
    for threads in THREADS:
        expect_mask(case, case.pruner.mask(case.graph, threads=threads), f"{threads} threads")
    for threads in (1, 3):
        with small_blocks():
            mask = case.pruner.mask(case.graph, threads=threads)
        expect_mask(case, mask, f"{threads} threads, small blocks")
    return len(THREADS) + 2


def large_graphs(number: int, folder: Path) -> int:
    """Compare threads on a graph with enough edges for several spans; the reference would take minutes."""
    rng = np.random.default_rng([21, number])
    graph = random_graph(rng, LARGE)
    pruner = random_pruner(rng, graph, LARGE)
    case = Case(graph, pruner, pruner.mask(graph, threads=1))
    for threads in (2, 7):
        expect_mask(case, pruner.mask(graph, threads=threads), f"{threads} threads")
    return 2


def learned(number: int, folder: Path) -> int:
    """Compare executors where `fit` chooses the family and the weights, and the saved fit with the fit."""
    case = learned_case(22, number)
    for threads in (1, 3):
        expect_mask(case, case.pruner.mask(case.graph, threads=threads), f"{threads} threads")
    fitted = case.pruner.fit_graph(case.graph, runtime(1))
    fitted.save(folder / "fit.npz")
    expect_mask(case, type(fitted).load(folder / "fit.npz").mask(case.graph), "saved fit")
    return 3


CHECKS = (
    Check(
        name="executors", promise="Same bits",
        about="any pruner and graph: the reference, numba on 1, 2 and 5 threads, and on 1 and 3 threads in "
        "blocks of 7 edges",
        run_case=executors, share=4.0, quick_cases=20,
    ),
    Check(
        name="executors-large", promise="Same bits", about="up to 40,000 edges: numba on 1, 2 and 7 threads",
        run_case=large_graphs, share=0.5, quick_cases=1,
    ),
    Check(
        name="executors-learned", promise="Same bits",
        about='hash="auto": the reference, numba on 1 and 3 threads, and the fitted pruner after saving and loading',
        run_case=learned, share=0.3, quick_cases=1,
    ),
)  # fmt: skip
