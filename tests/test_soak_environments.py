"""Other processes and environments: they are asked for the same cases, and a difference is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from soak import environments
from soak.check import Broken
from soak.digests import digests, versions
from soak.environments import ROOT, find_python, lowest
from soak.workers import Worker, compare

pytestmark = pytest.mark.filterwarnings("ignore")


class Stranger:
    """A worker with answers of its own."""

    def __init__(self, *answer: str) -> None:
        self.name, self.answer, self.asked = "stranger", answer, []

    def ask(self, number: int) -> None:
        self.asked.append(number)

    def digests(self) -> tuple[str, ...]:
        return self.answer


def test_another_process_gives_the_same_digests():
    worker = Worker("another hash seed", flags=["-O"], variables={"PYTHONHASHSEED": "7"})
    assert worker.versions == {**versions(), "optimise": "1"}
    assert [compare([worker], number) for number in (0, 1)] == [1, 1]
    worker.close()
    with pytest.raises((Broken, ValueError)):
        compare([worker], 2)


def test_cases_differ_and_a_difference_is_told():
    case, mask = digests(3)
    assert digests(4)[0] != case
    same, other_mask, other_case = Stranger(case, mask), Stranger(case, "0" * 16), Stranger("0" * 16, mask)
    assert compare([same, same], 3) == 2
    with pytest.raises(Broken, match="stranger: the mask of case 3 differs"):
        compare([same, other_mask], 3)
    with pytest.raises(Broken, match="another one there"):
        compare([other_case, same], 3)
    assert same.asked == [3] * 4  # no answer is left over, even where another one was wrong
    assert environments.run([same, other_mask], 1, 3) == {"stranger": 1}


def test_digests_need_no_torch():
    code = "import sys; sys.modules['torch'] = None; from soak.digests import digests; print(*digests(3))"
    paths = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=paths, capture_output=True, text=True)
    assert done.stdout.split() == list(digests(3)), done.stderr


def test_pythons_are_found_and_have_their_lowest_versions():
    assert find_python("2.99") is None
    assert "numpy==1.26.0" in lowest("3.11") and len(lowest("3.11")) == len(environments.PACKAGES)
    assert {pin.split("==")[0] for pin in lowest("3.13")} == set(environments.PACKAGES)


def test_only_finished_environments_count(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    for name in ("3.11-lowest", "3.12-newest"):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "python").touch()
    (tmp_path / "3.12-newest" / "done").touch()
    assert environments.built() == [tmp_path / "3.12-newest" / "bin" / "python"]
