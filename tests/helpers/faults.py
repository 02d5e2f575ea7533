"""Fault injection: a stream is stopped at a chosen point, its files are damaged, and it is resumed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from graphs import random_graph
from lsprune import LSP, LocalRandom, Timed
from lsprune.baselines import TopWeight
from lsprune.outofcore.stream import Streamed, prune_stream
from lsprune.outofcore.work_folder import Work
from lsprune.pruners import Pruner

EDGES, NODES = 240, 30


@dataclass(frozen=True)
class Case:
    """An input, and how it is pruned."""

    name: str
    pruner: Pruner
    suffix: str = ".parquet"  # "": a folder of three Parquet files
    features: str | None = "x.npy"
    edge_attr: tuple[str, ...] = ()
    strings: bool = False  # ids that need a mapping
    ordered: bool = False  # by owner: one pass

    def build(self, place: Path) -> None:
        """Write the input and the features."""
        graph = random_graph(8, nodes=NODES, edges=EDGES)
        ends = np.stack(graph.ends())
        ends = ends[:, np.argsort(ends[1], kind="stable")] if self.ordered else ends
        columns = [[f"u{i}" for i in end] if self.strings else end for end in ends]
        table = dict(zip(("source", "target"), columns, strict=True))
        table |= {name: np.random.default_rng(1).random(EDGES) for name in self.edge_attr}
        table |= {"time": np.random.default_rng(2).integers(0, 30, EDGES) + 2**60} if self.pruner.needs.within else {}
        whole = pa.table(table)
        if self.suffix == ".parquet":
            parquet.write_table(whole, place / "in.parquet", row_group_size=50)
        elif self.suffix == ".csv":
            rows = "".join(f"{a},{b}\n" for a, b in ends.T)
            (place / "in.csv").write_text("source,target\n" + rows)
        else:
            (place / "in" / "sub").mkdir(parents=True)
            for number, name in enumerate(("0.parquet", "1.parquet", "sub/2.parquet")):
                parquet.write_table(whole.slice(number * EDGES // 3, EDGES // 3), place / "in" / name)
        np.save(place / "x.npy", graph.x)
        parquet.write_table(pa.table({f"x{i}": graph.x[:, i] for i in range(graph.x.shape[1])}), place / "x.parquet")

    def run(self, place: Path, out: str, **more: Any) -> Streamed:
        """Prune the input to `out` (without its suffix)."""
        options = {"features": None if self.features is None else place / self.features, "edge_attr": self.edge_attr}
        options |= {"map_ids": place / f"{out}-ids.parquet"} if self.strings else {"num_nodes": NODES}
        return prune_stream(
            place / f"in{self.suffix}", self.out(place, out), self.pruner, memory="3GB", **{**options, **more}
        )

    def out(self, place: Path, out: str) -> Path:
        return place / f"{out}{self.suffix}"


CASES = [
    Case("k", LSP(k=2)),
    Case("keep", LSP(keep=0.4), features="x.parquet", edge_attr=("a", "b")),
    Case("symmetric", LSP(keep=0.4, symmetric="union"), suffix=""),
    Case("symmetric-k", LSP(k=2, symmetric="intersection")),
    Case("text", LocalRandom(keep=0.5), suffix=".csv", features=None),
    Case("ids", LSP(keep=0.5, hash="identity"), strings=True, features=None),
    Case("one-pass", LSP(k=2), suffix="", ordered=True),
    Case("timed", Timed(pruner=TopWeight(keep=0.6, column="time"), window=12, since=2**60 + 5), suffix=""),
    Case("timed-one-pass", Timed(pruner=LSP(k=2), until=2**60 + 20), suffix="", ordered=True),
]


def flip(at: float) -> Callable[[Path], None]:
    """Change one bit of a file, in its first byte (0) up to its last one (1)."""

    def damage(path: Path) -> None:
        raw = bytearray(path.read_bytes())
        raw[round(at * (len(raw) - 1))] ^= 1
        path.write_bytes(raw)

    return damage


def cut(share: float) -> Callable[[Path], None]:
    """Leave this share of a file, and not all of it."""

    def damage(path: Path) -> None:
        raw = path.read_bytes()
        path.write_bytes(raw[: min(int(share * len(raw)), len(raw) - 1)])

    return damage


def grow(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


DAMAGES: list[Callable[[Path], None]] = [
    cut(0.5), flip(0.6), cut(0.0), flip(1.0), cut(1.0), flip(0.0), Path.unlink, grow, flip(0.9), cut(0.9),
]  # fmt: skip


class Stopped(KeyboardInterrupt):
    """The run was stopped on purpose."""


@dataclass
class Bench:
    """A place in which a case is run, stopped, damaged and resumed."""

    case: Case
    place: Path
    monkeypatch: pytest.MonkeyPatch
    whole: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.case.build(self.place)
        self.inputs = self._names()
        self.stages = self._count()
        self.whole = self.content("out")
        self.remove("out")

    def _count(self) -> int:
        """Run to the end; the number of points at which a run can be stopped."""
        calls: list[str] = []
        with self.monkeypatch.context() as patch:
            finish = Work.finish

            def counted(work: Work, stage: str, *rest: Any) -> None:
                finish(work, stage, *rest)
                calls.append(stage)

            patch.setattr(Work, "finish", counted)
            self.case.run(self.place, "out")
        return len(calls)

    def stop_after(self, number: int) -> None:
        """Run until `number` stages are in the journal."""
        left = [number]
        with self.monkeypatch.context() as patch:
            finish = Work.finish

            def stopping(work: Work, stage: str, *rest: Any) -> None:
                finish(work, stage, *rest)
                left[0] -= 1
                if left[0] == 0:
                    raise Stopped

            patch.setattr(Work, "finish", stopping)
            with pytest.raises(Stopped):
                self.case.run(self.place, "out", resume=True)

    def resume(self) -> list[str]:
        """Resume; what was said."""
        said: list[str] = []
        self.case.run(self.place, "out", resume=True, say=said.append)
        return said

    def left(self) -> list[Path]:
        """Every file that the stopped run left and that holds something."""
        found = [self.case.out(self.place, "out"), *self._side("work").rglob("*"), *self._side("part").rglob("*")]
        return sorted(path for path in found if path.is_file() and path.stat().st_size)

    def _side(self, kind: str) -> Path:
        out = self.case.out(self.place, "out")
        return out.with_name(f"{out.name}.lsprune-{kind}")

    def content(self, out: str) -> dict[str, bytes]:
        """All that a run wrote, by name."""
        found = [path for path in self.place.rglob("*") if path.is_file()]
        names = {path.relative_to(self.place).as_posix(): path for path in found}
        return {name: path.read_bytes() for name, path in names.items() if name.startswith(out)}

    def remove(self, *starts: str) -> None:
        for path in list(self.place.iterdir()):
            if path.name.startswith(starts):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _names(self) -> set[str]:
        return {path.name for path in self.place.iterdir()}

    def save(self) -> Path:
        """A copy of what the stopped run left."""
        kept = self.place.with_name(f"{self.place.name}-saved")
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self.place, kept)
        return kept

    def restore(self, kept: Path) -> None:
        self.remove("out")
        for path in kept.iterdir():
            if path.name.startswith("out"):
                (shutil.copytree if path.is_dir() else shutil.copy2)(path, self.place / path.name)

    def points(self) -> Iterator[tuple[int, Path]]:
        """Every point at which a run can be stopped, one after the other, and a copy of what is left then."""
        for number in range(1, self.stages + 1):
            self.remove("out")
            self.stop_after(number)
            yield number, self.save()
