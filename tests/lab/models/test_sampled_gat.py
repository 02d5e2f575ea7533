"""The sampled GAT: at most so many neighbours in training, drawn fairly; and graphs settled for recording."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data  # noqa: E402

from lsprune.lab.models import build  # noqa: E402
from lsprune.lab.models.layers import with_loops  # noqa: E402
from lsprune.lab.models.sampled_gat import PlanetoidGAT, draw_incoming  # noqa: E402

IN, OUT = 6, 3


def dense(nodes: int = 40) -> Data:
    """Every node hears every other and itself; node 0 hears two only."""
    pairs = torch.cartesian_prod(torch.arange(nodes), torch.arange(nodes)).T
    pairs = pairs[:, (pairs[1] != 0) | (pairs[0] < 3)]
    return Data(x=torch.randn(nodes, IN, generator=torch.Generator().manual_seed(0)), edge_index=pairs)


def test_training_draws_at_most_the_limits():
    model = PlanetoidGAT(IN, OUT)
    data = dense()
    for edges, limit in zip(model.edges(data), (15, 10), strict=True):
        heard = torch.bincount(edges[1], minlength=40)
        assert heard.tolist() == [3] + [limit + 1] * 39  # with itself
        assert int((edges[0] == edges[1]).sum()) == 40
        assert torch.unique(edges, dim=1).shape == edges.shape
    first, second = model.edges(data), model.edges(data)
    assert not torch.equal(first[0], second[0])


def test_each_layer_gets_its_own_draw():
    model = PlanetoidGAT(IN, OUT)
    seen = []
    for layer in (model.first, model.second):
        layer.register_forward_pre_hook(lambda _, args: seen.append(args[1]))
    model(dense())
    assert [int(torch.bincount(edges[1]).max()) for edges in seen] == [16, 11]
    seen.clear()
    model.eval()(dense())
    assert all(torch.equal(edges, with_loops(dense().edge_index, 40)) for edges in seen) and len(seen) == 2


@pytest.mark.parametrize("name", ["github-gat", "planetoid-gat", "node-gat"])
@pytest.mark.parametrize("basic", [False, True])
def test_a_settled_graph_is_the_same_to_a_model(name, basic):
    torch.manual_seed(0)
    model, data = build(name, in_dim=IN, out_dim=OUT, basic=basic), dense()
    ready = model.settled(data)
    for mode in (True, False):
        found = []
        for one in (data, ready):
            torch.manual_seed(1)
            found.append(model.train(mode)(one))
        assert torch.equal(*found)
    assert "looped" not in data  # the graph that was given is as it was


@pytest.mark.parametrize("name", ["github-gat", "planetoid-gat", "node-gat"])
def test_a_layer_hears_what_a_gat_of_pyg_with_loops_of_its_own_does(name):
    torch.manual_seed(0)
    model, data = build(name, in_dim=IN, out_dim=OUT).eval(), dense()
    ours = model.first(data.x, with_loops(data.edge_index, 40))
    model.first.add_self_loops = True
    torch.testing.assert_close(ours, model.first(data.x, data.edge_index))


def test_eval_needs_no_draw_and_a_small_graph_loses_nothing():
    model = PlanetoidGAT(IN, OUT, dropout=0.0)
    data = dense(5)  # four neighbours at most, fewer than either limit
    torch.testing.assert_close(model.train()(data), model.eval()(data))
    state = torch.get_rng_state()
    model(dense())
    assert torch.equal(torch.get_rng_state(), state)


def test_every_edge_is_drawn_equally_often():
    edges = torch.stack([torch.arange(1, 21), torch.zeros(20, dtype=torch.long)])
    torch.manual_seed(0)
    drawn = torch.cat([draw_incoming(edges, 5)[0] for _ in range(2000)])
    counts = torch.bincount(drawn, minlength=21)[1:]  # 500 expected, standard deviation 19
    assert counts.sum() == 10_000 and (counts - 500).abs().max() < 85


def test_draw_of_no_edges_is_empty():
    assert draw_incoming(torch.empty(2, 0, dtype=torch.long), 3).shape == (2, 0)
