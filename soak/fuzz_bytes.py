"""Coverage-guided fuzzing of the readers of bytes with atheris (`pip install atheris`, Linux only).

`python -m soak.fuzz_bytes TARGET -max_total_time=300` begins with small valid files and changes them towards code that
was not reached yet; what follows the target are options of libFuzzer. An error that is not one of lsprune's, a crash,
or more than 2 GB of memory ends it, and leaves the bytes in a file `crash-*`: mend the reader, and keep that file in
`tests/files/damaged/TARGET/`, all of which a test reads again. Arrow's zstd reader leaks 4 kB with every error: give
the target zstd `-rss_limit_mb=0`.
"""

from __future__ import annotations

import io
import multiprocessing
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

INSTRUMENTED = [  # modules whose lines guide the search
    "lsprune.files", "lsprune.pruners.saved", "lsprune.lab.studies", "lsprune.lab.reporting.records", "numpy.lib",
    "zipfile", "gzip", "tomllib", "csv", "json",
]  # fmt: skip
Target = Callable[[Path], None]  # reads a file


def npy_header(path: Path) -> None:
    """Read the header of an array."""
    from lsprune.files.npy import read_header

    read_header(io.BytesIO(path.read_bytes()), path.name)


def npy(path: Path) -> None:
    """Read an array."""
    from lsprune.files.npy import read_npy

    read_npy(path).sum()


def npz(path: Path) -> None:
    """Read arrays into memory, and where they lie."""
    from lsprune import LspruneError
    from lsprune.files.memory_budget import MemoryBudget
    from lsprune.files.npy import npz_members, read_npz

    with suppress(LspruneError):
        read_npz(path, MemoryBudget.of("1GB"))
    for member in npz_members(path).values():
        member.verify()


def text(path: Path) -> None:
    """Read an edge list of text, in memory and by batches."""
    from lsprune import LspruneError
    from lsprune.files import open_edges, read_edges

    with suppress(LspruneError):
        read_edges(path, memory="1GB")
    for _ in open_edges(path).batches(3):
        pass


def parquet(path: Path) -> None:
    """Read the footer of a Parquet file, then its rows."""
    from lsprune.files.memory_budget import MemoryBudget
    from lsprune.files.parquet import read_parquet

    read_parquet(path, MemoryBudget.of("1GB"))


def compression(path: Path) -> None:
    """Read the first megabyte of a compressed file."""
    from lsprune.files.compression import unpacked

    with unpacked(path) as stream:
        stream.read(1 << 20)


def manifest(path: Path) -> None:
    """Read a manifest."""
    from lsprune.files.manifest import Manifest

    Manifest.read(path)


def pruner(path: Path) -> None:
    """Read a fitted pruner."""
    from lsprune import load

    load(path)


def results(path: Path) -> None:
    """Read the lines of a result file."""
    from lsprune.lab.reporting.records import read_records

    list(read_records(path))


def study(path: Path) -> None:
    """Read a study."""
    from lsprune.lab.studies import study_files

    study_files.read(str(path)).runs()


# name -> (file name, reader, kinds of `soak.damaged_files` to begin with)
TARGETS: dict[str, tuple[str, Target, tuple[str, ...]]] = {
    "npy-header": ("in.npy", npy_header, ("stream npy", "features npy")),
    "npy": ("in.npy", npy, ("stream npy", "features npy")),
    "npz": ("in.npz", npz, ("npz", "npz compressed", "npz rows", "features npz", "pruner")),
    "csv": ("in.csv", text, ("csv",)),
    "txt": ("in.txt", text, ("txt",)),
    "gzip": ("in.csv.gz", compression, ("csv.gz",)),
    "zstd": ("in.csv.zst", compression, ("txt.zst", "txt.zst with checksum")),
    "parquet": ("in.parquet", parquet, ("parquet", "parquet with checksums", "features parquet")),
    "manifest": ("in.csv.lsprune.json", manifest, ("manifest", "seal")),
    "pruner": ("in.npz", pruner, ("pruner", "pruner with words")),
    "results": ("in.jsonl", results, ("results",)),
    "study": ("in.toml", study, ("study",)),
}  # fmt: skip


def attempt(target: str, path: Path) -> str:
    """Read a file; return the message of an error of lsprune, else nothing. Any other error is raised."""
    from lsprune import LspruneError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TARGETS[target][1](path)
    except LspruneError as error:
        return str(error)
    return ""


def write_seeds(target: str, corpus: Path) -> None:
    """Write the valid files that a target begins with into a new folder."""
    from soak.damaged_files import KINDS

    corpus.mkdir()
    for kind in TARGETS[target][2]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / KINDS[kind].file
            KINDS[kind].write(path)
            (corpus / kind).write_bytes(path.read_bytes())


def main() -> None:
    """Fuzz the target that is named first; the other words are options of libFuzzer."""
    import atheris

    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        raise SystemExit(f"python -m soak.fuzz_bytes TARGET [OPTIONS OF LIBFUZZER]; TARGET: {', '.join(TARGETS)}")
    target = sys.argv.pop(1)
    with tempfile.TemporaryDirectory() as folder:
        place, corpus = Path(folder) / TARGETS[target][0], Path(folder) / "corpus"
        # In a process of its own: numba does not compile what is instrumented.
        context = multiprocessing.get_context("spawn")
        writer = context.Process(target=write_seeds, args=(target, corpus))
        writer.start()
        writer.join()
        with atheris.instrument_imports(include=INSTRUMENTED):
            import lsprune.lab.reporting.records
            import lsprune.lab.studies
            import lsprune.outofcore.stream  # noqa: F401

        def once(data: bytes) -> None:
            place.write_bytes(data)
            attempt(target, place)

        program, *options = sys.argv
        atheris.Setup([program, "-rss_limit_mb=2048", "-max_len=8192", *options, str(corpus)], once)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
