"""Work that is stopped goes on: killed at any stage, out of disk, interrupted; and what it may not go on with."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import parquet

from graphs import random_graph
from lsprune import LSP, FormatError, OptionError
from lsprune.files.manifest import Manifest
from lsprune.kernels import file_arrays as scratch
from lsprune.outofcore import work_folder as working_folder
from lsprune.outofcore.output import MARKER
from lsprune.outofcore.stream import prune_stream
from lsprune.outofcore.work_folder import locked, make_folder, remove_finished, working

PRUNER = LSP(keep=0.4, symmetric="union")


@pytest.fixture(name="place")
def _place(tmp_path):
    """A folder with a graph in three files."""
    graph = random_graph(8, nodes=40, edges=400)
    source, target = graph.ends()
    (tmp_path / "in").mkdir()
    for number, some in enumerate(np.array_split(np.arange(400), 3)):
        parquet.write_table(
            pa.table({"source": source[some], "target": target[some]}), tmp_path / "in" / f"{number}.parquet"
        )
    np.save(tmp_path / "x.npy", graph.x)
    return tmp_path


def run(place: Path, out: str, **options) -> None:
    prune_stream(place / "in", place / out, PRUNER, features=place / "x.npy", memory="3GB", **options)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


KILLER = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = {paths!r}
from test_work_folder import run
place, lines = Path({place!r}), []
run(place, "whole", say=lines.append)
for stop in range(len(lines)):
    said = []
    def say(text):
        said.append(text)
        if len(said) == stop + 1:
            os.kill(os.getpid(), signal.SIGKILL)
    child = os.fork()
    if child == 0:
        run(place, f"out{{stop}}", say=say)
        os._exit(7)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert not (place / f"out{{stop}}").exists()
    run(place, f"out{{stop}}", resume=True)
print(len(lines))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a copy of the process")
def test_killed_at_any_stage_it_goes_on_and_gives_the_same_bytes(place):
    paths = [str(Path(__file__).parent), *(path for path in sys.path if path)]
    script = KILLER.format(paths=paths, place=str(place))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    stages = int(done.stdout)
    assert stages == 7  # counting, the plan, grouping, selecting, three files
    whole = contents(place / "whole")
    assert set(whole) == {"0.parquet", "1.parquet", "2.parquet", "_lsprune.json"}
    for stop in range(stages):
        assert contents(place / f"out{stop}") == whole
    left = {path.name for path in place.iterdir()}
    assert left == {"in", "x.npy", "whole", *(f"out{stop}" for stop in range(stages))}


@pytest.mark.parametrize("call", range(1, 9))
def test_a_full_disk_is_an_error_and_can_be_mended(place, monkeypatch, call):
    run(place, "whole")
    calls, reserve = [], scratch.reserve

    def full(handle, size):
        calls.append(size)
        if len(calls) == call:
            raise OSError(errno.ENOSPC, "No space left on device")
        reserve(handle, size)

    for module in (scratch, working_folder):
        monkeypatch.setattr(module, "reserve", full)
    monkeypatch.setattr(scratch, "MIN_FILE_BYTES", 1)
    with pytest.raises(OSError, match="No space left"):
        run(place, "out")
    assert not (place / "out").exists()
    assert (place / "out.lsprune-work").exists()
    with pytest.raises(OptionError, match="--resume"):
        run(place, "out")
    monkeypatch.undo()
    run(place, "out", resume=True)
    assert contents(place / "out") == contents(place / "whole")
    assert not (place / "out.lsprune-work").exists()


def test_an_interrupt_leaves_nothing_unless_it_is_to_go_on(place):
    def stop(text):
        raise KeyboardInterrupt

    before = sorted(place.iterdir())
    with pytest.raises(KeyboardInterrupt):
        run(place, "out", say=stop)
    assert sorted(place.iterdir()) == before
    with pytest.raises(KeyboardInterrupt):
        run(place, "out", say=stop, resume=True)
    assert (place / "out.lsprune-work").exists()


def test_a_bad_file_leaves_nothing(place):
    broken = (place / "in" / "1.parquet").read_bytes()
    (place / "in" / "1.parquet").write_bytes(broken[:-20])
    before = sorted(place.iterdir())
    with pytest.raises(FormatError, match=r"1\.parquet"):
        run(place, "out", resume=True)
    assert sorted(place.iterdir()) == before


def test_another_task_is_not_continued(tmp_path):
    def begin(task):
        with working(tmp_path / "w", task, resume=True):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begin({"k": 1, "seed": 0})
    with pytest.raises(OptionError, match="seed must be as in the run that is continued: 0 then, 1 now"):
        begin({"k": 1, "seed": 1})
    whole = (tmp_path / "w" / "journal.json").read_text()
    odd = ["[]", '{"task": 5}', "5", "null", '"task"', '{"task": {"k": 1, "seed": 0}, "rows": "x"}', "[" * 10**5]
    for content in (*odd, whole[:-5], whole.replace('"k": 1', '"k": 2'), "", "\xff"):
        (tmp_path / "w" / "journal.json").write_text(content)
        with pytest.raises(FormatError, match=r"damaged, or not a journal of lsprune; remove .*w to begin again"):
            begin({"k": 1, "seed": 0})
    (tmp_path / "w" / "journal.json").write_text(whole)
    with pytest.raises(KeyboardInterrupt):
        begin({"k": 1, "seed": 0})


def test_the_journal_names_only_what_is_on_the_disk(tmp_path):
    with pytest.raises(KeyboardInterrupt), working(tmp_path / "w", {}, resume=True) as work:
        array = work.create("numbers", 5, np.int32)
        array[:] = np.arange(5)
        work.finish("count", 5, "numbers")
        work.create("more", 3, np.int32)
        raise KeyboardInterrupt
    assert set(json.loads((tmp_path / "w" / "journal.json").read_text())["done"]) == {"task", "count"}
    with working(tmp_path / "w", {}, resume=True) as work:
        assert work.has("count")
        assert work.done["count"] == 5
        np.testing.assert_array_equal(work.array("numbers"), np.arange(5))
        work.forget("count")
        assert "count" not in json.loads((tmp_path / "w" / "journal.json").read_text())["done"]
    assert not (tmp_path / "w").exists()


def test_a_stage_whose_file_has_changed_is_taken_back_and_no_other(tmp_path):
    with pytest.raises(KeyboardInterrupt), working(tmp_path / "w", {}, resume=True) as work:
        for number in (1, 10):
            work.create(f"numbers{number}", 5, np.int32)[:] = number
            work.append_file(f"rows{number}", np.int64).add(np.arange(number))
            work.finish(f"file {number}", None, f"numbers{number}", f"rows{number}")
            assert work.has(f"file {number}")
        raise KeyboardInterrupt
    (tmp_path / "w" / "rows1").write_bytes(np.arange(1, 2).tobytes())
    said = []
    with working(tmp_path / "w", {}, resume=True, say=said.append) as work:
        assert not work.has("file 1")
        assert work.has("file 10")
        assert set(work.done) == {"task", "file 10"}
        np.testing.assert_array_equal(work.appended("rows10", np.int64), np.arange(10))
    assert said == [f"{tmp_path / 'w' / 'rows1'} has changed since it was written; it is made again"]


def test_stopped_after_the_last_step_it_is_found_complete(place, monkeypatch):
    run(place, "whole")
    remove, calls = working_folder.shutil.rmtree, []

    def stop(folder, **options):
        calls.append(folder)
        raise KeyboardInterrupt

    monkeypatch.setattr(working_folder.shutil, "rmtree", stop)
    with pytest.raises(KeyboardInterrupt):
        run(place, "out", resume=True)
    monkeypatch.setattr(working_folder.shutil, "rmtree", remove)
    assert calls == [place / "out.lsprune-work" / "scratch"]
    with pytest.raises(OptionError, match="complete and was made with other options"):
        prune_stream(place / "in", place / "out", LSP(k=1), features=place / "x.npy", memory="3GB", resume=True)
    run(place, "out", resume=True)
    assert contents(place / "out") == contents(place / "whole")
    assert not (place / "out.lsprune-work").exists()


def test_two_processes_do_not_work_in_one_folder(tmp_path):
    with working(tmp_path / "w", {}, resume=True) as work:
        with pytest.raises(OptionError, match="another process"), working(tmp_path / "w", {}, resume=True):
            pass
        assert work.folder.exists()


def test_what_another_run_left_does_not_get_into_the_output(place):
    stale = place / "out.lsprune-part"
    (stale / "sub").mkdir(parents=True)
    (stale / "9.parquet").write_bytes(b"old")
    (stale / MARKER).touch()
    run(place, "out")
    assert set(contents(place / "out")) == {"0.parquet", "1.parquet", "2.parquet", "_lsprune.json"}
    assert not stale.exists()


def test_an_interrupt_while_writing_leaves_nothing(place):
    def stop(text):
        if text.startswith("writing 1"):
            raise KeyboardInterrupt

    before = sorted(place.iterdir())
    with pytest.raises(KeyboardInterrupt):
        run(place, "out", say=stop)
    assert sorted(place.iterdir()) == before


def test_one_pass_that_was_stopped_after_its_last_file_is_found_complete(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    for number in range(2):
        table = pa.table({"source": np.arange(50) % 7, "target": np.arange(50) // 5 + 10 * number})
        parquet.write_table(table, tmp_path / "in" / f"{number}.parquet")
    options = {"memory": "3GB", "resume": True}
    pruner = LSP(k=2, hash="identity")
    prune_stream(tmp_path / "in", tmp_path / "whole", pruner, **options)
    write = Manifest.write

    def stop(self, path):
        raise KeyboardInterrupt

    monkeypatch.setattr(Manifest, "write", stop)
    with pytest.raises(KeyboardInterrupt):
        prune_stream(tmp_path / "in", tmp_path / "out", pruner, **options)
    monkeypatch.setattr(Manifest, "write", write)
    found = prune_stream(tmp_path / "in", tmp_path / "out", pruner, **options)
    assert found.edges == 100
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out", "whole"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupt_before_the_first_stage_leaves_nothing(tmp_path, monkeypatch, error):
    def stop(*_, **options):
        raise error

    monkeypatch.setattr(working_folder, "atomic_write", stop)
    with pytest.raises(error), working(tmp_path / "w", {}, resume=False):
        pass
    monkeypatch.setattr(working_folder.fcntl, "flock", stop)
    with pytest.raises((error, OptionError)), working(tmp_path / "w", {}, resume=False):
        pass
    assert not list(tmp_path.iterdir())


def test_a_run_that_is_told_to_end_can_be_resumed(tmp_path):
    with pytest.raises(SystemExit), working(tmp_path / "w", {}, resume=False) as work:
        work.finish("count", 5)
        raise SystemExit(143)
    with working(tmp_path / "w", {}, resume=True) as work:
        assert work.done["count"] == 5


def test_an_empty_folder_is_no_run_that_was_stopped(tmp_path):
    (tmp_path / "w").mkdir()
    with working(tmp_path / "w", {}, resume=False) as work:
        assert work.fresh
    assert not (tmp_path / "w").exists()


def test_the_folder_of_a_complete_run_is_removed_though_its_journal_is_gone(tmp_path):
    (tmp_path / "w").mkdir()
    remove_finished(tmp_path / "w", {})
    assert not (tmp_path / "w").exists()
    remove_finished(tmp_path / "w", {})


def test_a_folder_that_was_made_anew_before_it_was_locked_is_that_of_another_process(tmp_path, monkeypatch):
    make_folder(tmp_path / "w")

    def other_process(*_):
        monkeypatch.undo()
        (tmp_path / "w").rename(tmp_path / "old")
        (tmp_path / "w").mkdir()

    monkeypatch.setattr(working_folder.fcntl, "flock", other_process)
    with pytest.raises(OptionError, match="another process is at work in"), locked(tmp_path / "w"):
        pass
    with pytest.raises(OptionError, match="another process is at work in"), locked(tmp_path / "gone"):
        pass


def test_a_run_begins_again_if_its_input_has_other_marks(tmp_path):
    with pytest.raises(KeyboardInterrupt), working(tmp_path / "w", {"k": 1}, resume=True, marks=[1]) as work:
        work.finish("count", 5)
        raise KeyboardInterrupt
    for marks, stages in ([1], {"task", "marks", "count"}), ([2], {"task", "marks"}):
        said = []
        with (
            pytest.raises(KeyboardInterrupt),
            working(tmp_path / "w", {"k": 1}, resume=True, marks=marks, say=said.append) as work,
        ):
            assert set(work.done) == stages
            raise KeyboardInterrupt
        assert len(said) == 1 + (marks == [2])  # the last line says how to continue


def test_a_work_folder_that_somebody_removes_at_the_end_is_no_error(tmp_path):
    with working(tmp_path / "w", {}, resume=False) as work:
        shutil.rmtree(tmp_path / "w")
    assert not work.folder.exists()


@pytest.mark.parametrize(
    ("error", "resume", "told"),
    [(SystemExit, False, 1), (KeyboardInterrupt, True, 1), (KeyboardInterrupt, False, 0), (ValueError, False, 0)],
)
def test_an_interrupted_run_says_how_it_is_continued(tmp_path, error, resume, told):
    lines: list[str] = []
    with pytest.raises(error), working(tmp_path / "w", {}, resume=resume, say=lines.append):
        raise error
    assert len(lines) == told == int((tmp_path / "w").exists())
    assert all("the same command with --resume (resume=True) continues the run" in line for line in lines)
