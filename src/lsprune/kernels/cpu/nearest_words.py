"""The nearest of many codebook words to each row, by exact integer dot products, sixteen words in a vector.

A row x is nearest to the word c with the largest 2<x, c> - <c, c>. Words are stored in blocks of sixteen, two
coordinates side by side, so that one instruction multiplies and adds two coordinates of sixteen words. Eight rows share
every load of a word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from lsprune.graph import Array
from lsprune.kernels.cpu.jit import kernel

LANES = 16  # words that are compared side by side
ROW_COUNT = 8  # rows that share every load of a word
SEARCH_ROWS = 1 << 11  # rows to pass to one call of a search
PADDING_BIAS = -(2**30)  # of places in the last block that hold no word
_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_WORDS = ir.VectorType(_I32, LANES)
_PAIRS = ir.VectorType(_I16, 2 * LANES)


def _data(context: Any, builder: Any, signature: Any, args: Any, i: int, kind: Any) -> Any:
    return builder.bitcast(context.make_array(signature.args[i])(context, builder, args[i]).data, kind.as_pointer())


def _splat(builder: Any, value: Any) -> Any:
    empty = ir.Constant(_WORDS, ir.Undefined)
    return builder.shuffle_vector(
        builder.insert_element(empty, value, _I32(0)), empty, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
    )


def _products(builder: Any, words: Any, row: Any) -> Any:
    """Return the sums of two products in each lane: one instruction where the machine has it, else the same numbers."""
    features = _features()
    if "avx512bw" in features:
        kind = ir.FunctionType(_WORDS, [_PAIRS, _PAIRS])
        multiply = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx512.pmaddw.d.512")
        return builder.call(multiply, [words, row])
    if "avx2" in features:
        half_in, half_out = ir.VectorType(_I16, LANES), ir.VectorType(_I32, LANES // 2)
        kind = ir.FunctionType(half_out, [half_in, half_in])
        multiply = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx2.pmadd.wd")
        halves = [
            builder.call(multiply, [_lanes(builder, pairs, range(lo, lo + LANES)) for pairs in (words, row)])
            for lo in (0, LANES)
        ]
        every = ir.Constant(ir.VectorType(_I32, LANES), list(range(LANES)))
        return builder.shuffle_vector(*halves, every)
    parts = [
        builder.mul(*(builder.sext(_lanes(builder, pairs, range(odd, 2 * LANES, 2)), _WORDS) for pairs in (words, row)))
        for odd in (0, 1)
    ]
    return builder.add(*parts)


def _lanes(builder: Any, pairs: Any, lanes: range) -> Any:
    picked = ir.Constant(ir.VectorType(_I32, len(lanes)), list(lanes))
    return builder.shuffle_vector(pairs, ir.Constant(_PAIRS, ir.Undefined), picked)


def _features() -> set[str]:
    """Return the features of the CPU that numba compiles for."""
    features = getattr(config, "CPU_FEATURES", None)
    if features is not None:
        return {name[1:] for name in features.split(",") if name.startswith("+")}
    if getattr(config, "CPU_NAME", None) is not None:
        return set()
    return {name for name, there in get_host_cpu_features().items() if there}


@intrinsic
def best_words(typingctx: Any, rows: Any, first: Any, pairs: Any, words: Any, bias: Any, blocks: Any, out: Any) -> Any:
    """Fill out [8, 2, 16] with the best score of each lane and its block, for the rows first .. first + 7.

    rows [R, pairs] int32 (two int16 each), words [blocks, pairs, 16] int32 (likewise), bias [blocks, 16] int32.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row_data = _data(context, builder, signature, args, 0, _I32)
        word_data = _data(context, builder, signature, args, 3, _PAIRS)
        bias_data = _data(context, builder, signature, args, 4, _WORDS)
        result = _data(context, builder, signature, args, 6, _WORDS)
        pairs_, blocks_ = args[2], args[5]
        starts = [builder.gep(row_data, [builder.mul(builder.add(args[1], _I64(r)), pairs_)]) for r in range(ROW_COUNT)]
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
        base = builder.gep(word_data, [builder.mul(block, pairs_)])
        builder.branch(inner)

        builder.position_at_end(inner)
        pair = builder.phi(_I64)
        pair.add_incoming(_I64(0), outer)
        sums = [builder.phi(_WORDS) for _ in range(ROW_COUNT)]
        for total in sums:
            total.add_incoming(begin, outer)
        word = builder.load(builder.gep(base, [pair]), align=4)
        for total, start in zip(sums, starts, strict=True):
            value = builder.load(builder.gep(start, [pair]), align=4)
            same = builder.bitcast(_splat(builder, value), _PAIRS)
            total.add_incoming(builder.add(total, _products(builder, word, same)), inner)
        further = builder.add(pair, _I64(1))
        pair.add_incoming(further, inner)
        builder.cbranch(builder.icmp_signed("<", further, pairs_), inner, after)

        builder.position_at_end(after)
        number = _splat(builder, builder.trunc(block, _I32))
        for total, b, w in zip(sums, best, where, strict=True):
            done = total.incomings[1][0]
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


