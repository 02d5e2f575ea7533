"""The numbers of the report: the same as those of the lines, and what is missing is said."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from lab_records import comparison, level, record, save
from report_records import overlaps, results, sizes

from lsprune import FormatError, OptionError
from lsprune.errors import LspruneError, LspruneWarning
from lsprune.lab.reporting import paper
from lsprune.lab.reporting.html_data import clock_of, look_of, overlap_data, panel_data, short, variance_data
from lsprune.lab.reporting.html_page import report_data
from lsprune.lab.reporting.neighbourhood import KS, METHODS, SET, neighbourhood_data
from lsprune.lab.reporting.panels import Panel, calibrated
from lsprune.lab.reporting.recommendation import advise, front_data
from lsprune.lab.reporting.result_lines import read_sources
from lsprune.lab.reporting.statistics import compare, estimate
from lsprune.lab.studies.methods import NAMES
from lsprune.lab.studies.run import Run


def panel_of(tmp_path: Path, records: list[dict]) -> Panel:
    (source,) = read_sources([save(records, tmp_path / "compare.jsonl")])
    return source.panels[0]


def data_of(tmp_path: Path, records: list[dict]) -> dict:
    panel = panel_of(tmp_path, records)
    return panel_data(panel, clock_of(panel))


def method(data: dict, name: str) -> dict:
    return next(one for one in data["methods"] if one["name"] == name)


# Numbers


def test_levels_are_means_and_intervals_of_the_lines(tmp_path):
    records = comparison()
    data = data_of(tmp_path, records)
    for name, share in (("lsp-p", 0.25), ("random", 0.1)):
        tests = [r["test"] for r in records if r["run"]["method"] == name and r["run"]["keep"] == share]
        point = next(point for point in method(data, name)["points"] if point["share"] == share)
        one = estimate(tests)
        assert point["test"] == pytest.approx([fmean(tests), one.low, one.high, 5], abs=1e-6)
    (whole,) = [one for one in data["levels"] if one["id"] == "none"]
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
    records = comparison(methods=("none", "random", "lsp-p"), pruner={"side": "in"})
    for one in records:
        if one["run"]["method"] == "lsp-p":
            one["pruner"] = {"side": "out"}
    data = data_of(tmp_path, records)
    assert (method(data, "random")["side"], method(data, "lsp-p")["side"]) == ("in", "out")
    assert method(data_of(tmp_path, comparison()), "random")["side"] == ""


def test_colours_do_not_depend_on_what_else_was_run():
    ours = [name for name in NAMES if calibrated(name)]
    assert len({look_of(name) for name in ours}) == len(ours)
    assert look_of("a method of somebody") == look_of("a method of somebody") >= 0


# Times


def test_times_are_beside_the_unpruned_graph(tmp_path):
    data = data_of(tmp_path, comparison(test_seconds=0.5))
    point = method(data, "lsp-p")["points"][0]
    assert point["train"] == pytest.approx((0.1 + 0.1) / 1.1, rel=1e-5)
    assert point["apply"] == 1.0
    assert data["noTimes"] == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"jobs": 10}, "up to 10 runs shared the device at a time"),
        ({"jobs": None}, "do not say whether they had the device to themselves"),
    ],
)
def test_times_that_do_not_compare_are_not_shown(tmp_path, change, said):
    data = data_of(tmp_path, comparison(**change))
    assert said in data["noTimes"]
    assert all(point["train"] is None for one in data["methods"] for point in one["points"])


def test_a_pruned_run_that_shared_the_device_does_not_count(tmp_path):
    records = comparison()
    for one in records:
        if (one["run"]["method"], one["run"]["keep"]) == ("lsp-p", 0.1):
            one["jobs"] = 4
    points = method(data_of(tmp_path, records), "lsp-p")["points"]
    assert [point["train"] is None for point in points] == [True, False, False]
    assert points[0]["seconds"] is None


def test_another_device_or_no_unpruned_run_does_not_compare(tmp_path):
    records = comparison()
    for one in records:
        one["device"] = "A" if one["run"]["method"] == "none" else "B"
    assert "had the device of the unpruned ones (A) to itself" in data_of(tmp_path, records)["noTimes"]
    without = data_of(tmp_path, comparison(methods=("random", "lsp-p")))
    assert without["noTimes"] == "there is no unpruned run to compare with"


# Advice


def falls(m: str, s: float) -> float:
    return 0.5 if m == "no-edges" else 0.8 if s >= 0.25 else 0.6


def test_the_smallest_lossless_share_is_recommended_in_words(tmp_path):
    panel = panel_of(tmp_path, comparison(test=falls))
    advice = advise(panel, clock_of(panel))
    assert (advice.found, advice.method, advice.share) == (True, panel.best_lsp, 0.25)
    assert advice.text == "Keep 25 %: ±0 points, 3.1× faster training"  # 1.1 / 0.35
    assert any("chosen on validation among 2 calibrated LSPs" in line for line in advice.why)
    assert any("less half a point" in line for line in advice.why)


@pytest.mark.parametrize(
    ("seconds", "says"),
    [(1.0, "training takes as long"), (0.5, "2.0× faster training"), (1.25, "1.2× slower training")],
)
def test_speed_is_named_only_where_there_is_a_difference(tmp_path, seconds, says):
    records = [
        {**one, "train_seconds_per_epoch": 1.02 if one["run"]["method"] == "none" else seconds}
        for one in comparison(test=falls)
    ]
    panel = panel_of(tmp_path, records)
    assert advise(panel, clock_of(panel)).text == f"Keep 25 %: ±0 points, {says}"


def test_what_is_lost_has_a_sign_and_its_interval(tmp_path):
    panel = panel_of(tmp_path, comparison(test=lambda m, s: 0.796 if m.startswith("lsp") else falls(m, 1), jobs=3))
    advice = advise(panel, clock_of(panel))
    assert advice.text == "Keep 10 %: −0.4 points"
    gain = compare(panel.values(advice.method, panel.budgets[0]), panel.values("none"))
    low, high = (f"{100 * value:+.1f}".replace("-", "−") for value in (gain.low, gain.high))
    assert any(f"5 seeds, 95 % interval {low} to {high} points" in line for line in advice.why)
    assert any("smallest share measured" in line for line in advice.why)
    assert any("Speed is not known: up to 3 runs" in line for line in advice.why)


def test_errors_are_in_their_own_units(tmp_path):
    panel = panel_of(tmp_path, comparison(mae=True, test=lambda m, s: 0.796 if m.startswith("lsp") else falls(m, 1)))
    advice = advise(panel, clock_of(panel))
    assert advice.text.startswith("Keep 10 %: +0.0040 MAE")
    assert any("plus 0.01" in line for line in advice.why)


def test_where_nothing_can_be_recommended_it_is_said(tmp_path):
    for records, said in (
        (comparison(), "No share measured comes within half a point of the unpruned graph: at 50 % it is −2.0 points."),
        (comparison(methods=("none", "random")), "No recommendation: no calibrated LSP was run here."),
        (
            [one for one in comparison(methods=("none", "random", "lsp-p")) if one["run"]["keep"] != 0.5]
            + comparison(methods=("random",), shares=(0.5,)),
            "No recommendation yet: lsp-p was not run at every share.",
        ),
        (comparison(methods=("random", "lsp-p")), "No recommendation: there is no unpruned run to compare with."),
    ):
        panel = panel_of(tmp_path, records)
        advice = advise(panel, clock_of(panel))
        assert (advice.found, advice.text) == (False, said)


def test_a_loss_that_only_the_interval_forgives_is_said(tmp_path):
    records = comparison(methods=("none", "no-edges", "random", "lsp-p"), seeds=2)
    for one in records:
        if one["run"]["method"] == "lsp-p":
            one["test"] = 0.8 if one["run"]["seed"] else 0.76
    panel = panel_of(tmp_path, records)
    advice = advise(panel, clock_of(panel))
    assert advice.text.startswith("Keep 10 %: −2.") and advice.runs == 2
    assert any("On average more than half a point is lost" in line for line in advice.why)


def test_one_run_is_said_to_be_one(tmp_path):
    panel = panel_of(tmp_path, comparison(test=falls, seeds=1))
    assert any("One run only" in line for line in advise(panel, clock_of(panel)).why)


def test_no_point_of_the_front_is_beaten_and_all_others_are(tmp_path):
    records = comparison(methods=("none", "no-edges", "random", "lsp-p", "cosine", "dropedge"))
    panel = panel_of(tmp_path, records)
    front = front_data(panel, clock_of(panel))
    assert front["across"] == "seconds"
    points = [(p["x"], p["y"]) for p in front["points"]]
    cells = [
        (0.1 + panel.share(*cell), panel.level(*cell).mean)
        for cell in panel.cells
        if cell[0] not in ("no-edges", "dropedge")
    ]
    for x, y in cells:
        beaten = any(a <= x + 1e-6 and b >= y - 1e-6 for a, b in points)
        assert beaten, (x, y)
    assert points == sorted(points) and len({y for _, y in points}) == len(points)
    shared = panel_of(tmp_path, comparison(jobs=2))
    assert front_data(shared, clock_of(shared))["across"] == "share"


def test_the_front_of_errors_goes_down(tmp_path):
    panel = panel_of(tmp_path, comparison(mae=True))
    heights = [point["y"] for point in front_data(panel, clock_of(panel))["points"]]
    assert heights == sorted(heights, reverse=True) and len(heights) > 1


# The paper


def test_the_packaged_points_are_those_of_the_paper():
    assert paper.curves("cora", None, "accuracy")["random"][0] == (0.2, 0.758)
    assert set(paper.curves("qm9", "mu", "mae")) == {"random", "lsp-p", "lsp-t"}
    assert paper.curves("qm9", None, "mae") == {}  # twelve targets: none of them is meant
    assert paper.curves("zinc", None, "mae") == paper.curves("zinc", "constrained-solubility", "mae") != {}
    assert set(paper.variance("pubmed")) == {"1", "3", "5", "7", "9"}


def test_neighbourhood_sizes_are_means_over_seeds_beside_the_paper(tmp_path):
    data = variance_data("cora", sizes())
    assert data["hops"] == [1, 3]
    assert data["methods"][0]["lines"]["3"][0][:2] == [0.2, 200.5]
    assert data["whole"]["1"][0] == 10.5
    assert data["paper"]["1"]


def test_overlaps_are_means_over_seeds_with_their_intervals(tmp_path):
    (source,) = read_sources([save(overlaps(), tmp_path / "c.jsonl")])
    data = overlap_data(source.overlaps[0])
    assert [one["name"] for one in data["methods"]] == ["random", "lsp-e", "position"]
    assert [one["group"] for one in data["methods"]] == ["chance", "ours", "other"]
    point = data["methods"][1]["points"][1]
    one = estimate([0.55, 0.56, 0.57])
    assert (point["share"], point["k"], point["prune"], point["train"]) == (0.33, 3, 0.5, None)
    assert point["test"] == [short(one.mean), short(one.low), short(one.high), 3]


# Reading


def test_folders_files_and_equal_names(tmp_path):
    first = save(comparison(), tmp_path / "a" / "x.jsonl")
    save(comparison(), tmp_path / "b" / "x.jsonl")
    save(comparison(), tmp_path / "b" / "x-smoke.jsonl")
    found = read_sources([first, tmp_path / "b", first])
    assert [source.study for source in found] == [f"x ({tmp_path / 'a'})", f"x ({tmp_path / 'b'})"]
    trial = read_sources([tmp_path / "b" / "x-smoke.jsonl"])
    assert trial[0].study == "x-smoke"


def test_a_cut_last_line_is_left_out_and_named(tmp_path):
    path = save(comparison(), tmp_path / "x.jsonl")
    whole = read_sources([path])[0].runs
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.warns(LspruneWarning, match=rf"x\.jsonl, line {whole} is cut short"):
        assert read_sources([path])[0].runs == whole - 1


def broken(**fields: object) -> str:
    good = record(Run(study="s", dataset="d", model="m", method="random", keep=0.5), 0.5, 0.5, 0.5)
    run = {**good["run"], **{name[4:]: value for name, value in fields.items() if name.startswith("run_")}}
    rest = {name: value for name, value in fields.items() if not name.startswith("run_")}
    return json.dumps({**good, "run": run, **rest})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"cut', "line 3 is damaged"),
        ('["a", "list"]', "line 3 is no run of a study"),
        ('{"key": "k", "some": "other JSON"}', "line 3 is no proper run: wrong or missing run;"),
        (broken(run_target=["x"]), "line 3 .* run.target"),
        (broken(run_k=[1]), "line 3 .* run.k"),
        (broken(run_seed=True), "line 3 .* run.seed"),
        (broken(run_dataset=None), "line 3 .* run.dataset"),
        (broken(test=math.nan), "line 3 .* test"),
        (broken(test=10**400), "line 3 .* test"),
        (broken(test_seconds="fast"), "line 3 .* test_seconds"),
        (broken(metric="beauty"), r"line 3 .* metric \(one of accuracy"),
        (broken(metric=["mae"]), "line 3 .* metric"),
        (broken(jobs="two"), "line 3 .* jobs"),
        (broken(device={}), "line 3 .* device"),
        (broken(variance={"far": 1.0}), "line 3 .* variance"),
        (broken(variance=[]), "line 3 .* variance"),
        (broken(metric="overlap", overlap="all"), "line 3 .* overlap"),
        (broken(overlap=0.5), r"line 3 .* metric \(overlap\)"),
        (broken(metric="overlap", overlap=0.5, prune_seconds=None), "line 3 .* prune_seconds"),
        (broken(metric="overlap", overlap=0.5, higher_is_better=False), "line 3 .* higher_is_better"),
        ("[" * 100_000, "line 3 is damaged"),
    ],
)
def test_a_bad_line_is_named_with_its_file(tmp_path, line, said):
    path = save(comparison(seeds=1)[:1], tmp_path / "bad.jsonl")
    path.write_text(path.read_text() + "\n" + line + "\n")
    with pytest.raises(FormatError, match=r"bad\.jsonl.*" + said):
        read_sources([tmp_path])


@pytest.mark.usefixtures("few_resamples")
def test_whatever_a_line_holds_it_is_a_report_or_a_clear_error(tmp_path):
    odd = [None, True, -1, 0, 1e308, 10**400, "", "x", "\x00", [], [1], {}, {"a": []}, "none", "lsp-p", 0.5, "mae"]
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
            json.dumps(report_data(read_sources([path])), allow_nan=False)
            built += 1
        except LspruneError as error:
            assert "odd.jsonl" in str(error)
    assert 20 < built < 140


def test_nothing_to_show_is_an_error(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    for place in (tmp_path, tmp_path / "empty.jsonl", tmp_path / "absent"):
        with pytest.raises(OptionError, match="results must be files or folders"):
            read_sources([place])


def test_all_of_a_folder_is_read(tmp_path):
    found = {source.study: source for source in read_sources([results(tmp_path)])}
    assert list(found) == ["compare", "compare-graphs", "consistency", "neighbourhood-variance"]
    assert [panel.dataset for panel in found["compare"].panels] == ["cora", "pubmed", "photo"]
    assert list(found["neighbourhood-variance"].variance) == ["cora"]
    assert [panel.dataset for panel in found["consistency"].overlaps] == ["synthetic-small"]
    assert found["consistency"].panels == ()  # nothing was trained, so that there is nothing to recommend


# The neighbourhood view


def test_the_neighbourhood_has_what_the_pruners_keep():
    data, samples = neighbourhood_data(), SET.make()
    assert [len(sample["edges"]) for sample in data["samples"]] == np.diff(samples.edge_ptr)[:2].tolist()
    for name in ("LSP, codebook on the edge", "LSP-P"):
        (shown,) = [one for one in data["methods"] if one["name"] == name]
        for k, found in zip(KS, shown["k"], strict=True):
            mask = METHODS[name][1](k).mask(samples.graph)
            text = "".join("01"[int(one)] for one in mask[: samples.edge_ptr[2]])
            assert "".join(found["kept"]) == text


def test_every_node_keeps_its_quota_and_overlaps_are_counted_right():
    data = neighbourhood_data()
    for shown in data["methods"]:
        for k, found in zip(KS, shown["k"], strict=True):
            kept = []
            for sample, letters in zip(data["samples"], found["kept"], strict=True):
                for node in sample["nodes"]:
                    mine = [x for (_, t, _), x in zip(sample["edges"], letters, strict=True) if t == node]
                    assert mine.count("1") == min(k, len(mine))
                kept.append({(e, t) for (_, t, e), x in zip(sample["edges"], letters, strict=True) if x == "1"})
            there = set.intersection(*({e for _, _, e in sample["edges"]} for sample in data["samples"]))
            for node, pair in found["overlap"].items():
                first, second = ({e for e, t in part if t == int(node) and e in there} for part in kept)
                assert pair == [len(first & second), len(first | second)]


def test_lsp_on_the_edge_is_more_consistent_than_chance():
    whole = {one["name"]: [found["whole"] for found in one["k"]] for one in neighbourhood_data()["methods"]}
    pairs = zip(whole["LSP, codebook on the edge"], whole["local random"], strict=True)
    assert all(ours > chance + 0.1 for ours, chance in pairs)


def test_the_picture_is_the_same_every_time():
    again = neighbourhood_data.__wrapped__()
    assert json.dumps(again) == json.dumps(neighbourhood_data())
    assert all(0 <= part <= 1 for place in again["places"] for part in place)


def test_level_is_what_the_records_say():
    assert level("none", 1.0) == 0.8  # what the texts above rest on
