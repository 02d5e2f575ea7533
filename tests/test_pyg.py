"""`lsprune.pyg.Prune`: the same edges as `lsprune.prune`, wherever PyG runs a transform."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyG's import warns of its own accord (torch.jit)
    pytest.importorskip("torch_geometric")
    from torch_geometric import transforms
    from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
    from torch_geometric.loader import DataLoader

from lsprune import LSP, prune  # noqa: E402
from lsprune.errors import MissingDependency  # noqa: E402
from lsprune.pyg import Prune  # noqa: E402

HALF = LSP(keep=0.5)
LIKES = ("user", "likes", "item")
LIKED_BY = ("item", "liked_by", "user")


def graph(seed: int, nodes: int = 12, edges: int = 60) -> Data:
    rng = np.random.default_rng(seed)
    source = rng.integers(0, nodes, edges)
    target = (source + rng.integers(1, nodes // 2, edges)) % nodes  # never a self-loop, never its own reverse
    return Data(
        x=torch.from_numpy(rng.normal(size=(nodes, 4)).astype(np.float32)),
        edge_index=torch.from_numpy(np.stack([source, target])),
        edge_attr=torch.arange(edges),
        y=torch.tensor([seed]),
    )


def graphs() -> list[Data]:
    return [graph(seed, nodes=10 + seed, edges=40 + 3 * seed) for seed in range(6)]


class Stored(InMemoryDataset):
    def __init__(self, given, transform=None):
        super().__init__(transform=transform)
        self._data, self.slices = self.collate(given)


def fields(given) -> dict:
    return {key: value.tolist() for key, value in given.to_dict().items() if isinstance(value, torch.Tensor)}


def all_fields(given) -> list[dict]:
    return [fields(one) for one in given]


def test_transform_prunes_and_leaves_its_input_alone():
    given = graph(0)
    before = copy.deepcopy(given)
    out = Prune(HALF)(given)
    assert fields(out) == fields(prune(given, HALF))
    assert out.num_edges == 30
    assert fields(given) == fields(before)


def test_options_are_passed_on():
    given = graph(0)
    out = Prune(HALF, e_id=True, rescale=True, threads=1)(given)
    assert fields(out) == fields(prune(given, HALF, e_id=True, rescale=True))
    assert torch.equal(out.edge_attr, out.e_id)
    assert out.edge_weight.shape == (30,)


def test_repr_shows_what_differs_from_the_defaults():
    assert repr(Prune(HALF)) == "Prune(LSP(keep=0.5))"
    assert repr(Prune(HALF, e_id=True, threads=2)) == f"Prune({HALF!r}, e_id=True, threads=2)"
    assert repr(Prune(HALF, rescale="unbiased")) == f"Prune({HALF!r}, rescale='unbiased')"
    assert repr(Prune({LIKES: HALF})) == f"Prune({{{LIKES!r}: {HALF!r}}})"


def test_options_are_keyword_only():
    with pytest.raises(TypeError):
        Prune(HALF, True)


def test_transform_can_be_pickled():
    again = pickle.loads(pickle.dumps(Prune(HALF, e_id=True)))
    assert again == Prune(HALF, e_id=True)
    assert fields(again(graph(1))) == fields(Prune(HALF, e_id=True)(graph(1)))


def test_transform_in_compose():
    before, after = transforms.NormalizeFeatures(), transforms.AddSelfLoops(attr=None)
    out = transforms.Compose([before, Prune(HALF), after])(graph(2))
    assert fields(out) == fields(after(prune(before(graph(2)), HALF)))
    assert out.num_edges == 30 + 12


def test_batch_and_dataset_equal_the_list():
    want = all_fields(Prune(HALF)(graphs()))
    assert all_fields(Prune(HALF)(Batch.from_data_list(graphs())).to_data_list()) == want
    assert all_fields(Prune(HALF)(Stored(graphs()))) == want


def test_a_fitted_pruner_does_not_care_which_graphs_come_together():
    fitted = HALF.fit(graphs())
    want = all_fields(prune(one, fitted) for one in graphs())
    assert all_fields(Prune(fitted)(graphs())) == want
    assert all_fields(Prune(fitted)(Stored(graphs())[[4, 1]])) == [want[4], want[1]]


def test_dataset_subset():
    given = Stored(graphs())
    out = Prune(HALF, e_id=True)(given[[4, 1]])
    assert all_fields(out) == all_fields(prune([graphs()[4], graphs()[1]], HALF, e_id=True))
    assert all_fields(given) == all_fields(graphs())


def test_relations_without_a_pruner_stay_whole():
    given = HeteroData()
    given["user"].x, given["item"].x = torch.randn(6, 4), torch.randn(5, 4)
    given[LIKES].edge_index = torch.stack([torch.arange(30) % 6, torch.arange(30) % 5])
    given[LIKED_BY].edge_index = given[LIKES].edge_index.flip(0)
    out = Prune({LIKES: HALF})(given)
    assert out[LIKES].edge_index.shape == (2, 15)
    assert torch.equal(out[LIKED_BY].edge_index, given[LIKED_BY].edge_index)


@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")  # on a machine with one core
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 and later, in a process with threads
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_transform_in_loader_workers(start):
    given = Stored(graphs(), transform=Prune(HALF))
    loader = DataLoader(given, batch_size=2, num_workers=2, multiprocessing_context=start)
    loaded = [one for batch in loader for one in batch.to_data_list()]
    assert all_fields(loaded) == all_fields(prune(one, HALF) for one in graphs())


@pytest.mark.parametrize(("given", "in_worker", "want"), [(None, False, None), (None, True, 1), (3, True, 3)])
def test_workers_share_the_cores(monkeypatch, given, in_worker, want):
    asked = []
    monkeypatch.setattr("lsprune.pyg.prune", lambda data, pruner, **options: asked.append(options["threads"]))
    monkeypatch.setattr("lsprune.pyg.get_worker_info", lambda: object() if in_worker else None)
    Prune(HALF, threads=given)(graph(0))
    assert asked == [want]


def test_missing_pyg_names_the_command(monkeypatch):
    for name in ("torch_geometric", "torch_geometric.transforms"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "lsprune.pyg")
    with pytest.raises(MissingDependency, match=r"pip install 'lsprune\[gnn\]'"):
        importlib.import_module("lsprune.pyg")


def test_a_data_pipe_has_prune_as_a_method():
    from torch_geometric.data.datapipes import DatasetAdapter

    graphs = [graph(seed) for seed in range(3)]
    for data, pruned in zip(graphs, DatasetAdapter(graphs).prune(LSP(k=2)), strict=True):
        assert torch.equal(pruned.edge_index, prune(data, LSP(k=2)).edge_index)


def test_after_a_link_split_only_message_edges_are_pruned_and_held_out_links_do_not_matter():
    torch.manual_seed(0)
    data = Data(x=torch.rand(40, 4), edge_index=torch.randint(0, 40, (2, 120)))
    split_links = transforms.RandomLinkSplit(0.2, 0.2, is_undirected=True)
    splits = transforms.Compose([transforms.ToUndirected(), transforms.NormalizeFeatures(), split_links])(data)
    transform = Prune(LSP(keep=0.5, symmetric="union"))
    for split in splits:
        pruned = transform(split)
        assert torch.equal(pruned.edge_label_index, split.edge_label_index)
        assert torch.equal(pruned.edge_label, split.edge_label)
        assert 0 < pruned.num_edges < split.num_edges
        before = set(map(tuple, split.edge_index.T.tolist()))
        assert set(map(tuple, pruned.edge_index.T.tolist())) <= before  # nothing enters
        changed = split.clone()
        changed.edge_label_index = split.edge_label_index.flip(1).flip(0)
        changed.edge_label = 1 - split.edge_label
        assert torch.equal(transform(changed).edge_index, pruned.edge_index)
