"""Other versions of Python, numpy, scipy and numba: `python -m soak.environments` compares masks in all of them.

`--build` makes an environment with the lowest and one with the newest allowed versions for each Python that is found,
under `.venv-environments`. `--python PATH` takes any other interpreter that has the packages.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from soak.workers import ROOT, Worker, differences

FOLDER = ROOT / ".venv-environments"
PYTHONS = ("3.11", "3.12", "3.13")
PACKAGES = ("numpy", "numba", "scipy", "pyarrow")
# The first versions for Pythons that are younger than the lowest versions of constraints-lowest.txt.
FIRST_FOR = {"3.13": ("numpy==2.1.0", "numba==0.61.0", "scipy==1.15.0", "pyarrow==18.0.0")}


def built() -> list[Path]:
    """Return the interpreters of the environments that were built, in order."""
    return sorted(path for path in FOLDER.glob("*/bin/python") if (path.parents[1] / "done").exists())


def worker_of(python: Path) -> Worker:
    """Return a process of an environment, which is called by its folder."""
    return Worker(python.parents[1].name, str(python))


def find_python(version: str) -> str | None:
    """Return an interpreter of this version that runs, on PATH or of pyenv; None if there is none."""
    pyenv = sorted(Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python{version}"))
    for path in (shutil.which(f"python{version}"), *map(str, pyenv)):
        if path is not None and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return path
    return None


def lowest(version: str) -> Sequence[str]:
    """Return the lowest versions of the packages that this Python can have."""
    if version in FIRST_FOR:
        return FIRST_FOR[version]
    pins = (ROOT / "constraints-lowest.txt").read_text(encoding="utf8").splitlines()
    return [pin for pin in pins if pin.split("==")[0] in PACKAGES]


def build() -> list[str]:
    """Build what is missing; return the Pythons that were not found."""
    missing = []
    for version in PYTHONS:
        if (python := find_python(version)) is None:
            missing.append(version)
            continue
        for name, packages in (("lowest", lowest(version)), ("newest", ("--upgrade", *PACKAGES))):
            folder = FOLDER / f"{version}-{name}"
            if not (folder / "done").exists():
                subprocess.run([python, "-m", "venv", str(folder)], check=True)
                pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
                subprocess.run([*pip, *packages], check=True)
                (folder / "done").touch()
    return missing


def run(workers: Sequence[Worker], cases: int, first: int) -> dict[str, int]:
    """Compare cases in every environment; return how many of them broke, by name, and print the first ones."""
    broken = dict.fromkeys((worker.name for worker in workers), 0)
    for number in range(first, first + cases):
        for name, message in differences(workers, number).items():
            broken[name] += 1
            if broken[name] <= 3:
                print(f"{name}: {message}")
    return broken


def main() -> int:
    """Run the command; return 1 if a mask differs."""
    parser = argparse.ArgumentParser(prog="python -m soak.environments", description=__doc__)
    parser.add_argument("--build", action="store_true", help="build environments for the Pythons that are found")
    parser.add_argument("--python", type=Path, action="append", default=[], help="an interpreter; may be repeated")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    options = parser.parse_args()
    for version in build() if options.build else ():
        print(f"Python {version} was not found")
    pythons = options.python or built()
    if not pythons:
        parser.error("there is no environment; build some (--build) or name interpreters (--python)")
    workers = [worker_of(python) for python in pythons]
    broken = run(workers, options.cases, options.first)
    for worker in workers:
        shown = ", ".join(f"{name} {version}" for name, version in worker.versions.items() if name != "optimise")
        print(f"{worker.name}: {options.cases:,} masks compared, {broken[worker.name]:,} differ ({shown})")
    return int(any(broken.values()))


if __name__ == "__main__":
    sys.exit(main())
