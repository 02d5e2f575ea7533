"""One budget over all relations is met to the edge, masks are nested, and reverse relations stay in step."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, Graph, Guarded, LocalRandom, NoEdges, OptionError, Random, SharedBudget, Timed, mask, prune
from lsprune.kernels import runtime
from lsprune.pruners.relations import relation_masks
from lsprune.pruners.shared_budget import Share, divide

RUN = runtime(2)
LIKES, LIKED_BY = ("user", "likes", "item"), ("item", "rev_likes", "user")
KNOWS, OWNS, NONE = ("user", "knows", "user"), ("user", "owns", "item"), ("item", "none", "item")


def relations(*, reverse: bool = True, loops: bool = False) -> dict:
    """A dense relation, its reverse in another order, a sparse one, one between users, and one without edges."""
    rng = np.random.default_rng(0)
    likes = np.stack([rng.integers(0, 30, 400), rng.integers(0, 8, 400)])
    knows = rng.integers(0, 30, (2, 90))
    knows = knows if loops else knows[:, knows[0] != knows[1]]
    users, items = rng.standard_normal((30, 3)), rng.standard_normal((8, 5))
    back = {LIKED_BY: Graph.from_edges(likes[::-1][:, rng.permutation(400)], num_nodes=(8, 30), x=(items, users))}
    return {
        LIKES: Graph.from_edges(likes, num_nodes=(30, 8), x=(users, items)),
        **(back if reverse else {}),
        KNOWS: Graph.from_edges(knows, num_nodes=30, x=users),
        OWNS: Graph.from_edges(np.stack([np.arange(8), np.arange(8)]), num_nodes=(30, 8), x=(users, items)),
        NONE: Graph.from_edges(np.zeros((2, 0), np.int64), num_nodes=8, x=items),
    }


def masks_of(plan: SharedBudget, graphs: dict | None = None, reverse: dict | None = None) -> dict:
    return relation_masks(relations() if graphs is None else graphs, plan, reverse or {}, RUN).masks


def slots(shares: list[Share]) -> list[tuple[int, int]]:
    """All edges as (relation, cost), in the order in which `divide` must gain them: a plain computation."""
    levels = []
    for place, share in enumerate(shares):
        for step, gained in enumerate(share.steps.tolist()):
            for edge in range(gained):
                levels.append(((step + Fraction(2 * edge + 1, 2 * gained)) / share.importance, place, share.cost))
    return [(place, cost) for _, place, cost in sorted(levels)]


@pytest.mark.parametrize("seed", range(8))
def test_edges_are_gained_in_one_order_whatever_the_budget(seed):
    rng = np.random.default_rng(seed)
    shares = [
        Share(
            np.sort(rng.integers(0, 7, rng.integers(0, 5)))[::-1],
            Fraction(float(rng.choice([1, 1, 2, 0.5, 0.1]))),
            int(rng.integers(1, 3)),
        )
        for _ in range(4)
    ]
    order = slots(shares)
    for budget in range(sum(cost for _, cost in order) + 2):
        counts, left = [0] * 4, budget
        for place, cost in order:
            if cost > left:
                break
            counts[place] += 1
            left -= cost
        assert divide(shares, budget) == counts


def test_a_common_level_is_the_most_that_owners_keep_of_each_relation():
    dense, sparse = np.array([10] * 10), np.array([10, 10])  # ten owners with ten edges each; with two
    shares = [Share(dense), Share(sparse)]
    assert divide(shares, 20) == [10, 10]  # one edge each
    assert divide(shares, 30) == [15, 15]  # and one more for half of the owners
    assert divide(shares, 60) == [40, 20]  # the sparse relation is whole
    assert divide([Share(dense, Fraction(3)), Share(sparse)], 40) == [30, 10]
    assert divide([], 5) == []


@pytest.mark.parametrize("by", ["level", "share"])
@pytest.mark.parametrize("importance", [None, {LIKES: 0.3, OWNS: 5}], ids=["equal", "weighted"])
@pytest.mark.parametrize("pruner", [LSP(k=1), Random(k=1), LocalRandom(k=1, side="out")], ids=repr)
def test_the_budget_is_met_to_the_edge_and_masks_are_nested(by, importance, pruner):
    graphs = relations(reverse=False)
    total, before = sum(graph.num_edges for graph in graphs.values()), None
    for keep in (0.001, 0.05, 0.1, 0.13, 0.25, 0.26, 0.5, 0.75, 0.99, 1.0):
        masks = masks_of(SharedBudget(pruner=pruner, keep=keep, by=by, importance=importance), graphs)
        assert sum(int(found.sum()) for found in masks.values()) == int(np.floor(keep * total + 0.5))
        assert before is None or all((masks[key] >= before[key]).all() for key in masks)
        before = masks


@pytest.mark.parametrize("by", ["level", "share"])
def test_reverse_relations_stay_in_step_and_count(by):
    graphs = relations()
    total = sum(graph.num_edges for graph in graphs.values())
    met = []
    for keep in np.linspace(0.01, 1, 25):
        masks = masks_of(SharedBudget(pruner=LSP(keep=keep), by=by))
        ends = [sorted(zip(*(end[masks[key]].tolist() for end in graphs[key].ends()[::turn]), strict=True))
                for key, turn in ((LIKES, 1), (LIKED_BY, -1))]  # fmt: skip
        assert ends[0] == ends[1]
        target = int(np.floor(keep * total + 0.5))
        met.append(target - sum(int(found.sum()) for found in masks.values()))
    assert set(met) == {0, 1}  # an edge with its reverse is not cut in two


def test_a_reverse_by_another_name_counts_too():
    graphs, fans = relations(), ("item", "fans", "user")
    graphs[fans] = graphs.pop(LIKED_BY)
    plan = SharedBudget(pruner=LocalRandom(keep=0.5), importance={fans: 3})
    apart, in_step = masks_of(plan, graphs), masks_of(plan, graphs, {LIKES: fans})
    assert apart[LIKES].sum() != apart[fans].sum()
    assert in_step[LIKES].sum() == in_step[fans].sum()
    np.testing.assert_array_equal(
        in_step[KNOWS], masks_of(SharedBudget(pruner=LocalRandom(keep=0.5), importance={LIKES: 3}))[KNOWS]
    )


@pytest.mark.parametrize(
    "plan",
    [
        SharedBudget(pruner=LSP(keep=0.3, seed=4)),
        SharedBudget(pruner=Random(k=1), keep=0.2, by="share"),
        SharedBudget(pruner=Guarded(pruner=LSP(k=2), min_keep=1), keep=0.5, importance={LIKES: 2, KNOWS: 0.5}),
        SharedBudget(pruner={LIKES: LSP(k=1, hash="signs"), KNOWS: LocalRandom(k=3)}, keep=0.4),
    ],
    ids=repr,
)
def test_options_go_to_plain_data_and_back(plan):
    table = json.loads(json.dumps(plan.to_dict()))
    again = SharedBudget.from_dict(table)
    assert again == plan and again.to_dict() == plan.to_dict() == table
    here, there = (masks_of(one, relations(reverse=False)) for one in (plan, again))
    assert all((here[key] == there[key]).all() for key in here)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"pruner": "lsp"}, "pruner must be 'shared-budget' for SharedBudget"),
        ({"bits": 4}, "bits is not an option of shared-budget; it has inner, keep, by, importance"),
        ({"inner": None}, "pruner must be a pruner such as LSP"),
        ({"inner": [LIKES]}, "inner must be pairs of an edge type and its value"),
        ({"importance": [1]}, "importance must be pairs of an edge type and its value"),
    ],
    ids=str,
)
def test_tables_that_cannot_be_are_named(table, says):
    with pytest.raises(OptionError, match=says):
        SharedBudget.from_dict({"inner": {"pruner": "lsp", "keep": 0.5}, **table})


def test_by_level_dense_relations_are_cut_first():
    masks = masks_of(SharedBudget(pruner=LSP(keep=0.3)), relations(reverse=False))
    assert masks[OWNS].all()  # one edge for each owner
    assert masks[KNOWS].all()  # a few
    assert masks[LIKES].mean() < 0.2


def test_by_share_all_relations_keep_the_same_share():
    graphs = relations(reverse=False)
    for keep in (0.1, 0.3, 0.77):
        shared = masks_of(SharedBudget(pruner=LSP(keep=keep), by="share"), graphs)
        plain = relation_masks(graphs, LSP(keep=keep), {}, RUN).masks
        assert all(abs(int(shared[key].sum()) - int(plain[key].sum())) <= 1 for key in graphs)


def test_importance_multiplies_the_share():
    graphs = relations(reverse=False)
    masks = masks_of(SharedBudget(pruner=Random(keep=0.2), by="share", importance={KNOWS: 3}), graphs)
    assert masks[KNOWS].mean() == pytest.approx(3 * masks[LIKES].mean(), abs=0.02)
    full = masks_of(SharedBudget(pruner=Random(keep=0.5), by="share", importance={KNOWS: 50}), graphs)
    assert full[KNOWS].all() and 0.3 < full[LIKES].mean() < 0.5


@pytest.mark.parametrize("by", ["level", "share"])
@pytest.mark.parametrize("pruner", [LSP(keep=0.37), Random(keep=0.37), LSP(keep=0.37, self_loops="edge", side="out"),
                                    Guarded(pruner=LSP(keep=0.37), min_keep=1)], ids=repr)  # fmt: skip
def test_one_relation_keeps_the_edges_of_a_plain_budget(by, pruner):
    loops = relations(loops=True)[KNOWS]
    plan = SharedBudget(pruner=pruner, keep=0.37, by=by)
    for key in (None, KNOWS):
        np.testing.assert_array_equal(masks_of(plan, {key: loops})[key], pruner.mask(loops))
    np.testing.assert_array_equal(mask(loops, plan), pruner.mask(loops))


def test_settings_of_relations_are_kept_and_others_stay_whole():
    graphs = relations(reverse=False)
    plan = {LIKES: LSP(k=9, hash="identity", seed=4), KNOWS: LocalRandom(keep=1.0, side="out")}
    masks = masks_of(SharedBudget(pruner=plan, keep=0.25), graphs)
    assert set(masks) == {LIKES, KNOWS}
    edges = {key: graphs[key].num_edges for key in plan}
    assert sum(int(masks[key].sum()) for key in plan) == int(np.floor(0.25 * sum(edges.values()) + 0.5))
    for key, pruner in plan.items():
        alone = pruner.with_budget(keep=masks[key].sum() / edges[key])
        np.testing.assert_array_equal(masks[key], alone.mask(graphs[key]))


def test_hetero_data_is_pruned_on_the_host_and_on_tensors_alike():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    from device_helpers import device_run

    from lsprune.device.graph import upload

    graphs = relations(loops=True)
    plan = SharedBudget(pruner=LSP(keep=0.2), importance={KNOWS: 2})
    on_device = {key: upload(graph, torch.device("cpu")) for key, graph in graphs.items()}
    found = relation_masks(on_device, plan, {}, device_run()).masks
    for key, expected in masks_of(plan, graphs).items():
        np.testing.assert_array_equal(np.asarray(found[key]), expected)


def test_a_hetero_data_of_one_relation_equals_data_and_is_not_changed():
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric.data")
    ends = torch.randint(40, (2, 500), generator=torch.Generator().manual_seed(0))
    x = torch.randn(40, 4, generator=torch.Generator().manual_seed(1))
    one, several = pyg.Data(x=x, edge_index=ends), pyg.HeteroData()
    several["user"].x, several[KNOWS].edge_index = x, ends
    pruned, masks = prune(several, SharedBudget(pruner=LSP(keep=0.2)), return_mask=True, e_id=True)
    assert torch.equal(pruned[KNOWS].edge_index, prune(one, LSP(keep=0.2)).edge_index)
    assert several[KNOWS].num_edges == 500 and masks[KNOWS].sum() == pruned[KNOWS].e_id.shape[0]
    for plan in (SharedBudget(pruner=LSP(keep=0.2)), {KNOWS: LSP(keep=0.2)}):
        np.testing.assert_array_equal(mask(several, plan)[KNOWS], masks[KNOWS])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pruner": LSP(k=3)}, "keep, the share of all edges to keep, must be given with LSP"),
        ({"pruner": {LIKES: LSP(keep=0.5)}}, "keep, the share of all edges to keep, must be given"),
        ({"pruner": LSP(keep=0.5), "keep": 0}, r"keep must be in \(0, 1\], got 0"),
        ({"pruner": LSP}, "pruner must be a pruner such as"),
        ({"pruner": {LIKES: 3}, "keep": 0.5}, "pruner must be a pruner such as"),
        ({"pruner": NoEdges(), "keep": 0.5}, r"one with a budget \(k or keep\), got NoEdges"),
        ({"pruner": LSP(keep=0.5), "by": "importance"}, "by must be one of 'level', 'share', got 'importance'"),
        ({"pruner": LSP(keep=0.5), "importance": {LIKES: -1}}, r"importance of \('user', 'likes', 'item'\) must be"),
        ({"pruner": LSP(keep=0.5), "importance": {LIKES: 0}}, r"\[1e-06, 1e\+06\], got 0"),
        ({"pruner": LSP(keep=0.5), "importance": {LIKES: float("nan")}}, "got nan"),
        ({"pruner": LSP(keep=0.5), "importance": 2.0}, "importance must map edge types to numbers, got 2.0"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        SharedBudget(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"importance": {("a", "b", "c"): 2}}, r"importance must name edge types that are pruned, got \('a', 'b', 'c'"),
        ({"importance": {LIKES: 2, LIKED_BY: 3}}, "importance must be the same for .* and its reverse"),
        ({"pruner": {("a", "b", "c"): LSP(k=1)}, "keep": 0.5}, "pruner must map edge types of the data"),
        ({"pruner": {LIKES: LSP(k=1)}, "keep": 0.5, "importance": {KNOWS: 2}}, "importance must name edge types that"),
        ({"pruner": LSP(keep=0.5, symmetric="union")}, "symmetric must be None where relations share a budget"),
    ],
)
def test_plans_that_do_not_fit_the_graph_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        masks_of(SharedBudget(**{"pruner": LSP(keep=0.5), **options}))


def test_several_graphs_are_refused():
    several = Graph.concat([random_graph(0), random_graph(1)])
    with pytest.raises(OptionError, match="one graph at a time, got 2 graphs"):
        masks_of(SharedBudget(pruner=LSP(keep=0.5)), {None: several})


def test_plans_can_be_compared_and_shown():
    plan = SharedBudget(pruner={LIKES: LSP(k=1)}, keep=np.float32(0.5), importance={LIKES: np.int64(2)})
    assert plan == SharedBudget(pruner={LIKES: LSP(k=1)}, keep=0.5, importance={LIKES: 2.0})
    assert repr(SharedBudget(pruner=LSP(k=2), keep=0.5)) == "SharedBudget(pruner=LSP(k=2), keep=0.5)"


def test_pruners_that_rule_edges_out_are_refused():
    with pytest.raises(OptionError, match="pruner must be one that may keep all edges, got Timed"):
        SharedBudget(pruner=Timed(pruner=LSP(keep=0.3), until=3), keep=0.3)
