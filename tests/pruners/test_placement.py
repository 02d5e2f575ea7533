"""Where a graph is pruned: on the GPU if it is there and can be, else on the host, which says so once.

CPU tensors stand in for tensors on a GPU (`cpu_is_gpu`); the code is the same.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from pyg_helpers import KNOWS, LIKES

# isort: split
import torch
from torch_geometric.data import Data, HeteroData

from graphs import random_graph
from lsprune import FAMILIES, LSP, PRUNERS, WEIGHTS, Guarded, LocalRandom, OptionError, Timed, mask, prune
from lsprune.baselines import EffectiveResistance, SpanningForest
from lsprune.device import graph as device_graph
from lsprune.device import pruning
from lsprune.errors import HostWarning
from lsprune.hashing import Both, Codebook, PaperThreshold
from lsprune.kernels import runtime
from lsprune.kernels.gpu import host_arrays
from lsprune.plugins import ADAPTERS
from lsprune.pruners import PaperLSP, Pruner
from lsprune.pruners.placement import own_arrays, where_it_is

WITHOUT_GPU_PATH = [
    LSP(keep=0.4, hash=Both(edge=Codebook(words=4), node=PaperThreshold())),
    LSP(k=2, hash=PaperThreshold(digest="md5")),
    LSP.paper("t", k=2),
    PaperLSP(k=2, replace=True),
    Guarded(pruner=LSP(keep=0.3), min_keep=1),
    Timed(pruner=LSP(keep=0.3), until=300),
    EffectiveResistance(keep=0.4, trees=8),
    SpanningForest(keep=0.4),
]


def data(**changes) -> Data:
    graph = random_graph(0, nodes=30, edges=400, edge_dim=2)
    ends = torch.from_numpy(np.stack(graph.ends()))
    given = {"x": torch.from_numpy(graph.x), "edge_attr": torch.from_numpy(graph.edge_attr)}
    given["time"] = torch.arange(400)
    return Data(edge_index=ends, **{**given, **changes})


@pytest.fixture
def walks(monkeypatch):
    """The graphs that were pruned on the device."""
    seen, walk = [], pruning.mask_graph
    monkeypatch.setattr(
        pruning, "mask_graph", lambda pruner, graph, run: seen.append(graph) or walk(pruner, graph, run)
    )
    return seen


def caught(action) -> tuple[object, list[str]]:
    """What a call returns, and the texts of its HostWarnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = action()
    return result, [str(one.message) for one in seen if one.category is HostWarning]


def test_a_graph_on_the_device_is_pruned_there(cpu_is_gpu, walks):
    pruner = LSP(k=2)
    found, told = caught(lambda: pruner.mask(data()))
    assert isinstance(found, torch.Tensor) and len(walks) == 1 and told == []
    np.testing.assert_array_equal(found.numpy(), pruner.mask(data(), executor="cpu"))
    pruned, returned = prune(data(), pruner, return_mask=True)
    assert isinstance(returned, torch.Tensor) and torch.equal(returned, found) and len(walks) == 2
    assert torch.equal(pruned.edge_index, data().edge_index[:, found])
    assert torch.equal(mask(data(), pruner), found)


def test_what_is_learned_on_the_device_is_the_same(cpu_is_gpu):
    for pruner in (LSP(k=2), LSP(k=2, hash="signs", weights="similarity")):
        there = pruner.fit(data())
        assert there == pruner.fit(data(), executor="cpu")
        np.testing.assert_array_equal(there.mask(data()).numpy(), pruner.mask(data(), executor="cpu"))


def test_graphs_in_host_memory_stay_there(walks):
    for given in (data(), random_graph(0)):
        found, told = caught(lambda given=given: LSP(k=2).mask(given))
        assert isinstance(found, np.ndarray) and not walks and told == []


@pytest.mark.parametrize("executor", ["cpu", "reference"])
def test_another_executor_takes_the_host(executor, cpu_is_gpu, walks):
    found, told = caught(lambda: LSP(k=2).mask(data(), executor=executor))
    assert isinstance(found, np.ndarray) and not walks and told == []
    pruned = prune(data(), LSP(k=2), executor=executor)
    assert pruned.num_edges == found.sum() and not walks
    LSP(k=2).fit(data(), executor=executor)


@pytest.mark.parametrize("pruner", WITHOUT_GPU_PATH, ids=repr)
def test_a_pruner_without_a_gpu_path_warns_once_and_prunes_on_the_host(pruner, cpu_is_gpu, walks):
    assert not pruner.needs.gpu
    found, told = caught(lambda: pruner.mask(data()))
    assert told == [f"{pruner!r} has no GPU path; the graph is pruned on the host, with the same result"]
    np.testing.assert_array_equal(found, pruner.mask(data(), executor="cpu"))
    (pruned, again), told = caught(lambda: prune(data(), pruner, return_mask=True))
    assert told == [] and not walks
    np.testing.assert_array_equal(again, found)
    assert torch.equal(pruned.edge_index, data().edge_index[:, torch.from_numpy(found)])


