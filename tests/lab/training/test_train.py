from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data  # noqa: E402

from lsprune import LSP, OptionError  # noqa: E402
from lsprune.errors import Lacking  # noqa: E402
from lsprune.lab.datasets import Dataset  # noqa: E402
from lsprune.lab.datasets.synthetic import synthetic_dataset  # noqa: E402
from lsprune.lab.studies.result_files import Results  # noqa: E402
from lsprune.lab.studies.run import Run  # noqa: E402
from lsprune.lab.studies.study import read  # noqa: E402
from lsprune.lab.synthetic_graphs import Synthetic  # noqa: E402
from lsprune.lab.training import train as training  # noqa: E402
from lsprune.lab.training.train import train  # noqa: E402
from lsprune.lab.training.watchers import Watcher  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


def communities() -> Dataset:
    """Two communities whose features hardly say which is which, but whose neighbours do."""
    rng = np.random.default_rng(0)
    label = np.arange(120) % 2
    linked = rng.random((120, 120)) < np.where(label[:, None] == label, 0.25, 0.02)
    np.fill_diagonal(linked, False)
    x = rng.standard_normal((120, 8)) + 0.4 * (2 * label[:, None] - 1)
    part = torch.from_numpy(rng.permutation(120))
    masks = {name: torch.zeros(120, dtype=torch.bool) for name in ("train_mask", "val_mask", "test_mask")}
    for mask, where in zip(masks.values(), (part[:60], part[60:90], part[90:]), strict=True):
        mask[where] = True
    data = Data(
        x=torch.from_numpy(x).float(), edge_index=torch.from_numpy(np.stack(np.nonzero(linked))),
        y=torch.from_numpy(label), **masks,
    )  # fmt: skip
    return Dataset("toy", "node-classification", data, data, data, num_features=8, num_classes=2)


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    sets = {
        "toy": communities(),
        "graphs": synthetic_dataset(Synthetic(samples=80, classes=2, min_nodes=8, max_nodes=9)),
    }
    monkeypatch.setattr(training, "_dataset", lambda name, data, limit: sets[name])


NODE = Run(study="s", dataset="toy", model="github-gat", method="none", epochs=30, lr=0.01)


def test_a_record_says_everything_and_is_json():
    record = train(NODE)
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["key"] == NODE.key
    assert record["run"] == NODE.to_dict()
    assert (record["share"], record["prune_seconds"], record["pruner"]) == (1.0, 0.0, None)
    assert record["test"] > 0.8
    assert record["test_max"] >= record["test"]
    assert record["epochs_run"] == 30
    assert 1 <= record["best_epoch"] <= 30
    assert record["train_seconds"] > 0
    assert record["peak_bytes"] > 10**7
    assert set(record["versions"]) == {"lsprune", "torch", "pyg", "numpy", "python"}


def test_the_same_configuration_gives_the_same_run():
    run = dataclasses.replace(NODE, method="lsp-p", k=3)
    one, other = train(run), train(run)
    assert (one["test"], one["val"], one["best_epoch"], one["share"]) == (
        other["test"], other["val"], other["best_epoch"], other["share"],
    )  # fmt: skip
    assert run.key == dataclasses.replace(run).key
    assert run.key != dataclasses.replace(run, seed=1).key


# What of each study is in results/, as its README says: a part of it, and how many seeds of that are complete.
QM9 = ["none", "random", "local-random", "lsp-p"]
COMMITTED = {
    "cora": ({"k": [1, 2, 3, 4, 5, 8]}, 5),
    "citeseer": ({"k": [1, 2, 3, 4, 6, 8]}, 5),
    "pubmed": ({"k": [1, 2, 4, 8, 16, 30]}, 5),
    "computers": ({"k": [2, 5, 10, 20, 40, 80]}, 5),
    "github": ({"k": [1], "methods": ["none", "no-edges", "basic"]}, 5),
    "neighbourhood-variance": ({}, 5),
    "consistency": ({}, 5),
    "zinc": ({"methods": ["none"]}, 1),
    "qm9": ({"targets": ["mu"], "methods": QM9, "k": [1, 2], "epochs": 8}, 1),
    "synthetic": ({"methods": ["none"]}, 1),
    "compare": ({}, 5),
    "compare-points": ({}, 5),
    "compare-seeds": ({}, 20),
    "compare-synthetic": ({}, 3),
    "compare-graphs": ({}, 3),
}


