"""Every benchmark runs at a tiny size and prints every figure that it promises as a number."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from benchmark_helpers import FOLDER, figures, script, tiny_options

TINY = tiny_options()
FIGURES = {
    "speed": ("dropout_edge (random", "coalesce", "COO -> COO (PyG Data)", "CSR -> CSR", "COO -> COO / dropout_edge",
              "COO -> COO / coalesce", "CSR -> CSR / dropout_edge", "fit / dropout_edge"),
    "kernel": ("gather, same rows, summed in registers", "gather, row of every edge, written out", "selection  ",
               "rate of selection / rate of the summed gather"),
    "naive": ("naive, plain Python", "naive, a numpy dot", "lsprune mask", "rate / naive rate, plain Python",
              "rate / naive rate, numpy dots"),
    "memory": ("peak extra memory allocated, own size (20,000 edges)", "first call from a warm cache"),
    "networkit_similarity": ("lsprune, COO -> COO", "NetworKit LocalSimilarity with its conversion", "times faster"),
    "resistance": ("256 trees, the default", "4096 trees", "scipy, 256 projections"),
    "similarity": ("LSP(k=8)", 'LSP(k=8, weights="similarity")', "rows in eight bits", "sums over neighbours",
                   "cosines of owners and neighbours", "Cosine(k=8)", "Jaccard(k=8)"),
    "codebook": ("to quantise", "32 words", "64 words"),
    "auto": ("fit on", "mask of"),
    "consistency": ("LSP-Q  (", "LSP-Q, functions", "LSP-Q of edge and neighbour", "auto",
                    "LSP-P of the edge, k smallest", "LSP-P of the edge  (",
                    "LSP-P published", "LSP-T published", "local random", "position,"),
    "order": ("by chance", "atoms with a bond to the one before", "seed 0, published LSP-P:",
              "seed 0, published LSP-P, ties by hash:", "seed 0, lsp-auto-out:", "seed 0, local-random-out:"),
    "hub": ("LSP(keep=0.5)  ", 'LSP(keep=0.5, select="bottom")', "LSP(k=8, symmetric='union'), 100 edges",
            "the same with one edge twice"),
    "growth": ("small-graphs, memory: exponent of time", "small-graphs, memory: exponent of memory",
               "small-graphs, stream: exponent of time", "small-graphs, stream: exponent of memory"),
    "gpu": ("dropout_edge", "coalesce", "COO -> COO (Data)", "CSR -> CSR (Data.adj_t)", "selection, 8 functions",
            "bare gather / selection", 'selection, select="bottom"'),
    "gpu_graphs": ("list of Data, fitted", "list of Data, with fit", "list of Data: reading",
                   "list of Data: rebuilding", "Batch, fitted", "Batch, with fit", "dataset, fitted"),
    "products": ("generated, k random", "generated, with labels", "generated, choose", "mean over 1 graphs, choose"),
    "choosing": ("noisy-links: to choose", "noisy-links: one training of GAT; choosing costs"),
    "epoch": ("demo: fit and prune, an epoch", "demo: epochs that pruning costs"),
    "gpu_learning": ("fit, codebook of nodes", "prune, codebook of nodes", "prune, codebook of edges and nodes",
                     "prune, Both", 'fit, hash="auto", weights="auto"', 'prune, hash="auto", weights="auto"'),
    "tables": ("input, MB", "lsprune-stream", "lsprune-table", "duckdb", "polars", "pandas"),
    "stream": ("edges,", "stream  ", "peak memory", "input", "features", "scratch", "output", "in memory"),
}  # fmt: skip
NEEDS = {
    "speed": "torch_geometric", "gpu": "torch_geometric", "gpu_graphs": "torch_geometric",
    "gpu_learning": "torch_geometric", "epoch": "torch_geometric", "auto": "torch_geometric",
    "products": "torch_geometric", "choosing": "torch_geometric", "consistency": "torch_geometric",
    "order": "torch_geometric",
    "networkit_similarity": "networkit", "tables": "duckdb",
}  # fmt: skip


def molecules(count: int = 12):
    """Rings with a tail, whose atoms and bonds are categories."""
    import torch
    from torch_geometric.data import Data

    one = torch.tensor([[0, 1, 2, 3, 4, 0, 5], [1, 2, 3, 4, 0, 5, 6]])
    ends = torch.cat([one, one.flip(0)], 1)
    return [
        Data(x=(torch.arange(7) * (i + 1) % 4)[:, None], edge_index=ends, edge_attr=(torch.arange(14) + i) % 3)
        for i in range(count)
    ]


@pytest.mark.parametrize("name", FIGURES)
def test_it_prints_every_figure_at_a_tiny_size(name, capsys, monkeypatch):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"benchmarks/{name}.py needs {NEEDS[name]}")
    if name == "order":  # the dataset itself is large, and not everywhere
        from lsprune.lab import datasets

        monkeypatch.setattr(datasets, "load", lambda name: SimpleNamespace(train=molecules(), categories={"x": 4}))
    script(name, *TINY[name])
    output = capsys.readouterr().out
    found = figures(output, FIGURES[name])
    if name == "naive":
        assert "the same edges at 1,000" in output and "True   True" in output
    if name == "tables":
        assert "the same edges: True" in output
    if name in ("consistency", "order"):
        assert all(0 <= numbers[0] <= 1 for numbers in found.values())
    if name == "resistance":  # more trees, less error: 8 % and 2 %
        assert found["4096 trees"][1] < found["256 trees, the default"][1] < 30


@pytest.mark.parametrize("name", ["codebook", "auto"])
def test_it_runs_on_a_gpu(name, capsys):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    script(name, *TINY[name], "--executor", "gpu")
    assert set(figures(capsys.readouterr().out, FIGURES[name])) == set(FIGURES[name])


def test_a_graph_past_32_bits_is_checked_against_memory(tmp_path, capsys):
    script("stream", run_name="stream")["beyond"](tmp_path, edges=20_000, middle=10_000, memory="8GB")
    found = figures(capsys.readouterr().out, ("20,000 edges in", "peak memory"))
    assert found["20,000 edges in"][1] > 50  # marked edges that are kept


def test_the_runner_knows_every_benchmark():
    assert set(TINY) == {path.stem for path in FOLDER.glob("*.py")} - {"run", "common", "graphs", "gpu_gather"}
    assert set(TINY) == {*FIGURES, "spark"}  # tests/spark/test_spark.py has a session for the latter


def test_the_runner_goes_on_after_a_failure_and_says_so_at_the_end(tmp_path, monkeypatch, capfd):
    run = script("run", run_name="run")
    for name, code in {
        "first": "raise TypeError('broken')",
        "second": "import sys; print('ran', *sys.argv[1:])",
    }.items():
        (tmp_path / f"{name}.py").write_text(code)
    assert run["failures"]({"first": (), "second": ("--edges", "5")}, tmp_path) == {"first": 1}
    output = capfd.readouterr()
    assert "ran --edges 5" in output.out and "TypeError: broken" in output.err

    called = []
    monkeypatch.setitem(run["main"].__globals__, "failures", lambda commands: called.append(commands) or {"kernel": 1})
    with pytest.raises(SystemExit, match=f"1 of {len(TINY)} benchmarks failed: kernel \\(exit status 1\\)"):
        run["main"](["--tiny"])
    assert called == [TINY]
    monkeypatch.setitem(run["main"].__globals__, "failures", lambda commands: {})
    run["main"]([])
    assert f"all {len(TINY)} benchmarks ran" in capfd.readouterr().out
