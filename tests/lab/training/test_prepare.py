"""The graphs of a run: limits, budgets, where they are pruned, missing data."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lab_records import method_fields  # noqa: E402
from torch_geometric.data import Data  # noqa: E402
from training_helpers import NODE_RUN, communities, use_datasets  # noqa: E402

from lsprune import LSP, OptionError, SharedBudget  # noqa: E402
from lsprune.errors import Lacking  # noqa: E402
from lsprune.lab.datasets import Dataset  # noqa: E402
from lsprune.lab.datasets.hetero_small import hetero_small  # noqa: E402
from lsprune.lab.studies.run import Run  # noqa: E402
from lsprune.lab.training import prepare as module  # noqa: E402
from lsprune.lab.training.prepare import prepare  # noqa: E402
from lsprune.weights.recommended import WITH_LABELS  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(autouse=True)
def datasets(monkeypatch):
    use_datasets(monkeypatch)


def test_a_limit_takes_the_first_graphs_and_nodes_at_equal_distances(monkeypatch):
    run = Run(study="s", dataset="graphs", model="synthetic-gat", method="unpruned", limit=5)
    graphs, _ = prepare(run, None)
    assert [len(store) for store in (graphs.train, graphs.val, graphs.test)] == [5, 5, 5]
    whole = prepare(NODE_RUN, None)[0].train
    assert whole.num_nodes == 120
    monkeypatch.setattr(module, "NODES_PER_LIMIT", 20)
    small = prepare(dataclasses.replace(NODE_RUN, limit=2), None)[0].train
    assert (small.num_nodes, small.train_mask.shape[0]) == (40, 40)
    assert torch.equal(small.x, whole.x[::3])
    assert 0 < small.num_edges < whole.num_edges


@pytest.mark.parametrize(
    "method", ["random", "local-random", "lsp-projection", "lsp-threshold", "lsp-projection-published"]
)
def test_equal_k_means_equal_share_and_pruning_is_charged(method):
    _, record = prepare(dataclasses.replace(NODE_RUN, **method_fields(method), k=3), None)
    owners = communities().train.edge_index[0 if "published" in method else 1]
    assert record["share"] == pytest.approx(np.minimum(np.bincount(owners), 3).sum() / owners.shape[0])
    assert record["share"] < 0.5
    assert record["prune_seconds"] > 0


def test_a_share_is_a_budget_too():
    _, record = prepare(dataclasses.replace(NODE_RUN, **method_fields("lsp-threshold"), keep=0.25), None)
    assert record["share"] == pytest.approx(0.25, abs=0.002)


@pytest.mark.parametrize("method", ["lsp-projection", "lsp-projection-published"])  # the latter has no GPU path
@pytest.mark.parametrize("memory", [True, False], ids=["enough memory", "too little memory"])
def test_what_a_gpu_cannot_do_is_done_on_the_host(method, memory, monkeypatch):
    from lsprune.device import graph as device_graph
    from lsprune.kernels.gpu import host_arrays

    def no_memory(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    run = dataclasses.replace(NODE_RUN, **method_fields(method), k=3)
    monkeypatch.setattr(host_arrays, "check_device", lambda: None)
    monkeypatch.setattr(device_graph, "default_device", lambda: torch.device("cpu"))
    if not memory:
        monkeypatch.setattr(device_graph, "upload", no_memory)
    here, there = (prepare(run, None, executor=executor)[0].train for executor in (None, "gpu"))
    assert torch.equal(here.edge_index, there.edge_index)


@pytest.mark.parametrize("dataset", ["communities", "graphs"])
def test_graphs_are_pruned_always_or_only_in_training_or_only_in_testing(dataset):
    run = dataclasses.replace(NODE_RUN, dataset=dataset, **method_fields("random"), k=2)
    sizes = {}
    for pruned in ("always", "training", "testing"):
        graphs, _ = prepare(dataclasses.replace(run, pruned=pruned), None)
        sizes[pruned] = [part.num_edges for part in (graphs.train, graphs.val, graphs.test)]
    whole, _ = prepare(dataclasses.replace(run, **method_fields("unpruned"), k=None), None)
    full = [part.num_edges for part in (whole.train, whole.val, whole.test)]
    assert all(few < many for few, many in zip(sizes["always"], full, strict=True))
    assert sizes["training"] == [sizes["always"][0], *full[1:]]
    assert sizes["testing"] == [full[0], *sizes["always"][1:]]


def test_all_splits_are_pruned_by_the_pruner_that_is_fitted_on_the_training_graphs():
    run = dataclasses.replace(NODE_RUN, dataset="graphs", **method_fields("lsp-projection"), k=2)
    graphs, record = prepare(run, None)
    whole, _ = prepare(dataclasses.replace(NODE_RUN, dataset="graphs"), None)
    fitted = LSP(k=2, seed=NODE_RUN.seed).fit(whole.train.to_graph())
    assert record["pruner"] == fitted.to_dict()
    for part in ("train", "val", "test"):
        before, after = getattr(whole, part), getattr(graphs, part)
        expected = before.keep_edges(fitted.mask(before.to_graph()))
        assert torch.equal(after.values["edge_index"], expected.values["edge_index"])
        assert after.num_edges < before.num_edges


def labelled_graphs(seed: int) -> list[Data]:
    """Graphs of 60 nodes of two kinds, with labels of the nodes; more than half of the edges join nodes of a kind."""
    rng = torch.Generator().manual_seed(seed)
    labels = torch.randint(2, (2, 60), generator=rng)
    ends = torch.randint(60, (2, 2, 600), generator=rng)
    noise, half = torch.randn(2, 60, 4, generator=rng), torch.arange(600) % 2 == 0
    return [
        Data(x=2.0 * kinds[:, None] + some, edge_index=edges[:, (kinds[edges[0]] == kinds[edges[1]]) | half], y=kinds)
        for kinds, edges, some in zip(labels, ends, noise, strict=True)
    ]


@pytest.mark.parametrize("method", ["lsp-auto-labels", "choose"])
def test_pruners_learn_from_the_labels_of_the_nodes_of_training_graphs(method, monkeypatch):
    found = []
    for flipped in (False, True):  # the labels of the other splits, which nothing may look at
        train, *others = (labelled_graphs(seed) for seed in (0, 1, 2))
        for graph in (*others[0], *others[1]) if flipped else ():
            graph.y = 1 - graph.y
        use_datasets(monkeypatch, several=Dataset("several", "node-classification", train, *others, 4, 2))
        graphs, record = prepare(
            dataclasses.replace(NODE_RUN, dataset="several", **method_fields(method), keep=0.2), None
        )
        assert record["pruner"]["weights"] == LSP(keep=0.2, weights=WITH_LABELS).to_dict()["weights"]
        found.append(graphs.test.values["edge_index"])
    assert torch.equal(*found)


def test_missing_features_and_labels_are_named(monkeypatch):
    bare = dataclasses.replace(communities(), missing=("features", "labels"))
    use_datasets(monkeypatch, communities=bare)
    with pytest.raises(Lacking, match="the local copy of dataset communities has no features and labels"):
        prepare(NODE_RUN, None)


def test_a_record_says_what_was_rebuilt(monkeypatch):
    use_datasets(monkeypatch, other=dataclasses.replace(communities(), rebuilt=("labels",)))
    assert prepare(dataclasses.replace(NODE_RUN, dataset="other"), None)[1]["rebuilt"] == ["labels"]
    assert "rebuilt" not in prepare(NODE_RUN, None)[1]


HETERO = dataclasses.replace(NODE_RUN, dataset="hetero-small", model="hetero-sage")
TERMS, AUTHORS = ("term", "describes", "paper"), ("author", "writes", "paper")


@pytest.fixture
def hetero(monkeypatch):
    use_datasets(monkeypatch, **{"hetero-small": hetero_small()})


def test_every_seed_has_a_split_of_its_own_where_a_dataset_says_so(hetero):
    papers = [prepare(dataclasses.replace(HETERO, seed=seed), None)[0].train["paper"] for seed in (0, 1, 0)]
    assert papers[0].train_mask.equal(papers[2].train_mask) and not papers[0].train_mask.equal(papers[1].train_mask)
    nodes = [prepare(dataclasses.replace(NODE_RUN, seed=seed), None)[0].train for seed in (0, 1)]
    assert nodes[0].train_mask.equal(nodes[1].train_mask)


def test_relations_have_a_budget_each_or_share_one(hetero):
    def shares(method, **budget):
        graphs, record = prepare(dataclasses.replace(HETERO, **method_fields(method), **budget), None)
        whole = hetero_small().train
        assert graphs.train is graphs.test and record["share"] == graphs.train.num_edges / whole.num_edges
        assert graphs.train[AUTHORS].num_edges == graphs.train["paper", "rev_writes", "author"].num_edges
        return record, [graphs.train[key].num_edges / whole[key].num_edges for key in (TERMS, AUTHORS)]

    each, parts = shares("lsp-projection", keep=0.2)
    assert parts == pytest.approx([0.2, 0.2]) and each["pruner"] == LSP(keep=0.2).to_dict()
    shared, parts = shares("shared-lsp-projection", keep=0.2)
    assert shared["share"] == pytest.approx(0.2, abs=0.001)
    assert parts[0] < 0.15 and parts[1] > 0.8
    assert shared["pruner"] == SharedBudget(pruner=LSP(keep=0.2)).to_dict()


def test_a_limit_takes_nodes_of_each_kind(hetero, monkeypatch):
    monkeypatch.setattr(module, "NODES_PER_LIMIT", 50)
    small = prepare(dataclasses.replace(HETERO, limit=4), None)[0].train
    assert [small[kind].num_nodes for kind in ("paper", "author", "term")] == [150, 30, 20]
    assert 0 < small.num_edges < hetero_small().train.num_edges and small["paper"].train_mask.any()


def test_a_shared_budget_is_for_one_graph_of_any_kind():
    run = dataclasses.replace(NODE_RUN, **method_fields("shared-lsp-projection"), keep=0.25)
    assert prepare(run, None)[1]["share"] == pytest.approx(0.25, abs=0.002)
    with pytest.raises(OptionError, match="method shared-lsp-projection has one budget for one graph, not for those"):
        prepare(dataclasses.replace(run, dataset="graphs"), None)


def test_an_unknown_dataset_is_named_with_the_generated_ones(monkeypatch):
    monkeypatch.undo()
    with pytest.raises(
        OptionError, match="got 'karate'; generated datasets are synthetic, synthetic-small, noisy-links, hetero-small"
    ):
        module.load_dataset("karate", None, None)


def test_no_more_graphs_are_generated_than_a_limit_needs(monkeypatch):
    monkeypatch.undo()
    dataset = module.load_dataset("synthetic-small", None, 10)
    assert len(dataset.train) + len(dataset.val) + len(dataset.test) == 40


@pytest.mark.parametrize(("method", "times"), [("lsp-projection", 2), ("choose", 1)])
def test_only_what_takes_no_minute_is_done_untimed_first(method, times, monkeypatch):
    calls, prune_splits = [], module._prune_splits
    monkeypatch.setattr(module, "_WARMED_UP", set())
    monkeypatch.setattr(module, "_prune_splits", lambda *given: calls.append(given) or prune_splits(*given))
    prepare(dataclasses.replace(NODE_RUN, **method_fields(method), keep=0.5), None)
    assert len(calls) == times
