"""Every model by name: its shapes, its gradients, and that it can learn a tiny set by heart."""

from __future__ import annotations

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import torch.nn.functional as F  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.nn import PNAConv  # noqa: E402
from torch_geometric.utils import degree  # noqa: E402

from lsprune.errors import OptionError  # noqa: E402
from lsprune.lab.models import MODELS, build  # noqa: E402
from lsprune.lab.models.bessel import Spherical, bessel_roots, envelope, spherical_bessel  # noqa: E402
from lsprune.lab.models.layers import MeanConv, graph_count  # noqa: E402
from lsprune.lab.models.molecule import angle, near_pairs, one_hop, two_hop  # noqa: E402
from lsprune.lab.models.pna import AGGREGATORS, SCALERS, SlotConv, Slots  # noqa: E402

NODE = ("github-gat", "planetoid-gat", "node-gat", "ppi-gat")
ATTENTION = (*NODE, "synthetic-gat", "synthetic-gat-small")
MOLECULE = tuple(name for name in MODELS if name not in ATTENTION)
IN, OUT = 6, 3
CASES = [(name, basic) for name in MODELS for basic in ((False, True) if name in ATTENTION else (False,))]
cases = pytest.mark.parametrize(("name", "basic"), CASES, ids=lambda value: value if isinstance(value, str) else None)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Graphs of eight nodes: starting threads takes longer than the work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def outputs(name: str) -> int:
    return 1 if name in MOLECULE else OUT


def graph(seed: int, *, nodes: int = 8, chords: int = 4) -> Data:
    """A connected molecule-like graph in both directions, with all that any model reads."""
    draw = torch.Generator().manual_seed(seed)
    path = torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])
    once = torch.cat([path, torch.randint(nodes, (2, chords), generator=draw)], dim=1)
    once = torch.unique(torch.sort(once[:, once[0] != once[1]], dim=0).values, dim=1)
    kind = torch.randint(4, (once.shape[1],), generator=draw)
    return Data(
        x=torch.randn(nodes, IN, generator=draw),
        z=torch.randint(1, 10, (nodes,), generator=draw),
        pos=torch.randn(nodes, 3, generator=draw) * 1.5,
        edge_index=torch.cat([once, once.flip(0)], dim=1),
        edge_attr=torch.cat([kind, kind]),
    )


def without_edges(seed: int) -> Data:
    return graph(seed).edge_subgraph(torch.zeros(graph(seed).num_edges, dtype=torch.bool))


def prepared(name: str, data: Data) -> Data:
    """The same graph as that model's dataset has it: ZINC's atoms are categories in `x`."""
    if name == "zinc-pna":
        data = data.clone()
        data.x = data.z.view(-1, 1)
    return data


def make(name: str, basic: bool = False) -> torch.nn.Module:
    torch.manual_seed(0)
    degrees = torch.bincount(degree(graph(0).edge_index[1], 8).long())
    return build(name, in_dim=IN, out_dim=outputs(name), basic=basic, degrees=degrees)


def rows(name: str, data: Data) -> int:
    return data.num_nodes if name in NODE else graph_count(data)


@cases
@pytest.mark.parametrize("training", [True, False])
def test_shapes(name, basic, training):
    model = make(name, basic).train(training)
    many = Batch.from_data_list([prepared(name, part) for part in (graph(1), without_edges(2), graph(3, nodes=5))])
    for data in (many, prepared(name, graph(1)), Batch.from_data_list([prepared(name, without_edges(2))])):
        out = model(data)
        assert out.shape == (rows(name, data), outputs(name))
        assert torch.isfinite(out).all()


@cases
def test_one_graph_without_any_edge_or_neighbour(name, basic):
    model = make(name, basic).eval()
    for nodes in (8, 1):
        bare = prepared(name, without_edges(4).subgraph(torch.arange(nodes)))
        out = model(bare)
        assert out.shape == (rows(name, bare), outputs(name)) and torch.isfinite(out).all()


@cases
def test_a_batch_is_its_graphs(name, basic):
    model = make(name, basic).eval()
    parts = [prepared(name, part) for part in (graph(1), without_edges(2), graph(3, nodes=5))]
    together = model(Batch.from_data_list(parts))
    apart = torch.cat([model(part) for part in parts])
    torch.testing.assert_close(together, apart, rtol=1e-3, atol=1e-4)


def doubled(data: Data) -> Data:
    """The same with numbers of double precision, where a small change is no rounding."""
    return data.clone().apply(lambda value: value.double() if value.is_floating_point() else value)


