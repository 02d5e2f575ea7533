from __future__ import annotations

from dataclasses import replace

import pytest
from lab_records import BOTH, as_method, comparison, comparison_maker, level, lsp, save
from report_records import overlaps, results

from lsprune import FormatError, OptionError
from lsprune.lab.reporting.comparison import Budget, read_studies, read_study
from lsprune.lab.reporting.paper import curves
from lsprune.lab.studies.methods import Method

panel = pytest.fixture(comparison_maker, name="panel")


@BOTH
def test_validation_chooses_although_test_says_otherwise(panel, mae):
    def score(method, share):
        return level(method, share) + (0.05 if method == "lsp-codebook" else 0)

    def val(method, share):
        return level(method, share) + (0.01 if method == "lsp-projection" else 0)

    one = panel(test=score, val=val, mae=mae)
    assert one.best_lsp == "lsp-projection"
    assert one.ranked(one.lsp_methods) == ["lsp-projection", "lsp-codebook"]
    better = one.gain("lsp-codebook", "lsp-projection", one.budgets[0])
    assert better.verdict == "better"
    assert panel(test=val, val=score, mae=mae).best_lsp == "lsp-codebook"


def test_an_lsp_whose_edges_belong_to_sources_is_not_judged_with_the_others(panel):
    one = panel(methods=("unpruned", "no-edges", "random", "lsp-projection", lsp("mine", side="out")))
    assert one.lsp_methods == ["lsp-projection"]
    assert "mine" in one.methods
    assert one.in_neighbour_partner("mine") == "lsp-projection"
    assert one.in_neighbour_partner("lsp-projection") is None


def test_a_shared_budget_is_compared_with_the_same_pruner_that_has_one_for_each_relation(panel):
    mine = Method("mine", {"pruner": "shared-budget", "by": "share", "inner": {"pruner": "lsp"}})
    one = panel(methods=("unpruned", "lsp-projection", "shared-lsp-projection", "shared-local-random", mine))
    assert one.shared_budgets == {"shared-lsp-projection": "lsp-projection", "mine": "lsp-projection"}
    assert panel(methods=("unpruned", "lsp-projection")).shared_budgets == {}


def test_only_methods_with_every_budget_are_ranked_and_only_by_runs_that_all_have(panel):
    def val(method, share):
        return {"lsp-projection": 0.7, "lsp-codebook": 0.6, "lsp-threshold": 0.9}.get(method, 0.5)

    records = comparison(methods=("unpruned", "lsp-projection", "lsp-codebook", "lsp-threshold"), val=val)
    easy = [r for r in records if r["run"]["method"] == "lsp-projection" and r["run"]["seed"] == 4]
    for record in easy:
        record["val"] = 0.0  # a seed that lsp-codebook has not done must not count
    kept = [r for r in records if not (r["run"]["method"] == "lsp-codebook" and r["run"]["seed"] == 4)]
    kept = [r for r in kept if not (r["run"]["method"] == "lsp-threshold" and r["run"]["keep"] == 0.1)]
    assert panel(kept).ranked(["lsp-codebook", "lsp-threshold", "lsp-projection"]) == ["lsp-projection", "lsp-codebook"]
    assert panel(comparison(methods=("unpruned", "random"))).best_lsp is None


@BOTH
def test_topology_matters_only_where_edges_help_for_sure(panel, mae):
    assert panel(mae=mae).topology_matters
    assert panel(mae=mae).topology_gain.difference == pytest.approx(0.2, abs=1e-3)
    assert not panel(mae=mae, test=lambda method, share: 0.7).topology_matters
    assert not panel(mae=mae, test=lambda method, share: 0.7 - 0.1 * share).topology_matters
    assert not panel(methods=("unpruned", "random")).topology_matters
    hardly = panel(mae=mae, test=lambda method, share: 0.7 + 0.0001 * share)
    assert hardly.topology_gain.difference > 0 and not hardly.topology_matters


@BOTH
def test_lossless_shares_and_ratios(panel, mae):
    fall = {"random": 0.5, "lsp-projection": 0.1, "lsp-codebook": 0.25}

    def score(method, share):
        return 0.8 if method not in fall or share >= fall[method] else 0.5

    one = panel(methods=("unpruned", "no-edges", *fall, "lsp-threshold"), mae=mae, test=score)
    assert [one.lossless_share(name) for name in (*fall, "lsp-threshold")] == pytest.approx([0.5, 0.1, 0.25, 0.1])
    assert one.lossless_ratio("lsp-projection") == pytest.approx(0.2)
    assert one.lossless_ratio("absent") is None
    worst = panel(
        methods=("unpruned", "random", "lsp-projection"), mae=mae, test=lambda m, s: 0.8 if m != "random" else 0.5
    )
    assert worst.lossless_share("random") is None
    assert worst.lossless_ratio("lsp-projection") == pytest.approx(0.1)  # random needs the whole graph
    assert panel(methods=("random", "lsp-projection"), mae=mae).lossless_ratio("lsp-projection") is None


