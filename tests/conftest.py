"""Where the real datasets are, if they are: a folder beside the checkout, or LSPRUNE_DATA."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

collect_ignore = ["spark_cluster.py"]  # a program that a test runs
DATA = Path(os.environ.get("LSPRUNE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


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
def few_resamples(monkeypatch):
    """Intervals from few resamples, sooner; they are kept, so that no other test must see them."""
    from lsprune.lab import panels
    from lsprune.report import numbers

    kept = (panels._estimate, panels._compare, panels._lossless, numbers._estimate)
    for function in kept:
        function.cache_clear()
    monkeypatch.setattr("lsprune.lab.stats.RESAMPLES", 50)
    yield
    for function in kept:
        function.cache_clear()
