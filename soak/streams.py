"""Generated inputs of `lsprune prune --stream` by number, of every kind of file, and the options to prune them with."""

from __future__ import annotations

import gzip
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from soak.check import expect
from soak.command_line import Ended, Fault, Running, run, start

KINDS = (
    "parquet", "parquet/", "csv", "csv/", "csv.gz", "tsv", "npz", "npy", "npy/", "parquet ids", "csv ids",
    "parquet/ ids", "parquet sorted", "parquet/ sorted", "npy sorted", "csv/ sorted", "parquet two kinds",
)  # fmt: skip
Content = dict[str, bytes]  # of files, by their path in a folder


@dataclass(frozen=True)
class Stream:
    """A command that prunes a generated input, in a place with the folders `in`, `out`, `scratch` and `notes`."""

    place: Path
    words: tuple[str, ...]  # of the command
    out: Path  # the output
    is_folder: bool

    @classmethod
    def of(cls, number: int, rng: np.random.Generator, place: Path, disk: Path | None = None) -> Stream:
        """Write the input of the kind that the number says; the output goes to the folder `disk` or `out`."""
        kind = KINDS[number % len(KINDS)]
        for name in ("in", "out", "scratch"):
            (place / name).mkdir(exist_ok=True)
        disk = place / "out" if disk is None else disk
        file, _, more = kind.partition(" ")
        suffix = "" if file.endswith("/") else f".{file}"
        ends, options = _edges(rng, more), _options(rng, more)
        columns = {"w": rng.random(ends.shape[1])} if file[:3] != "npy" and rng.random() < 0.5 else {}
        _write(place / "in" / f"edges{suffix}", file.rstrip("/"), ends, columns, more)
        if columns and rng.random() < 0.5 and more != "sorted":
            options += ["--edge-attr", "w"]
        if not more or more == "sorted":
            options += _features(rng, place / "in", int(ends.max()) + 1)
        options += ["--map-ids", str(disk / "ids.parquet")] if more == "ids" else []
        options += ["--scratch", str(place / "scratch")] if rng.random() < 0.3 else []
        out = disk / f"small{suffix}"
        words = ("prune", str(place / "in" / f"edges{suffix}"), str(out), "--stream", "--memory", "3GB", *options)
        return cls(place, words, out, not suffix)

    @property
    def disk(self) -> Path:
        """The folder of the output."""
        return self.out.parent

    def run(self, *more: str, fault: Fault | None = None) -> Ended:
        """Run the command to its end."""
        return run((*self.words, *more), self.place, self.place / "notes", fault)

    def start(self, *more: str, fault: Fault | None = None, notes: str = "notes") -> Running:
        """Start the command."""
        return start((*self.words, *more), self.place, self.place / notes, fault)

    def undisturbed(self) -> tuple[Ended, Content]:
        """Run the command without a fault; return what it wrote, and remove that."""
        ended = self.run()
        expect(ended.code == 0, f"{self}: {ended.err}")
        content = self.content()
        self.clear()
        return ended, content

    def content(self) -> Content:
        """Return all files in the folders of the output and of scratch files."""
        found = [path for folder in (self.disk, self.place / "scratch") for path in folder.rglob("*")]
        names = {path.relative_to(self.place).as_posix(): path for path in found}
        return {name: b"/" if path.is_dir() else path.read_bytes() for name, path in names.items()}

    def clear(self) -> None:
        """Remove all files of the output and of scratch files."""
        for folder in (self.disk, self.place / "scratch"):
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def expect_whole_or_absent(self, whole: Content) -> None:
        """Raise Broken if the output is there and not whole."""
        name = self.out.relative_to(self.place).as_posix()
        wanted = {path: data for path, data in whole.items() if path == name or path.startswith(f"{name}/")}
        found = {path: data for path, data in self.content().items() if path == name or path.startswith(f"{name}/")}
        expect(not found or found == wanted, f"{self}: the output is there and not whole")

    def expect_whole(self, whole: Content, when: str) -> None:
        """Raise Broken if the files are not those of an undisturbed run, or if there are others."""
        found = self.content()
        for name in sorted({*whole, *found}):
            expect(name in found, f"{self} {when}: {name} is missing")
            expect(name in whole, f"{self} {when}: {name} is left")
            expect(found[name] == whole[name], f"{self} {when}: {name} has other bytes")

    def __str__(self) -> str:
        return " ".join(Path(word).name if word.startswith("/") else word for word in self.words)


