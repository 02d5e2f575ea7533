"""Files that appear whole or not at all: a temporary file in the same folder, fsync, rename.

A temporary file has a random name that also says which file it becomes, and is locked while its process lives. What a
killed process left behind can so be told from the work of another one.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

from lsprune.errors import OptionError
from lsprune.kernels.held_signals import held_signals

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, follow: bool = True) -> Iterator[BinaryIO]:
    """Give a binary file handle whose content becomes `path` when the block ends without an error.

    On any error the temporary file is removed and an existing file at `path` stays as it was. The mode of a replaced
    file is kept.

    Args:
        follow: a symbolic link at `path` keeps pointing at the file that it names, which is replaced. For files whose
            names a user did not choose, False: the link itself is replaced, and what it names stays as it is.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "out.bin") as handle:
    ...         _ = handle.write(b"whole")
    ...     (Path(folder) / "out.bin").read_bytes()
    b'whole'
    """
    final = _final(path, follow)
    mode = _mode(final)
    temporary, lock = final.with_name(f"{_prefix(final)}{secrets.token_hex(8)}.tmp"), None
    try:
        descriptor, lock = _create_locked(temporary)  # from here on Ctrl-C finds the name of what it has to remove
        with os.fdopen(descriptor, "w+b") as handle:
            yield handle
            handle.flush()
            if mode is not None:
                temporary.chmod(mode)
            os.fsync(handle.fileno())
        temporary.replace(final)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    finally:
        if lock is not None:
            os.close(lock)
    sync_folder(final.parent)


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path at which to make a folder that becomes `path` when the block ends without an error.

    What killed processes left of the same folder is removed first, and on any error so is this one.
    """
    final = _final(path, follow=False)
    for left in sorted(final.parent.glob(f"{_prefix(final)}*.tmp")):
        if left.is_dir() and not left.is_symlink():
            with suppress(OSError), _folder_descriptor(left) as descriptor:
                _remove_folder_if_free(left, descriptor)
    temporary = final.with_name(f"{_prefix(final)}{secrets.token_hex(8)}.tmp")
    temporary.mkdir()
    try:
        with _folder_descriptor(temporary) as descriptor:
            _lock(descriptor)
            yield temporary / "content"
            (temporary / "content").rename(final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    sync_folder(final.parent)


@contextmanager
def _folder_descriptor(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | _NO_FOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _remove_folder_if_free(folder: Path, descriptor: int) -> None:
    if fcntl is not None and _lock(descriptor):
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def claimed(path: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other processes from writing a file and what belongs to it until the block ends; OptionError if one does.

    The lock is a temporary file beside the file. One that a killed process left is free.
    """
    if fcntl is None:
        yield
        return
    final = _final(path, follow=True)
    lock = final.with_name(f"{_prefix(final)}lock.tmp")
    descriptor = None
    try:
        with held_signals():  # Ctrl-C before the file has its descriptor, or while it is removed, would leave it behind
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | _NO_FOLLOW, 0o666)
        if not _holds(descriptor, lock):
            raise OptionError(f"another process is writing {path}; wait for it")
        yield
    finally:
        with held_signals():
            if descriptor is not None:
                if _holds(descriptor, lock):
                    lock.unlink(missing_ok=True)
                os.close(descriptor)


def _holds(descriptor: int, path: Path) -> bool:
    """Return whether an open file is now locked by this process, and still has its path."""
    return _lock(descriptor) and is_open_at(descriptor, path)


def _lock(descriptor: int) -> bool:
    """Lock an open file or folder; return False if another process has. A file system without locks has no others."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def is_open_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file or folder still has this path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def create_new(path: Path) -> BinaryIO:
    """Return a new binary file to write and read, in the place of a file that is there; no link is followed."""
    path.unlink(missing_ok=True)
    return os.fdopen(_create(path), "w+b")


def open_regular(path: Path) -> BinaryIO:
    """Return an existing file, for reading; OptionError if it is a symbolic link or anything but a regular file."""
    _refuse_irregular(path)
    return os.fdopen(os.open(path, os.O_RDONLY | _NO_FOLLOW), "rb")


def open_to_append(path: Path) -> BinaryIO:
    """Return a file, new or not, to append to; OptionError as by `open_regular`."""
    if os.path.lexists(path):
        _refuse_irregular(path)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NO_FOLLOW, 0o666), "ab")


def _refuse_irregular(path: Path) -> None:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OptionError(f"{path} is not a regular file; move it away")


def remove_abandoned(path: str | os.PathLike[str], *, follow: bool = True) -> list[Path]:
    """Remove the temporary files of `path` that killed processes left behind; return which ones.

    Those of other files, and those that a process is still writing, stay.
    """
    final = _final(path, follow)
    if fcntl is None or not final.parent.is_dir():  # nothing tells whether their process lives
        return []
    return [path for path in sorted(final.parent.glob(f"{_prefix(final)}*.tmp")) if _remove_unlocked(path)]


def _remove_unlocked(path: Path) -> bool:
    try:
        with open_regular(path) as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    except (OSError, OptionError):  # locked, gone, or not ours
        return False
    return True


def _final(path: str | os.PathLike[str], follow: bool) -> Path:
    """Return where the file will be: links to folders are followed, a link to the file only with `follow`."""
    if follow:
        return Path(os.path.realpath(path))
    path = Path(path)
    return Path(os.path.realpath(path.parent)) / path.name


def _prefix(final: Path) -> str:
    """Return how the names of the temporary files of a file begin; a digest, for the name itself may be too long."""
    return f".lsprune-{hashlib.sha256(os.fsencode(final.name)).hexdigest()[:12]}-"


def _create_locked(path: Path) -> tuple[int, int | None]:
    """Create a temporary file; return its descriptor and its lock."""
    while True:
        descriptor = _create(path)
        try:
            lock = _locked_copy(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        if path.exists():
            return descriptor, lock
        os.close(descriptor)  # another process took it for abandoned before it was locked
        if lock is not None:
            os.close(lock)


def _create(path: Path) -> int:
    # Not tempfile.mkstemp: its files are private to the user, and this one is to have the mode any new file gets.
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o666)


def _locked_copy(descriptor: int) -> int | None:
    """Return a second descriptor of an open file that is now locked: the lock lasts until both are closed."""
    if fcntl is None:
        return None
    _lock(descriptor)
    return os.dup(descriptor)


def _mode(path: Path) -> int | None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        return None
    if not stat.S_ISREG(mode):  # a rename would put a plain file in the place of a device, pipe or folder
        raise OptionError(f"{path} is not a regular file and is not replaced")
    return stat.S_IMODE(mode)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk."""
    if os.name == "nt":  # folders cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
