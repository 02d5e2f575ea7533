"""Digests of the masks of cases, asked for by number: `python -m soak.digests` answers each line of its input.

Another process, interpreter or environment answers the same questions; `soak.workers` compares. Needs lsprune, numpy,
scipy and numba, and no torch.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import sys
import warnings
from typing import Any

import numpy as np

from soak.varied_cases import Case, varied_case

AREA = 31
PACKAGES = ("numpy", "numba", "scipy", "pyarrow")


def digests(number: int) -> tuple[str, str]:
    """Return the digest of a case (graph and pruner), and that of its masks by the reference and by numba."""
    case = varied_case(AREA, number)
    masks = (case.mask, case.pruner.mask(case.graph))
    return _digest(*_content(case)), _digest(*(mask.astype(np.uint8) for mask in masks))


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that decide."""
    found = {"python": platform.python_version(), "optimise": str(sys.flags.optimize)}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "none"
    return found


def _content(case: Case) -> list[Any]:
    """Return what decides the mask: the pruner as text, and the arrays of the graph."""
    graph = case.graph
    rows: list[Any] = [repr(case.pruner), *graph.ends(), graph.x_source, graph.x_target, graph.edge_attr]
    rows += [graph.edge_weight, graph.source_ptr, *(graph.edge_columns or {}).values()]
    return [values.toarray() if hasattr(values, "toarray") else values for values in rows]


def _digest(*values: Any) -> str:
    total = hashlib.sha256()
    for value in values:
        total.update(np.ascontiguousarray(value).tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return total.hexdigest()[:16]


def main() -> None:
    """Say the versions, then answer every line with a number by the two digests of that case."""
    warnings.simplefilter("ignore")
    print(json.dumps(versions()), flush=True)
    for line in sys.stdin:
        print(*digests(int(line)), flush=True)


if __name__ == "__main__":
    main()
