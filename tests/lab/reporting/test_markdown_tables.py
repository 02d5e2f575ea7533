from __future__ import annotations

import re
from pathlib import Path

import pytest
from lab_records import BOTH, comparison, panel_maker, save
from report_records import overlaps

from lsprune import FormatError
from lsprune.lab.reporting import markdown_tables as tables
from lsprune.lab.reporting.panels import read_overlaps, read_panels, verdict

RESULTS = Path(__file__).resolve().parents[3] / "results"


panel = pytest.fixture(panel_maker, name="panel")


def rows(lines: list[str]) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if line.startswith("|")]
    assert len({len(row) for row in cells}) == 1
    return {row[0]: row[1:] for row in cells}


@BOTH
def test_better_equal_and_worse_get_their_verdicts(panel, mae):
    methods = ("none", "no-edges", "random", "lsp-good", "lsp-same", "lsp-bad")
    shift = {"lsp-good": 0.01, "lsp-bad": -0.01}
    one = panel(methods=methods, mae=mae, test=lambda m, s: 0.7 + shift.get(m, 0) + (0.05 if m == "none" else 0))
    found = {name: [verdict(one.gain(name, "random", b)) for b in one.budgets] for name in one.ours}
    assert found["lsp-good"] == ["better"] * 3
    assert found["lsp-same"] == ["not worse"] * 3
    assert found["lsp-bad"] == ["worse"] * 3
    assert one.gain("lsp-good", "random", one.budgets[0]).difference == pytest.approx(0.01, abs=1e-3)
    table = rows(tables.gain_table(one, "random"))
    assert all(cell.startswith("**better** +") for cell in table["lsp-good"])
    assert all(cell.startswith("*worse* -") for cell in table["lsp-bad"])


def test_one_run_gives_no_verdict_and_no_interval(panel):
    one = panel(seeds=1)
    gain = one.gain("lsp-p", "random", one.budgets[0])
    assert verdict(gain) == "one run"
    assert not one.topology_matters
    text = "\n".join([*tables.level_table(one), *tables.gain_table(one, "random"), *tables.reference_lines(one)])
    assert "nan" not in text
    assert "topology matters: one run cannot say" in text


@BOTH
@pytest.mark.parametrize("lead", [0.1, 0.05], ids=["ahead", "level"])
def test_the_best_of_a_column_is_bold_and_dropedge_never(panel, mae, lead):
    def score(method, share):
        return 0.6 + {"dropedge": lead, "cosine": 0.05}.get(method, 0)

    methods = ("random", "dropedge", "lsp-p", "lsp-q", "lsp-s", "lsp-t", "cosine")
    table = rows(tables.level_table(panel(methods=methods, test=score, mae=mae)))
    bold = {name: [cell.startswith("**") for cell in cells] for name, cells in table.items() if name != "---"}
    assert bold.pop("cosine") == [True] * 3
    assert "dropedge †" in bold
    assert not any(map(any, bold.values()))


def test_missing_cells_stay_empty(panel):
    records = [r for r in comparison() if not (r["run"]["method"] == "lsp-p" and r["run"]["keep"] == 0.25)]
    one = panel(records)
    assert [bool(cell) for cell in rows(tables.level_table(one))["lsp-p"]] == [True, False, True]
    assert [bool(cell) for cell in rows(tables.gain_table(one, "random"))["lsp-p"]] == [True, False, True]
    assert [bool(cell) for cell in rows(tables.time_table(one))["lsp-p"]] == [True, True, False, True]
    apart = [r for r in records if (r["run"]["seed"] < 2) == (r["run"]["method"] == "random")]
    assert panel(apart).gain("lsp-p", "random", (None, 0.1)) is None  # no seed in common


def test_budgets_of_k_stand_in_the_order_of_their_shares(panel):
    one = panel(shares=(0.25,), ks=(4, 1))
    assert one.budgets == [(1, None), (None, 0.25), (4, None)]
    assert tables.heads(one) == ["10 %", "25 %", "40 %"]
    assert one.references == ["none", "no-edges"]


def test_names_are_only_names():
    assert tables.escape("a|b") == "a\\|b"
    assert tables.escape("<script>&") == "&lt;script&gt;&amp;"
    assert tables.escape("[x](y) *b* `c`\nd") == "\\[x\\](y) \\*b\\* \\`c\\` d"
    assert tables.escape("lsp-p") == "lsp-p"


