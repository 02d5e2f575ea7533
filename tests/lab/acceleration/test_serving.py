"""Serving uses the weights that were trained on the whole graph; only the graph is pruned."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lsprune.errors import OptionError  # noqa: E402
from lsprune.lab.acceleration import serving as module  # noqa: E402
from lsprune.lab.acceleration.pruned_graphs import PrunedGraphs, open_dataset  # noqa: E402
from lsprune.lab.acceleration.serving import Serving, plan, run_servings, serve, train_whole  # noqa: E402
from lsprune.lab.studies.result_files import Results  # noqa: E402

TINY = list(plan(size="tiny", seeds=1, datasets=("computers",), models=("sage",)))


@pytest.fixture(scope="module")
def graphs():
    return PrunedGraphs(open_dataset("computers", None, "tiny"))


@pytest.mark.parametrize("model", module.MODELS)
def test_the_whole_graph_has_the_accuracy_of_the_training(graphs, model):
    whole = Serving(dataset="computers", model=model, method="unpruned", share=1.0, size="tiny", epochs=3)
    trained = train_whole(whole, graphs)
    record = serve(whole, trained, graphs)
    assert record["error"] is None
    assert record["test"] == pytest.approx(record["trained_test"], abs=1e-6)
    assert record["share"] == 1 and record["edges"] == 3_000


def test_serving_changes_neither_the_weights_nor_the_graph(graphs):
    first, *others = TINY
    trained = train_whole(first, graphs)
    before = {name: value.clone() for name, value in trained.model.state_dict().items()}
    for serving in others:
        record = serve(serving, trained, graphs)
        assert record["share"] == pytest.approx(serving.share) and record["run"]["method"] == serving.method
    assert all(torch.equal(value, before[name]) for name, value in trained.model.state_dict().items())
    assert graphs.unpruned().test.num_edges == 3_000


def test_weights_are_trained_once_and_lines_are_complete(tmp_path, monkeypatch):
    trainings: list[Serving] = []
    train = module.train_whole
    monkeypatch.setattr(module, "train_whole", lambda *what: trainings.append(what[0]) or train(*what))
    results = Results(tmp_path / "serving.jsonl")
    told = []
    for _ in range(2):  # nothing is left for the second time
        assert run_servings(TINY[:4], results, progress=lambda *step: told.append(step)).done == 4
    assert told == [(i, 4, str(serving)) for i, serving in enumerate(TINY[:4])]
    assert len(trainings) == 1
    lines = [json.loads(line) for line in results.path.read_text().splitlines()]
    assert len(lines) == 4
    for line in lines:
        assert line["error"] is None and line["inference_seconds_min"] <= line["inference_seconds_median"]
        assert [batch["nodes"] for batch in line["batches"]] == list(module.BATCH_NODES)
        assert all(0 < b["seconds_min"] <= b["seconds_median"] <= b["seconds_p95"] for b in line["batches"])
    edges = [line["batches"][1]["edges_mean"] for line in lines]
    assert edges == sorted(edges, reverse=True) and edges[0] > edges[-1]  # fewer edges are gathered


def test_committed_lines_have_the_keys_of_their_servings():
    names = {field.name for field in fields(Serving)}
    results = Path(__file__).resolve().parents[3] / "results" / "serving.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert lines
    for line in lines:
        run = {name: value for name, value in line["run"].items() if name in names}
        assert Serving(**run).key == line["key"] and run["size"] == "full"
        if run["method"] == "unpruned":
            assert line["test"] == pytest.approx(line["trained_test"], abs=1e-3)  # rounding on a GPU may flip a node


def test_it_stops_in_time(tmp_path):
    assert run_servings(TINY, Results(tmp_path / "serving.jsonl"), budget=1e-9).done == 0


def test_a_failure_is_a_record_with_its_error(graphs, monkeypatch):
    trained = train_whole(TINY[0], graphs)
    monkeypatch.setattr(module, "_batches", lambda *_: 1 / 0)
    assert serve(TINY[1], trained, graphs)["error"] == "ZeroDivisionError: division by zero"


def test_the_plan_serves_every_point_with_weights_of_its_seed():
    planned = list(plan(seeds=2))
    assert len(planned) == len({serving.key for serving in planned}) == 2 * 3 * 2 * 13
    assert [serving.method for serving in planned[:13]].count("unpruned") == 1
    assert {serving.training for serving in planned[:13]} == {("computers", "gat", 0)}
    with pytest.raises(OptionError, match="model must be one of gat, gcn, sage"):
        next(plan(models=("pna",)))
