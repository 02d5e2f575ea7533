"""Workers without this lsprune are named before the first task, and asked once."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

from lsprune import LSP, MissingDependency, __version__
from lsprune.spark import fit_spark, prune_spark, workers
from lsprune.spark.workers import check_workers

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


def application(name: str) -> SimpleNamespace:
    """As much of a session as says which application it is."""
    return SimpleNamespace(sparkContext=SimpleNamespace(applicationId=name, pythonExec="python3"))


def test_the_first_worker_that_differs_is_named(monkeypatch):
    monkeypatch.setattr(workers, "_CHECKED", set())
    for answer, says in ((("b", "0.0.1", ""), "but b has 0.0.1;"), (("b", "", "No module"), "but b says: No module;")):
        monkeypatch.setattr(workers, "_answers", lambda session, answer=answer: [("a", __version__, ""), answer])
        for _ in range(2):  # asked again, for it may be put right
            with pytest.raises(MissingDependency, match=says):
                check_workers(application("one"))


def test_an_application_in_order_is_asked_once(monkeypatch):
    asked = []
    monkeypatch.setattr(workers, "_CHECKED", set())
    monkeypatch.setattr(workers, "_answers", lambda session: asked.append(1) or [("a", __version__, "")])
    for name in ("one", "one", "two", "one"):
        check_workers(application(name))
    assert len(asked) == 2


def worker_python(folder: Path, code: str) -> str:
    """A Python for workers that runs this code when it starts."""
    (folder / "sitecustomize.py").write_text(code)
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    script.chmod(0o755)
    return str(script)


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "lsprune":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""
OLDER = "import lsprune; lsprune.__version__ = '0.0.1'"


@pytest.mark.parametrize(("code", "said"), [(WITHOUT, "says: No module named 'lsprune'"), (OLDER, "has 0.0.1")])
def test_workers_without_this_lsprune_are_named_in_one_sentence(session, tables, tmp_path, monkeypatch, code, said):
    monkeypatch.setattr(session.sparkContext, "pythonExec", worker_python(tmp_path, code))
    pattern = f"^lsprune {__version__} must be installed on every worker of Spark, but .* {said}; .*--py-files"
    for work in (prune_spark, fit_spark):
        with pytest.raises(MissingDependency, match=pattern):
            work(*tables, LSP(k=1, hash="identity"))


def test_workers_are_asked_once(tables, monkeypatch):
    prune_spark(tables[0], None, LSP(k=1, hash="identity"))
    monkeypatch.setattr(workers, "_answers", lambda session: pytest.fail("asked again"))
    prune_spark(tables[0], None, LSP(k=1, hash="identity"))
