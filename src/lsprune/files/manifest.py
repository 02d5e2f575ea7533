"""What makes an output complete: a manifest with the size, rows and SHA-256 of every file and a digest of itself, last.

A folder has it inside, as `_lsprune.json`; a single file `out.parquet` beside it, as `out.parquet.lsprune.json`. An
input may have one, too: its seal (`lsprune.files.seal`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from lsprune._version import __version__
from lsprune.errors import FormatError
from lsprune.files.atomic_write import atomic_write
from lsprune.files.parquet_footer import declared_rows

MANIFEST = "_lsprune.json"
BESIDE = ".lsprune.json"
_FORMAT = 2
_FORMAT_WITHOUT_CHECKSUM = 1  # the first format, which is still read: it has no checksum of itself
_MAX_BYTES = 1 << 28  # of a manifest: that of a million files is smaller
_SHA256 = re.compile(r"[0-9a-f]{64}")
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Entry:
    """One output file."""

    name: str  # relative to the folder of the manifest, with forward slashes
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What an output holds and how it was made; only a complete output has one."""

    config: Mapping[str, Any]
    edges: int  # read
    kept: int
    files: tuple[Entry, ...]
    version: str = field(default=__version__)  # of lsprune

    def to_json(self) -> str:
        """Return the manifest as text, the same for equal manifests."""
        fields = {"manifest": _FORMAT, **asdict(self)}
        return json.dumps({**fields, "checksum": _checksum(fields)}, indent=1, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str, path: Path) -> Manifest:
        """Return the manifest in a text; FormatError names `path` and the field that is wrong."""
        try:
            raw = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{path}: not a readable manifest ({error})") from None
        number = raw.get("manifest", _FORMAT) if isinstance(raw, dict) else _FORMAT
        if number not in (_FORMAT_WITHOUT_CHECKSUM, _FORMAT):
            known = f"formats up to {_FORMAT}"
            raise FormatError(f"{path}: a manifest of another format; lsprune {__version__} reads {known}")
        old = number == _FORMAT_WITHOUT_CHECKSUM
        values = _fields(raw, {k: v for k, v in _MANIFEST.items() if not (old and k == "checksum")}, str(path))
        checksum, checked = values.pop("checksum", None), dict(values)
        del values["manifest"]
        files = tuple(_entry(entry, f"{path}: files[{i}]") for i, entry in enumerate(values.pop("files")))
        names = [entry.name for entry in files]
        if len(set(names)) != len(names):
            raise FormatError(f"{path}: names a file twice")
        if not old and checksum != _checksum(checked):
            raise FormatError(f"{path}: its checksum is not that of what it says; damaged or changed")
        return cls(**values, files=files)

    @classmethod
    def read(cls, path: PathLike) -> Manifest:
        """Return the manifest of an output (a folder, a file, or the manifest itself)."""
        path = manifest_of(path)
        with path.open("rb") as handle:
            content = handle.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise FormatError(f"{path}: not a readable manifest (more than {_MAX_BYTES >> 20} MiB)")
        try:
            return cls.from_json(content.decode("utf-8"), path)
        except UnicodeDecodeError as error:
            raise FormatError(f"{path}: not a readable manifest ({error})") from None

    def write(self, path: PathLike) -> None:
        """Write the manifest to `path`, whole or not at all."""
        with _naming(Path(path)), atomic_write(path, follow=False) as handle:
            handle.write(self.to_json().encode())


@dataclass(frozen=True)
class Report:
    """What `verify` found."""

    manifest: Manifest | None
    problems: tuple[str, ...]  # one line each; none: the output is complete and as it was written

    @property
    def ok(self) -> bool:
        """Whether there is nothing wrong."""
        return not self.problems


def manifest_of(path: PathLike) -> Path:
    """Return where the manifest of an output is: in a folder, or beside a file; a manifest is its own."""
    path = Path(path)
    if path.is_dir():
        return path / MANIFEST
    return path if path.name == MANIFEST or path.name.endswith(BESIDE) else path.with_name(path.name + BESIDE)


def hashed_write(
    path: PathLike, work: Callable[[BinaryIO], int], *, name: str | None = None, follow: bool = True
) -> Entry:
    """Write a file whole or not at all, and return its entry.

    Args:
        path: the file. `work` gets a binary handle in its place and returns the number of rows that it wrote.
        name: that of the entry; default the file's own.
        follow: as in `atomic_write`.

    An OSError (a full disk, a folder that may not be written) names `path`, and nothing is left behind.
    """
    path = Path(path)
    with _naming(path), atomic_write(path, follow=follow) as handle:
        hashing = Hashing(handle)
        rows = work(cast(BinaryIO, hashing))
        size, digest = hashing.finish()
    return Entry(path.name if name is None else name, rows, size, digest)


