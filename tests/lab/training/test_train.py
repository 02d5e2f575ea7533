"""Training of one run: a complete and repeatable record, patience, callbacks."""

from __future__ import annotations

import dataclasses
import json

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lab_records import method_fields  # noqa: E402
from training_helpers import (  # noqa: E402
    NODE_RUN,
    Recorder,
    communities,  # noqa: E402
    use_datasets,
)

from lsprune import LSP, OptionError  # noqa: E402
from lsprune.lab.training.train import train  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(autouse=True)
def datasets(monkeypatch):
    use_datasets(monkeypatch)


def test_a_record_is_complete_and_json():
    record = train(NODE_RUN)
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["key"] == NODE_RUN.key
    assert record["run"] == NODE_RUN.to_dict()
    assert (record["share"], record["prune_seconds"], record["pruner"]) == (1.0, 0.0, None)
    assert record["test"] > 0.8
    assert record["test_max"] >= record["test"]
    assert record["epochs_run"] == 30
    assert 1 <= record["best_epoch"] <= 30
    assert record["train_seconds"] > 0
    assert record["peak_bytes"] > 10**7
    assert set(record["versions"]) == {"lsprune", "torch", "pyg", "numpy", "python"}


def test_the_same_configuration_gives_the_same_run():
    run = dataclasses.replace(NODE_RUN, **method_fields("lsp-projection"), k=3)
    first, second = train(run), train(run)
    assert (first["test"], first["val"], first["best_epoch"], first["share"]) == (
        second["test"], second["val"], second["best_epoch"], second["share"],
    )  # fmt: skip
    assert run.key == dataclasses.replace(run).key
    assert run.key != dataclasses.replace(run, seed=1).key


def test_edges_help_and_the_references_keep_all_or_none():
    whole, empty = (train(dataclasses.replace(NODE_RUN, **method_fields(name))) for name in ("unpruned", "no-edges"))
    assert empty["share"] == 0.0
    assert whole["test"] > empty["test"]
    assert train(dataclasses.replace(NODE_RUN, **method_fields("basic")))["share"] == 1.0


def test_patience_stops_early():
    record = train(dataclasses.replace(NODE_RUN, epochs=500, patience=5))
    assert record["epochs_run"] < 500
    assert record["epochs_run"] == record["best_epoch"] + 5


def test_callbacks_get_every_epoch_and_the_record():
    recorder, run = Recorder(), dataclasses.replace(NODE_RUN, epochs=3)
    record = train(run, callbacks=[recorder])
    assert (recorder.runs, recorder.epochs, recorder.records) == ([run], [1, 2, 3], [record])
    assert recorder.rows[record["best_epoch"] - 1]["test"] == record["test"]
    assert recorder.rows[2]["loss"] < recorder.rows[0]["loss"]
    assert record["train_seconds"] == sum(row["train_seconds"] for row in recorder.rows)


def test_the_result_is_that_of_the_first_epoch_with_the_best_validation():
    recorder = Recorder()
    record = train(dataclasses.replace(NODE_RUN, epochs=20), callbacks=[recorder])
    vals, tests = ([row[name] for row in recorder.rows] for name in ("val", "test"))
    assert record["best_epoch"] == vals.index(max(vals)) + 1
    assert (record["val"], record["test"]) == (max(vals), tests[record["best_epoch"] - 1])
    assert record["test_max"] == max(tests)


def test_a_record_stores_the_fitted_pruner():
    record = train(dataclasses.replace(NODE_RUN, **method_fields("lsp-auto"), keep=0.2, epochs=1))
    fitted = LSP(keep=0.2, hash="auto", weights="auto").fit(communities().train)
    assert record["pruner"] == fitted.to_dict()
    assert record["pruner"]["hash"]["name"] != "auto" != record["pruner"]["weights"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pruner": {"pruner": "magic"}}, "pruner must be one of lsp, .*, got 'magic'"),
        (method_fields("random"), "k or keep must be given for method random"),
        ({"model": "resnet"}, "resnet"),
        ({"pruned": "never"}, "pruned must be one of always, training, testing, got 'never'"),
        ({"schedule": "steps"}, "schedule must be one of constant, cosine, got 'steps'"),
        ({"label_smoothing": 1.0}, r"label_smoothing must be in \[0, 1\), got 1.0"),
        ({"epochs": 0}, "epochs must be a whole number >= 1, got 0"),
    ],
)
def test_bad_configurations_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        train(dataclasses.replace(NODE_RUN, **options))