@kernel
def nearest_words(rows, words, bias, lo, hi, out):
    """Set out[i] to the word nearest to row i, for lo <= i < hi; the first of those that are equally near."""
    blocks, pairs = words.shape[0], words.shape[1]
    lane_best = np.empty((ROW_COUNT, 2, LANES), np.int32)
    last = np.empty((ROW_COUNT, pairs), np.int32)
    for first in range(lo, hi, ROW_COUNT):
        count = min(ROW_COUNT, hi - first)
        if count == ROW_COUNT:
            best_words(rows, first, pairs, words, bias, blocks, lane_best)
        else:
            for i in range(ROW_COUNT):
                last[i] = rows[min(first + i, hi - 1)]
            best_words(last, 0, pairs, words, bias, blocks, lane_best)
        for i in range(count):
            best, word = lane_best[i, 0, 0], lane_best[i, 1, 0] * LANES
            for lane in range(1, LANES):
                score, number = lane_best[i, 0, lane], lane_best[i, 1, lane] * LANES + lane
                if score > best or (score == best and number < word):
                    best, word = score, number
            out[first + i] = word


def packed(words: Array) -> tuple[Array, Array]:
    """Return words `[count, dim]` int16 in [-128, 127], and their bias, as `nearest_words` takes them."""
    count, dim = words.shape
    blocks, pairs = -(-count // LANES), -(-dim // 2)
    padded = np.zeros((blocks * LANES, pairs * 2), np.int16)
    padded[:count, :dim] = 2 * words
    stored = padded.reshape(blocks, LANES, pairs, 2).transpose(0, 2, 1, 3)
    bias = np.full(blocks * LANES, PADDING_BIAS, np.int32)
    bias[:count] = -(words.astype(np.int64) ** 2).sum(1)
    return np.ascontiguousarray(stored).view(np.int32)[..., 0], bias.reshape(blocks, LANES)


def searcher(words: Array) -> Callable[[Array, Array], None]:
    """Return a function of (rows, out) that fills `out` with the nearest word of each row, the first of several."""
    stored, bias = packed(words)

    def search(rows: Array, out: Array) -> None:
        even = np.zeros((rows.shape[0], stored.shape[1] * 2), np.int16)
        even[:, : rows.shape[1]] = rows
        nearest_words(even.view(np.int32), stored, bias, 0, rows.shape[0], out)

    return search


@kernel
def leaders(rows, distance, out):
    """Set out[i] to whether row i is farther than `distance` (squared) from all leaders before it."""
    count, dim = rows.shape
    leading, kept = np.empty((count, dim), np.int16), 0
    for i in range(count):
        out[i] = True
        for j in range(kept):
            total = 0
            for c in range(dim):
                off = np.int32(rows[i, c]) - np.int32(leading[j, c])
                total += off * off
            if total <= distance:
                out[i] = False
                break
        if out[i]:
            leading[kept] = rows[i]
            kept += 1
