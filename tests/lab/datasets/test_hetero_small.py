"""The generated graph of several kinds: authors tell the class, terms do not, and it is the same every time."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lsprune.lab.datasets.hetero_small import AUTHORS, CLASSES, TERMS, hetero_small  # noqa: E402


def purity(data, kind: str, name: str) -> float:
    """The share of pairs of papers with a common author or term that have the same class."""
    source, paper = data[kind, name, "paper"].edge_index
    linked = torch.zeros(data[kind].num_nodes, data["paper"].num_nodes)
    linked[source, paper] = 1
    pairs = (linked.T @ linked).fill_diagonal_(0) > 0
    same = data["paper"].y[:, None] == data["paper"].y
    return float(same[pairs].float().mean())


def test_authors_tell_the_class_and_terms_do_not():
    data = hetero_small().train
    assert purity(data, "author", "writes") == 1.0
    assert abs(purity(data, "term", "describes") - 1 / CLASSES) < 0.02


def test_sizes_and_reverses():
    dataset = hetero_small(50)
    data = dataset.train
    assert dataset.single and dataset.hetero and (dataset.num_features, dataset.num_classes) == (CLASSES, CLASSES)
    assert [data[kind].num_nodes for kind in ("paper", "author", "term")] == [50, AUTHORS, TERMS]
    assert data.num_edges == 2 * 50 * 17
    for kind, name in (("author", "writes"), ("term", "describes")):
        assert data[kind, name, "paper"].edge_index.flip(0).equal(data["paper", f"rev_{name}", kind].edge_index)


def test_it_is_the_same_every_time():
    one, other = hetero_small(40).train, hetero_small(40).train
    assert one["paper"].x.equal(other["paper"].x)
    assert all(one[key].edge_index.equal(other[key].edge_index) for key in one.edge_types)
