from __future__ import annotations

import os

import numpy as np
import pytest

from lsprune.kernels.file_arrays import array_in_file, reserve


@pytest.mark.parametrize("shape", [(0, 3), 5, (4, 2)])
def test_an_array_in_a_file_is_zeros_that_can_be_written_and_leaves_no_name(shape, tmp_path):
    array = array_in_file(tmp_path, shape, np.int32)
    assert array.shape == np.zeros(shape).shape and not array.any()
    array[...] = 7
    assert (array == 7).all()
    assert list(tmp_path.iterdir()) == []


def test_reserved_space_is_on_the_disk(tmp_path):
    with (tmp_path / "file").open("wb") as stream:
        reserve(stream.fileno(), 1 << 16)
        assert os.fstat(stream.fileno()).st_size == 1 << 16
        assert os.fstat(stream.fileno()).st_blocks * 512 >= 1 << 16


def test_a_disk_without_room_is_an_error(tmp_path):
    with (tmp_path / "file").open("wb") as stream, pytest.raises(OSError):
        reserve(stream.fileno(), 1 << 60)
