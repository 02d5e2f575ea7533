from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lab_records import method_fields  # noqa: E402
from torch_geometric.data import Data  # noqa: E402

from lsprune import Graph, LocalRandom, OptionError, prune  # noqa: E402
from lsprune.lab.datasets import Dataset  # noqa: E402
from lsprune.lab.studies.neighbourhood_variance import measure  # noqa: E402
from lsprune.lab.studies.run import Run  # noqa: E402
from lsprune.lab.training import prepare  # noqa: E402
from lsprune.measure import neighbourhood_variance  # noqa: E402

RUN = Run(study="s", dataset="toy", model="", method="unpruned", hops=(1, 3))


@pytest.fixture(autouse=True)
def edges(monkeypatch):
    ends = np.random.default_rng(0).integers(0, 50, (2, 300))
    data = Data(x=torch.zeros(50, 2), edge_index=torch.from_numpy(ends))
    single = Dataset("toy", "node-classification", data, data, data, num_features=2, num_classes=1)
    several = dataclasses.replace(single, train=[data], val=[data], test=[data])
    monkeypatch.setattr(prepare, "load_dataset", lambda name, data, limit: single if name == "toy" else several)
    return ends


def test_the_record_has_a_variance_for_each_number_of_hops(edges):
    record = measure(RUN)
    whole = neighbourhood_variance(Graph.from_edges(edges, num_nodes=50), [1, 3])
    assert record["variance"] == {"1": whole[1], "3": whole[3]}
    assert (record["share"], record["key"]) == (1.0, RUN.key)
    assert json.loads(json.dumps(record))["variance"] == record["variance"]


def test_it_is_measured_on_the_pruned_graph(edges):
    record = measure(dataclasses.replace(RUN, **method_fields("local-random"), keep=0.5, seed=4))
    kept = prune(edges, LocalRandom(keep=0.5, seed=4))
    small = neighbourhood_variance(Graph.from_edges(kept, num_nodes=50), [1, 3])
    assert record["variance"] == {"1": small[1], "3": small[3]}
    assert record["share"] == pytest.approx(0.5, abs=0.01)


def test_only_a_single_graph_has_hops_to_count():
    with pytest.raises(OptionError, match="hops can be counted on a single graph of one kind of nodes, not on many"):
        measure(dataclasses.replace(RUN, dataset="many"))
