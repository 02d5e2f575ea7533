"""Features that are mostly zero: the results of dense ones, for every model of nodes."""

from __future__ import annotations

import warnings
from copy import copy

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import torch.nn.functional as F  # noqa: E402
from torch_geometric.data import Data  # noqa: E402

from lsprune.lab.models import build  # noqa: E402
from lsprune.lab.models.sparse_features import SparseFeatures, sparse_if_faster  # noqa: E402


def bag_of_words(nodes: int = 40, columns: int = 300, share: float = 0.05) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(nodes, columns, generator=generator)
    x[torch.rand(nodes, columns, generator=generator) > share] = 0
    x[3], x[:, 7] = 0, 0  # a node without a word, a word that no node has
    return x


def test_the_dense_matrix_comes_back():
    x = bag_of_words()
    sparse = SparseFeatures.of(x)
    assert torch.equal(sparse.to_dense(), x)
    assert (sparse.shape, sparse.dtype, sparse.dim()) == (x.shape, x.dtype, 2)
    assert torch.equal(sparse[:5] + 1, x[:5] + 1)  # other operations see the dense matrix
    assert torch.equal(sparse.sum(1), x.sum(1))


@pytest.mark.parametrize(
    "model", ["github-gat", "node-gat", "node-gcn", "node-sage", "node-gcn-skip", "node-sage-skip"]
)
def test_scores_and_gradients_are_those_of_dense_features(model):
    edges = torch.randint(0, 40, (2, 200), generator=torch.Generator().manual_seed(1))
    dense = Data(x=bag_of_words(), edge_index=edges)
    sparse = copy(dense)
    sparse.x = SparseFeatures.of(dense.x)
    torch.manual_seed(2)
    net = build(model, in_dim=300, out_dim=4).eval()
    found = []
    for graph in (dense, sparse):
        net.zero_grad()
        scores = net(graph)
        scores.square().sum().backward()
        found.append([scores.detach(), *(weight.grad.clone() for weight in net.parameters())])
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-4 * float(one.abs().max()))


def test_dropout_drops_entries_and_scales_the_others():
    x = bag_of_words(400)
    sparse = SparseFeatures.of(x)
    assert torch.equal(F.dropout(sparse, 0.5, False).to_dense(), x)
    torch.manual_seed(0)
    dropped = F.dropout(sparse, 0.25, True).to_dense()
    kept = dropped != 0
    assert torch.allclose(dropped[kept], x[kept] / 0.75)
    assert float(kept.sum() / (x != 0).sum()) == pytest.approx(0.75, abs=0.03)
    gradient = torch.zeros(5, 300)
    weight = gradient.clone().requires_grad_()
    torch.manual_seed(0)
    F.linear(F.dropout(sparse, 0.25, True), weight).sum().backward()
    assert torch.allclose(weight.grad, dropped.sum(0).expand(5, -1), atol=1e-4)  # of the entries that were not dropped


def test_only_wide_features_that_are_mostly_zero_become_sparse():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(sparse_if_faster(bag_of_words()), SparseFeatures)
    for x in (bag_of_words(columns=100), bag_of_words(share=0.5), bag_of_words().long(), torch.ones(3)):
        assert sparse_if_faster(x) is x