def test_committed_results_are_complete_and_have_the_keys_of_their_runs():
    folder = Path(__file__).resolve().parents[3] / "results"
    assert {path.stem for path in folder.glob("*.jsonl")} == set(COMMITTED)
    for name, (options, seeds) in COMMITTED.items():
        records = Results(folder / f"{name}.jsonl").read()
        keys = {record["key"] for record in records}
        assert all(Run(**record["run"]).key == record["key"] for record in records)
        assert len(keys) == len(records)
        part, whole = read(name).only(**options), read(name).only(epochs=options.get("epochs"), k=options.get("k", ()))
        assert {run.key for run in part.runs(seeds)} <= keys <= {run.key for run in whole.runs()}, name


def test_a_limit_takes_the_first_graphs_and_some_nodes(monkeypatch):
    run = Run(study="s", dataset="graphs", model="synthetic-gat", method="none", epochs=1, limit=5)
    assert [len(stack) for stack in training._graphs(training._dataset("graphs", None, None), 5)] == [5, 5, 5]
    small = training._graphs(communities(), None)[0]
    assert small.num_nodes == 120
    monkeypatch.setattr(training, "NODES", 20)
    small = training._graphs(communities(), 2)[0]
    assert (small.num_nodes, small.train_mask.shape[0]) == (40, 40)
    assert 0 < small.num_edges < communities().train.num_edges
    assert train(run)["epochs_run"] == 1
    assert run.key != dataclasses.replace(run, limit=None).key


@pytest.mark.parametrize("method", ["random", "local-random", "lsp-p", "lsp-t", "lsp-p-published"])
def test_equal_k_means_equal_share_and_pruning_is_charged(method):
    record = train(dataclasses.replace(NODE, method=method, k=3, epochs=1))
    local = train(dataclasses.replace(NODE, method="local-random", k=3, epochs=1))
    side = "out" if "published" in method else "in"
    edges = communities().train.edge_index[0 if side == "out" else 1]
    share = np.minimum(np.bincount(edges), 3).sum() / edges.shape[0]
    assert record["share"] == pytest.approx(share)
    assert local["share"] < 0.5
    assert record["prune_seconds"] > 0


def test_references_bracket_the_methods():
    none, nothing = (train(dataclasses.replace(NODE, method=name)) for name in ("none", "no-edges"))
    assert nothing["share"] == 0.0
    assert none["test"] > nothing["test"]
    assert train(dataclasses.replace(NODE, method="basic"))["share"] == 1.0


def test_pruning_only_in_training_or_only_in_testing(monkeypatch):
    seen = []
    original = training.make_task

    def spy(run, parts, device):
        seen.append((parts.train.num_edges, parts.test.num_edges))
        return original(run, parts, device)

    monkeypatch.setattr(training, "make_task", spy)
    whole = communities().train.num_edges
    for pruned in ("always", "training", "testing"):
        train(dataclasses.replace(NODE, method="random", k=2, epochs=1, pruned=pruned))
    (a, b), (c, d), (e, f) = seen
    assert a == b == c == f < whole
    assert d == e == whole


