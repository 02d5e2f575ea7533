from __future__ import annotations

import dataclasses

import pytest

from lsprune import OptionError
from lsprune.lab.studies.methods import catalogue
from lsprune.lab.studies.study import Part, Study
from lsprune.lab.studies.study_files import read

PART = Part(dataset="d", model="m", k=(1, 2), methods=("unpruned", "random", "lsp-projection"))
SMALL = Study(name="toy", title="t", parts=(PART,), seeds=2)


def test_runs_are_all_combinations_seed_by_seed():
    runs = SMALL.runs()
    assert [run.seed for run in runs] == [0] * 5 + [1] * 5
    assert [(run.method, run.k) for run in runs[:5]] == [
        ("unpruned", None), ("random", 1), ("random", 2), ("lsp-projection", 1), ("lsp-projection", 2),
    ]  # fmt: skip


def test_a_budget_that_relations_share_is_a_share_and_no_k():
    methods = ("local-random", "shared-local-random")
    part = Part(dataset="d", model="m", k=(1, 2), shares=(0.5,), methods=methods)
    budgets = [(run.method, run.k, run.keep) for run in part.runs("s", 0)]
    assert budgets == [
        ("local-random", 1, None), ("local-random", 2, None), ("local-random", None, 0.5),
        ("shared-local-random", None, 0.5),
    ]  # fmt: skip


def test_smoke_is_small_and_kept_apart():
    smoke = read("qm9").smoke()
    part = smoke.parts[0]
    assert (smoke.name, smoke.seeds) == ("qm9-smoke", 1)
    assert (part.epochs, len(part.k), len(part.targets), len(part.random_shares)) == (2, 1, 1, 1)
    assert not {run.key for run in smoke.runs()} & {run.key for run in read("qm9").runs()}


def test_a_part_of_a_study_has_the_same_keys():
    study = read("qm9")
    some = study.only(methods=["unpruned", "random"], targets=["mu", "gap"], k=[2])
    runs = some.runs(1)
    assert [(run.target, run.method, run.k) for run in runs] == [
        ("mu", "unpruned", None), ("mu", "random", 2), ("gap", "unpruned", None), ("gap", "random", 2),
    ]  # fmt: skip
    assert {run.key for run in runs} <= {run.key for run in study.runs()}
    assert {run.epochs for run in study.only(epochs=3).runs(1)} == {3}
    variance = read("neighbourhood-variance").only(datasets=["pubmed"])
    assert {run.dataset for run in variance.runs(1)} == {"pubmed"}


def test_stages_come_one_after_the_other_with_all_their_seeds():
    late = dataclasses.replace(PART, methods=("random",), k=(3,), stage=2)
    study = dataclasses.replace(SMALL, parts=(late, dataclasses.replace(PART, methods=("unpruned",)), late))
    runs = [(run.method, run.seed) for run in study.runs()]
    assert runs == [("unpruned", 0), ("unpruned", 1), *[("random", seed) for seed in (0, 0, 1, 1)]]
    assert {run.key for run in study.runs()} == {run.key for run in dataclasses.replace(
        study, parts=tuple(dataclasses.replace(part, stage=1) for part in study.parts)).runs()}  # fmt: skip


def test_shares_and_models_take_a_part_of_a_study():
    early = dataclasses.replace(PART, k=(), shares=(0.1, 0.25), random_shares=(0.3,))
    late = dataclasses.replace(PART, model="n", shares=(0.5,), methods=("random", "lsp-projection"))
    study = dataclasses.replace(SMALL, parts=(early, late))

    def taken(**options):
        return [(run.model, run.method, run.k, run.keep) for run in study.only(**options).runs(1)]

    assert taken(shares=[0.25]) == [
        ("m", "unpruned", None, None), ("m", "random", None, 0.25), ("m", "lsp-projection", None, 0.25),
    ]  # fmt: skip
    assert taken(shares=[0.5]) == [
        ("m", "unpruned", None, None), ("n", "random", None, 0.5), ("n", "lsp-projection", None, 0.5),
    ]  # fmt: skip
    assert taken(shares=[0.3]) == [("m", "unpruned", None, None), ("m", "random", None, 0.3)]
    assert {model for model, *_ in taken(models=["n"])} == {"n"}
    assert taken(models=["n"], shares=[0.5], methods=["random"]) == [("n", "random", None, 0.5)]
    with pytest.raises(OptionError, match=r"shares must be some of 0\.1, 0\.25, 0\.3, 0\.5 in study toy, got 0\.2"):
        study.only(shares=[0.2])
    with pytest.raises(OptionError, match="models must be some of m, n in study toy, got 'gat'"):
        study.only(models=["gat"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"methods": ["magic"]}, "methods must be some of unpruned, no-edges, .* in study qm9, got 'magic'"),
        ({"targets": ["weight"]}, "target must be some of mu, alpha, .* got 'weight'"),
        ({"datasets": ["cora"]}, "dataset must be some of qm9 in study qm9, got 'cora'"),
        ({"k": [0]}, "k must be a list of whole numbers >= 1, got 0"),
    ],
)
def test_a_part_that_is_not_there_is_named(options, says):
    with pytest.raises(OptionError, match=says):
        read("qm9").only(**options)


def test_shares_are_budgets_too():
    part = Part(dataset="d", model="m", k=(1,), shares=(0.5,), random_shares=(0.25,), methods=tuple(catalogue()))
    budgets: dict[str, list[tuple]] = {}
    for run in Study(name="s", title="t", parts=(part,)).runs(1):
        budgets.setdefault(run.method, []).append((run.k, run.keep))
    assert budgets["unpruned"] == budgets["no-edges"] == budgets["basic"] == [(None, None)]
    assert budgets["random"] == [(1, None), (None, 0.5), (None, 0.25)]
    assert budgets["lsp-projection"] == [(1, None), (None, 0.5)]
    assert budgets["lsp-threshold-published"] == [(1, None)]  # its signature needs k


def test_fields_are_checked_in_python_too():
    odd = {"lr": 0, "k": "12", "k ": [1.5], "epochs": 2**40, "targets": ("",), "schedule": ["cosine"]}
    for field, value in odd.items():
        with pytest.raises(OptionError, match=f"{field.strip()} must be"):
            dataclasses.replace(PART, **{field.strip(): value})
    for seeds in (0, -1, 1.5, "3", True, 10**9):
        with pytest.raises(OptionError, match="seeds must be"):
            SMALL.runs(seeds)
