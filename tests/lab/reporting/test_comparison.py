from __future__ import annotations

import pytest
from lab_records import BOTH, comparison, comparison_maker, level, save
from report_records import overlaps, results

from lsprune import FormatError, OptionError
from lsprune.lab.reporting.comparison import Budget, read_studies, read_study

panel = pytest.fixture(comparison_maker, name="panel")


@BOTH
def test_validation_chooses_although_test_says_otherwise(panel, mae):
    def score(method, share):
        return level(method, share) + (0.05 if method == "lsp-q" else 0)

    def val(method, share):
        return level(method, share) + (0.01 if method == "lsp-p" else 0)

    one = panel(test=score, val=val, mae=mae)
    assert one.best_lsp == "lsp-p"
    assert one.ranked(one.lsp_methods) == ["lsp-p", "lsp-q"]
    better = one.gain("lsp-q", "lsp-p", one.budgets[0])
    assert better.verdict == "better"
    assert panel(test=val, val=score, mae=mae).best_lsp == "lsp-q"


def test_an_lsp_whose_edges_belong_to_sources_is_not_judged_with_the_others(panel):
    one = panel(methods=("none", "no-edges", "random", "lsp-p", "lsp-p-out"))
    assert one.lsp_methods == ["lsp-p"]
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
    assert panel(kept).ranked(["lsp-q", "lsp-t", "lsp-p"]) == ["lsp-p", "lsp-q"]
    assert panel(comparison(methods=("none", "random"))).best_lsp is None


@BOTH
def test_topology_matters_only_where_edges_help_for_sure(panel, mae):
    assert panel(mae=mae).topology_matters
    assert panel(mae=mae).topology_gain.difference == pytest.approx(0.2, abs=1e-3)
    assert not panel(mae=mae, test=lambda method, share: 0.7).topology_matters
    assert not panel(mae=mae, test=lambda method, share: 0.7 - 0.1 * share).topology_matters
    assert not panel(methods=("none", "random")).topology_matters
    hardly = panel(mae=mae, test=lambda method, share: 0.7 + 0.0001 * share)
    assert hardly.topology_gain.difference > 0 and not hardly.topology_matters


@BOTH
def test_lossless_shares_and_ratios(panel, mae):
    fall = {"random": 0.5, "lsp-p": 0.1, "lsp-q": 0.25}

    def score(method, share):
        return 0.8 if method not in fall or share >= fall[method] else 0.5

    one = panel(methods=("none", "no-edges", *fall, "lsp-t"), mae=mae, test=score)
    assert [one.lossless_share(name) for name in (*fall, "lsp-t")] == pytest.approx([0.5, 0.1, 0.25, 0.1])
    assert one.lossless_ratio("lsp-p") == pytest.approx(0.2)
    assert one.lossless_ratio("absent") is None
    worst = panel(methods=("none", "random", "lsp-p"), mae=mae, test=lambda m, s: 0.8 if m != "random" else 0.5)
    assert worst.lossless_share("random") is None
    assert worst.lossless_ratio("lsp-p") == pytest.approx(0.1)  # random needs the whole graph
    assert panel(methods=("random", "lsp-p"), mae=mae).lossless_ratio("lsp-p") is None


def test_a_figure_shows_chance_and_the_best_by_validation(panel):
    many = ("none", "no-edges", "random", "local-random", "dropedge", "cosine", "jaccard", "dspar", "lsp-p-paper",
            "lsp-p", "lsp-q", "lsp-t", "lsp-s", "lsp-i")  # fmt: skip
    rank = {"lsp-i": 5, "lsp-t": 4, "lsp-s": 3, "jaccard": 9, "lsp-p-paper": 8, "dropedge": 20}
    one = panel(methods=many, val=lambda m, s: 0.5 + 0.01 * rank.get(m, 0))
    assert one.methods_to_draw() == ["random", "local-random", "lsp-i", "lsp-t", "lsp-s", "jaccard", "lsp-p-paper"]
    assert panel(methods=("none", "cosine")).methods_to_draw() == ["cosine"]


def test_a_run_done_twice_counts_once_and_another_configuration_is_refused(panel, tmp_path):
    records = comparison()
    again = [{**record, "test": 0.5} for record in records if record["run"]["method"] == "lsp-p"]
    one = panel([*records, *again])
    assert one.estimate("lsp-p", (None, 0.1)).mean == 0.5
    assert one.estimate("lsp-p", (None, 0.1)).runs == 5
    other = {**records[0], "key": "other"}
    with pytest.raises(FormatError, match=r"compare\.jsonl: runs \w+ and other are both none on cora at seed 0"):
        panel([*records, other])
    with pytest.raises(FormatError, match="several metrics"):
        panel([*records, *comparison(mae=True, seeds=1, methods=["lsp-w"])])


def test_targets_are_compared_separately(tmp_path):
    records = comparison(mae=True)
    for record in records[::2]:
        record["run"]["target"] = "gap"
    study = read_study(save(records, tmp_path / "qm9.jsonl"))
    assert [comparison.name for comparison in study.comparisons] == ["cora, gap", "cora"]


# Reading


def test_folders_files_and_equal_names(tmp_path):
    first = save(comparison(), tmp_path / "a" / "x.jsonl")
    save(comparison(), tmp_path / "b" / "x.jsonl")
    save(comparison(), tmp_path / "b" / "x-smoke.jsonl")
    studies = read_studies([first, tmp_path / "b", first])
    assert [study.name for study in studies] == [f"x ({tmp_path / 'a'})", f"x ({tmp_path / 'b'})"]
    trial = read_studies([tmp_path / "b" / "x-smoke.jsonl"])
    assert trial[0].name == "x-smoke"


def test_nothing_to_show_is_an_error(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    for place in (tmp_path, tmp_path / "empty.jsonl", tmp_path / "absent"):
        with pytest.raises(OptionError, match="results must be files or folders"):
            read_studies([place])


def test_all_of_a_folder_is_read(tmp_path):
    studies = {study.name: study for study in read_studies([results(tmp_path)])}
    assert list(studies) == ["compare", "compare-graphs", "consistency", "neighbourhood-variance"]
    assert [one.dataset for one in studies["compare"].comparisons] == ["cora", "pubmed", "photo"]
    assert [sizes.dataset for sizes in studies["neighbourhood-variance"].sizes] == ["cora"]
    assert [one.dataset for one in studies["consistency"].overlaps] == ["synthetic-small"]
    assert studies["consistency"].comparisons == ()  # nothing was trained, so that there is nothing to recommend


def test_a_measurement_beside_a_training_is_told_apart(tmp_path):
    trained, alike = comparison(seeds=1), overlaps("cora")
    for records in ([*trained, *alike], [*alike, *trained]):
        study = read_study(save(records, tmp_path / "both.jsonl"))
        assert [one.metric for one in (*study.comparisons, *study.overlaps)] == ["accuracy", "overlap"]
        assert study.overlaps[0].values("random", Budget(k=1)) == pytest.approx({0: 0.15, 1: 0.16, 2: 0.17})
