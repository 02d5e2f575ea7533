"""Random graphs and pruners for tests of the GPU path, on CPU tensors or a real device: the host must agree.

Whoever imports this is skipped where PyTorch is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from lsprune import LSP, First, Graph, LocalRandom, NoEdges, Random  # noqa: E402
from lsprune.baselines import Cosine, DSpar, Jaccard, LocalDegree, LowDegree, TopWeight  # noqa: E402
from lsprune.device.graph import upload  # noqa: E402
from lsprune.errors import LspruneError  # noqa: E402
from lsprune.hashing import (  # noqa: E402  # noqa: E402
    Auto,
    Bins,
    Both,
    Codebook,
    Constant,
    Identity,
    PaperProjection,
    PaperThreshold,
    Projection,
    Signs,
    Structure,
    Threshold,
)
from lsprune.hashing.base import View  # noqa: E402
from lsprune.kernels import Runtime, runtime  # noqa: E402
from lsprune.pruners import PaperLSP  # noqa: E402
from lsprune.selection.owners import group  # noqa: E402

FAMILIES = (
    Projection(), Projection(l=0.5), Projection(sparsity=3), Identity(), Signs(bits=3), Bins(), Threshold(),
    Threshold(sparsity=2, m=97), Structure(rounds=2), Constant(),
)  # fmt: skip
LEARNING_FAMILIES = (
    Codebook(), Codebook(words=3), Codebook(words=30), Both(), Both(edge=Bins(), node=Codebook(words=2)),
    Both(edge=Projection(), node=Structure()), Auto(),
)  # fmt: skip
PAPER_FAMILIES = (PaperProjection(l=1.0, sparsity=3), PaperThreshold(digest="affine", sparsity=4), Projection(l=0.5))
WEIGHTS = (
    None, None, None, "degree", "jaccard", "similarity", "degree:power=0.4", "edge:0", "auto",
    "jaccard:power=0.5*degree:power=0.5", "similarity*edge:0*degree",
)  # fmt: skip
PARTS = (("edge", "neighbour"), ("owner", "edge", "neighbour"), ("neighbour",))
EDGES = (0, 1, 5, 300, 1500)
HOST = runtime(1, "cpu" if find_spec("numba") else "reference")


def device_run(device: Any = "cpu") -> Runtime:
    """The runtime of a device; that of the CPU runs the same code with plain torch."""
    return Runtime(device=torch.device(device))


def numpy_of(values: Any) -> np.ndarray:
    """A tensor as an array."""
    return values.cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)


def both(pruner: Any, graph: Graph, device: Any = "cpu", *, fit: bool = False) -> tuple[Any, Any]:
    """What the host and the device make of a graph: (fitted pruner, mask, isolated nodes), or the error's text."""
    on_device = upload(graph, device)
    return result_of(pruner, graph, HOST, fit=fit), result_of(pruner, on_device, device_run(device), fit=fit)


def result_of(pruner: Any, graph: Graph, run: Runtime, *, fit: bool = False) -> Any:
    """(the fitted pruner with `fit`, the mask as a list, the number of isolated nodes), or the error's text."""
    try:
        with no_numpy_reads():
            ready = pruner.fit_graph(graph, run) if fit and not pruner.is_fitted else pruner
            outcome = ready.mask_graph(graph, run)
    except LspruneError as error:
        return f"{type(error).__name__}: {error}"
    assert isinstance(outcome.mask, torch.Tensor if run.device else np.ndarray)
    mask = numpy_of(outcome.mask)
    assert outcome.kept in (None, int(mask.sum()))
    return ready if fit else None, mask.tolist(), outcome.isolated


@contextmanager
def no_numpy_reads() -> Iterator[None]:
    """Let numpy fail to read CPU tensors, as it fails to read those of a GPU."""

    def refuse(tensor: torch.Tensor, *args: Any, **more: Any) -> None:
        raise TypeError("numpy reads a tensor: on a GPU it cannot")

    allowed = torch.Tensor.__array__
    torch.Tensor.__array__ = refuse
    try:
        yield
    finally:
        torch.Tensor.__array__ = allowed


