"""Links to be predicted are told from edges by name; a graph that was pruned before its links were split is known."""

from __future__ import annotations

import copy
import io
import warnings

import pytest
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.transforms import NormalizeFeatures, RandomLinkSplit

from lsprune import LSP, prune
from lsprune.adapters.pyg.link_labels import is_link_label, is_pruned_before_split, link_names
from lsprune.errors import LinkSplitWarning

RATES = ("user", "rates", "item")


def graph(**more) -> Data:
    torch.manual_seed(0)
    source = torch.randint(0, 30, (150,))
    target = (source + torch.randint(1, 14, (150,))) % 30  # no self-loops, no reverses
    return Data(x=torch.rand(30, 4), edge_index=torch.stack([source, target]), **more).coalesce()


def ratings() -> HeteroData:
    torch.manual_seed(0)
    data = HeteroData()
    data["user"].x, data["item"].x = torch.rand(20, 4), torch.rand(15, 4)
    data[RATES].edge_index = (
        torch.stack([torch.arange(120) % 20, torch.arange(120) % 15 - torch.arange(120) // 60]) % 15
    )
    data[RATES].rating = torch.arange(120)
    return data


@pytest.mark.parametrize("split_labels", [False, True])
def test_the_links_of_a_split_are_found_and_its_edges_are_not_links(split_labels):
    for split in RandomLinkSplit(0.2, 0.2, split_labels=split_labels)(graph(edge_type=torch.arange(150))):
        prefixes = ["pos_", "neg_"] if split_labels else [""]
        assert sorted(link_names(split._store)) == sorted(f"{prefix}edge_label_index" for prefix in prefixes)
        assert not any(is_link_label(split._store, key) for key in ("x", "edge_index", "edge_type"))
    assert link_names(graph()._store) == []


def test_labels_under_another_name_stay_whole_even_if_there_are_as_many_as_edges():
    split = RandomLinkSplit(0.2, 0.2, key="rating", neg_sampling_ratio=0.0, edge_types=[RATES])
    train, _, _ = split(ratings())
    store = train[RATES]
    assert store.rating.shape[0] == store.num_edges  # so that the length cannot tell labels from edges
    assert link_names(store) == ["rating_index"]
    pruned = prune(train, LSP(keep=0.5))
    out = pruned[RATES]
    assert out.num_edges < store.num_edges
    assert torch.equal(out.rating, store.rating) and torch.equal(out.rating_index, store.rating_index)


def test_an_attribute_of_edges_beside_another_index_is_still_cut():
    data = graph()
    data.edge_kind, data.edge_kind_index = torch.arange(data.num_edges), torch.zeros(3, 7)
    out = prune(data, LSP(keep=0.5), e_id=True)
    assert torch.equal(out.edge_kind, out.e_id)
    assert out.edge_kind_index is data.edge_kind_index


def test_a_graph_that_was_pruned_before_the_split_is_told_when_it_is_pruned_again():
    small = prune(graph(), LSP(keep=0.5))
    for split in RandomLinkSplit(0.2, 0.2)(NormalizeFeatures()(small)):
        assert is_pruned_before_split(split._store)
        with pytest.warns(LinkSplitWarning, match="pruned before its links were split"):
            prune(split, LSP(keep=0.5))
        with pytest.warns(LinkSplitWarning):
            LSP(keep=0.5).fit(split)


def test_relations_are_told_one_by_one():
    small = prune(ratings(), LSP(keep=0.5))
    train, _, _ = RandomLinkSplit(0.2, 0.2, edge_types=[RATES])(small)
    assert is_pruned_before_split(train[RATES])
    with pytest.warns(LinkSplitWarning):
        prune(train, LSP(keep=0.5))


def test_nobody_is_warned_who_splits_first_or_removes_nothing_or_splits_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error", LinkSplitWarning)
        train, _, _ = RandomLinkSplit(0.2, 0.2)(graph())
        prune(prune(train, LSP(keep=0.5)), LSP(keep=0.5))
        whole = prune(graph(), LSP(keep=1.0))
        prune(RandomLinkSplit(0.2, 0.2)(whole)[0], LSP(keep=0.5))
        prune(prune(graph(), LSP(keep=0.5)), LSP(keep=0.5))
        batch = prune(graph(), LSP(keep=0.5))  # what a loader of links makes of a pruned graph: links from elsewhere
        batch.edge_label_index, batch.input_id = torch.zeros(2, 3, dtype=torch.long), torch.arange(3)
        assert prune(batch, LSP(keep=0.5)).num_edges < batch.num_edges  # pruned, and without a warning


def test_the_note_is_no_attribute_and_does_not_reach_the_input():
    data = graph()
    before = set(vars(data._store))
    small = prune(data, LSP(keep=0.5))
    assert set(small.keys()) == set(data.keys()) and list(small.to_dict()) == list(data.to_dict())
    assert set(vars(data._store)) - before <= {"_cached_attr"}
    assert repr(small) == f"Data(x=[30, 4], edge_index=[2, {small.num_edges}])"
    file = io.BytesIO()
    torch.save(small, file)  # and it is nothing but True, so that any reader can load it
    file.seek(0)
    again = torch.load(file, weights_only=False)
    assert is_pruned_before_split(RandomLinkSplit(0.2, 0.2)(copy.deepcopy(again))[0]._store)
