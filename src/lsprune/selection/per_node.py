"""A budget for each node by itself: a share of its edges, a power of its degree, or a number that the caller gives."""

from __future__ import annotations

import decimal
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from lsprune.checks import as_array, set_number, set_whole, shown
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array
from lsprune.keyword_options import KeywordOptions

_NEAR_WHOLE = 1e-6  # relative: floats that are nearer to a whole number are computed again, exactly enough
_DIGITS = 60  # of these computations
_SAME = decimal.Decimal("1e-40")  # relative: nearer than this, a power is the whole number itself


@dataclass(frozen=True, kw_only=True, eq=False)
class PerNode(KeywordOptions):
    """How many edges each owner keeps, from its own degree. Exactly one of the first three.

    An owner never keeps more edges than it has. Self-loops that do not count are in no degree.

    Args:
        share: keep ceil(share * degree) edges, share in (0, 1]; 0.07 means 7/100, not the float next to it.
        exponent: keep ceil(degree ** exponent) edges, exponent in [0, 1], as local sparsification does (L-Spar).
        counts: keep as many as this array says, one whole number >= 0 for each owner (target nodes with side="in"), in
            the order of the nodes; of a list or batch, for the nodes of all graphs. Tables number nodes by themselves,
            unless their ids are numbers 0..N-1.
        at_least: with share or exponent, keep no fewer than this.

    >>> PerNode(share=0.3).of_degrees(np.array([0, 1, 10, 11]))
    array([0, 1, 3, 4])
    >>> PerNode(exponent=0.5, at_least=2).of_degrees(np.array([1, 16, 17]))
    array([2, 4, 5])
    """

    share: float | None = None
    exponent: float | None = None
    counts: Any = None
    at_least: int = 0

    def __post_init__(self) -> None:
        given = [name for name in ("share", "exponent", "counts") if getattr(self, name) is not None]
        if len(given) != 1:
            raise OptionError(
                f"give exactly one of share, exponent and counts to PerNode, got {', '.join(given) or 'none'}"
            )
        for name in ("share", "exponent"):  # 0.1 as a float32 is meant to be 0.1
            value = getattr(self, name)
            if isinstance(value, np.floating):
                object.__setattr__(self, name, float(str(value)))
        set_number(self, "share", lambda p: 0 < p <= 1, "in (0, 1]", none=True)
        set_number(self, "exponent", lambda e: 0 <= e <= 1, "in [0, 1]", none=True)
        set_whole(self, "at_least", 0, 2**31 - 1, "a whole number in [0, 2^31)")
        if self.counts is not None:
            if self.at_least:
                raise OptionError("at_least must be 0 with counts: they say how many edges each node keeps")
            object.__setattr__(self, "counts", _checked_counts(self.counts))

    @classmethod
    def of(cls, budget: Any) -> PerNode | None:
        """Return the budget; build it from a table or from text such as "share=0.3,at_least=1"."""
        if isinstance(budget, str):
            from lsprune.specs import parse_setting, split_list

            budget = dict(parse_setting(part) for part in split_list(budget))
        if isinstance(budget, Mapping):
            options = {name: value for name, value in budget.items() if name != "name"}
            unknown = [name for name in options if name not in cls.__dataclass_fields__]
            if unknown:
                known = ", ".join(cls.__dataclass_fields__)
                raise OptionError(f"{unknown[0]} is not an option of PerNode; it has {known}")
            return cls(**options)
        if budget is not None and not isinstance(budget, cls):
            raise OptionError(f"budget must be a PerNode such as PerNode(share=0.3), got {shown(budget)}")
        return budget

    def to_dict(self) -> dict[str, Any]:
        """Return the options that are not at their defaults as plain data."""
        options = {"share": self.share, "exponent": self.exponent, "at_least": self.at_least or None}
        options |= {"counts": None if self.counts is None else self.counts.tolist()}
        return {name: value for name, value in options.items() if value is not None}

    def of_degrees(self, degrees: Array) -> Array:
        """Return the quota of an owner of each of these degrees, int64; with `counts` quotas are not made so."""
        assert self.counts is None
        quota = _shares(self.share, degrees) if self.share is not None else _powers(float(self.exponent or 0), degrees)
        return np.maximum(quota, self.at_least)

    def of_owners(self, indptr: Array, lo: int, hi: int) -> Array:
        """Return the quotas of the owners lo..hi, int64; `indptr` are the bounds of all owners' edges."""
        if self.counts is not None:
            self.check_owners(indptr.shape[0] - 1)
            counts: Array = self.counts[lo:hi]
            return counts
        degrees, of_owner = np.unique(np.diff(indptr[lo : hi + 1]), return_inverse=True)
        return self.of_degrees(degrees)[of_owner]

    def check_owners(self, owners: int) -> None:
        """Raise GraphError unless there is a count for each owner."""
        if self.counts is not None and self.counts.shape[0] != owners:
            raise GraphError(
                f"counts of PerNode must have one entry for each of {owners} owners, got {len(self.counts)}"
            )

    def __eq__(self, other: object) -> bool:
        """Compare all options, counts number by number."""
        return isinstance(other, PerNode) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        return self.share, self.exponent, self.at_least, None if self.counts is None else self.counts.tobytes()

    def __repr__(self) -> str:
        """Show the options that were given; of many counts, how many there are."""
        options = self.to_dict()
        if self.counts is not None and self.counts.shape[0] > 6:
            options["counts"] = f"<{self.counts.shape[0]} counts>"
        return f"PerNode({', '.join(f'{name}={value}' for name, value in options.items())})"


def _checked_counts(counts: Any) -> Array:
    """Return a copy of the counts that cannot be changed; raise OptionError unless they are whole numbers >= 0."""
    try:
        array = as_array(counts, "counts")
    except GraphError as error:
        raise OptionError(str(error)) from None
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise OptionError(f"counts must be whole numbers in one dimension, got {array.dtype} of shape {array.shape}")
    if array.size and (int(array.min()) < 0 or int(array.max()) >= 2**31):
        wrong = int(array.min()) if int(array.min()) < 0 else int(array.max())
        raise OptionError(f"counts must be in [0, 2^31), got {wrong}")
    own = array.astype(np.int64)
    own.setflags(write=False)
    return own


def _shares(share: float, degrees: Array) -> Array:
    """Return ceil(share * degree), with the share as the decimal number that it is written as."""
    exact = Fraction(repr(share))
    above, below = exact.numerator, exact.denominator
    return np.array([-(-int(degree) * above // below) for degree in degrees], np.int64)


def _powers(exponent: float, degrees: Array) -> Array:
    """Return ceil(degree ** exponent), 0 for degree 0, the same on every machine.

    Powers of floats differ in the last bits from machine to machine. Near a whole number the power is computed as a
    decimal number, which does not.
    """
    power = np.power(degrees.astype(np.float64), exponent)
    whole = np.rint(power)
    quota = np.ceil(power).astype(np.int64)
    with decimal.localcontext() as context:
        context.prec = _DIGITS
        for i in np.flatnonzero(np.abs(power - whole) <= _NEAR_WHOLE * np.maximum(whole, 1)):
            quota[i] = _exact_power(int(degrees[i]), exponent)
    return np.where(degrees == 0, 0, quota)


def _exact_power(degree: int, exponent: float) -> int:
    if degree == 0:
        return 0
    power = (decimal.Decimal(degree).ln() * decimal.Decimal(repr(exponent))).exp()
    nearest = int(power.to_integral_value())
    if abs(power - nearest) <= _SAME * nearest:
        return nearest
    return int(power.to_integral_value(rounding=decimal.ROUND_CEILING))