def _edges(rng: np.random.Generator, more: str) -> np.ndarray:
    nodes, edges = int(rng.integers(2, 40)), int(rng.integers(1, 400))
    ends = rng.integers(0, nodes, (2, edges))
    if rng.random() < 0.3:
        ends = np.concatenate([ends, ends[::-1]], axis=1)
    return ends[:, np.argsort(ends[1], kind="stable")] if more == "sorted" else ends


def _options(rng: np.random.Generator, more: str) -> list[str]:
    """Return the options of the pruner, as words."""
    options = ["--seed", str(rng.integers(100))]
    if more == "sorted":
        options += ["--k", str(rng.integers(0, 5))]
    else:
        budget = (["--k", "2"], ["--keep", "0.4"], ["--per-node", "share=0.3"])
        options += budget[rng.integers(3)]
        options += ["--symmetric", str(rng.choice(["union", "intersection"]))] * (rng.random() < 0.3)
        if more == "two kinds":
            options = [word for word in options if word not in ("--symmetric", "union", "intersection")]
    options += ["--bipartite"] if more == "two kinds" else []
    return options + [["--hash", "identity"], ["--pruner", "local-random"]][rng.integers(2)]


def _features(rng: np.random.Generator, folder: Path, nodes: int) -> list[str]:
    """Write features of the nodes, of some kind or none; return the options that name them."""
    rows = rng.standard_normal((nodes, 3)).astype(np.float32)
    kind = rng.choice(["npy", "npz", "parquet", "ids", ""])
    if kind == "npy":
        np.save(folder / "x.npy", rows)
    elif kind == "npz":
        np.savez_compressed(folder / "x.npz", x=rows)
    elif kind:
        columns = {"id": np.arange(nodes)[::-1]} if kind == "ids" else {}
        table = pa.table({**columns, **{f"x{i}": rows[:, i] for i in range(3)}})
        parquet.write_table(table, folder / "x.parquet")
    return ["--features", str(next(folder.glob("x.*")))] if kind else []


def _write(path: Path, kind: str, ends: np.ndarray, columns: dict[str, Any], more: str) -> None:
    """Write edges to a file, or in three parts to a folder if the path has no suffix."""
    if path.suffix:
        _write_file(path, kind, ends, columns, more)
        return
    (path / "sub").mkdir(parents=True)
    if kind == "npy":
        np.save(path / "source.npy", ends[0])
        np.save(path / "target.npy", ends[1])
        (path / "sub").rmdir()
        return
    for part, name in zip(np.array_split(np.arange(ends.shape[1]), 3), ("0", "1", "sub/2"), strict=True):
        some = {name: values[part] for name, values in columns.items()}
        _write_file(path / f"{name}.{kind}", kind, ends[:, part], some, more)


def _write_file(path: Path, kind: str, ends: np.ndarray, columns: dict[str, Any], more: str) -> None:
    names = [[f"u{node}" for node in end] if more == "ids" else end for end in ends]
    table = {"source": names[0], "target": names[1], **columns}
    if kind == "parquet":
        text = {"source": pa.string(), "target": pa.string()} if more == "ids" else {}  # also of a part without edges
        arrays = {name: pa.array(values, text.get(name)) for name, values in table.items()}
        parquet.write_table(pa.table(arrays), path, row_group_size=60)
    elif kind == "npz":
        np.savez(path, edge_index=ends, **columns)
    elif kind == "npy":
        np.save(path, ends)
    else:
        between = "\t" if kind == "tsv" else ","
        rows = zip(*(list(map(str, values)) for values in table.values()), strict=True)
        text = "\n".join(between.join(row) for row in (table, *rows)) + "\n"
        path.write_bytes(gzip.compress(text.encode()) if kind.endswith("gz") else text.encode())
