"""Pruning a graph that is on a GPU, beside the floors of the device and PyG's own operations, in one run.

Without a CUDA device there is nothing to measure; `--device cpu` runs the same code on CPU tensors, to see that it
works.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric import EdgeIndex
from torch_geometric.data import Data
from torch_geometric.utils import coalesce, dropout_edge

from common import K, line
from lsprune import LSP, prune
from lsprune.hashing import Identity
from lsprune.kernels.gpu.choose import Block, choose_block, chooser

GRAPHS = {"medium": (10_000_000, 1_000_000, 128), "large": (100_000_000, 10_000_000, 32)}
TARGETS = {  # milliseconds and ratios asked for, by graph
    "medium": {"csr": "<= 0.8 ms", "coo": "<= 2.5 ms", "ratio": ">= 0.5, stretch 0.7", "bottom": "<= 0.3 ms"},
    "large": {"csr": "<= 8 ms", "coo": "<= 20 ms", "ratio": ">= 0.6", "bottom": "<= 3 ms"},
}


def power_law(edges: int, nodes: int, device: str) -> Tensor:
    """Edges as in benchmarks/graphs.py, drawn on the device."""
    generator = torch.Generator(device).manual_seed(0)
    weight = (torch.arange(nodes, device=device, dtype=torch.float64) + 10) ** -0.5
    cumulative, place = weight.cumsum(0), torch.randperm(nodes, device=device, generator=generator)
    ends = [
        place[torch.searchsorted(cumulative, draws * cumulative[-1]).clamp_(max=nodes - 1)]
        for draws in torch.rand((2, edges // 2), device=device, dtype=torch.float64, generator=generator)
    ]
    half = torch.stack(ends)
    return torch.cat([half, half.flip(0)], 1)


def milliseconds(task: Callable[[], Any], device: str, rounds: int) -> float:
    """The least milliseconds of a task over some rounds, with the device idle before and after."""
    best = float("inf")
    for _ in range(rounds + 3):
        _wait(device)
        start = time.perf_counter()
        task()
        _wait(device)
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def kernel_milliseconds(task: Callable[[], Any], device: str, rounds: int) -> float:
    """The milliseconds of the device's own work: many calls in a row, launches hidden behind the work."""
    if device == "cpu":
        return milliseconds(task, device, rounds)
    task()
    best = float("inf")
    for _ in range(3):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        start.record()
        for _ in range(rounds):
            task()
        stop.record()
        torch.cuda.synchronize()
        best = min(best, start.elapsed_time(stop) / rounds)
    return best


def _wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def launches(task: Callable[[], Any]) -> tuple[int, int]:
    """The kernel launches of a call, and how often the host waits for the device."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as record:
        task()
    names = [event.name for event in record.events()]
    waits = ("cudaStreamSynchronize", "cudaEventSynchronize")  # the profiler synchronises the device by itself
    return sum("LaunchKernel" in name for name in names), sum(name in waits for name in names)


def extra_bytes(task: Callable[[], Any]) -> int:
    """The most device memory of a call beyond what is there before and what it returns."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    result = task()
    torch.cuda.synchronize()
    peak, after = torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
    del result
    return peak - before - (after - before)


def gather_floor(table: Tensor, neighbour: Tensor) -> Callable[[], Any]:
    """A task that only reads the keys of every neighbour: with a Triton kernel, or on the CPU with torch."""
    if table.device.type == "cpu":
        return lambda: table[neighbour.long()].sum()
    from gpu_gather import read_rows

    return lambda: read_rows(table, neighbour)


