"""Files that appear whole or not at all: a temporary file in the same folder, fsync, rename (EVIDENCE §6)."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from lsprune.errors import OptionError


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file handle whose content becomes `path` when the block ends without an error.

    On any error the temporary file is removed and an existing file at `path` stays as it was. The mode of a replaced
    file is kept, and a symbolic link keeps pointing at the file that it names.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "out.bin") as handle:
    ...         _ = handle.write(b"whole")
    ...     (Path(folder) / "out.bin").read_bytes()
    b'whole'
    """
    final = Path(os.path.realpath(path))
    mode = _mode(final)
    temporary = final.with_name(f".lsprune-{secrets.token_hex(8)}.tmp")
    # Not tempfile.mkstemp: its files are private to the user, and this one is to have the mode any new file gets.
    descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
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
    _sync_folder(final.parent)


def _mode(path: Path) -> int | None:
    try:
        found = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):  # a rename would put a plain file in the place of a device, pipe or folder
        raise OptionError(f"{path} is not a regular file and is not replaced")
    return stat.S_IMODE(found)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
