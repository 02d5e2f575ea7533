"""The folder in which a long piece of work keeps what it has done: named arrays, and a journal of what is complete.

Everything in the journal is on the disk before the journal says so. A run that was killed goes on from there; whatever
the journal does not name is made again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

from lsprune.adapters.atomic import atomic_write
from lsprune.adapters.files.npy import check_size, read_header
from lsprune.errors import FormatError, OptionError
from lsprune.graph import Array
from lsprune.kernels.scratch import reserve

JOURNAL = "journal.json"


@dataclass(eq=False)
class Work:
    """A work folder that is open; `done` is what its journal says."""

    folder: Path
    done: dict[str, Any] = field(default_factory=dict)
    open: dict[str, Any] = field(default_factory=dict)
    fresh: bool = True  # nothing was there to go on with

    def create(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> Array:
        """A new array of zeros under this name, its space reserved on the disk."""
        path = self.folder / f"{name}.npy"
        path.unlink(missing_ok=True)
        made = np.lib.format.open_memmap(
            path, mode="w+", dtype=np.dtype(dtype), shape=(shape,) if isinstance(shape, int) else shape
        )
        handle = os.open(path, os.O_RDWR)
        try:
            reserve(handle, path.stat().st_size)
        finally:
            os.close(handle)
        self.open[name] = made
        return np.asarray(made)

    def array(self, name: str) -> Array:
        """The array that an earlier run made under this name."""
        if name not in self.open:
            path = self.folder / f"{name}.npy"
            try:
                with path.open("rb") as handle:  # numpy would make a file that is cut short longer again
                    check_size(read_header(handle, name), path.stat().st_size, name)
            except (FormatError, FileNotFoundError) as error:
                raise FormatError(f"{path}: damaged ({error}); remove {self.folder} to begin again") from None
            self.open[name] = np.lib.format.open_memmap(path, mode="r+")
        return np.asarray(self.open[name])

    def drop(self, *names: str) -> None:
        """Remove arrays that are not needed any more."""
        for name in names:
            self.open.pop(name, None)
            (self.folder / f"{name}.npy").unlink(missing_ok=True)

    def finish(self, stage: str, result: Any, *names: str) -> None:
        """Note that a stage is complete, with its result, once the named arrays are on the disk."""
        for name in names:
            self.open[name].flush()
        self.done[stage] = result
        self._note()

    def stays(self, error: BaseException, resume: bool) -> bool:
        """Whether the folder is of use after an error: the disk was full, or the run was stopped and may go on."""
        full = isinstance(error, OSError) and error.errno in _FULL
        return full or (resume and isinstance(error, OSError | KeyboardInterrupt))

    def forget(self, prefix: str) -> None:
        """Take back that the stages whose names begin so are complete."""
        self.done = {stage: result for stage, result in self.done.items() if not stage.startswith(prefix)}
        self._note()

    def _note(self) -> None:
        with atomic_write(self.folder / JOURNAL) as handle:
            handle.write(json.dumps({**self.done, "sha256": _digest(self.done)}).encode())

    @property
    def scratch(self) -> Path:
        """A folder for nameless arrays."""
        path = self.folder / "scratch"
        path.mkdir(exist_ok=True)
        return path


@contextmanager
def working(folder: Path, task: dict[str, Any], *, resume: bool) -> Iterator[Work]:
    """The work folder of a task, removed at the end.

    It stays where going on may help: after a full disk, and with `resume` after any stop. What cannot be mended by
    going on (a wrong option, a bad file) leaves nothing.

    Args:
        task: what is done, to the last option: going on with anything else is refused.
        resume: go on from where an earlier run stopped; without one, begin.
    """
    if folder.exists():
        with locked(folder):  # another process that is at work is to be waited for, not to be continued
            pass
    work = _opened(folder, task, resume)
    with locked(folder):
        try:
            yield work
        except BaseException as error:
            work.open.clear()
            if not work.stays(error, resume):
                shutil.rmtree(folder, ignore_errors=True)
            raise
    work.open.clear()
    shutil.rmtree(folder)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A block in which no other process may work in a folder; the lock goes with the process, however it ends."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise OptionError(f"another process is at work in {folder}; wait for it") from None
        yield
    finally:
        os.close(handle)


_FULL = (errno.ENOSPC, errno.EDQUOT)


def _opened(folder: Path, task: dict[str, Any], resume: bool) -> Work:
    plain = json.loads(json.dumps(task))
    try:
        folder.mkdir()
    except FileExistsError:
        if not resume:
            raise OptionError(
                f"{folder} is left from a run that was stopped; go on with it by --resume (resume=True), or remove it"
            ) from None
        return _continued(folder, plain)
    work = Work(folder)
    work.finish("task", plain)
    return work


def _continued(folder: Path, task: dict[str, Any]) -> Work:
    journal = folder / JOURNAL
    if not journal.exists():  # stopped before it began
        work = Work(folder)
        work.finish("task", task)
        return work
    done = _read_journal(journal)
    before = done["task"]
    for name in sorted({*before, *task}):
        if before.get(name) != task.get(name):
            then, now = _difference(before.get(name), task.get(name))
            raise OptionError(
                f"{name} must be as in the run that is continued: {then} then, {now} now;"
                f" remove {folder} to begin again"
            )
    return Work(folder, done, fresh=False)


def _read_journal(path: Path) -> dict[str, Any]:
    """What a journal says is done; FormatError where it is not as it was written."""
    try:
        done = json.loads(path.read_bytes())
        if done.pop("sha256") != _digest(done):
            raise ValueError
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise FormatError(
            f"{path}: not a journal of lsprune, or damaged; remove {path.parent} to begin again"
        ) from None
    return dict(done)


def _digest(done: dict[str, Any]) -> str:
    """A digest of what a journal says: whatever is read with it has the shape in which it was written."""
    return hashlib.sha256(json.dumps(done, sort_keys=True).encode()).hexdigest()


def _difference(then: Any, now: Any) -> tuple[str, str]:
    """The first place in which two values differ, shortly."""
    if isinstance(then, dict) and isinstance(now, dict):
        name = next(name for name in sorted({*then, *now}) if then.get(name) != now.get(name))
        return f"{name}={then.get(name)!r}", f"{name}={now.get(name)!r}"
    if isinstance(then, list) and isinstance(now, list):
        pairs = zip([*then, None], [*now, None], strict=False)
        then, now = next((one, other) for one, other in pairs if one != other)
    return repr(then), repr(now)
