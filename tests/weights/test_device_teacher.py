"""The teacher on a device: the integers of the host."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import HOST, both, device_run, numpy_of, torch, upload, views

from graphs import communities, random_graph
from lsprune import LSP
from lsprune.weights.device_teacher import dot_products, joined, mean_rows, rows_of_ends
from lsprune.weights.teacher import Teacher


@pytest.mark.parametrize("kind", ["classes", "labels", "numbers"])
def test_agreement_is_that_of_the_host(kind):
    graph = random_graph(0, nodes=30, edges=300)
    here, there = views(LSP(k=1, hash="identity"), graph)
    outputs = np.random.default_rng(0).integers(-(2**19), 2**19, (30, 5))
    one = Teacher(kind, 16, np.zeros(5, np.int64), np.zeros((1, 5, 5), np.int16))
    np.testing.assert_array_equal(
        numpy_of(one.agreement(there, torch.from_numpy(outputs))), one.agreement(here, outputs)
    )


def test_means_and_products_are_those_of_the_host():
    graph = random_graph(1, nodes=30, edges=300)
    here, there = views(LSP(k=1, hash="identity"), graph)
    rows = np.random.default_rng(0).integers(-(2**30), 2**30, (30, 3))
    owner = np.repeat(np.arange(30), np.diff(here.owned.indptr))
    sums = rows.copy()
    np.add.at(sums, owner, rows[here.owned.neighbour])
    expected = sums // (np.diff(here.owned.indptr)[:, None] + 1)
    tensor = torch.from_numpy(rows)
    np.testing.assert_array_equal(numpy_of(mean_rows(there, tensor)), expected)
    small = rows >> 20
    dots = (small[owner] * small[here.owned.neighbour]).sum(1)
    np.testing.assert_array_equal(numpy_of(dot_products(there, torch.from_numpy(small))), dots)
    first, second = rows_of_ends(there, tensor, 3, 9)
    np.testing.assert_array_equal(numpy_of(joined([first, second])), rows[[*owner[3:9], *here.owned.neighbour[3:9]]])


@pytest.mark.parametrize("hash", ["projection", "constant", "signs"])
@pytest.mark.parametrize("weights", ["labels", "labels:2*jaccard:0.5*degree:0.5"])
def test_masks_are_those_of_the_host(hash, weights):
    from dataclasses import replace

    graph, kind = communities(nodes=120)
    graph = replace(graph, y=kind)
    fitted = LSP(k=3, hash=hash, weights=weights).fit_graph(graph, HOST)
    host, device = both(fitted, graph)
    assert device == host
    again = LSP(k=3, hash=hash, weights=weights).fit_graph(upload(graph, "cpu"), device_run())
    assert again == fitted
