"""The wheel: builds, holds what it should, and works from where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import lsprune

ROOT = Path(__file__).resolve().parents[1]


def test_the_wheel_builds_and_works(tmp_path):
    copy = tmp_path / "copy"  # built from a copy: a build folder in the checkout would be picked up by the next one
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", tmp_path, copy]
    subprocess.run(build, check=True)
    wheel = next(tmp_path.glob("lsprune-*.whl"))
    assert lsprune.__version__ in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "lsprune/py.typed" in names
    assert "lsprune/kernels/cpu/choose.py" in names
    assert not [name for name in names if name.startswith("tests")]
    place = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", place, wheel]
    subprocess.run(install, check=True)
    code = "import sys, lsprune, lsprune.cli; print(lsprune.__file__); sys.argv[1:] = ['--version']; lsprune.cli.main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": str(place)}
    )
    assert str(place) in done.stdout
    assert lsprune.__version__ in done.stdout.splitlines()[1]
    module = [sys.executable, "-m", "lsprune", "--version"]
    assert (
        subprocess.run(module, capture_output=True, text=True, check=True).stdout == f"lsprune {lsprune.__version__}\n"
    )


def test_the_lowest_versions_are_those_that_the_package_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    floors = dict(re.match(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", one).groups() for one in asked)
    lines = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    lowest = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    for name, version in lowest.items():
        floor = floors[name]
        assert f"{version}.".startswith(f"{floor}.") and set(version.removeprefix(floor)) <= set(".0"), name
    needed = {re.match(r"[\w-]+", one).group() for one in project["dependencies"]}
    assert needed <= set(lowest)
    for extra in ("spark", "plots", "report"):
        assert {re.match(r"[\w-]+", one).group() for one in project["optional-dependencies"][extra]} <= set(lowest)


def test_the_version_is_written_in_one_place():
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()
    assert lsprune.__version__ in (ROOT / "CHANGELOG.md").read_text()
    assert lsprune.__version__ in (ROOT / "CITATION.cff").read_text()
