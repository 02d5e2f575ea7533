"""Attributes that objects hold item by item (nodes, edges) as arrays of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lsprune.checks import refuse_masked
from lsprune.errors import GraphError
from lsprune.graph import Array


def numeric_attribute(values: Sequence[Any], name: str) -> Array | None:
    """Return the values of all items as one array; None if there are none, one is missing, or they are no numbers.

    >>> numeric_attribute([[1.0, 2.0], [3.0, 4.0]], "x").shape
    (2, 2)
    """
    if not values or any(value is None for value in values):
        return None
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError:
        raise GraphError(f"attribute {name!r} must have the same shape everywhere to be used as features") from None
    return array if array.dtype.kind in "fiub" else None
