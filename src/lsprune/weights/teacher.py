"""A teacher: a linear model of [x, Px, P^2 x] in integers, which predicts the labels of the nodes of any graph.

P is the mean over a node and the neighbours it has as an owner. P is linear too, so outputs are propagated instead of
attributes: x W0 + P (x W1 + P x W2). `teacher_training` finds the parameters; here everything is integers, the same on
every executor.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from lsprune.attributes import Part
from lsprune.errors import GraphError
from lsprune.graph import Array
from lsprune.hashing.base import View
from lsprune.hashing.keys import in_blocks, project
from lsprune.kernels.threads import spans
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import FRACTION_BITS, log2
from lsprune.weights.surroundings import COSINE_BITS, cosines, dot_products

KINDS = ("classes", "labels", "numbers")  # one class a node, several labels a node, or numbers
MAX_HOPS = 2
MAX_WEIGHT = 8000  # of a parameter: 64 * 127 is the most that two parts of 7 bits hold
MAX_SHIFT = 40  # fraction bits of the parameters
MAX_COLUMNS = 1 << 17  # of x: products of a part of a parameter with a row fit 32 bits
OUTPUT_BITS = 16  # fraction bits of outputs
CHANCE_BITS = 14  # fraction bits of a probability
MAX_LOG = 64  # of minus log2 of an agreement
_MAX_OUTPUT = 1 << 30
_EXP_BITS, _EXP_UNIT_BITS = 10, 30  # of the table of powers of two
_NUMBER_BITS = 10  # fraction bits of predicted numbers when they are compared
_HEADER = 5  # numbers of 32 bits
_BLOCK_VALUES = 1 << 18  # outputs held at a time when slots are compared


@dataclass(frozen=True, eq=False)
class Teacher:
    """The parameters of a teacher, as integers.

    Args:
        kind: one of KINDS. shift: fraction bits of the weights.
        bias: [outputs] int64, with OUTPUT_BITS fraction bits. weights: [hops + 1, outputs, columns] int16.
    """

    kind: str
    shift: int
    bias: Array
    weights: Array

    @classmethod
    def of_floats(cls, kind: str, weights: Array, bias: Array) -> Teacher:
        """Round parameters to integers; weights are for rows in quanta, outputs are logarithms to base 2."""
        largest = max(float(np.abs(weights).max(initial=0)), 1e-300)
        shift = int(np.clip(np.floor(np.log2(MAX_WEIGHT / largest)), 0, MAX_SHIFT))
        whole = np.clip(np.rint(weights * 2.0**shift), -MAX_WEIGHT, MAX_WEIGHT).astype(np.int16)
        limit = float(_MAX_OUTPUT)
        return cls(kind, shift, np.rint(np.clip(bias * (1 << OUTPUT_BITS), -limit, limit)).astype(np.int64), whole)

    def packed(self) -> Array:
        """Return everything as one array of int16."""
        header = np.array([KINDS.index(self.kind), self.shift, *self.weights.shape], "<i4").view("<i2")
        return np.concatenate([header, self.bias.astype("<i8").view("<i2"), self.weights.ravel()]).astype(np.int16)

    @classmethod
    def unpacked(cls, packed: Array) -> Teacher:
        """Return the teacher that `packed` stored; see `problem`."""
        kind, shift, blocks, outputs, columns = _header(packed)
        border = 2 * _HEADER + 4 * outputs
        bias = np.ascontiguousarray(packed[2 * _HEADER : border].astype("<i2")).view("<i8").astype(np.int64)
        return cls(KINDS[kind], shift, bias, packed[border:].reshape(blocks, outputs, columns))

    def outputs(self, view: View, part: Part, scale: Scale) -> Array:
        """Return the outputs for every node, `[nodes, outputs]` int64."""
        total: Any = None
        for block in self.weights[::-1]:
            rows = self.of_rows(view, part, scale, block)
            total = rows if total is None else _means(view, total) + rows
        bias: Any = view.constant(self.bias)
        return in_blocks(view, total.shape[0], lambda lo, hi: total[lo:hi] + bias)

    def of_rows(self, view: View, part: Part, scale: Scale, weights: Array) -> Array:
        """Return the products of every node's row with one block of weights, in two parts of 7 bits each."""
        high, low = weights >> 7, weights & 127
        tops, rest = (project(view, part, scale, np.ascontiguousarray(half)) for half in (high, low))
        index: Any = part.index

        def block(lo: int, hi: int) -> Array:
            chosen: Any = slice(lo, hi) if index is None else index[lo:hi]
            exact = (tops[chosen] << 7) + rest[chosen]
            down, up = max(self.shift - OUTPUT_BITS, 0), max(OUTPUT_BITS - self.shift, 0)
            limited: Array = ((exact >> down) << up).clip(-_MAX_OUTPUT, _MAX_OUTPUT)
            return limited

        return in_blocks(view, int((tops if index is None else index).shape[0]), block)

    def agreement(self, view: View, outputs: Array) -> Array:
        """Return log2 of the probability that both ends of each slot have the same labels, int64 with 32 bits."""
        rows = self.predictions(view, outputs)
        if self.kind == "classes":
            return _logs_of(_dot_products(view, rows), 2 * CHANCE_BITS, view)
        return _per_slot(view, rows, self._compare)

    def predictions(self, view: View, outputs: Array) -> Array:
        """Return the rows that are compared: probabilities in 2^-14 of classes or labels, or the outputs themselves."""
        if self.kind == "numbers":
            return outputs
        chances = probabilities if self.kind == "classes" else sigmoids
        return in_blocks(view, outputs.shape[0], lambda lo, hi: chances(outputs[lo:hi], view))

    def agreement_of_rows(self, view: View, first: Array, second: Array) -> Array:
        """Return what `agreement` returns, from the predictions of both ends, in host memory."""
        if self.kind == "classes":
            products = dot_products(first.astype(np.int16), second.astype(np.int16), view.runtime)
            return _logs_of(products, 2 * CHANCE_BITS, view)
        return _limited(self._compare(first.astype(np.int64), second.astype(np.int64), view))

    @property
    def _compare(self) -> Any:
        return _same_labels if self.kind == "labels" else _same_numbers