def test_dropedge_draws_other_edges_in_every_epoch_and_is_judged_on_all(monkeypatch):
    seen = []
    original = training.make_task

    def spy(run, parts, device):
        task = original(run, parts, device)
        step = task.train_epoch

        def epoch():
            value = step()
            seen.append({tuple(edge) for edge in task.training.edge_index.T.tolist()})
            return value

        task.train_epoch = epoch
        assert task.testing.num_edges == communities().train.num_edges
        return task

    monkeypatch.setattr(training, "make_task", spy)
    record = train(dataclasses.replace(NODE, method="dropedge", keep=0.3, epochs=3))
    whole = communities().train
    every = {tuple(edge) for edge in whole.edge_index.T.tolist()}
    assert [len(edges) for edges in seen] == [round(0.3 * whole.num_edges)] * 3
    assert all(edges < every for edges in seen)
    assert len(seen[0] & seen[1]) < 0.5 * len(seen[0])
    assert record["share"] == pytest.approx(0.3, abs=0.001)
    several = dataclasses.replace(NODE, method="dropedge", keep=0.3, dataset="graphs", model="synthetic-gat")
    with pytest.raises(OptionError, match="method dropedge is for single graphs"):
        train(several)


def test_patience_stops_early():
    record = train(dataclasses.replace(NODE, epochs=500, patience=5))
    assert record["epochs_run"] < 500
    assert record["epochs_run"] == record["best_epoch"] + 5


def test_watchers_see_every_epoch_and_the_end():
    seen: list = []

    class Spy(Watcher):
        def started(self, run):
            seen.append(run.method)

        def epoch(self, number, row):
            seen.append((number, row))

        def ended(self, record):
            seen.append(record)

    record = train(dataclasses.replace(NODE, epochs=3), watchers=[Spy()])
    assert (seen[0], seen[-1]) == ("none", record)
    rows = dict(seen[1:-1])
    assert list(rows) == [1, 2, 3]
    assert rows[record["best_epoch"]]["test"] == record["test"]
    assert rows[3]["loss"] < rows[1]["loss"]
    assert record["train_seconds"] == sum(row["train_seconds"] for row in rows.values())


def test_a_cosine_takes_the_learning_rate_down(monkeypatch):
    rates = []
    original = training.Task.set_rate

    def spy(self, done):
        original(self, done)
        rates.append(self.optimiser.param_groups[0]["lr"])

    monkeypatch.setattr(training.Task, "set_rate", spy)
    train(dataclasses.replace(NODE, epochs=4, schedule="cosine"))
    assert rates == pytest.approx([0.01, 0.01 * (2 + 2**0.5) / 4, 0.005, 0.01 * (2 - 2**0.5) / 4])
    rates.clear()
    train(dataclasses.replace(NODE, epochs=2))
    assert rates == [0.01, 0.01]


def test_a_share_is_a_budget_too():
    record = train(dataclasses.replace(NODE, method="lsp-t", keep=0.25, epochs=1))
    assert record["share"] == pytest.approx(0.25, abs=0.002)


def test_values_are_learned_in_their_own_units(monkeypatch):
    graphs = synthetic_dataset(Synthetic(samples=80, classes=2, min_nodes=8, max_nodes=9))
    for part in (graphs.train, graphs.val, graphs.test):
        part._data.y = torch.stack([torch.zeros(80), -11000 + 20.0 * (torch.arange(80) % 2)], dim=1)
    both = dataclasses.replace(graphs, task="graph-regression", targets=("nothing", "energy"), num_classes=2)
    monkeypatch.setattr(training, "_dataset", lambda name, data, limit: both)
    run = Run(
        study="s", dataset="graphs", model="synthetic-gat", method="none", target="energy", epochs=12, lr=0.003,
        batch_size=20,
    )  # fmt: skip
    record = train(run)
    assert (record["metric"], record["higher_is_better"]) == ("mae", False)
    assert record["test"] < 9  # the mean is off by 10, nothing learned by 11,000
    with pytest.raises(OptionError, match="target must be one of nothing, energy, got 'mass'"):
        train(dataclasses.replace(run, target="mass"))


