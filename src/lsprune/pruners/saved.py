"""A pruner on disk: one `.npz` file that holds its options as JSON and what it was fitted to as arrays; no pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.adapters.atomic import atomic_write
from lsprune.adapters.files.memory import MemoryBudget
from lsprune.adapters.files.npy import read_npz, write_npz
from lsprune.errors import FormatError
from lsprune.graph import Array

FORMAT = 1


def write_saved(
    path: str | os.PathLike[str], options: dict[str, Any], state: dict[str, Any], arrays: dict[str, Array]
) -> None:
    """Write options, state and arrays; the file appears whole or not at all."""
    document = {"lsprune": FORMAT, "pruner": options, "state": state}
    everything = {**arrays, "json": np.frombuffer(json.dumps(document).encode(), np.uint8)}
    with atomic_write(path) as file:
        write_npz(file, everything)


def read_saved(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    """The JSON document and the arrays of a saved pruner."""
    try:
        arrays = read_npz(Path(path), MemoryBudget.of(advice="free some memory"))
        document = json.loads(arrays.pop("json").tobytes())
        version = document["lsprune"]
        if not isinstance(document["pruner"], dict) or not isinstance(document["state"], dict):
            raise ValueError("its options are not a table")
    except (FormatError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise FormatError(f"{path} is not a saved pruner: {error}") from None
    if version != FORMAT:
        raise FormatError(f"{path} was written in format {version}, this version reads {FORMAT}")
    return document, arrays
