"""What is resumed is checked: a damaged file is made again or refused, and never gets into an output."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from faults import CASES, DAMAGES, Bench
from pyarrow import parquet

from lsprune import FormatError, OptionError
from lsprune.files.manifest import Manifest, verify
from lsprune.outofcore import memory_ceiling as memory
from lsprune.outofcore.output import MARKER


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(memory, "MIN_BATCH_ROWS", 64)
    monkeypatch.setattr(memory, "MAX_BATCH_ROWS", 64)


@pytest.fixture(name="bench", params=CASES, ids=lambda case: case.name)
def _bench(request, tmp_path, monkeypatch):
    (tmp_path / "place").mkdir()
    return Bench(request.param, tmp_path / "place", monkeypatch)


def test_a_damaged_file_is_made_again_or_refused(bench):
    turn = 0
    for _, kept in bench.points():
        for path in bench.left():
            turn += 1
            bench.restore(kept)
            DAMAGES[turn % len(DAMAGES)](path)
            try:
                bench.resume()
            except (FormatError, OptionError) as error:
                assert path.name == "journal.json", (path, error)  # noqa: PT017
                assert f"remove {path.parent}" in str(error) or "move it away or remove it" in str(error)
                assert not bench.case.out(bench.place, "out").is_dir()
                assert not verify(bench.case.out(bench.place, "out")).ok
            else:
                assert bench.content("out") == bench.whole, path
    assert turn >= 10


@pytest.mark.parametrize("bench", CASES[1:3] + CASES[4:5], ids=lambda case: case.name, indirect=True)
def test_an_undamaged_run_goes_on_without_making_anything_again(bench):
    for number, _ in bench.points():
        said = bench.resume()
        assert not [line for line in said if "again" in line]
        assert bench.content("out") == bench.whole
        if number == bench.stages:
            assert not [line for line in said if line.startswith(("reading", "grouping", "selecting", "writing"))]


@pytest.mark.parametrize("bench", [CASES[0], CASES[2]], ids=["file", "folder"], indirect=True)
def test_an_output_that_is_called_complete_is_compared(bench):
    for damage in DAMAGES:
        bench.remove("out")
        bench.case.run(bench.place, "out")
        path = next(path for name in bench.whole for path in [bench.place / name] if path.suffix == ".parquet")
        damage(path)
        if bench.case.suffix:
            bench.resume()
            assert bench.content("out") == bench.whole
        else:
            with pytest.raises(
                OptionError, match=rf"has changed since it was written .*{path.name}.*; remove it to start again"
            ):
                bench.resume()


@pytest.mark.parametrize("bench", [CASES[0], CASES[2]], ids=["file", "folder"], indirect=True)
def test_a_manifest_that_was_changed_is_not_believed(bench):
    bench.case.run(bench.place, "out")
    path = next(bench.place / name for name in bench.whole if name.endswith("json"))
    path.write_text(path.read_text().replace('"isolated": ', '"isolated": 1'))
    assert not verify(bench.case.out(bench.place, "out")).ok
    if bench.case.suffix:
        bench.resume()
        assert bench.content("out") == bench.whole
    else:
        with pytest.raises(OptionError, match="its checksum is not that"):
            bench.resume()


@pytest.mark.parametrize("bench", [CASES[5]], ids=["ids"], indirect=True)
def test_the_mapping_of_a_complete_output_is_compared_too(bench):
    for damage in DAMAGES:
        damage(bench.place / "out-ids.parquet") if damage is not DAMAGES[0] else bench.case.run(bench.place, "out")
        bench.resume()
        assert bench.content("out") == bench.whole


FOLDER, FILE = CASES[2], CASES[0]


@pytest.fixture(name="precious")
def _precious(tmp_path):
    """A folder of somebody's, with a file and a file in a folder."""
    (tmp_path / "precious" / "deep").mkdir(parents=True)
    (tmp_path / "precious" / "mine.txt").write_text("mine")
    (tmp_path / "precious" / "deep" / "too.txt").write_text("mine too")
    return tmp_path / "precious"


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("bench", [FOLDER], ids=["folder"], indirect=True)
@pytest.mark.parametrize("name", ["out.lsprune-part", "out.lsprune-work"])
@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "file"])
@pytest.mark.parametrize("resume", [False, True])
def test_what_lsprune_did_not_make_stays_as_it_is(bench, precious, name, kind, resume):
    path, before = bench.place / name, files_of(precious)
    if kind == "folder":
        precious.rename(path)
        precious = path
    elif kind == "file":
        path.write_text("mine")
    else:
        path.symlink_to(precious if kind == "link" else "absent")
    found = sorted(bench.place.rglob("*"))
    with pytest.raises(OptionError, match=f"{name} is in the way"):
        bench.case.run(bench.place, "out", resume=resume)
    assert sorted(bench.place.rglob("*")) == found
    assert files_of(precious if kind != "file" else bench.place / "in")
    assert files_of(precious) == before


