from __future__ import annotations

import re

import pytest
from lab_records import BOTH, comparison, comparison_maker, lsp

from lsprune.lab.reporting.markdown import tables

panel = pytest.fixture(comparison_maker, name="panel")


def rows(lines: list[str]) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if line.startswith("|")]
    assert len({len(row) for row in cells}) == 1
    return {row[0]: row[1:] for row in cells}


@BOTH
def test_better_equal_and_worse_get_their_verdicts(panel, mae):
    methods = ("unpruned", "no-edges", "random", lsp("good"), lsp("same"), lsp("bad"))
    shift = {"good": 0.01, "bad": -0.01}
    one = panel(methods=methods, mae=mae, test=lambda m, s: 0.7 + shift.get(m, 0) + (0.05 if m == "unpruned" else 0))
    found = {name: [one.gain(name, "random", b).verdict for b in one.budgets] for name in one.lsp_methods}
    assert found["good"] == ["better"] * 3
    assert found["same"] == ["unclear"] * 3
    assert found["bad"] == ["worse"] * 3
    assert one.gain("good", "random", one.budgets[0]).difference == pytest.approx(0.01, abs=1e-3)
    table = rows(tables.gain_table(one, "random"))
    assert all(cell.startswith("**better** +") for cell in table["good"])
    assert all(cell.startswith("*worse* -") for cell in table["bad"])


def test_one_run_gives_no_verdict_and_no_interval(panel):
    one = panel(seeds=1)
    gain = one.gain("lsp-projection", "random", one.budgets[0])
    assert gain.verdict == "one run"
    assert not one.topology_matters
    text = "\n".join([*tables.level_table(one), *tables.gain_table(one, "random"), *tables.reference_lines(one)])
    assert "nan" not in text
    assert "topology matters: one run cannot say" in text


@BOTH
@pytest.mark.parametrize("lead", [0.1, 0.05], ids=["ahead", "level"])
def test_the_best_of_a_column_is_bold_and_dropedge_never(panel, mae, lead):
    def score(method, share):
        return 0.6 + {"dropedge": lead, "cosine": 0.05}.get(method, 0)

    methods = ("random", "dropedge", "lsp-projection", "lsp-codebook", "lsp-signs", "lsp-threshold", "cosine")
    table = rows(tables.level_table(panel(methods=methods, test=score, mae=mae)))
    bold = {name: [cell.startswith("**") for cell in cells] for name, cells in table.items() if name != "---"}
    assert bold.pop("cosine") == [True] * 3
    assert "dropedge †" in bold
    assert not any(map(any, bold.values()))


def test_missing_cells_stay_empty(panel):
    records = [r for r in comparison() if not (r["run"]["method"] == "lsp-projection" and r["run"]["keep"] == 0.25)]
    one = panel(records)
    assert [bool(cell) for cell in rows(tables.level_table(one))["lsp-projection"]] == [True, False, True]
    assert [bool(cell) for cell in rows(tables.gain_table(one, "random"))["lsp-projection"]] == [True, False, True]
    assert [bool(cell) for cell in rows(tables.time_table(one))["lsp-projection"]] == [True, True, False, True]
    apart = [r for r in records if (r["run"]["seed"] < 2) == (r["run"]["method"] == "random")]
    assert panel(apart).gain("lsp-projection", "random", (None, 0.1)) is None  # no seed in common


def test_budgets_of_k_stand_in_the_order_of_their_shares(panel):
    one = panel(shares=(0.25,), ks=(4, 1))
    assert one.budgets == [(1, None), (None, 0.25), (4, None)]
    assert tables.share_heads(one) == ["10 %", "25 %", "40 %"]
    assert one.references == ["unpruned", "no-edges"]


def test_a_pipe_in_a_name_does_not_break_the_table(panel):
    bad = "lsp-<b>|x"
    records = [
        r | {"run": r["run"] | {"method": bad}} if r["run"]["method"] == "lsp-codebook" else r for r in comparison()
    ]  # fmt: skip
    one = panel(records)
    for lines in (tables.level_table(one), tables.gain_table(one, "random"), tables.time_table(one)):
        assert "lsp-&lt;b&gt;\\|x" in rows(lines)
        assert bad not in "\n".join(lines)


def test_times_compare_only_between_runs_that_had_the_same_device_alone(panel):
    alone = rows(tables.time_table(panel()))
    assert alone["method"] == ["pruning, s", "10 %", "25 %", "50 %"]
    assert alone["lsp-projection"] == ["0.500", "0.18", "0.32", "0.55"]
    for jobs in (3, None):
        shared = panel(jobs=jobs)
        assert "The times of epochs do not compare" in tables.time_note(shared)
        assert rows(tables.time_table(shared))["lsp-projection"] == ["0.500"]
    mixed = comparison()
    for record in mixed:
        record["jobs"] = 4 if record["run"]["method"] == "lsp-projection" else 1
        record["device"] = "another" if record["run"]["method"] == "lsp-codebook" else "a GPU"
    table = rows(tables.time_table(panel(mixed)))
    assert table["lsp-projection"] == table["lsp-codebook"] == ["0.500", "", "", ""]
    assert table["random"] == alone["random"]


def test_reference_levels_are_listed(panel):
    one = panel(methods=("basic", "no-edges", "unpruned"))
    lines = tables.reference_lines(one)
    assert [line.split(":")[0] for line in lines] == [
        "- unpruned", "- no edges", "- basic model (plain averaging), whole graph", "- topology matters",
    ]  # fmt: skip
    assert lines[0] == f"- unpruned: {one.estimate('unpruned')}"
    assert re.fullmatch(r"- topology matters: yes; the edges are worth \+20\.\d+ \[.*\] points", lines[-1])


def test_the_head_of_gains_has_the_name_of_the_baseline_in_prose(panel):
    assert tables.gain_table(panel(), "local-random")[0].startswith("| against k random neighbours |")
