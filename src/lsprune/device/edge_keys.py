"""Keys of baselines on a device: for every slot of some owners, the integers that the host computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lsprune.attributes import AnyRows, CategoryRows, Part
from lsprune.device.owners import neighbour_base, node_base
from lsprune.errors import GraphError
from lsprune.graph import Graph, Owned, oriented
from lsprune.hashing.base import BLOCK_FUNCTIONS
from lsprune.kernels import Runtime
from lsprune.kernels.gpu.neighbour_rows import dot_rows, unit_rows
from lsprune.kernels.gpu.neighbour_sets import count_equal, min_rows
from lsprune.kernels.gpu.quantisation import first_bad_row
from lsprune.kernels.gpu.splitmix import draw, shift_right
from lsprune.numeric.random_numbers import EDGE, MINHASH

KeysOfOwners = Callable[[int, int], Any]  # from a range of owners to the keys of their slots, int64


def end_hashes(graph: Graph, first: Tensor, second: Tensor, seed: int) -> Tensor:
    """Return hashes of (first, second), sources and targets by their ids within their graph: 64 bits as int64."""
    bases = node_base(graph.source_ptr, graph.num_sources), node_base(graph.target_ptr, graph.num_targets)
    local = [ids if base is None else ids - base[ids] for ids, base in zip((first, second), bases, strict=True)]
    return draw(seed, (EDGE, *local), first.device)


def random_keys(graph: Graph, owned: Owned, side: str, seed: int) -> KeysOfOwners:
    """Return a function from a range of owners to hashes of (owner, neighbour), 63 bits each."""
    own, other = oriented(side, graph.source_ptr, graph.target_ptr)
    own_base, other_base = node_base(own, graph.num_owners(side)), node_base(other, graph.num_neighbours(side))

    def keys(lo: int, hi: int) -> Any:
        start, stop = owned.bounds(lo, hi)
        owner: Any = owned.owners(lo, hi)
        neighbour: Any = owned.neighbour[start:stop]
        owner, neighbour = owner.long(), neighbour.long()
        if own_base is not None and other_base is not None:
            owner, neighbour = owner - own_base[owner], neighbour - other_base[neighbour]
        return shift_right(draw(seed, (EDGE, owner, neighbour), owner.device), 1)

    return keys


def slot_keys(owned: Owned) -> KeysOfOwners:
    """Return a function from a range of owners to their slots."""
    indptr: Any = owned.indptr
    return lambda lo, hi: torch.arange(*owned.bounds(lo, hi), device=indptr.device)


def degree_keys(graph: Graph, owned: Owned, side: str, sign: int) -> KeysOfOwners:
    """Return a function from a range of owners to sign * (edges that have the neighbour as theirs)."""
    neighbour: Any = owned.neighbour
    counts: Any = torch.zeros(graph.num_neighbours(side), dtype=torch.int64, device=neighbour.device)
    table: Any = sign * owned.count_neighbours(counts)
    return lambda lo, hi: table[neighbour[slice(*owned.bounds(lo, hi))].long()]


def weight_keys(owned: Any, weights: Any, *, check: bool, name: str = "edge_attr") -> KeysOfOwners:
    """Return a function from a range of owners to keys that fall as the weights of the edges `[E]` rise.

    Args:
        check: raise GraphError if the weight of an edge that counts is not finite; name: what holds the weights.
    """
    owners = owned.indptr.shape[0] - 1
    if check and weights.is_floating_point():
        ids = owned.edges(*owned.bounds(0, owners))
        bad = ~torch.isfinite(weights[ids].double())
        if owned.loops is not None:
            bad &= owned.owners(0, owners) != owned.neighbour
        if bool(bad.any()):
            row = int(ids[bad.nonzero()[0, 0]])
            raise GraphError(f"{name} must be finite, got {float(weights[row])} in row {row}")
    return lambda lo, hi: descending(weights[owned.edges(*owned.bounds(lo, hi))])


def descending(weights: Tensor) -> Tensor:
    """Return int64 keys that fall as the weights rise; see `baselines.top_weight.descending`."""
    if not weights.is_floating_point():
        return ~weights.long()
    bits = (weights.double() + 0.0).view(torch.int64)
    return ~torch.where(bits < 0, bits ^ (2**63 - 1), bits)


def match_keys(graph: Any, owned: Any, side: str, seed: int, hashes: int) -> KeysOfOwners:
    """Return a function from a range of owners to minus the number of equal min-hashes of owner and neighbour."""
    device, nodes = graph.device, graph.num_nodes
    owner, neighbour, base = owned.owners(0, nodes), owned.neighbour.long(), neighbour_base(graph, side)
    ids = torch.arange(nodes, device=device)
    local = ids - base if base.numel() else ids
    counts = torch.zeros(neighbour.shape[0], dtype=torch.int64, device=device)
    for first in range(0, hashes, BLOCK_FUNCTIONS):
        steps = torch.arange(first, min(first + BLOCK_FUNCTIONS, hashes), device=device)
        table = shift_right(draw(seed, (MINHASH, steps[None, :], local[:, None]), device), 33)
        count_equal(min_rows(owner, neighbour, table), owner, neighbour, counts)
    return lambda lo, hi: -counts[slice(*owned.bounds(lo, hi))]


def cosine_keys(owned: Any, own: Part, other: Part, runtime: Runtime) -> KeysOfOwners:
    """Return a function from a range of owners to minus the products of the unit rows of owner and neighbour."""
    device = owned.indptr.device
    units = _unit_rows(own.rows, device, runtime)
    others = units if other.rows is own.rows else _unit_rows(other.rows, device, runtime)

    def keys(lo: int, hi: int) -> Any:
        neighbour = owned.neighbour[slice(*owned.bounds(lo, hi))].long()
        return -dot_rows(units, _long(own.rows_of(owned.owners(lo, hi))), _long(other.rows_of(neighbour)), others)

    return keys


def _unit_rows(rows: AnyRows, device: Any, runtime: Runtime) -> Tensor:
    """Return L2-normalised rows in 2^-14; those that are not finite are told at the end."""
    if isinstance(rows, CategoryRows):
        return unit_rows(torch.from_numpy(rows.block(0, rows.count)).to(device))
    values: Any = rows.values
    runtime.faults.append((rows, first_bad_row(values)))
    return unit_rows(values)


def _long(ids: Any) -> Tensor:
    result: Tensor = ids.long()
    return result
