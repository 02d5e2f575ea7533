"""A streamed run from the open input to the written output: one pass if the edges are sorted by owner, else stages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

from lsprune.files import EdgeFiles, Kept
from lsprune.files.manifest import Manifest
from lsprune.graph import oriented
from lsprune.outofcore.grouping import EdgeCounts
from lsprune.outofcore.id_mapping import MappedEdges
from lsprune.outofcore.one_pass import NotSorted, OnePass, fitted_to_nodes, suits
from lsprune.outofcore.output import Output
from lsprune.outofcore.stream_context import StreamContext
from lsprune.outofcore.stream_input import InputNodes, StreamInput
from lsprune.outofcore.stream_stages import (
    COUNT_STAGE,
    MASK_STAGE,
    check_resources,
    count_edges,
    group_edges,
    read_mask,
    select_edges,
)

_SORTED_ROWS = 1 << 12  # first edges that are compared to see whether the edges are sorted by owner


@dataclass(frozen=True)
class Summary:
    """What the manifest says of a graph, besides the number of kept edges."""

    counts: EdgeCounts
    nodes: int
    isolated: int


@dataclass(frozen=True)
class FinishedRun:
    """The manifest of a run, and what it does not hold."""

    manifest: Manifest
    has_loops: bool  # an edge has the same id at both ends
    scratch_bytes: int = 0  # as estimated before the edges were grouped


@dataclass(frozen=True, eq=False)
class StreamJob:
    """One run: its input, its output, the name of its task, and what its stages share."""

    input: StreamInput
    output: Output
    task: str
    context: StreamContext

    def run(self, edges: EdgeFiles) -> FinishedRun:
        """Read the nodes, select from the edges, and write those that are kept."""
        edges, nodes = self.input.read_nodes(edges, self.context)
        return self._one_pass(edges, nodes) or self._in_stages(edges, nodes)

    def _one_pass(self, edges: EdgeFiles, nodes: InputNodes) -> FinishedRun | None:
        """Prune edges that are sorted by owner; return None if they are not, or if the pruner needs more than that."""
        context, work, pruner = self.context, self.context.work, self.context.pruner
        sizes = (nodes.sizes[0] or edges.limit(0) or 0, nodes.sizes[1] or edges.limit(1) or 0)
        if COUNT_STAGE in work.done or not suits(pruner, edges) or not _begins_sorted(edges, context):
            return None
        context.ceiling.check_graph(context.num_nodes(sizes), 0, pruner)
        with context.stage("keys"):
            fitted = fitted_to_nodes(pruner, nodes.graph(sizes, pruner), context.runtime)
        if fitted is None:
            return None
        context.say("the edges are sorted by owner: one pass")
        num_nodes = 0 if context.two_kinds else sizes[0]
        selection = OnePass(edges, *fitted, context.rows, context.runtime, num_nodes, bipartite=context.two_kinds)

        @cache
        def summary() -> Summary:
            counts = selection.counted()
            return Summary(counts, context.num_nodes(context.sizes(sizes, counts)), selection.isolated)

        try:
            with context.stage("one pass"):
                manifest = self._write(edges, selection.kept, summary)
        except NotSorted:
            context.say("the edges are not all sorted by owner: beginning again, with scratch files")
            work.forget(*self.output.stages(work))
            return None
        return FinishedRun(manifest, summary().counts.has_loops)

    def _in_stages(self, edges: EdgeFiles, nodes: InputNodes) -> FinishedRun:
        """Prune edges in any order: count, group, select, write."""
        context, work = self.context, self.context.work
        has_mask = work.has(MASK_STAGE)
        with context.stage("scan"):
            counts = count_edges(edges, context, has_mask=has_mask)
        sizes = context.sizes(nodes.sizes, counts)
        scratch_bytes = check_resources(edges, nodes, counts, sizes, context, self.output)
        if not has_mask:
            with context.stage("group"):
                graph = group_edges(edges, nodes, counts, sizes, context)
            with context.stage("select"):
                select_edges(graph, context)
        summary = Summary(counts, context.num_nodes(sizes), work.done[MASK_STAGE])
        with context.stage("write"):
            manifest = self._write(edges, partial(read_mask, work), lambda: summary)
        return FinishedRun(manifest, counts.has_loops, scratch_bytes)

    def _write(self, edges: EdgeFiles, kept: Kept, summary: Callable[[], Summary]) -> Manifest:
        """Write the kept edges; `summary` is called when all of them are written."""
        context = self.context

        def config(kept_edges: int) -> dict[str, Any]:
            graph = summary()
            mapping = {"map_ids": asdict(edges.entry)} if isinstance(edges, MappedEdges) else {}
            return {
                "pruner": context.pruner.to_dict(), "input": self.input.name or str(self.input.path),
                "task": self.task, **mapping,
                "found": {
                    "edges": graph.counts.edges, "kept": kept_edges, "nodes": graph.nodes, "isolated": graph.isolated,
                    "undirected": graph.counts.undirected,
                },
            }  # fmt: skip

        return self.output.write(edges, kept, context.rows, context.work, config, context.say)


def _begins_sorted(edges: EdgeFiles, context: StreamContext) -> bool:
    """Return whether the first edges are sorted by owner."""
    batch = next(edges.batches(min(context.rows, _SORTED_ROWS)), None)
    owner = None if batch is None else oriented(context.pruner.side, batch.source, batch.target)[0]
    return owner is not None and not bool((owner[1:] < owner[:-1]).any())
