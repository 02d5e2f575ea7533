"""The program itself: its version, and that it starts at once."""

from __future__ import annotations

import subprocess
import sys

from typer.testing import CliRunner

from lsprune import __version__
from lsprune.cli import app


def test_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"lsprune {__version__}\n"


def test_import_brings_nothing_heavy() -> None:
    code = "import sys, lsprune.cli; print([m for m in ('torch', 'numba', 'pyarrow', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
