"""Prune a graph that does not fit in memory: the kernels that prune in memory, on arrays that are files.

The walk of `prune_stream`, stage by stage:

1. check: options (`EdgeOptions`), pruner, places of the output and of scratch files (`Output`, `working`). What is
   elsewhere (`s3://…`) is copied before, and uploaded at the end (`local_places`).
2. open: the edge list and the node tables, with ids numbered on request (`StreamInput.read_nodes`).
   With `Timed`, edges outside the time are left out from here on, as if there were none (`TimeStage`).
3. count the edges, in one pass through the input (`count_edges`), and check memory and disk (`check_resources`).
4. group the edges by owner in files, in a second pass (`group_edges`).
5. select: the pruner computes the mask of the grouped graph (`select_edges`).
6. write the kept edges in the caller's order, in a third pass, and a manifest (`Output.write`).

`StreamJob` runs steps 2 to 6. Edges that are sorted by owner need one pass in place of steps 3 to 5 (`OnePass`). Every
step is recorded in the work folder (`Work`), from which an interrupted run is resumed. The mask equals that of the
pruner in memory, bit for bit. The memory ceiling is for anonymous memory; mapped files do not count.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Unpack

from lsprune.errors import FormatError, OptionError
from lsprune.files import EdgeFiles, EdgeKeywords, EdgeOptions
from lsprune.files.edge_options import PathLike
from lsprune.files.manifest import Manifest
from lsprune.files.node_kinds import check_two_kinds, look_like_two_kinds, warn_two_kinds
from lsprune.files.remote import refuse_url
from lsprune.files.seals import check_inputs
from lsprune.kernels import runtime
from lsprune.outofcore.memory_ceiling import Ceiling, parse_size, resident, watched
from lsprune.outofcore.output import Output, refuse_inside, refuse_same
from lsprune.outofcore.staging import LocalPlaces, local_places
from lsprune.outofcore.stream_context import Say, StreamContext
from lsprune.outofcore.stream_input import StreamInput
from lsprune.outofcore.stream_job import StreamJob
from lsprune.outofcore.stream_task import StreamTask
from lsprune.outofcore.work_folder import check_locks, remove_finished, working
from lsprune.pruners import PerOwner, Pruner
from lsprune.pruners.relations import warn_undirected


@dataclass(frozen=True)
class Streamed:
    """What a run did."""

    edges: int
    kept: int
    nodes: int
    isolated: int  # nodes that had an edge to another node and have none left
    undirected: bool  # every edge has its reverse
    uncounted_self_loops: int  # self-loops that are kept and that no budget counts
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)  # seconds of each
    peak_memory: int = 0  # anonymous resident bytes
    disk: int = 0  # bytes of scratch files, as estimated beforehand

    @property
    def share(self) -> float:
        """The share of edges that were kept."""
        return self.kept / max(self.edges, 1)


def prune_stream(
    path: PathLike,
    out: PathLike,
    pruner: Pruner,
    options: EdgeOptions | None = None,
    *,
    map_ids: PathLike | None = None,
    memory: str | int = "2GB",
    scratch: PathLike | None = None,
    resume: bool = False,
    threads: int | None = None,
    say: Say = lambda text: None,
    **keywords: Unpack[EdgeKeywords],
) -> Streamed:
    """Prune an edge list on disk into `out`, of the same format, in bounded memory; return what was done.

    Args:
        path: a Parquet file or a folder of them, `.npz` or `.npy` of uncompressed arrays, a text edge list (`.csv`,
            `.tsv`, `.txt`, also `.gz` and `.zst`) or a folder of them; or the URL of one of these (`s3://…`).
        out: a file, or a new folder if the input is one; complete or absent, with a manifest. Or its URL: the manifest
            is then uploaded last, and a folder without one is not complete.
        pruner: any pruner in which owners choose among their edges, alone or within `Timed`; one that needs the whole
            graph is refused.
        options: which columns hold what, and which tables describe the nodes, as for `read_edges`. A table may also be
            a folder of Parquet files.
        map_ids: for ids that are not the numbers 0..N-1: number them in order of appearance, and write the mapping to
            this file. A column of ids in `features` then holds such ids.
        memory: ceiling for anonymous resident memory, such as "1GB".
        scratch: folder for temporary files, and for copies of what is elsewhere; default the folder of `out`, or the
            current one if that is elsewhere.
        resume: resume an interrupted run with the same options.
        threads: default LSPRUNE_THREADS, else all cores.
        say: called with a line of text at every stage.
        keywords: fields of `EdgeOptions`: `source`, `target`, `edge_attr`, `float_edge_attr`, `features`, `id`, `x`,
            `num_nodes`, `edge_arrays`, `node_arrays`, `bipartite`, `target_features`, `target_id`, `target_x`,
            `verify_input`.
    """
    check_locks()
    options = EdgeOptions.of(options, keywords)
    run = StreamRun(map_ids=map_ids, memory=memory, scratch=scratch, resume=resume, threads=threads, say=say)
    with local_places(path, out, options, scratch=scratch, resume=resume, say=say) as places:
        return _prune_files(places, pruner, run)


@dataclass(frozen=True, kw_only=True)
class StreamRun:
    """How a run goes: arguments of `prune_stream`."""

    map_ids: PathLike | None
    memory: str | int
    scratch: PathLike | None
    resume: bool
    threads: int | None
    say: Say


def _prune_files(places: LocalPlaces, pruner: Pruner, run: StreamRun) -> Streamed:
    """Prune files of this machine."""
    started = time.perf_counter()
    options, scratch, resume, say = places.options, run.scratch, run.resume, run.say
    owners, options = _check_pruner(pruner), replace(options, columns=pruner.needs.edge_columns)
    _refuse_labels(options)
    ceiling = Ceiling(parse_size(run.memory), resident(), runtime(run.threads).threads)
    mapping = None if run.map_ids is None else Path(run.map_ids)
    source = StreamInput(places.path, options, mapping, ceiling.limit // 8, places.input_name)
    output = _check_places(source, places.out, scratch, resume)
    verified = check_inputs(options.inputs(source.path), sealed=options.verify_input)
    source = replace(source, options=replace(options, verify_input=False))  # it is opened more than once
    edges = source.open(options.num_nodes)
    _check_kinds(owners, options, edges)
    task = replace(StreamTask.of(source, edges, pruner, output.path, ceiling.limit), verified=verified)
    folder = (output.path.parent if scratch is None else Path(scratch)) / f"{output.path.name}.lsprune-work"
    if resume and (manifest := output.complete(task.name, say)) is not None:
        result = _result(manifest, output.path)
        if not source.has_mapping(manifest, say):
            with working(folder, task.settings, resume=True, say=say, marks=task.marks) as work:
                source.write_mapping(work.folder, ceiling.rows(edges.row_bytes))
        output.tidy()
        remove_finished(folder, task.settings)
        return replace(result, seconds=time.perf_counter() - started)
    with (
        watched() as peak,
        working(folder, task.settings, resume=resume, say=say, marks=task.marks) as work,
        output.held(fresh=work.fresh, stays=lambda error: work.stays(error, resume)),
    ):
        context = StreamContext.of(owners, ceiling, work, edges, say)
        finished = StreamJob(pruner, source, output, task, context).run(edges)
    result = _result(finished.manifest, output.path)
    one_kind = options.bipartite is None and edges.limits is None
    if one_kind and finished.has_loops and look_like_two_kinds(edges.names):
        warn_two_kinds(edges.names)
    if result.undirected and owners.symmetric is None and result.kept < result.edges:
        warn_undirected()
    seconds = time.perf_counter() - started
    return replace(result, seconds=seconds, stages=context.seconds, peak_memory=peak[0], disk=finished.scratch_bytes)


def _check_pruner(pruner: Pruner) -> PerOwner:
    """Return the pruner that chooses among the allowed edges; raise OptionError if it needs the whole graph."""
    owners = pruner.among_allowed()
    if owners.needs.scope == "graph" or not isinstance(owners, PerOwner):
        raise OptionError(f"{owners.needs.reason}; or prune without --stream (prune), or use lsp")
    return owners


def _refuse_labels(options: EdgeOptions) -> None:
    """Raise OptionError for labels: a teacher is trained in memory."""
    for name in options.label_names:
        raise OptionError(
            f"label and train_mask must not be given here, got {name!r}: fit the pruner in memory, on a part of the "
            "graph if it is too large, and save it (`lsprune fit`); then give the fitted pruner (--fitted)"
        )


def _check_places(source: StreamInput, out: Path, scratch: PathLike | None, resume: bool) -> Output:
    """Return the output; raise if it, the mapping or the scratch files would overwrite each other or an input."""
    inputs = (source.path, *source.table_paths)
    output = Output.of(out, *inputs, resume=resume)
    if source.mapping is not None:
        refuse_url(source.mapping, "map_ids (--map-ids)")
        refuse_same("map_ids", source.mapping, *inputs, out)
        refuse_inside("map_ids", source.mapping, source.path)
    if scratch is not None:
        if not Path(scratch).is_dir():
            raise OptionError(f"scratch (--scratch) must be a folder that exists, got {str(scratch)!r}")
        refuse_inside("scratch", Path(scratch), source.path)
    return output


def _check_kinds(pruner: PerOwner, options: EdgeOptions, edges: EdgeFiles) -> None:
    """Raise OptionError for options that do not go with the kinds of nodes: one, or two."""
    if not check_two_kinds(options.bipartite, edges.limits is not None, target_features=options.target_features):
        return
    if isinstance(options.num_nodes, int):
        raise OptionError(
            "num_nodes must be a pair (--num-nodes and --num-targets), one for each kind of nodes, got "
            f"{options.num_nodes}"
        )
    if pruner.symmetric:
        raise OptionError("symmetric must be None for a relation between two node types: it has no reverse edges")


def _result(manifest: Manifest, path: Path) -> Streamed:
    """Return what the manifest of a complete output says of its run."""
    try:
        return Streamed(**manifest.config["found"])
    except (KeyError, TypeError):
        raise FormatError(f"{path}: its manifest lacks the results of the run; write the output again") from None
