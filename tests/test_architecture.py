"""The way of the data, held by a table: a module imports only what stands before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src" / "lsprune"

ORDER = [
    "_version", "errors", "checks", "graph", "kernels", "race", "similar", "adapters", "attributes", "scales",
    "hashing", "select", "pairs", "explain", "apply", "pruners", "baselines", "guards", "measure", "__init__", "pyg",
    "scale", "lab", "report", "cli", "__main__",
]  # fmt: skip

HEAVY = {
    "torch": ["adapters/pyg", "kernels/gpu", "pyg.py", "lab"],
    "tensorboard": ["lab/watchers.py"],
    "wandb": ["lab/watchers.py"],
    "torch_geometric": ["adapters/pyg", "pyg.py", "lab"],
    "numba": ["kernels/cpu"],
    "llvmlite": ["kernels/cpu"],
    "triton": ["kernels/gpu/fused.py", "lab/models/fused.py"],
    "pyarrow": ["adapters/files", "scale"],
    "scipy": ["adapters/sparse.py", "adapters/files", "adapters/pyg", "baselines", "measure", "lab"],
    "networkx": ["adapters/networks.py"],
    "pyspark": ["scale/spark", "cli/spark.py"],
    "pandas": ["scale/spark"],
    "matplotlib": ["measure/plots.py", "lab", "report/figures.py"],
    "jinja2": ["report/page.py"],
    "typer": ["cli"],
    "rich": ["cli", "lab"],
}


def room(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def inner(name: str) -> str:
    """The room of lsprune that an imported name comes from."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ORDER else "__init__"


FILES = sorted(SRC.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_left_never_imports_right(path):
    here = ORDER.index(room(path))
    for name in imports(path):
        if name.split(".")[0] == "lsprune":
            assert ORDER.index(inner(name)) <= here, f"{path.name} imports {name}, which stands to its right"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_heavy_libraries_are_imported_in_their_own_rooms(path):
    where = str(path.relative_to(SRC))
    for name in imports(path):
        allowed = HEAVY.get(name.split(".")[0])
        assert allowed is None or any(where.startswith(start) for start in allowed), f"{where} imports {name}"


@pytest.mark.parametrize("module", ["lsprune", "lsprune.cli"])
def test_import_is_light(module):
    code = f"import sys, {module}; print([m for m in ('torch', 'numba', 'pyarrow', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_module_has_a_test_of_its_name():
    tests = {path.stem for path in Path(__file__).parent.glob("test_*.py")}
    rooms = {room(path) for path in FILES} - {"_version", "__init__", "__main__", "errors"}
    missing = {
        name for name in rooms if not any(test == f"test_{name}" or test.startswith(f"test_{name}_") for test in tests)
    }
    assert not missing
