"""atomic_write: a file appears whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lsprune.adapters.atomic import atomic_write
from lsprune.errors import OptionError


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


def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(OptionError, match="not a regular file"), atomic_write(path):
            raise AssertionError("the block must not run")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