def test_a_pipe_in_a_name_does_not_break_the_table(panel):
    bad = "lsp-<b>|x"
    records = [
        r | {"run": r["run"] | {"method": bad}} if r["run"]["method"] == "lsp-q" else r for r in comparison()
    ]  # fmt: skip
    one = panel(records)
    for lines in (tables.level_table(one), tables.gain_table(one, "random"), tables.time_table(one)):
        assert "lsp-&lt;b&gt;\\|x" in rows(lines)
        assert bad not in "\n".join(lines)


def test_times_compare_only_between_runs_that_had_the_same_device_alone(panel):
    alone = rows(tables.time_table(panel()))
    assert alone["method"] == ["pruning, s", "10 %", "25 %", "50 %"]
    assert alone["lsp-p"] == ["0.500", "0.18", "0.32", "0.55"]
    for jobs in (3, None):
        shared = panel(jobs=jobs)
        assert tables.shared_device(shared)
        assert rows(tables.time_table(shared))["lsp-p"] == ["0.500"]
    mixed = comparison()
    for record in mixed:
        record["jobs"] = 4 if record["run"]["method"] == "lsp-p" else 1
        record["device"] = "another" if record["run"]["method"] == "lsp-q" else "a GPU"
    table = rows(tables.time_table(panel(mixed)))
    assert table["lsp-p"] == table["lsp-q"] == ["0.500", "", "", ""]
    assert table["random"] == alone["random"]


def test_measurements_without_a_model_are_left_out(tmp_path):
    path = save([{**record, "variance": {"1": 2.0}} for record in comparison(seeds=1)], tmp_path / "v.jsonl")
    assert read_panels(path) == []
    assert "| 1 | lsp-p | 2 | 2 | 2 | 2 |" in tables.study_tables(path)
    path = save(overlaps(), tmp_path / "c.jsonl")
    assert read_panels(path) == []
    assert "| random | 0.160 [0.150, 0.170] | 0.260 [0.250, 0.270] |" in tables.study_tables(path)


def test_a_measurement_beside_a_training_is_told_apart_or_named(tmp_path):
    trained, alike = comparison(seeds=1), overlaps("cora")
    for records in ([*trained, *alike], [*alike, *trained]):
        path = save(records, tmp_path / "both.jsonl")
        assert [panel.metric for panel in (*read_panels(path), *read_overlaps(path))] == ["accuracy", "overlap"]
        with pytest.raises(FormatError, match="several metrics"):
            tables.study_tables(path)


@pytest.mark.parametrize("field", ["overlap", "share", "prune_seconds", "metric", "higher_is_better"])
def test_an_overlap_that_lacks_something_is_named(tmp_path, field):
    path = save([*overlaps()[:1], {**overlaps()[1], field: None}], tmp_path / "bad.jsonl")
    with pytest.raises(FormatError, match=rf"bad\.jsonl: run .* has no proper {field}"):
        read_overlaps(path)


def test_the_readme_has_the_tables_of_the_lines():
    readme = (RESULTS / "README.md").read_text(encoding="utf8")
    for name in ("cora", "consistency"):
        assert tables.study_tables(RESULTS / f"{name}.jsonl") in readme


def test_tables_of_errors_say_so_and_keep_their_sign(tmp_path):
    text = tables.study_tables(save(comparison(mae=True), tmp_path / "zinc.jsonl"))
    found = re.search(r"\*lsp-p − local-random, lower is better\* \| -0\.036 \[(-0\.\d+), (-0\.\d+)\]", text)
    assert found and float(found[1]) < -0.036 < float(found[2])
    assert "- lossless share of random: none of these" in text
    assert text.startswith("## zinc\n\n- none: 0.2")


def test_reference_levels_are_listed(panel):
    one = panel(methods=("basic", "no-edges", "none"))
    lines = tables.reference_lines(one)
    assert [line.split(":")[0] for line in lines] == [
        "- unpruned", "- no edges", "- basic (plain averaging, whole graph)", "- topology matters",
    ]  # fmt: skip
    assert lines[0] == f"- unpruned: {one.level('none')}"
    assert re.fullmatch(r"- topology matters: yes; the edges are worth \+20\.\d+ \[.*\] points", lines[-1])
