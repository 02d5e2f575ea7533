"""Quantised rows of tensors on a device: the integers of the host, side by side or projected."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import numpy_of, torch, views

from graphs import random_graph
from lsprune import LSP, Graph
from lsprune.hashing import device_rows
from lsprune.hashing.device_rows import joined, part_rows
from lsprune.hashing.quantised_rows import MAX_PLAIN_COLUMNS, PROJECTED_COLUMNS, quantised_rows, row_blocks, width
from lsprune.kernels.gpu import quantisation

ALL = ("owner", "edge", "neighbour")


def graph_of(dim: int, edge_dim: int) -> Graph:
    """Edge attributes are far larger than those of nodes, so that parts lose different numbers of bits."""
    graph = random_graph(0, nodes=40, edges=300, dim=dim, edge_dim=edge_dim)
    if edge_dim:
        graph.edge_attr[:] = graph.edge_attr * 1000 + 5
    return graph


@pytest.mark.parametrize("chunk", [None, 60])
@pytest.mark.parametrize("attributes", [ALL, ("neighbour",)])
@pytest.mark.parametrize(("dim", "edge_dim"), [(1, 1), (5, 1), (5, 3), (60, 3), (200, 0), (200, 7)])
def test_rows_are_those_of_the_host(dim, edge_dim, attributes, chunk, monkeypatch):
    here, there = views(LSP(k=1, attributes=attributes), graph_of(dim, edge_dim))
    if chunk:
        monkeypatch.setattr(quantisation, "CHUNK_VALUES", chunk)
    rng = np.random.default_rng(0)
    ids = {role: rng.integers(0, 40, 90) for role in here.parts}
    found = joined(there, part_rows(there), {role: torch.from_numpy(rows) for role, rows in ids.items()})
    total = sum(scale.dim for scale in here.scales.values())
    assert found.dtype == torch.int8
    assert found.shape == (90, total if total <= MAX_PLAIN_COLUMNS else PROJECTED_COLUMNS) == (90, width(there))
    np.testing.assert_array_equal(numpy_of(found), quantised_rows(here, ids))


@pytest.mark.parametrize("attributes", [ALL, ("edge",), ("neighbour",), ("owner", "neighbour")])
@pytest.mark.parametrize(("dim", "edge_dim"), [(5, 3), (200, 7)])
def test_blocks_of_rows_are_those_of_the_host(dim, edge_dim, attributes, monkeypatch):
    here, there = views(LSP(k=1, attributes=attributes), graph_of(dim, edge_dim))
    blocks, read = row_blocks(here)
    expected = np.concatenate([read(lo, hi) for lo, hi in blocks])
    for size in (1 << 30, 1 << 16):
        monkeypatch.setattr(device_rows, "BLOCK_BYTES", size)
        blocks, read = device_rows.row_blocks(there)
        assert [lo for lo, _ in blocks] == [0, *(hi for _, hi in blocks[:-1])]
        np.testing.assert_array_equal(np.concatenate([numpy_of(read(lo, hi)) for lo, hi in blocks]), expected)


def test_the_first_bad_row_that_a_slot_needs_is_noted(monkeypatch):
    _, there = views(LSP(k=1, attributes=("owner", "neighbour")), graph_of(5, 0))
    owned = there.owned
    values = there.parts["neighbour"].rows.values
    unused = [node for node in range(40) if node not in owned.neighbour.tolist()]
    third = int(owned.neighbour[3])
    values[[*unused, third], 0] = float("nan")
    for slots in (1 << 24, 7):
        monkeypatch.setattr(device_rows, "CHECKED_SLOTS", slots)
        there.runtime.faults.clear()
        device_rows.note_bad_rows(there)
        first = next(i for i, node in enumerate(owned.neighbour.tolist()) if node == third)
        owners = owned.owners(0, 40).tolist()
        assert first <= 3 and [int(row) for _, row in there.runtime.faults] == [
            next((node for node in owners if node == third or node in unused), 40),
            third,
        ]


def test_a_row_that_is_not_finite_is_noted():
    _, there = views(LSP(k=1, attributes=("neighbour",)), graph_of(5, 0))
    there.parts["neighbour"].rows.values[9, 2] = float("inf")
    part_rows(there)
    assert [int(row) for _, row in there.runtime.faults] == [9]


def test_the_largest_values_do_not_wrap_round():
    graph = random_graph(0, nodes=500, edges=600, dim=1)
    graph.x[:] *= 1.5  # the largest are clipped, and would be rounded up to 128
    here, there = views(LSP(k=1, attributes=("neighbour",)), graph)
    ids = np.arange(500)
    expected = quantised_rows(here, {"neighbour": ids})
    assert expected.max() == 127
    found = joined(there, part_rows(there), {"neighbour": torch.from_numpy(ids)})
    np.testing.assert_array_equal(numpy_of(found), expected)