@cases
def test_a_pruned_edge_changes_the_result(name, basic):
    model = make(name, basic).eval().double()
    whole = doubled(prepared(name, graph(1)))
    mask = torch.ones(whole.num_edges, dtype=torch.bool)
    mask[0] = False
    assert not torch.allclose(model(whole), model(whole.edge_subgraph(mask)), rtol=1e-6, atol=1e-9)


@cases
def test_every_parameter_gets_a_gradient(name, basic):
    model = make(name, basic)
    data = Batch.from_data_list([prepared(name, graph(seed)) for seed in range(4)])
    (model(data) * torch.randn(rows(name, data), outputs(name))).sum().backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad is not None, key
        assert torch.isfinite(parameter.grad).all(), key
        assert parameter.grad.abs().sum() > 0, key


@cases
def test_learns_a_tiny_set_by_heart(name, basic):
    model = make(name, basic)
    switch_dropout_off(model)
    data = Batch.from_data_list([prepared(name, graph(seed)) for seed in range(2)])
    draw = torch.Generator().manual_seed(5)
    if name in MOLECULE:
        target = torch.randn(rows(name, data), 1, generator=draw)
    else:
        target = torch.randint(OUT, (rows(name, data),), generator=draw)
    measure = F.l1_loss if name in MOLECULE else F.cross_entropy
    optimiser = torch.optim.Adam(model.parameters(), lr=0.003 if name in (*MOLECULE, "synthetic-gat") else 0.02)
    best = float("inf")
    for _ in range(300):
        optimiser.zero_grad()
        loss = measure(model(data), target)
        loss.backward()
        optimiser.step()
        best = min(best, float(loss.detach()))
        if best < 0.2:
            return
    pytest.fail(f"the loss did not fall below 0.2, but to {best:.3f}")


def switch_dropout_off(model: torch.nn.Module) -> None:
    if hasattr(model, "dropout"):
        model.dropout = 0.0


@cases
def test_dropout_and_draws_are_repeatable(name, basic):
    model = make(name, basic)
    data = Batch.from_data_list([prepared(name, graph(seed)) for seed in range(4)])
    torch.manual_seed(7)
    once = model(data)
    torch.manual_seed(7)
    torch.testing.assert_close(model(data), once, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ATTENTION)
def test_basic_has_no_attention_and_the_same_widths(name):
    def widths(model):
        return {key: tuple(value.shape) for key, value in model.named_parameters() if key.endswith("bias")}

    plain, basic = make(name), make(name, basic=True)
    assert any("att_" in key for key, _ in plain.named_parameters())
    assert not any("att_" in key for key, _ in basic.named_parameters())
    assert widths(plain) == widths(basic)


@pytest.mark.parametrize("name", MOLECULE)
def test_basic_of_a_model_without_attention_is_refused(name):
    with pytest.raises(OptionError, match=f"basic must be False for {name}"):
        make(name, basic=True)


def test_without_pyg_the_error_says_what_to_install():
    code = "import sys; sys.modules['torch_geometric'] = None; import lsprune.lab.models"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode and "MissingDependency" in done.stderr and "pip install 'lsprune[gnn]'" in done.stderr


def test_unknown_name_lists_the_names():
    with pytest.raises(OptionError, match=r"github-gat, planetoid-gat, .*'gcn'"):
        build("gcn", in_dim=1, out_dim=1)


@pytest.mark.parametrize(("in_dim", "out_dim"), [(0, 3), (4, 0), (4.0, 3), (True, 3)])
def test_bad_sizes_are_refused(in_dim, out_dim):
    with pytest.raises(OptionError, match="must be"):
        build("node-gat", in_dim=in_dim, out_dim=out_dim)


def test_mean_conv_averages_a_node_and_its_neighbours():
    conv = MeanConv(2, 2)
    with torch.no_grad():
        conv.linear.weight.copy_(torch.eye(2))
    x = torch.tensor([[3.0, 0.0], [0.0, 6.0], [3.0, 3.0]])
    edges = torch.tensor([[1, 2, 0], [0, 0, 0]])  # a self-loop that is there already counts once
    expected = torch.stack([x.mean(0), x[1], x[2]])
    torch.testing.assert_close(conv(x, edges), expected)


def test_paper_sizes():
    github, synthetic, ppi = make("github-gat"), make("synthetic-gat"), make("ppi-gat")
    assert (github.first.heads, github.first.out_channels) == (1, 32)
    assert [(c.heads, c.out_channels, c.concat) for c in (synthetic.first, synthetic.second, synthetic.third)] == [
        (16, 40, True),
        (16, 40, True),
        (16, 40, False),
    ]
    assert [(c.heads, c.out_channels, c.concat) for c in ppi.convs] == [(4, 256, True), (4, 256, True), (6, OUT, False)]


# PNA