class Hashing:
    """A binary handle that hashes what is written; where a writer goes back to change it, the file is read again."""

    closed = False
    mode = "w+b"

    def __init__(self, handle: BinaryIO) -> None:
        self._handle, self._hash, self._end, self._straight = handle, hashlib.sha256(), 0, True

    def write(self, data: Any) -> int:
        """Write and hash."""
        if self._straight:
            self._hash.update(data)
        self._end += memoryview(data).nbytes
        return self._handle.write(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move, as zipfile does to fill in sizes; the hash is then taken at the end."""
        position = self._handle.seek(offset, whence)
        self._straight = self._straight and position == self._end
        return position

    def finish(self) -> tuple[int, str]:
        """Size and SHA-256 of the file."""
        self._handle.flush()
        size = self._handle.seek(0, 2)
        if self._straight:
            return size, self._hash.hexdigest()
        self._handle.seek(0)
        return size, hashlib.file_digest(cast(Any, self._handle), "sha256").hexdigest()

    def tell(self) -> int:
        """The position."""
        return self._handle.tell()

    def flush(self) -> None:
        """Hand what was written to the system."""
        self._handle.flush()

    def close(self) -> None:
        """Nothing: the file is flushed, renamed and closed by `hashed_write`."""

    def seekable(self) -> bool:
        """True."""
        return True

    def writable(self) -> bool:
        """True."""
        return True

    def readable(self) -> bool:
        """False."""
        return False


def verify(path: PathLike, *, deep: bool = True) -> Report:
    """Compare an output with its manifest: every file there, of the same size, rows (Parquet) and, `deep`, SHA-256.

    An output elsewhere (`s3://…`) is copied to a temporary folder first.
    """
    from lsprune.files.remote import fetched, url_of  # which imports this module

    url = url_of(path)
    with fetched(path) as (local, _):
        report = _verify(local, deep)
    if url is None:
        return report
    folder = url.rstrip("/").rpartition("/")[0]
    return Report(report.manifest, tuple(text.replace(str(local.parent), folder) for text in report.problems))


def _verify(path: Path, deep: bool) -> Report:
    where = manifest_of(path)
    if not where.is_file():
        return Report(
            None, (f"{where}: no manifest; the output is not complete, or neither written by --stream nor sealed",)
        )
    try:
        manifest = Manifest.read(where)
    except FormatError as error:
        return Report(None, (str(error),))
    problems = [problem for entry in manifest.files for problem in compare(where.parent, entry, deep)]
    if where.name == MANIFEST:
        known = {MANIFEST, *(entry.name for entry in manifest.files)}
        problems += [f"{where.parent / name}: not in the manifest" for name in all_files(where.parent) - known]
    return Report(manifest, tuple(sorted(problems)))


def verify_input(path: PathLike, *, deep: bool = False) -> Manifest | None:
    """Return the manifest of an input that has one; FormatError names the first file that is not as it says."""
    if not manifest_of(path).is_file():
        return None
    report = verify(path, deep=deep)
    if report.problems:
        more = f" (and {len(report.problems) - 1} more)" if len(report.problems) > 1 else ""
        raise FormatError(f"{report.problems[0]}{more}; if that is meant to be, remove {manifest_of(path).name}")
    return report.manifest


def leftovers(folder: PathLike) -> list[Path]:
    """Return temporary files in a folder and below it that a process killed while writing left behind."""
    return sorted(Path(folder).rglob(".lsprune-*.tmp"))


def compare(folder: Path, entry: Entry, deep: bool = True) -> list[str]:
    """Return what is wrong with the file of an entry, in a line; nothing if it is as it was written."""
    path = folder / entry.name
    try:
        size = path.stat().st_size
        if size != entry.bytes:
            return [f"{path}: has {size} bytes, and {entry.bytes} in the manifest"]
        if deep and hash_file(path)[1] != entry.sha256:
            return [f"{path}: its SHA-256 is not that of the manifest; damaged or changed"]
    except (FileNotFoundError, NotADirectoryError):
        return [f"{path}: is missing"]
    except OSError as error:  # a name that is too long, a folder in the place of a file
        return [f"{path}: cannot be read ({error.strerror})"]
    rows = declared_rows(path) if path.suffix.lower() == ".parquet" else entry.rows
    if rows != entry.rows:
        return [f"{path}: has {'no readable footer' if rows is None else f'{rows} rows'}, not {entry.rows} rows"]
    return []


def hash_file(path: Path) -> tuple[int, str]:
    """Return the size and the SHA-256 of a file."""
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
        return handle.tell(), digest


def all_files(folder: Path) -> set[str]:
    """Return the names of all files in a folder and below it, with forward slashes."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Give an OSError the name of the file that is being written: writes and temporary files lack it.

    Errors of reading have the name of their file, so that one without a name comes from writing.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None or not Path(str(error.filename or ".lsprune-")).name.startswith(".lsprune-"):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _checksum(fields: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what a manifest says, its own checksum aside."""
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


_MANIFEST = {
    "manifest": int, "version": str, "config": dict, "edges": int, "kept": int, "files": list, "checksum": str,
}  # fmt: skip
_ENTRY = {"name": str, "rows": int, "bytes": int, "sha256": str}


def _fields(raw: Any, wanted: Mapping[str, type], where: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise FormatError(f"{where}: must be an object, got {type(raw).__name__}")
    for name, kind in wanted.items():
        if type(raw.get(name)) is not kind or (kind is int and raw[name] < 0):
            shown = "nothing" if name not in raw else repr(raw[name])[:40]
            raise FormatError(f"{where}: {name} must be {_WORDS[kind]}, got {shown}")
    unknown = sorted(raw.keys() - wanted.keys())
    if unknown:
        raise FormatError(f"{where}: has an unknown field {unknown[0]!r}")
    return dict(raw)


def _is_inside(name: str) -> bool:
    """Return whether a name is a path below its folder that a system can have."""
    path = PurePosixPath(name)
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return path.name != "" and "\0" not in name and not path.is_absolute() and ".." not in path.parts


_WORDS = {int: "a whole number >= 0", str: "a string", dict: "an object", list: "a list"}


def _entry(raw: Any, where: str) -> Entry:
    values = _fields(raw, _ENTRY, where)
    if not _is_inside(values["name"]):
        raise FormatError(f"{where}: name must be a path inside the output, got {values['name'][:80]!r}")
    if not _SHA256.fullmatch(values["sha256"]):
        raise FormatError(f"{where}: sha256 must be 64 hexadecimal digits, got {values['sha256'][:80]!r}")
    return Entry(**values)