def problem(packed: Array | None, columns: int) -> str:
    """Say what is wrong with a packed teacher that was read from a file; empty if nothing."""
    if packed is None or packed.ndim != 1 or packed.size < 2 * _HEADER:
        return "what the labels taught is missing or damaged"
    kind, shift, blocks, outputs, width = _header(packed)
    known = 0 <= kind < len(KINDS) and 0 <= shift <= MAX_SHIFT and 1 <= blocks <= MAX_HOPS + 1 and outputs >= 1
    if not known or width != columns or packed.size != 2 * _HEADER + outputs * (4 + blocks * width):
        return "what the labels taught must go with the columns of x and hold nothing else"
    teacher = Teacher.unpacked(packed)
    if np.abs(teacher.bias).max() > _MAX_OUTPUT or np.abs(teacher.weights.astype(np.int32)).max() > MAX_WEIGHT:
        return "the parameters of what the labels taught must be small"
    return ""


def check_columns(part: Part) -> None:
    """Raise GraphError if rows are too wide for exact products of 32 bits."""
    if part.rows.dim > MAX_COLUMNS:
        raise GraphError(f'x must have at most {MAX_COLUMNS} columns for weights="labels", got {part.rows.dim}')


def _header(packed: Array) -> list[int]:
    return [int(number) for number in np.ascontiguousarray(packed[: 2 * _HEADER].astype("<i2")).view("<i4")]


def _means(view: View, rows: Array) -> Array:
    """Return the mean of the rows of each node and its neighbours, rounded down."""
    owned = view.owned
    if view.device is not None:
        means: Array = _on_device().mean_rows(view, rows)
        return means
    out = view.runtime.zeros(rows.shape, np.int64)

    def block(lo: int, hi: int) -> None:
        view.runtime.module.sum_rows(owned.indptr, owned.neighbour, rows, lo, hi, out[lo:hi])
        out[lo:hi] //= np.diff(owned.indptr[lo : hi + 1])[:, None] + 1

    view.runtime.spread(rows.shape[0], block, 1 << 12)
    return out


@lru_cache(maxsize=1)
def _powers() -> Array:
    """Return 2^-(i / 1024) for i = 0 .. 1023 with 30 fraction bits, from decimal arithmetic: equal on every machine."""
    with localcontext() as context:
        context.prec = 40
        steps = 1 << _EXP_BITS
        unit = Decimal(1 << _EXP_UNIT_BITS)
        return np.array([int(unit * Decimal(2) ** (Decimal(-i) / steps)) for i in range(steps)], np.int64)


def _power_of_two(gap: Array, view: View) -> Array:
    """Return 2^-gap with 30 fraction bits, for gaps >= 0 with OUTPUT_BITS fraction bits."""
    table: Any = view.constant(_powers())
    part = (gap & ((1 << OUTPUT_BITS) - 1)) >> (OUTPUT_BITS - _EXP_BITS)
    shifted: Array = table[part] >> (gap >> OUTPUT_BITS).clip(0, _EXP_UNIT_BITS + 1)
    return shifted


