"""How much memory reading files may take: what a file declares is compared with a limit before it is read.

A compressed file of a few megabytes can expand to many gigabytes. The limit is the one that the caller gives, else the
memory that this process may still take: that of the machine, or of its control group (containers) where that is less.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lsprune.errors import OptionError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"\s*([0-9]{1,20}(?:\.[0-9]{0,20})?)\s*([kmgt]i?)?b?\s*", re.IGNORECASE | re.ASCII)
_MAX_BYTES = 1 << 63  # bytes: more than any machine has
_ADVICE = "use --stream (prune_stream), or allow more with --memory (memory=)"


def parse_size(text: str | int) -> int:
    """Return the bytes of "1GB", "512MiB", "2g" or a number.

    >>> parse_size("1.5GB"), parse_size("64MiB")
    (1500000000, 67108864)
    """
    try:
        written = str(text)
    except ValueError:  # Python refuses to write whole numbers of more than 4,300 digits
        written = "a number of thousands of digits"
    match = _SIZE.fullmatch(written)
    size = int(float(match[1]) * _UNITS[(match[2] or "").lower()]) if match else 0
    if not 0 < size < _MAX_BYTES:
        shown = written if len(written) <= 40 else f"{written[:37]}..."
        raise OptionError(f'memory must be a size such as "1GB" or "512MiB", got {shown!r}')
    return size


def show_size(size: float) -> str:
    """Return bytes as people write them.

    >>> show_size(1_500_000_000)
    '1.5 GB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.4g} TB"


@dataclass(eq=False)
class MemoryBudget:
    """What may still be read into memory; one budget serves all files of a call."""

    limit: int | None  # bytes; None: nobody knows how much there is
    source: str = "limit"  # where the limit comes from, in words
    advice: str = _ADVICE
    used: int = 0

    @classmethod
    def of(cls, memory: str | int | None = None, advice: str = _ADVICE) -> MemoryBudget:
        """Return the budget of a limit such as "2GB", or of the memory available where none is given."""
        if memory is None:
            return cls(available_memory(), "available", advice)
        return cls(parse_size(memory), "allowed (memory)", advice)

    @property
    def left(self) -> int:
        """Bytes that may still be taken."""
        return _MAX_BYTES if self.limit is None else self.limit - self.used

    def take(self, size: int, what: object) -> None:
        """Count `size` bytes for `what`; OptionError if they exceed what is left."""
        if size > self.left:
            raise self.refusal(f"needs {show_size(size)}", what)
        self.used += size

    def refusal(self, needs: str, what: object) -> OptionError:
        """Return the error for something that does not fit."""
        limit = self.limit or 0
        taken = f" ({show_size(self.used)} of them taken already)" if 100 * self.used > limit else ""
        return OptionError(
            f"{what}: {needs} in memory, but only {show_size(limit)} are {self.source}{taken}; {self.advice}"
        )


def available_memory() -> int | None:
    """Return the bytes that this process may still take without swapping; None where the system does not tell."""
    sizes = [size for size in (_free_memory(), *_free_in_groups()) if size is not None]
    return max(0, min(sizes)) if sizes else None


def _free_memory() -> int | None:
    match = re.search(r"MemAvailable:\s+(\d+) kB", _text(Path("/proc/meminfo")))
    if match:
        return int(match[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _free_in_groups(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> Iterator[int]:
    """Yield what each control group around this process allows, of version 2 and 1."""
    for line in _text(own).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, place = rest.partition(":")
        if controllers == "":
            yield from _free_up_to(root, place, ("memory.max", "memory.current"), "")
        elif "memory" in controllers.split(","):
            files = ("memory.limit_in_bytes", "memory.usage_in_bytes")
            yield from _free_up_to(root / "memory", place, files, "total_")


def _free_up_to(root: Path, place: str, files: tuple[str, str], prefix: str) -> Iterator[int]:
    path = PurePosixPath("/") / place
    for folder in (path, *path.parents):  # a group inherits the limits of all groups above it
        group = root / str(folder).lstrip("/")
        limit, used = (_text(group / name).strip() for name in files)
        if limit.isdecimal() and used.isdecimal():
            # pages of files are counted as used, but the system takes them back whenever it needs them
            pages = re.findall(rf"^{prefix}(?:in)?active_file (\d+)$", _text(group / "memory.stat"), re.MULTILINE)
            yield int(limit) - int(used) + sum(map(int, pages))


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
