"""The output of a run: a file, or a folder of files, that is complete or absent, with a manifest.

The files of a folder are written one by one into a temporary folder beside it, which is renamed when all are complete.
A single file is renamed when it is complete. When a run is resumed, the files that it had written are compared with
their SHA-256, and written again only if they have changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lsprune.errors import FormatError, OptionError
from lsprune.files import EdgeFiles, Kept
from lsprune.files.atomic_write import claimed, create_new, remove_abandoned, sync_folder
from lsprune.files.manifest import (
    MANIFEST,
    Entry,
    Manifest,
    all_files,
    compare,
    hashed_write,
    leftovers,
    manifest_of,
    verify,
)
from lsprune.files.suffixes import COMPRESSIONS, TEXT_SUFFIXES
from lsprune.outofcore.work_folder import (
    Disturbed,
    InTheWay,
    Work,
    locked,
    make_folder,
    refuse_foreign,
    refuse_links,
    remove_folder,
    removed_if_empty,
)

MARKER = ".lsprune-unfinished"  # a file in an incomplete folder: lsprune created the folder, and may empty it

_FILE_STAGE = "file "  # the stage of a file in the journal, followed by its number
_FORMAT_SUFFIXES = (".parquet", ".npz", ".npy", *TEXT_SUFFIXES, *COMPRESSIONS)


@dataclass(frozen=True)
class Output:
    """The path of an output, and whether it is a file or a folder."""

    path: Path
    is_folder: bool

    @classmethod
    def of(cls, path: Path, source: Path, *inputs: Path, resume: bool = False) -> Output:
        """Return the output for an input file or folder `source`; raise if it cannot be written there.

        With `resume` a complete output may exist: a run may have been stopped right after its last step.
        """
        is_folder = source.is_dir()
        refuse_same("the output", path, source, *inputs)
        refuse_inside("the output", path, source)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"no such folder for the output: {path.parent}")
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(13, "the folder of the output may not be written", str(path.parent))
        if is_folder and os.path.lexists(path) and not (resume and manifest_of(path).is_file()):
            raise OptionError(
                f"the output must be a new folder because the input is a folder, but {path} exists; remove it or name "
                "another one"
            )
        if not is_folder and path.is_dir():
            raise OptionError(f"the output must be a file because the input is a file, but {path} is a folder")
        if not is_folder and _suffixes(path) != _suffixes(source):
            raise FormatError(f"{path}: the output must have the input's format, {''.join(_suffixes(source))}")
        if not is_folder and manifest_of(path).is_dir():
            raise OptionError(f"{manifest_of(path)} is in the way: the manifest of the output gets this name")
        return cls(path, is_folder)

    @property
    def folder(self) -> Path:
        """The folder in which the files are written."""
        return self.path.with_name(f"{self.path.name}.lsprune-part") if self.is_folder else self.path.parent

    @contextmanager
    def held(self, *, fresh: bool, stays: Callable[[BaseException], bool]) -> Iterator[None]:
        """Lock the folder of the files for this process; first remove the files of an earlier run if this one is fresh.

        After an error the folder is removed, unless `stays(error)` says that a run can be resumed from it.
        """
        self.tidy()
        if not self.is_folder:
            with claimed(self.path):
                yield
            return
        new = make_folder(self.folder)
        with removed_if_empty(self.folder, new), locked(self.folder):
            owned = new
            try:
                self._claim(fresh)
                owned = True
                yield
            except BaseException as error:
                if owned and not stays(error):
                    remove_folder(self.folder, MARKER, ignore_errors=True)
                raise

    def tidy(self) -> None:
        """Remove temporary files that killed processes left beside a single file."""
        if not self.is_folder:
            remove_abandoned(self.path)
            remove_abandoned(manifest_of(self.path), follow=False)

    def _claim(self, fresh: bool) -> None:
        """Mark the folder as created by lsprune; remove the files of an earlier run if this one is fresh."""
        if fresh:
            refuse_foreign(self.folder, MARKER)
        else:
            refuse_links(self.folder)
            refuse_foreign(self.folder, MARKER, MANIFEST)  # the marker is removed shortly before the folder is renamed
        with create_new(self.folder / MARKER):
            pass
        if fresh:
            remove_folder(self.folder, MARKER, keep=True)

    def complete(self, task: str, say: Callable[[str], None]) -> Manifest | None:
        """Return the manifest of the output if the same task wrote it and nothing has changed since; else None.

        Raise OptionError for a folder that has changed or that another task wrote. A file is written again instead.
        """
        if not manifest_of(self.path).is_file() or not self.path.exists():
            return None
        report = verify(self.path)
        same_task = report.manifest is not None and report.manifest.config.get("task") == task
        if same_task and report.ok:
            return report.manifest
        if self.is_folder and (same_task or report.manifest is None):
            raise OptionError(
                f"{self.path} has changed since it was written ({report.problems[0]}); remove it to start again"
            )
        if self.is_folder:
            raise OptionError(f"{self.path} is complete and was made with other options or from another input")
        if same_task:
            say(f"{report.problems[0]}; it is made again")
        return None

    def write(
        self, edges: EdgeFiles, kept: Kept, rows: int, work: Work, config: Callable[[int], Mapping[str, Any]],
        say: Callable[[str], None], check: Callable[[], None] = lambda: None,
    ) -> Manifest:  # fmt: skip
        """Write all files and the manifest, and give the output its final name; return the manifest.

        Args:
            kept: the mask of the edges first..last. rows: that are written at a time. work: whose journal lists the
                files that are complete. config: config(rows kept) returns what the manifest says of the run. check:
                called before the output gets its name, to raise if the input was changed meanwhile.
        """
        if self.is_folder:
            for path in leftovers(self.folder):
                path.unlink()
        entries, rows_read = [], 0
        for number, shard in enumerate(edges.shards):
            stage = f"{_FILE_STAGE}{number}"
            if not self._is_written(work, stage, say):
                say(f"writing {shard.name or self.path.name}")
                work.finish(stage, self._write_shard(edges, shard, kept, rows, check))
            read, entry = work.done[stage]
            entries.append(Entry(**entry))
            rows_read += read
        rows_kept = sum(entry.rows for entry in entries)
        manifest = Manifest(config(rows_kept), rows_read, rows_kept, tuple(entries))
        check()
        manifest.write(manifest_of(self.folder if self.is_folder else self.path))
        self._refuse_changed(entries)
        if self.is_folder:
            self._refuse_others(entries)
            (self.folder / MARKER).unlink()
            os.rename(self.folder, self.path)  # noqa: PTH104  (Path.rename silently replaces an empty folder)
            sync_folder(self.path.parent)  # before the work folder is removed
        return manifest

    @staticmethod
    def stages(work: Work) -> list[str]:
        """Return the stages of the files that are written."""
        return [stage for stage in work.done if stage.startswith(_FILE_STAGE)]

    def _is_written(self, work: Work, stage: str, say: Callable[[str], None]) -> bool:
        """Return whether an earlier run wrote the file of this stage, and it has not changed since."""
        if stage not in work.done:
            return False
        problems = compare(self.folder, Entry(**work.done[stage][1]))
        if problems:
            say(f"{problems[0]}; it is written again")
            work.forget(stage)
        return not problems

    def _refuse_changed(self, entries: list[Entry]) -> None:
        """Raise Disturbed if a file is not there any more, or has another size than it was written with."""
        for problem in (problem for entry in entries for problem in compare(self.folder, entry, deep=False)):
            raise Disturbed(f"{problem}; it was changed by somebody; go on by --resume")

    def _refuse_others(self, entries: list[Entry]) -> None:
        """Raise InTheWay if the folder has other files, which would become part of the output."""
        known = {MARKER, MANIFEST, *(entry.name for entry in entries)}
        for name in sorted(all_files(self.folder) - known):
            raise InTheWay(f"{self.folder / name} does not belong to the output; remove it and go on by --resume")

    def _write_shard(
        self, edges: EdgeFiles, shard: Any, kept: Kept, rows: int, check: Callable[[], None]
    ) -> tuple[int, dict[str, Any]]:
        """Write one file; return the number of rows read and its manifest entry."""
        path = self.folder / shard.name if self.is_folder else self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        read = 0

        def write(handle: Any) -> int:
            nonlocal read
            read, written = edges.write_shard(shard, handle, kept, rows)
            if not self.is_folder:  # it gets its name when this ends
                check()
            return written

        name = shard.name if self.is_folder else None
        entry = hashed_write(path, write, name=name, follow=not self.is_folder)
        return read, asdict(entry)


def refuse_same(name: str, path: Path, *others: Path) -> None:
    """Raise OptionError if a path is one of the others; `name` is what the message calls it."""
    for other in others:
        if os.path.realpath(other) == os.path.realpath(path):
            raise OptionError(f"{name} must not be an input or another output, got {str(path)!r} for both")


def refuse_inside(name: str, path: Path, folder: Path) -> None:
    """Raise OptionError if a path lies in the folder of the input: a later run would read it as input."""
    if folder.is_dir() and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise OptionError(f"{name} must not lie in the input's folder {folder}, got {path}")


def _suffixes(path: Path) -> list[str]:
    return [suffix.lower() for suffix in path.suffixes if suffix.lower() in _FORMAT_SUFFIXES]
