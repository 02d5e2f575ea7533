"""The long checks: a few cases of each, and that the runner counts and reports what breaks."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections import Counter

import pytest
from soak import damage_table
from soak.check import Broken, CannotRun, Check, expect
from soak.checks import CHECKS
from soak.checks.isolation import run_watched, start_process
from soak.isolated import Isolated
from soak.runner import Plan, Tally, record, run_plan, table, try_case


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, check in CHECKS.items() if check.quick_cases])
def test_the_promise_holds_on_a_few_cases(name):
    tally = run_plan([CHECKS[name]], Plan(None, CHECKS[name].quick_cases, 0))[name]
    if tally.cannot_run:
        pytest.skip(tally.cannot_run)
    assert tally.messages == []
    assert tally.cases == CHECKS[name].quick_cases
    assert tally.comparisons > 0


def _odd_cases_fail(number, folder):
    (folder / "left behind").write_text("x")
    expect(number % 2 == 0, f"{number} is odd")
    return 2


ODD = Check(name="odd", promise="Even", about="a number", run_case=_odd_cases_fail)


def test_failures_are_counted_with_the_number_of_their_case():
    tally = run_plan([ODD], Plan(None, 5, 10))["odd"]
    assert (tally.cases, tally.comparisons, tally.failures) == (5, 6, 2)
    assert [message.split(" (")[0] for message in tally.messages] == [
        "case 11: Broken: 11 is odd",
        "case 13: Broken: 13 is odd",
    ]
    shown = table([ODD], {"odd": tally})
    assert "odd: case 11: Broken: 11 is odd" in shown
    assert json.loads(record([ODD], {"odd": tally}, {}))["checks"]["odd"]["failures"] == 2


def test_a_record_keeps_the_checks_that_were_not_run_again():
    earlier = {"note": "a long run", "checks": {"odd": {"cases": 1}, "other": {"cases": 9}}}
    some = json.loads(record([ODD], {"odd": Tally(cases=2)}, {}, earlier))
    assert (some["checks"]["odd"]["cases"], some["checks"]["other"]["cases"]) == (2, 9)
    assert some["note"] == "a long run"
    cannot = json.loads(record([ODD], {"odd": Tally(cannot_run="no GPU")}, {}, earlier))
    assert cannot["checks"]["odd"]["cases"] == 1
    del earlier["checks"]["other"]
    before = json.loads(record([ODD], {"odd": Tally(cases=2, comparisons=4)}, {}))
    both = json.loads(record([ODD], {"odd": Tally(cases=3, failures=1)}, {}, before, add=True))["checks"]["odd"]
    assert (both["cases"], both["comparisons"], both["failures"]) == (5, 4, 1)
    assert "note" not in json.loads(record([ODD], {"odd": Tally(cases=2)}, {}, earlier))


def test_a_process_that_is_started_while_it_is_watched_for_is_a_failure(tmp_path):
    with pytest.raises(Broken, match=r"subprocess\.Popen"):
        run_watched(start_process, tmp_path)


def test_a_process_that_dies_is_a_failure_and_replaced():
    process = Isolated(gc.collect)
    with pytest.raises(Broken, match="the interpreter died"):
        process.run(os._exit, 1)
    assert process.run(len, "abc") == 3


def test_processes_share_the_cases():
    first, second = (run_plan([ODD], Plan(None, 3, start, 2))["odd"] for start in (0, 1))
    first.add(second)
    assert (first.cases, first.failures) == (6, 3)


def test_a_check_that_cannot_run_is_said_and_does_not_count():
    def run_case(number, folder):
        raise CannotRun("there is no GPU")

    check = Check(name="gpu", promise="Same bits", about="", run_case=run_case)
    tally = run_plan([check], Plan(None, 5, 0))["gpu"]
    assert (tally.cases, tally.failures, tally.cannot_run) == (0, 0, "there is no GPU")
    assert "gpu was not run: there is no GPU" in table([check], {"gpu": tally})


def test_folders_of_cases_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    try_case(ODD, 1, Tally())
    assert list(tmp_path.iterdir()) == []


def test_the_table_of_damage_is_printed_and_written(tmp_path, monkeypatch, capsys):
    path = tmp_path / "damage.json"
    options = ("--kinds", "npy", "--cases", "8", "--jobs", "1", "--out", str(path))
    monkeypatch.setattr(sys, "argv", ["damage_table", *options])
    assert damage_table.main() == 0
    known = json.loads(path.read_text())["stream npy"]
    assert known["cases"] == 8 and not known["checksum"]
    assert "stream npy" in capsys.readouterr().out


def test_counts_of_damage_are_added_to_those_of_other_kinds(tmp_path):
    path = tmp_path / "damage.json"
    for name, counts in (("npz", Counter(same=1)), ("csv", Counter(wrong=2)), ("npz", Counter(same=2, refused=3))):
        damage_table.note(path, name, counts, checked=name == "npz")
    known = json.loads(path.read_text())
    assert list(known) == ["npz", "csv"]
    assert known["npz"] == {"checksum": True, "cases": 5, "same": 2, "refused": 3, "wrong": 0, "failed": 0}
