"""Batches filled up to one size: what a model says and learns of the real graphs does not change."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data  # noqa: E402

from lsprune.lab.datasets import Dataset  # noqa: E402
from lsprune.lab.models import MODELS, build  # noqa: E402
from lsprune.lab.models.layers import NodeNorm  # noqa: E402
from lsprune.lab.studies.run import Run  # noqa: E402
from lsprune.lab.training.cuda_graphs import Recorded, Replayed, Room  # noqa: E402
from lsprune.lab.training.graph_store import Stack  # noqa: E402
from lsprune.lab.training.tasks import ClassTask, NodeTask, Parts, ValueTask  # noqa: E402

pytestmark = [  # on a GPU, of PyG and of torch's compiler
    pytest.mark.filterwarnings("ignore:.*torch-scatter.*:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*TensorFloat32.*:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*not a leaf Tensor.*:UserWarning"),
]
STATIC = ("synthetic-gat", "synthetic-gat-small", "zinc-pna")


def graphs(name: str, count: int = 7) -> Stack:
    draw = torch.Generator().manual_seed(1)
    made = []
    for i in range(count):
        nodes, edges = 4 + i, 3 * (4 + i)
        source = torch.randint(nodes, (edges,), generator=draw)
        target = (source + 1 + torch.randint(nodes - 1, (edges,), generator=draw)) % nodes  # no self-loops
        kind = torch.randint(4, (nodes, 1), generator=draw)
        x = kind if name == "zinc-pna" else torch.randn(nodes, 5, generator=draw)
        bond = torch.randint(4, (edges,), generator=draw)
        made.append(Data(x=x, edge_index=torch.stack([source, target]), edge_attr=bond, y=torch.tensor([i % 3])))
    return Stack.of(made)


def model(name: str, basic: bool = False, out: int = 3) -> torch.nn.Module:
    torch.manual_seed(0)
    return build(name, in_dim=5, out_dim=out, basic=basic, degrees=torch.ones(17, dtype=torch.long))


def test_every_static_model_is_tried_here():
    assert {name for name in MODELS if getattr(model(name), "static", False)} == set(STATIC)


@pytest.mark.parametrize(("name", "basic"), [("synthetic-gat", False), ("synthetic-gat", True), ("zinc-pna", False)])
def test_filling_changes_neither_scores_nor_gradients_nor_statistics(name, basic):
    stack, ids = graphs(name), torch.tensor([4, 0, 6])
    batch = stack.batch(ids)
    room = Room(nodes=batch.num_nodes + 9, edges=batch.edge_index.shape[1] + 13, graphs=3)
    one, other = model(name, basic), model(name, basic)
    for net in (one, other):
        net.dropout = 0.0
        net.train()
    plain, filled = one(batch), other(room.filled(batch))[:3]
    torch.testing.assert_close(filled, plain, rtol=1e-4, atol=1e-5)
    for out in (plain, filled):
        torch.nn.functional.cross_entropy(out, batch.y).backward()
    for mine, theirs in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(theirs.grad, mine.grad, rtol=1e-3, atol=1e-5)
    for (key, mine), theirs in zip(one.state_dict().items(), other.state_dict().values(), strict=True):
        if "running" in key:
            torch.testing.assert_close(theirs, mine, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("name", "basic"), [("synthetic-gat", False), ("synthetic-gat", True), ("zinc-pna", False)])
def test_a_batch_with_a_node_more_is_judged_as_without(name, basic):
    batch, net = graphs(name).batch(torch.tensor([4, 0, 6])), model(name, basic)
    net.train()(batch)  # statistics that are not those of the beginning
    net.eval()
    filled = Room.around(batch).filled(batch)
    assert filled.num_nodes == batch.num_nodes + 1
    torch.testing.assert_close(net(filled)[: batch.y.shape[0]], net(batch), rtol=1e-4, atol=1e-5)


def test_a_filled_batch_has_one_size_whatever_is_in_it():
    stack = graphs("zinc-pna")
    room = Room.of(stack, 3)
    shapes = set()
    for ids in ([0, 1, 2], [4, 5, 6]):
        filled = room.filled(stack.batch(torch.tensor(ids)))
        assert int(filled.real.sum()) == sum(4 + i for i in ids)
        shapes.add(
            tuple((key, tuple(value.shape)) for key, value in filled.to_dict().items() if torch.is_tensor(value))
        )
        assert filled.batch.max() == 3
        assert filled.edge_index.max() == room.nodes - 1
    assert len(shapes) == 1


def test_room_holds_full_batches_that_fit():
    stack = graphs("zinc-pna")
    largest = stack.batch(torch.tensor([4, 5, 6]))
    assert Room.of(stack, 3).holds(largest)
    assert not Room.of(stack, 3).holds(stack.batch(torch.tensor([0, 1])))
    assert not Room(nodes=largest.num_nodes, edges=10**6, graphs=3).holds(largest)  # no node is left to fill with
    assert not Room(nodes=10**6, edges=largest.edge_index.shape[1] - 1, graphs=3).holds(largest)


def test_node_norm_is_batch_norm_where_all_nodes_are_real():
    x = torch.randn(20, 4, generator=torch.Generator().manual_seed(0)) * 3 + 1
    ours, theirs = NodeNorm(4), torch.nn.BatchNorm1d(4)
    torch.testing.assert_close(ours(x, torch.ones(20, dtype=torch.bool)), theirs(x))
    torch.testing.assert_close(ours.running_var, theirs.running_var)
    torch.testing.assert_close(ours.eval()(x, torch.zeros(20, dtype=torch.bool)), theirs.eval()(x))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", STATIC)
def test_a_recorded_step_learns_what_a_plain_one_does(name):
    stack = graphs(name, 12).to(torch.device("cuda"))
    losses = []
    for recorded in (False, True):
        net = model(name).cuda()
        net.dropout = 0.0
        optimiser = torch.optim.Adam(net.parameters(), lr=torch.tensor(0.001, device="cuda"), capturable=True)

        def loss(out, batch):
            return torch.nn.functional.cross_entropy(out, batch.y)

        step = Recorded(net, loss, optimiser, Room.of(stack, 4))
        row = []
        for i in range(16):
            batch = stack.batch(torch.arange(4) + i % 2)
            if recorded:
                row.append(float(step(batch)))
            else:
                optimiser.zero_grad()
                value = loss(net(batch), batch)
                value.backward()
                optimiser.step()
                row.append(float(value.detach()))
        losses.append(row)
    assert losses[0][-2] < losses[0][0]
    torch.testing.assert_close(torch.tensor(losses[1]), torch.tensor(losses[0]), rtol=0.1, atol=5e-3)  # atomics


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", ["github-gat", "planetoid-gat", "node-gat"])
@pytest.mark.parametrize("basic", [False, True])
def test_recorded_epochs_on_one_graph_learn_what_plain_ones_do(name, basic, monkeypatch):
    found = []
    for recorded in (False, True):
        torch.manual_seed(0)
        run = Run(study="s", dataset="d", model=name, method="none", seed=0, epochs=30, lr=0.01)
        net = build(name, in_dim=6, out_dim=3, basic=basic)
        net.dropout = 0.0
        if name == "planetoid-gat":
            net.limits = (99, 99)  # every neighbour: nothing is left to chance
        if not recorded:
            monkeypatch.delattr(type(net), "settled")
        task = NodeTask(run, Parts(None, *[ring()] * 3), torch.device("cuda"), net)
        assert isinstance(task.take, Replayed) == recorded
        found.append([(task.train_epoch(), *task.judge()[:2]) for _ in range(run.epochs)])
        monkeypatch.undo()
    plain, again = (torch.tensor(rows) for rows in found)
    assert plain[-1, 0] < 0.5 * plain[0, 0]
    torch.testing.assert_close(again[:, 0], plain[:, 0], rtol=0.05, atol=5e-3)  # atomics add in any order
    torch.testing.assert_close(again[-1, 1:], plain[-1, 1:], rtol=0, atol=0.05)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(("name", "task"), [("synthetic-gat", ClassTask), ("zinc-pna", ValueTask)])
def test_recorded_judging_says_what_plain_judging_does(name, task, monkeypatch):
    found = []
    for recorded in (False, True):
        torch.manual_seed(0)
        run = Run(study="s", dataset="d", model=name, method="none", seed=0, epochs=3, lr=0.01, batch_size=4)
        net = model(name, out=1 if task is ValueTask else 3)
        monkeypatch.setattr(type(net), "static", recorded)
        stack = graphs(name, 10)
        dataset = Dataset("d", "graph-classification", stack, stack, stack, num_features=5, num_classes=3)
        one = task(run, Parts(dataset, *[stack] * 3), torch.device("cuda"), net)
        assert isinstance(one.sums["val"], Replayed) == recorded
        found.append([one.judge()[:2] for _ in range(2)])  # the second time it is a replay
    torch.testing.assert_close(torch.tensor(found[1]), torch.tensor(found[0]), rtol=1e-3, atol=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_every_replay_draws_anew():
    noise = Replayed(lambda: torch.rand(1000, device="cuda"))
    first, second = noise().clone(), noise().clone()
    assert not torch.equal(first, second)
    assert 0.4 < float(second.mean()) < 0.6


def ring(nodes: int = 300) -> Data:
    """Nodes that hear the next few; class and features go by the third of the ring that they lie in."""
    draw = torch.Generator().manual_seed(0)
    here = torch.arange(nodes)
    edges = torch.cat([torch.stack([(here + step) % nodes, here]) for step in (1, 2, 3)], dim=1)
    y = here * 3 // nodes
    x = torch.nn.functional.one_hot(y, 6).float() + 0.3 * torch.randn(nodes, 6, generator=draw)
    part = torch.randint(3, (nodes,), generator=draw)
    return Data(x=x, y=y, edge_index=edges, train_mask=part == 0, val_mask=part == 1, test_mask=part == 2)