def any_graph(rng: np.random.Generator, edges: tuple[int, ...] = EDGES) -> Graph:
    """Any small graph: with a hub, both directions, sorted, several in one, or between two kinds of nodes."""
    nodes = int(rng.integers(1, 60))
    source, target = _ends(rng, nodes, int(rng.choice(edges)))
    has = rng.integers(4)  # 1: no x; 1 and 2: edge_attr
    x = None if has == 1 else _attributes(rng, nodes, (1, 2, 7, 40))
    attr = _attributes(rng, source.size, (1, 3)) if has in (1, 2) else None
    attr = np.abs(attr) + 1 if attr is not None and rng.integers(2) else attr  # as weights must be
    if rng.integers(6) == 0:
        size = max(7, nodes)
        both_x = None if x is None else (x, np.resize(x, (size, *x.shape[1:])))
        return Graph.from_edges((source, target % 7), num_nodes=(nodes, size), x=both_x, edge_attr=attr)
    if rng.integers(3):
        return Graph.from_edges((source, target), num_nodes=nodes, x=x, edge_attr=attr)
    ptr = np.array([0, *np.sort(rng.integers(0, nodes + 1, 2)), nodes])
    member = [np.searchsorted(ptr[1:], end, side="right") for end in (source, target)]
    within = member[0] == member[1]
    attr = None if attr is None else attr[within]
    return Graph.from_edges((source[within], target[within]), num_nodes=nodes, x=x, edge_attr=attr, ptr=ptr)


def _ends(rng: np.random.Generator, nodes: int, edges: int) -> tuple[np.ndarray, np.ndarray]:
    source, target = rng.integers(0, nodes, (2, edges))
    if rng.integers(3) == 0:
        target[: edges // 2] = 0  # a hub
    if rng.integers(2):
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
    if rng.integers(3) == 0:
        order = np.argsort(target, kind="stable")
        source, target = source[order], target[order]
    return source, target


def _attributes(rng: np.random.Generator, count: int, widths: tuple[int, ...]) -> np.ndarray:
    if rng.integers(4) == 0:
        return rng.integers(0, 5, count)  # a category
    return rng.standard_normal((count, int(rng.choice(widths)))).astype(rng.choice(["f4", "f8"]))


def any_pruner(rng: np.random.Generator, graph: Graph) -> Any:
    """Any pruner that has a GPU path; whether it suits the graph is left to errors, which must be equal too."""
    budget = {"k": int(rng.choice([0, 1, 3, 8, 9, 20, 40]))} if rng.integers(2) else {
        "keep": float(rng.choice([0.01, 0.2, 0.5, 0.9, 1.0]))
    }  # fmt: skip
    rules = {
        **budget, "side": str(rng.choice(["in", "out"])), "self_loops": str(rng.choice(["free", "edge", "drop"])),
        "seed": int(rng.integers(5)), "pooled": bool(rng.integers(2)),
    }  # fmt: skip
    if not graph.bipartite and rng.integers(3) == 0:
        rules["symmetric"] = str(rng.choice(["union", "intersection"]))
    if rng.integers(8) == 0:
        return any_baseline(rng, rules)
    families = FAMILIES if rng.integers(3) else LEARNING_FAMILIES
    family, weights = families[rng.integers(len(families))], WEIGHTS[rng.integers(len(WEIGHTS))]
    select, parts = str(rng.choice(["functions", "functions", "bottom"])), PARTS[rng.integers(len(PARTS))]
    rules["attributes"] = PARTS[1] if family.missing_parts(parts) else parts
    if rng.integers(5):
        return LSP(**rules, hash=family, weights=weights, select=select)
    values, ties = str(rng.choice(["unit", "raw"])), str(rng.choice(["hash", "id", "position"]))
    paper = PAPER_FAMILIES[rng.integers(len(PAPER_FAMILIES))]
    family = family if paper.needs_k and "keep" in rules else paper
    return PaperLSP(**rules, hash=family, weights=weights, select=select, values=values, ties=ties)


def any_baseline(rng: np.random.Generator, rules: dict[str, Any]) -> Any:
    """Any baseline that has a GPU path, with these options of selection."""
    kinds = (
        LocalRandom, Random, DSpar, First, LowDegree, LocalDegree, Cosine, partial(TopWeight, column=0),
        partial(TopWeight, weights="jaccard:power=0.5*degree"), partial(TopWeight, weights="similarity"),
        partial(Jaccard, exact=True), partial(Jaccard, hashes=20), lambda **_: NoEdges(self_loops=rules["self_loops"]),
    )  # fmt: skip
    return kinds[rng.integers(len(kinds))](**rules)


def views(pruner: LSP, graph: Graph, steps: int = 1) -> tuple[View, View]:
    """What the hash family of a pruner, fitted on the host, may look at: on the host, and on CPU tensors."""
    fitted, there, run = pruner.fit_graph(graph, HOST), upload(graph, "cpu"), device_run()
    here = fitted.view(graph, group(graph, fitted.rules, HOST), steps, HOST)
    return here, fitted.view(there, group(there, fitted.rules, run), steps, run)


def key_tables(view: View, keys: Any, count: int) -> np.ndarray:
    """The keys of every slot, `[slots, count]`."""
    owners = int(view.owned.indptr.shape[0]) - 1
    if hasattr(keys, "of"):
        return numpy_of(keys.of(0, owners))[:, :count]
    return numpy_of(keys.table)[numpy_of(view.owned.neighbour)][:, :count].astype(np.int64)
