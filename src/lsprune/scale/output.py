"""Where the kept edges go: a file or a folder of files that is complete or absent, with a manifest.

The files of a folder are written one by one into a folder beside it, which gets the final name when all are there; a
single file is renamed when it is whole. A file that was written before a run stopped is not written again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lsprune.errors import FormatError, OptionError
from lsprune.scale.inputs import EdgeFiles, Kept
from lsprune.scale.manifest import Entry, Manifest, hashed_write, leftovers, manifest_of
from lsprune.scale.work import Work, locked


@dataclass(frozen=True)
class Output:
    """The place of an output."""

    path: Path
    several: bool  # a folder of files

    @classmethod
    def of(cls, path: Path, given: Path, *inputs: Path, resume: bool = False) -> Output:
        """The output for an input file or folder `given`; raises where it cannot be written there.

        With `resume` a complete output may be there already: a run may have been stopped right after its last step.
        """
        several = given.is_dir()
        refuse_same("the output", path, given, *inputs)
        refuse_inside("the output", path, given)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"no such folder for the output: {path.parent}")
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(13, "the folder of the output may not be written", str(path.parent))
        if several and path.exists() and not (resume and manifest_of(path).is_file()):
            raise OptionError(f"the output must be a new folder, for the input is one, but {path} exists")
        if not several and path.is_dir():
            raise OptionError(f"the output must be a file, for the input is one, but {path} is a folder")
        if not several and _suffixes(path) != _suffixes(given):
            raise FormatError(f"{path}: the output must have the input's format, {''.join(_suffixes(given))}")
        return cls(path, several)

    @property
    def folder(self) -> Path:
        """The folder in which the files are written."""
        return self.path.with_name(f"{self.path.name}.lsprune-part") if self.several else self.path.parent

    @contextmanager
    def held(self, *, fresh: bool, stays: Callable[[BaseException], bool]) -> Iterator[None]:
        """The folder of the files, for this process alone; what a run left there is removed if this one is fresh.

        After an error it is removed, unless `stays` says that a run may go on from there.
        """
        if not self.several:
            yield
            return
        self.folder.mkdir(exist_ok=True)
        with locked(self.folder):
            for path in self.folder.iterdir() if fresh else ():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            try:
                yield
            except BaseException as error:
                if not stays(error):
                    shutil.rmtree(self.folder, ignore_errors=True)
                raise

    def complete(self, task: str) -> Manifest | None:
        """The manifest of an output that the same task made before; OptionError where it was another."""
        if not manifest_of(self.path).is_file() or not self.path.exists():
            return None
        found = Manifest.read(self.path)
        if found.config.get("task") == task:
            return found
        if self.several:
            raise OptionError(f"{self.path} is complete and was made with other options or from another input")
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
            if stage not in work.done:
                say(f"writing {shard.name or self.path.name}")
                work.finish(stage, self._one(edges, shard, kept, rows))
            read, entry = work.done[stage]
            entries.append(Entry(**entry))
            total += read
        rows_kept = sum(entry.rows for entry in entries)
        manifest = Manifest(config(rows_kept), total, rows_kept, tuple(entries))
        if self.several:
            manifest.write(manifest_of(self.folder))
            os.rename(self.folder, self.path)  # noqa: PTH104  (Path.rename replaces an empty folder without a word)
        else:
            manifest.write(manifest_of(self.path))
        return manifest

    def _one(self, edges: EdgeFiles, shard: Any, kept: Kept, rows: int) -> tuple[int, dict[str, Any]]:
        path = self.folder / shard.name if self.several else self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        read = [0]

        def work(handle: Any) -> int:
            read[0], written = edges.write_shard(shard, handle, kept, rows)
            return written

        entry = hashed_write(path, work, name=shard.name if self.several else None)
        return read[0], asdict(entry)


def refuse_same(what: str, path: Path, *others: Path) -> None:
    """OptionError where two of these are one file."""
    for one in others:
        if os.path.realpath(one) == os.path.realpath(path):
            raise OptionError(f"{what} must not be an input or another output, got {str(path)!r} for both")


def refuse_inside(what: str, path: Path, folder: Path) -> None:
    """OptionError where a path lies in the folder of the input, which would then be read as one."""
    if folder.is_dir() and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise OptionError(f"{what} must not lie in the input's folder {folder}, got {path}")


def _suffixes(path: Path) -> list[str]:
    return [suffix.lower() for suffix in path.suffixes if suffix.lower() in _KNOWN]


_KNOWN = (".parquet", ".npz", ".npy", ".csv", ".tsv", ".txt", ".edges", ".edgelist", ".gz", ".zst")