def test_smoothed_labels_keep_a_model_from_being_sure():
    run = Run(
        study="s", dataset="graphs", model="synthetic-gat-small", method="none", epochs=15, lr=0.01, batch_size=20
    )
    losses = {}

    class Spy(Watcher):
        def epoch(self, number, row):
            losses[smoothing] = row["loss"]

    for smoothing in (0.0, 0.4):
        train(dataclasses.replace(run, label_smoothing=smoothing), watchers=[Spy()])
    assert losses[0.4] > 0.45 > losses[0.0]  # two classes: no less than the entropy of (0.2, 0.8), 0.5


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(OptionError, match="device must be one that is there, such as cpu or cuda, got 'abacus'"):
        train(NODE, device="abacus")


def test_a_record_says_what_was_chosen():
    record = train(dataclasses.replace(NODE, method="lsp-auto-a", keep=0.2, epochs=1))
    chosen = LSP(keep=0.2, hash="auto", weights="auto").fit(communities().train)
    assert record["pruner"] == chosen.to_dict()
    assert record["pruner"]["hash"]["name"] != "auto" != record["pruner"]["weights"]


def test_graphs_are_classified_with_the_same_functions_everywhere():
    run = Run(
        study="s", dataset="graphs", model="synthetic-gat", method="lsp-p", k=2, epochs=2, batch_size=20, lr=0.001
    )
    record = train(run)
    assert (record["metric"], record["task"]) == ("accuracy", "graph-classification")
    assert 0 < record["share"] < 1
    assert record["pruner"]["k"] == 2


def test_nodes_of_several_graphs_may_have_several_labels(monkeypatch):
    rng = np.random.default_rng(0)

    def one() -> Data:
        x = torch.from_numpy(rng.standard_normal((30, 6))).float()
        edges = torch.from_numpy(rng.integers(0, 30, (2, 200)))
        return Data(x=x, edge_index=edges, y=(x[:, :3] > 0).float())

    graphs = [one() for _ in range(6)]
    ppi = Dataset("toy", "node-classification", graphs[:4], graphs[4:5], graphs[5:], num_features=6, num_classes=3)
    monkeypatch.setattr(training, "_dataset", lambda name, data, limit: ppi)
    run = dataclasses.replace(NODE, method="lsp-p", k=2, model="github-gat", epochs=60, batch_size=2, lr=0.02)
    record = train(run)
    assert record["metric"] == "micro-f1"
    assert record["test"] > train(dataclasses.replace(run, epochs=1))["test"]
    assert 0.6 < record["test"] <= 1
    kept = sum(
        np.minimum(np.bincount(g.edge_index[1][g.edge_index[0] != g.edge_index[1]]), 2).sum() for g in graphs[:4]
    )
    loops = sum(int((g.edge_index[0] == g.edge_index[1]).sum()) for g in graphs[:4])
    assert record["share"] == pytest.approx((kept + loops) / 800)


def test_what_a_dataset_lacks_is_named(monkeypatch):
    bare = dataclasses.replace(communities(), lacks=("features", "labels"))
    monkeypatch.setattr(training, "_dataset", lambda name, data, limit: bare)
    with pytest.raises(Lacking, match="dataset toy lacks features and labels here"):
        train(NODE)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "magic"}, "method must be one of none, no-edges, basic, random"),
        ({"method": "random"}, "k or keep must be given for method random"),
        ({"model": "resnet"}, "resnet"),
        ({"pruned": "never"}, "pruned must be one of always, training, testing, got 'never'"),
        ({"schedule": "steps"}, "schedule must be one of constant, cosine, got 'steps'"),
        ({"label_smoothing": 1.0}, r"label_smoothing must be in \[0, 1\), got 1.0"),
        ({"epochs": 0}, "epochs must be a whole number >= 1, got 0"),
    ],
)
def test_bad_configurations_are_named(options, says):
    with pytest.raises(OptionError, match=says):
        train(dataclasses.replace(NODE, **options))
