"""No network and no code from files: what Python's audit events say while lsprune prunes and reads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PROGRAM = TESTS / "helpers" / "isolation.py"


def without_network() -> list[str]:
    """Return the words that start a program where there is no network at all, or none if this machine forbids it."""
    words = ["unshare", "--map-root-user", "--net"]
    allowed = shutil.which("unshare") and not subprocess.run([*words, "true"], capture_output=True).returncode
    return words if allowed else []


def events(mode: str, folder: Path, *before: str) -> list[str]:
    """Run the program `helpers/isolation.py` and return the events that it saw."""
    paths = [str(TESTS.parent), str(TESTS.parent / "src"), str(TESTS / "helpers"), str(TESTS / "files")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [*before, sys.executable, str(PROGRAM), mode, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("event", ["socket.connect", "subprocess.Popen", "pickle.find_class", "exec"])
def test_what_is_looked_for_would_be_seen(tmp_path, event):
    assert [line for line in events("controls", tmp_path) if line.startswith(f"{event} ")]
    assert (tmp_path / "ran").exists()  # the pickle that hostile files hold does run where it is loaded


def test_pruning_objects_and_files_needs_no_network_and_starts_no_process(tmp_path):
    assert events("network", tmp_path, *without_network()) == []


def test_no_kind_of_input_file_is_unpickled_or_run(tmp_path):
    assert events("files", tmp_path) == []
    assert not (tmp_path / "ran").exists()
