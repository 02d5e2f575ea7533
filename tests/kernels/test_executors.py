from __future__ import annotations

import numpy as np
import pytest

from lsprune import GraphError, OptionError
from lsprune.attributes import DenseRows
from lsprune.kernels import Runtime, executors, file_arrays, runtime


def test_executors_that_do_not_exist_are_refused():
    for wrong in ("tpu", 3, "CPU"):
        with pytest.raises(OptionError, match="executor must be one of 'cpu', 'reference', 'gpu', got"):
            runtime(1, wrong)
    assert runtime(2) == Runtime("cpu", 2)


@pytest.mark.parametrize("name", ["cpu", "reference"])
def test_the_module_of_an_executor_is_the_one_named(name):
    assert runtime(1, name).module.__name__ == f"lsprune.kernels.{name}"


@pytest.mark.parametrize("total", [0, 1, 9, 100])
@pytest.mark.parametrize("size", [None, 1, 7])
def test_work_is_spread_over_everything_once(total, size, monkeypatch):
    monkeypatch.setattr(executors, "SPAN_EDGES", 5)
    visits = np.zeros(total, int)

    def work(lo, hi):
        visits[lo:hi] += 1
        assert hi - lo <= (size or 5)

    Runtime(threads=3).spread(total, work, size)
    assert (visits == 1).all()


def test_rows_that_a_kernel_refuses_are_named_by_their_number():
    rows = DenseRows("x", np.ones((10, 2), np.float32))
    rows.values[7, 1] = np.inf

    def first_bad(block, lo, hi):
        bad = np.flatnonzero(~np.isfinite(block).all(axis=1))
        return int(bad[0]) if bad.size else -1

    with pytest.raises(GraphError, match="x must be finite in float32, got inf in row 7"):
        Runtime().over_rows(rows, first_bad, size=3)


def test_large_arrays_are_files_of_the_scratch_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(file_arrays, "MIN_FILE_BYTES", 800)
    calls, array_in_file = [], file_arrays.array_in_file
    monkeypatch.setattr(file_arrays, "array_in_file", lambda *args: calls.append(args[0]) or array_in_file(*args))
    for scratch in (None, tmp_path):
        for size in (99, 100):
            assert Runtime(scratch=scratch).zeros(size, np.int64).tolist() == [0] * size
    assert calls == [tmp_path]
