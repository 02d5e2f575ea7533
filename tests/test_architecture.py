"""The order of the modules, held by a table: a module imports only what stands before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
SRC = TESTS.parent / "src" / "lsprune"

# The random numbers are below the kernels; quantisation and weighted sampling run on them.
ORDER = [
    "_version", "errors", "checks", "keyword_options", "times", "registry", "specs", "ownership", "graph_arrays",
    "graph", "numeric",
    "numeric.random_numbers",
    "numeric.normal_table", "kernels", "numeric.weighted_sampling", "device.transfers", "device.graph_numbers",
    "device.graph", "common_neighbours", "adapters", "files", "adapters.tables", "attributes", "time_rules", "needs",
    "numeric.quantisation", "numeric.device_quantisation", "hashing", "weights", "selection", "device", "pruners",
    "baselines", "measure",
    "plugins", "api", "chooser", "__init__", "pyg", "anndata", "outofcore", "spark", "lab", "cli", "__main__",
]  # fmt: skip

HEAVY = {
    "torch": [
        "adapters/pyg",
        "kernels/gpu",
        "device",
        "hashing/device_codebook.py",
        "hashing/device_keys.py",
        "hashing/device_labels.py",
        "hashing/device_rows.py",
        "weights/device_logs.py",
        "weights/device_surroundings.py",
        "weights/device_teacher.py",
        "numeric/device_quantisation.py",
        "pyg.py",
        "lab",
    ],
    "tensorboard": ["lab/training/callbacks.py"],
    "wandb": ["lab/training/callbacks.py"],
    "torch_geometric": ["adapters/pyg", "pyg.py", "lab"],
    "numba": ["kernels/cpu"],
    "llvmlite": ["kernels/cpu"],
    "triton": ["kernels/gpu", "lab/models/attention_triton.py"],
    "pyarrow": ["files", "outofcore", "spark", "adapters/tables"],
    "scipy": [
        "graph.py",
        "adapters/scipy.py",
        "files",
        "adapters/pyg",
        "hashing/k_means.py",
        "selection",
        "baselines",
        "measure",
        "lab",
        "weights/teacher_training.py",
        "chooser/probe.py",
    ],
    "networkx": ["adapters/networkx.py"],
    "pyspark": ["spark", "cli/spark.py"],
    "pandas": ["spark"],
    "matplotlib": ["measure/plots.py", "chooser/choice.py", "lab"],
    "jinja2": ["lab/reporting/html/page.py"],
    "typer": ["cli"],
    "rich": ["cli", "lab"],
}


def module_name(path: Path) -> str:
    """`hashing.signs` for a file; a package for its `__init__`."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def place(name: str) -> int:
    """The place in ORDER of a module, or of a name that is imported from it: that of its longest prefix."""
    prefixes = [known for known in ORDER if name == known or name.startswith(f"{known}.")]
    return ORDER.index(max(prefixes, key=len, default="__init__"))


def imports(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


FILES = sorted(SRC.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_left_never_imports_right(path):
    for name in imports(path):
        if name.split(".")[0] == "lsprune":
            imported = name.partition(".")[2]
            assert place(imported) <= place(module_name(path)), f"{path.name} imports {name}, which stands to its right"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_heavy_libraries_are_imported_in_their_own_folders(path):
    where = str(path.relative_to(SRC))
    for name in imports(path):
        allowed = HEAVY.get(name.split(".")[0])
        assert allowed is None or any(where.startswith(start) for start in allowed), f"{where} imports {name}"


@pytest.mark.parametrize("module", ["lsprune", "lsprune.cli"])
def test_import_is_light(module):
    code = f"import sys, {module}; print([m for m in ('torch', 'numba', 'pyarrow', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def has_code(path: Path) -> bool:
    """Whether a package's `__init__` has more than imports, names and a docstring."""
    body = ast.parse(path.read_text()).body
    return any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in body)


def path_of_test(path: Path) -> Path:
    """Where the tests of a module are: `tests/hashing/test_signs.py` for `hashing/signs.py`."""
    where = path.relative_to(SRC)
    if where.name != "__init__.py":
        return TESTS / where.parent / f"test_{where.name}"
    return TESTS / where.parent / f"test_{where.parent.name}.py"


WITHOUT_TEST = {"_version.py", "__main__.py", "__init__.py"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_every_module_has_a_test_of_its_name(path):
    if str(path.relative_to(SRC)) in WITHOUT_TEST or (path.name == "__init__.py" and not has_code(path)):
        return
    text = path_of_test(path).read_text() if path_of_test(path).exists() else ""
    assert "def test_" in text, f"{path_of_test(path).relative_to(TESTS.parent)} is missing or has no test"
