from __future__ import annotations

import numpy as np

from lsprune.kernels import plain


def test_plain_arrays_are_not_copied():
    array = np.arange(6).reshape(2, 3)
    assert plain(array) is array


def test_read_only_arrays_are_seen_without_a_copy():
    array = np.arange(6)
    array.flags.writeable = False
    result = plain(array)
    assert result.flags.writeable and np.shares_memory(result, array)
    assert not array.flags.writeable


def test_other_orders_become_c_order():
    array = np.asfortranarray(np.arange(6).reshape(2, 3))
    result = plain(array)
    assert result.flags.c_contiguous and (result == array).all()
    empty = np.zeros((0, 3))
    empty.flags.writeable = False
    assert plain(empty).shape == (0, 3)
