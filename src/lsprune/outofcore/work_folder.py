"""The work folder of a run: the files of its stages, and a journal of the stages that are complete.

The files of a stage are on the disk before the journal lists it. A run that was killed is resumed from the journal, and
what it does not list is computed again. The journal holds the size and CRC-32 of every file, and a digest of itself: a
file that has changed is computed again, and a damaged journal is an error.

A symbolic link, or a folder that lsprune did not create, is never used as a work folder: it is an error.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

from lsprune.errors import FormatError, OptionError
from lsprune.files.atomic_write import atomic_write, create_new, is_open_at, open_regular
from lsprune.files.npy import write_header
from lsprune.graph import Array
from lsprune.kernels.file_arrays import reserve
from lsprune.outofcore.append_file import AppendFile, map_rows

JOURNAL = "journal.json"
_READ_BYTES = 1 << 20  # bytes that are read at a time to check a file
_DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT)
_TASK, _MARKS = "task", "marks"  # what the journal has besides stages
_INTERRUPTIONS = (OSError, KeyboardInterrupt)
Checksum = list[int]  # bytes and CRC-32 of a file; a list, as JSON has no tuples


class Disturbed(OptionError):
    """Somebody changed the files of a run while it worked; it can be resumed when that is put right."""


class InTheWay(Disturbed):
    """A file or folder that lsprune did not create has a name that it needs; a run can be resumed without it."""


@dataclass(eq=False)
class Work:
    """An open work folder."""

    folder: Path
    done: dict[str, Any] = field(default_factory=dict)  # the result of each stage that the journal lists
    files: dict[str, dict[str, Checksum]] = field(default_factory=dict)  # of each of these stages
    open: dict[str, Any] = field(default_factory=dict)
    fresh: bool = True  # no earlier run is resumed
    say: Callable[[str], None] = lambda text: None
    _append_files: dict[str, AppendFile] = field(default_factory=dict)
    _checked: set[str] = field(default_factory=set)  # stages whose files were compared with their checksums

    def create(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> Array:
        """Return a new array of zeros with this name, its space reserved on the disk."""
        self.open[name] = new_array(self._path(name), (shape,) if isinstance(shape, int) else shape, dtype)
        return np.asarray(self.open[name])

    def array(self, name: str) -> Array:
        """Return the array with this name; if an earlier run wrote it, call `has` with its stage first."""
        if name not in self.open:
            self.open[name] = np.lib.format.open_memmap(self._path(name), mode="r+")
        return np.asarray(self.open[name])

    def append_file(self, name: str, dtype: Any, shape: tuple[int, ...] = ()) -> AppendFile:
        """Return a new file with this name, to append rows to."""
        self._append_files[name] = AppendFile(self.folder / name, dtype, shape)
        return self._append_files[name]

    def appended(self, name: str, dtype: Any, shape: tuple[int, ...] = ()) -> Array:
        """Return the rows of a complete file."""
        return map_rows(self.folder / name, dtype, shape)

    def drop(self, *names: str) -> None:
        """Remove arrays and files of rows that are no longer needed."""
        for name in names:
            self.open.pop(name, None)
            for path in (self._path(name), self.folder / name):
                path.unlink(missing_ok=True)

    def finish(self, stage: str, result: Any, *names: str) -> None:
        """Write the named arrays and files to the disk, then list the stage and its result in the journal."""
        self.files[stage] = dict(self._written(name) for name in names)
        self.done[stage] = result
        self._checked.add(stage)
        self._write_journal()

    def has(self, stage: str) -> bool:
        """Return whether a stage is complete and its files have not changed; if they have, forget the stage."""
        if stage in self.done and stage not in self._checked:
            for name, checksum in self.files.get(stage, {}).items():
                if _checksum_or_none(self.folder / name) != checksum:
                    self.say(f"{self.folder / name} has changed since it was written; it is made again")
                    self.forget(stage)
                    return False
            self._checked.add(stage)
        return stage in self.done

    def close(self) -> None:
        """Close all arrays and files, those that an error left incomplete too."""
        self.open.clear()
        for file in self._append_files.values():
            file.handle.close()
        self._append_files.clear()

    def stays(self, error: BaseException, resume: bool) -> bool:
        """Return whether the folder stays after an error: the disk was full, or a stopped run can be resumed.

        SIGTERM (SystemExit in the command line) is how systems stop what they will start again; Ctrl-C means it.
        """
        full = isinstance(error, OSError) and error.errno in _DISK_FULL_ERRORS
        disturbed = isinstance(error, Disturbed) and bool(self.done.keys() - {_TASK, _MARKS})
        return full or disturbed or isinstance(error, SystemExit) or (resume and isinstance(error, _INTERRUPTIONS))

    def check_marks(self, marks: Any) -> None:
        """Forget all stages if the input has other marks than when they were computed."""
        if self.done.get(_MARKS) == marks:
            return
        self.say("the input was touched since the run was stopped: beginning again")
        self.done[_MARKS] = marks
        self.forget(*(self.done.keys() - {_TASK, _MARKS}))

    def forget(self, *stages: str) -> None:
        """Remove these stages from the journal."""
        for stage in stages:
            self.done.pop(stage, None)
            self.files.pop(stage, None)
            self._checked.discard(stage)
        self._write_journal()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npy"

    def _written(self, name: str) -> tuple[str, Checksum]:
        """Write an array or appended rows to the disk; return the name of the file and its checksum."""
        if name in self._append_files:
            file = self._append_files.pop(name)
            file.close()
            return name, [file.size, file.crc]
        self.open[name].flush()
        return self._path(name).name, _checksum(self._path(name))

    def _write_journal(self) -> None:
        with atomic_write(self.folder / JOURNAL, follow=False) as handle:
            handle.write(_journal(self.done, self.files))

    @property
    def scratch(self) -> Path:
        """The folder of temporary arrays, which have no name."""
        make_folder(self.folder / "scratch")
        return self.folder / "scratch"


def new_array(path: Path, shape: tuple[int, ...], dtype: Any) -> np.memmap[Any, Any]:
    """Create a `.npy` file of zeros, its space reserved on the disk, and return it as an array; replace a link."""
    kind = np.dtype(dtype)
    with create_new(path) as handle:
        write_header(handle, shape, kind)
        handle.flush()
        reserve(handle.fileno(), handle.tell() + int(np.prod(shape, dtype=np.int64)) * kind.itemsize)
    return np.lib.format.open_memmap(path, mode="r+")


@contextmanager
def working(
    folder: Path, task: dict[str, Any], *, resume: bool, say: Callable[[str], None] = lambda text: None,
    marks: Any = None,
) -> Iterator[Work]:  # fmt: skip
    """Yield the work folder of a task, and remove it at the end.

    The folder stays if a run can be resumed: after a full disk, and with `resume` after any interruption. Other errors
    (a wrong option, a bad file) leave nothing.

    Args:
        task: all options of the run; a run with other options cannot be resumed.
        resume: resume an interrupted run if there is one.
        say: called with a line of text for each damaged file, which is written again, and after an interruption.
        marks: of the input, as plain data. With other marks than before, a run is not resumed but begins again.
    """
    new = make_folder(folder)
    with removed_if_empty(folder, new), locked(folder):  # a run of another process that still works is not resumed
        work, owned = Work(folder), new
        try:
            work = _opened(folder, json.loads(json.dumps(task)), marks, new, resume)
            work.say, owned = say, True
            work.check_marks(marks)
            yield work
            work.close()
            with suppress(FileNotFoundError):  # somebody has removed it
                remove_folder(folder, JOURNAL)
        except BaseException as error:
            work.close()
            if owned and not work.stays(error, resume):
                remove_folder(folder, JOURNAL, ignore_errors=True)
            elif owned and isinstance(error, SystemExit | KeyboardInterrupt):
                say(f"{folder} holds what is done: the same command with --resume (resume=True) continues the run")
            raise


@contextmanager
def removed_if_empty(folder: Path, new: bool) -> Iterator[None]:
    """Remove a new folder again if the block is interrupted before it has written anything there."""
    try:
        yield
    except BaseException:
        if new:
            with suppress(OSError):
                folder.rmdir()
        raise


def make_folder(folder: Path) -> bool:
    """Create a folder if it does not exist; return whether it is new. Raise InTheWay for a link or file of its name."""
    while True:
        try:
            folder.mkdir()
        except FileExistsError:
            if folder.is_dir() and not folder.is_symlink():
                return False
            if os.path.lexists(folder):  # else another process has just removed it
                raise InTheWay(
                    f"{folder} is in the way: lsprune has to create a folder of this name; move it away"
                ) from None
        else:
            return True


def refuse_links(folder: Path) -> None:
    """Raise InTheWay if a folder has a symbolic link at any depth: files must not be written outside of the folder."""
    for path in folder.rglob("*"):
        if path.is_symlink():
            raise InTheWay(f"{path} is a symbolic link, which lsprune does not make there; remove it")


def refuse_foreign(folder: Path, *markers: str) -> None:
    """Raise InTheWay if a folder has files, but none of these markers: lsprune did not create it."""
    names = {path.name for path in folder.iterdir()}
    if not names & set(markers) and any(not _is_temporary(name) for name in names):
        raise InTheWay(
            f"{folder} is in the way: its content was not written by lsprune, or is damaged; move it away or remove it"
        )


def remove_folder(folder: Path, marker: str, *, ignore_errors: bool = False, keep: bool = False) -> None:
    """Remove a folder with its content, the marker last, so that an interrupted removal can be repeated.

    With `keep` the folder and the marker stay. Symbolic links are removed, not their targets.
    """
    with suppress(OSError) if ignore_errors else nullcontext():
        for path in folder.iterdir():
            if path.name == marker:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    if not keep:
        shutil.rmtree(folder, ignore_errors=ignore_errors)


def remove_finished(folder: Path, task: dict[str, Any]) -> None:
    """Remove the work folder of a task whose output is complete; a folder of another task stays."""
    if not folder.is_dir() or folder.is_symlink():
        return
    with locked(folder):
        if not any(folder.iterdir()):  # killed after the journal was removed
            folder.rmdir()
        if not (folder / JOURNAL).is_file():
            return
        try:
            done, _ = _read(folder)
        except FormatError:
            return
        if done["task"] == json.loads(json.dumps(task)):
            remove_folder(folder, JOURNAL)


def check_locks() -> None:
    """Raise OptionError on a system that cannot lock folders (Windows)."""
    if fcntl is None:
        raise OptionError(
            "streaming must run on Linux or macOS, got a system without fcntl: folders cannot be locked there; prune "
            "in memory (without --stream), or in the Windows Subsystem for Linux"
        )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes; the lock ends with the process."""
    busy = OptionError(f"another process is at work in {folder}; wait for it")
    try:
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0))
    except FileNotFoundError:  # another process has just removed it
        raise busy from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise busy from None
        if not is_open_at(handle, folder):  # it was removed before it was locked
            raise busy
        yield
    finally:
        os.close(handle)


