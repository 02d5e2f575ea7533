"""The adapter for scipy.sparse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.adapters import find
from lsprune.adapters.base import Kept
from lsprune.adapters.scipy import ScipyAdapter
from lsprune.errors import GraphError, OptionError

DENSE = np.array([[0, 5, 0, 1], [0, 0, 2, 0], [3, 0, 4, 0], [0, 6, 0, 0]])
CLASSES = [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.csc_array, sp.coo_array]


def rebuilt(data: object, mask: np.ndarray, weight: np.ndarray | None = None, e_id: bool = False) -> object:
    return find(data).rebuild(data, {None: Kept(mask=mask, weight=weight, e_id=e_id)})


@pytest.mark.parametrize("make", CLASSES)
def test_edges_are_the_entries_source_to_target(make: type) -> None:
    graph = ScipyAdapter().graphs(make(DENSE))[None]
    assert set(zip(*(end.tolist() for end in graph.ends()), strict=True)) == set(zip(*np.nonzero(DENSE), strict=True))
    assert graph.num_nodes == 4
    assert not graph.bipartite
    assert graph.edge_attr is None


@pytest.mark.parametrize(("make", "rows"), [(sp.csr_array, "source"), (sp.csc_array, "target")])
def test_compressed_rows_are_not_copied(make: type, rows: str) -> None:
    matrix = make(DENSE)
    graph = ScipyAdapter().graphs(matrix)[None]
    assert graph.rows == rows
    assert np.shares_memory(graph.indptr, matrix.indptr)
    assert np.shares_memory(graph.target if rows == "source" else graph.source, matrix.indices)


def test_a_matrix_that_is_not_square_is_bipartite() -> None:
    for make in CLASSES:
        graph = ScipyAdapter().graphs(make(DENSE[:3]))[None]
        assert (graph.bipartite, graph.num_sources, graph.num_targets) == (True, 3, 4)


@pytest.mark.parametrize("make", CLASSES)
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, np.complex64])
def test_class_format_dtype_shape_stay(make: type, dtype: type) -> None:
    matrix = make(DENSE.astype(dtype))
    mask = np.array([True, False, True, False, True, True])
    small = rebuilt(matrix, mask)
    assert type(small) is type(matrix)
    assert (small.format, small.dtype, small.shape) == (matrix.format, np.dtype(dtype), (4, 4))
    source, target = (end[mask] for end in ScipyAdapter().graphs(matrix)[None].ends())
    expected = np.zeros_like(DENSE, dtype)
    expected[source, target] = DENSE[source, target]
    assert np.array_equal(small.toarray(), expected)
    assert np.array_equal(matrix.toarray(), DENSE.astype(dtype))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_entry_for_entry_with_duplicates_zeros_and_any_order(data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 12))
    ids = st.lists(st.integers(0, 4), min_size=count, max_size=count)
    row, column = np.array(data.draw(ids), np.int32), np.array(data.draw(ids), np.int32)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool)
    values = np.arange(count) % 3  # every third entry is an explicit zero
    coo = sp.coo_array((values, (row, column)), shape=(5, 5))
    small = rebuilt(coo, mask)
    assert small.row.tolist() == row[mask].tolist()
    assert small.col.tolist() == column[mask].tolist()
    assert small.data.tolist() == values[mask].tolist()
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=5))])
    csr = sp.csr_array((values[order], column[order], indptr), shape=(5, 5))
    small = rebuilt(csr, mask[order])
    assert small.indices.tolist() == column[order][mask[order]].tolist()
    assert small.data.tolist() == values[order][mask[order]].tolist()
    assert np.diff(small.indptr).tolist() == np.bincount(row[mask], minlength=5).tolist()


def test_known_flags_are_carried_and_unknown_ones_not_asked_for() -> None:
    mask = np.array([True, False, True, True, True, False])
    known = sp.csr_array(DENSE)
    assert known.has_canonical_format
    assert rebuilt(known, mask).__dict__["_has_canonical_format"] is True
    assert rebuilt(known, mask).__dict__["_has_sorted_indices"] is True
    unknown = sp.csr_array((known.data, known.indices, known.indptr), shape=(4, 4))
    before = dict(unknown.__dict__)
    small = rebuilt(unknown, mask)
    assert before.keys() == unknown.__dict__.keys()
    assert "_has_canonical_format" not in small.__dict__
    unsorted = sp.csr_array(([1, 2], [1, 0], [0, 2, 2]), shape=(2, 2))
    assert not unsorted.has_canonical_format
    assert rebuilt(unsorted, np.array([True, False])).has_canonical_format
    coo = sp.coo_array(DENSE)
    coo.sum_duplicates()
    assert rebuilt(coo, mask).has_canonical_format


def test_spare_room_at_the_end_is_no_edge() -> None:
    roomy = sp.csr_array((np.array([1, 2]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    roomy.data, roomy.indices = np.array([1, 2, 9]), np.array([0, 1, 0])
    assert ScipyAdapter().graphs(roomy)[None].num_edges == 2
    assert rebuilt(roomy, np.array([False, True])).toarray().tolist() == [[0, 0], [0, 2]]


def test_weights_multiply_the_values() -> None:
    mask, weight = np.array([True, False, True, True, True, False]), np.arange(1, 7, dtype=np.float32) / 2
    for make in CLASSES:
        for dtype, result in ((np.float32, np.float32), (np.float64, np.float64), (np.int64, np.float64)):
            matrix = make(DENSE.astype(dtype))
            small = rebuilt(matrix, mask, weight)
            assert small.dtype == result
            assert small.data.tolist() == (matrix.data[mask] * weight[mask]).tolist()
        with pytest.raises(OptionError, match="e_id=True needs a place for edge ids, and a scipy matrix has none"):
            rebuilt(make(DENSE), mask, e_id=True)


@pytest.mark.parametrize("kind", ["lil", "dok"])
def test_formats_without_order_follow_their_csr_form(kind: str) -> None:
    matrix = sp.csr_array(DENSE).asformat(kind)
    mask = np.array([True, False, True, True, True, False])
    small = rebuilt(matrix, mask)
    assert small.format == kind
    assert np.array_equal(small.toarray(), rebuilt(sp.csr_array(DENSE), mask).toarray())


@pytest.mark.parametrize("data", [sp.dia_array(DENSE), sp.bsr_array(DENSE), sp.coo_array(np.array([0, 1, 2]))])
def test_other_formats_are_refused_with_the_way_out(data: object) -> None:
    with pytest.raises(GraphError, match=r"CSR, CSC or COO matrix.*try \.tocsr\(\)"):
        find(data).graphs(data)


def test_index_dtype_stays() -> None:
    wide = sp.csr_array(DENSE)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    small = rebuilt(wide, np.ones(6, bool))
    assert (small.indices.dtype, small.indptr.dtype) == (np.int64, np.int64)
