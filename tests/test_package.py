"""The wheel and the locks: builds hold what they should and are reproducible, and every version is pinned by hash."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from release.build import build

import lsprune

ROOT = Path(__file__).resolve().parents[1]


PACKAGED = (
    "pyproject.toml",
    "setup.py",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "SECURITY.md",
)


def copied_sources(copy: Path) -> Path:
    """Copy what goes into a release to `copy`: a build folder in the checkout would be picked up by the next build."""
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in PACKAGED:
        shutil.copy(ROOT / name, copy)
    return copy


def test_the_wheel_builds_and_works(tmp_path):
    copy = copied_sources(tmp_path / "copy")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", tmp_path, copy]
    subprocess.run(build, check=True)
    wheel = next(tmp_path.glob("lsprune-*.whl"))
    assert lsprune.__version__ in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith("/METADATA"))
    fields = email.message_from_string(metadata)
    assert fields["Version"] == lsprune.__version__ and fields["Author"] == "The lsprune developers"
    assert "Programming Language :: Python :: 3.13" in fields.get_all("Classifier")
    assert not [one for one in fields.get_all("Classifier") if one.startswith("License")]  # it is a field of its own
    assert fields["License-Expression"] == "Apache-2.0"
    assert {url.partition(", ")[0] for url in fields.get_all("Project-URL")} >= {"Repository", "Changelog"}
    assert fields["Description-Content-Type"] == "text/markdown"
    assert "](docs/" not in fields.get_payload() and "](https://" in fields.get_payload()  # see setup.py
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


def test_one_version_and_one_date_everywhere():
    citation = dict(re.findall(r"^([\w-]+): \"?([^\"\n]*)\"?$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE))
    assert citation["version"] == lsprune.__version__
    releases = re.findall(r"^## (\S+)(?: \((.+)\))?$", (ROOT / "CHANGELOG.md").read_text(encoding="utf8"), re.MULTILINE)
    assert releases[0] == ("Unreleased", "")
    assert releases[1] == (lsprune.__version__, citation["date-released"])
    assert (ROOT / "tests" / "released_masks" / f"{lsprune.__version__}.json").is_file()


def test_the_package_says_what_the_citation_and_the_documentation_say():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf8")
    assert [f'- name: "{author["name"]}"' in citation for author in project["authors"]] == [True]
    assert f'repository-code: "{project["urls"]["Repository"]}"' in citation
    assert project["urls"]["Paper"] in (ROOT / "README.md").read_text(encoding="utf8")
    prefix = "Programming Language :: Python :: "
    minors = [one.removeprefix(prefix) for one in project["classifiers"] if one.startswith(f"{prefix}3.")]
    assert minors == ["3.11", "3.12", "3.13"] and project["requires-python"] == f">={minors[0]}"


def test_builds_in_other_folders_with_other_modes_times_and_umask_have_the_same_bytes(tmp_path):
    digests = []
    for name, mode, umask, time in (("one", 0o644, 0o022, 10**9), ("two/deeper", 0o660, 0o077, 1_500_000_001)):
        sources = copied_sources(tmp_path / name)
        for number, path in enumerate(sorted(sources.rglob("*"), reverse=name == "one")):
            path.chmod(mode | 0o111 if path.is_dir() else mode)
            os.utime(path, (time + number, time + number))
        before = os.umask(umask)
        try:
            digests.append(build(sources, tmp_path / name / "dist", epoch=1_700_000_000))
        finally:
            os.umask(before)
    assert digests[0] == digests[1]
    wheel, archive = sorted(digests[0], key=lambda file: not file.endswith(".whl"))
    shutil.unpack_archive(tmp_path / "one" / "dist" / archive, tmp_path / "unpacked")
    sources = tmp_path / "unpacked" / archive.removesuffix(".tar.gz")
    assert {path.name for path in sources.iterdir()} == {*PACKAGED, "src", "PKG-INFO", "setup.cfg"}
    assert build(sources, tmp_path / "again", epoch=1_700_000_000)[wheel] == digests[0][wheel]


def normal_name(requirement: str) -> str:
    """Return the name in a requirement as indexes spell it: `Jinja2>=3.1` gives `jinja2`."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement).group()).lower()


def lines_of(path: str) -> list[str]:
    """Return the requirements of a file, without comments; a requirement and its hashes are one line."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / path).read_text(), flags=re.MULTILINE)
    return text.replace("\\\n", " ").split("\n")[:-1]


def versions_in(path: str) -> dict[str, str]:
    """Return the version of each package of a file; every line must pin one, and a package only one."""
    pins = [re.match(r"([\w.-]+)==([^\s;]+)", line).groups() for line in lines_of(path)]
    versions = {normal_name(name): version for name, version in pins}
    assert len(versions) == len(pins), f"{path} pins a package twice"
    return versions


@pytest.mark.parametrize("path", ["locks/build.txt", "locks/dev.txt", "locks/release.txt"])
def test_a_lock_pins_every_package_by_version_and_hash(path):
    assert lines_of(path)
    for line in lines_of(path):
        pinned = r"[\w.-]+==[\w.]+( ; [^#]+?)?( +--hash=sha256:[0-9a-f]{64})+"
        assert re.fullmatch(pinned, line), line
    assert "://" not in (ROOT / path).read_text()  # where packages come from is for the machine to say


def test_the_lock_has_the_versions_of_the_constraints():
    constraints, torch = versions_in("constraints.txt"), versions_in("locks/torch.txt")
    assert list(torch) == ["torch"]
    assert {**versions_in("locks/dev.txt"), **torch} == constraints
    assert versions_in("locks/build.txt").items() <= constraints.items()


def test_the_lock_has_what_the_package_and_its_extras_ask_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(one for extra in extras for one in extras[extra] if extra != "track")]
    missing = {normal_name(one) for one in asked} - versions_in("locks/dev.txt").keys()
    assert missing == {"torch"}
    locked = set(re.findall(r"--extra (\w+)", (ROOT / "Makefile").read_text()))
    assert locked >= extras.keys() - {"track", "plots"}  # `dev` has what `plots` asks for


def test_what_is_installed_for_tests_must_have_its_hash():
    makefile = (ROOT / "Makefile").read_text()
    rule = re.search(r"^\$\(VENV\)/dev:.*?\n\n", makefile, re.DOTALL | re.MULTILINE).group()
    assert "--require-hashes" in re.search(r"^HASHED := (.*)$", makefile, re.MULTILINE).group(1)
    installed = [line.strip() for line in rule.splitlines() if "$(PIP)" in line or "$(HASHED)" in line]
    assert installed == [
        "$(BIN)/python $(HASHED) --requirement locks/build.txt",
        "$(BIN)/python $(HASHED) --requirement locks/dev.txt",
        "$(PIP) --requirement locks/torch.txt",
        "$(PIP) --no-deps --no-build-isolation --editable .",
    ]


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
    assert 'dynamic = ["version", ' in (ROOT / "pyproject.toml").read_text()
    assert lsprune.__version__ in (ROOT / "CHANGELOG.md").read_text()
    assert lsprune.__version__ in (ROOT / "CITATION.cff").read_text()
