from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphs import random_graph
from lsprune import LSP
from lsprune.kernels import cpu, reference
from lsprune.kernels.cpu.projections import MAX_NARROW_COLUMNS

FEW = settings(max_examples=25, deadline=None, derandomize=True)
rows = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 6), st.integers(1, 40)),
    elements=st.floats(-(2.0**127), 2.0**127, width=32) | st.sampled_from([0.0, 1.0, -1.0, 2.0**-130, 2.0**-115]),
)


@given(x=rows, unit=st.booleans())
@FEW
def test_projections_and_signatures_are_the_same(x, unit):
    rng = np.random.default_rng(0)
    dim, centre = x.shape[1], np.zeros(x.shape[1], np.int32)
    weights = rng.integers(-117, 118, (3, dim)).astype(np.int16)
    entry, threshold = rng.integers(0, dim, (3, 4)), rng.integers(-50, 50, (3, 4))
    code = rng.integers(0, 2**63, (3, 4)).astype(np.uint64) * np.uint64(2)
    results = []
    for module in (cpu, reference):
        out = np.zeros((x.shape[0], 8), np.int32 if unit else np.int64)
        signs = np.zeros((x.shape[0], 3), np.uint64)
        assert module.project(x, unit, 9, centre, weights, out) == -1
        assert module.signature(x, unit, 9, centre, entry, threshold, code, signs) == -1
        results.append((out, signs))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_many_columns_do_not_overflow():
    x = np.full((2, 1 << 17), 1, np.float32)
    x[1] = -1
    weights = np.full((1, 1 << 17), 117, np.int16)
    out = np.zeros((2, 8), np.int32)
    centre = np.zeros(1 << 17, np.int32)
    assert cpu.project(x, True, 16, centre, weights, out) == -1
    q = np.zeros(x.shape, np.int16)
    cpu.quanta(x, True, 16, centre, q)
    assert q.max() == 127
    assert out[:, 0].tolist() == (q.astype(np.int64) @ weights[0].astype(np.int64)).tolist()


@pytest.mark.parametrize("functions", [8, 16])
@pytest.mark.parametrize("columns", [1, 5, MAX_NARROW_COLUMNS, MAX_NARROW_COLUMNS + 1, 40, 130])
def test_rows_that_are_integers_already_are_projected_exactly(columns, functions):
    rng = np.random.default_rng(columns)
    q = rng.integers(-127, 128, (30, columns)).astype(np.int8)
    weights = rng.integers(-127, 128, (functions - 1, columns)).astype(
        np.int16
    )  # one function fewer than there is room
    results = [np.full((30, functions), 99, np.int32) for _ in range(2)]
    for module, out in zip((cpu, reference), results, strict=True):
        module.project_quanta(q, weights, out)
    np.testing.assert_array_equal(results[0][:, :-1], q.astype(np.int64) @ weights.T)
    np.testing.assert_array_equal(results[0][:, :-1], results[1][:, :-1])


def test_attributes_made_integers_once_give_the_same_masks():
    graph = random_graph(1, nodes=60, edges=3000, dim=40)  # more than 32 steps: made integers once; k=8: every time
    pruner = LSP(k=40, attributes=("neighbour",))
    few, many = LSP(k=8, attributes=("neighbour",)).mask(graph), pruner.mask(graph)
    assert many[few].all() and many.sum() > few.sum()
    np.testing.assert_array_equal(many, pruner.mask(graph, executor="reference"))
