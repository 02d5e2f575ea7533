"""The task of each dataset, with the model of the run."""

from __future__ import annotations

import dataclasses

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lab_records import method_fields  # noqa: E402
from training_helpers import (  # noqa: E402
    NODE_RUN,
    multi_label_graphs,
    synthetic_graphs,  # noqa: E402
    use_datasets,
)

from lsprune import OptionError  # noqa: E402
from lsprune.lab.datasets.hetero_small import hetero_small  # noqa: E402
from lsprune.lab.models.layers import MeanConv  # noqa: E402
from lsprune.lab.training.prepare import prepare  # noqa: E402
from lsprune.lab.training.tasks import (  # noqa: E402
    GraphClassification,
    GraphRegression,
    HeteroNodeClassification,
    NodeClassification,
    NodeMultiLabel,
    make_task,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(autouse=True)
def datasets(monkeypatch):
    regression = dataclasses.replace(synthetic_graphs(), task="graph-regression", targets={"label": 0})
    use_datasets(monkeypatch, labels=multi_label_graphs(), values=regression, papers=hetero_small())


def task_of(**options):
    run = dataclasses.replace(NODE_RUN, **options)
    return make_task(run, prepare(run, None)[0], torch.device("cpu"))


@pytest.mark.parametrize(
    ("dataset", "model", "task_class", "out_dim"),
    [
        ("communities", "github-gat", NodeClassification, 2),
        ("labels", "github-gat", NodeMultiLabel, 3),
        ("graphs", "synthetic-gat", GraphClassification, 2),
        ("values", "synthetic-gat", GraphRegression, 1),
        ("papers", "hetero-sage", HeteroNodeClassification, 3),
    ],
)
def test_the_dataset_decides_the_task_and_the_number_of_outputs(dataset, model, task_class, out_dim):
    task = task_of(dataset=dataset, model=model)
    assert type(task) is task_class
    assert list(task.model.parameters())[-1].shape[0] == out_dim


def test_basic_is_a_method_without_attention():
    assert isinstance(task_of(**method_fields("basic")).model.first, MeanConv)
    assert not isinstance(task_of().model.first, MeanConv)


def test_pna_gets_the_in_degrees_of_the_training_graphs(monkeypatch):
    seen = {}
    monkeypatch.setattr("lsprune.lab.training.tasks.build", lambda name, **options: seen.update(options) or _linear())
    run = dataclasses.replace(NODE_RUN, dataset="values", model="zinc-pna")
    graphs, _ = prepare(run, None)
    make_task(run, graphs, torch.device("cpu"))
    whole = graphs.train.to_graph()
    degree = torch.bincount(torch.as_tensor(whole.ends()[1]), minlength=whole.num_nodes)
    assert seen["degrees"].tolist() == [int((degree == d).sum()) for d in range(int(degree.max()) + 1)]


def _linear() -> torch.nn.Module:
    return torch.nn.Linear(1, 1)


@pytest.mark.parametrize(("dataset", "model"), [("graphs", "synthetic-gat"), ("papers", "hetero-sage")])
def test_edges_can_be_drawn_in_every_epoch_on_single_graphs_of_one_kind_only(dataset, model):
    with pytest.raises(OptionError, match=f"method dropedge draws edges in every epoch, .* not on {dataset}"):
        task_of(dataset=dataset, model=model, **method_fields("dropedge"), keep=0.3)