@pytest.mark.parametrize("bench", [FOLDER], ids=["folder"], indirect=True)
@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("out.lsprune-work/journal.json", "mine.txt"),
        ("out.lsprune-work/mask.npy", "mine.txt"),
        ("out.lsprune-work/counts.npy", "mine.txt"),
        ("out.lsprune-work/scratch", "deep"),
        ("out.lsprune-part/0.parquet", "mine.txt"),
        ("out.lsprune-part/1.parquet", "mine.txt"),
        ("out.lsprune-part/sub", "deep"),
        ("out.lsprune-part/_lsprune.json", "mine.txt"),
    ],
)
def test_links_in_the_folders_of_a_stopped_run_are_refused_and_it_goes_on_without_them(bench, precious, link, target):
    bench.stop_after(bench.stages - 2)  # two files are to be written
    kept, before = bench.save(), files_of(precious)
    path = bench.place / link
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(precious / target)
    with pytest.raises(OptionError, match="is a symbolic link, which lsprune does not make there; remove it"):
        bench.resume()
    assert files_of(precious) == before
    path.unlink()
    if (bench.place.with_name(kept.name) / link).is_file():
        shutil.copy2(kept / link, path)
    bench.resume()
    assert bench.content("out") == bench.whole


@pytest.mark.parametrize("bench", [FOLDER], ids=["folder"], indirect=True)
@pytest.mark.parametrize("resume", [False, True])
def test_a_file_that_was_put_among_the_parts_is_neither_lost_nor_in_the_output(bench, resume):
    stray = bench.place / "out.lsprune-part" / "mine.parquet"

    def put(text):
        if text.startswith("writing 1"):
            stray.write_text("mine")

    with pytest.raises(OptionError, match=r"mine\.parquet does not belong to the output; remove it and go on"):
        bench.case.run(bench.place, "out", resume=resume, say=put)
    assert stray.read_text() == "mine"
    stray.unlink()
    bench.resume()
    assert bench.content("out") == bench.whole


@pytest.mark.parametrize("bench", [FILE], ids=["file"], indirect=True)
def test_a_link_is_followed_at_the_output_alone(bench, precious):
    (bench.place / "out.parquet").symlink_to(precious / "data.parquet")
    (bench.place / "out.parquet.lsprune.json").symlink_to(precious / "mine.txt")
    bench.case.run(bench.place, "out")
    assert (bench.place / "out.parquet").is_symlink()
    assert (precious / "data.parquet").read_bytes() == bench.whole["out.parquet"]
    assert (precious / "mine.txt").read_text() == "mine"
    assert bench.content("out") == bench.whole
    bench.resume()
    assert bench.content("out") == bench.whole


@pytest.mark.parametrize("bench", [FILE], ids=["file"], indirect=True)
def test_a_complete_output_is_no_reason_to_remove_the_folder_of_another(bench, precious):
    bench.case.run(bench.place, "out")
    precious.rename(bench.place / "out.parquet.lsprune-work")
    before = bench.content("out")
    bench.resume()
    assert bench.content("out") == before


