"""MD5 (RFC 1321) of bit strings made of parts: sixteen messages of one length at a time, one in each lane of a vector.

A lane is a hash function. Tables `[rows, words, 16]` hold 32-bit words as MD5 reads them (the first byte lowest), so a
word of all sixteen messages is one load, and parts that share a word are joined by OR.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from lsprune.kernels.cpu.jit import kernel

LANES = 16
START = np.array([[0x67452301], [0xEFCDAB89], [0x98BADCFE], [0x10325476]], np.uint32).repeat(LANES, axis=1)
_SINES = [int(abs(math.sin(i + 1)) * 2**32) for i in range(64)]
_TURNS = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))  # bits to rotate by in each round
_ORDER = ((1, 0), (5, 1), (3, 5), (7, 0))  # step i of a round reads word (a * i + b) mod 16

_VECTOR = ir.VectorType(ir.IntType(32), LANES)


def _same(value: int) -> Any:
    return ir.Constant(_VECTOR, [value] * LANES)


def _blend(builder: Any, turn: int, x: Any, y: Any, z: Any) -> Any:
    """The function F, G, H or I of a round."""
    if turn == 0:
        return builder.xor(z, builder.and_(x, builder.xor(y, z)))
    if turn == 1:
        return builder.xor(y, builder.and_(z, builder.xor(x, y)))
    if turn == 2:
        return builder.xor(x, builder.xor(y, z))
    return builder.xor(y, builder.or_(x, builder.not_(z)))


@intrinsic
def absorb(typingctx: Any, state: Any, message: Any, block: Any) -> Any:
    """state [4, 16] after the words 16 * block .. 16 * block + 15 of message [words, 16]; both in C order."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held, words = (
            builder.bitcast(context.make_array(signature.args[i])(context, builder, args[i]).data, _VECTOR.as_pointer())
            for i in (0, 1)
        )
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        rotate = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fshl.v{LANES}i32")
        first = builder.mul(args[2], ir.IntType(64)(16))
        places = [builder.gep(held, [ir.IntType(64)(i)]) for i in range(4)]
        a, b, c, d = before = [builder.load(place, align=4) for place in places]
        for i in range(64):
            turn, step = divmod(i, 16)
            at = builder.add(first, ir.IntType(64)((_ORDER[turn][0] * step + _ORDER[turn][1]) % 16))
            word = builder.load(builder.gep(words, [at]), align=4)
            total = builder.add(builder.add(a, word), builder.add(_same(_SINES[i]), _blend(builder, turn, b, c, d)))
            turned = builder.call(rotate, [total, total, _same(_TURNS[turn][step % 4])])
            a, b, c, d = d, builder.add(b, turned), b, c
        for place, old, new in zip(places, before, (a, b, c, d), strict=True):
            builder.store(builder.add(old, new), place, align=4)
        return context.get_dummy_value()

    return types.void(state, message, types.intp), codegen


@kernel
def remainder(state, lane, m):
    """The digest of a lane, read as a big-endian integer of 128 bits, modulo m < 2^63.

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
    """What RFC 1321 puts behind `size` bytes: a bit, zeros, and the number of bits."""
    last = message.shape[0] - 2
    message[:] = np.uint32(0)
    message[size // 4] = np.uint32(0x80 << (8 * (size % 4)))
    message[last] = np.uint32((size * 8) & 0xFFFFFFFF)
    message[last + 1] = np.uint32((size * 8) >> 32)


@kernel
def join(message, table, row, begin):
    """OR a row of a table into the words of a message from `begin` on."""
    for word in range(table.shape[1]):
        for lane in range(LANES):
            message[begin + word, lane] |= table[row, word, lane]


@kernel
def md5_keys(tables, rows, begins, size, m, keys):
    """keys[e, z] = MD5 modulo m of the `size` bytes that join tables[p][rows[p, e], :, z] from word begins[p] on.

    Edges of one owner stand side by side: what is in blocks before all other parts is digested once for all of them.
    """
    blocks = (size + 8) // 64 + 1
    shared = min(begins[1], begins[2]) // 16 if size else 0
    base, message = np.empty((blocks * 16, LANES), np.uint32), np.empty((blocks * 16, LANES), np.uint32)
    begun, state = np.empty((4, LANES), np.uint32), np.empty((4, LANES), np.uint32)
    for e in range(keys.shape[0]):
        if e == 0 or rows[0, e] != rows[0, e - 1]:
            pad(base, size)
            join(base, tables[0], rows[0, e], begins[0])
            begun[:] = START
            for block in range(shared):
                absorb(begun, base, block)
        message[shared * 16 :] = base[shared * 16 :]
        for part in range(1, 3):
            join(message, tables[part], rows[part, e], begins[part])
        state[:] = begun
        for block in range(shared, blocks):
            absorb(state, message, block)
        for z in range(keys.shape[1]):
            keys[e, z] = remainder(state, z, np.uint64(m))
