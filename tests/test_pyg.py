"""`lsprune.pyg.Prune`: the same edges as `lsprune.prune`, wherever PyG runs a transform."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
import warnings

import numpy as np
import pytest

from graphs import ALL_PRUNERS, name_of

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyG's import warns of its own accord (torch.jit)
    pytest.importorskip("torch_geometric")
    from torch_geometric import seed_everything, transforms
    from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
    from torch_geometric.loader import DataLoader

from lsprune import LSP, LocalRandom, prune  # noqa: E402
from lsprune.errors import LinkSplitWarning, MissingDependency, OptionError  # noqa: E402
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
    some = LocalRandom(keep=0.5)
    assert repr(Prune(some, rescale="unbiased")) == f"Prune({some!r}, rescale='unbiased')"
    assert repr(Prune({LIKES: HALF})) == f"Prune({{{LIKES!r}: {HALF!r}}})"


@pytest.mark.parametrize(
    ("pruner", "message"),
    [
        (0.5, r"pruner must be a pruner such as LSP\(keep=0\.5\), got 0\.5; write LSP\(keep=0\.5\)"),
        (LSP, "pruner must be a pruner"),
        (None, "pruner must be a pruner"),
        ({LIKES: HALF, LIKED_BY: 3}, r"pruner must be a pruner .*, got 3; write LSP\(k=3\)"),
    ],
)
def test_what_is_no_pruner_is_refused_when_the_transform_is_made(pruner, message):
    with pytest.raises(OptionError, match=message):
        Prune(pruner)


def test_a_wrong_rescale_is_refused_when_the_transform_is_made():
    with pytest.raises(OptionError, match="rescale must be one of"):
        Prune(HALF, rescale="yes")


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


def linked(seed: int = 0) -> Data:
    torch.manual_seed(seed)
    ends, attr = torch.randint(0, 40, (2, 120)), torch.rand(120, 2)
    return transforms.ToUndirected()(Data(x=torch.rand(40, 4), edge_index=ends, edge_attr=attr))


SPLIT = transforms.RandomLinkSplit(0.2, 0.2, is_undirected=True)
BOTH = Prune(LSP(keep=0.5, symmetric="union"))
LABELS = ("edge_label_index", "edge_label", "pos_edge_label_index", "neg_edge_label_index", "pos_edge_label")


def edges_of(data: Data) -> set:
    return set(map(tuple, data.edge_index.T.tolist()))


@pytest.mark.parametrize("split_labels", [False, True])
def test_after_a_link_split_in_a_compose_only_message_edges_are_pruned(split_labels):
    split = transforms.RandomLinkSplit(0.2, 0.2, is_undirected=True, split_labels=split_labels)
    first = [transforms.NormalizeFeatures(), split]
    given = linked()
    seed_everything(1)  # negative links are drawn by Python's own generator
    whole = transforms.Compose(first)(given)
    seed_everything(1)
    pruned = transforms.Compose([*first, BOTH])(given)
    for before, after in zip(whole, pruned, strict=True):
        names = [name for name in LABELS if name in before]
        assert len(names) == (3 if split_labels else 2)
        for name in names:
            assert torch.equal(after[name], before[name])
        assert 0 < after.num_edges < before.num_edges
        assert edges_of(after) < edges_of(before)  # nothing enters
    held_out = [getattr(pruned[2], name) for name in ("pos_edge_label_index", "edge_label_index") if name in pruned[2]]
    links = held_out[0] if split_labels else held_out[0][:, pruned[2].edge_label == 1]
    assert all(not edges_of(Data(edge_index=both)) & edges_of(pruned[2]) for both in (links, links.flip(0)))


@pytest.mark.parametrize("pruner", ALL_PRUNERS, ids=name_of)
def test_other_held_out_links_change_no_mask(pruner):
    """Which links are held out cannot be inferred from what is kept: not from one split, and not from all three."""
    train, val, test = SPLIT(linked())
    masks = prune((train, val, test), pruner, return_mask=True)[1]
    others = train.clone(), val.clone(), test.clone()
    for one in others:
        one.edge_label_index = torch.randint(0, 40, one.edge_label_index.shape)
        one.edge_label = 1 - one.edge_label
    # The links of val are edges of test: with others, too, the first two are pruned as before.
    found = torch.randint(0, 40, (2, 30))
    others[2].edge_index = torch.cat([train.edge_index, found, found.flip(0)], 1)
    others[2].edge_attr = torch.cat([train.edge_attr, torch.rand(60, 2)])
    again = pruner.mask(others)
    for before, after, alone in zip(masks[:2], again[:2], (train, val), strict=True):
        assert np.array_equal(before, after)
        assert np.array_equal(before, pruner.mask(alone))


@pytest.mark.parametrize("kind", [list, tuple])
def test_splits_are_pruned_one_by_one(kind):
    splits = kind(SPLIT(linked()))
    out = BOTH(splits)
    assert type(out) is kind
    assert all_fields(out) == all_fields(BOTH(one) for one in splits)
    fitted = LSP(keep=0.5, symmetric="union").fit(splits[0])
    train, val, _ = Prune(fitted, e_id=True)(splits)
    assert torch.equal(train.e_id, val.e_id)  # both have the edges of train


@pytest.mark.parametrize(
    "make",
    [
        lambda: [transforms.ToUndirected(), BOTH, SPLIT],
        lambda: [BOTH, transforms.NormalizeFeatures(), transforms.Compose([SPLIT])],
        lambda: [transforms.Compose([BOTH]), SPLIT],
    ],
)
def test_pruning_before_a_link_split_in_a_compose_warns(make):
    with pytest.warns(LinkSplitWarning, match="Prune stands before RandomLinkSplit") as caught:
        transforms.Compose(make())(linked())
    assert caught[0].filename == __file__


def test_pruning_elsewhere_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error", LinkSplitWarning)
        transforms.Compose([SPLIT, BOTH])(linked())
        transforms.Compose([transforms.Compose([SPLIT]), BOTH, transforms.NormalizeFeatures()])(linked())
        transforms.Compose([lambda data: SPLIT(BOTH(data))])(linked())  # this cannot be seen
        transforms.Compose([BOTH])(linked())
