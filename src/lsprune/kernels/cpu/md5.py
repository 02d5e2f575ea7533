"""MD5 (RFC 1321) keys of binary signatures, for the paper's preset.

Tables `[rows, words, LANES]` hold the 32-bit words of the messages as MD5 reads them (the first byte lowest). A lane is
a hash function. Parts of a message that share a word are joined by OR.
"""

from __future__ import annotations

import math

import numpy as np

from lsprune.kernels.cpu.jit import kernel

START = np.array([0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476], np.uint32)
SINES = np.array([int(abs(math.sin(i + 1)) * 2**32) for i in range(64)], np.uint32)
SHIFTS = np.array([[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]], np.uint32)  # bits, by round


@kernel
def rotated(a, b, blend, word, step):
    """Return the new word of a step: b plus the sum, rotated to the left."""
    total, shift = np.uint32(a + blend + word + SINES[step]), SHIFTS[step // 16, step % 4]
    return np.uint32(b + (np.uint32(total << shift) | (total >> (np.uint32(32) - shift))))


@kernel
def absorb(state, message, block, lane):
    """Update state[:, lane] with the words 16 * block .. 16 * block + 15 of message[:, lane]."""
    a, b, c, d = state[0, lane], state[1, lane], state[2, lane], state[3, lane]
    words = message[16 * block : 16 * block + 16]
    for i in range(16):
        a, b, c, d = d, rotated(a, b, d ^ (b & (c ^ d)), words[i, lane], i), b, c
    for i in range(16):
        a, b, c, d = d, rotated(a, b, c ^ (d & (b ^ c)), words[(5 * i + 1) % 16, lane], 16 + i), b, c
    for i in range(16):
        a, b, c, d = d, rotated(a, b, b ^ c ^ d, words[(3 * i + 5) % 16, lane], 32 + i), b, c
    for i in range(16):
        a, b, c, d = d, rotated(a, b, c ^ (b | ~d), words[7 * i % 16, lane], 48 + i), b, c
    state[0, lane] += a
    state[1, lane] += b
    state[2, lane] += c
    state[3, lane] += d


@kernel
def remainder(state, lane, m):
    """Return the digest of a lane, read as a big-endian integer of 128 bits, modulo m < 2^63.

    By long division, as many bits at a time as leave room for a remainder below m in 64.
    """
    bits = 32
    while m > np.uint64(1) << np.uint64(64 - bits):
        bits //= 2
    left = np.uint64(0)
    for i in range(4):
        word = np.uint64(state[i, lane])
        word = ((word & np.uint64(0xFF00FF)) << np.uint64(8)) | ((word >> np.uint64(8)) & np.uint64(0xFF00FF))
        word = ((word & np.uint64(0xFFFF)) << np.uint64(16)) | (word >> np.uint64(16))
        for shift in range(32 - bits, -1, -bits):
            digit = (word >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
            left = ((left << np.uint64(bits)) | digit) % m
    return np.int64(left)


@kernel
def pad(message, size):
    """Clear a message and add what RFC 1321 puts behind `size` bytes: a bit, zeros, and the number of bits."""
    last = message.shape[0] - 2
    message[:] = np.uint32(0)
    message[size // 4] = np.uint32(0x80 << (8 * (size % 4)))
    message[last] = np.uint32((size * 8) & 0xFFFFFFFF)
    message[last + 1] = np.uint32((size * 8) >> 32)


@kernel
def join(message, table, row, begin):
    """OR a row of a table into the words of a message from `begin` on."""
    for word in range(table.shape[1]):
        for lane in range(message.shape[1]):
            message[begin + word, lane] |= table[row, word, lane]


@kernel
def md5_keys(tables, rows, begins, size, m, keys):
    """Set keys[e, z] to MD5 modulo m of a message of `size` bytes, the digest read as a big-endian integer.

    The message joins the words tables[p][rows[p, e], :, z] from word begins[p] on. Edges of one owner stand side by
    side: the blocks with nothing but the owner's part are digested once for all of them.
    """
    lanes = keys.shape[1]
    blocks = (size + 8) // 64 + 1
    shared = min(begins[1], begins[2]) // 16 if size else 0
    base, message = np.empty((blocks * 16, lanes), np.uint32), np.empty((blocks * 16, lanes), np.uint32)
    begun, state = np.empty((4, lanes), np.uint32), np.empty((4, lanes), np.uint32)
    for e in range(keys.shape[0]):
        if e == 0 or rows[0, e] != rows[0, e - 1]:
            pad(base, size)
            join(base, tables[0], rows[0, e], begins[0])
            for i in range(4):
                begun[i] = START[i]
            for z in range(lanes):
                for block in range(shared):
                    absorb(begun, base, block, z)
        message[shared * 16 :] = base[shared * 16 :]
        for part in range(1, 3):
            join(message, tables[part], rows[part, e], begins[part])
        state[:] = begun
        for z in range(lanes):
            for block in range(shared, blocks):
                absorb(state, message, block, z)
            keys[e, z] = remainder(state, z, np.uint64(m))
