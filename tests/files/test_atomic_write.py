"""atomic_write: a file appears whole or not at all."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from lsprune.errors import OptionError
from lsprune.files import atomic_write as module
from lsprune.files.atomic_write import (
    atomic_folder,
    atomic_write,
    claimed,
    create_new,
    open_regular,
    open_to_append,
    remove_abandoned,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_content_arrives_only_when_the_block_ends(tmp_path: Path) -> None:
    out = tmp_path / "out.bin"
    with atomic_write(out) as handle:
        handle.write(b"whole")
        assert not out.exists()
    assert out.read_bytes() == b"whole"
    assert names(tmp_path) == ["out.bin"]


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_error_leaves_the_old_file_and_no_other(tmp_path: Path, kind: type[BaseException]) -> None:
    out = tmp_path / "out.bin"
    out.write_bytes(b"old")
    with pytest.raises(kind), atomic_write(out) as handle:
        handle.write(b"half")
        raise kind
    assert out.read_bytes() == b"old"
    assert names(tmp_path) == ["out.bin"]


def test_a_failing_rename_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("disk gone")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk gone"), atomic_write(tmp_path / "out.bin") as handle:
        handle.write(b"x")
    assert names(tmp_path) == []


def test_data_are_on_disk_before_the_rename_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def spy_fsync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def spy_replace(one: str, other: str) -> None:
        steps.append("rename")
        assert Path(one).read_bytes() == b"x"
        replace(one, other)

    monkeypatch.setattr(os, "fsync", spy_fsync)
    monkeypatch.setattr(os, "replace", spy_replace)
    with atomic_write(tmp_path / "out.bin") as handle:
        handle.write(b"x")
    assert steps == ["file", "rename", "folder"]


def test_mode_is_that_of_the_file_replaced(tmp_path: Path) -> None:
    out, plain = tmp_path / "out.bin", tmp_path / "plain.bin"
    out.write_bytes(b"old")
    out.chmod(0o640)
    with atomic_write(out) as handle:
        handle.write(b"new")
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    plain.write_bytes(b"")
    with atomic_write(tmp_path / "fresh.bin") as handle:
        handle.write(b"new")
    assert (tmp_path / "fresh.bin").stat().st_mode == plain.stat().st_mode


def test_a_link_keeps_pointing_at_its_file(tmp_path: Path) -> None:
    (tmp_path / "real.bin").write_bytes(b"old")
    (tmp_path / "link.bin").symlink_to("real.bin")
    with atomic_write(tmp_path / "link.bin") as handle:
        handle.write(b"new")
    assert (tmp_path / "link.bin").is_symlink()
    assert (tmp_path / "real.bin").read_bytes() == b"new"


def test_a_link_is_replaced_where_it_is_not_to_be_followed(tmp_path: Path) -> None:
    (tmp_path / "real.bin").write_bytes(b"old")
    (tmp_path / "link.bin").symlink_to("real.bin")
    with atomic_write(tmp_path / "link.bin", follow=False) as handle:
        handle.write(b"new")
    assert not (tmp_path / "link.bin").is_symlink()
    assert (tmp_path / "link.bin").read_bytes() == b"new"
    assert (tmp_path / "real.bin").read_bytes() == b"old"


def test_a_new_file_takes_the_place_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.bin").write_bytes(b"old")
    for target in ("real.bin", "absent"):
        (tmp_path / "link.bin").unlink(missing_ok=True)
        (tmp_path / "link.bin").symlink_to(target)
        with create_new(tmp_path / "link.bin") as handle:
            handle.write(b"new")
        assert not (tmp_path / "link.bin").is_symlink()
    assert (tmp_path / "real.bin").read_bytes() == b"old"
    assert names(tmp_path) == ["link.bin", "real.bin"]


@pytest.mark.parametrize("opened", [open_regular, open_to_append])
def test_links_pipes_and_folders_are_not_opened(tmp_path: Path, opened: Callable[[Path], BinaryIO]) -> None:
    (tmp_path / "real.bin").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real.bin")
    (tmp_path / "dangling").symlink_to("absent")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "dangling", "folder", "pipe"):
        with pytest.raises(OptionError, match=f"{name} is not a regular file; move it away"):
            opened(tmp_path / name)
    assert (tmp_path / "real.bin").read_bytes() == b"old"
    assert not (tmp_path / "absent").exists()


def test_only_the_temporary_files_of_dead_processes_and_of_this_file_are_removed(tmp_path: Path) -> None:
    def abandoned(path: Path) -> Path:
        """The temporary file of a process that was killed: nobody has it open."""
        before = set(tmp_path.iterdir())
        with atomic_write(path):
            (made,) = set(tmp_path.iterdir()) - before
            copy = made.with_name(made.name.replace(".tmp", "0.tmp"))
            copy.write_bytes(b"half")
        return copy

    mine, other = abandoned(tmp_path / "mine.csv"), abandoned(tmp_path / "other.csv")
    (tmp_path / "linked.csv").symlink_to("mine.csv")
    foreign = mine.with_name(mine.name.replace("0.tmp", "1.tmp"))
    foreign.symlink_to("other.csv")
    with atomic_write(tmp_path / "mine.csv") as handle:  # as of another process: a lock is of an open file
        alive = next(found for found in tmp_path.glob(f"{mine.name[:22]}*") if found not in (mine, foreign))
        assert remove_abandoned(tmp_path / "linked.csv") == [mine]
        handle.write(b"whole")
        assert alive.exists()
    assert (tmp_path / "mine.csv").read_bytes() == b"whole"
    assert other.exists()
    assert foreign.is_symlink()
    assert remove_abandoned(tmp_path / "absent" / "x.csv") == []


def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(OptionError, match="not a regular file"), atomic_write(path):
            raise AssertionError("the block must not run")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_a_claim_ends_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unlink = Path.unlink

    def interrupted(path: Path, missing_ok: bool = False) -> None:
        signal.raise_signal(signal.SIGINT)
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", interrupted)
    with pytest.raises(KeyboardInterrupt), claimed(tmp_path / "out.bin"):
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


def test_a_file_is_claimed_by_one_process_at_a_time(tmp_path: Path) -> None:
    out = tmp_path / "out.bin"
    with claimed(out):
        with pytest.raises(OptionError, match=r"another process is writing .*out\.bin; wait for it"), claimed(out):
            pass
        assert remove_abandoned(out) == []
        with claimed(tmp_path / "other.bin"):
            pass
    with claimed(out):  # it is free again
        (left,) = tmp_path.iterdir()
    left.touch()  # of a process that was killed
    with claimed(out):
        pass
    assert names(tmp_path) == []


def test_an_interrupt_while_a_file_is_locked_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    for block in (claimed, atomic_write):
        monkeypatch.setattr(module.fcntl, "flock", stop)
        with pytest.raises(KeyboardInterrupt), block(tmp_path / "out.bin"):
            pass
        assert names(tmp_path) == []


def test_a_lock_that_was_removed_before_it_was_held_is_that_of_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_process(*_: object) -> None:
        monkeypatch.undo()
        for path in tmp_path.iterdir():
            path.unlink()

    monkeypatch.setattr(module.fcntl, "flock", other_process)
    with pytest.raises(OptionError, match="another process is writing"), claimed(tmp_path / "out.bin"):
        pass


def test_a_folder_appears_whole_or_not_at_all_and_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt), atomic_folder(out) as folder:
        folder.mkdir()
        (left,) = tmp_path.iterdir()
        raise KeyboardInterrupt
    assert names(tmp_path) == []
    for path in (left, tmp_path / ".lsprune-mine.tmp"):
        path.mkdir()
        (path / "part").touch()
    with atomic_folder(out) as folder:
        assert not left.exists()
        folder.mkdir()
        (folder / "part").write_bytes(b"whole")
        with pytest.raises(ValueError, match="stop"), atomic_folder(out):
            raise ValueError("stop")
        assert folder.exists()  # it belongs to a process that lives
        assert not out.exists()
    assert names(out) == ["part"]
    assert names(tmp_path) == [".lsprune-mine.tmp", "out"]