def test_pna_needs_degrees():
    with pytest.raises(OptionError, match="degrees must be"):
        build("zinc-pna", in_dim=1, out_dim=1)
    for bad in (torch.zeros(3), torch.ones(2, 2), torch.tensor([-1, 2]), torch.empty(0)):
        with pytest.raises(OptionError, match="degrees must be"):
            build("zinc-pna", in_dim=1, out_dim=1, degrees=bad)


def test_pna_of_graphs_without_edges_is_finite():
    model = build("zinc-pna", in_dim=1, out_dim=1, degrees=torch.tensor([5]))
    assert torch.isfinite(model(prepared("zinc-pna", graph(1)))).all()


def test_pna_reads_bonds():
    model, data = make("zinc-pna").eval(), prepared("zinc-pna", graph(1))
    other = data.clone()
    other.edge_attr = (data.edge_attr.view(-1, 1) + 1) % 4
    assert not torch.allclose(model(data), model(other), rtol=1e-4)


def test_pna_gives_and_learns_what_the_layer_of_pyg_does():
    draw = torch.Generator().manual_seed(3)
    ends = torch.stack([torch.randint(30, (70,), generator=draw), torch.randint(25, (70,), generator=draw)])
    kind = torch.randint(4, (70,), generator=draw)  # five nodes have no edge, several an edge twice
    options = {"aggregators": AGGREGATORS, "scalers": SCALERS, "deg": torch.tensor([1, 4, 9, 3]), "towers": 3}
    theirs = PNAConv(12, 12, edge_dim=5, **options).double()
    ours = SlotConv(12, 12, edge_dim=5, **options).double()
    ours.load_state_dict(theirs.state_dict())
    x, kinds = (torch.randn(n, d, generator=draw).double().requires_grad_() for n, d in ((30, 12), (4, 5)))
    most = int(torch.bincount(ends[1]).max())
    expected = theirs(x, ends, kinds[kind])
    weights = torch.randn(expected.shape, generator=draw).double()
    gradients = torch.autograd.grad((expected * weights).sum(), [x, kinds, *theirs.parameters()])
    for room in (most, most + 2):
        out = ours(x, Slots.of(ends, kind, 4, 30, room, torch.float64), kinds)
        torch.testing.assert_close(out, expected)
        torch.testing.assert_close(
            torch.autograd.grad((out * weights).sum(), [x, kinds, *ours.parameters()]), gradients
        )


def test_slots_hold_the_neighbours_in_order_and_leave_out_what_has_no_room():
    ends, kind = torch.tensor([[1, 2, 0, 2], [0, 0, 2, 0]]), torch.tensor([3, 1, 0, 2])
    slots = Slots.of(ends, kind, 4, 3, 2, torch.float32)
    assert slots.there[:, :, 0].tolist() == [[True, True], [False, False], [True, False]]
    assert slots.source[0].tolist() == [1, 2]
    assert slots.source[2, 0] == 0
    assert slots.kind.argmax(2)[0].tolist() == [3, 1]
    assert slots.kind.sum(2).tolist() == [[1, 1], [0, 0], [1, 0]]
    assert slots.degree[:, 0].tolist() == [2, 0, 1]


def test_pna_refuses_bonds_that_it_does_not_know():
    model, data = make("zinc-pna"), prepared("zinc-pna", graph(1))
    data.edge_attr = torch.full_like(data.edge_attr, 4)
    with pytest.raises(OptionError, match=r"edge_attr must be bond types in \[0, 4\), got 4"):
        model(data)


# MXMNet


def test_near_pairs_are_those_of_a_plain_loop():
    data = Batch.from_data_list([graph(1), graph(2, nodes=5), graph(3, nodes=1, chords=0)])
    found = {tuple(pair) for pair in near_pairs(data.pos, data.batch, 2.0).T.tolist()}
    nodes = range(data.num_nodes)
    near = (data.pos[:, None] - data.pos[None]).norm(dim=-1) <= 2.0
    expected = {(s, t) for s in nodes for t in nodes if s != t and data.batch[s] == data.batch[t] and near[s, t]}
    assert found == expected and 0 < len(found) < 8 * 7 + 5 * 4


def test_meeting_bonds_are_those_of_a_plain_loop():
    edges = graph(1).edge_index[:, 1:]  # one bond has one direction only
    ends = edges.T.tolist()
    far = {(e, f) for e, (j, i) in enumerate(ends) for f, (k, to) in enumerate(ends) if to == j and k != i}
    near = {(e, f) for e, (j, i) in enumerate(ends) for f, (k, to) in enumerate(ends) if to == i and k != j}
    for found, expected in ((two_hop(edges, 8), far), (one_hop(edges, 8), near)):
        pairs = list(zip(*(part.tolist() for part in found), strict=True))
        assert set(pairs) == expected and len(pairs) == len(expected) > 0


