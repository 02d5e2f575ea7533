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
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lsprune._version import __version__
from lsprune.checks import counts_of
from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files import EdgeFiles, Kept, NumNodes, open_edges, refuse_columns
from lsprune.files.atomic_write import remove_abandoned
from lsprune.files.manifest import Entry, Manifest, compare, verify_input
from lsprune.files.node_kinds import check_two_kinds, look_like_two_kinds, warn_two_kinds
from lsprune.files.node_table import NodeRows
from lsprune.graph import Array, Graph, Grouped, Owned, oriented
from lsprune.hashing.keys import MAX_UNCACHED_STEPS
from lsprune.kernels import Runtime, plain, runtime
from lsprune.kernels.threads import spans
from lsprune.outofcore.append_file import AppendFile
from lsprune.outofcore.grouping import NAMES, Counted, Counter, grouped
from lsprune.outofcore.id_mapping import MappedEdges
from lsprune.outofcore.id_mapping import map_ids as number_ids
from lsprune.outofcore.memory_ceiling import (
    Ceiling,
    check_disk,
    parse_size,
    release,
    resident,
    show_size,
    watched,
)
from lsprune.outofcore.node_features import FEATURES_FILE, NodeTable, open_features, open_nodes
from lsprune.outofcore.one_pass import NotSorted, OnePass, fitted_to_nodes, nodes_only, suits
from lsprune.outofcore.output import Output, refuse_inside, refuse_same
from lsprune.outofcore.pairs import PAIR_NAMES, symmetric_taken
from lsprune.outofcore.work_folder import Work, remove_finished, working
from lsprune.pruners import PerOwner, Pruner
from lsprune.pruners.relations import warn_undirected
from lsprune.selection.mask import Outcome, owners_outcome
from lsprune.selection.owners import BLOCK_OWNERS, group

