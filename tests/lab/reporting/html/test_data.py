from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from lab_records import comparison, lsp, save
from report_records import overlaps, results, sizes

from lsprune.errors import LspruneError
from lsprune.lab.reporting.comparison import read_studies, read_study
from lsprune.lab.reporting.formatting import short
from lsprune.lab.reporting.html.data import comparison_data, overlap_data, page_data, sizes_data
from lsprune.lab.reporting.method_styles import PAPER_METHODS
from lsprune.lab.reporting.statistics import estimate


def data_of(tmp_path: Path, records: list[dict]) -> dict:
    return comparison_data(read_study(save(records, tmp_path / "compare.jsonl")).comparisons[0])


def method(data: dict, name: str) -> dict:
    return next(method for method in data["methods"] if method["name"] == name)


def test_levels_are_means_and_intervals_of_the_lines(tmp_path):
    records = comparison()
    data = data_of(tmp_path, records)
    for name, share in (("lsp-projection", 0.25), ("random", 0.1)):
        tests = [r["test"] for r in records if r["run"]["method"] == name and r["run"]["keep"] == share]
        point = next(point for point in method(data, name)["points"] if point["share"] == share)
        one = estimate(tests)
        assert point["test"] == pytest.approx([fmean(tests), one.low, one.high, 5], abs=1e-6)
    (whole,) = [one for one in data["references"] if one["role"] == "unpruned"]
    assert whole["name"] == "unpruned"
    assert whole["test"][0] == pytest.approx(0.8, abs=1e-6)


def test_a_single_run_has_no_interval(tmp_path):
    point = method(data_of(tmp_path, comparison(seeds=1)), "random")["points"][0]
    assert point["test"][1:] == [None, None, 1]


def test_the_best_epoch_by_test_is_offered_only_where_all_records_have_it(tmp_path):
    records = comparison(test_max=0.9)
    assert [one["id"] for one in data_of(tmp_path, records)["metrics"]] == ["test", "val", "test_max"]
    del records[3]["test_max"]
    assert [one["id"] for one in data_of(tmp_path, records)["metrics"]] == ["test", "val"]


def test_the_sides_of_methods_are_told(tmp_path):
    records = comparison(methods=("unpruned", "random", "lsp-projection"), pruner={"side": "in"})
    for one in records:
        if one["run"]["method"] == "lsp-projection":
            one["pruner"] = {"side": "out"}
    data = data_of(tmp_path, records)
    assert (method(data, "random")["side"], method(data, "lsp-projection")["side"]) == ("in", "out")
    assert method(data_of(tmp_path, comparison()), "random")["side"] == ""


def test_times_are_relative_to_the_unpruned_graph(tmp_path):
    data = data_of(tmp_path, comparison(test_seconds=0.5))
    point = method(data, "lsp-projection")["points"][0]
    assert point["trainingTime"] == pytest.approx((0.1 + 0.1) / 1.1, rel=1e-5)
    assert point["testTime"] == 1.0
    assert data["timingProblem"] == ""


def test_times_that_do_not_compare_are_not_shown(tmp_path):
    data = data_of(tmp_path, comparison(jobs=10))
    assert "up to 10 runs shared the device at a time" in data["timingProblem"]
    assert all(point["trainingTime"] is None for method in data["methods"] for point in method["points"])


def test_the_recommendation_and_the_front_point_at_points_of_the_plot(tmp_path):
    data = data_of(tmp_path, comparison(test=lambda m, s: 0.5 if m == "no-edges" else 0.8 if s >= 0.25 else 0.6))
    advice = data["recommendation"]
    shares = [point["share"] for point in method(data, advice["method"])["points"]]
    assert advice["found"] and advice["share"] in shares
    for point in data["tradeOff"]["front"]:
        if point["method"] != "unpruned":
            assert point["share"] in [p["share"] for p in method(data, point["method"])["points"]]


def test_the_recommendation_says_how_sure_it_is(tmp_path):
    advice = data_of(tmp_path, comparison(test=lambda m, s: {"unpruned": 0.8, "no-edges": 0.5}.get(m, 0.85)))[
        "recommendation"
    ]
    assert (advice["kind"], advice["badge"]) == ("better", "better")
    assert advice["verdict"] == "accuracy 0.850 against 0.800 unpruned; clearly better"
    lost = data_of(tmp_path, comparison())["recommendation"]
    assert (lost["kind"], lost["verdict"].split(";")[0]) == ("keep-all", "keep all edges")


