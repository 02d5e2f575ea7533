"""Fixtures that several tests share."""

from __future__ import annotations

import ast
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from real_data import DATA

collect_ignore = ["helpers", "user_plugin/package"]  # modules that tests import, and programs that they run


def pytest_collection_finish() -> None:
    """Forget modules that broke off while their doctests were collected, for lack of an optional package.

    pytest leaves them among the imported ones, where other tests would find them half empty.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith("lsprune.") and not _is_whole(module):
            del sys.modules[name]
            parent, _, last = name.rpartition(".")
            if getattr(sys.modules.get(parent), last, None) is module:
                delattr(sys.modules[parent], last)


def _is_whole(module: ModuleType) -> bool:
    """Whether a module has every function and class that its file defines."""
    file = getattr(module, "__file__", None)
    body = ast.parse(Path(file).read_text(encoding="utf8")).body if file else []
    return all(hasattr(module, part.name) for part in body if isinstance(part, (ast.FunctionDef, ast.ClassDef)))


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt: a shell's background job ignores it, and so do the tests it runs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def data_folder(tmp_path_factory):
    """A function that gives a writable copy of one dataset's folder, or skips the test."""

    def copy(name: str) -> Path:
        if not (DATA / name).is_dir():
            pytest.skip(f"real dataset {name} not found; set LSPRUNE_DATA to a folder that has it")
        target = tmp_path_factory.mktemp("data") / name
        shutil.copytree(DATA / name, target, copy_function=shutil.copyfile)
        for folder in [target, *target.rglob("*")]:
            if folder.is_dir():
                folder.chmod(0o755)
        return target

    return copy


@pytest.fixture
def store(monkeypatch):
    """A store of objects that speaks S3, at which the environment points."""
    from object_store import ObjectStore, environment

    with ObjectStore() as store:
        for name, value in environment(store.endpoint).items():
            monkeypatch.setenv(name, value)
        yield store


@pytest.fixture
def few_resamples(monkeypatch):
    """Compute intervals from few resamples, which is faster. Results are kept by number: no other test sees them."""
    monkeypatch.setattr("lsprune.lab.reporting.statistics.RESAMPLES", 50)


@pytest.fixture
def cpu_is_gpu(monkeypatch):
    """Let CPU tensors count as being on a GPU, so that PyG objects take the GPU path, with plain torch."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    from lsprune.adapters.pyg import data, edge_index, tensors
    from lsprune.pruners import placement

    for module in (data, edge_index, tensors):
        monkeypatch.setattr(module, "on_gpu", lambda value: value.device if isinstance(value, torch.Tensor) else None)
    monkeypatch.setattr(placement, "_warned", set())
