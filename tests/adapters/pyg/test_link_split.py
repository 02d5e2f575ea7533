"""A link that is held out and also an edge is found, wherever it is; a clean split, pruned or not, passes."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.transforms import RandomLinkSplit, ToUndirected

from lsprune import LSP, prune
from lsprune.adapters.pyg.link_split import check_link_split
from lsprune.errors import GraphError, LinkSplitWarning

RATES, RATED_BY = ("user", "rates", "item"), ("item", "rev_rates", "user")


def graph() -> Data:
    torch.manual_seed(0)
    source = torch.randint(0, 40, (200,))
    target = (source + torch.randint(1, 19, (200,))) % 40  # no self-loops, no reverses
    return Data(x=torch.rand(40, 4), edge_index=torch.stack([source, target])).coalesce()


def ratings(**split):
    torch.manual_seed(0)
    data = HeteroData()
    data["user"].x, data["item"].x = torch.rand(20, 4), torch.rand(15, 4)
    data[RATES].edge_index = torch.stack([torch.arange(20).repeat_interleave(6), torch.arange(120) % 15])
    return RandomLinkSplit(0.2, 0.2, edge_types=[RATES], **split)(ToUndirected()(data))


@pytest.mark.parametrize("split_labels", [False, True])
@pytest.mark.parametrize("disjoint", [0.0, 0.3])
def test_a_split_passes_before_and_after_pruning(split_labels, disjoint):
    make = RandomLinkSplit(0.2, 0.2, is_undirected=True, split_labels=split_labels, disjoint_train_ratio=disjoint)
    splits = make(ToUndirected()(graph()))
    check_link_split(*splits)
    check_link_split(*prune(splits, LSP(keep=0.5, symmetric="union")))


@pytest.mark.parametrize(("where", "whose"), [(0, 1), (0, 2), (1, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("turned", [False, True])
def test_one_link_in_the_edges_is_found(where, whose, turned):
    splits = list(RandomLinkSplit(0.2, 0.2)(graph()))
    link = splits[whose].edge_label_index[:, splits[whose].edge_label == 1][:, 3:4]
    splits[where].edge_index = torch.cat([splits[where].edge_index, link.flip(0) if turned else link], 1)
    names = ["train", "val", "test"]
    with pytest.raises(GraphError, match=f"edges of {names[where]}.*links held out in {names[whose]}, got 1 of "):
        check_link_split(*splits)
    if turned:
        check_link_split(*splits, directed=True)
    else:
        with pytest.raises(GraphError, match="got 1 of"):
            check_link_split(*splits, directed=True)


def test_what_may_be_an_edge_passes():
    """The test graph has the links of val among its edges, and negative links may be edges of another time."""
    train, val, test = RandomLinkSplit(0.2, 0.2)(graph())
    links = {tuple(link) for link in val.edge_label_index[:, val.edge_label == 1].T.tolist()}
    assert links <= {tuple(edge) for edge in test.edge_index.T.tolist()}
    test.edge_index = torch.cat([test.edge_index, test.edge_label_index[:, test.edge_label == 0]], 1)
    check_link_split(train, val, test, directed=True)  # a negative link may be the reverse of a positive one


def test_an_undirected_graph_that_was_split_as_a_directed_one_is_refused():
    with pytest.raises(GraphError, match="is_undirected=True"):
        check_link_split(*RandomLinkSplit(0.2, 0.2)(ToUndirected()(graph())))


def test_a_reverse_relation_that_was_not_split_is_refused():
    check_link_split(*ratings(rev_edge_types=[RATED_BY]))
    with pytest.raises(GraphError, match=r"edges of train \('item', 'rev_rates', 'user'\)"):
        check_link_split(*ratings())
    check_link_split(*ratings(), directed=True)


def test_a_reverse_relation_of_another_name_is_refused_if_named():
    splits = ratings()
    for split in splits:
        split["item", "liked_by", "user"].edge_index = split[RATED_BY].edge_index
        del split[RATED_BY]
    check_link_split(*splits)
    for pair in [(RATES, ("item", "liked_by", "user")), (("item", "liked_by", "user"), RATES)]:
        with pytest.raises(GraphError, match="liked_by"):
            check_link_split(*splits, reverse=dict([pair]))


def test_links_without_a_label_that_is_not_0_are_all_looked_for():
    train, val, test = RandomLinkSplit(0.2, 0.2, neg_sampling_ratio=0.0)(graph())
    val.edge_label = torch.zeros_like(val.edge_label)  # one class, numbered 0
    check_link_split(train, val, test)
    train.edge_index = torch.cat([train.edge_index, val.edge_label_index[:, :1]], 1)
    with pytest.raises(GraphError, match="got 1 of"):
        check_link_split(train, val, test)


def test_pruning_before_the_split_is_warned_of():
    splits = RandomLinkSplit(0.2, 0.2)(prune(graph(), LSP(keep=0.5)))
    with pytest.warns(LinkSplitWarning, match="pruned before its links were split"):
        check_link_split(*splits)


def test_what_is_no_split_is_refused():
    train, val, test = RandomLinkSplit(0.2, 0.2)(graph())
    with pytest.raises(GraphError, match="three Data or three HeteroData, got Data, Data, HeteroData"):
        check_link_split(train, val, ratings()[2])
    with pytest.raises(GraphError, match="got Data, Tensor, Data"):
        check_link_split(train, val.edge_index, test)
    with pytest.raises(GraphError, match="edge_label_index"):
        check_link_split(graph(), graph(), graph())


def test_a_split_without_links_is_no_leak():
    torch.manual_seed(0)
    data = Data(x=torch.randn(20, 3), edge_index=torch.unique(torch.randint(20, (2, 60)), dim=1))
    train, val, test = RandomLinkSplit(0.0, 0.2)(data)
    check_link_split(train, val, test)
    assert not val.edge_label.numel()
