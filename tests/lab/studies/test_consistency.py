from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

pytest.importorskip("torch_geometric")

from lab_records import method_fields

from lsprune import LSP, Codebook, Graph, LocalRandom, OptionError
from lsprune.lab.datasets.synthetic import GENERATED
from lsprune.lab.studies import consistency
from lsprune.lab.studies.consistency import measure
from lsprune.lab.studies.result_files import Results
from lsprune.lab.studies.run import Run
from lsprune.lab.studies.run_study import run_study
from lsprune.lab.studies.study_files import read
from lsprune.lab.synthetic_graphs import Samples, Synthetic
from lsprune.measure import aligned_consistency

METHODS = {method.name: method for method in read("consistency").parts[0].methods}
TOY = Synthetic(samples=62, classes=3, min_nodes=12, max_nodes=14, connectivity=0.4)
RUN = Run(study="s", dataset="toy", model="", **method_fields("lsp-codebook-edge"), k=2, pairs=7)


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setitem(GENERATED, "toy", TOY)


def graph_of(made: Samples, first: int, last: int) -> Graph:
    """The samples first..last - 1, by slices."""
    nodes, edges = slice(made.ptr[first], made.ptr[last]), slice(made.edge_ptr[first], made.edge_ptr[last])
    ends, ptr = made.edge_index[:, edges] - made.ptr[first], made.ptr[first : last + 1] - made.ptr[first]
    return Graph.from_edges(ends, num_nodes=int(ptr[-1]), x=made.x[nodes], edge_attr=made.edge_attr[edges], ptr=ptr)


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize(
    ("method", "pruner"),
    [
        ("lsp-codebook-edge", LSP(k=2, hash=Codebook(), attributes=("edge",), select="bottom")),
        ("local-random", LocalRandom(k=2)),
        ("lsp-threshold-published", LSP.published("t", k=2, sparsity=8)),
    ],
)
def test_the_number_is_that_of_the_measure(method, pruner, seed):
    record = measure(dataclasses.replace(RUN, **method_fields(METHODS[method]), seed=seed))
    made = dataclasses.replace(TOY, seed=seed).make()  # its classes take turns, so that the first 30 are ten of each
    fitted = dataclasses.replace(pruner, seed=seed).fit(graph_of(made, 30, 62))
    mask = fitted.mask(graph_of(made, 0, 30))
    edges = int(made.edge_ptr[30])
    found = aligned_consistency(
        mask, made.edge_ptr[:31], made.y[:30], made.centre_edge[:edges], pairs_per_class=7, seed=seed
    )
    assert record["overlap"] == found
    assert record["share"] == mask.mean()
    assert 0.1 < found < 1


def test_a_record_says_what_it_is_and_is_json():
    record = measure(RUN)
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert (record["key"], record["run"]) == (RUN.key, RUN.to_dict())
    assert (record["task"], record["metric"], record["higher_is_better"]) == ("consistency", "overlap", True)
    assert record["pruner"]["hash"]["name"] == "codebook"
    assert record["prune_seconds"] > 0
    assert {**measure(RUN), "prune_seconds": 0} == {**record, "prune_seconds": 0}


def test_the_whole_graph_is_the_same_edges_and_a_seed_is_another_set():
    whole = measure(dataclasses.replace(RUN, **method_fields("unpruned"), k=None))
    assert (whole["overlap"], whole["share"], whole["prune_seconds"]) == (1.0, 1.0, 0.0)
    first, second = (measure(dataclasses.replace(RUN, **method_fields("first"), seed=seed)) for seed in (0, 1))
    assert first["overlap"] != second["overlap"]  # the pruner itself has no seed


def test_the_samples_are_those_of_the_benchmark():
    compared, others = consistency._samples("synthetic-small", 0, None)
    assert (np.bincount(compared.y).tolist(), others.y.size) == ([20] * 20, 1600)
    assert read("consistency").parts[0].pairs == 28


def test_a_limit_leaves_so_many_samples_with_pairs_among_them():
    compared, others = consistency._samples("synthetic-small", 0, 16)
    assert (np.bincount(compared.y).tolist(), others.y.size) == ([4] * 4, 16)


def test_what_cannot_be_compared_is_named():
    with pytest.raises(OptionError, match=r"pairs can be compared on generated sets \(synthetic, .*\), not on cora"):
        measure(dataclasses.replace(RUN, dataset="cora"))
    with pytest.raises(OptionError, match="pairs must keep an edge that both samples have"):
        measure(dataclasses.replace(RUN, **method_fields("no-edges"), k=None))


def test_the_study_runs_and_resumes(tmp_path):
    small, results, done = read("consistency").smoke(), Results(tmp_path / "x.jsonl"), []
    first = run_study(
        small.only(methods=["random", "lsp-projection"]), results, on_record=lambda run, _: done.append(run.method)
    )
    assert (first.total, first.missing, done) == (2, 0, ["random", "lsp-projection"])
    run_study(small, results, on_record=lambda run, _: done.append(run.method))
    assert sorted(done) == sorted(METHODS)  # none of them twice
    assert all(0 < record["overlap"] < 1 and not math.isnan(record["share"]) for record in results.read())


@pytest.mark.parametrize("method", METHODS)
def test_what_is_learned_is_the_same_for_every_budget(method):
    made = TOY.make()
    learn, judge = graph_of(made, 30, 62), graph_of(made, 0, 30)
    for k in (1, 3):
        record = measure(dataclasses.replace(RUN, **method_fields(METHODS[method]), k=k))
        alone = METHODS[method].make(k=k).fit(learn)
        assert record["pruner"] == alone.to_dict()
        found = aligned_consistency(
            alone.mask(judge), made.edge_ptr[:31], made.y[:30], made.centre_edge[: made.edge_ptr[30]], pairs_per_class=7
        )
        assert record["overlap"] == found
