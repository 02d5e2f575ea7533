"""Pruning a graph that does not fit in memory: the same kernels as in memory, over arrays that live in files.

The edges are grouped by owner on disk, in one pass through the input to count and one to deal them out; then the pruner
runs as it does in memory, with every array that has an entry for each node or edge in a file; then the input is read
once more and what the mask keeps is written, in the caller's order. The mask is that of the pruner in memory, bit for
bit. The ceiling is for anonymous memory; whether files stay in memory is the system's affair.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lsprune._version import __version__
from lsprune.apply import warn_undirected
from lsprune.attributes import describe
from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.graph import Array, Graph, Grouped, Owned
from lsprune.kernels import Runtime, plain, runtime
from lsprune.kernels.threads import spans
from lsprune.pruners import LSP, Pruner
from lsprune.pruners.contract import Local
from lsprune.pruners.similarity import described
from lsprune.scale.features import open_features
from lsprune.scale.grouping import NAMES, Counted, Counter, grouped
from lsprune.scale.inputs import EdgeFiles, Kept, open_edges
from lsprune.scale.manifest import Manifest, verify_input
from lsprune.scale.memory import Ceiling, check_disk, parse_size, release, resident, show_size, watched
from lsprune.scale.onepass import NotSorted, OnePass, fitted, suits
from lsprune.scale.output import Output, refuse_inside, refuse_same
from lsprune.scale.pairs import symmetric_taken
from lsprune.scale.spool import Spool, reopened
from lsprune.scale.work import Work, working
from lsprune.select import OWNERS, Outcome, group, owners_outcome

PathLike = str | os.PathLike[str]
Say = Callable[[str], None]
_BITS = 1 << 20  # edges whose mask is packed at a time


@dataclass(frozen=True)
class Streamed:
    """What a run did."""

    edges: int
    kept: int
    nodes: int
    isolated: int  # nodes that had an edge to another node and have none left
    undirected: bool  # every edge has its reverse
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)  # seconds of each
    peak_memory: int = 0  # anonymous resident bytes
    disk: int = 0  # bytes of scratch files, as reckoned before

    @property
    def share(self) -> float:
        """The share of edges that were kept."""
        return self.kept / max(self.edges, 1)


def prune_stream(
    path: PathLike,
    out: PathLike,
    pruner: Pruner,
    *,
    features: PathLike | None = None,
    edge_attr: Sequence[str] = (),
    source: str | None = None,
    target: str | None = None,
    num_nodes: int | None = None,
    map_ids: PathLike | None = None,
    memory: str | int = "2GB",
    scratch: PathLike | None = None,
    resume: bool = False,
    threads: int | None = None,
    say: Say = lambda text: None,
) -> Streamed:
    """Prune an edge list on disk into `out`, of the same format, in bounded memory; gives what it did.

    Args:
        path: a Parquet file or a folder of them, `.npz` or `.npy` of uncompressed arrays, a text edge list (`.csv`,
            `.tsv`, `.txt`, also `.gz` and `.zst`) or a folder of them.
        out: a file, or a new folder where the input is one; complete or absent, with a manifest.
        pruner: any pruner that lets owners choose; those that need the whole graph at once are refused.
        features: node attributes, `.npy` (memory-mapped), `.npz` or Parquet.
        edge_attr, source, target, num_nodes: as in `read_edges`.
        map_ids: for ids that are not the numbers 0..N-1: number them as they appear and write the mapping here.
        memory: ceiling for anonymous resident memory, such as "1GB".
        scratch: folder for what is needed in between; default that of `out`.
        resume: go on from where an earlier run with the same options stopped.
        say: called with a line of text at every stage.
    """
    begun = time.perf_counter()
    local, given = _local(pruner), Path(path)
    table, mapping = (None if one is None else Path(one) for one in (features, map_ids))
    ceiling = Ceiling(parse_size(memory), resident(), runtime(threads).threads)
    output = _places(given, Path(out), table, mapping, scratch, resume)
    for one in (given, table):
        if one is not None:
            verify_input(one)
    reading = _Reading(given, source, target, tuple(edge_attr), mapping, ceiling.limit // 8)
    edges = reading.open(num_nodes)
    task = {
        "input": _facts(edges.inputs), "features": None if table is None else _facts([table]), "version": __version__,
        "pruner": local.to_dict(), "edge_attr": list(edge_attr), "ends": list(edges.names), "num_nodes": num_nodes,
        "out": str(output.path.absolute()), "memory": ceiling.limit, "map_ids": str(mapping),
    }  # fmt: skip
    folder = (output.path.parent if scratch is None else Path(scratch)) / f"{output.path.name}.lsprune-work"
    same = {key: value for key, value in task.items() if key not in ("out", "memory")}
    name = hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()
    if resume and (before := output.complete(name)) is not None:
        shutil.rmtree(folder, ignore_errors=True)
        return replace(_told(before, output.path), seconds=time.perf_counter() - begun)
    with watched() as peak, working(folder, task, resume=resume) as work:
        job = _Job(reading, local, ceiling, output, work, name, say)
        with output.held(fresh=work.fresh, stays=lambda error: work.stays(error, resume)):
            found = job.run(edges, table, num_nodes)
    if found.undirected and local.symmetric is None and found.kept < found.edges:
        warn_undirected()
    return replace(found, seconds=time.perf_counter() - begun, peak_memory=peak[0])


def _places(
    given: Path, out: Path, features: Path | None, mapping: Path | None, scratch: PathLike | None, resume: bool
) -> Output:
    """The output; raises where it, the mapping or the scratch files would get in the way of each other or of inputs."""
    others = [given, *([] if features is None else [features])]
    output = Output.of(out, *others, resume=resume)
    if mapping is not None:
        refuse_same("map_ids", mapping, *others, out)
        refuse_inside("map_ids", mapping, given)
    if scratch is not None:
        if not Path(scratch).is_dir():
            raise OptionError(f"scratch (--scratch) must be a folder that exists, got {str(scratch)!r}")
        refuse_inside("scratch", Path(scratch), given)
    return output


def _local(pruner: Pruner) -> Local:
    if not isinstance(pruner, Local):
        raise OptionError(f"{pruner.name} must see the whole graph at once; prune without --stream (prune), or use lsp")
    return pruner


def _facts(paths: Sequence[Path]) -> list[list[Any]]:
    """What tells whether files have changed: names, sizes, times."""
    files = [file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    stats = [(file, file.stat()) for file in files if file.is_file()]
    return [[str(file.absolute()), stat.st_size, stat.st_mtime_ns] for file, stat in stats]


@dataclass(frozen=True)
class _Reading:
    """How the input is to be read."""

    path: Path
    source: str | None
    target: str | None
    edge_attr: tuple[str, ...]
    mapping: Path | None
    memory: int  # for a mapping of ids

    def open(self, nodes: int | None) -> EdgeFiles:
        """The input, whose ids must be below `nodes`."""
        return open_edges(self.path, source=self.source, target=self.target, edge_attr=self.edge_attr, num_nodes=nodes)

    def mapped(self, rows: int) -> EdgeFiles:
        """The input with its ids numbered as they appear, and the mapping written."""
        assert self.mapping is not None
        from lsprune.scale.mapping import map_ids

        try:
            return map_ids(self.open(None), self.mapping, memory=self.memory, rows=rows)
        except OptionError as error:
            raise OptionError(f"{error}; ids may take an eighth of --memory") from None


@dataclass(eq=False)
class _Job:
    """One run, stage by stage."""

    reading: _Reading
    pruner: Local
    ceiling: Ceiling
    output: Output
    work: Work
    task: str  # its name
    say: Say
    stages: dict[str, float] = field(default_factory=dict)
    nodes: int = 0
    isolated: int = 0
    disk: int = 0

    def run(self, edges: EdgeFiles, features: Path | None, num_nodes: int | None) -> Streamed:
        self.run_on = Runtime("cpu", self.ceiling.threads, self.work.scratch)
        if "rows" not in self.work.done:  # the bytes of a file may depend on how many rows are written at a time
            self.work.finish("rows", self.ceiling.rows(edges.row_bytes, _attr_bytes(edges)))
        rows = self.work.done["rows"]
        with self._stage("features"):
            x = edges.features if features is None else open_features(features, self.work.folder, rows)
        _check_attributes(self.pruner, x, edges)
        known = num_nodes if x is None or num_nodes is not None else int(x.shape[0])
        with self._stage("open"):
            edges = self.reading.mapped(rows) if self.reading.mapping else self.reading.open(known)
        if self.reading.mapping:
            known = max(edges.nodes or 0, num_nodes or 0) if num_nodes is None or x is not None else num_nodes
            if known < (edges.nodes or 0):
                raise OptionError(f"num_nodes must be at least the {edges.nodes} ids that there are, got {num_nodes}")
        if x is not None and known is not None and x.shape[0] != known:
            raise GraphError(f"x must have {known} rows, one for each node, got {list(x.shape)}")
        manifest = self._sorted(edges, x, rows, known) or self._any_order(edges, x, rows, known)
        return Streamed(**manifest.config["found"], stages=self.stages, disk=self.disk)

    def _sorted(self, edges: EdgeFiles, x: Array | None, rows: int, known: int | None) -> Manifest | None:
        """The one pass through edges that come by owner; None where they do not, or the pruner needs more than that."""
        nodes = known or edges.nodes or 0
        if "scan" in self.work.done or not suits(self.pruner, edges) or not _begins_sorted(edges, self.pruner, rows):
            return None
        self.ceiling.check_graph(nodes, 0, self.pruner)
        with self._stage("keys"):
            found = fitted(self.pruner, x, nodes, self.run_on)
        if found is None:
            return None
        self.say("the edges come by owner: one pass")
        once = OnePass(edges, *found, rows, self.run_on, nodes)

        def counted() -> Counted:
            told = once.counted()
            self.isolated, self.nodes = once.isolated, nodes or told.largest + 1
            return told

        try:
            with self._stage("one pass"):
                return self._write(edges, once.kept, rows, counted)
        except NotSorted:
            self.say("the edges are not all sorted by owner: beginning again, with scratch files")
            self.work.forget("file ")
            return None

    def _any_order(self, edges: EdgeFiles, x: Array | None, rows: int, known: int | None) -> Manifest:
        with self._stage("scan"):
            self._scan(edges, rows)
        self.nodes = known if known is not None else edges.nodes or self.counted.largest + 1
        self._check(edges)
        if "mask" not in self.work.done:
            with self._stage("group"):
                graph = self._graph(edges, x, rows)
            with self._stage("select"):
                self._select(graph)
        self.isolated = self.work.done["mask"]
        with self._stage("write"):
            return self._write(edges, self._kept, rows, lambda: self.counted)

    def _write(self, edges: EdgeFiles, kept: Kept, rows: int, counted: Callable[[], Counted]) -> Manifest:
        def config(kept_edges: int) -> dict[str, Any]:
            told = counted()
            found = {"edges": told.edges, "kept": kept_edges, "nodes": self.nodes, "isolated": self.isolated}
            made = {"pruner": self.pruner.to_dict(), "input": str(self.reading.path), "task": self.task}
            return {**made, "found": {**found, "undirected": told.undirected}}

        return self.output.write(edges, kept, rows, self.work, config, self.say)

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        release()
        self.stages[name] = round(time.perf_counter() - begun, 3)

    @property
    def _skip(self) -> bool:
        return self.pruner.self_loops != "edge"

    def _sides(self, source: Array, target: Array) -> tuple[Array, Array]:
        """(owners, neighbours)."""
        source, target = plain(source), plain(target)
        return (target, source) if self.pruner.side == "in" else (source, target)

    def _scan(self, edges: EdgeFiles, rows: int) -> None:
        """Count the edges, check them, and put aside what is cheaper to have than to read again."""
        if "scan" in self.work.done:
            self.counted = Counted(**self.work.done["scan"])
            return
        self.say("reading the edges to count them")
        counter, spools = Counter(self.run_on, skip=self._skip), self._spools(edges)
        for batch in edges.batches(rows, attributes="edge_attr" in spools):
            counter.add(*self._sides(batch.source, batch.target))
            for name, spool in spools.items():
                spool.add(getattr(batch, name))
        for spool in spools.values():
            spool.close()
        self.counted = counter.result()
        counts = self.work.create("counts", counter.counts.shape[0], np.int64)
        counts[:] = counter.counts
        self.work.finish("scan", asdict(self.counted), "counts")

    def _spools(self, edges: EdgeFiles) -> dict[str, Spool]:
        kinds: dict[str, tuple[Any, tuple[int, ...]]] = {}
        if edges.edges is None:  # text: parsing it once is enough
            kinds |= {"source": (edges.dtype, ()), "target": (edges.dtype, ())}
        if edges.attr_shape is not None:
            kinds["edge_attr"] = (edges.attr_dtype, edges.attr_shape)
        return {name: Spool(self.work.folder / name, *kind) for name, kind in kinds.items()}

    def _check(self, edges: EdgeFiles) -> None:
        """Raise where the memory or the disk will not do for this graph, before the work begins."""
        self.ceiling.check_graph(self.nodes, self.counted.slots, self.pruner)
        ends = 4 if self.nodes < 2**31 else 8
        places = 4 if self.counted.edges < 2**31 else 8
        pairs = 2 if self.pruner.symmetric else 1
        slots = self.counted.slots * (pairs * (2 + 2 * (ends + places)) + 1)
        self.disk = slots + self.counted.edges * (2 + _attr_bytes(edges)) + self.nodes * 8 * 12
        written = sum(path.stat().st_size for path in edges.inputs)
        self.say(
            f"{self.nodes:,} nodes, {self.counted.edges:,} edges; {show_size(self.disk)} of scratch files in "
            f"{self.work.folder}, at most {show_size(written)} of output"
        )
        if not {"indptr", "mask"} & set(self.work.done):
            check_disk(self.work.folder, self.disk, "--scratch DIR (scratch=) chooses another")
        if self.pruner.keep is not None and not any(stage.startswith("file ") for stage in self.work.done):
            check_disk(self.output.path.parent, int(written * self.pruner.keep), "write to another")

    def _graph(self, edges: EdgeFiles, x: Array | None, rows: int) -> Graph:
        """The graph by owner, all of it in files."""
        if "indptr" not in self.work.done:
            self.say("grouping the edges by owner")

        def ends() -> Iterator[tuple[int, Array, Array]]:
            for first, *pair in self._spooled(edges, rows) if self._has("source") else _read(edges, rows):
                yield first, *self._sides(*pair)

        counts = self.work.array("counts")
        owned: Owned = grouped(ends, counts, self.counted.edges, self.nodes, self.work, self.run_on, skip=self._skip)
        largest = max(
            (int(np.diff(owned.indptr[lo : hi + 1]).max()) for lo, hi in spans(self.nodes, OWNERS)), default=0
        )
        self.ceiling.check_owner(largest, self.pruner, edges.attr_shape is not None)
        attr = None
        if self._has("edge_attr"):
            attr = reopened(self.work.folder / "edge_attr", edges.attr_dtype, edges.attr_shape or ())
        return Graph(
            source=None, target=None, num_sources=self.nodes, num_targets=self.nodes, x_source=x, x_target=x,
            edge_attr=attr, grouped=Grouped(owned, self.pruner.side, not self._skip, self.counted.edges),
        )  # fmt: skip

    def _has(self, name: str) -> bool:
        return (self.work.folder / name).exists()

    def _spooled(self, edges: EdgeFiles, rows: int) -> Iterator[tuple[int, Array, Array]]:
        source, target = (reopened(self.work.folder / name, edges.dtype) for name in ("source", "target"))
        for lo in range(0, source.shape[0], rows):
            yield lo, source[lo : lo + rows], target[lo : lo + rows]

    def _select(self, graph: Graph) -> None:
        """The mask, in bits, as the array "mask" of the work folder."""
        self.say("selecting")
        found = self._outcome(graph)
        bits = self.work.create("mask", -(-graph.num_edges // 8), np.uint8)
        for lo in range(0, graph.num_edges, _BITS):
            packed = np.packbits(found.mask[lo : lo + _BITS])
            bits[lo // 8 : lo // 8 + packed.shape[0]] = packed
        self.work.finish("mask", found.isolated, "mask")
        self.work.drop(*NAMES)

    def _outcome(self, graph: Graph) -> Outcome:
        mode = self.pruner.symmetry(graph)
        if not mode:
            return self.pruner.mask_graph(graph, self.run_on)
        owned = group(graph, self.pruner, self.run_on)
        source = self.pruner.source(graph, owned, self.run_on)
        taken = symmetric_taken(graph, self.pruner, mode, owned, source, self.work, self.run_on)
        return owners_outcome(graph, owned, taken, self.pruner.self_loops, self.run_on)

    def _kept(self, first: int, last: int) -> Array:
        """The mask of the edges first..last."""
        lo = first // 8
        bits = np.unpackbits(self.work.array("mask")[lo : -(-last // 8)])
        return bits[first - 8 * lo : last - 8 * lo].view(bool)


def _told(manifest: Manifest, path: Path) -> Streamed:
    """What the manifest of a complete output says of the run that made it."""
    try:
        return Streamed(**manifest.config["found"])
    except (KeyError, TypeError):
        raise FormatError(f"{path}: its manifest does not say what was found; write it again") from None


def _attr_bytes(edges: EdgeFiles) -> int:
    """Bytes of the attributes of an edge."""
    return 0 if edges.attr_dtype is None else edges.attr_dtype.itemsize * math.prod(edges.attr_shape or ())


def _check_attributes(pruner: Local, x: Array | None, edges: EdgeFiles) -> None:
    """Raise, before any work, for a hash that needs attributes where there are none."""
    if not isinstance(pruner, LSP) or x is not None:
        return
    empty = Graph.from_edges(np.zeros((2, 0), np.int64), num_nodes=0)
    if pruner.family.needs_attributes and edges.attr_shape is None:
        describe(empty, pruner.side, pruner.attributes, seed=0)
    if pruner.weights == "similarity":
        described(empty, pruner.side, 0)


def _begins_sorted(edges: EdgeFiles, pruner: Local, rows: int) -> bool:
    """Whether the first edges come by owner."""
    batch = next(edges.batches(min(rows, 1 << 12)), None)
    owner = None if batch is None else batch.target if pruner.side == "in" else batch.source
    return owner is not None and not bool((owner[1:] < owner[:-1]).any())


def _read(edges: EdgeFiles, rows: int) -> Iterator[tuple[int, Array, Array]]:
    return ((batch.first, batch.source, batch.target) for batch in edges.batches(rows))
