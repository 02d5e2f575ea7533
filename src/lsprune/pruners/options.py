"""Checks of options that pruners share; each error names the option, what is allowed and the value."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from lsprune.checks import is_number, is_whole, shown
from lsprune.errors import OptionError

MOST_SEED_BITS = 1024


def short_repr(pruner: Any) -> str:
    """`Name(option=value, ...)` with the options that are not at their defaults."""
    shown = []
    for f in dataclasses.fields(pruner):
        default = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
        value = getattr(pruner, f.name)
        if f.repr and value != default:
            shown.append(f"{f.name}={value!r}")
    return f"{type(pruner).__name__}({', '.join(shown)})"


def check_budget(k: Any, keep: Any) -> None:
    """Raise unless exactly one of k (whole, in [0, 2^31)) and keep (in (0, 1]) is given."""
    if (k is None) == (keep is None):
        given = "neither" if k is None else f"both k={shown(k)} and keep={shown(keep)}"
        raise OptionError(f"give exactly one of k (edges per owner) and keep (share of edges to keep), got {given}")
    if k is not None and not (is_whole(k) and 0 <= k < 2**31):
        raise OptionError(f"k must be a whole number in [0, 2^31), got {shown(k)}; it is the most edges an owner keeps")
    if keep is not None and not (is_number(keep) and 0 < keep <= 1):
        raise OptionError(f"keep must be in (0, 1], got {shown(keep)}; it is the share of edges to keep")


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Raise unless value is one of the allowed ones."""
    if not any(value is one or (isinstance(value, str) and value == one) for one in allowed):
        raise OptionError(f"{name} must be one of {', '.join(repr(a) for a in allowed)}, got {shown(value)}")


def check_seed(seed: Any) -> None:
    """Raise unless seed is a whole number; its lowest 64 bits count."""
    if not is_whole(seed) or int(seed).bit_length() > MOST_SEED_BITS:
        raise OptionError(f"seed must be a whole number of at most {MOST_SEED_BITS} bits, got {shown(seed)}")


def check_flag(name: str, value: Any) -> None:
    """Raise unless value is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{name} must be True or False, got {shown(value)}")