@pytest.mark.parametrize("mae", [False, True])
def test_axes_say_which_way_is_better(tmp_path, mae):
    data = data_of(tmp_path, comparison(mae=mae))
    assert data["higherIsBetter"] is not mae
    said = "(lower is better ↓)" if mae else "(higher is better ↑)"
    assert all(metric["axis"].endswith(said) for metric in data["metrics"])


def test_a_page_begins_with_the_largest_comparison_and_describes_every_method(tmp_path):
    save([*comparison(dataset="pubmed", seeds=2), *comparison(seeds=3)], tmp_path / "compare.jsonl")
    save(overlaps(), tmp_path / "consistency.jsonl")
    data = page_data(read_studies([tmp_path]))
    assert data["comparisons"][data["first"]]["dataset"] == "cora"
    about = dict(data["about"])
    named = {one["name"] for part in ("comparisons", "consistency") for c in data[part] for one in c["methods"]}
    assert named <= set(about) and all(about.values())


def test_a_name_that_means_two_methods_has_both_lines(tmp_path):
    save(comparison(methods=("unpruned", lsp("mine"))), tmp_path / "a.jsonl")
    save(comparison(methods=("unpruned", lsp("mine", weights={"name": "jaccard"}))), tmp_path / "b.jsonl")
    line = dict(page_data(read_studies([tmp_path]))["about"])["mine"]
    first, second = line.split(" Or: ")
    assert first.startswith("Locality-sensitive pruning. Hash: ") and second.startswith("Weights: prefer edges")


def test_neighbourhood_sizes_are_means_over_seeds_beside_the_paper(tmp_path):
    data = sizes_data(read_study(save(sizes(), tmp_path / "v.jsonl")).sizes[0])
    assert data["hops"] == [1, 3]
    assert data["methods"][0]["lines"]["3"][0][:2] == [0.2, 200.5]
    assert data["unpruned"]["1"][0] == 10.5
    assert data["paper"]["1"]


def test_overlaps_are_means_over_seeds_with_their_intervals(tmp_path):
    data = overlap_data(read_study(save(overlaps(), tmp_path / "c.jsonl")).overlaps[0])
    assert [one["name"] for one in data["methods"]] == ["random", "lsp-codebook-edge", "first"]
    assert [one["group"] for one in data["methods"]] == ["random", "lsp", "other"]
    point = data["methods"][1]["points"][1]
    one = estimate([0.55, 0.56, 0.57])
    assert (point["share"], point["k"], point["pruningSeconds"], point["trainingTime"]) == (0.33, 3, 0.5, None)
    assert point["test"] == [short(one.mean), short(one.low), short(one.high), 3]


def test_every_method_of_the_paper_has_a_style(tmp_path):
    data = page_data(read_studies([results(tmp_path)]))
    names = {name for one in data["comparisons"] if one["paper"] for kind in one["paper"].values() for name in kind}
    assert names and names <= set(data["paperMethods"]) == set(PAPER_METHODS)


@pytest.mark.usefixtures("few_resamples")
def test_whatever_a_line_holds_it_is_a_report_or_a_clear_error(tmp_path):
    odd = [
        None, True, -1, 0, 1e308, 10**400, "", "x", "\x00", [], [1], {}, {"a": []}, {"pruner": "lsp"}, "unpruned",
        "lsp-projection", 0.5, "mae",
    ]  # fmt: skip
    good = [*comparison(seeds=2, test_max=0.5, test_seconds=1.0), *sizes(), *overlaps()]
    random = np.random.default_rng(0)
    built = 0
    for _ in range(150):
        records = json.loads(json.dumps(good))
        for _ in range(int(random.integers(1, 3))):
            one = records[int(random.integers(len(records)))]
            place = one["run"] if random.random() < 0.5 else one
            place[list(place)[int(random.integers(len(place)))]] = odd[int(random.integers(len(odd)))]
        path = save(records, tmp_path / "odd.jsonl")
        try:
            json.dumps(page_data(read_studies([path])), allow_nan=False)
            built += 1
        except LspruneError as error:
            assert "odd.jsonl" in str(error)
    assert 20 < built < 140
