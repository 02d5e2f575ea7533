"""Arrays as kernels read them: in C order and not marked read-only."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array


class _Writeable:
    """The memory of an array without its read-only flag."""

    def __init__(self, array: Array) -> None:
        self.array = array  # kept alive
        self.__array_interface__ = {**array.__array_interface__, "data": (array.__array_interface__["data"][0], False)}


def plain(array: Array) -> Array:
    """Return the array in C order and without a read-only flag, copied only if it must be: for reading by kernels.

    numba compiles a kernel anew for read-only arrays (memory maps, Arrow columns); kernels write to no input anyway.
    """
    array = np.ascontiguousarray(array)
    return array if array.flags.writeable or array.size == 0 else np.asarray(_Writeable(array))
