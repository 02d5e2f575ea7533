"""A run from the open input to the written output, in one pass or in stages."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import LSP, Graph, LocalRandom
from lsprune.baselines import LowDegree
from lsprune.files import EdgeOptions
from lsprune.outofcore.memory_ceiling import Ceiling
from lsprune.outofcore.output import Output
from lsprune.outofcore.stream_context import StreamContext
from lsprune.outofcore.stream_input import StreamInput
from lsprune.outofcore.stream_job import FinishedRun, StreamJob
from lsprune.outofcore.stream_task import StreamTask
from lsprune.outofcore.work_folder import working


def ends_of(ordered: bool) -> np.ndarray:
    ends = np.random.default_rng(0).integers(0, 30, (2, 400))
    return ends[:, np.argsort(ends[1], kind="stable")] if ordered else ends


def run(folder, ends: np.ndarray, pruner) -> tuple[FinishedRun, list[str], dict]:
    """A whole run on a file of edges: what came of it, what was said, and the seconds of its stages."""
    np.save(folder / "in.npy", ends)
    said: list[str] = []
    given = StreamInput(folder / "in.npy", EdgeOptions(num_nodes=30), None, 10**6)
    edges = given.open(30)
    output = Output.of(folder / "out.npy", folder / "in.npy", resume=False)
    with (
        working(folder / "work", {"task": 1}, resume=False, say=said.append) as work,
        output.held(fresh=work.fresh, stays=lambda error: False),
    ):
        context = StreamContext.of(pruner, Ceiling(3 * 10**9, 0, 1), work, edges, said.append)
        task = StreamTask.of(given, edges, pruner, output.path, 3 * 10**9)
        finished = StreamJob(pruner, given, output, task, context).run(edges)
    assert finished.manifest.config["task"] == task.name
    return finished, said, context.seconds


@pytest.mark.parametrize(
    ("pruner", "ordered", "once"),
    [
        (LocalRandom(k=2), True, True),
        (LSP(k=2, hash="identity"), True, True),
        (LocalRandom(k=2), False, False),
        (LocalRandom(keep=0.3), True, False),
        (LowDegree(k=2), True, False),
        (LSP(k=2, hash="identity", symmetric="union"), True, False),
    ],
    ids=str,
)
def test_sorted_edges_take_one_pass_if_the_pruner_can(tmp_path, pruner, ordered, once):
    ends = ends_of(ordered)
    finished, said, seconds = run(tmp_path, ends, pruner)
    graph = Graph.from_edges(ends, num_nodes=30)
    mask = pruner.mask(graph)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), ends[:, mask])
    assert any("one pass" in text for text in said) == once
    assert ("group" in seconds) != once
    found = finished.manifest.config["found"]
    assert (found["edges"], found["kept"], found["nodes"]) == (400, mask.sum(), 30)
    assert finished.has_loops == bool((ends[0] == ends[1]).any())


def test_edges_that_are_sorted_only_at_first_are_pruned_in_stages(tmp_path, monkeypatch):
    monkeypatch.setattr("lsprune.outofcore.stream_job._SORTED_ROWS", 50)
    ends = ends_of(True)
    ends[:, -1] = 3, 0  # an owner that goes back
    _, _, seconds = run(tmp_path, ends, LocalRandom(k=2))
    mask = LocalRandom(k=2).mask(Graph.from_edges(ends, num_nodes=30))
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), ends[:, mask])
    assert "group" in seconds
