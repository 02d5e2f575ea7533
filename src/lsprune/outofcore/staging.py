"""A streamed run whose input or output is elsewhere (`s3://…`): a folder of copies, kept where a run can be resumed."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lsprune.errors import OptionError
from lsprune.files import EdgeOptions
from lsprune.files.atomic_write import create_new
from lsprune.files.edge_options import PathLike
from lsprune.files.remote import Naming, Place, fetched_tables, url_of
from lsprune.outofcore.stream_context import Say
from lsprune.outofcore.work_folder import locked, make_folder, refuse_foreign, refuse_links, remove_folder

MARKER = ".lsprune-copies"  # a file in a folder of copies: lsprune created the folder, and may remove it


@dataclass(frozen=True)
class LocalPlaces:
    """Where a run reads and writes on this machine."""

    path: Path
    out: Path
    options: EdgeOptions
    input_name: str  # what the manifest calls the input


@contextmanager
def local_places(
    path: PathLike, out: PathLike, options: EdgeOptions, *, scratch: PathLike | None, resume: bool, say: Say
) -> Iterator[LocalPlaces]:
    """Yield paths on this machine: those given, or copies of what is elsewhere; at the end upload the output.

    The copies are in a folder NAME.lsprune-copies, where NAME is that of the output: in `scratch`, else beside the
    output, else in the current folder. It is removed at the end, and stays where the work folder of a run would stay.
    """
    given = (path, out, options.features, options.target_features)
    if not any(url_of(one) for one in given if one is not None):
        yield LocalPlaces(Path(path), Path(out), options, str(path))
        return
    target = None if (url := url_of(out)) is None else Place.of(url)
    beside = Path(out).parent if target is None else Path.cwd()
    name = Path(out).name if target is None else target.name
    folder = (beside if scratch is None else Path(scratch)) / f"{name}.lsprune-copies"
    if not folder.parent.is_dir():
        raise OptionError(f"scratch (--scratch) must be a folder that exists, got {str(folder.parent)!r}")
    with _held(folder, resume) as is_new, Naming() as naming:
        _check_target(target, path, may_exist=not is_new)
        for part in ("edges", "out"):
            make_folder(folder / part)
        say("fetching the input")
        local = Path(path) if url_of(path) is None else naming.fetch(path, folder / "edges")
        tables = fetched_tables(options, folder, naming.fetch)
        final = Path(out) if target is None else folder / "out" / name
        if target is not None:
            naming.names[str(final)] = target.url
        yield LocalPlaces(local, final, tables, url_of(path) or str(path))
        if target is not None:
            say(f"uploading {target.url}")
            target.upload(final)


@contextmanager
def _held(folder: Path, resume: bool) -> Iterator[bool]:
    """Lock the folder of copies, yield whether it is new, and remove it at the end."""
    is_new = make_folder(folder)
    with locked(folder):
        if not is_new:
            refuse_links(folder)
            refuse_foreign(folder, MARKER)
            if not resume:
                raise OptionError(
                    f"{folder} is left from an interrupted run; continue it with --resume (resume=True), or remove it"
                )
        with create_new(folder / MARKER):
            pass
        try:
            yield is_new
        except BaseException as error:
            if not _stays(error, resume):
                remove_folder(folder, MARKER, ignore_errors=True)
            raise
        remove_folder(folder, MARKER)


def _stays(error: BaseException, resume: bool) -> bool:
    """Return whether the copies stay after an error, as the work folder of a run does."""
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return full or (resume and isinstance(error, OSError | KeyboardInterrupt))


def _check_target(target: Place | None, path: PathLike, *, may_exist: bool) -> None:
    """Raise OptionError if an output elsewhere is the input or inside it, or would be mixed with other files."""
    if target is None:
        return
    source = url_of(path)
    if source is not None and f"{target.url.rstrip('/')}/".startswith(f"{source.rstrip('/')}/"):
        raise OptionError(f"the output must not be the input or lie in it, got {target.url} and {source}")
    if not may_exist and target.has_files():
        raise OptionError(f"the output must be a new folder or a file, but there are files in {target.url}")
