"""GCN, SAGE and PNA: computing edges once changes nothing, and models of graphs ignore padding."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data  # noqa: E402
from torch_geometric.nn import GCNConv  # noqa: E402

from lsprune.errors import OptionError  # noqa: E402
from lsprune.lab.models import build  # noqa: E402
from lsprune.lab.models.convolutions import KINDS, NormalisedEdges, SparseGCNConv, sorted_by_target  # noqa: E402
from lsprune.lab.models.layers import with_self_loops  # noqa: E402
from lsprune.lab.training.graph_store import GraphStore  # noqa: E402
from lsprune.lab.training.padding import PaddedSize  # noqa: E402


def graph(nodes: int = 12, edges: int = 50, seed: int = 0) -> Data:
    """A graph with an isolated node, self-loops and parallel edges."""
    generator = torch.Generator().manual_seed(seed)
    ends = torch.randint(0, nodes - 1, (2, edges), generator=generator)
    ends[:, 0] = 3
    return Data(x=torch.randn(nodes, 5, generator=generator), edge_index=ends, y=torch.tensor([seed % 2]))


def degrees(data: Data) -> torch.Tensor:
    return torch.bincount(torch.bincount(data.edge_index[1], minlength=data.num_nodes))


def model(kind: str, data: Data, form: str = "node") -> torch.nn.Module:
    torch.manual_seed(0)
    return build(f"{form}-{kind}", in_dim=5, out_dim=3, degrees=degrees(data)).eval()


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_computing_edges_once_gives_the_same_scores_and_gradients(kind, sort):
    data = graph()
    net = model(kind, data)
    plain, prepared = net(data), net(net.precompute(data, sort=sort))
    assert plain.shape == (12, 3)
    assert torch.allclose(plain, prepared, atol=1e-5)
    weights = list(net.parameters())
    for one, other in zip(
        *(torch.autograd.grad(out.square().sum(), weights) for out in (plain, prepared)), strict=True
    ):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-4)


def test_the_normalisation_is_that_of_pyg():
    data = graph()
    ours, theirs = SparseGCNConv(5, 4), GCNConv(5, 4)
    theirs.load_state_dict(ours.state_dict())
    edges = NormalisedEdges.of(with_self_loops(data.edge_index, 12), 12)
    assert torch.allclose(ours(data.x, edges), theirs(data.x, data.edge_index), atol=1e-6)


def test_edges_are_sorted_by_target_and_the_same():
    data = graph()
    edges = sorted_by_target(data.edge_index.T.contiguous().T, 12)  # edges in any memory layout
    assert edges.is_sorted_by_col
    assert torch.equal(edges[1].as_tensor(), data.edge_index[1].sort().values)
    assert sorted(map(tuple, edges.as_tensor().T.tolist())) == sorted(map(tuple, data.edge_index.T.tolist()))


@pytest.mark.parametrize("kind", KINDS)
def test_padding_does_not_change_the_scores_of_graphs(kind):
    store = GraphStore.of([graph(seed=seed) for seed in range(3)])
    if kind == "gcn":
        store = store.without_self_loops()  # as the trainer does for models that add their own
    batch = next(store.consecutive_batches(3))
    net = model(kind, graph(), "graph")
    padded = PaddedSize(nodes=60, edges=200, graphs=3).pad(batch)
    assert torch.allclose(net(padded)[:3], net(batch), atol=1e-5)


def test_pna_asks_for_its_histogram():
    with pytest.raises(OptionError, match="degrees must be the histogram"):
        build("node-pna", in_dim=5, out_dim=3)
    with pytest.raises(OptionError, match="basic must be False for graph-gcn"):
        build("graph-gcn", in_dim=5, out_dim=3, basic=True)
