"""Run `lsprune` commands in processes of their own that get a signal at a chosen step or time.

Starting Python takes a second or two, so that commands are copies (forks) of a process that has everything imported
and compiled. A *step* is a change on disk that a command is about to make: a file or folder is created, renamed or
removed, rows are written, a file is synced, reserved or locked. A signal before every step finds every state in which
a killed command can leave its files.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import soak
from soak.check import Broken, expect

MAX_SECONDS = 120.0  # of a command on one of our small files: more means that it hangs
_ROOT = Path(soak.__file__).resolve().parents[1]
_CHANGES = {  # audit events, which Python raises before the system is called
    "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "fcntl.flock", "mmap.__new__",
}  # fmt: skip
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass(frozen=True)
class Fault:
    """A signal that a command gets right before a step (1 is the first), or after some seconds."""

    signal: int
    step: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Ended:
    """What a command left: its exit code (minus the signal that ended it), what it said, and the steps it took."""

    code: int
    out: str
    err: str
    steps: int
    seconds: float

    @property
    def last_line(self) -> str:
        """The last line on standard error."""
        return (self.err.splitlines() or [""])[-1]


@cache
def _server() -> Any:
    """Return the context whose processes are copies of a warm one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["soak.warm_up"])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(_ROOT), *(path for path in sys.path if path)])
    try:
        from multiprocessing.forkserver import ensure_running

        ensure_running()
    finally:
        os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)
    return context


@dataclass
class Running:
    """A command that was started in a folder."""

    process: Any
    notes: Path  # where its output and the number of its steps go
    fault: Fault | None
    begun: float = field(default_factory=time.perf_counter)

    def stopped(self) -> bool:
        """Wait until the command is stopped by SIGSTOP; return False if it ended before."""
        while self.process.is_alive():
            if _state(self.process.pid) == "T":
                return True
            self._refuse_to_hang()
            time.sleep(0.001)
        return False

    def go_on(self) -> None:
        """Continue a command that was stopped."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGCONT)

    def end(self) -> Ended:
        """Wait for the command, and return what it left; raise Broken if a process that it started lives on."""
        if self.fault is not None and not self.fault.step:
            while self.process.is_alive() and not (self.notes / "begun").exists():
                self._refuse_to_hang()
                time.sleep(0.001)
            self.process.join(self.fault.seconds)
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, self.fault.signal)
        self.process.join(MAX_SECONDS)
        seconds = time.perf_counter() - self.begun
        if self.process.is_alive():
            self._refuse_to_hang(0.0)
        _refuse_orphans(self.process.pid)
        steps = self.notes / "steps"
        return Ended(
            self.process.exitcode, (self.notes / "out").read_text(), (self.notes / "err").read_text(),
            int(steps.read_text() or 0) if steps.exists() else 0, seconds,  # empty: killed while it was written
        )  # fmt: skip

    def _refuse_to_hang(self, limit: float = MAX_SECONDS) -> None:
        if time.perf_counter() - self.begun > limit:
            os.kill(self.process.pid, signal.SIGKILL)
            raise Broken(f"the command did not end within {MAX_SECONDS:.0f} s")


def start(words: Sequence[object], folder: Path, notes: Path, fault: Fault | None = None) -> Running:
    """Start a command in a folder; what it says goes to the folder `notes`."""
    notes.mkdir(exist_ok=True)
    for name in ("steps", "begun"):
        (notes / name).unlink(missing_ok=True)
    for name in ("out", "err"):
        (notes / name).write_bytes(b"")
    process = _server().Process(target=_command, args=([str(word) for word in words], folder, notes, fault))
    process.start()
    return Running(process, notes, fault)


def run(words: Sequence[object], folder: Path, notes: Path, fault: Fault | None = None) -> Ended:
    """Run a command in a folder to its end."""
    return start(words, folder, notes, fault).end()


def random_fault(rng: Any, number: int, whole: Ended) -> Fault:
    """Return a signal at a random step or time of a run like `whole`."""
    if rng.random() < 0.25:
        return Fault(number, seconds=float(rng.uniform(0, whole.seconds)))
    return Fault(number, step=int(rng.integers(1, whole.steps + 1)))


def _command(words: list[str], folder: Path, notes: Path, fault: Fault | None) -> None:
    """Be the command, in a process of its own."""
    os.setsid()  # a group by which processes that it starts are known
    os.chdir(folder)
    for name, descriptor in (("out", 1), ("err", 2)):
        os.dup2(os.open(notes / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    _use_small_pieces()
    from lsprune.cli import main

    (notes / "begun").touch()
    taken = _count_steps(folder, fault)
    sys.argv = ["lsprune", *words]
    try:
        main()
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):  # what follows is not of the command
            signal.signal(number, signal.SIG_IGN)
        sys.stdout.flush()
        sys.stderr.flush()
        taken[1] = -1
        (notes / "steps").write_text(json.dumps(taken[0]))


def _use_small_pieces() -> None:
    """Read a few edges at a time and put all arrays into files, as a graph larger than memory does."""
    from lsprune.kernels import file_arrays
    from lsprune.outofcore import memory_ceiling

    memory_ceiling.MIN_BATCH_ROWS = memory_ceiling.MAX_BATCH_ROWS = 64
    file_arrays.MIN_FILE_BYTES = 1


def _count_steps(folder: Path, fault: Fault | None) -> list[int]:
    """Count the steps of this process from now on; at that of the fault it gets the signal. Return the counter."""
    taken, root = [0, 0], str(folder)

    def step() -> None:
        taken[0] += 1
        if fault is not None and taken[0] == fault.step and not taken[1]:
            os.kill(os.getpid(), fault.signal)

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITES and _is_within(path, root):
                step()
        elif event in _CHANGES:
            step()

    sys.addaudithook(watch)
    for owner, name in _unaudited():
        setattr(owner, name, _stepping(getattr(owner, name), step))
    return taken


def _is_within(path: Any, root: str) -> bool:
    """Return whether a path is not one elsewhere, such as that of a compiled kernel."""
    if isinstance(path, int):
        return False
    return not Path(os.fsdecode(path)).is_absolute() or os.fsdecode(path).startswith(root)


def _unaudited() -> list[tuple[Any, str]]:
    """Return the functions that change something on disk without an audit event."""
    from lsprune.files.manifest import Hashing
    from lsprune.outofcore.append_file import AppendFile

    return [(os, "fsync"), (os, "posix_fallocate"), (Hashing, "write"), (AppendFile, "add")]


def _stepping(function: Callable[..., Any], step: Callable[[], None]) -> Callable[..., Any]:
    """Return the function with a step before and after; what it wrote is then on its way to the disk."""

    def called(*args: Any) -> Any:
        step()
        result = function(*args)
        handle = getattr(args[0], "handle", getattr(args[0], "_handle", None))
        if handle is not None:
            handle.flush()
        step()
        return result

    return called


def _state(pid: int) -> str:
    """Return the letter by which the system tells whether a process runs (R, S, D), is stopped (T) or dead (Z)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except (ProcessLookupError, PermissionError):
        return 0


def _refuse_orphans(group: int) -> None:
    """Raise Broken if a process of a group lives on for more than a few seconds."""
    end = time.perf_counter() + 30
    while True:
        found = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        alive = [pid for pid in found if _group_of(pid) == group and _state(pid) != "Z"]
        if not alive:
            return
        expect(time.perf_counter() < end, f"{len(alive)} processes of a command that has ended live on")
        time.sleep(0.01)