def measure(name: str, edges: int, nodes: int, dim: int, device: str, rounds: int) -> None:
    """Print the figures of one graph."""
    edge_index, x = power_law(edges, nodes, device), torch.randn(nodes, dim, device=device)
    data, asked = Data(edge_index=edge_index, x=x), TARGETS.get(name, {})
    fitted = LSP(k=K).fit(data)
    exact = fitted.with_budget(keep=0.5)
    order = torch.argsort(edge_index[1], stable=True)
    neighbour = edge_index[0][order]
    indptr = torch._convert_indices_from_coo_to_csr(edge_index[1][order], nodes)
    ones = torch.ones(edges, device=device)
    adj_t = torch.sparse_csr_tensor(indptr, neighbour, ones, (nodes, nodes), check_invariants=False)
    csr = Data(adj_t=adj_t, x=x)
    by_target = EdgeIndex(edge_index[:, order].contiguous(), sparse_size=(nodes, nodes), sort_order="col")
    sorted_data = Data(edge_index=by_target, x=x)
    pruned = prune(data, fitted)
    share = pruned.num_edges / edges
    where = torch.cuda.get_device_name() if device != "cpu" else "CPU tensors"
    print(f"\n## gpu, {name}: {edges:,} edges, {nodes:,} nodes, d={dim}, {share:.1%} kept; {fitted!r}\n   {where}")
    tasks: dict[str, Callable[[], Any]] = {
        "copy of the edges": lambda: edge_index.clone(),
        "reading x": lambda: x.sum(),
        "sort by owner (torch, int32)": lambda: torch.sort(edge_index[1].int(), stable=True),
        "sort + rank in the segment (torch)": lambda: _segment_rank(edge_index[1], nodes),
        "dropout_edge": lambda: dropout_edge(edge_index, 1 - share),
        "coalesce": lambda: coalesce(edge_index),
        "fit": lambda: LSP(k=K).fit(data),
        "COO -> COO (Data)": lambda: prune(data, fitted),
        "keep=0.5, COO -> COO (Data)": lambda: prune(data, exact),
        "sorted EdgeIndex -> EdgeIndex (Data)": lambda: prune(sorted_data, fitted),
        "CSR -> CSR (Data.adj_t)": lambda: prune(csr, fitted),
    }
    targets = {"COO -> COO (Data)": asked.get("coo", ""), "CSR -> CSR (Data.adj_t)": asked.get("csr", "")}
    for label, task in tasks.items():
        line(label, f"{milliseconds(task, device, rounds):.3f} ms", targets.get(label, ""))
    _selection(indptr, neighbour.int(), x, fitted, data, device, rounds, asked)
    if device != "cpu":
        for label in ("COO -> COO (Data)", "keep=0.5, COO -> COO (Data)", "CSR -> CSR (Data.adj_t)"):
            line(f"{label}: launches, waits", "{}, {}".format(*launches(tasks[label])))
            line(f"{label}: extra memory", f"{extra_bytes(tasks[label]) / edges:.1f} B an edge", "<= 32")


def _segment_rank(owner: Tensor, nodes: int) -> Tensor:
    values, order = torch.sort(owner.int(), stable=True)
    start = torch._convert_indices_from_coo_to_csr(values, nodes)
    return torch.arange(values.shape[0], device=owner.device) - start[values.long()]


def _selection(
    indptr: Tensor,
    neighbour: Tensor,
    x: Tensor,
    fitted: Any,
    data: Data,
    device: str,
    rounds: int,
    asked: dict[str, str],
) -> None:
    """Print the figures of the selection kernels alone, with keys made."""
    table = torch.randint(-(2**30), 2**30, (x.shape[0], K), dtype=torch.int32, device=device)
    one = table[:, :1].contiguous()
    starts = torch.arange(K, device=device)
    taken = torch.ones(neighbour.shape[0], dtype=torch.uint8, device=device)
    found = chooser(indptr, K, 0, ranked=False)
    facts = found.facts.tolist()
    by_functions = Block(indptr, neighbour, table, False, K, 0, K, None, 0, starts, taken, False)
    bottom = Block(indptr, neighbour, one, False, K, 0, K, None, 0, starts, taken, False, bottom=True)
    times = {
        "gather": kernel_milliseconds(gather_floor(table, neighbour), device, rounds),
        "gather one": kernel_milliseconds(gather_floor(one, neighbour), device, rounds),
        "functions": kernel_milliseconds(lambda: choose_block(by_functions, found, facts), device, rounds),
        "bottom": kernel_milliseconds(lambda: choose_block(bottom, found, facts), device, rounds),
    }
    line("bare gather of 8 keys a neighbour", f"{times['gather']:.3f} ms")
    line("bare gather of one key", f"{times['gather one']:.3f} ms")
    line("selection, 8 functions", f"{times['functions']:.3f} ms")
    line("bare gather / selection", f"{times['gather'] / times['functions']:.2f}", asked.get("ratio", ""))
    line('selection, select="bottom"', f"{times['bottom']:.3f} ms", asked.get("bottom", ""))
    line(
        "Identity, COO -> COO", f"{milliseconds(lambda: prune(data, LSP(k=K, hash=Identity())), device, rounds):.3f} ms"
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures of the graphs asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=[*GRAPHS, "all"], default="all")
    parser.add_argument("--edges", type=int, help="one graph with so many edges instead")
    parser.add_argument("--nodes", type=int, default=None, help="its nodes (default: a tenth of the edges)")
    parser.add_argument("--device", default="cuda", help="cuda or cpu")
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args(argv)
    if options.device != "cpu" and not torch.cuda.is_available():
        print("\n## gpu: no CUDA device here, so that there is nothing to measure")
        return
    if options.edges:
        measure("own size", options.edges, options.nodes or options.edges // 10, 32, options.device, options.rounds)
        return
    for name, size in GRAPHS.items():
        if options.size in (name, "all"):
            measure(name, *size, options.device, options.rounds)


if __name__ == "__main__":
    main()
