from __future__ import annotations

import hashlib

import numpy as np

from lsprune.kernels import reference


def test_parts_are_joined_by_or_and_the_digest_is_taken_modulo_m():
    tables = tuple(np.frombuffer(text, "<u4").reshape(1, -1, 1) for text in (b"abc\0", b"\0\0\0dxyzw", b"xy\0\0"))
    keys = np.zeros((1, 1), np.int64)
    reference.md5_keys(tables, np.zeros((3, 1), int), np.array([0, 0, 2]), 10, 2**61 - 1, keys)
    assert keys[0, 0] == int.from_bytes(hashlib.md5(b"abcdxyzwxy").digest(), "big") % (2**61 - 1)
