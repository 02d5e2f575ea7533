"""The generator of synthetic graphs: the paper's parameters, the same samples in any blocks and threads, symmetry."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import LSP, LocalRandom, OptionError
from lsprune.lab import synthetic_graphs as synthetic
from lsprune.lab.synthetic_graphs import Synthetic

SMALL = Synthetic(samples=400, classes=7)


def test_defaults_are_the_papers_table():
    default = Synthetic()
    assert (default.samples, default.classes, default.min_nodes, default.max_nodes) == (20_000, 100, 40, 60)
    assert (default.node_dim, default.edge_dim, default.connectivity, default.node_removal) == (10, 40, 0.2, 0.1)
    assert (default.node_centre_std, default.edge_centre_std) == (0.2, 0.2)
    assert (default.node_noise_std, default.edge_noise_std, default.symmetric) == (0.25, 0.1, False)


def test_the_set_is_the_same_on_any_threads_in_blocks_and_twice(monkeypatch):
    whole = SMALL.make(threads=1)
    parts = list(SMALL.stream())
    assert len(parts) == 4
    for other in (SMALL.make(threads=3), synthetic.concat(parts)):
        for name, array in vars(whole).items():
            np.testing.assert_array_equal(getattr(other, name), array, err_msg=name)
    assert (Synthetic(samples=400, classes=7, seed=1).make().x[:10] != whole.x[:10]).any()


def test_samples_are_noisy_centres_less_some_nodes():
    made = Synthetic(samples=700, classes=7, node_removal=0.2).make()
    for label in range(7):
        of_class = np.flatnonzero(made.y == label)
        node_class = np.repeat(made.y, np.diff(made.ptr)) == label
        means = [made.x[node_class & (made.centre_node == node)] for node in range(3)]
        for rows in means:
            assert rows.std(axis=0) == pytest.approx(0.25, abs=0.09)  # the noise around one centre
        size = made.centre_node[node_class].max() + 1
        assert 40 <= size <= 60
        assert np.diff(made.ptr)[of_class].mean() == pytest.approx(0.8 * size, rel=0.05)
    edge_class = np.repeat(made.y, np.diff(made.edge_ptr))
    first = made.edge_attr[(edge_class == 0) & (made.centre_edge == 0)]
    assert first.std(axis=0).mean() == pytest.approx(0.1, rel=0.15)


def test_edges_join_the_nodes_that_their_centres_join():
    made = SMALL.make()
    source, target = made.edge_index
    sample = np.repeat(np.arange(400), np.diff(made.edge_ptr))
    assert (source >= made.ptr[sample]).all()
    assert (target < made.ptr[sample + 1]).all()
    assert (source != target).all()
    seen: dict[tuple[int, int], tuple[int, int]] = {}
    for label, edge, s, t in zip(
        made.y[sample], made.centre_edge, made.centre_node[source], made.centre_node[target], strict=True
    ):
        assert seen.setdefault((int(label), int(edge)), (int(s), int(t))) == (int(s), int(t))
    assert (
        np.diff(made.centre_node)[np.diff(np.repeat(np.arange(400), np.diff(made.ptr))) == 0] > 0
    ).all()  # order is kept


def test_shares_are_those_of_the_paper():
    graph = Synthetic(samples=2000).make().graph
    for k, share in {1: 0.11257, 3: 0.33714, 5: 0.55412, 7: 0.74317, 9: 0.87887}.items():
        assert float(LocalRandom(k=k, side="out").mask(graph).mean()) == pytest.approx(share, abs=0.012)


def test_symmetric_sets_are_symmetric():
    made = Synthetic(samples=9, classes=3, symmetric=True).make()
    rows = {(int(s), int(t)): attr for s, t, attr in zip(*made.edge_index, made.edge_attr, strict=True)}
    for (s, t), attr in rows.items():
        np.testing.assert_array_equal(rows[t, s], attr)


def overlap(pruner, made) -> float:
    """Mean share of kept edges that two samples of a class, aligned by their centres, have in common."""
    mask = pruner.mask(made.graph)
    kept = [
        set(made.centre_edge[a:b][mask[a:b]].tolist())
        for a, b in zip(made.edge_ptr[:-1], made.edge_ptr[1:], strict=True)
    ]
    every = [set(made.centre_edge[a:b].tolist()) for a, b in zip(made.edge_ptr[:-1], made.edge_ptr[1:], strict=True)]
    found = []
    for label in range(int(made.y.max()) + 1):
        of_class = np.flatnonzero(made.y == label)
        for a, b in zip(of_class[::2], of_class[1::2], strict=False):
            common = every[a] & every[b]
            found.append(len(kept[a] & kept[b]) / max(len((kept[a] | kept[b]) & common), 1))
    return float(np.mean(found))


def test_consistency_can_be_measured_and_projection_beats_chance():
    made = Synthetic(samples=300, classes=10).make()
    hashed = overlap(LSP(k=3, attributes=("edge",), side="out"), made)
    chance = overlap(LocalRandom(k=3, side="out"), made)
    assert hashed > chance + 0.1


def test_pyg_objects_hold_the_same_graphs():
    pytest.importorskip("torch_geometric")
    made = SMALL.make()
    listed = made.to_data_list()
    assert len(listed) == 400
    fifth = listed[5]
    assert fifth.num_nodes == made.ptr[6] - made.ptr[5]
    np.testing.assert_array_equal(fifth.edge_attr.numpy(), made.edge_attr[made.edge_ptr[5] : made.edge_ptr[6]])
    np.testing.assert_array_equal(
        fifth.edge_index.numpy() + made.ptr[5], made.edge_index[:, made.edge_ptr[5] : made.edge_ptr[6]]
    )
    pruner = LSP(keep=0.5).fit(made.graph)
    np.testing.assert_array_equal(np.concatenate(pruner.mask(listed)), pruner.mask(made.graph))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0}, r"samples must be a whole number in \[1, 2.14748e\+09\], got 0"),
        ({"max_nodes": 10}, r"max_nodes must be a whole number in \[40, "),
        ({"connectivity": 1.5}, r"connectivity must be a number in \[0, 1\], got 1.5"),
        ({"node_noise_std": float("nan")}, "node_noise_std must be a number"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        Synthetic(**options)


def test_selected_samples_are_numbered_from_zero():
    made = SMALL.make()
    part = made.select(np.array([5, 2, 399]))
    for place, number in enumerate((5, 2, 399)):
        alone = made.select(np.array([number]))
        nodes, edges = (slice(ptr[number], ptr[number + 1]) for ptr in (made.ptr, made.edge_ptr))
        np.testing.assert_array_equal(alone.x, made.x[nodes])
        np.testing.assert_array_equal(alone.edge_index, made.edge_index[:, edges] - made.ptr[number])
        np.testing.assert_array_equal(alone.centre_edge, made.centre_edge[edges])
        mine = slice(part.edge_ptr[place], part.edge_ptr[place + 1])
        np.testing.assert_array_equal(part.edge_index[:, mine] - part.ptr[place], alone.edge_index)
        np.testing.assert_array_equal(part.edge_attr[mine], alone.edge_attr)
        np.testing.assert_array_equal(part.centre_node[part.ptr[place] : part.ptr[place + 1]], alone.centre_node)
    assert part.y.tolist() == [5, 2, 0]


def test_a_split_by_class_loses_no_sample():
    made = SMALL.make().select(np.random.default_rng(0).permutation(400))  # classes in any order
    first, rest = made.split_by_class(3, 10)
    assert np.bincount(first.y, minlength=7).tolist() == [10, 10, 10, 0, 0, 0, 0]
    assert np.bincount(rest.y).tolist() == (np.bincount(made.y) - np.bincount(first.y, minlength=7)).tolist()
    wanted = np.sort(np.concatenate([np.flatnonzero(made.y == label)[:10] for label in range(3)]))
    np.testing.assert_array_equal(first.x, made.select(wanted).x)
