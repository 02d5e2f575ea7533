"""Every method of a study: one pruner, the budget that was asked for, the seed of the run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lsprune import LSP, PRUNERS, Graph, Guarded, LocalRandom, OptionError, SharedBudget, mask
from lsprune.lab.studies.methods import PAPER, Method, build_plan, catalogue, find_method, find_methods

WITH_BUDGET = [method for method in catalogue().values() if method.has_budget]
SHARED = ["shared-local-random", "shared-lsp-projection", "shared-lsp-auto"]
NAMED = pytest.mark.parametrize("method", WITH_BUDGET, ids=lambda method: method.name)


def graph() -> Graph:
    rng = np.random.default_rng(0)
    once = np.unique(rng.integers(0, 40, (2, 200)), axis=1)
    once = once[:, once[0] < once[1]]
    x = rng.standard_normal((40, 30)).astype(np.float32)
    return Graph.from_edges(np.concatenate([once, once[::-1]], axis=1), num_nodes=40, x=x)  # in- and out-degrees agree


def test_the_catalogue_has_the_papers_methods_and_every_baseline():
    assert set(PAPER) <= set(catalogue())
    pruners = {method.pruner["pruner"] for method in catalogue().values() if method.pruner}
    others = {"guarded", "timed"} | {
        "top-weight",
        "disparity",
        "metric-backbone",
    }  # need another pruner, or edge weights
    assert set(PRUNERS) - pruners == others
    assert pruners - set(PRUNERS) == {"choose", "shared-budget"}


def test_references_do_not_prune_or_leave_nothing():
    assert catalogue()["unpruned"].make() is None
    assert catalogue()["basic"].make() is None
    assert not catalogue()["no-edges"].make().mask(graph()).any()
    assert [name for name, method in catalogue().items() if not method.has_budget] == ["unpruned", "basic", "no-edges"]


@NAMED
def test_equal_k_means_an_equal_number_of_edges(method):
    assert method.takes_k == (method.name not in SHARED)
    if not method.takes_k:
        return
    one = graph()
    degree = np.bincount(one.ends()[1], minlength=40)
    pruner = method.make(k=3, seed=7)
    assert pruner.mask(one).sum() == np.minimum(degree, 3).sum()
    assert pruner.seed == 7
    assert method.is_out == (pruner.side == "out")


@NAMED
def test_a_share_is_met_to_the_edge(method):
    if not method.takes_share:
        assert method.name == "lsp-threshold-published"  # its signature depends on k
        return
    one = graph()
    assert mask(one, method.make_plan(keep=0.25)).sum() == int(0.25 * one.num_edges + 0.5)


def test_the_presets_are_those_of_the_library():
    for name, pruner in (
        ("lsp-projection-paper", LSP.paper("p", k=2)),
        ("lsp-threshold-paper", LSP.paper("t", k=2)),
        ("lsp-projection-published", LSP.published("p", k=2)),
        ("lsp-threshold-published", LSP.published("t", k=2)),
        ("lsp-auto", LSP(k=2, hash="auto", weights="auto")),
    ):
        assert catalogue()[name].make(k=2) == pruner


def test_options_are_brief_and_plain_however_they_were_written():
    tables = (
        {"hash": "signs:bits=4", "weights": "degree:power=0.4"},
        {"hash": {"name": "signs", "bits": 4}, "weights": {"name": "degree", "power": 0.4}, "side": "in"},
    )
    first, second = (Method.from_table({"name": "x", "pruner": "lsp", **table}) for table in tables)
    assert first == second
    assert first.pruner == {
        "pruner": "lsp", "hash": {"name": "signs", "bits": 4}, "weights": {"name": "degree", "power": 0.4},
    }  # fmt: skip


def test_roles_and_sides_follow_from_the_options():
    roles = {name: method.role for name, method in catalogue().items() if method.role}
    assert roles == {name: name for name in ("unpruned", "basic", "no-edges", "random", "local-random")}
    assert Method("mine", {"pruner": "no-edges", "self_loops": "drop"}).role == "no-edges"
    assert Method("mine", {"pruner": "random", "symmetric": "union"}).role == "random"
    assert Method("random", {"pruner": "lsp"}).role == ""
    presets = [name for name, method in catalogue().items() if method.is_paper_preset]
    assert [name for name in presets if catalogue()[name].is_lsp] == [] and len(presets) == 4
    assert Method("mine", {"pruner": "guarded", "inner": {"pruner": "lsp", "side": "out"}}).is_lsp
    assert Method("mine", {"pruner": "guarded", "inner": {"pruner": "lsp", "side": "out"}}).is_out


def test_partners_differ_in_nothing_but_the_side():
    partners = {(one.name, other.name) for one in WITH_BUDGET for other in WITH_BUDGET if one.is_in_partner(other)}
    assert partners == {("local-random", "local-random-out"), ("lsp-auto", "lsp-auto-out"), ("first", "first-out")}
    held = [Method("x", {"pruner": "guarded", "inner": {"pruner": "lsp", **side}}) for side in ({}, {"side": "out"})]
    assert held[0].is_in_partner(held[1]) and not held[1].is_in_partner(held[0])


def test_a_guarded_pruner_passes_its_budget_on():
    method = find_method("(guarded:pruner=(lsp:hash=identity),min_keep=1)")
    assert method.has_budget and method.takes_share
    assert method.make(keep=0.5, seed=3) == Guarded(pruner=LSP(keep=0.5, seed=3, hash="identity"), min_keep=1)


def test_a_shared_budget_passes_share_and_seed_on():
    method = catalogue()["shared-local-random"]
    plan = method.make_plan(keep=0.3, seed=5)
    assert plan == SharedBudget(pruner=LocalRandom(keep=0.3, seed=5))
    assert method.is_shared and not method.is_lsp and catalogue()["shared-lsp-auto"].is_lsp and not method.role
    with pytest.raises(OptionError, match="methods must be pruners here, got 'shared-local-random': a budget that"):
        method.make(keep=0.3)
    with pytest.raises(OptionError, match="keep, the share of all edges to keep, must be given"):
        method.make_plan(k=3)


def test_tables_of_shared_budgets_go_there_and_back():
    importance = [[["term", "describes", "paper"], 0.5]]
    held = {"pruner": "guarded", "inner": {"pruner": "lsp"}, "min_keep": 1}
    for options in ({}, {"by": "share"}, {"importance": importance}, {"inner": "lsp:hash=signs"}, {"inner": held}):
        method = Method.from_table({"name": "x", "pruner": "shared-budget", "inner": "lsp", **options})
        again = Method.from_table({"name": "x", **method.pruner})
        assert again == method and json.loads(json.dumps(method.pruner)) == method.pruner
        plan = method.make_plan(keep=0.3, seed=2)
        assert plan.keep == 0.3 and build_plan(json.loads(json.dumps(plan.to_dict()))) == plan
    assert find_method("(shared-budget:pruner=(lsp:hash=signs),by=share)").make_plan(keep=0.5) == SharedBudget(
        pruner=LSP(keep=0.5, hash="signs"), by="share"
    )


def test_the_separate_partner_has_the_same_pruner():
    pairs = {(one.name, other.name) for one in WITH_BUDGET for other in WITH_BUDGET if one.is_separate_partner(other)}
    assert pairs == {(name.removeprefix("shared-"), name) for name in SHARED}
    weighted = {"pruner": "shared-budget", "inner": "lsp", "importance": [[["a", "b", "c"], 2.0]]}
    assert catalogue()["lsp-projection"].is_separate_partner(Method.from_table({"name": "x", **weighted}))


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "pruner must be a pruner such as LSP"),
        ({"inner": "no-edges"}, "pruner must be one with a budget"),
        ({"inner": "lsp", "by": "chance"}, "by must be"),
        ({"inner": "lsp", "bits": 3}, "bits is not an option of shared-budget; it has inner, keep, by, importance"),
        ({"inner": "lsp", "importance": [["term"]]}, "importance must be pairs of an edge type and its value"),
        ({"inner": "lsp", "importance": [[["a", "b", "c"], -1.0]]}, "importance of .* must be"),
        ({"inner": "lsp", "keep": 0.5}, "keep must not be an option of method x"),
    ],
)
def test_shared_budgets_that_cannot_be_are_named(table, says):
    with pytest.raises(OptionError, match=says):
        Method.from_table({"name": "x", "pruner": "shared-budget", **table})


def test_names_of_pruners_are_methods_too():
    assert find_method("lsp") == Method("lsp", {"pruner": "lsp"})
    assert [method.name for method in find_methods(["lsp", "random", "lsp"])] == ["lsp", "random"]


def test_bad_requests_are_named():
    with pytest.raises(OptionError, match="methods must be some of unpruned, .* or a pruner, got 'magic'"):
        find_method("magic")
    with pytest.raises(OptionError, match="k or keep must be given for method random"):
        catalogue()["random"].make()
    with pytest.raises(OptionError, match="methods must have names of their own, got two that are called 'random'"):
        find_methods(["random", {"name": "random", "pruner": "lsp"}])