def _opened(folder: Path, task: dict[str, Any], marks: Any, new: bool, resume: bool) -> Work:
    if not new:
        refuse_links(folder)
        refuse_foreign(folder, JOURNAL)
    if (folder / JOURNAL).exists() and not resume:
        raise OptionError(
            f"{folder} is left from an interrupted run; continue it with --resume (resume=True), or remove it"
        )
    if new or not (folder / JOURNAL).exists():  # no journal: stopped before the first stage
        work = Work(folder, {} if marks is None else {_MARKS: marks})
        work.finish(_TASK, task)
        return work
    return _resumed(folder, task)


def _resumed(folder: Path, task: dict[str, Any]) -> Work:
    done, files = _read(folder)
    before = done["task"]
    for name in sorted({*before, *task}):
        if before.get(name) != task.get(name):
            then, now = _difference(before.get(name), task.get(name))
            raise OptionError(
                f"{name} must be as in the run that is continued: {then} then, {now} now;"
                f" remove {folder} to begin again"
            )
    return Work(folder, done, files, fresh=False)


def _journal(done: dict[str, Any], files: dict[str, dict[str, Checksum]]) -> bytes:
    """Return the text of a journal, which ends with a digest of its content."""
    content = {"done": done, "files": files}
    return json.dumps({**content, "sha256": _digest(content)}).encode()


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, dict[str, Checksum]]]:
    """Return the results and the files of the stages in a journal; raise FormatError if it is damaged."""
    with open_regular(folder / JOURNAL) as handle:
        text = handle.read()
    try:
        content = json.loads(text)
        if content.pop("sha256") == _digest(content) and isinstance(content["done"]["task"], dict):
            return content["done"], content["files"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise FormatError(f"{folder / JOURNAL} is damaged, or not a journal of lsprune; remove {folder} to begin again")


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _checksum(path: Path) -> Checksum:
    size, crc, block = 0, 0, memoryview(bytearray(_READ_BYTES))
    with open_regular(path) as handle:
        while count := handle.readinto(block):  # type: ignore[attr-defined]
            size, crc = size + count, zlib.crc32(block[:count], crc)
    return [size, crc]


def _checksum_or_none(path: Path) -> Checksum | None:
    """Return the checksum of a file; None if it is missing or cannot be read."""
    try:
        return _checksum(path)
    except OSError:
        return None


def _is_temporary(name: str) -> bool:
    return name.startswith(".lsprune-") and name.endswith(".tmp")


def _difference(then: Any, now: Any) -> tuple[str, str]:
    """Return the first difference of two values, as text."""
    if isinstance(then, dict) and isinstance(now, dict):
        name = next(name for name in sorted({*then, *now}) if then.get(name) != now.get(name))
        return f"{name}={then.get(name)!r}", f"{name}={now.get(name)!r}"
    if isinstance(then, list) and isinstance(now, list):
        pairs = zip([*then, None], [*now, None], strict=False)
        then, now = next((before, after) for before, after in pairs if before != after)
    return repr(then), repr(now)