def probabilities(outputs: Array, view: View) -> Array:
    """Return the softmax (to base 2) of each row, in 2^-14."""
    if not outputs.shape[0]:
        return outputs
    top: Any = outputs.max(1)
    top = getattr(top, "values", top)  # torch returns the places too
    powers = _power_of_two(top[:, None] - outputs, view)
    total = powers.sum(1)[:, None]
    chances: Array = ((powers << CHANCE_BITS) + (total >> 1)) // total
    return chances


def sigmoids(outputs: Array, view: View) -> Array:
    """Return the logistic function (to base 2) of each output, in 2^-14."""
    small = _power_of_two(abs(outputs), view)  # of the less likely value
    total = small + (1 << _EXP_UNIT_BITS)
    less = ((small << CHANCE_BITS) + (total >> 1)) // total
    positive = (outputs > 0) * 1
    chances: Array = less + positive * ((1 << CHANCE_BITS) - 2 * less)
    return chances


def _dot_products(view: View, chances: Array) -> Array:
    """Return the sum of the products of the probabilities of both ends, for every slot."""
    if view.device is not None:
        products: Array = _on_device().dot_products(view, chances)
        return products
    return cosines(chances.astype(np.int16), view.owned, view.runtime)


def _logs_of(values: Array, bits: int, view: View) -> Array:
    """Return log2 of numbers with so many fraction bits, at least -MAX_LOG and at least that of one unit."""
    assert bits == COSINE_BITS
    least = -(MAX_LOG << FRACTION_BITS)

    def block(lo: int, hi: int) -> Array:
        logs = log2(values[lo:hi].clip(1, None), view.runtime) - (bits << FRACTION_BITS)
        return logs.clip(least, 0)

    return in_blocks(view, values.shape[0], block)


def _same_labels(first: Array, second: Array, view: View) -> Array:
    """Return log2 of the probability that all labels are the same, each drawn by itself."""
    one = 1 << CHANCE_BITS
    both = first * second + (one - first) * (one - second)
    logs = log2(both.clip(1, None).reshape(-1), view.runtime).reshape(both.shape) - (2 * CHANCE_BITS << FRACTION_BITS)
    total: Array = logs.sum(1)
    return total


def _same_numbers(first: Array, second: Array, view: View) -> Array:
    """Return minus the square of the distance of the predicted numbers."""
    step = OUTPUT_BITS - _NUMBER_BITS
    off = ((first >> step) - (second >> step)).clip(-(1 << 18), 1 << 18)
    squares = (off * off).sum(1).clip(0, MAX_LOG << (2 * _NUMBER_BITS))
    logs: Array = -(squares << (FRACTION_BITS - 2 * _NUMBER_BITS))
    return logs


def _limited(logs: Array) -> Array:
    """Return logarithms of probabilities, at least -MAX_LOG."""
    limited: Array = logs.clip(-(MAX_LOG << FRACTION_BITS), 0)
    return limited


def _per_slot(view: View, rows: Array, compare: Any) -> Array:
    """Return compare(rows of the owners, rows of the neighbours) for every slot, a block of slots at a time."""
    owned = view.owned
    size = max(_BLOCK_VALUES // max(int(rows.shape[1]), 1), 1)

    def slots(lo: int, hi: int) -> Array:
        first, second = rows_of_ends(view, rows, lo, hi)
        return _limited(compare(first, second, view))

    def block(lo: int, hi: int) -> Array:
        if hi - lo <= size:
            return slots(lo, hi)
        return _joined([slots(lo + a, lo + b) for a, b in spans(hi - lo, size)], view)

    return in_blocks(view, int(owned.neighbour.shape[0]), block)


def rows_of_ends(view: View, rows: Array, lo: int, hi: int) -> tuple[Array, Array]:
    """Return the rows of the owners and of the neighbours of the slots lo..hi."""
    owned = view.owned
    if view.device is not None:
        first, second = _on_device().rows_of_ends(view, rows, lo, hi)
        return first, second
    owner = np.searchsorted(owned.indptr, np.arange(lo, hi), side="right") - 1
    return rows[owner], rows[owned.neighbour[lo:hi]]


def _joined(parts: list[Array], view: View) -> Array:
    if view.device is not None:
        tensor: Array = _on_device().joined(parts)
        return tensor
    return np.concatenate(parts)


def _on_device() -> Any:
    """Return the module with the same functions for tensors; it imports torch."""
    return import_module("lsprune.weights.device_teacher")
