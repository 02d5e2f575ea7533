"""Three instructions that numba has no words for: prefetch a row, compare a row, fold a row into running minima.

Each works on 8 or 16 int32 at once, one cache line; LLVM picks the machine's vector instructions.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

INT32 = ir.IntType(32)


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
