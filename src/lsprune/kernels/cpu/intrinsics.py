"""Vector instructions that numba cannot express: prefetch, compare or fold a table row, choose for a small owner.

This is LLVM vector code over int32, of widths that every machine supports; LLVM picks the instructions it has.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

INT32 = ir.IntType(32)
PREFETCH_ROWS = 8  # rows of attributes to prefetch
CACHE_LINE_BYTES = 64


def _row_pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any, target: Any) -> Any:
    view = context.make_array(kind)(context, builder, array)
    offset = builder.mul(cgutils.unpack_tuple(builder, view.strides)[0], index)
    return builder.inttoptr(builder.add(builder.ptrtoint(view.data, offset.type), offset), target.as_pointer())


def _pointer(context: Any, builder: Any, kind: Any, array: Any, target: Any) -> Any:
    return builder.bitcast(context.make_array(kind)(context, builder, array).data, target.as_pointer())


@intrinsic
def prefetch(typingctx: Any, table: Any, row: Any) -> Any:
    """Ask for the cache line of table[row] ahead of its use; changes no value."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _row_pointer(context, builder, signature.args[0], args[0], args[1], ir.IntType(8))
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, INT32, INT32, INT32])
        hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(hint, [pointer, INT32(0), INT32(3), INT32(1)])
        return context.get_dummy_value()

    return types.void(table, types.intp), codegen


