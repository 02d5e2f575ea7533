"""Result files: one JSON line per run, appended and synced, so that a kill loses at most the run in progress."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows, where nothing keeps two processes from writing one file
    fcntl = None  # type: ignore[assignment]

from lsprune.errors import FormatError
from lsprune.files.atomic_write import open_to_append
from lsprune.lab.studies.run import check_version


@dataclass(frozen=True)
class Results:
    """The runs of one study in `FOLDER/NAME.jsonl`."""

    path: Path

    def read(self) -> list[dict[str, Any]]:
        """Return all runs without an incomplete last line, which a kill leaves; raise FormatError for other damage."""
        if not self.path.exists():
            return []
        whole, _ = _split(self.path.read_bytes())
        return [self._line(number, text) for number, text in enumerate(whole, 1) if text.strip()]

    def keys(self) -> set[str]:
        """Return the keys of all runs."""
        return {str(run["key"]) for run in self.read()}

    @contextmanager
    def writing(self) -> Iterator[Results]:
        """Lock the file against other writers; an incomplete last line is moved to `NAME.partial` first."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as handle:
            try:
                if fcntl is not None:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FormatError(
                    f"{self.path} is being written by another process; wait for it or use --out"
                ) from None
            self._move_incomplete_line()
            yield self

    def append(self, run: dict[str, Any]) -> None:
        """Append a run and sync it to the disk."""
        line = json.dumps(run, allow_nan=False, sort_keys=True) + "\n"
        before = self.path.stat().st_size if self.path.exists() else 0
        with self.path.open("ab") as handle:
            try:
                handle.write(line.encode())
                handle.flush()
                os.fsync(handle.fileno())
            except OSError as error:
                handle.truncate(before)  # a full disk must not leave half a line
                raise OSError(error.errno, error.strerror, str(self.path)) from None

    def _move_incomplete_line(self) -> None:
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        _, tail = _split(content)
        if tail:
            aside = self.path.with_suffix(".partial")
            with open_to_append(aside) as handle:
                handle.write(tail + b"\n")
            os.truncate(self.path, len(content) - len(tail))

    def _line(self, number: int, text: bytes) -> dict[str, Any]:
        try:
            run = json.loads(text)
            if not isinstance(run, dict) or not isinstance(run.get("key"), str):
                raise ValueError("not a run of a study: it has no key")
        except (ValueError, RecursionError) as error:
            raise FormatError(
                f"{self.path}, line {number} is damaged ({error}); correct or remove that line; the others are kept"
            ) from None
        if isinstance(run.get("run"), dict):
            check_version(run["run"], f"{self.path}, line {number}")
        return run


def _split(content: bytes) -> tuple[list[bytes], bytes]:
    """Return the complete lines, also empty ones, and what follows the last line break."""
    *whole, tail = content.split(b"\n")
    return whole, tail
