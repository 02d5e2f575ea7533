"""`lsprune fit`: what it saves prunes in memory and streaming as the pruner that was fitted in Python."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner

import lsprune
from graphs import communities
from lsprune.baselines import TopWeight
from lsprune.cli import app

GRAPH, KIND = communities()
TRAINING = np.arange(GRAPH.num_nodes) % 3 == 0
WEIGHTS = "labels:2*jaccard:0.5*degree:0.5"
METHOD = ["--pruner", "top-weight", "--weights", WEIGHTS, "--keep", "0.2"]
PRUNER = TopWeight(keep=0.2, weights=WEIGHTS)


def run(*words) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_arrays_of_a_graph_teach_and_the_pruner_prunes_in_memory_and_streaming(tmp_path):
    graph, saved = tmp_path / "graph.npz", tmp_path / "pruner.npz"
    ends = np.stack(GRAPH.ends())
    np.savez(graph, edge_index=ends, x=GRAPH.x, y=KIND, train_mask=TRAINING)
    report = json.loads(run("fit", graph, saved, *METHOD, "--json"))
    assert (report["nodes"], report["edges"]) == (GRAPH.num_nodes, GRAPH.num_edges)
    fitted = PRUNER.fit(replace(GRAPH, y=KIND, train_mask=TRAINING))
    assert lsprune.load(saved) == fitted
    expected = ends[:, fitted.mask(GRAPH)]
    run("prune", graph, tmp_path / "direct.npz", *METHOD)
    run("prune", graph, tmp_path / "fitted.npz", "--fitted", saved)
    for name in ("direct.npz", "fitted.npz"):
        kept = np.load(tmp_path / name)
        np.testing.assert_array_equal(kept["edge_index"], expected)
        np.testing.assert_array_equal(kept["y"], KIND)  # nodes stay whole
    np.save(tmp_path / "edges.npy", ends)
    np.save(tmp_path / "x.npy", GRAPH.x)
    words = ["--features", tmp_path / "x.npy", "--fitted", saved, "--stream"]
    run("prune", tmp_path / "edges.npy", tmp_path / "streamed.npy", *words)
    np.testing.assert_array_equal(np.load(tmp_path / "streamed.npy"), expected)
    run("prune", graph, tmp_path / "fewer.npz", "--fitted", saved, "--k", "1")
    fewer = fitted.with_budget(k=1).mask(GRAPH)
    np.testing.assert_array_equal(np.load(tmp_path / "fewer.npz")["edge_index"], ends[:, fewer])


def test_labels_are_a_column_of_the_table_of_nodes(tmp_path):
    ends = GRAPH.ends()
    pq.write_table(pa.table({"source": ends[0], "target": ends[1]}), tmp_path / "edges.parquet")
    split = np.where(TRAINING, "train", "test")
    columns = {"id": np.arange(GRAPH.num_nodes), "x": GRAPH.x.tolist(), "topic": KIND, "split": split}
    pq.write_table(pa.table(columns), tmp_path / "nodes.parquet")
    words = ["--features", tmp_path / "nodes.parquet", "--label", "topic", "--train-mask", "split"]
    run("fit", tmp_path / "edges.parquet", tmp_path / "pruner.npz", *words, *METHOD)
    fitted = PRUNER.fit(replace(GRAPH, y=KIND, train_mask=TRAINING))
    assert np.array_equal(lsprune.load(tmp_path / "pruner.npz").mask(GRAPH), fitted.mask(GRAPH))


def test_what_does_not_go_is_said_in_one_line(tmp_path):
    np.savez(tmp_path / "graph.npz", edge_index=np.stack(GRAPH.ends()), x=GRAPH.x)
    wrongs = [
        (["fit", "graph.npz", "out.npz", *METHOD], "needs node labels (y) to be fitted"),
        (["fit", "graph.npz", "out.parquet", *METHOD], "OUT must be a .npz file"),
        (["fit", "graph.npz", "graph.npz", *METHOD], "must not be an input"),
        (["prune", "graph.npz", "out.npz", *METHOD, "--label", "y", "--stream"], "fit the pruner in memory"),
    ]
    for words, message in wrongs:
        paths = [str(tmp_path / word) if word.endswith((".npz", ".parquet")) else word for word in words]
        done = CliRunner().invoke(app, paths)
        assert done.exit_code == 1 and message in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.npz"]


def test_ids_may_be_text_and_labels_must_be_used(tmp_path):
    names = np.array([f"n{i}" for i in range(GRAPH.num_nodes)])
    ends = GRAPH.ends()
    pq.write_table(pa.table({"source": names[ends[0]], "target": names[ends[1]]}), tmp_path / "edges.parquet")
    part = np.where(TRAINING, "train", "test")
    pq.write_table(pa.table({"id": names, "x": GRAPH.x.tolist(), "t": KIND, "p": part}), tmp_path / "nodes.parquet")
    words = [tmp_path / "edges.parquet", tmp_path / "p.npz", "--features", tmp_path / "nodes.parquet", "--x", "x"]
    words += ["--label", "t", "--preset", "auto", "--keep", "0.2"]
    report = json.loads(run("fit", *words, "--split", "p", "--json"))
    assert "labels" in json.dumps(report["pruner"])
    for command, out in (("fit", "q.npz"), ("prune", "q.parquet")):
        words[1] = tmp_path / out
        done = CliRunner().invoke(app, [command, *map(str, words)])
        assert done.exit_code == 1 and "label 't' would not be used" in done.stderr
