"""A pruner on disk: one `.npz` file with its options as JSON and what it learned as arrays; no pickle.

A file may come from anywhere, so everything that kernels rely on is checked when it is read: raise FormatError for what
`fit` cannot have learned, and take no more memory than a pruner needs.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.attributes import WIDEST_CATEGORY
from lsprune.checks import is_whole, shown
from lsprune.errors import FormatError
from lsprune.files.atomic_write import atomic_write
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.npy import read_npz, write_npz
from lsprune.graph import Array
from lsprune.numeric.quantisation import Scale, adjusted

FORMAT = 2  # 1: options of lsprune 0.1.0, see `upgraded`
NUMBERS = ("exponent", "unit", "shift", "categories")  # of a scale, in the JSON document
MAX_BYTES = 1 << 30  # of all arrays: two codebooks of 2^20 words with 128 columns take half
MAX_JSON_BYTES = 1 << 20  # bytes of the options
_UNIT_EXPONENTS, _RAW_EXPONENTS = (6, 20), (-113, 156)  # that `fit` finds for float32 attributes
_MAX_SPREAD = 1 << 25  # 32 * 2^20 quanta


def write_saved(
    path: str | os.PathLike[str], options: dict[str, Any], state: dict[str, Any], arrays: dict[str, Array]
) -> None:
    """Write options, state and arrays; the file appears whole or not at all."""
    document = {"lsprune": FORMAT, "pruner": options, "state": state}
    everything = {**arrays, "json": np.frombuffer(json.dumps(document).encode(), np.uint8)}
    with atomic_write(path) as file:
        write_npz(file, everything)


def read_saved(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the JSON document and the arrays of a saved pruner."""
    try:
        _check_sizes(Path(path))
        arrays = read_npz(Path(path), MemoryBudget.of(advice="free some memory"))
        if "json" not in arrays:
            raise ValueError(f"it holds the arrays {', '.join(arrays) or 'none'}; `lsprune fit` or save() writes one")
        document = json.loads(arrays.pop("json").tobytes())
        version = document["lsprune"]
        if not isinstance(document["pruner"], dict) or not isinstance(document["state"], dict):
            raise ValueError("its options are not a table")
    except (FormatError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not a saved pruner: {error}") from None
    if version not in (1, FORMAT):
        raise FormatError(f"{path} was written in format {shown(version)}, this version reads 1 and {FORMAT}")
    try:
        current = document if version == FORMAT else _from_format_1(document)
        return {**current, "pruner": with_exact_codebooks(current["pruner"])}, arrays
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not a saved pruner of lsprune 0.1.0: {error}") from None


def _from_format_1(document: dict[str, Any]) -> dict[str, Any]:
    state = document["state"]
    return {**document, "pruner": upgraded(document["pruner"]), "state": {"scales": state} if state else {}}


def with_exact_codebooks(options: Any) -> Any:
    """Return options where every codebook says how it is searched; files without it are of versions that had one way.

    >>> with_exact_codebooks({"pruner": "lsp", "hash": {"name": "codebook", "words": 8}})
    {'pruner': 'lsp', 'hash': {'exact': True, 'name': 'codebook', 'words': 8}}
    """
    if not isinstance(options, Mapping):
        return options
    table = {name: with_exact_codebooks(value) for name, value in options.items()}
    return {"exact": True, **table} if table.get("name") == "codebook" else table


def upgraded(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a pruner as lsprune 0.1.0 wrote them in the form of this version.

    >>> old = {"method": "lsp", "k": 3, "weights": "degree", "power": 0.4, "values": "unit", "replace": False}
    >>> upgraded({**old, "ties": "hash"})
    {'pruner': 'lsp', 'k': 3, 'weights': {'name': 'degree', 'power': 0.4}}
    """
    rest = dict(options)
    name = rest.pop("method", "")
    if name == "guarded":
        inner = upgraded(rest.pop("pruner"))
        return {"pruner": name, **rest, "inner": inner}
    if name != "lsp":
        return {"pruner": name, **rest}
    paper = {option: rest.pop(option) for option in _PAPER if option in rest}
    changed = {option: value for option, value in paper.items() if value != _PAPER[option]}
    power, weights = rest.pop("power", 1.0), rest.get("weights")
    if weights is not None:
        rest["weights"] = {**_weight_table(weights), "power": power}
    if isinstance(rest.get("hash"), Mapping):
        rest["hash"] = _upgraded_family(rest["hash"])
    return {"pruner": "lsp-paper" if changed else "lsp", **rest, **changed}


_PAPER = {"values": "unit", "replace": False, "ties": "hash"}  # options that only `PaperLSP` has, and their defaults


def _weight_table(name: str) -> dict[str, Any]:
    part, _, column = name.partition(":")
    if part not in ("edge", "neighbour"):
        return {"name": name}
    return {"name": "column", "part": part, "column": int(column) if column else None}


def _upgraded_family(options: Mapping[str, Any]) -> dict[str, Any]:
    table = {key: _upgraded_family(value) if isinstance(value, Mapping) else value for key, value in options.items()}
    for old, option, plain in (("projection", "offset", "uniform"), ("threshold", "digest", "mix")):
        if table.get("name") == old and option in table:
            if table[option] == plain:
                del table[option]
            else:
                table["name"] = f"paper-{old}"
    return table


def _check_sizes(path: Path) -> None:
    """Raise FormatError if the arrays would take more memory than those of any pruner."""
    with path.open("rb") as handle:
        try:
            with zipfile.ZipFile(handle) as archive:
                sizes = {info.filename: info.file_size for info in archive.infolist()}
        except Exception:  # a damaged archive raises nearly anything; `read_npz` says what is wrong
            return
    if sum(sizes.values()) > MAX_BYTES or sizes.get("json.npy", 0) > MAX_JSON_BYTES:
        raise FormatError(f"its arrays would take {sum(sizes.values())} bytes, more than any pruner has")


def read_small(arrays: Mapping[str, Array], name: str) -> Array:
    """Return an array of integers of 16 bits; raise FormatError for another one."""
    array = arrays[name]
    if array.dtype.kind not in "iu" or array.min(initial=0) < -(2**15) or array.max(initial=0) >= 2**15:
        raise FormatError(f"{name} must hold integers of 16 bits, got {array.dtype}")
    return array.astype(np.int16)


def read_scales(
    state: Mapping[str, Any], arrays: Mapping[str, Array], known: tuple[str, ...], *, unit: bool
) -> dict[str, Scale]:
    """Return the scales of some parts; raise FormatError if `fit` cannot have learned them."""
    for role in state:
        if role not in known:
            raise FormatError(f"what was fitted must be of {', '.join(known)}, got {shown(role)}")
    scales = {role: _scale(role, values, arrays, unit) for role, values in state.items()}
    if scales and adjusted({role: replace(scale, shift=0) for role, scale in scales.items()}, unit=unit) != scales:
        raise FormatError("the scales of the parts do not belong together: no fit gives them")
    return scales


def _scale(role: str, values: Any, arrays: Mapping[str, Array], unit: bool) -> Scale:
    numbers = {name: values[name] for name in NUMBERS}
    whole = all(is_whole(numbers[name]) for name in NUMBERS if name != "unit")
    if not whole or not isinstance(numbers["unit"], bool):
        raise FormatError(f"the scale of {role} must hold whole numbers, got {shown(numbers)}")
    centre, spread = (_column(arrays[f"{role}.{name}"], f"{role}.{name}") for name in ("centre", "spread"))
    scale = Scale(centre=tuple(centre.tolist()), spread=tuple(spread.tolist()), **numbers)
    _check_scale(role, scale, unit)
    return scale


def _column(array: Array, name: str) -> Array:
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.size:
        raise FormatError(f"{name} must hold integers in one dimension, got {array.dtype} {list(array.shape)}")
    if int(array.min()) < -(2**31) or int(array.max()) >= 2**31:
        raise FormatError(f"{name} must hold integers of 32 bits, got {int(array.min())} to {int(array.max())}")
    return array


def _check_scale(role: str, scale: Scale, unit: bool) -> None:
    """Raise FormatError unless `fit` can learn this scale: kernels index tables by its numbers."""
    low, high = _UNIT_EXPONENTS if scale.unit else _RAW_EXPONENTS
    if scale.unit != (unit and scale.dim > 1):
        raise FormatError(f"unit of {role} must be {unit and scale.dim > 1} for {scale.dim} columns")
    if not low <= scale.exponent <= high:
        raise FormatError(f"exponent of {role} must be in [{low}, {high}], got {shown(scale.exponent)}")
    if len(scale.spread) != scale.dim or min(scale.spread) < 0 or max(scale.spread) > _MAX_SPREAD:
        raise FormatError(f"spread of {role} must be {scale.dim} integers in [0, {_MAX_SPREAD}]")
    few = scale.categories == 0 or scale.dim == min(scale.categories, WIDEST_CATEGORY)
    if not 0 <= scale.categories < 2**62 or not few:
        raise FormatError(f"categories of {role} must go with its {scale.dim} columns, got {shown(scale.categories)}")