def _at_most(width: int) -> Any:
    vector = ir.VectorType(INT32, width)

    @intrinsic
    def at_most(typingctx: Any, table: Any, row: Any, held: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            candidate = builder.load(
                _row_pointer(context, builder, signature.args[0], args[0], args[1], vector), align=4
            )
            holders = builder.load(_pointer(context, builder, signature.args[2], args[2], vector), align=4)
            bits = builder.bitcast(builder.icmp_signed("<=", candidate, holders), ir.IntType(width))
            return builder.zext(bits, INT32)

        return types.uint32(table, types.intp, held), codegen

    return at_most


def _fold(width: int) -> Any:
    vector = ir.VectorType(INT32, width)

    @intrinsic
    def fold(typingctx: Any, table: Any, row: Any, least: Any, who: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            candidate = builder.load(
                _row_pointer(context, builder, signature.args[0], args[0], args[1], vector), align=4
            )
            least_at = _pointer(context, builder, signature.args[2], args[2], vector)
            who_at = _pointer(context, builder, signature.args[3], args[3], vector)
            best, holder = builder.load(least_at, align=4), builder.load(who_at, align=4)
            less = builder.icmp_signed("<", candidate, best)
            empty = ir.Constant(vector, ir.Undefined)
            single = builder.insert_element(empty, args[4], INT32(0))
            index = builder.shuffle_vector(single, empty, ir.Constant(vector, [0] * width))
            builder.store(builder.select(less, candidate, best), least_at, align=4)
            builder.store(builder.select(less, index, holder), who_at, align=4)
            equal = builder.bitcast(builder.icmp_signed("==", candidate, best), ir.IntType(width))
            return builder.zext(equal, INT32)

        return types.uint32(table, types.intp, least, who, types.int32), codegen

    return fold


at_most_8, at_most_16 = _at_most(8), _at_most(16)  # (table, row, held) -> bit z set: table[row, z] <= held[z]
fold_8, fold_16 = _fold(8), _fold(16)  # (table, row, least, who, index): running minima; gives the bits of equality


@intrinsic
def lowest_bit(typingctx: Any, bits: Any) -> Any:
    """Position of the lowest set bit of a uint32 that is not zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.cttz(args[0], ir.Constant(ir.IntType(1), 1)), ir.IntType(64))

    return types.int64(types.uint32), codegen


def _shuffle(builder: Any, first: Any, second: Any, lanes: list[int]) -> Any:
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(INT32, len(lanes)), lanes))


def _splat(builder: Any, value: Any, width: int) -> Any:
    empty = ir.Constant(ir.VectorType(INT32, width), ir.Undefined)
    return _shuffle(builder, builder.insert_element(empty, value, INT32(0)), empty, [0] * width)


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Eight vectors of eight, rows and columns exchanged, in three rounds of shuffles."""
    pairs = ([0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15])
    quads = ([0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15])
    halves = ([0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15])
    once = [_shuffle(builder, rows[i], rows[i + 1], lanes) for i in range(0, 8, 2) for lanes in pairs]
    twice = [_shuffle(builder, once[a], once[b], lanes) for a, b in ((0, 2), (1, 3), (4, 6), (5, 7)) for lanes in quads]
    return [_shuffle(builder, twice[i], twice[i + 4], lanes) for lanes in halves for i in range(4)]


def _choose(width: int) -> Any:
    row_kind, column_kind, int64 = ir.VectorType(INT32, 8), ir.VectorType(INT32, width), ir.IntType(64)

    @intrinsic
    def choose(typingctx: Any, table: Any, neighbour: Any, start: Any, count: Any, last: Any, winner: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            ids = context.make_array(signature.args[1])(context, builder, args[1]).data
            out = context.make_array(signature.args[5])(context, builder, args[5]).data

            def row(i: int) -> Any:
                at = builder.add(args[2], int64(i))
                at = builder.select(builder.icmp_signed("<", at, args[4]), at, args[4])  # never past the last slot
                number = builder.load(builder.gep(ids, [at]))
                number = builder.sext(number, int64) if number.type.width < 64 else number
                return builder.load(
                    _row_pointer(context, builder, signature.args[0], args[0], number, row_kind), align=4
                )

            blocks = [_transposed(builder, [row(8 * block + i) for i in range(8)]) for block in range(width // 8)]
            columns = []
            for z in range(8):
                parts = [block[z] for block in blocks]
                while len(parts) > 1:
                    size = 2 * parts[0].type.count
                    parts = [
                        _shuffle(builder, a, b, list(range(size))) for a, b in zip(parts[::2], parts[1::2], strict=True)
                    ]
                columns.append(parts[0])
            kind = ir.FunctionType(INT32, [column_kind])
            least_of = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.smin.v{width}i32")
            nobody = ir.Constant(column_kind, [2**31 - 1] * width)
            lanes = ir.Constant(column_kind, list(range(width)))
            gone = builder.icmp_signed(">=", lanes, _splat(builder, builder.trunc(args[3], INT32), width))
            ties = INT32(0)
            for z, column in enumerate(columns):
                left = builder.select(gone, nobody, column)
                best = builder.icmp_signed("==", left, _splat(builder, builder.call(least_of, [left]), width))
                bits = builder.bitcast(best, ir.IntType(width))
                bits = builder.zext(bits, INT32) if width < 32 else bits
                several = builder.and_(bits, builder.sub(bits, INT32(1)))
                tied = builder.zext(builder.icmp_unsigned("!=", several, INT32(0)), INT32)
                ties = builder.or_(ties, builder.shl(tied, INT32(z)))
                builder.store(builder.cttz(bits, ir.Constant(ir.IntType(1), 0)), builder.gep(out, [int64(z)]))
                gone = builder.or_(gone, best)
            return ties

        return types.uint32(table, neighbour, types.intp, types.intp, types.intp, winner), codegen

    return choose


# (table [n, 8], neighbour, start, count, last, winner): winner[z] = which of the `count` <= 16 (32) slots from `start`
# on step z takes, each slot once; gives bit z where step z had a tie, from where on the winners do not hold.
choose_16, choose_32 = _choose(16), _choose(32)


def _weighted_sum(width: int) -> Any:
    vector = ir.VectorType(INT32, width)

    @intrinsic
    def weighted_sum(typingctx: Any, q: Any, weights: Any, out: Any, row: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values = _row_pointer(context, builder, signature.args[0], args[0], args[3], ir.IntType(8))
            columns = context.make_array(signature.args[1])(context, builder, args[1])
            count = cgutils.unpack_tuple(builder, columns.shape)[0]
            total = cgutils.alloca_once_value(builder, ir.Constant(vector, [0] * width))
            with cgutils.for_range(builder, count) as loop:
                value = builder.sext(builder.load(builder.gep(values, [loop.index])), INT32)
                at = _row_pointer(context, builder, signature.args[1], args[1], loop.index, vector)
                product = builder.mul(_splat(builder, value, width), builder.load(at, align=4))
                builder.store(builder.add(builder.load(total), product), total)
            target = _row_pointer(context, builder, signature.args[2], args[2], args[3], vector)
            builder.store(builder.load(total), target, align=4)
            return context.get_dummy_value()

        return types.void(q, weights, out, types.intp), codegen

    return weighted_sum


# (q int8 [R, d], weights int32 [d, 8 or 16], out int32 [R, 8 or 16], row): out[row] = the sum over j of
# q[row, j] * weights[j]. All functions side by side: for few columns quicker than `dots`, which adds up at the end.
weighted_sum_8, weighted_sum_16 = _weighted_sum(8), _weighted_sum(16)


def _folded(builder: Any, vector: Any) -> Any:
    """The upper half of a vector added to the lower."""
    half = vector.type.count // 2
    lower, upper = list(range(half)), list(range(half, 2 * half))
    return builder.add(_shuffle(builder, vector, vector, lower), _shuffle(builder, vector, vector, upper))


def _paired(builder: Any, first: Any, second: Any) -> Any:
    """Sums of neighbouring lanes, those of `first` before those of `second`."""
    lanes = 2 * first.type.count
    even, odd = list(range(0, lanes, 2)), list(range(1, lanes, 2))
    return builder.add(_shuffle(builder, first, second, even), _shuffle(builder, first, second, odd))


@intrinsic
def dots(typingctx: Any, q: Any, weights: Any, first: Any, blocks: Any, out: Any, row: Any) -> Any:
    """out[row, first:first+8] = <q, weights[first+z]> for eight functions at once; int16 padded to 32 * blocks."""
    int16, int64 = ir.IntType(16), ir.IntType(64)
    halves, wholes, sums = ir.VectorType(int16, 32), ir.VectorType(INT32, 32), ir.VectorType(INT32, 16)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = context.make_array(signature.args[0])(context, builder, args[0]).data
        rows = [
            _row_pointer(context, builder, signature.args[1], args[1], builder.add(args[2], int64(z)), int16)
            for z in range(8)
        ]
        totals = [cgutils.alloca_once_value(builder, ir.Constant(sums, [0] * 16)) for _ in rows]

        def read(pointer: Any, offset: Any) -> Any:
            at = builder.bitcast(builder.gep(pointer, [offset]), halves.as_pointer())
            return builder.sext(builder.load(at, align=2), wholes)

        with cgutils.for_range(builder, args[3]) as loop:
            offset = builder.mul(loop.index, int64(32))
            values = read(start, offset)
            for pointer, total in zip(rows, totals, strict=True):
                products = builder.mul(values, read(pointer, offset))
                added = _paired(builder, products, products)  # 32 lanes: each pair twice, the first 16 are all of them
                added = _shuffle(builder, added, added, list(range(16)))
                builder.store(builder.add(builder.load(total), added), total)
        eights = [_folded(builder, builder.load(total)) for total in totals]
        while len(eights) > 1:  # 8 x 8 partial sums -> 4 x (2 x 4) -> 2 x (4 x 2) -> 8 sums
            eights = [_paired(builder, a, b) for a, b in zip(eights[::2], eights[1::2], strict=True)]
        target = _row_pointer(context, builder, signature.args[4], args[4], args[5], INT32)
        at = builder.bitcast(builder.gep(target, [args[2]]), ir.VectorType(INT32, 8).as_pointer())
        builder.store(eights[0], at, align=4)
        return context.get_dummy_value()

    return types.void(q, weights, types.intp, types.intp, out, types.intp), codegen