@pytest.mark.parametrize("bench", [FOLDER], ids=["folder"], indirect=True)
def test_a_folder_without_its_marker_is_known_by_the_journal_and_the_manifest(bench, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("lsprune.outofcore.output.os.rename", stop)
        with pytest.raises(KeyboardInterrupt):
            bench.case.run(bench.place, "out", resume=True)
    assert not (bench.place / "out.lsprune-part" / MARKER).exists()
    bench.resume()
    assert bench.content("out") == bench.whole


@pytest.mark.parametrize("bench", [FILE, FOLDER], ids=["file", "folder"], indirect=True)
@pytest.mark.parametrize("name", ["in", "x.npy"])
def test_an_input_that_was_changed_in_between_is_refused(bench, name):
    bench.stop_after(bench.stages - 1)
    path = bench.place / name if name == "x.npy" else bench.place / f"in{bench.case.suffix}"
    path = path / "sub" / "2.parquet" if path.is_dir() else path
    if name == "x.npy":
        np.save(path, -np.load(path))
    else:
        table = parquet.read_table(path)
        parquet.write_table(table.take(np.arange(len(table))[::-1]), path)
    with pytest.raises(OptionError, match="must be as in the run that is continued"):
        bench.resume()
    assert bench.left()


def swap_rows(bench):
    """Give the input its rows in another order, with the size and time that it had; return which file."""
    path = bench.place / f"in{bench.case.suffix}"
    before = path.stat()
    header, *rows = path.read_text().splitlines(keepends=True)
    path.write_text(header + "".join(rows[::-1]))
    assert path.stat().st_size == before.st_size
    return path, before


@pytest.mark.parametrize("bench", [CASES[4]], ids=["text"], indirect=True)
def test_a_changed_input_with_the_same_size_and_time_is_not_mixed_with_what_it_was(bench):
    bench.stop_after(bench.stages - 1)  # the mask is complete
    path, before = swap_rows(bench)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "the input was touched since the run was stopped: beginning again" in bench.resume()
    resumed = bench.content("out")
    bench.remove("out")
    bench.case.run(bench.place, "out")
    assert bench.content("out") == resumed != bench.whole


@pytest.mark.parametrize("bench", [FILE, FOLDER, CASES[4], CASES[6]], ids=lambda case: case.name, indirect=True)
@pytest.mark.parametrize("resume", [False, True])
def test_an_input_that_is_changed_while_it_is_read_gives_no_output(bench, resume):
    def change(text):
        if text.startswith("writing"):
            path = bench.place / f"in{bench.case.suffix}"
            os.utime(path / "1.parquet" if path.is_dir() else path, ns=(1, 1))

    with pytest.raises(FormatError, match=r"in.*: was changed while it was read; prune it again"):
        bench.case.run(bench.place, "out", resume=resume, say=change)
    assert bench.content("out") == {}


@pytest.mark.parametrize("bench", [FOLDER, CASES[5]], ids=lambda case: case.name, indirect=True)
def test_a_file_that_is_removed_while_the_others_are_written_is_missed(bench):
    def remove(text):
        if text.startswith("writing sub" if bench.case is FOLDER else "writing out"):
            next(path for path in bench.place.rglob("*") if path.name in ("0.parquet", "out-ids.parquet")
                 and "in" not in path.parts).unlink()  # fmt: skip

    with pytest.raises(OptionError, match=r"\.parquet: is missing; it was changed by somebody; go on by --resume"):
        bench.case.run(bench.place, "out", say=remove)
    assert not bench.case.out(bench.place, "out").exists()
    bench.resume()
    assert bench.content("out") == bench.whole


@pytest.mark.parametrize("bench", [FILE], ids=["file"], indirect=True)
def test_a_single_output_that_is_removed_before_its_manifest_is_written_is_missed(bench, monkeypatch):
    def remove(*rest):
        bench.case.out(bench.place, "out").unlink()
        write(*rest)

    write = Manifest.write
    with monkeypatch.context() as patch, pytest.raises(OptionError, match=r"out\.parquet: is missing"):
        patch.setattr(Manifest, "write", remove)
        bench.case.run(bench.place, "out")
    bench.resume()
    assert bench.content("out") == bench.whole


@pytest.mark.parametrize("bench", [FILE], ids=["file"], indirect=True)
def test_two_processes_with_other_scratch_folders_do_not_write_one_output(bench, tmp_path):
    (tmp_path / "other").mkdir()

    def start_another(text):
        with pytest.raises(OptionError, match=r"another process is writing .*out\.parquet; wait for it"):
            bench.case.run(bench.place, "out", scratch=tmp_path / "other")
        calls.append(text)

    calls = []
    bench.case.run(bench.place, "out", say=start_another)
    assert calls
    assert bench.content("out") == bench.whole
    assert not list((tmp_path / "other").iterdir())
    assert not list(bench.place.glob(".lsprune-*"))


KILLER = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = {paths!r}
from faults import CASES
from lsprune.files import manifest
case = next(case for case in CASES if case.strings)
place, calls = Path({place!r}), []

def counting(function):
    def counted(*rest):
        calls.append(function)
        if len(calls) == int(out[-1]):
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*rest)
    return counted

manifest.Hashing.finish = counting(manifest.Hashing.finish)
manifest.Manifest.to_json = counting(manifest.Manifest.to_json)
for out in ("out1", "out2", "out3"):
    child = os.fork()
    if child == 0:
        case.run(place, out)
        os._exit(7)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a copy of the process")
@pytest.mark.parametrize("bench", [CASES[5]], ids=["ids"], indirect=True)
def test_a_resumed_run_removes_the_temporary_files_of_the_killed_one_and_no_others(bench):
    """Killed while the mapping (1), the output (2) and the manifest (3) are written."""
    script = KILLER.format(paths=[path for path in sys.path if path], place=str(bench.place))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    whole = parquet.read_table(io.BytesIO(bench.whole["out.parquet"]))
    for number in (1, 2, 3):
        left = 4 - number  # those of the others stay: a file that was written, and the lock of the output
        assert len(list(bench.place.glob(".lsprune-*-lock.tmp"))) == left
        assert len(list(bench.place.glob(".lsprune-*.tmp"))) == 2 * left
        bench.case.run(bench.place, f"out{number}", resume=True)
        assert verify(bench.place / f"out{number}.parquet").ok
        assert parquet.read_table(bench.place / f"out{number}.parquet") == whole
    assert not list(bench.place.glob(".lsprune-*"))
    assert not list(bench.place.glob("*.lsprune-work"))
