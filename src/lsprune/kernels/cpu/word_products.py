"""Scores of rows against codebook words, sixteen words in a vector: exact products of bytes, summed in 32 bits.

A row x is nearest to the word c with the largest score 2<x, c> - <c, c>. Words are stored in blocks of sixteen, four
coordinates side by side, so that one instruction (`vpdpbusd`) multiplies and adds four coordinates of sixteen words. It
takes one factor without a sign, so rows are stored as x + 128, and the bias of a word takes 256 * sum(c) back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from lsprune.graph import Array

LANES = 16  # words that are compared side by side
ROW_COUNT = 8  # rows that share every load of a word in `best_words`
COORDINATES = 4  # of a word that lie side by side
PADDING_BIAS = -(2**30)  # of places in a block that hold no word
_CACHE_LINE_BYTES = 64
_I8, _I16, _I32, _I64 = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64)
_WORDS = ir.VectorType(_I32, LANES)
_PAIRS = ir.VectorType(_I16, 2 * LANES)
_BYTES = ir.VectorType(_I8, 4 * LANES)
_ZEROS = ir.Constant(_WORDS, [0] * LANES)
_ONES = ir.Constant(_WORDS, [1] * LANES)


def _data(context: Any, builder: Any, signature: Any, args: Any, i: int, kind: Any) -> Any:
    return builder.bitcast(context.make_array(signature.args[i])(context, builder, args[i]).data, kind.as_pointer())


def _splat(builder: Any, value: Any) -> Any:
    empty = ir.Constant(_WORDS, ir.Undefined)
    return builder.shuffle_vector(
        builder.insert_element(empty, value, _I32(0)), empty, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
    )


def _add_products(builder: Any, total: Any, words: Any, row: Any) -> Any:
    """Add four products to each lane: one instruction where the machine has it, else the same numbers.

    The bytes of the words have a sign, those of the row have none.
    """
    features = _features()
    if "avx512vnni" in features:
        kind = ir.FunctionType(_WORDS, [_WORDS, _WORDS, _WORDS])
        multiply = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx512.vpdpbusd.512")
        return builder.call(multiply, [total, row, builder.bitcast(words, _WORDS)])
    for first in (0, 2):  # two coordinates at a time, in 16 bits
        lanes = [4 * word + first + i for word in range(LANES) for i in (0, 1)]
        word_pairs = builder.sext(_lanes(builder, words, lanes), _PAIRS)
        row_pairs = builder.zext(_lanes(builder, builder.bitcast(row, _BYTES), lanes), _PAIRS)
        total = builder.add(total, _pair_products(builder, features, word_pairs, row_pairs))
    return total


def _pair_products(builder: Any, features: set[str], words: Any, row: Any) -> Any:
    """Return the sums of two products of 16 bits in each lane."""
    if "avx512bw" in features:
        kind = ir.FunctionType(_WORDS, [_PAIRS, _PAIRS])
        multiply = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx512.pmaddw.d.512")
        return builder.call(multiply, [words, row])
    if "avx2" in features:
        half_in, half_out = ir.VectorType(_I16, LANES), ir.VectorType(_I32, LANES // 2)
        kind = ir.FunctionType(half_out, [half_in, half_in])
        multiply = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx2.pmadd.wd")
        halves = [
            builder.call(multiply, [_lanes(builder, pairs, list(range(lo, lo + LANES))) for pairs in (words, row)])
            for lo in (0, LANES)
        ]
        every = ir.Constant(ir.VectorType(_I32, LANES), list(range(LANES)))
        return builder.shuffle_vector(*halves, every)
    parts = [
        builder.mul(
            *(builder.sext(_lanes(builder, pairs, list(range(odd, 2 * LANES, 2))), _WORDS) for pairs in (words, row))
        )
        for odd in (0, 1)
    ]
    return builder.add(*parts)


def _lanes(builder: Any, vector: Any, lanes: list[int]) -> Any:
    picked = ir.Constant(ir.VectorType(_I32, len(lanes)), lanes)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), picked)


def _score(builder: Any, total: Any, bias: Any) -> Any:
    """Return twice the sum of the products, plus the bias."""
    return builder.add(builder.shl(total, _ONES), bias)


def _features() -> set[str]:
    """Return the features of the CPU that numba compiles for."""
    features = getattr(config, "CPU_FEATURES", None)
    if features is not None:
        return {name[1:] for name in features.split(",") if name.startswith("+")}
    if getattr(config, "CPU_NAME", None) is not None:
        return set()
    return {name for name, there in get_host_cpu_features().items() if there}


@intrinsic
def best_words(typingctx: Any, rows: Any, first: Any, quads: Any, words: Any, bias: Any, blocks: Any, out: Any) -> Any:
    """Fill out [8, 2, 16] with the best score of each lane and its block, for the rows first .. first + 7.

    rows [R, quads] int32 (four bytes each), words [blocks, quads, 16] int32 (likewise), bias [blocks, 16] int32.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row_data = _data(context, builder, signature, args, 0, _I32)
        word_data = _data(context, builder, signature, args, 3, _BYTES)
        bias_data = _data(context, builder, signature, args, 4, _WORDS)
        result = _data(context, builder, signature, args, 6, _WORDS)
        quads_, blocks_ = args[2], args[5]
        starts = [builder.gep(row_data, [builder.mul(builder.add(args[1], _I64(r)), quads_)]) for r in range(ROW_COUNT)]
        entry = builder.block
        outer, inner, after, end = (builder.append_basic_block(name) for name in ("outer", "inner", "after", "end"))
        least = ir.Constant(_WORDS, [-(2**31)] * LANES)
        builder.branch(outer)

        builder.position_at_end(outer)
        block = builder.phi(_I64)
        block.add_incoming(_I64(0), entry)
        best, where = [builder.phi(_WORDS) for _ in range(ROW_COUNT)], [builder.phi(_WORDS) for _ in range(ROW_COUNT)]
        for b, w in zip(best, where, strict=True):
            b.add_incoming(least, entry)
            w.add_incoming(ir.Constant(_WORDS, [0] * LANES), entry)
        begin = builder.load(builder.gep(bias_data, [block]), align=4)
        base = builder.gep(word_data, [builder.mul(block, quads_)])
        builder.branch(inner)

        builder.position_at_end(inner)
        quad = builder.phi(_I64)
        quad.add_incoming(_I64(0), outer)
        sums = [builder.phi(_WORDS) for _ in range(ROW_COUNT)]
        for total in sums:
            total.add_incoming(_ZEROS, outer)
        word = builder.load(builder.gep(base, [quad]), align=4)
        for total, start in zip(sums, starts, strict=True):
            value = builder.load(builder.gep(start, [quad]), align=4)
            total.add_incoming(_add_products(builder, total, word, _splat(builder, value)), inner)
        further = builder.add(quad, _I64(1))
        quad.add_incoming(further, inner)
        builder.cbranch(builder.icmp_signed("<", further, quads_), inner, after)

        builder.position_at_end(after)
        number = _splat(builder, builder.trunc(block, _I32))
        for total, b, w in zip(sums, best, where, strict=True):
            done = _score(builder, total.incomings[1][0], begin)
            more = builder.icmp_signed(">", done, b)
            b.add_incoming(builder.select(more, done, b), after)
            w.add_incoming(builder.select(more, number, w), after)
        onward = builder.add(block, _I64(1))
        block.add_incoming(onward, after)
        builder.cbranch(builder.icmp_signed("<", onward, blocks_), outer, end)

        builder.position_at_end(end)
        for r, (b, w) in enumerate(zip(best, where, strict=True)):
            builder.store(b.incomings[1][0], builder.gep(result, [_I64(2 * r)]), align=4)
            builder.store(w.incomings[1][0], builder.gep(result, [_I64(2 * r + 1)]), align=4)
        return context.get_dummy_value()

    return types.void(rows, types.intp, types.intp, words, bias, types.intp, out), codegen


