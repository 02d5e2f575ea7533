"""Checks of what callers pass: whole numbers, options, arrays and sparse matrices. Every rule is here once."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from lsprune.errors import GraphError, LspruneError, OptionError

Array = np.ndarray[Any, np.dtype[Any]]
MOST_NODES = 2**63  # ids are int64
MOST_WHOLE = 2**63 - 1  # of options that have no limit of their own
MAX_SEED_BITS = 1024
_MAX_SHOWN_CHARACTERS = 80  # of a value in an error message


def shown(value: Any) -> str:
    """Return a value as text for an error message, cut to a line."""
    try:
        text = repr(value)
    except Exception:  # a number of thousands of digits, or a class whose repr fails
        return f"a {type(value).__name__}"
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else f"{text[:_MAX_SHOWN_CHARACTERS]} ..."


def is_whole(value: Any) -> bool:
    """Return whether this is a whole number, of Python or numpy; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether this is a real number, infinity and NaN included; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Raise OptionError unless an option is a whole number >= least."""
    if not is_whole(value) or value < least:
        raise OptionError(f"{name} must be a whole number >= {least}, got {shown(value)}")


def check_number(name: str, value: Any, least: float, most: float) -> None:
    """Raise OptionError unless an option is a number in [least, most]."""
    if not is_number(value) or not least <= value <= most:
        raise OptionError(f"{name} must be a number in [{least:g}, {most:g}], got {shown(value)}")


def set_whole(options: Any, name: str, least: int, most: int, wanted: str, *, none: bool = False) -> None:
    """Make option `name` of a frozen dataclass a Python int; raise OptionError unless it is in [least, most].

    Args:
        wanted: how the error message describes the allowed values. none: None is allowed too.
    """
    value = getattr(options, name)
    if value is None and none:
        return
    if not is_whole(value) or not least <= int(value) <= most:
        raise OptionError(f"{name} must be {wanted}, got {shown(value)}")
    object.__setattr__(options, name, int(value))


def set_number(
    options: Any, name: str, fits: Callable[[float], bool], wanted: str, *, none: bool = False, about: str = ""
) -> None:
    """Make option `name` of a frozen dataclass a Python number; raise OptionError unless `fits` is true of it."""
    value = getattr(options, name)
    if value is None and none:
        return
    if not is_number(value) or not fits(_float(value)):
        raise OptionError(f"{name} must be {wanted}, got {shown(value)}{about}")
    object.__setattr__(options, name, int(value) if is_whole(value) else float(value))


def _float(value: Any) -> float:
    try:
        return float(value)
    except (OverflowError, ValueError):
        return float("inf")


def count_of(value: Any, name: str, error: type[LspruneError] = GraphError) -> int:
    """Return a number of nodes as a Python int: a whole number of any type, also a float or an array of one entry."""
    try:
        number = value.item() if hasattr(value, "item") else value
        whole = is_whole(number) or (isinstance(number, float) and number.is_integer())
        if whole and 0 <= int(number) < MOST_NODES:
            return int(number)
    except (ValueError, TypeError, RuntimeError):  # an array of several entries
        pass
    raise error(f"{name} must be a whole number >= 0, got {shown(value)}")


def counts_of(value: Any, name: str, error: type[LspruneError] = GraphError) -> Any:
    """Return a number of nodes, or a pair of them (sources, targets); None stays None."""
    if isinstance(value, tuple) and len(value) == 2:
        return tuple(None if count is None else count_of(count, name, error) for count in value)
    return None if value is None else count_of(value, name, error)


def as_array(values: Any, name: str) -> Array:
    """Return the values as a numpy array, a view where possible; raise GraphError if numpy cannot read them."""
    refuse_masked(values, name)
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise GraphError(f"{name} must be an array, got {type(values).__name__}: {reason}") from None


def refuse_masked(values: Any, name: str) -> None:
    """Raise GraphError for a numpy masked array, or a list of them: as plain arrays they would lose their masks."""
    items = values if isinstance(values, (list, tuple)) else ()
    if isinstance(values, np.ma.MaskedArray) or any(isinstance(item, np.ma.MaskedArray) for item in items):
        raise GraphError(
            f"{name} must be a plain array, got a numpy masked array, whose mask would be lost; fill it first: "
            ".filled(value)"
        )


def check_numbers(dtype: Any, name: str) -> None:
    """Raise GraphError unless a type holds real numbers."""
    if dtype.kind not in "fiub":
        raise GraphError(f"{name} must be numbers, got {dtype}")


def check_sparse(matrix: Any, name: str) -> None:
    """Raise GraphError unless the arrays of a scipy.sparse matrix agree with each other and with its shape.

    scipy trusts these arrays, and so do kernels: a wrong index would read or write memory outside of the arrays. The
    check of scipy covers fewer formats and changes the matrix.
    """
    check = _CHECKS.get(matrix.format)
    if matrix.ndim != 2:
        raise GraphError(f"{name} must have two dimensions as a sparse matrix, got shape {list(matrix.shape)}")
    if any(isinstance(array, np.ma.MaskedArray) for array in vars(matrix).values()):
        raise GraphError(f"{name} must hold plain arrays, got a sparse matrix with a numpy masked array")
    try:
        fault = check(matrix) if check else ""
    except (TypeError, ValueError, IndexError, AttributeError) as error:  # arrays of another type or dimension
        fault = str(error)
    if fault:
        raise GraphError(f"{name} is not a valid {matrix.format.upper()} matrix of shape {list(matrix.shape)}: {fault}")


def to_csr(matrix: Any, name: str) -> Any:
    """Return a scipy.sparse matrix as CSR, checked before and after; the same object if it is CSR already."""
    check_sparse(matrix, name)
    if matrix.format == "csr":
        return matrix
    try:
        rows = matrix.tocsr()
    except (TypeError, ValueError, IndexError) as error:  # formats of Python lists and dicts
        raise GraphError(f"{name} is not a valid {matrix.format.upper()} matrix: {error}") from None
    check_sparse(rows, name)
    return rows


def compressed_fault(rows: int, columns: int, indptr: Array, indices: Array, values: int) -> str:
    """Return what is wrong with compressed rows that have so many values; "" if nothing is."""
    if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu" or indptr.ndim != 1 or indices.ndim != 1:
        return "indptr and indices must be integers in one dimension"
    if indptr.shape[0] != rows + 1:
        return f"indptr must have {rows + 1} entries, got {indptr.shape[0]}"
    if int(indptr[0]) != 0 or bool(np.any(indptr[1:] < indptr[:-1])):
        return "indptr must rise from 0"
    if int(indptr[-1]) > min(indices.shape[0], values):
        return f"indptr ends at {int(indptr[-1])}, beyond the {min(indices.shape[0], values)} entries"
    return index_fault(indices[: int(indptr[-1])], columns, "indices")


def index_fault(ids: Array, count: int, name: str) -> str:
    """Return what is wrong with ids that must be in [0, count); "" if nothing is."""
    if ids.dtype.kind not in "iu" or ids.ndim != 1:
        return f"{name} must be integers in one dimension"
    if ids.size and (int(ids.min()) < 0 or int(ids.max()) >= count):
        wrong = int(ids.min()) if int(ids.min()) < 0 else int(ids.max())
        return f"{name} must be in [0, {count}), got {wrong}"
    return ""


def _csr(matrix: Any) -> str:
    rows, columns = matrix.shape
    return compressed_fault(rows, columns, matrix.indptr, matrix.indices, len(matrix.data))


def _csc(matrix: Any) -> str:
    rows, columns = matrix.shape
    return compressed_fault(columns, rows, matrix.indptr, matrix.indices, len(matrix.data))


def _bsr(matrix: Any) -> str:
    (rows, columns), (height, width) = matrix.shape, matrix.data.shape[1:]
    if not height or not width or rows % height or columns % width:
        return f"blocks of {height} by {width} do not fill it"
    return compressed_fault(rows // height, columns // width, matrix.indptr, matrix.indices, len(matrix.data))


def _coo(matrix: Any) -> str:
    if not len(matrix.row) == len(matrix.col) == len(matrix.data):
        return f"row, col and data must have one length, got {len(matrix.row)}, {len(matrix.col)}, {len(matrix.data)}"
    return index_fault(matrix.row, matrix.shape[0], "row") or index_fault(matrix.col, matrix.shape[1], "col")


def _dia(matrix: Any) -> str:
    if matrix.data.ndim != 2 or matrix.offsets.shape != matrix.data.shape[:1]:
        return f"data must have one row for each of the {len(matrix.offsets)} offsets, got {list(matrix.data.shape)}"
    return "" if matrix.offsets.dtype.kind in "iu" else "offsets must be integers"


def _lil(matrix: Any) -> str:
    if not len(matrix.rows) == len(matrix.data) == matrix.shape[0]:
        return f"it must have {matrix.shape[0]} rows, got {len(matrix.rows)} and {len(matrix.data)}"
    same = all(len(ids) == len(values) for ids, values in zip(matrix.rows, matrix.data, strict=True))
    return "" if same else "rows and data must have as many entries as each other"


_CHECKS: dict[str, Callable[[Any], str]] = {
    "csr": _csr, "csc": _csc, "bsr": _bsr, "coo": _coo, "dia": _dia, "lil": _lil,
}  # fmt: skip


def short_repr(pruner: Any) -> str:
    """Return `Name(option=value, ...)` with the options that are not at their defaults."""
    texts = []
    for f in dataclasses.fields(pruner):
        default = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
        value = getattr(pruner, f.name)
        if f.repr and value != default:
            texts.append(f"{f.name}={value!r}")
    return f"{type(pruner).__name__}({', '.join(texts)})"


def check_budget(k: Any, keep: Any, budget: Any = None) -> None:
    """Raise OptionError unless exactly one of k (whole, in [0, 2^31)), keep (in (0, 1]) and budget is given."""
    given = {"k": k, "keep": keep, "budget": budget}
    texts = [f"{name}={shown(value)}" for name, value in given.items() if value is not None]
    if len(texts) != 1:
        raise OptionError(
            "give exactly one of k (edges per owner), keep (share of edges to keep) and budget (PerNode; --per-node), "
            f"got {' and '.join(texts) or 'none of them'}"
        )
    if k is not None and not (is_whole(k) and 0 <= k < 2**31):
        raise OptionError(f"k must be a whole number in [0, 2^31), got {shown(k)}; it is the most edges an owner keeps")
    if keep is not None and not (is_number(keep) and 0 < keep <= 1):
        raise OptionError(f"keep must be in (0, 1], got {shown(keep)}; it is the share of edges to keep")


def did_you_mean(value: Any, allowed: Iterable[Any]) -> str:
    """Return the end of an error message that suggests the allowed name closest to a wrong one; "" if none is close.

    >>> did_you_mean("jacard", ["random", "jaccard"]), did_you_mean("x", ["random"])
    ("; did you mean 'jaccard'?", '')
    """
    names = {name.lower(): name for name in allowed if isinstance(name, str)}
    close = difflib.get_close_matches(value.lower(), names, 1) if isinstance(value, str) else []
    return f"; did you mean {names[close[0]]!r}?" if close else ""


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Raise OptionError unless the value is one of the allowed ones."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in allowed):
        known = ", ".join(repr(a) for a in allowed)
        raise OptionError(f"{name} must be one of {known}, got {shown(value)}{did_you_mean(value, allowed)}")


def check_seed(seed: Any) -> None:
    """Raise OptionError unless the seed is a whole number; its lowest 64 bits count."""
    if not is_whole(seed) or int(seed).bit_length() > MAX_SEED_BITS:
        raise OptionError(f"seed must be a whole number of at most {MAX_SEED_BITS} bits, got {shown(seed)}")


def check_flag(name: str, value: Any) -> None:
    """Raise OptionError unless the value is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{name} must be True or False, got {shown(value)}")


def check_pruner(value: Any) -> None:
    """Raise OptionError unless the value is a pruner: an object, not its class, that makes masks."""
    if isinstance(value, type) or not hasattr(value, "mask_graph"):
        raise pruner_error(value)


def pruner_error(value: Any) -> OptionError:
    """Return the error for a value that is no pruner, with what to write instead where that is clear."""
    got = f"the class {value.__name__}" if isinstance(value, type) else shown(value)
    return OptionError(f"pruner must be a pruner such as LSP(keep=0.5), got {got}{_instead_of(value)}")


def _instead_of(value: Any) -> str:
    """Return what to write instead of a value that is no pruner, where it is clear what was meant."""
    if isinstance(value, type):
        return f"; write {value.__name__}(keep=0.5)" if hasattr(value, "mask_graph") else ""
    if hasattr(getattr(value, "pruner", None), "mask_graph"):
        return "; pass its .pruner"
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return str(getattr(value, "instead_of_pruner", ""))
    whole = isinstance(value, int | np.integer)
    option = f"k={shown(value)}" if whole and value > 0 else f"keep={shown(value)}" if 0 < value <= 1 else ""
    return f"; write LSP({option})" if option else ""
