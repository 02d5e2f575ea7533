"""Batches padded to one size: neither results nor gradients of the real graphs change."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from training_helpers import categorical_graphs  # noqa: E402

from lsprune.lab.models import MODELS, build  # noqa: E402
from lsprune.lab.training.padding import PaddedSize  # noqa: E402

STATIC = ("synthetic-gat", "synthetic-gat-small", "zinc-pna", "graph-gcn", "graph-sage", "graph-pna")


def make(name: str, basic: bool = False, out_dim: int = 3) -> torch.nn.Module:
    torch.manual_seed(0)
    return build(name, in_dim=5, out_dim=out_dim, basic=basic, degrees=torch.ones(17, dtype=torch.long))


def test_every_model_with_static_shapes_is_tested_here():
    of_sets = [name for name in MODELS if not name.startswith("node-")]  # a single graph is not padded
    assert {name for name in of_sets if getattr(make(name), "static_shapes", False)} == set(STATIC)


@pytest.mark.parametrize(
    ("name", "basic"),
    [
        ("synthetic-gat", False),
        ("synthetic-gat", True),
        ("zinc-pna", False),
        ("graph-gcn", False),
        ("graph-sage", False),
        ("graph-pna", False),
    ],
)
def test_padding_changes_neither_scores_nor_gradients_nor_statistics(name, basic):
    batch = categorical_graphs(name).batch(torch.tensor([4, 0, 6]))
    size = PaddedSize(nodes=batch.num_nodes + 9, edges=batch.edge_index.shape[1] + 13, graphs=3)
    first, second = make(name, basic), make(name, basic)
    for model in (first, second):
        model.dropout = 0.0
        model.train()
    plain, padded = first(batch), second(size.pad(batch))[:3]
    torch.testing.assert_close(padded, plain, rtol=1e-4, atol=1e-5)
    for out in (plain, padded):
        torch.nn.functional.cross_entropy(out, batch.y).backward()
    for expected, parameter in zip(first.parameters(), second.parameters(), strict=True):
        torch.testing.assert_close(parameter.grad, expected.grad, rtol=1e-3, atol=1e-5)
    for (key, expected), value in zip(first.state_dict().items(), second.state_dict().values(), strict=True):
        if "running" in key:
            torch.testing.assert_close(value, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("name", "basic"), [("synthetic-gat", False), ("synthetic-gat", True), ("zinc-pna", False)])
def test_one_padding_node_does_not_change_the_evaluation(name, basic):
    batch, model = categorical_graphs(name).batch(torch.tensor([4, 0, 6])), make(name, basic)
    model.train()(batch)  # changes the statistics of the batch norms
    model.eval()
    padded = PaddedSize.for_batch(batch).pad(batch)
    assert padded.num_nodes == batch.num_nodes + 1
    torch.testing.assert_close(model(padded)[: batch.y.shape[0]], model(batch), rtol=1e-4, atol=1e-5)


def test_padded_batches_have_one_size_whatever_is_in_them():
    store = categorical_graphs("zinc-pna")
    size = PaddedSize.for_random_batches(store, 3)
    shapes = set()
    for ids in ([0, 1, 2], [4, 5, 6]):
        padded = size.pad(store.batch(torch.tensor(ids)))
        assert int(padded.node_mask.sum()) == sum(4 + i for i in ids)
        shapes.add(
            tuple((key, tuple(value.shape)) for key, value in padded.to_dict().items() if torch.is_tensor(value))
        )
        assert padded.batch.max() == 3
        assert padded.edge_index.max() == size.nodes - 1
    assert len(shapes) == 1


def test_full_batches_with_room_for_a_padding_node_fit():
    store = categorical_graphs("zinc-pna")
    largest = store.batch(torch.tensor([4, 5, 6]))
    size = PaddedSize.for_random_batches(store, 3)
    assert size.fits(largest)
    assert not size.fits(store.batch(torch.tensor([0, 1])))
    assert not PaddedSize(nodes=largest.num_nodes, edges=10**6, graphs=3).fits(largest)  # no padding node left
    assert not PaddedSize(nodes=10**6, edges=largest.edge_index.shape[1] - 1, graphs=3).fits(largest)
