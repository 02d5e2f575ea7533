"""The sampled GAT: at most so many neighbours in training, drawn uniformly; all of them in evaluation."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from model_helpers import IN_DIM, OUT_DIM, complete_graph  # noqa: E402

from lsprune.lab.models.layers import with_self_loops  # noqa: E402
from lsprune.lab.models.sampled_gat import PlanetoidGAT, sample_incoming  # noqa: E402


def test_training_samples_at_most_the_limits():
    model = PlanetoidGAT(IN_DIM, OUT_DIM)
    data = complete_graph(40)
    for edges, limit in zip(model.edges(data), (15, 10), strict=True):
        in_degree = torch.bincount(edges[1], minlength=40)
        assert in_degree.tolist() == [3] + [limit + 1] * 39  # with a self-loop
        assert int((edges[0] == edges[1]).sum()) == 40
        assert torch.unique(edges, dim=1).shape == edges.shape
    first, second = model.edges(data), model.edges(data)
    assert not torch.equal(first[0], second[0])


def test_each_layer_gets_its_own_sample():
    model = PlanetoidGAT(IN_DIM, OUT_DIM)
    seen = []
    for layer in (model.first, model.second):
        layer.register_forward_pre_hook(lambda _, args: seen.append(args[1]))
    model(complete_graph(40))
    assert [int(torch.bincount(edges[1]).max()) for edges in seen] == [16, 11]
    seen.clear()
    model.eval()(complete_graph(40))
    assert (
        all(torch.equal(edges, with_self_loops(complete_graph(40).edge_index, 40)) for edges in seen) and len(seen) == 2
    )


def test_evaluation_draws_nothing_and_small_neighbourhoods_are_complete():
    model = PlanetoidGAT(IN_DIM, OUT_DIM, dropout=0.0)
    data = complete_graph(5)  # four neighbours at most, fewer than either limit
    torch.testing.assert_close(model.train()(data), model.eval()(data))
    state = torch.get_rng_state()
    model(complete_graph(40))
    assert torch.equal(torch.get_rng_state(), state)


def test_every_edge_is_drawn_equally_often():
    edges = torch.stack([torch.arange(1, 21), torch.zeros(20, dtype=torch.long)])
    torch.manual_seed(0)
    drawn = torch.cat([sample_incoming(edges, 5)[0] for _ in range(2000)])
    counts = torch.bincount(drawn, minlength=21)[1:]  # 500 expected, standard deviation 19
    assert counts.sum() == 10_000 and (counts - 500).abs().max() < 85


def test_sample_of_no_edges_is_empty():
    assert sample_incoming(torch.empty(2, 0, dtype=torch.long), 3).shape == (2, 0)
