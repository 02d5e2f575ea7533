from __future__ import annotations

import pytest
from lab_records import BOTH, comparison, level, panel_maker, save

from lsprune import FormatError
from lsprune.lab.reporting.panels import lines_of, read_panels, verdict
from lsprune.lab.reporting.statistics import Comparison

panel = pytest.fixture(panel_maker, name="panel")


def test_verdicts_at_the_border():
    def at(low, high):
        return verdict(Comparison(0.5 * (low + high), low, high, 1.0, 5))

    assert [at(0.0, 0.0), at(-1, 0.0), at(0.0, 1), at(1e-9, 1), at(-1, -1e-9)] == [
        "not worse", "not worse", "not worse", "better", "worse",
    ]  # fmt: skip


@BOTH
def test_validation_chooses_although_test_says_otherwise(panel, mae):
    def score(method, share):
        return level(method, share) + (0.05 if method == "lsp-q" else 0)

    def val(method, share):
        return level(method, share) + (0.01 if method == "lsp-p" else 0)

    one = panel(test=score, val=val, mae=mae)
    assert one.best_lsp == "lsp-p"
    assert one.best(one.ours) == ["lsp-p", "lsp-q"]
    better = one.gain("lsp-q", "lsp-p", one.budgets[0])
    assert verdict(better) == "better"
    assert panel(test=val, val=score, mae=mae).best_lsp == "lsp-q"


def test_an_lsp_whose_edges_belong_to_sources_is_not_judged_with_the_others(panel):
    one = panel(methods=("none", "no-edges", "random", "lsp-p", "lsp-p-out"))
    assert one.ours == ["lsp-p"]
    assert "lsp-p-out" in one.methods


def test_only_methods_with_every_budget_are_ranked_and_only_by_runs_that_all_have(panel):
    def val(method, share):
        return {"lsp-p": 0.7, "lsp-q": 0.6, "lsp-t": 0.9}.get(method, 0.5)

    records = comparison(methods=("none", "lsp-p", "lsp-q", "lsp-t"), val=val)
    easy = [r for r in records if r["run"]["method"] == "lsp-p" and r["run"]["seed"] == 4]
    for record in easy:
        record["val"] = 0.0  # a seed that lsp-q has not done must not count
    kept = [r for r in records if not (r["run"]["method"] == "lsp-q" and r["run"]["seed"] == 4)]
    kept = [r for r in kept if not (r["run"]["method"] == "lsp-t" and r["run"]["keep"] == 0.1)]
    assert panel(kept).best(["lsp-q", "lsp-t", "lsp-p"]) == ["lsp-p", "lsp-q"]
    assert panel(comparison(methods=("none", "random"))).best_lsp is None


@BOTH
def test_topology_matters_only_where_edges_help_for_sure(panel, mae):
    assert panel(mae=mae).topology_matters
    assert panel(mae=mae).topology.difference == pytest.approx(0.2, abs=1e-3)
    assert not panel(mae=mae, test=lambda method, share: 0.7).topology_matters
    assert not panel(mae=mae, test=lambda method, share: 0.7 - 0.1 * share).topology_matters
    assert not panel(methods=("none", "random")).topology_matters
    hardly = panel(mae=mae, test=lambda method, share: 0.7 + 0.0001 * share)
    assert hardly.topology.difference > 0 and not hardly.topology_matters


@BOTH
def test_lossless_shares_and_ratios(panel, mae):
    fall = {"random": 0.5, "lsp-p": 0.1, "lsp-q": 0.25}

    def score(method, share):
        return 0.8 if method not in fall or share >= fall[method] else 0.5

    one = panel(methods=("none", "no-edges", *fall, "lsp-t"), mae=mae, test=score)
    assert [one.lossless(name) for name in (*fall, "lsp-t")] == pytest.approx([0.5, 0.1, 0.25, 0.1])
    assert one.ratio("lsp-p") == pytest.approx(0.2)
    assert one.ratio("absent") is None
    worst = panel(methods=("none", "random", "lsp-p"), mae=mae, test=lambda m, s: 0.8 if m != "random" else 0.5)
    assert worst.lossless("random") is None
    assert worst.ratio("lsp-p") == pytest.approx(0.1)  # random needs the whole graph
    assert panel(methods=("random", "lsp-p"), mae=mae).ratio("lsp-p") is None


def test_a_figure_shows_chance_and_the_best_by_validation(panel):
    many = ("none", "no-edges", "random", "local-random", "dropedge", "cosine", "jaccard", "dspar", "lsp-p-paper",
            "lsp-p", "lsp-q", "lsp-t", "lsp-s", "lsp-i")  # fmt: skip
    rank = {"lsp-i": 5, "lsp-t": 4, "lsp-s": 3, "jaccard": 9, "lsp-p-paper": 8, "dropedge": 20}
    one = panel(methods=many, val=lambda m, s: 0.5 + 0.01 * rank.get(m, 0))
    assert lines_of(one) == ["random", "local-random", "lsp-i", "lsp-t", "lsp-s", "jaccard", "lsp-p-paper"]
    assert lines_of(panel(methods=("none", "cosine"))) == ["cosine"]


def test_a_run_done_twice_counts_once_and_another_configuration_is_refused(panel, tmp_path):
    records = comparison()
    again = [{**record, "test": 0.5} for record in records if record["run"]["method"] == "lsp-p"]
    one = panel([*records, *again])
    assert one.level("lsp-p", (None, 0.1)).mean == 0.5
    assert one.level("lsp-p", (None, 0.1)).runs == 5
    other = {**records[0], "key": "other"}
    with pytest.raises(FormatError, match=r"compare\.jsonl: runs \w+ and other are both none on cora at seed 0"):
        panel([*records, other])
    with pytest.raises(FormatError, match="several metrics"):
        panel([*records, *comparison(mae=True, seeds=1, methods=["lsp-w"])])


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("test", None, "test"), ("test", float("nan"), "test"), ("val", "0.5", "val"), ("share", True, "share"),
        ("metric", "rmse", "metric"), ("higher_is_better", 1, "higher_is_better"), ("run", None, "run;"),
        ("run", {"dataset": "cora", "method": "none"}, "run.seed"), ("run", ["cora"], "run;"),
        ("share", 10**400, "share"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_line_is_said(panel, field, value, said):
    records = comparison(seeds=1)
    records[3][field] = value
    with pytest.raises(FormatError, match=rf"compare\.jsonl: run {records[3]['key']} has no proper .*{said}"):
        panel(records)


def test_targets_are_panels_of_their_own(tmp_path):
    records = comparison(mae=True)
    for record in records[::2]:
        record["run"]["target"] = "gap"
    names = [panel.name for panel in read_panels(save(records, tmp_path / "qm9.jsonl"))]
    assert names == ["cora, gap", "cora"]
