"""Count, group and select in files: each stage leaves its result, and a resumed run does not repeat it."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, Graph, LocalRandom, OptionError
from lsprune.files import EdgeOptions
from lsprune.outofcore import stream_stages
from lsprune.outofcore.memory_ceiling import Ceiling
from lsprune.outofcore.output import Output
from lsprune.outofcore.stream_context import StreamContext
from lsprune.outofcore.stream_input import StreamInput
from lsprune.outofcore.stream_stages import check_resources, count_edges, group_edges, read_mask, select_edges
from lsprune.outofcore.work_folder import Work
from lsprune.selection.owners import group

GRAPH = random_graph(0, nodes=20, edges=150, edge_dim=2)


class Run:
    """The stages of a run on GRAPH."""

    def __init__(self, folder, pruner, rows: int = 13, limit: int = 2 * 10**9, form: str = "npz") -> None:
        source, target = GRAPH.ends()
        options = EdgeOptions(edge_attr=("w",), features=folder / "x.npy")
        if form == "npz":
            np.savez(folder / "in.npz", source=source, target=target, w=GRAPH.edge_attr)
        else:
            lines = [f"{s} {t}" for s, t in zip(source, target, strict=True)]
            (folder / "in.txt").write_text("\n".join(lines) + "\n")
            options = EdgeOptions(features=folder / "x.npy")
        np.save(folder / "x.npy", GRAPH.x)
        self.said, self.folder = [], folder
        given = StreamInput(folder / f"in.{form}", options, None, 10**6)
        edges = given.open(None)
        self.work = Work(folder)
        self.work.done["rows"] = rows
        self.context = StreamContext.of(pruner, Ceiling(limit, 0, 1), self.work, edges, self.said.append)
        self.edges, self.nodes = given.read_nodes(edges, self.context)
        self.counts = count_edges(self.edges, self.context, has_mask=False)

    def grouped(self) -> Graph:
        return group_edges(self.edges, self.nodes, self.counts, (20, 20), self.context)


@pytest.mark.parametrize("form", ["npz", "txt"])
@pytest.mark.parametrize("rows", [7, 1000])
def test_counts_are_those_of_the_graph_and_made_once(tmp_path, rows, form):
    run = Run(tmp_path, LSP(k=2), rows, form=form)
    source, target = GRAPH.ends()
    assert (run.counts.edges, run.counts.slots) == (150, int((source != target).sum()))
    assert (run.counts.largest, run.counts.has_loops) == (max(source.max(), target.max()), True)
    run.said.clear()
    assert count_edges(run.edges, run.context, has_mask=False) == run.counts and not run.said
    copies = {"edge_attr"} if form == "npz" else {"source", "target"}  # what is slow to read again
    assert copies <= {name.partition(".")[0] for name in run.work.files[stream_stages.COUNT_STAGE]}


@pytest.mark.parametrize("form", ["npz", "txt"])
@pytest.mark.parametrize("pruner", [LSP(k=2), LocalRandom(k=2, side="out", self_loops="edge")], ids=repr)
def test_edges_are_grouped_as_in_memory(tmp_path, pruner, form):
    graph = Run(tmp_path, pruner, form=form).grouped()
    found, expected = graph.grouped.owned, group(GRAPH, pruner, Run(tmp_path, pruner).context.runtime)
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.neighbour, expected.neighbour)
    np.testing.assert_array_equal(found.edge, expected.edge)
    if form == "npz":
        np.testing.assert_array_equal(graph.edge_attr, GRAPH.edge_attr)


@pytest.mark.parametrize("pruner", [LSP(k=2), LSP(keep=0.3, symmetric="union"), LocalRandom(k=0)], ids=repr)
def test_the_mask_is_that_of_memory_and_scratch_files_are_dropped(tmp_path, pruner, monkeypatch):
    monkeypatch.setattr(stream_stages, "_PACKED_EDGES", 16)
    run = Run(tmp_path, pruner)
    select_edges(run.grouped(), run.context)
    expected = pruner.mask(GRAPH)
    for first, last in ((0, 150), (0, 7), (3, 90), (149, 150), (5, 5)):
        np.testing.assert_array_equal(read_mask(run.work, first, last), expected[first:last])
    assert run.work.done[stream_stages.MASK_STAGE] == pruner.mask_graph(GRAPH, run.context.runtime).isolated
    left = {path.name for path in tmp_path.iterdir()}
    assert not {"counts.npy", "edge_attr", *(f"{name}.npy" for name in stream_stages.OWNED_ARRAYS)} & left


def test_too_little_memory_or_disk_is_refused_before_the_edges_are_grouped(tmp_path, monkeypatch):
    run = Run(tmp_path, LSP(k=2))
    output = Output.of(tmp_path / "out.npz", tmp_path / "in.npz", resume=False)
    arguments = (run.edges, run.nodes, run.counts, (20, 20), run.context, output)
    assert check_resources(*arguments) > 150 * 8
    assert "20 nodes, 150 edges" in run.said[-1]
    monkeypatch.setattr(
        "lsprune.outofcore.memory_ceiling.shutil.disk_usage", lambda path: type("Usage", (), {"free": 9})
    )
    with pytest.raises(OptionError, match="are needed on the disk"):
        check_resources(*arguments)
    monkeypatch.undo()
    low = StreamContext.of(LSP(k=2, weights="jaccard"), Ceiling(10**8, 0, 1), run.work, run.edges, run.said.append)
    with pytest.raises(OptionError, match="memory must be at least"):
        check_resources(*arguments[:4], low, output)
