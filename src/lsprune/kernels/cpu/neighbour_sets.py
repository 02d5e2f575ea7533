"""Comparing the neighbours of two nodes as sets: common members and min-hashes."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.jit import kernel


@kernel
def min_rows(indptr, neighbour, table, lo, hi, out):
    """Set out[u, z] to the smallest table[v, z] over the neighbours v of u, for the owners lo..hi that have any."""
    width = table.shape[1]
    for u in range(lo, hi):
        for slot in range(indptr[u], indptr[u + 1]):
            v = neighbour[slot]
            for z in range(width):
                out[u, z] = min(out[u, z], table[v, z])


@kernel
def count_equal(indptr, neighbour, rows, lo, hi, counts):
    """Add to counts[slot] the number of equal entries in the rows of owner and neighbour, for the owners lo..hi."""
    width = rows.shape[1]
    for u in range(lo, hi):
        for slot in range(indptr[u], indptr[u + 1]):
            v, equal = neighbour[slot], 0
            for z in range(width):
                equal += rows[u, z] == rows[v, z]
            counts[slot] += equal


@kernel
def count_common(indptr, neighbour, begins, members, lo, hi, counts):
    """Set counts[slot] to the number of members that the sets of owner and neighbour share, for the owners lo..hi.

    Set u is members[begins[u]:begins[u + 1]], ascending; the smaller one is looked up in the larger.
    """
    for u in range(lo, hi):
        for slot in range(indptr[u], indptr[u + 1]):
            a, b = u, np.int64(neighbour[slot])
            if begins[a + 1] - begins[a] > begins[b + 1] - begins[b]:
                a, b = b, a
            common, left, end = 0, begins[b], begins[b + 1]
            for i in range(begins[a], begins[a + 1]):
                member, right = members[i], end
                while left < right:  # the first place whose member is not smaller; later members are further right
                    middle = (left + right) >> 1
                    if members[middle] < member:
                        left = middle + 1
                    else:
                        right = middle
                if left == end:
                    break
                common += members[left] == member
            counts[slot] = common
