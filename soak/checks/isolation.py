"""No network and no code from files: what an audit hook of Python sees while lsprune prunes and reads.

The hook cannot be removed and slows down a process, so that these cases run in a process of their own.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from soak.check import CannotRun, Check, expect
from soak.isolated import Isolated


def _add_hook() -> None:
    import isolation

    warnings.simplefilter("ignore")
    isolation.watched = ()  # the pool itself sends pickled arguments
    sys.addaudithook(isolation.hook)


run_watched = Isolated(_add_hook).run


@contextmanager
def _expect_no_events(*watched: str) -> Iterator[None]:
    """Raise `Broken` if one of these events happens in the block."""
    import isolation

    isolation.seen.clear()
    isolation.watched = watched
    try:
        yield
    finally:
        isolation.watched = ()
    expect(not isolation.seen, f"{len(isolation.seen)} events, the first: {isolation.seen[:1]}")


def _prune_watched(number: int, folder: Path) -> int:
    """Prune files or objects, and compare with the reference, while connections and processes are watched for."""
    import isolation

    from soak.checks import same_files, same_objects

    run_case = (same_files.files, same_objects.objects)[number % 2]
    if number < 2:  # the first of each imports modules and compiles kernels
        with suppress(CannotRun):
            run_case(number, folder)
            shutil.rmtree(folder)
            folder.mkdir()
    with _expect_no_events(*isolation.OUTSIDE):
        return run_case(number, folder)


def no_network(number: int, folder: Path) -> int:
    """Prune a generated graph from a file or from objects."""
    return int(run_watched(_prune_watched, number, folder))


@cache
def _kinds() -> tuple[str, ...]:
    import pyarrow

    from soak.damaged_files import KINDS

    old = pyarrow.__version__.startswith("15.")  # it ends the process on columns of an unknown type
    return tuple(
        name
        for name, kind in KINDS.items()
        if not name.startswith(("seal", "work folder")) and not (old and kind.file.endswith(".parquet"))
    )


def _read_watched(number: int, folder: Path) -> int:
    """Read a hostile or a damaged file, twice: the second time no module is new, and any code would be the file's."""
    import isolation

    from lsprune import LspruneError
    from soak.damage import damage
    from soak.damaged_files import KINDS

    turn, place = divmod(number, len(_kinds()))
    kind = KINDS[_kinds()[place]]
    path = folder / "in" / kind.file
    path.parent.mkdir()
    kind.write(path)
    content = path.read_bytes()
    bad = [*isolation.hostile(content, path, folder), content]
    expect(content not in bad[:-1], f"nothing hostile about {_kinds()[place]}")
    # Half of the cases damage a hostile file: the damage may open a way that the whole file has not.
    version = bad[turn % len(bad)] if turn < len(bad) else damage(bad[turn % len(bad)], turn)[1]
    path.write_bytes(version)

    def read() -> None:
        (folder / "out").mkdir()
        with suppress(LspruneError, OSError):
            kind.read(path, folder / "out")
        shutil.rmtree(folder / "out")

    read()
    path.write_bytes(version)
    with _expect_no_events(*isolation.OUTSIDE, *isolation.CODE):
        read()
    expect(not (folder / "ran").exists(), f"{_kinds()[place]}: code of the file was run")
    return 1


def no_code(number: int, folder: Path) -> int:
    """Read a file that asks to be run."""
    return int(run_watched(_read_watched, number, folder))


def start_process(folder: Path) -> None:
    """Do what must be seen."""
    with _expect_no_events("subprocess."):
        subprocess.run(["true"], cwd=folder, check=False)


CHECKS = (
    Check(
        name="no-code", promise="No code from input files",
        about="a file of any kind with code in it, in half of the cases damaged; Python's audit events show "
        "that none of it runs",
        run_case=no_code, share=0.5, quick_cases=10,
    ),
    Check(
        name="no-network", promise="No network",
        about="graphs pruned from files and objects; Python's audit events show no connection and no process",
        run_case=no_network, share=0.5, quick_cases=4,
    ),
)  # fmt: skip
