from __future__ import annotations

import pytest
from paper_records import runs, studied

from lsprune.lab.reporting import paper
from lsprune.lab.reporting.paper_table.figures import PANELS
from lsprune.lab.reporting.paper_table.points import (
    OTHER_STUDY,
    lines_of,
    own_points,
    points_of,
    time_points,
    value_at,
    variance_points,
)

PANEL = {panel.key: panel for panel in PANELS}
CORA = PANEL["cora-accuracy"]


def test_a_value_between_two_points_is_interpolated_and_there_is_none_outside():
    curve = [(0.2, 0.7), (0.4, 0.8)]
    value, exact = value_at(curve, 0.3) or (0, True)
    assert value == pytest.approx(0.75) and not exact
    assert value_at(curve, 0.4005) == (0.8, True)
    assert value_at(curve, 0.5) is None
    assert value_at([], 0.5) is None


def test_the_published_presets_and_random_stand_beside_the_papers_lines(tmp_path):
    share = paper.curves("cora", None, "accuracy")["lsp-p"][1][0]
    values = {
        ("random", share): 0.8, ("lsp-projection-published", share): 0.81, ("lsp-projection", share): 0.9,
        ("lsp-threshold-published", share): 0.82, ("unpruned", 1.0): 0.86, ("basic", 1.0): 0.7, ("no-edges", 0.0): 0.6,
    }  # fmt: skip
    points = points_of(CORA, [studied(runs(values), tmp_path, "cora")])
    assert {point.line: round(point.ours.mean, 6) for point in points} == {
        "random": 0.8, "lsp-p": 0.81, "lsp-t": 0.82, "unpruned": 0.86, "basic": 0.7,
    }  # fmt: skip  # ours and no edges have no line in this plot
    found = {point.line: point for point in points}
    assert (found["lsp-p"].paper, found["lsp-p"].exact) == (0.832, True)
    assert not found["random"].exact
    assert found["unpruned"].paper == 0.876
    assert found["lsp-p"].best_test == pytest.approx(0.83)


def test_full_training_wins_then_seeds_then_the_figures_own_study(tmp_path):
    share = 0.4671
    one = {("random", share): 0.7}
    own = studied(runs(one, seeds=3), tmp_path, "cora")
    more = studied(runs({("random", share): 0.8}, name="more", seeds=5), tmp_path, "more")
    same = studied(runs({("random", share): 0.75}, name="same", seeds=3), tmp_path, "same")
    short = studied(runs({("random", share): 0.9}, name="short", seeds=9, epochs=50), tmp_path, "short")
    assert [p.ours.mean for p in points_of(CORA, [short, same, own])] == [pytest.approx(0.7)]
    assert [p.ours.mean for p in points_of(CORA, [short, same, own, more])] == [pytest.approx(0.8)]
    (point,) = points_of(CORA, [short])
    assert point.setting.short and point.setting.epochs == 50


def test_points_of_short_training_are_left_out_once_a_line_of_lsp_is_trained_in_full(tmp_path):
    short = runs({("random", 0.3): 0.7, ("lsp-projection-published", 0.3): 0.7}, name="short", epochs=9)
    first = studied(short, tmp_path, "short")
    assert len(points_of(CORA, [first])) == 2
    full = studied(runs({("lsp-projection-published", 0.6): 0.8}), tmp_path, "cora")
    assert [point.setting.study for point in points_of(CORA, [first, full])] == ["cora"]


def test_fewer_graphs_are_short_training_too(tmp_path):
    lines = runs({("unpruned", 1.0): 0.2}, study="zinc", limit=100, mae=True)
    (point,) = points_of(PANEL["zinc-constrained-solubility-mae"], [studied(lines, tmp_path, "zinc")])
    assert point.setting.short and point.setting.limit == 100


def test_another_model_or_target_is_not_of_the_plot(tmp_path):
    lines = runs({("random", 0.5): 0.8})
    for line in lines:
        line["run"]["model"] = "node-gcn"
    assert points_of(CORA, [studied(lines, tmp_path, "cora")]) == []
    mu = runs({("random", 0.5): 0.03}, study="qm9", target="mu", mae=True)
    qm9 = [studied(mu, tmp_path, "qm9")]
    assert len(points_of(PANEL["qm9-mu-mae"], qm9)) == 1
    assert points_of(PANEL["qm9-alpha-mae"], qm9) == []


def test_energies_are_shown_in_the_papers_unit(tmp_path):
    lines = runs({("random", 0.5): 0.02}, study="qm9", target="homo", mae=True)
    (point,) = points_of(PANEL["qm9-homo-mae"], [studied(lines, tmp_path, "qm9")])
    assert point.ours.mean == pytest.approx(20.0)  # meV
    assert 22 < point.paper < 25


def test_relative_times_are_those_of_runs_that_had_the_device_to_themselves(tmp_path):
    panel = PANEL["cora-relative-test-time"]
    whole = runs({("unpruned", 1.0): 0.8}, test_seconds=2.0)
    lines = [*whole, *runs({("random", 0.4): 0.8, ("lsp-projection-published", 0.4): 0.8}, test_seconds=1.0)]
    points, problem = time_points(panel, [studied(lines, tmp_path, "cora")])
    assert [(point.line, point.share, point.ours.mean) for point in points] == [("any", 0.4, 0.5)]
    assert not problem
    shared = [{**line, "jobs": 4} for line in lines]
    points, problem = time_points(panel, [studied(shared, tmp_path, "cora")])
    assert points == [] and "4 runs shared the device" in problem
    assert time_points(panel, [studied(lines, tmp_path, "other")]) == ([], OTHER_STUDY)
    assert time_points(panel, []) == ([], "")


def test_neighbourhood_sizes_are_compared_with_random(tmp_path):
    panel = PANEL["cora-variance"]
    lines = []
    for method, share, value in (("unpruned", 1.0, 27.33), ("random", 0.5, 7.0), ("lsp-projection", 0.5, 1.0)):
        for line in runs({(method, share): 0.5}, seeds=1):
            line["variance"] = {"1": value}
            lines.append(line)
    points = variance_points(panel, [studied(lines, tmp_path, "neighbourhood-variance")])
    assert [(point.line, point.share, point.ours.mean) for point in points] == [("1", 0.5, 7.0), ("1", 1.0, 27.33)]
    assert points[1].paper == pytest.approx(27.330084938984882)


def test_the_number_of_the_papers_points_and_lines():
    assert own_points(CORA) == 33
    assert own_points(PANEL["cora-variance"]) == 50
    assert own_points(PANEL["cora-relative-test-time"]) == 7
    assert set(lines_of(CORA)) == {"random", "lsp-p", "lsp-t", "basic"}
    assert set(lines_of(PANEL["cora-variance"])) == {"1", "3", "5", "7", "9"}