@intrinsic
def word_scores(
    typingctx: Any, rows: Any, row: Any, quads: Any, words: Any, bias: Any, first: Any, blocks: Any, out: Any
) -> Any:
    """Fill out [blocks * 16] with the scores of one row against the words in the blocks first .. first + blocks.

    Arguments as in `best_words`. Blocks are independent of each other, so that the processor overlaps them.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row_data = _data(context, builder, signature, args, 0, _I32)
        word_data = _data(context, builder, signature, args, 3, _BYTES)
        bias_data = _data(context, builder, signature, args, 4, _WORDS)
        result = _data(context, builder, signature, args, 7, _WORDS)
        quads_, first_, blocks_ = args[2], args[5], args[6]
        start = builder.gep(row_data, [builder.mul(args[1], quads_)])
        entry = builder.block
        outer, inner, after, end = (builder.append_basic_block(name) for name in ("outer", "inner", "after", "end"))
        builder.cbranch(builder.icmp_signed(">", blocks_, _I64(0)), outer, end)

        builder.position_at_end(outer)
        block = builder.phi(_I64)
        block.add_incoming(_I64(0), entry)
        base = builder.gep(word_data, [builder.mul(builder.add(first_, block), quads_)])
        builder.branch(inner)

        builder.position_at_end(inner)
        quad, total = builder.phi(_I64), builder.phi(_WORDS)
        quad.add_incoming(_I64(0), outer)
        total.add_incoming(_ZEROS, outer)
        word = builder.load(builder.gep(base, [quad]), align=4)
        value = builder.load(builder.gep(start, [quad]), align=4)
        done = _add_products(builder, total, word, _splat(builder, value))
        total.add_incoming(done, inner)
        further = builder.add(quad, _I64(1))
        quad.add_incoming(further, inner)
        builder.cbranch(builder.icmp_signed("<", further, quads_), inner, after)

        builder.position_at_end(after)
        level = builder.load(builder.gep(bias_data, [builder.add(first_, block)]), align=4)
        builder.store(_score(builder, done, level), builder.gep(result, [block]), align=4)
        onward = builder.add(block, _I64(1))
        block.add_incoming(onward, after)
        builder.cbranch(builder.icmp_signed("<", onward, blocks_), outer, end)

        builder.position_at_end(end)
        return context.get_dummy_value()

    return types.void(rows, types.intp, types.intp, words, bias, types.intp, types.intp, out), codegen


def packed(words: Array, places: Array | None = None, blocks: int | None = None) -> tuple[Array, Array]:
    """Return words `[count, dim]` int16 in [-128, 127], and their bias, in blocks of sixteen places.

    Args:
        places: the place of each word; None: one after the other.
        blocks: number of blocks; None: as many as the words need.
    """
    count, dim = words.shape
    places = np.arange(count) if places is None else places
    blocks, quads = -(-count // LANES) if blocks is None else blocks, -(-dim // COORDINATES)
    padded = np.zeros((blocks * LANES, quads * COORDINATES), np.int8)
    padded[places, :dim] = words
    stored = _aligned((blocks, quads, LANES), np.int32)
    stored[:] = padded.view(np.int32).reshape(blocks, LANES, quads).transpose(0, 2, 1)
    bias = _aligned((blocks * LANES,), np.int32)
    bias[:] = PADDING_BIAS
    bias[places] = -np.einsum("ij,ij->i", words, words, dtype=np.int32) - 256 * words.sum(1, dtype=np.int32)
    return stored, bias.reshape(blocks, LANES)


def packed_rows(rows: Array) -> Array:
    """Return rows `[count, dim]` of integers in [-128, 127] as `[count, quads]` int32, four bytes each."""
    count, dim = rows.shape
    padded = np.full((count, -(-dim // COORDINATES) * COORDINATES), 128, np.uint8)
    np.add(rows, 128, out=padded[:, :dim], casting="unsafe")
    return padded.view(np.int32)


def _aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an empty array that begins at a cache line, so that no vector lies on two."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(size + _CACHE_LINE_BYTES, np.uint8)
    first = -raw.ctypes.data % _CACHE_LINE_BYTES
    return np.asarray(raw[first : first + size].view(dtype).reshape(shape))