PathLike = str | os.PathLike[str]
Say = Callable[[str], None]
TARGETS = "target_features"
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
    id: str | None = None,
    x: Sequence[str] = (),
    edge_attr: Sequence[str] = (),
    source: str | None = None,
    target: str | None = None,
    num_nodes: NumNodes = None,
    edge_arrays: Sequence[str] = (),
    node_arrays: Sequence[str] = (),
    bipartite: bool | None = None,
    target_features: PathLike | None = None,
    target_id: str | None = None,
    target_x: Sequence[str] = (),
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
        features: node attributes, `.npy` (memory-mapped), `.npz` or Parquet (a file or a folder). Row i is node i,
            unless the table has a column of ids: its rows are then joined by it.
        id, x, edge_attr, source, target, num_nodes, edge_arrays, node_arrays, bipartite, target_features, target_id,
            target_x: as in `read_edges`.
        map_ids: for ids that are not the numbers 0..N-1: number them as they appear and write the mapping here. A
            column of ids in `features` then holds such ids.
        memory: ceiling for anonymous resident memory, such as "1GB".
        scratch: folder for what is needed in between; default that of `out`.
        resume: go on from where an earlier run with the same options stopped.
        say: called with a line of text at every stage.
    """
    begun = time.perf_counter()
    local, given = _local(pruner), Path(path)
    num_nodes = counts_of(num_nodes, "num_nodes", OptionError)
    mapping = None if map_ids is None else Path(map_ids)
    tables = (_Table.of(features, id, x, "features"), _Table.of(target_features, target_id, target_x, TARGETS))
    there = [table.path for table in tables if table is not None]
    ceiling = Ceiling(parse_size(memory), resident(), runtime(threads).threads)
    output = _places(given, Path(out), there, mapping, scratch, resume)
    for one in (given, *there):
        verify_input(one)
    arrays = (tuple(edge_arrays), tuple(node_arrays))
    two = None if bipartite is None and not isinstance(num_nodes, tuple) else bipartite is not False
    reading = _Reading(given, source, target, tuple(edge_attr), mapping, ceiling.limit // 8, *arrays, two)
    edges = reading.open(num_nodes)
    if check_two_kinds(bipartite, edges.limits is not None, target_features=target_features):
        _check_two_kinds(local, num_nodes)
    task = {
        "input": _facts(edges.inputs), "features": _facts(there) if there else None, "version": __version__,
        "pruner": local.to_dict(), "edge_attr": list(edge_attr), "ends": list(edges.names), "num_nodes": num_nodes,
        "out": str(output.path.absolute()), "memory": ceiling.limit, "map_ids": str(mapping),
        "tables": [None if table is None else [table.id, list(table.x)] for table in tables],
        "arrays": [list(names) for names in arrays], "bipartite": edges.limits is not None,
    }  # fmt: skip
    folder = (output.path.parent if scratch is None else Path(scratch)) / f"{output.path.name}.lsprune-work"
    same = {key: value for key, value in task.items() if key not in ("out", "memory")}
    name = hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()
    if resume and (before := output.complete(name, say)) is not None:
        told = _told(before, output.path)
        reading.mend_mapping(before, ceiling.rows(edges.row_bytes), tables, say)
        output.tidy()
        remove_finished(folder, task)
        return replace(told, seconds=time.perf_counter() - begun)
    with watched() as peak, working(folder, task, resume=resume, say=say) as work:
        job = _Job(reading, local, ceiling, output, work, name, say)
        with output.held(fresh=work.fresh, stays=lambda error: work.stays(error, resume)):
            found = job.run(edges, tables, num_nodes)
    if bipartite is None and job.loops and look_like_two_kinds(edges.names):
        warn_two_kinds(edges.names)
    if found.undirected and local.symmetric is None and found.kept < found.edges:
        warn_undirected()
    return replace(found, seconds=time.perf_counter() - begun, peak_memory=peak[0])


def _check_two_kinds(pruner: PerOwner, num_nodes: NumNodes) -> None:
    """OptionError for what goes with one kind of nodes only."""
    if isinstance(num_nodes, int):
        raise OptionError(
            f"num_nodes must be a pair (--num-nodes and --num-targets), one for each kind of nodes, got {num_nodes}"
        )
    if pruner.symmetric:
        raise OptionError("symmetric must be None for a relation between two node types: it has no reverse edges")


def _places(
    given: Path, out: Path, tables: Sequence[Path], mapping: Path | None, scratch: PathLike | None, resume: bool
) -> Output:
    """The output; raises where it, the mapping or the scratch files would get in the way of each other or of inputs."""
    others = [given, *tables]
    output = Output.of(out, *others, resume=resume)
    if mapping is not None:
        refuse_same("map_ids", mapping, *others, out)
        refuse_inside("map_ids", mapping, given)
    if scratch is not None:
        if not Path(scratch).is_dir():
            raise OptionError(f"scratch (--scratch) must be a folder that exists, got {str(scratch)!r}")
        refuse_inside("scratch", Path(scratch), given)
    return output


def _local(pruner: Pruner) -> PerOwner:
    if pruner.needs.scope == "graph" or not isinstance(pruner, PerOwner):
        raise OptionError(f"{pruner.name} must see the whole graph at once; prune without --stream (prune), or use lsp")
    return pruner


def _facts(paths: Sequence[Path]) -> list[list[Any]]:
    """What tells whether files have changed: names, sizes, times."""
    files = [file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    stats = [(file, file.stat()) for file in files if file.is_file()]
    return [[str(file.absolute()), stat.st_size, stat.st_mtime_ns] for file, stat in stats]


@dataclass(frozen=True)
class _Table:
    """A table of nodes that was named."""

    path: Path
    id: str | None
    x: tuple[str, ...]
    spooled: str  # the name of its copy in the work folder

    @classmethod
    def of(cls, path: PathLike | None, id: str | None, x: Sequence[str], option: str) -> _Table | None:
        """The table; None without one, in which case there must be no names of its columns."""
        if path is None:
            refuse_columns(id, x, option)
            return None
        return cls(Path(path), id, tuple(x), FEATURES_FILE if option != TARGETS else f"target-{FEATURES_FILE}")

    def open(self, folder: Path, rows: int) -> NodeRows | NodeTable:
        return open_nodes(self.path, folder, rows, id=self.id, x=self.x, name=self.spooled)

    def read(self, folder: Path, rows: int) -> NodeRows:
        return open_features(self.path, folder, rows, id=self.id, x=self.x, name=self.spooled)


Tables = tuple[_Table | None, _Table | None]  # of the sources, or of all nodes, and of the targets
Attributes = tuple[NodeRows | None, NodeRows | None]  # the same as arrays


def _with_ids(tables: Tables, folder: Path, rows: int) -> tuple[NodeTable | None, NodeTable | None]:
    """Those tables that have a column of ids; what must be copied to be read goes to `folder`."""
    opened = [None if table is None else table.open(folder, rows) for table in tables]
    sources, targets = (
        table if isinstance(table, NodeTable) and table.columns.id is not None else None for table in opened
    )
    return sources, targets


@dataclass(frozen=True)
class _Reading:
    """How the input is to be read."""

    path: Path
    source: str | None
    target: str | None
    edge_attr: tuple[str, ...]
    mapping: Path | None
    memory: int  # for a mapping of ids
    edge_arrays: tuple[str, ...] = ()
    node_arrays: tuple[str, ...] = ()
    bipartite: bool | None = None

    def open(self, nodes: NumNodes) -> EdgeFiles:
        """The input, whose ids must be below `nodes`."""
        return open_edges(
            self.path, source=self.source, target=self.target, edge_attr=self.edge_attr, num_nodes=nodes,
            edge_arrays=self.edge_arrays, node_arrays=self.node_arrays, bipartite=self.bipartite,
        )  # fmt: skip

    def mapped(self, rows: int, tables: tuple[NodeTable | None, NodeTable | None]) -> MappedEdges:
        """The input with its ids numbered as they appear, and the mapping written."""
        assert self.mapping is not None
        remove_abandoned(self.mapping)
        try:
            return number_ids(self.open(None), self.mapping, memory=self.memory, rows=rows, tables=tables)
        except OptionError as error:
            raise OptionError(f"{error}; ids may take an eighth of --memory") from None

    def mend_mapping(self, manifest: Manifest, rows: int, tables: Tables, say: Say) -> None:
        """Write the mapping of a complete output again if it is not as it was written."""
        if self.mapping is None:
            return
        problems = compare(self.mapping.parent, Entry(**manifest.config["map_ids"]))
        if problems:
            say(f"{problems[0]}; it is made again")
            with TemporaryDirectory(prefix=".lsprune-", dir=self.mapping.parent) as folder:
                self.mapped(rows, _with_ids(tables, Path(folder), rows))


@dataclass(eq=False)
class _Job:
    """One run, stage by stage."""

    reading: _Reading
    pruner: PerOwner
    ceiling: Ceiling
    output: Output
    work: Work
    task: str  # its name
    say: Say
    stages: dict[str, float] = field(default_factory=dict)
    sizes: tuple[int, int] = (0, 0)  # numbers of sources and of targets; the same where they are one kind of nodes
    two: bool = False  # sources and targets are two kinds of nodes
    isolated: int = 0
    loops: bool = False  # some edge has the same id at both ends
    disk: int = 0
    mapping: dict[str, Any] | None = None  # the manifest entry of the mapping of ids

    @property
    def nodes(self) -> int:
        """Number of nodes of all kinds."""
        return sum(self.sizes) if self.two else self.sizes[0]

    @property
    def owners(self) -> int:
        """Number of nodes that may own an edge."""
        return oriented(self.pruner.side, *self.sizes)[0]

    def run(self, edges: EdgeFiles, tables: Tables, num_nodes: NumNodes) -> Streamed:
        self.run_on, self.two = Runtime("cpu", self.ceiling.threads, self.work.scratch), edges.limits is not None
        if "rows" not in self.work.done:  # the bytes of a file may depend on how many rows are written at a time
            self.work.finish("rows", self.ceiling.rows(edges.row_bytes, _attr_bytes(edges)))
        rows = self.work.done["rows"]
        edges, found = (
            self._mapped(tables, rows) if self.reading.mapping else self._opened(edges, tables, rows, num_nodes)
        )
        x = tuple(None if one is None else one.x for one in found)
        known = self._known(edges, found, num_nodes)
        edges.check_arrays(known)
        _check_attributes(self.pruner, x, edges)
        edges.tables = found
        graph = _Nodes(self.two, x, tuple(None if one is None else one.known for one in found))
        manifest = self._sorted(edges, graph, rows, known) or self._any_order(edges, graph, rows, known)
        return Streamed(**manifest.config["found"], stages=self.stages, disk=self.disk)

    def _opened(self, edges: EdgeFiles, tables: Tables, rows: int, num_nodes: NumNodes) -> tuple[EdgeFiles, Attributes]:
        """The input, with its number of nodes known where the attributes tell it, and the attributes."""
        with self._stage("features"):
            found = self._attributes(
                edges, [None if one is None else one.read(self.work.folder, rows) for one in tables]
            )
        with self._stage("open"):
            counts = [None if one is None else int(one.x.shape[0]) for one in found]
            if self.two:
                given = num_nodes if isinstance(num_nodes, tuple) else (None, None)
                first, second = (one if count is None else count for count, one in zip(given, counts, strict=True))
                return self.reading.open((first, second)), found
            return self.reading.open(counts[0] if num_nodes is None else num_nodes), found

    def _mapped(self, tables: Tables, rows: int) -> tuple[EdgeFiles, Attributes]:
        """The input with its ids numbered, and the attributes, joined by these ids where the table has them."""
        folder = self.work.folder
        with self._stage("open"):
            joined = _with_ids(tables, folder, rows)
            edges = self.reading.mapped(rows, joined)
            self.mapping = asdict(edges.entry)
        with self._stage("features"):
            found: list[NodeRows | None] = []
            for end, (one, table) in enumerate(zip(joined, tables, strict=True)):
                if one is not None and table is not None:
                    found.append(edges.place(one, end, folder / table.spooled))
                else:
                    found.append(None if table is None else table.read(folder, rows))
            return edges, self._attributes(edges, found)

    def _attributes(self, edges: EdgeFiles, found: Sequence[NodeRows | None]) -> Attributes:
        """The attributes of sources and targets: from tables, else from the file of edges; one kind has them once."""
        inside = edges.end_features if self.two else (edges.features, None)
        both = [
            one if one is not None else None if array is None else NodeRows(array)
            for one, array in zip(found, inside, strict=True)
        ]
        return (both[0], both[1]) if self.two else (both[0], both[0])

    def _known(self, edges: EdgeFiles, found: Attributes, num_nodes: NumNodes) -> tuple[int | None, int | None]:
        """Number of sources and of targets, where they are known before the edges are read."""
        known = []
        for end, one in enumerate(found):
            given = num_nodes[end] if isinstance(num_nodes, tuple) else num_nodes
            count = None if one is None else int(one.x.shape[0])
            size = edges.limit(end) if given is None or self.reading.mapping else given
            if self.reading.mapping:
                size = self._mapped_size(size or 0, given, count)
            if count is not None and size is not None and count != size:
                raise GraphError(f"x must have {size} rows, one for each node, got {list(one.x.shape)}")  # type: ignore[union-attr]
            known.append(size if size is not None else count)
        return known[0], known[1]

    def _mapped_size(self, ids: int, given: int | None, rows: int | None) -> int:
        if given is not None and rows is None and given < ids:
            raise OptionError(f"num_nodes must be at least the {ids} ids that there are, got {given}")
        return max(ids, given or 0)

    def _sorted(
        self, edges: EdgeFiles, nodes: _Nodes, rows: int, known: tuple[int | None, int | None]
    ) -> Manifest | None:
        """The one pass through edges that come by owner; None where they do not, or the pruner needs more than that."""
        sizes = (known[0] or edges.limit(0) or 0, known[1] or edges.limit(1) or 0)
        if "scan" in self.work.done or not suits(self.pruner, edges) or not _begins_sorted(edges, self.pruner, rows):
            return None
        self.ceiling.check_graph(sum(sizes) if self.two else sizes[0], 0, self.pruner)
        with self._stage("keys"):
            found = fitted_to_nodes(self.pruner, nodes.graph(sizes, self.pruner), self.run_on)
        if found is None:
            return None
        self.say("the edges come by owner: one pass")
        once = OnePass(edges, *found, rows, self.run_on, 0 if self.two else sizes[0], bipartite=self.two)

        def counted() -> Counted:
            told = once.counted()
            self.isolated, self.loops = once.isolated, told.loops
            self.sizes = self._sizes(sizes, told)
            return told

        try:
            with self._stage("one pass"):
                return self._write(edges, once.kept, rows, counted)
        except NotSorted:
            self.say("the edges are not all sorted by owner: beginning again, with scratch files")
            self.work.forget(*(stage for stage in self.work.done if stage.startswith("file ")))
            return None

    def _sizes(self, known: tuple[int | None, int | None], told: Counted) -> tuple[int, int]:
        """Number of sources and of targets: as known, else as the edges tell."""
        ends = oriented(self.pruner.side, *told.ends)  # from (owners, neighbours) to (sources, targets)
        largest = ends if self.two else (told.largest, told.largest)
        first, second = (size or most + 1 for size, most in zip(known, largest, strict=True))
        return first, second

    def _any_order(self, edges: EdgeFiles, nodes: _Nodes, rows: int, known: tuple[int | None, int | None]) -> Manifest:
        selected = self.work.has("mask")
        with self._stage("scan"):
            self._scan(edges, rows, selected)
        self.sizes, self.loops = self._sizes(known, self.counted), self.counted.loops
        self._check(edges, nodes.width)
        if not selected:
            with self._stage("group"):
                graph = self._graph(edges, nodes, rows)
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
            made |= {} if self.mapping is None else {"map_ids": self.mapping}
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
        return self.pruner.self_loops != "edge" and not self.two

    def _sides(self, source: Array, target: Array) -> tuple[Array, Array]:
        """(owners, neighbours)."""
        return oriented(self.pruner.side, plain(source), plain(target))

    def _scan(self, edges: EdgeFiles, rows: int, selected: bool) -> None:
        """Count the edges, check them, and put aside what is cheaper to have than to read again.

        Args:
            selected: the mask is there already, so that only the counts of an earlier run matter and none of its files.
        """
        if ("scan" in self.work.done) if selected else self.work.has("scan"):
            self.counted = Counted(**self.work.done["scan"])
            return
        self.say("reading the edges to count them")
        counter, spools = Counter(self.run_on, skip=self._skip, bipartite=self.two), self._spools(edges)
        for batch in edges.batches(rows, attributes="edge_attr" in spools):
            counter.add(*self._sides(batch.source, batch.target))
            for name, spool in spools.items():
                spool.add(getattr(batch, name))
        self.counted = counter.result()
        counts = self.work.create("counts", counter.counts.shape[0], np.int64)
        counts[:] = counter.counts
        self.work.finish("scan", asdict(self.counted), "counts", *spools)

    def _spools(self, edges: EdgeFiles) -> dict[str, AppendFile]:
        kinds: dict[str, tuple[Any, tuple[int, ...]]] = {}
        if edges.edges is None:  # text: parsing it once is enough
            kinds |= {"source": (edges.dtype, ()), "target": (edges.dtype, ())}
        if edges.attr_shape is not None:
            kinds["edge_attr"] = (edges.attr_dtype, edges.attr_shape)
        return {name: self.work.append_file(name, *kind) for name, kind in kinds.items()}

    def _check(self, edges: EdgeFiles, width: int) -> None:
        """Raise where the memory or the disk will not do for this graph, before the work begins.

        Args:
            width: columns of the node attributes.
        """
        self.ceiling.check_graph(self.nodes, self.counted.slots, self.pruner)
        ends = 4 if self.nodes < 2**31 else 8
        places = 4 if self.counted.edges < 2**31 else 8
        pairs = 2 if self.pruner.symmetric else 1
        slots = self.counted.slots * (pairs * (2 + 2 * (ends + places)) + 1)
        quantised = 0 if self.pruner.rules.k is not None and self.pruner.rules.k <= MAX_UNCACHED_STEPS else width
        self.disk = slots + self.counted.edges * (2 + _attr_bytes(edges)) + self.nodes * (8 * 12 + quantised)
        written = sum(path.stat().st_size for path in edges.inputs)
        self.say(
            f"{self.nodes:,} nodes, {self.counted.edges:,} edges; {show_size(self.disk)} of scratch files in "
            f"{self.work.folder}, at most {show_size(written)} of output"
        )
        if not (self.work.has("mask") or self.work.has(NAMES[0])):
            check_disk(self.work.folder, self.disk, "--scratch DIR (scratch=) chooses another")
        if self.pruner.rules.keep is not None and not any(stage.startswith("file ") for stage in self.work.done):
            check_disk(self.output.path.parent, int(written * self.pruner.rules.keep), "write to another")

    def _graph(self, edges: EdgeFiles, nodes: _Nodes, rows: int) -> Graph:
        """The graph by owner, all of it in files."""
        if not self.work.has(NAMES[0]):
            self.say("grouping the edges by owner")

        def ends() -> Iterator[tuple[int, Array, Array]]:
            for first, *pair in self._spooled(edges, rows) if self._has("source") else _read(edges, rows):
                yield first, *self._sides(*pair)

        counts = self.work.array("counts")
        owned: Owned = grouped(
            ends, counts, self.counted.edges, self.owners, self.work, self.run_on, skip=self._skip,
            neighbours=max(self.sizes),
        )  # fmt: skip
        largest = max(
            (int(np.diff(owned.indptr[lo : hi + 1]).max()) for lo, hi in spans(self.owners, BLOCK_OWNERS)), default=0
        )
        self.ceiling.check_owner(largest, self.pruner, edges.attr_shape is not None)
        attr = None
        if self._has("edge_attr"):
            attr = self.work.appended("edge_attr", edges.attr_dtype, edges.attr_shape or ())
        by_owner = Grouped(owned, self.pruner.rules.side, not self._skip, self.counted.edges)
        return replace(nodes.graph(self.sizes, self.pruner), edge_attr=attr, grouped=by_owner)

    def _has(self, name: str) -> bool:
        return name in self.work.files["scan"]

    def _spooled(self, edges: EdgeFiles, rows: int) -> Iterator[tuple[int, Array, Array]]:
        source, target = (self.work.appended(name, edges.dtype) for name in ("source", "target"))
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
        self.work.drop("counts", "source", "target", "edge_attr", *NAMES, *PAIR_NAMES)

    def _outcome(self, graph: Graph) -> Outcome:
        mode = self.pruner.rules.symmetry(graph)
        if not mode:
            return self.pruner.mask_graph(graph, self.run_on)
        rules = self.pruner.rules
        owned = group(graph, rules, self.run_on)
        source = self.pruner.fitted_keys(graph, owned, None, self.run_on)
        taken = symmetric_taken(graph, rules, mode, owned, source, self.work, self.run_on)
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


@dataclass(frozen=True, eq=False)
class _Nodes:
    """The nodes and their attributes, without edges."""

    two: bool
    x: tuple[Any, ...]  # of sources and of targets; one object twice where they are one kind
    known: tuple[Array | None, ...]

    @property
    def width(self) -> int:
        """The most columns that the attributes of a node have."""
        return max((math.prod(one.shape[1:]) for one in self.x if one is not None), default=0)

    def graph(self, sizes: tuple[int, int], pruner: PerOwner) -> Graph:
        """A graph of so many nodes in which nobody owns an edge."""
        known = (self.known[0], self.known[1])
        return nodes_only(pruner, sizes, (self.x[0], self.x[1]), known, bipartite=self.two)


def _check_attributes(pruner: PerOwner, x: tuple[Any, ...], edges: EdgeFiles) -> None:
    """Raise GraphError, before any work, if the pruner needs attributes and there are none."""
    if any(rows is not None for rows in x):
        return
    attr = None if edges.attr_shape is None else np.zeros((0, *edges.attr_shape), edges.attr_dtype)
    pruner.check_attributes(Graph.from_edges(np.zeros((2, 0), np.int64), num_nodes=0, edge_attr=attr))


def _begins_sorted(edges: EdgeFiles, pruner: PerOwner, rows: int) -> bool:
    """Whether the first edges come by owner."""
    batch = next(edges.batches(min(rows, 1 << 12)), None)
    owner = None if batch is None else oriented(pruner.side, batch.source, batch.target)[0]
    return owner is not None and not bool((owner[1:] < owner[:-1]).any())


def _read(edges: EdgeFiles, rows: int) -> Iterator[tuple[int, Array, Array]]:
    return ((batch.first, batch.source, batch.target) for batch in edges.batches(rows))