def test_each_reason_is_told_once(cpu_is_gpu):
    for pruner in (LSP(k=2, hash=PaperThreshold()), LSP(k=3, hash=PaperThreshold())):
        with pytest.warns(HostWarning, match=r"LSP\(k=[23], .*\) has no GPU path"):
            pruner.mask(data())


def test_the_warning_names_the_line_of_the_caller(cpu_is_gpu):
    with pytest.warns(HostWarning) as told:
        prune(data(), LSP(k=2, hash=PaperThreshold()))
    assert told[0].filename == __file__


@pytest.mark.parametrize("name", ["x", "edge_attr"])
@pytest.mark.parametrize("change", ["sparse", "numpy", "unsigned"])
def test_attributes_that_the_device_cannot_read_are_read_by_the_host(name, change, cpu_is_gpu, walks):
    rows = data()[name]
    other = {"sparse": rows.to_sparse_csr(), "numpy": rows.numpy(), "unsigned": rows[:, 0].abs().to(torch.uint16)}
    given = data(**{name: other[change]}, num_nodes=30)
    found, told = caught(lambda: LSP(k=2).mask(given))
    assert len(told) == 1 and "GPU path" in told[0] and not walks
    np.testing.assert_array_equal(found, LSP(k=2).mask(given, executor="cpu"))


@pytest.mark.parametrize("where", ["lsprune.device.pruning.mask_graph", "lsprune.device.graph.from_tensors"])
def test_too_little_memory_leads_to_the_host(where, cpu_is_gpu, monkeypatch):
    def fails(*args, **more):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB. GPU 0 has little")

    monkeypatch.setattr(where, fails)
    found, told = caught(lambda: LSP(k=2).mask(data()))
    assert told == [
        "the GPU has too little memory (CUDA out of memory. Tried to allocate 9 GiB); "
        "the graph is pruned on the host, with the same result"
    ]
    np.testing.assert_array_equal(found, LSP(k=2).mask(data(), executor="cpu"))


def test_other_errors_are_not_hidden(cpu_is_gpu, monkeypatch):
    def fails(*args, **more):
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(pruning, "mask_graph", fails)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        LSP(k=2).mask(data())


# executor="gpu"


