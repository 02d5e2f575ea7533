from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from lsprune import FormatError, OptionError
from lsprune.lab.studies.result_files import Results


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path / "runs" / "cora.jsonl")


def test_what_is_written_is_read(results):
    assert results.read() == []
    with results.writing():
        results.append({"key": "a", "value": 1.5})
        results.append({"key": "b", "label": "<é>"})
    assert results.read() == [{"key": "a", "value": 1.5}, {"key": "b", "label": "<é>"}]
    assert results.keys() == {"a", "b"}


def test_a_cut_last_line_is_put_aside_and_the_rest_stays(results):
    with results.writing():
        results.append({"key": "a"})
    whole = results.path.read_bytes()
    results.path.write_bytes(whole + b'{"key": "b", "val')
    assert results.keys() == {"a"}
    with results.writing():
        results.append({"key": "c"})
    assert results.keys() == {"a", "c"}
    assert results.path.with_suffix(".partial").read_bytes() == b'{"key": "b", "val\n'


@pytest.mark.parametrize(
    "line", [b"{broken}", b"[1, 2]", b'{"no": "key"}', b'{"key": 3}', b"\xff\xfe", b'{"task":5}', b"[" * 10**5]
)
def test_damage_in_the_middle_is_named_and_kept(results, line):
    with results.writing():
        results.append({"key": "a"})
    content = results.path.read_bytes() + line + b"\n" + json.dumps({"key": "z"}).encode() + b"\n"
    results.path.write_bytes(content)
    with pytest.raises(FormatError, match=r"cora.jsonl, line 2 is damaged"):
        results.read()
    assert results.path.read_bytes() == content


def test_empty_lines_are_passed_over_and_counted(results):
    results.path.parent.mkdir(parents=True, exist_ok=True)
    results.path.write_bytes(b'\n{"key": "a"}\n  \n')
    assert results.keys() == {"a"}
    results.path.write_bytes(b'\n{"key": "a"}\n\n{broken}\n')
    with pytest.raises(FormatError, match=r"cora.jsonl, line 4 is damaged"):
        results.read()


def test_two_writers_do_not_meet(results):
    with results.writing(), pytest.raises(FormatError, match="is being written by another process"), results.writing():
        pass


def test_not_a_number_is_refused_before_anything_is_written(results):
    with results.writing():
        with pytest.raises(ValueError, match="not JSON compliant"):
            results.append({"key": "a", "value": float("nan")})
        assert results.path.read_bytes() == b""


def test_a_full_disk_leaves_no_half_line(results, monkeypatch):
    with results.writing():
        results.append({"key": "a"})

        def full(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            results.append({"key": "b"})
    monkeypatch.undo()
    assert results.keys() == {"a"}


def test_a_kill_at_any_moment_loses_no_finished_run(tmp_path):
    code = (
        "import sys; from pathlib import Path; from lsprune.lab.studies.result_files import Results\n"
        "r = Results(Path(sys.argv[1]))\n"
        "with r.writing():\n"
        "    for i in range(10**9):\n"
        "        r.append({'key': str(i), 'fill': 'x' * 2000})\n"
        "        print(i, flush=True)\n"
    )
    path = tmp_path / "killed.jsonl"
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    said = [int(process.stdout.readline()) for _ in range(40)]
    os.kill(process.pid, signal.SIGKILL)
    rest = process.stdout.read().split()
    process.wait()
    process.stdout.close()
    keys = Results(path).keys()
    assert {str(i) for i in said} | set(rest) <= keys


def test_a_cut_line_is_not_put_aside_through_a_link(tmp_path):
    results = Results(tmp_path / "toy.jsonl")
    results.path.write_bytes(b'{"key": "a"}\n{"key": "b", "val')
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "toy.partial").symlink_to("mine.txt")
    before = results.path.read_bytes()
    with pytest.raises(OptionError, match=r"toy\.partial is not a regular file"), results.writing():
        pass
    assert results.path.read_bytes() == before
    assert (tmp_path / "mine.txt").read_text() == "mine"
