"""Files elsewhere, such as `s3://bucket/edges/`: copied to this machine to be read, and uploaded when they are written.

pyarrow's file systems do the work: `s3://` (and what speaks its language), `gs://`, `abfs://`, `hdfs://`. Keys, regions
and endpoints come from the environment, as for other tools (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL …), or from the URL
(`s3://bucket/edges.parquet?endpoint_override=localhost:9000&scheme=http`).

Files are copied whole, not read piece by piece: a streamed run goes three times through its input, maps arrays into
memory, and compares checksums. An object appears when its upload is complete, so that it is whole or absent.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from lsprune.errors import FormatError, LspruneError, OptionError
from lsprune.files.arrow_columns import first_line
from lsprune.files.edge_options import EdgeOptions, PathLike
from lsprune.files.manifest import BESIDE, MANIFEST
from lsprune.files.memory_budget import show_size

SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
_OTHER_SCHEMES = ("file", "http", "https", "ftp", "s3a", "s3n")
_START = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/{1,2})(?=[^/]|$)")  # a Path has one slash where the URL had two
_BLOCK_BYTES = 16 << 20  # that are uploaded at a time


def url_of(path: PathLike) -> str | None:
    """Return the URL of a file elsewhere, also from a `Path` of it; None for a file on this machine.

    >>> url_of("s3://bucket/edges.parquet"), url_of(Path("s3://bucket/edges.parquet")), url_of("edges.parquet")
    ('s3://bucket/edges.parquet', 's3://bucket/edges.parquet', None)
    """
    text = os.fspath(path)
    start = _START.match(text)
    scheme = "" if start is None else start[1].lower()
    if start is None or (scheme not in SCHEMES + _OTHER_SCHEMES and start[2] == "/"):
        return None
    if scheme not in SCHEMES:
        raise OptionError(
            f"{text}: a path must be on this machine, or begin with one of "
            f"{', '.join(f'{known}://' for known in SCHEMES)}, got {scheme}://"
        )
    return f"{scheme}://{text[start.end() :]}"


def shown(path: PathLike) -> str:
    """Return a path as its user wrote it: a URL has two slashes, of which a `Path` keeps one."""
    return url_of(path) or os.fspath(path)


def refuse_url(path: PathLike, option: str) -> None:
    """Raise OptionError if a path that must be on this machine is a URL."""
    if (url := url_of(path)) is not None:
        raise OptionError(f"{option} must be on this machine, got {url}")


@dataclass(frozen=True, eq=False)
class Place:
    """A file or folder elsewhere, and the file system that it is in."""

    url: str
    system: Any
    path: str  # in the file system

    @classmethod
    def of(cls, url: str) -> Place:
        """Return the place of a URL; OptionError if it is not a URL of its kind."""
        import pyarrow as pa
        from pyarrow import fs

        try:
            system, path = fs.FileSystem.from_uri(url)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise OptionError(f"{url}: {first_line(error)}") from None
        if not path.strip("/"):
            raise OptionError(f"{url}: must name a bucket, or a file or folder in one")
        return cls(url, system, path.rstrip("/"))

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    def kind(self) -> str:
        """Return "file", "folder" or "missing"."""
        from pyarrow import fs

        kinds = {fs.FileType.File: "file", fs.FileType.Directory: "folder"}
        return kinds.get(self._info(self.path).type, "missing")

    def has_files(self) -> bool:
        """Return whether this is a folder with files, at any depth."""
        from pyarrow import fs

        selector = fs.FileSelector(self.path, recursive=True, allow_not_found=True)
        return any(info.is_file for info in self.system.get_file_info(selector))

    def fetch(self, folder: Path) -> Path:
        """Copy the file or folder, with its manifest, into a folder; return the copy. What is there stays if equal."""
        kind = self.kind()
        if kind == "missing":
            raise FileNotFoundError(f"{self.url}: no such file or folder")
        files = self._files() if kind == "folder" else self._file_and_manifest()
        needed, free = sum(info.size for info in files.values()), shutil.disk_usage(folder).free
        if needed > free:
            raise OptionError(
                f"{self.url}: {show_size(needed)} are needed for a copy in {folder}, {show_size(free)} are free; "
                "name another folder (--scratch, or the environment's TMPDIR)"
            )
        copy = folder / self.name
        for name, info in files.items():
            self._fetch_file(info, copy / name if kind == "folder" else folder / name)
        if kind == "folder":
            copy.mkdir(exist_ok=True)
        return copy

    def upload(self, local: Path) -> None:
        """Upload a file or folder with its manifest, which comes last.

        After an error the files of a folder that were uploaded are removed (pyarrow leaves an empty object in the place
        of a folder); a file that is replaced stays as it was.
        """
        if local.is_dir():
            names = sorted(file.relative_to(local).as_posix() for file in local.rglob("*") if file.is_file())
            files = {f"{self.path}/{name}": local / name for name in sorted(names, key=lambda name: name == MANIFEST)}
        else:
            files = {self.path: local}
            manifest = local.with_name(local.name + BESIDE)
            files |= {self.path + BESIDE: manifest} if manifest.exists() else {}
        written: list[str] = []
        try:
            for path, file in files.items():
                self._upload_file(file, path)
                written.append(path)
        except BaseException:
            for path in written if local.is_dir() else ():
                with suppress(Exception):
                    self.system.delete_file(path)
            raise
        old = self.path + BESIDE  # of a file that was there before
        if not local.is_dir() and old not in files and self._info(old).is_file:
            self.system.delete_file(old)

    def _info(self, path: str) -> Any:
        return self.system.get_file_info(path)

    def _file_and_manifest(self) -> dict[str, Any]:
        """Return the file, and its manifest if there is one, by name."""
        found = (self._info(self.path), self._info(self.path + BESIDE))
        return {info.base_name: info for info in found if info.is_file}

    def _files(self) -> dict[str, Any]:
        """Return all files of a folder by their names in it; those that begin with a dot or underscore are skipped."""
        from pyarrow import fs

        files = {}
        for info in self.system.get_file_info(fs.FileSelector(self.path, recursive=True)):
            name = info.path[len(self.path) + 1 :]
            parts = name.split("/")
            hidden = name != MANIFEST and any(part[:1] in ("_", ".") and part != ".." for part in parts)
            if hidden or not info.is_file:
                continue
            if "" in parts or ".." in parts or "\\" in name:
                raise FormatError(f"{self.url}: the name {name!r} is no path below it")
            files[name] = info
        return files

    def _fetch_file(self, info: Any, copy: Path) -> None:
        """Copy a file, unless an equal copy is there: of the same size and time."""
        from pyarrow import fs

        time = info.mtime_ns or 0
        with suppress(FileNotFoundError):
            status = copy.stat()
            if (status.st_size, status.st_mtime_ns) == (info.size, time):
                return
        copy.parent.mkdir(parents=True, exist_ok=True)
        part = copy.with_name(f".{copy.name}.part")
        fs.copy_files(info.path, str(part), source_filesystem=self.system, destination_filesystem=fs.LocalFileSystem())
        if (size := part.stat().st_size) != info.size:
            raise FormatError(f"{self.url}: {info.path} has {size} bytes, not {info.size}; it was changed")
        os.utime(part, ns=(time, time))
        part.replace(copy)

    def _upload_file(self, file: Path, path: str) -> None:
        """Upload one file: the object is whole, or the one before stays."""
        if self.system.type_name == "hdfs":  # stores of objects have no folders
            self.system.create_dir(str(PurePosixPath(path).parent), recursive=True)
        # Not fs.copy_files: it says nothing of an error in the last part. And not in this thread, which Ctrl-C may
        # interrupt: an upload that is given up half-way is completed by pyarrow as it is.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(self._send, file, path).result()
        size, wanted = self._info(path).size, file.stat().st_size
        if size != wanted:
            self.system.delete_file(path)
            raise OSError(f"{self.url}: {path} has {size} bytes after the upload, not {wanted}")

    def _send(self, file: Path, path: str) -> None:
        out = self.system.open_output_stream(path, compression=None)  # by default the suffix decides
        try:
            with file.open("rb") as source:
                while block := source.read(_BLOCK_BYTES):
                    out.write(block)
                    out.flush()  # or any number of parts would wait in memory
        finally:
            out.close()  # raises what went wrong in the background


def fetched_tables(options: EdgeOptions, folder: Path, fetch: Callable[[PathLike, Path], Path]) -> EdgeOptions:
    """Return the options with the paths of copies in the place of node tables elsewhere."""
    changed = {}
    for name in ("features", "target_features"):
        path = getattr(options, name)
        if path is not None and url_of(path) is not None:
            (folder / name).mkdir(exist_ok=True)
            changed[name] = fetch(path, folder / name)
    return replace(options, **changed)  # type: ignore[arg-type]


@contextmanager
def fetched(path: PathLike, options: EdgeOptions | None = None) -> Iterator[tuple[Path, EdgeOptions]]:
    """Yield the path and the options, with temporary copies of what is elsewhere; errors name the originals."""
    options = options or EdgeOptions()
    if all(url_of(one) is None for one in (path, options.features, options.target_features) if one is not None):
        yield Path(path), options
        return
    with TemporaryDirectory(prefix="lsprune-") as temporary, Naming() as naming:
        folder = Path(temporary)
        (folder / "edges").mkdir()
        local = Path(path) if url_of(path) is None else naming.fetch(path, folder / "edges")
        yield local, fetched_tables(options, folder, naming.fetch)


@contextmanager
def uploaded(path: PathLike) -> Iterator[Path]:
    """Yield where to write a file; if `path` is elsewhere, upload it when the block ends without an error."""
    url = url_of(path)
    if url is None:
        yield Path(path)
        return
    place = Place.of(url)
    with TemporaryDirectory(prefix="lsprune-") as folder, Naming() as naming:
        local = Path(folder) / place.name
        naming.names[str(local)] = url
        yield local
        place.upload(local)


class Naming:
    """A block in which errors name URLs in the place of copies."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # of a copy to its original

    def __enter__(self) -> Naming:
        return self

    def fetch(self, path: PathLike, folder: Path) -> Path:
        """Copy a file or folder elsewhere into a folder; return the copy."""
        url = url_of(path)
        assert url is not None
        copy = Place.of(url).fetch(folder)
        self.names[str(copy)] = url
        return copy

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, LspruneError):
            return
        text = str(error)
        for copy, url in self.names.items():
            text = text.replace(copy, url)
        if text != str(error):
            raise type(error)(text) from None
