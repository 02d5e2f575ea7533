"""The stages of a streamed run whose edges come in any order: count them, group them by owner, select.

Every stage leaves its result in the work folder, and a resumed run skips the stages whose results are there. The mask
is computed by the kernels that prune in memory; only their arrays are files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from lsprune.files import EdgeFiles
from lsprune.graph import Array, Graph, Grouped, oriented
from lsprune.hashing.keys import MAX_UNCACHED_FUNCTIONS
from lsprune.kernels.threads import spans
from lsprune.outofcore.append_file import AppendFile
from lsprune.outofcore.grouping import OWNED_ARRAYS, BatchedEdges, EdgeCounter, EdgeCounts, group_on_disk
from lsprune.outofcore.memory_ceiling import check_disk, show_size
from lsprune.outofcore.output import Output
from lsprune.outofcore.pairs import PAIR_ARRAYS, symmetric_taken
from lsprune.outofcore.stream_context import Sizes, StreamContext, attribute_bytes
from lsprune.outofcore.stream_input import InputNodes
from lsprune.outofcore.work_folder import Work
from lsprune.selection.mask import Outcome, owners_outcome
from lsprune.selection.owners import BLOCK_OWNERS, group

COUNT_STAGE, MASK_STAGE = "scan", "mask"
_COPIED_COLUMNS = ("source", "target", "edge_attr")
_NAMED_COLUMN = "column-{}"  # the copy of a column that the pruner asks for by name
_PACKED_EDGES = 1 << 20  # edges whose mask is packed into bits at a time


def count_edges(edges: EdgeFiles, context: StreamContext, *, has_mask: bool) -> EdgeCounts:
    """Return the counts of the edges; copy to the work folder what is slow to read again (text), and all attributes.

    Args:
        has_mask: the mask is complete already, so that only the counts are needed, not the copies.
    """
    work = context.work
    if (COUNT_STAGE in work.done) if has_mask else work.has(COUNT_STAGE):
        return EdgeCounts(**work.done[COUNT_STAGE])
    context.say("reading the edges to count them")
    counter = EdgeCounter(context.runtime, skip_loops=context.skip_loops, bipartite=context.two_kinds)
    copies, named = _create_copies(edges, work), _named_columns(context)
    columns = {name: work.append_file(file, edges.columns[name]) for name, file in named.items()}
    for batch in edges.batches(context.rows, attributes="edge_attr" in copies, columns=tuple(named)):
        counter.add(*context.owners_and_neighbours(batch.source, batch.target))
        for name, file in copies.items():
            file.add(getattr(batch, name))
        for name, file in columns.items():
            file.add(batch.columns[name])
    counts = counter.result()
    work.create("counts", counter.buckets.shape[0], np.int64)[:] = counter.buckets
    work.finish(COUNT_STAGE, asdict(counts), "counts", *copies, *named.values())
    return counts


def _named_columns(context: StreamContext) -> dict[str, str]:
    """Return the columns that the pruner asks for by name, and the files of their copies."""
    return {name: _NAMED_COLUMN.format(number) for number, name in enumerate(context.pruner.needs.edge_columns)}


def _create_copies(edges: EdgeFiles, work: Work) -> dict[str, AppendFile]:
    """Return new files for the columns of the edges that are copied to the work folder."""
    types: dict[str, tuple[Any, tuple[int, ...]]] = {}
    if edges.is_text:  # parsed once
        types |= {"source": (edges.dtype, ()), "target": (edges.dtype, ())}
    if edges.attr_shape is not None:
        types["edge_attr"] = (edges.attr_dtype, edges.attr_shape)
    return {name: work.append_file(name, *dtype_and_shape) for name, dtype_and_shape in types.items()}


def check_resources(
    edges: EdgeFiles, nodes: InputNodes, counts: EdgeCounts, sizes: Sizes, context: StreamContext, output: Output
) -> int:
    """Return the bytes of scratch files; raise OptionError if the memory or the disk is too small for this graph."""
    work, rules, num_nodes = context.work, context.pruner.rules, context.num_nodes(sizes)
    context.ceiling.check_graph(num_nodes, counts.slots, context.pruner)
    scratch = _scratch_bytes(edges, nodes.width, counts, num_nodes, context)
    written = sum(path.stat().st_size for path in edges.inputs)
    context.say(
        f"{num_nodes:,} nodes, {counts.edges:,} edges; {show_size(scratch)} of scratch files in "
        f"{work.folder}, at most {show_size(written)} of output"
    )
    if not (work.has(MASK_STAGE) or work.has(OWNED_ARRAYS[0])):
        check_disk(work.folder, scratch, "--scratch DIR (scratch=) chooses another")
    if rules.keep is not None and not output.stages(work):
        check_disk(output.path.parent, int(written * rules.keep), "write to another")
    return scratch


def _scratch_bytes(edges: EdgeFiles, width: int, counts: EdgeCounts, num_nodes: int, context: StreamContext) -> int:
    """Return the bytes of all scratch files; `width` is the number of columns of the node attributes."""
    id_bytes, position_bytes = (4 if count < 2**31 else 8 for count in (num_nodes, counts.edges))
    groupings = 2 if context.pruner.symmetric else 1
    slot_bytes = groupings * (2 + 2 * (id_bytes + position_bytes)) + 1
    k = context.pruner.rules.k
    quantised = 0 if k is not None and k <= MAX_UNCACHED_FUNCTIONS else width
    ends = 2 * edges.dtype.itemsize if edges.is_text else 0
    edge_bytes, node_bytes = 2 + attribute_bytes(edges) + ends, 8 * 12 + quantised
    return counts.slots * slot_bytes + counts.edges * edge_bytes + num_nodes * node_bytes


def group_edges(edges: EdgeFiles, nodes: InputNodes, counts: EdgeCounts, sizes: Sizes, context: StreamContext) -> Graph:
    """Return the graph with its edges grouped by owner, all of it in files."""
    work, pruner = context.work, context.pruner
    if not work.has(OWNED_ARRAYS[0]):
        context.say("grouping the edges by owner")

    def read() -> Iterator[tuple[int, Array, Array]]:
        for first, source, target in _read_ends(edges, context):
            yield first, *context.owners_and_neighbours(source, target)

    owners = oriented(pruner.side, *sizes)[0]
    batched = BatchedEdges(read, work.array("counts"), counts.edges, owners, max(sizes), context.skip_loops)
    owned = group_on_disk(batched, work, context.runtime)
    degrees = (np.diff(owned.indptr[lo : hi + 1]) for lo, hi in spans(owners, BLOCK_OWNERS))
    largest = max((int(block.max()) for block in degrees), default=0)
    context.ceiling.check_owner(largest, pruner, edges.attr_shape is not None)
    edge_attr = None
    if _is_copied("edge_attr", work):
        edge_attr = work.appended("edge_attr", edges.attr_dtype, edges.attr_shape or ())
    columns = {name: work.appended(file, edges.columns[name]) for name, file in _named_columns(context).items()}
    grouped = Grouped(owned, pruner.rules.side, not context.skip_loops, counts.edges)
    graph = nodes.graph(sizes, pruner)
    return replace(graph, edge_attr=edge_attr, edge_columns=columns or None, grouped=grouped)


def _is_copied(name: str, work: Work) -> bool:
    return name in work.files[COUNT_STAGE]


def _read_ends(edges: EdgeFiles, context: StreamContext) -> Iterator[tuple[int, Array, Array]]:
    """Yield batches of (position of the first edge, sources, targets), from the copy if there is one."""
    rows, work = context.rows, context.work
    if not _is_copied("source", work):
        yield from ((batch.first, batch.source, batch.target) for batch in edges.batches(rows))
        return
    source, target = (work.appended(name, edges.dtype) for name in ("source", "target"))
    for lo in range(0, source.shape[0], rows):
        yield lo, source[lo : lo + rows], target[lo : lo + rows]


def select_edges(graph: Graph, context: StreamContext) -> None:
    """Compute the mask, and store it in bits as the array "mask" of the work folder."""
    context.say("selecting")
    outcome, work = _outcome(graph, context), context.work
    bits = work.create(MASK_STAGE, -(-graph.num_edges // 8), np.uint8)
    for lo in range(0, graph.num_edges, _PACKED_EDGES):
        packed = np.packbits(outcome.mask[lo : lo + _PACKED_EDGES])
        bits[lo // 8 : lo // 8 + packed.shape[0]] = packed
    work.finish(MASK_STAGE, outcome.isolated, MASK_STAGE)
    work.drop("counts", *_COPIED_COLUMNS, *_named_columns(context).values(), *OWNED_ARRAYS, *PAIR_ARRAYS)


def _outcome(graph: Graph, context: StreamContext) -> Outcome:
    pruner, runtime = context.pruner, context.runtime
    mode = pruner.rules.symmetry(graph)
    if not mode:
        return pruner.mask_graph(graph, runtime)
    owned = group(graph, pruner.rules, runtime)
    keys = pruner.fitted_keys(graph, owned, None, runtime)
    taken = symmetric_taken(graph, pruner.rules, mode, owned, keys, context.work, runtime)
    return owners_outcome(graph, owned, taken, pruner.self_loops, runtime)


def read_mask(work: Work, first: int, last: int) -> Array:
    """Return the mask of the edges first..last."""
    lo = first // 8
    bits = np.unpackbits(work.array(MASK_STAGE)[lo : -(-last // 8)])
    return bits[first - 8 * lo : last - 8 * lo].view(bool)
