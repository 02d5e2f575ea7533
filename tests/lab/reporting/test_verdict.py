from __future__ import annotations

import pytest
from lab_records import BOTH, comparison, comparison_maker, save

from lsprune.lab.reporting.comparison import read_studies
from lsprune.lab.reporting.recommendation import recommend
from lsprune.lab.reporting.statistics import PairedDifference
from lsprune.lab.reporting.timing import timing_of
from lsprune.lab.reporting.verdict import KINDS, judge, main_comparisons, verdict

compared = pytest.fixture(comparison_maker, name="compared")


def verdict_of(result):
    return verdict(result, recommend(result, timing_of(result)))


def scores(unpruned: float, none: float, pruned: float):
    return lambda m, s: {"unpruned": unpruned, "no-edges": none}.get(m, pruned)


@pytest.mark.parametrize(
    ("test", "kind", "text"),
    [
        (
            scores(0.8, 0.5, 0.82), "better",
            "keep 10 % with lsp-projection; accuracy 0.820 against 0.800 unpruned; clearly better",
        ),
        (
            scores(0.8, 0.5, 0.8), "same",
            "keep 10 % with lsp-projection; accuracy 0.800 against 0.800 unpruned; not worse by more than half a point",
        ),
        (
            scores(0.8, 0.5, 0.7), "keep-all",
            "keep all edges; 50 % with lsp-projection: accuracy 0.700 against 0.800 unpruned; clearly worse",
        ),
        (
            scores(0.7, 0.8, 0.75), "better",
            "keep no edge; accuracy 0.800 against 0.700 unpruned; clearly better",
        ),
        (
            scores(0.8, 0.8, 0.8), "same",
            "keep no edge; accuracy 0.800 against 0.800 unpruned; not worse by more than half a point",
        ),
    ],
    ids=["better", "same", "no lossless share", "edges do harm", "edges do not matter"],
)  # fmt: skip
def test_a_verdict_names_the_method_the_share_and_how_sure_it_is(compared, test, kind, text):
    result = verdict_of(compared(comparison(test=test)))
    assert (result.kind, result.text) == (kind, text)


@pytest.mark.parametrize(
    ("pruned", "kind", "judgement"), [(0.85, "better", "clearly better"), (0.7, "keep-all", "clearly worse")]
)
def test_a_smaller_error_is_better(compared, pruned, kind, judgement):
    """The records mirror a score: 0.85 is an error of 0.15, and 0.8 one of 0.2."""
    result = verdict_of(compared(comparison(mae=True, test=scores(0.8, 0.5, pruned))))
    assert result.kind == kind
    assert f"MAE {1 - pruned:.3f} against 0.200 unpruned (lower is better); {judgement}" in result.text


def test_an_interval_that_holds_a_real_loss_is_unclear(compared):
    records = comparison(test=scores(0.8, 0.5, 0.8))
    for one in records:
        if one["run"]["method"] == "lsp-projection":
            one["test"], one["val"] = 0.8 - 0.017 * (one["run"]["seed"] % 2), 0.9
    result = verdict_of(compared(records))
    assert result.kind == "unclear" and result.text.endswith("unpruned; unclear whether worse")


def test_few_runs_prove_nothing(compared):
    for seeds, said in ((1, "one run only"), (2, "2 runs only")):
        result = verdict_of(compared(comparison(test=scores(0.8, 0.5, 0.9), seeds=seeds)))
        assert result.kind == "unclear" and f"{said}, so unclear whether worse" in result.text


def test_without_a_method_or_an_unpruned_run_there_is_no_verdict(compared):
    for methods in (("unpruned", "no-edges"), ("random", "lsp-projection")):
        result = verdict_of(compared(comparison(methods=methods)))
        assert result.kind == "unknown" and result.text.startswith("no recommendation")


@BOTH
def test_gains_are_judged_alike_for_scores_and_errors(compared, mae):
    """A gain is positive where it is better, for errors too."""
    result = compared(comparison(mae=mae))
    tiny = 0.004
    kinds = [
        judge(result, PairedDifference((low + high) / 2, low, high, 0.1, 5))[0]
        for low, high in ((0.001, 0.1), (-tiny, 0.1), (-0.1, 0.1), (-0.1, -0.001))
    ]
    assert kinds == list(KINDS)[:4]
    assert judge(result, None)[0] == "unclear"


def test_a_dataset_has_one_verdict_that_of_its_largest_comparison(tmp_path):
    save(comparison(seeds=2), tmp_path / "small.jsonl")
    save([*comparison(seeds=3), *comparison(dataset="pubmed", seeds=4)], tmp_path / "large.jsonl")
    save(comparison(dataset="cs", methods=("unpruned", "no-edges")), tmp_path / "none.jsonl")
    studies = read_studies([tmp_path])
    chosen = main_comparisons(c for study in studies for c in study.comparisons)
    assert [(c.study, c.dataset) for c in chosen] == [("large", "pubmed"), ("large", "cora")]


def test_models_on_the_same_dataset_share_its_verdict(tmp_path):
    records = [*comparison(seeds=3), *comparison(seeds=2)]
    for one in records[len(comparison(seeds=3)) :]:
        one["run"] = {**one["run"], "model": "other"}
        one["key"] += "-other"
    (study,) = read_studies([save(records, tmp_path / "two.jsonl")])
    assert len(study.comparisons) == 2
    assert [c.dataset for c in main_comparisons(study.comparisons)] == ["cora, m"]
