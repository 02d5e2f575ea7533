"""Damaged files: every reader gives the same output as before, or one clear error, and takes little memory.

A format without checksums cannot tell a flipped digit from data. There another output is allowed, and counted by
`python -m soak.damage_table`.
"""

from __future__ import annotations

import functools
import resource
import shutil
import tempfile
from pathlib import Path

from soak.check import Broken, Check, RunCase
from soak.damage import damage
from soak.isolated import run_isolated

PROMISE = "Damaged input is refused"
MOST_KILOBYTES = 400 << 10  # that a damaged file may take beyond what this process has taken before
GROUPS: dict[str, tuple[str, ...]] = {
    "npz": ("npz", "npz compressed", "npz rows", "npz matrix", "stream npz", "stream npz rows"),
    "npy": ("stream npy",),
    "parquet": ("parquet", "stream parquet"),
    "parquet-of-lsprune": ("parquet with checksums", "stream parquet with checksums"),
    "text": ("csv", "tsv", "txt", "stream csv", "stream txt"),
    "gzip": ("csv.gz", "stream csv.gz"),
    "zstd": ("txt.zst", "stream txt.zst"),
    "zstd-of-lsprune": ("txt.zst with checksum", "stream txt.zst with checksum"),
    "nodes": (
        "features npy", "features npz", "features npz compressed", "features npz matrix", "features parquet",
        "features parquet with checksums", "stream features npy", "stream features npz",
        "stream features npz compressed", "stream features parquet", "stream features parquet with checksums",
    ),
    "lab": ("results", "study"),
    "manifest": ("manifest", "seal"),
    "pruner": ("pruner", "pruner with words"),
    "work-folder": ("work folder, journal.json", "work folder, mask.npy", "work folder, indptr.npy",
                    "work folder, neighbour.npy"),
    "sealed": (
        "sealed csv", "sealed txt", "sealed tsv", "sealed parquet", "sealed txt.zst", "sealed stream npy",
        "sealed stream csv", "sealed features npy", "sealed features parquet",
    ),
}  # fmt: skip


@functools.cache
def _original(name: str) -> tuple[Path, bytes, str]:
    """Return the path of a valid file in a folder of its own, its bytes, and what is read from it."""
    from soak.damaged_files import KINDS

    path = Path(tempfile.mkdtemp(prefix="soak-original-")) / "in" / KINDS[name].file
    path.parents[0 if "/" not in KINDS[name].file else 1].mkdir()
    KINDS[name].write(path)
    content = path.read_bytes()
    return path, content, _read(name, path)


def _read(name: str, path: Path) -> str:
    from soak.damaged_files import KINDS

    folder = Path(tempfile.mkdtemp(prefix="soak-out-"))
    try:
        return repr(KINDS[name].read(path, folder))
    finally:
        shutil.rmtree(folder)


def original(name: str) -> bytes:
    """Return the bytes of a valid file, the same in all cases of a process."""
    return _original(name)[1]


def verdict(name: str, number: int) -> str:
    """Return what came of the damage of this number, as `verdict_on` does."""
    what, damaged = damage(original(name), number)
    return verdict_on(name, damaged, what)


def verdict_on(name: str, damaged: bytes, what: str) -> str:
    """Return what came of a damaged file: "same", "refused" or "wrong"; raise `Broken` for anything else.

    Args:
        what: was done to it, in words.
    """
    from lsprune import LspruneError

    path, _, good = _original(name)
    path.write_bytes(damaged)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        result = "same" if _read(name, path) == good else "wrong"
    except LspruneError as error:
        _check_error(error, path, f"{name}, {what}")
        result = "refused"
    except Exception as error:
        raise Broken(f"{name}, {what}: {type(error).__name__}: {error}") from None
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if grown > MOST_KILOBYTES:
        raise Broken(f"{name}, {what}: took {grown >> 10} MiB")
    return result


def _check_error(error: BaseException, path: Path, what: str) -> None:
    """Raise `Broken` unless an error is one line that names the file, and does not come from a lack of memory."""
    message = str(error)
    named = path.name in message or path.suffix == ".toml"  # errors of a study name its key
    if "\n" in message or not named or len(message) > 1000:
        raise Broken(f"{what}: no clear error: {message[:300]!r}")
    if isinstance(error.__context__, MemoryError):
        raise Broken(f"{what}: asked for more memory than there is: {message[:300]!r}")


def _run_case(group: str, number: int, folder: Path) -> int:
    """Read a damaged file of a group of formats."""
    from soak.damaged_files import KINDS

    turn, kind = divmod(number, len(GROUPS[group]))
    name = GROUPS[group][kind]
    if run_isolated(verdict, name, turn) == "wrong" and KINDS[name].checked:
        raise Broken(f"{name}, damage {turn}: another output, and no error")
    return 1


def _case(group: str) -> RunCase:
    return functools.partial(_run_case, group)


def _about(group: str) -> str:
    return f"a damaged file of one of {len(GROUPS[group])} kinds" if len(GROUPS[group]) > 1 else "a damaged file"


CHECKS = tuple(
    Check(
        name=f"damaged-{group}", promise=PROMISE, about=_about(group), run_case=_case(group), share=0.2,
        quick_cases=(10 if group == "work-folder" else 30) * len(GROUPS[group]),
    )
    for group in GROUPS
)  # fmt: skip
