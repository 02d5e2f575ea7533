"""MD5 keys of binary signatures, for the paper's preset."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from lsprune.graph import Array


def md5_keys(tables: Sequence[Array], rows: Array, begins: Array, size: int, m: int, keys: Array) -> None:
    """Set keys[e, z] to MD5 modulo m of a message of `size` bytes, the digest read as a big-endian integer.

    The message joins one row of each table by OR: 32-bit words tables[p][rows[p, e], :, z] from word begins[p] on.
    """
    for e, z in np.ndindex(*keys.shape):
        message = np.zeros(-(-size // 4), "<u4")
        for table, row, begin in zip(tables, rows[:, e], begins, strict=True):
            message[begin : begin + table.shape[1]] |= table[row, :, z]
        keys[e, z] = int.from_bytes(hashlib.md5(message.tobytes()[:size]).digest(), "big") % m
