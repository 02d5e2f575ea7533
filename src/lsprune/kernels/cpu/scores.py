"""What baselines rank edges by: logarithms in fixed point, common neighbours, min-hashes, dot products of unit rows."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.intrinsics import prefetch
from lsprune.kernels.cpu.jit import kernel
from lsprune.kernels.cpu.quantise import NOT_FINITE, largest, unit_factor

UNIT_EXPONENT = 6  # `unit_factor` adds 8 bits: unit rows in quanta of 2^-14
AHEAD = 8  # rows asked for in advance
LINE = 64  # bytes that come at a time


@kernel
def log2_fixed(values, lo, hi, out):
    """out[i] = log2(values[i]) * 2^32, rounded down to within a few units, for the uint64 values lo..hi; -2^32 of 0.

    The top 32 bits of the value are squared 32 times: each time the result reaches 2, it is halved and gives a 1.
    """
    for i in range(lo, hi):
        value, whole = values[i], np.int64(63)
        while value < np.uint64(1 << 63) and whole >= 0:
            value <<= np.uint64(1)
            whole -= 1
        mantissa = value >> np.uint64(32)
        for _ in range(32):
            mantissa = (mantissa * mantissa) >> np.uint64(31)
            bit = mantissa >> np.uint64(32)
            mantissa >>= bit
            whole = (whole << 1) + np.int64(bit)
        out[i] = whole


@kernel
def min_rows(indptr, neighbour, table, lo, hi, out):
    """out[u, z] = the least table[v, z] over the neighbours v of u, for the owners lo..hi; untouched without any."""
    width = table.shape[1]
    for u in range(lo, hi):
        for slot in range(indptr[u], indptr[u + 1]):
            v = neighbour[slot]
            for z in range(width):
                out[u, z] = min(out[u, z], table[v, z])


@kernel
def count_equal(indptr, neighbour, rows, lo, hi, counts):
    """counts[slot] += number of equal entries in the rows of owner and neighbour, for the owners lo..hi."""
    width = rows.shape[1]
    for u in range(lo, hi):
        for slot in range(indptr[u], indptr[u + 1]):
            v, equal = neighbour[slot], 0
            for z in range(width):
                equal += rows[u, z] == rows[v, z]
            counts[slot] += equal


@kernel
def count_common(indptr, neighbour, begins, members, lo, hi, counts):
    """counts[slot] = size of the intersection of the sets of owner and neighbour, for the owners lo..hi.

    Set u is members[begins[u]:begins[u + 1]], ascending; the smaller one is looked up in the larger.
    """
    for u in range(lo, hi):
        for slot in range(indptr[u], indptr[u + 1]):
            a, b = u, np.int64(neighbour[slot])
            if begins[a + 1] - begins[a] > begins[b + 1] - begins[b]:
                a, b = b, a
            found, left, end = 0, begins[b], begins[b + 1]
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
                found += members[left] == member
            counts[slot] = found


@kernel
def weigh(table, neighbour, extra, out):
    """out[i, z] = table[neighbour[i], z] + extra[i]."""
    count = out.shape[1]
    for i in range(neighbour.shape[0]):
        row, more = table[neighbour[i]], extra[i]
        for z in range(count):
            out[i, z] = row[z] + more


@kernel
def sum_rows(indptr, neighbour, rows, lo, hi, sums):
    """sums[u - lo] += the rows of owner u and of its neighbours, for the owners lo..hi."""
    width, last, flat = rows.shape[1], neighbour.shape[0] - 1, rows.reshape(-1)
    for u in range(lo, hi):
        out, own = sums[u - lo], rows[u]
        for j in range(width):
            out[j] += own[j]
        for slot in range(indptr[u], indptr[u + 1]):
            ahead = np.int64(neighbour[min(slot + AHEAD, last)]) * width
            for j in range(0, width, LINE // rows.itemsize):
                prefetch(flat, ahead + j)
            other = rows[neighbour[slot]]
            for j in range(width):
                out[j] += other[j]


@kernel
def unit_values(indptr, x, bits, out):
    """out = each entry over the L2 norm of its row in 2^-14, cut towards zero; the first row not finite, or -1."""
    for row in range(indptr.shape[0] - 1):
        start, stop = indptr[row], indptr[row + 1]
        top = largest(bits[start:stop])
        if top >= NOT_FINITE:
            return row
        factor = unit_factor(x[start:stop], top, UNIT_EXPONENT)
        for i in range(start, stop):
            out[i] = np.int32(x[i] * factor)
    return -1


@kernel
def dot_dense(first, second, rows, columns, out):
    """out[i] = <first[rows[i]], second[columns[i]]>; of unit rows in 2^-14, so every partial sum is within 2^29."""
    width, last, flat = first.shape[1], columns.shape[0] - 1, second.reshape(-1)
    for i in range(rows.shape[0]):
        ahead = np.int64(columns[min(i + AHEAD, last)]) * width
        for j in range(0, width, LINE // second.itemsize):
            prefetch(flat, ahead + j)
        a, b, total = first[rows[i]], second[columns[i]], np.int32(0)
        for j in range(width):
            total = np.int32(total + np.int32(np.int32(a[j]) * np.int32(b[j])))
        out[i] = total


@kernel
def dot_sparse(
    first_ptr, first_column, first_value, second_ptr, second_column, second_value, rows, columns, out
):  # fmt: skip
    """The same for CSR rows whose columns ascend."""
    for i in range(rows.shape[0]):
        a, a_end = first_ptr[rows[i]], first_ptr[rows[i] + 1]
        b, b_end = second_ptr[columns[i]], second_ptr[columns[i] + 1]
        total = np.int64(0)
        while a < a_end and b < b_end:
            left, right = first_column[a], second_column[b]
            if left == right:
                total += np.int64(first_value[a]) * np.int64(second_value[b])
            a += left <= right
            b += right <= left
        out[i] = total