def test_without_a_device_it_is_told_so(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for given in (data(), random_graph(0)):
        for call in (LSP(k=2).mask, LSP(k=2).fit, lambda given, executor: prune(given, LSP(k=2), executor=executor)):
            with pytest.raises(OptionError, match="^executor gpu needs a CUDA device, and torch finds none; "):
                call(given, executor="gpu")


@pytest.fixture
def gpu(monkeypatch):
    """The executor "gpu" on CPU tensors."""
    monkeypatch.setattr(host_arrays, "check_device", lambda: None)
    monkeypatch.setattr(device_graph, "default_device", lambda: torch.device("cpu"))


def test_a_graph_in_host_memory_is_copied_to_the_device(gpu, walks):
    pruner = LSP(keep=0.3)
    for given in (random_graph(0), data(), np.stack(random_graph(0).ends())):
        chosen = LocalRandom(k=1) if isinstance(given, np.ndarray) else pruner
        before = len(walks)
        found = chosen.mask(given, executor="gpu")
        assert isinstance(found, np.ndarray) and len(walks) == before + 1  # where the caller's data is
        np.testing.assert_array_equal(found, chosen.mask(given))
    assert pruner.fit(data(), executor="gpu") == pruner.fit(data())


INSTEAD = 'use executor=None or "cpu" to prune on the host, with the same result$'


def test_what_the_device_cannot_do_is_an_error_with_executor_gpu(gpu, walks):
    pruner, given = LSP(k=2, hash=PaperThreshold()), data()
    for call in (pruner.mask, pruner.fit, lambda given, executor: prune(given, pruner, executor=executor)):
        with pytest.raises(OptionError, match=rf"PaperThreshold\(.*\)\) has no GPU path; {INSTEAD}"):
            call(given, executor="gpu")
    np.testing.assert_array_equal(pruner.mask(given, executor=None), pruner.mask(given, executor="cpu"))
    given.x = given.x.to_sparse_csr()
    with pytest.raises(OptionError, match=f"^sparse attributes have no GPU path; {INSTEAD}"):
        LSP(k=2).mask(given, executor="gpu")
    assert not walks


def test_codebook_words_are_searched_by_the_executor_of_host_arrays(gpu):
    run = runtime(1, "gpu")  # as streaming and Spark would do it: no graph on a device
    assert run.device is None and run.module.searcher is host_arrays.searcher


# several relations


def hetero() -> HeteroData:
    rng, given = np.random.default_rng(0), HeteroData()
    given["user"].x = torch.from_numpy(rng.standard_normal((30, 4)).astype(np.float32))
    given["item"].x = torch.from_numpy(rng.standard_normal((20, 3)).astype(np.float32))
    likes = torch.from_numpy(np.stack([rng.integers(0, 30, 300), rng.integers(0, 20, 300)]))
    given[LIKES].edge_index = likes
    given["item", "rev_likes", "user"].edge_index = likes.flip(0)[:, torch.from_numpy(rng.permutation(300))]
    given[KNOWS].edge_index = torch.from_numpy(rng.integers(0, 30, (2, 200)))
    return given


def test_the_reverse_relation_gets_the_transposed_mask_on_the_device(cpu_is_gpu, walks):
    given, reverse = hetero(), ("item", "rev_likes", "user")
    pruned, masks = prune(given, LSP(k=2), return_mask=True)
    assert len(walks) == 2  # not the reverse
    assert all(isinstance(found, torch.Tensor) for found in masks.values())
    for relation, expected in LSP(k=2).mask(given, executor="cpu").items():
        np.testing.assert_array_equal(masks[relation].numpy(), expected)
    one, other = pruned[LIKES].edge_index, pruned[reverse].edge_index
    assert sorted(map(tuple, one.T.tolist())) == sorted(map(tuple, other.flip(0).T.tolist()))
    assert 0 < one.shape[1] < 300


def test_one_pruner_without_a_gpu_path_takes_all_relations_to_the_host(cpu_is_gpu, walks):
    plan = {LIKES: LSP(k=2), KNOWS: LSP(k=1, hash=PaperThreshold())}
    pruned, told = caught(lambda: prune(hetero(), plan))
    assert told == [f"{plan[KNOWS]!r} has no GPU path; the graph is pruned on the host, with the same result"]
    assert not walks
    for relation in plan:
        assert torch.equal(pruned[relation].edge_index, prune(hetero(), plan, executor="cpu")[relation].edge_index)


def test_relations_that_are_not_on_one_device_are_pruned_on_the_host(monkeypatch, cpu_is_gpu, walks):
    from lsprune.adapters.pyg import data as adapters

    devices = iter([torch.device("cpu"), None, torch.device("cpu")] * 9)
    monkeypatch.setattr(adapters, "on_gpu", lambda value: next(devices))
    found = LSP(k=2).mask(hetero())
    assert all(isinstance(one, np.ndarray) for one in found.values()) and not walks


# what else


def test_arrays_are_returned_where_the_data_is(cpu_is_gpu):
    tensor = torch.ones(3)

    class Here:
        def device(self, given):
            return given

    assert own_arrays(Here(), torch.device("cpu"), {None: tensor})[None] is tensor
    assert isinstance(own_arrays(Here(), None, {None: tensor})[None], np.ndarray)


def test_work_is_given_graphs_and_a_runtime(cpu_is_gpu):
    from lsprune.adapters import find

    def work(graphs, run):
        return graphs[None].num_edges, run.device, run.threads

    arguments = find(data()), data(), [LSP(k=1)], 3
    assert where_it_is(*arguments, None, work) == (400, torch.device("cpu"), 3)
    assert where_it_is(*arguments, "cpu", work) == (400, None, 3)


def test_pruners_have_no_gpu_path_unless_they_say_so():
    class Own(Pruner):
        name, about = "own", "of a user"
        side, symmetric, self_loops = "in", None, "free"

        def mask_graph(self, graph, runtime):
            raise NotImplementedError

    assert not Own().needs.gpu


@pytest.fixture
def mine():
    """The package of tests/user_plugin; afterwards its names are forgotten."""
    folder = str(Path(__file__).parents[1] / "user_plugin" / "package")
    sys.path.insert(0, folder)
    try:
        yield __import__("my_pruning")
    finally:
        sys.path.remove(folder)
        sys.modules.pop("my_pruning")
        for name, registry in (
            ("rounded", FAMILIES),
            ("recent", WEIGHTS),
            ("nearest-id", PRUNERS),
            ("edge-table", ADAPTERS),
        ):
            registry.remove(name)


def test_a_users_own_family_weight_and_pruner_are_run_on_the_host(mine, cpu_is_gpu, walks):
    given = data(edge_attr=data().edge_attr.abs() + 1)
    for pruner in (LSP(k=3, hash="rounded"), LSP(k=3, hash="identity", weights="recent"), mine.NearestId(k=2)):
        found, told = caught(lambda pruner=pruner: pruner.mask(given))
        assert told == [f"{pruner!r} has no GPU path; the graph is pruned on the host, with the same result"]
        np.testing.assert_array_equal(found, pruner.mask(given, executor="cpu"))
        assert 0 < found.sum() < found.size
    assert not walks
