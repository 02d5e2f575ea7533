"""Where the kept edges go: a file or a folder of files that is complete or absent, with a manifest.

The files of a folder are written one by one into a folder beside it, which gets the final name when all are there; a
single file is renamed when it is whole. A file that was written before a run stopped is compared with its SHA-256, and
written again only if it has changed.
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
from lsprune.files.atomic_write import create_new, remove_abandoned
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
    InTheWay,
    Work,
    locked,
    make_folder,
    refuse_foreign,
    refuse_links,
    remove_folder,
)

MARKER = ".lsprune-unfinished"  # in a folder of files that is not complete: lsprune made it, and may empty it


@dataclass(frozen=True)
class Output:
    """The place of an output."""

    path: Path
    several: bool  # a folder of files

    @classmethod
    def of(cls, path: Path, source: Path, *inputs: Path, resume: bool = False) -> Output:
        """Return the output for an input file or folder `source`; raise if it cannot be written there.

        With `resume` a complete output may be there already: a run may have been stopped right after its last step.
        """
        several = source.is_dir()
        refuse_same("the output", path, source, *inputs)
        refuse_inside("the output", path, source)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"no such folder for the output: {path.parent}")
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(13, "the folder of the output may not be written", str(path.parent))
        if several and os.path.lexists(path) and not (resume and manifest_of(path).is_file()):
            raise OptionError(f"the output must be a new folder, for the input is one, but {path} exists")
        if not several and path.is_dir():
            raise OptionError(f"the output must be a file, for the input is one, but {path} is a folder")
        if not several and _suffixes(path) != _suffixes(source):
            raise FormatError(f"{path}: the output must have the input's format, {''.join(_suffixes(source))}")
        if not several and manifest_of(path).is_dir():
            raise OptionError(f"{manifest_of(path)} is in the way: the manifest of the output gets this name")
        return cls(path, several)

    @property
    def folder(self) -> Path:
        """The folder in which the files are written."""
        return self.path.with_name(f"{self.path.name}.lsprune-part") if self.several else self.path.parent

    @contextmanager
    def held(self, *, fresh: bool, stays: Callable[[BaseException], bool]) -> Iterator[None]:
        """Keep the folder of the files for this process alone; what a run left there is removed if this one is fresh.

        After an error it is removed, unless `stays` says that a run may go on from there.
        """
        self.tidy()
        if not self.several:
            yield
            return
        make_folder(self.folder)
        with locked(self.folder):
            self._claim(fresh)
            try:
                yield
            except BaseException as error:
                if not stays(error):
                    remove_folder(self.folder, MARKER, ignore_errors=True)
                raise

    def tidy(self) -> None:
        """Remove temporary files of a single output that killed processes left; those of a folder are in a folder."""
        if not self.several:
            remove_abandoned(self.path)
            remove_abandoned(manifest_of(self.path), follow=False)

    def _claim(self, fresh: bool) -> None:
        """Mark the folder of the files as ours; what a run left there goes if this one is fresh."""
        if fresh:
            refuse_foreign(self.folder, MARKER)
        else:
            refuse_links(self.folder)
            refuse_foreign(self.folder, MARKER, MANIFEST)  # the marker goes shortly before the folder gets its name
        with create_new(self.folder / MARKER):
            pass
        if fresh:
            remove_folder(self.folder, MARKER, keep=True)

    def complete(self, task: str, say: Callable[[str], None]) -> Manifest | None:
        """Return the manifest of an output that the same task made before and that is still as it was written.

        A single file that has changed is to be written again; OptionError for such a folder, and for one that another
        task made.
        """
        if not manifest_of(self.path).is_file() or not self.path.exists():
            return None
        report = verify(self.path)
        same_task = report.manifest is not None and report.manifest.config.get("task") == task
        if same_task and report.ok:
            return report.manifest
        if self.several and (same_task or report.manifest is None):
            raise OptionError(f"{self.path} is not as it was written ({report.problems[0]}); remove it to begin again")
        if self.several:
            raise OptionError(f"{self.path} is complete and was made with other options or from another input")
        if same_task:
            say(f"{report.problems[0]}; it is made again")
        return None

    def write(
        self, edges: EdgeFiles, kept: Kept, rows: int, work: Work, config: Callable[[int], Mapping[str, Any]],
        say: Callable[[str], None],
    ) -> Manifest:  # fmt: skip
        """Write all files and the manifest, then give the output its name; `config` is told how many rows were kept."""
        if self.several:
            for stray in leftovers(self.folder):
                stray.unlink()
        entries, total = [], 0
        for number, shard in enumerate(edges.shards):
            stage = f"file {number}"
            if not self._has(work, stage, say):
                say(f"writing {shard.name or self.path.name}")
                work.finish(stage, self._write_shard(edges, shard, kept, rows))
            read, entry = work.done[stage]
            entries.append(Entry(**entry))
            total += read
        rows_kept = sum(entry.rows for entry in entries)
        manifest = Manifest(config(rows_kept), total, rows_kept, tuple(entries))
        if self.several:
            manifest.write(manifest_of(self.folder))
            self._refuse_others(entries)
            (self.folder / MARKER).unlink()
            os.rename(self.folder, self.path)  # noqa: PTH104  (Path.rename replaces an empty folder without a word)
        else:
            manifest.write(manifest_of(self.path))
        return manifest

    def _has(self, work: Work, stage: str, say: Callable[[str], None]) -> bool:
        """Return whether an earlier run wrote a file that is still as it was."""
        if stage not in work.done:
            return False
        problems = compare(self.folder, Entry(**work.done[stage][1]))
        if problems:
            say(f"{problems[0]}; it is written again")
            work.forget(stage)
        return not problems

    def _refuse_others(self, entries: list[Entry]) -> None:
        """Raise InTheWay if there are files that would become part of the output without belonging to it."""
        known = {MARKER, MANIFEST, *(entry.name for entry in entries)}
        for name in sorted(all_files(self.folder) - known):
            raise InTheWay(f"{self.folder / name} does not belong to the output; remove it and go on by --resume")

    def _write_shard(self, edges: EdgeFiles, shard: Any, kept: Kept, rows: int) -> tuple[int, dict[str, Any]]:
        path = self.folder / shard.name if self.several else self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        read = [0]

        def work(handle: Any) -> int:
            read[0], written = edges.write_shard(shard, handle, kept, rows)
            return written

        name = shard.name if self.several else None
        entry = hashed_write(path, work, name=name, follow=not self.several)
        return read[0], asdict(entry)


def refuse_same(what: str, path: Path, *others: Path) -> None:
    """Raise OptionError if two of these are one file."""
    for other in others:
        if os.path.realpath(other) == os.path.realpath(path):
            raise OptionError(f"{what} must not be an input or another output, got {str(path)!r} for both")


def refuse_inside(what: str, path: Path, folder: Path) -> None:
    """Raise OptionError if a path lies in the folder of the input, which would then be read as one."""
    if folder.is_dir() and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise OptionError(f"{what} must not lie in the input's folder {folder}, got {path}")


def _suffixes(path: Path) -> list[str]:
    return [suffix.lower() for suffix in path.suffixes if suffix.lower() in _KNOWN]


_KNOWN = (".parquet", ".npz", ".npy", *TEXT_SUFFIXES, *COMPRESSIONS)