def test_a_figure_shows_chance_and_the_best_by_validation(panel):
    many = (
        "unpruned", "no-edges", "random", "local-random", "dropedge", "cosine", "jaccard", "dspar",
        "lsp-projection-paper", "lsp-projection", "lsp-codebook", "lsp-threshold", "lsp-signs", "lsp-identity",
    )  # fmt: skip
    rank = {
        "lsp-identity": 5,
        "lsp-threshold": 4,
        "lsp-signs": 3,
        "jaccard": 9,
        "lsp-projection-paper": 8,
        "dropedge": 20,
    }
    one = panel(methods=many, val=lambda m, s: 0.5 + 0.01 * rank.get(m, 0))
    assert one.methods_to_draw() == [
        "random",
        "local-random",
        "lsp-identity",
        "lsp-threshold",
        "lsp-signs",
        "jaccard",
        "lsp-projection-paper",
    ]
    assert panel(methods=("unpruned", "cosine")).methods_to_draw() == ["cosine"]


def test_a_run_done_twice_counts_once_and_another_configuration_is_refused(panel, tmp_path):
    records = comparison()
    again = [{**record, "test": 0.5} for record in records if record["run"]["method"] == "lsp-projection"]
    one = panel([*records, *again])
    assert one.estimate("lsp-projection", (None, 0.1)).mean == 0.5
    assert one.estimate("lsp-projection", (None, 0.1)).runs == 5
    other = {**records[0], "key": "other"}
    with pytest.raises(FormatError, match=r"compare\.jsonl: runs \w+ and other are both unpruned on cora at seed 0"):
        panel([*records, other])
    with pytest.raises(FormatError, match="several metrics"):
        panel([*records, *comparison(mae=True, seeds=1, methods=["lsp-structure"])])


def test_targets_are_compared_separately(tmp_path):
    records = comparison(mae=True)
    for record in records[::2]:
        record["run"]["target"] = "gap"
    study = read_study(save(records, tmp_path / "qm9.jsonl"))
    assert [comparison.name for comparison in study.comparisons] == ["cora, gap", "cora"]


# What a method is follows from its options


def test_methods_of_a_user_have_their_place_whatever_they_are_called(panel):
    names = {"all": "unpruned", "bare": "no-edges", "chance": "random", "near": "local-random"}
    methods = [replace(as_method(role), name=name) for name, role in names.items()]
    methods += [lsp("mine", hash={"name": "signs", "bits": 4}), Method("other", {"pruner": "registered"})]
    methods += [Method("guarded", {"pruner": "guarded", "inner": {"pruner": "lsp"}, "min_keep": 1})]
    one = panel(methods=methods, test=lambda name, share: level(names.get(name, name), share))
    assert (one.unpruned, one.in_role("no-edges"), one.random_baselines) == ("all", "bare", ["chance", "near"])
    assert one.references == ["all", "bare"]
    assert one.lsp_methods == ["mine", "guarded"]
    assert one.topology_matters
    assert one.lossless_ratio("mine") is not None
    assert one.methods_to_draw()[-1] == "other"


def test_names_that_look_like_others_mean_nothing(panel):
    one = panel(methods=[Method("random", {"pruner": "lsp"}), Method("lsp-paper-out", {"pruner": "random"})])
    assert one.lsp_methods == ["random"]
    assert one.random_baselines == ["lsp-paper-out"]
    assert one.unpruned == "" and one.values(one.unpruned) == {} and one.estimate(one.unpruned) is None


def test_one_name_for_two_pruners_is_an_error(panel):
    records = [*comparison(methods=[lsp("mine")]), *comparison(methods=[lsp("mine", select="bottom")], shares=(0.75,))]
    with pytest.raises(FormatError, match=r"compare\.jsonl, cora: two methods are called 'mine', .*'bottom'.*; rename"):
        panel(records)


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


def test_models_on_one_dataset_are_compared_apart(tmp_path):
    trained = comparison(seeds=1)
    other = [{**one, "key": f"{one['key']}+", "run": {**one["run"], "model": "n"}, "test": 0.1} for one in trained]
    study = read_study(save([*trained, *other, *comparison(seeds=1, dataset="cs")], tmp_path / "a.jsonl"))
    assert [one.dataset for one in study.comparisons] == ["cora, m", "cora, n", "cs"]
    assert set(study.comparisons[1].values("random", Budget(keep=0.25)).values()) == {0.1}
    assert 0.1 not in study.comparisons[0].values("random", Budget(keep=0.25)).values()


def test_rebuilt_labels_are_named_and_not_compared_with_the_paper(tmp_path):
    records = comparison(seeds=1, dataset="ppi", rebuilt=["labels"])
    (one,) = read_study(save(records, tmp_path / "ppi.jsonl")).comparisons
    assert one.name == "ppi, rebuilt labels"
    assert curves("ppi", None, "micro-f1") and not curves(one.dataset, None, "micro-f1")


def test_a_measurement_beside_a_training_is_told_apart(tmp_path):
    trained, alike = comparison(seeds=1), overlaps("cora")
    for records in ([*trained, *alike], [*alike, *trained]):
        study = read_study(save(records, tmp_path / "both.jsonl"))
        assert [one.metric for one in (*study.comparisons, *study.overlaps)] == ["accuracy", "overlap"]
        assert study.overlaps[0].values("random", Budget(k=1)) == pytest.approx({0: 0.15, 1: 0.16, 2: 0.17})
