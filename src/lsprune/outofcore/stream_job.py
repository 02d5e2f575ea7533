"""A streamed run from the open input to the written output: one pass if the edges are sorted by owner, else stages."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import Any

from lsprune.files import EdgeFiles, Kept
from lsprune.files.manifest import Entry, Manifest
from lsprune.graph import oriented
from lsprune.outofcore.allowed_edges import TimeStage
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
from lsprune.outofcore.stream_task import StreamTask
from lsprune.pruners import Pruner

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
class Candidates:
    """The edges that owners choose among, and the nodes."""

    edges: EdgeFiles
    nodes: InputNodes
    whole: EdgeCounts | None  # counts of all edges of the input, if some of them are not allowed
    mapping: Entry | None  # of the file with the mapping of ids

    def of_all(self, counts: EdgeCounts) -> EdgeCounts:
        """Return the counts of all edges, given those of the edges that owners choose among."""
        return counts if self.whole is None else self.whole


@dataclass(frozen=True, eq=False)
class StreamJob:
    """One run: the pruner that was asked for, its input, output and task, and what its stages share."""

    pruner: Pruner
    input: StreamInput
    output: Output
    task: StreamTask
    context: StreamContext

    def run(self, edges: EdgeFiles) -> FinishedRun:
        """Read the nodes, select from the edges, and write those that are kept."""
        edges, nodes = self.input.read_nodes(edges, self.context)
        among = self._allowed(edges, nodes)
        return self._one_pass(among) or self._in_stages(among)

    def _allowed(self, edges: EdgeFiles, nodes: InputNodes) -> Candidates:
        """Return the edges that the rules of the pruner allow; all of them if it has no rules."""
        context, rules, whole = self.context, self.pruner.needs.within, None
        entry = edges.entry if isinstance(edges, MappedEdges) else None
        with context.stage("time") if rules else nullcontext():
            names = [name for rule in rules for name in rule.columns if name not in edges.columns]
            owners = [rule.owner_time for rule in rules if rule.owner_time is not None]
            columns = self.input.node_columns(tuple(dict.fromkeys((*names, *owners))), edges, context)
            for number, rule in enumerate(rules):
                edges, counts = TimeStage(edges, rule, columns, context).allowed(f"allowed-{number}")
                whole = whole or counts
        if whole is not None:
            nodes = replace(nodes, sizes=context.sizes(nodes.sizes, whole))
        return Candidates(edges, nodes, whole, entry)

    def _one_pass(self, among: Candidates) -> FinishedRun | None:
        """Prune edges that are sorted by owner; return None if they are not, or if the pruner needs more than that."""
        context, work, pruner = self.context, self.context.work, self.context.pruner
        edges, nodes = among.edges, among.nodes
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
                manifest = self._write(among, selection.kept, summary)
        except NotSorted:
            context.say("the edges are not all sorted by owner: beginning again, with scratch files")
            work.forget(*self.output.stages(work))
            return None
        return FinishedRun(manifest, among.of_all(summary().counts).has_loops)

    def _in_stages(self, among: Candidates) -> FinishedRun:
        """Prune edges in any order: count, group, select, write."""
        context, work = self.context, self.context.work
        edges, nodes = among.edges, among.nodes
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
            manifest = self._write(among, partial(read_mask, work), lambda: summary)
        return FinishedRun(manifest, among.of_all(counts).has_loops, scratch_bytes)

    def _write(self, among: Candidates, kept: Kept, summary: Callable[[], Summary]) -> Manifest:
        """Write the kept edges; `summary` is called when all of them are written."""
        context = self.context

        def config(kept_edges: int) -> dict[str, Any]:
            graph = summary()
            counts = among.of_all(graph.counts)
            mapping = {} if among.mapping is None else {"map_ids": asdict(among.mapping)}
            return {
                "pruner": self.pruner.to_dict(), "input": self.input.name or str(self.input.path),
                "task": self.task.name, **mapping,
                "found": {
                    "edges": counts.edges, "kept": kept_edges, "nodes": graph.nodes, "isolated": graph.isolated,
                    "undirected": counts.undirected,
                    "uncounted_self_loops": context.uncounted_self_loops(graph.counts),
                },
            }  # fmt: skip

        def check() -> None:
            self.task.refuse_changed()
            if among.mapping is not None:
                self.input.refuse_changed_mapping(among.mapping)

        return self.output.write(among.edges, kept, context.rows, context.work, config, context.say, check)


def _begins_sorted(edges: EdgeFiles, context: StreamContext) -> bool:
    """Return whether the first edges are sorted by owner."""
    batch = next(edges.batches(min(context.rows, _SORTED_ROWS)), None)
    owner = None if batch is None else oriented(context.pruner.side, batch.source, batch.target)[0]
    return owner is not None and not bool((owner[1:] < owner[:-1]).any())
