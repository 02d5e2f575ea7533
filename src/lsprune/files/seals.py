"""Seals: a manifest of an input, by which a reader knows that its bytes are those that were sealed.

Formats without checksums (`.npy`, text, most Parquet) cannot tell a flipped bit from data. `seal` writes the size and
SHA-256 of a file while it is known to be good; with `verify_input=True` a reader refuses a file that is not as it was
sealed, or has no seal. The manifest of an output of `prune_stream` is a seal, too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprune.errors import FormatError
from lsprune.files.manifest import Entry, Manifest, all_files, hash_file, manifest_of, verify_input
from lsprune.files.parquet_footer import declared_rows

SEALED = "sealed"  # in the config of a manifest that `seal` wrote
Facts = tuple[int, ...]  # of a file: they change whenever it is written to


@dataclass(frozen=True)
class VerifiedInput:
    """Files that were compared with their seals, each with what was known of it before that."""

    files: tuple[tuple[Path, Facts], ...] = ()

    def check(self) -> None:
        """Raise FormatError if a file was written to since it was compared with its seal."""
        for path, facts in self.files:
            if _facts(path) != facts:
                raise FormatError(f"{path}: was changed while it was read, after it was compared with its seal")


def seal(path: str | os.PathLike[str]) -> Manifest:
    """Write the size and SHA-256 of a file beside it, as `NAME.lsprune.json`, or of all files of a folder into it.

    What has a manifest already is compared with it, and the manifest stays. FormatError if it does not match: remove
    the manifest to seal the file as it is now.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "edges.csv").write_text("0,1\\n")
    ...     seal(Path(folder) / "edges.csv").files[0].bytes
    4
    """
    path = Path(path)
    path.stat()  # a missing file is the system's error
    where = manifest_of(path)
    if where == path:
        raise FormatError(f"{path}: is a manifest itself; seal the file or folder that it describes")
    if (known := verify_input(path, deep=True)) is not None:
        return known
    names = sorted(all_files(path)) if path.is_dir() else [path.name]
    if not names:
        raise FormatError(f"{path}: the folder is empty; there is nothing to seal")
    entries = tuple(_entry(where.parent, name) for name in names)
    rows = sum(entry.rows for entry in entries)
    manifest = Manifest({SEALED: True}, rows, rows, entries)
    manifest.write(where)
    return manifest


def check_inputs(paths: Sequence[Path], *, sealed: bool) -> VerifiedInput:
    """Compare inputs with their seals, where they have one; FormatError names the first file that differs.

    Args:
        sealed: all must have a seal, and SHA-256 are compared. Otherwise only sizes and the rows of Parquet files are.
    """
    if not sealed:
        for path in paths:
            verify_input(path)
        return VerifiedInput()
    facts: list[tuple[Path, Facts]] = []
    for path in paths:
        path.stat()
        where = manifest_of(path)
        if not where.is_file():
            raise FormatError(f"{path}: has no seal ({where.name}); write one by `lsprune seal` while the file is good")
        files = [where.parent / entry.name for entry in Manifest.read(where).files]
        facts += [(file, _facts(file)) for file in files]
        verify_input(path, deep=True)
    return VerifiedInput(tuple(facts))


def _entry(folder: Path, name: str) -> Entry:
    """Return the entry of a file: size, SHA-256, and rows where the format tells them at once (Parquet), else 0."""
    path = folder / name
    before = _facts(path)
    size, digest = hash_file(path)
    rows = declared_rows(path) if path.suffix.lower() == ".parquet" else 0
    if rows is None:
        raise FormatError(f"{path}: not a readable Parquet file; it is not sealed")
    if _facts(path) != before:
        raise FormatError(f"{path}: was changed while it was read; it is not sealed")
    return Entry(name, rows, size, digest)


def _facts(path: Path) -> Facts:
    """Return what changes whenever a file is written to or replaced; of a missing file nothing."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