def test_angle():
    first = torch.tensor([[1.0, 0, 0], [1.0, 0, 0], [1.0, 0, 0]])
    second = torch.tensor([[2.0, 0, 0], [0, 3.0, 0], [-1.0, 0, 0]])
    torch.testing.assert_close(angle(first, second), torch.tensor([0.0, torch.pi / 2, torch.pi]))


def test_bessel_functions_are_scipys():
    from scipy.special import spherical_jn

    roots = bessel_roots(7, 6)
    assert roots.shape == (7, 6) and (abs(spherical_jn(list(range(7)), roots.T)) < 1e-9).all()
    assert (roots[1:] > roots[:-1]).all() and abs(roots[1, 0] - 4.493409) < 1e-6
    x = torch.from_numpy(roots)[None] * torch.tensor([0.1, 0.3, 0.9], dtype=torch.float64)[:, None, None]
    expected = torch.stack([torch.from_numpy(spherical_jn(order, x[:, order].numpy())) for order in range(7)], dim=1)
    torch.testing.assert_close(spherical_bessel(x), expected, rtol=0, atol=1e-9)


def test_spherical_basis_is_that_of_pyg():
    from torch_geometric.nn.models.dimenet import SphericalBasisLayer

    distance, edge, angles = torch.tensor([1.0, 1.5, 2.4]), torch.tensor([0, 1, 2, 2]), torch.tensor([0.1, 1, 2, 3])
    ours, theirs = Spherical(4, 3, 5.0)(distance, edge, angles), SphericalBasisLayer(4, 3, 5.0)(distance, angles, edge)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_envelope_reaches_zero_smoothly():
    x = torch.tensor([0.999, 1.0, 1.5], dtype=torch.float64, requires_grad=True)
    value = envelope(x)
    slope = torch.autograd.grad(value.sum(), x)[0]
    assert value.abs().max() < 1e-6 and slope.abs().max() < 1e-3


def test_mxmnet_does_not_feel_a_turn_a_shift_or_the_order_of_atoms():
    model, data = make("qm9-mxmnet").eval(), graph(1)
    turn, _ = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(0)))
    moved = data.clone()
    order = torch.randperm(8, generator=torch.Generator().manual_seed(1))
    moved.pos, moved.z = (data.pos @ turn + 3.0)[order], data.z[order]
    moved.edge_index = torch.argsort(order)[data.edge_index].flip(1)
    torch.testing.assert_close(model(moved), model(data), rtol=1e-3, atol=1e-4)


def chain(bend: float) -> Data:
    """Three atoms in a row, both bonds 1.4 Å, bent at the middle one by that angle."""
    way = torch.tensor(bend)
    pos = 1.4 * torch.stack([torch.tensor([1.0, 0, 0]), torch.zeros(3), torch.stack([way.cos(), way.sin(), 0 * way])])
    bonds = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    return doubled(Data(z=torch.tensor([6, 6, 8]), pos=pos, edge_index=bonds))


def test_mxmnet_feels_angles_of_bonds():
    model = make("qm9-mxmnet").eval().double()
    model.cutoff = 0.1  # of the near pairs only: none is left, so no distance changes
    assert not torch.allclose(model(chain(1.9)), model(chain(2.4)), rtol=1e-6)
    torch.testing.assert_close(model(chain(1.9)), model(chain(-1.9)))


def test_mxmnet_measures_angles_at_the_atom_where_bonds_meet():
    model, seen = make("qm9-mxmnet").double(), []
    model.basis_angle.register_forward_pre_hook(lambda _, args: seen.append(args[2]))
    model(chain(1.9))
    assert [angles.tolist() for angles in seen] == [pytest.approx([1.9, 1.9], abs=1e-6)] * 2


def test_mxmnet_feels_near_atoms_without_bonds_but_none_past_the_cutoff():
    model, values = make("qm9-mxmnet").eval().double(), []
    for distance in (2.0, 3.0, 5.1, 9.0):
        pos = torch.tensor([[0.0, 0, 0], [distance, 0, 0]])
        data = Data(z=torch.tensor([6, 8]), pos=pos, edge_index=torch.empty(2, 0, dtype=torch.long))
        values.append(float(model(doubled(data)).detach()))
    assert abs(values[0] - values[1]) > 1e-6 and abs(values[1] - values[2]) > 1e-6
    assert values[2] == pytest.approx(values[3], abs=1e-9)


def test_mxmnet_is_finite_where_atoms_share_a_place():
    model, data = make("qm9-mxmnet"), graph(1)
    data.pos = torch.zeros_like(data.pos)
    model(data).sum().backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())
