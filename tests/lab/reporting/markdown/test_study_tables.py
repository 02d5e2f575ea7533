from __future__ import annotations

import re
from pathlib import Path

from lab_records import comparison, save
from report_records import overlaps

from lsprune.lab.reporting.markdown.study_tables import study_tables

RESULTS = Path(__file__).resolve().parents[4] / "results"


def test_the_readme_has_the_tables_of_the_lines():
    readme = (RESULTS / "README.md").read_text(encoding="utf8")
    for name in re.findall(r"^## ([a-z0-9-]+)$", readme, re.MULTILINE):
        assert study_tables(RESULTS / f"{name}.jsonl") in readme


def test_a_method_that_was_not_run_has_no_row_and_no_lossless_share(tmp_path):
    text = study_tables(save(comparison(methods=("unpruned", "random", "jaccard")), tmp_path / "g.jsonl"))
    assert re.findall("lossless share of (.*):", text) == ["random"]
    assert "−" not in text


def test_tables_of_errors_say_so_and_keep_their_sign(tmp_path):
    text = study_tables(save(comparison(mae=True), tmp_path / "zinc.jsonl"))
    found = re.search(r"\*lsp-projection − local-random, lower is better\* \| -0\.036 \[(-0\.\d+), (-0\.\d+)\]", text)
    assert found and float(found[1]) < -0.036 < float(found[2])
    assert "- lossless share of random: none of these" in text
    assert text.startswith("## zinc\n\n- unpruned: 0.2")


def test_shared_budgets_have_a_row_against_the_same_pruner(tmp_path):
    methods = ("unpruned", "random", "local-random", "shared-local-random", "lsp-projection")
    text = study_tables(save(comparison(methods=methods), tmp_path / "h.jsonl"))
    (row,) = [line for line in text.splitlines() if line.startswith("| *shared-")]
    assert row.startswith("| *shared-local-random − local-random, points* | +1.8 [+1.7, +1.9] |")


def test_measurements_have_tables(tmp_path):
    path = save([{**record, "variance": {"1": 2.0}} for record in comparison(seeds=1)], tmp_path / "v.jsonl")
    assert "| 1 | lsp-projection | 2 | 2 | 2 | 2 |" in study_tables(path)
    path = save(overlaps(), tmp_path / "c.jsonl")
    assert "| random | 0.160 [0.150, 0.170] | 0.260 [0.250, 0.270] |" in study_tables(path)


def test_datasets_of_one_study_have_headings(tmp_path):
    text = study_tables(save([*comparison(seeds=1), *overlaps("cs")], tmp_path / "both.jsonl"))
    assert [line for line in text.splitlines() if line.startswith("#")] == ["## both", "### cora", "### cs"]
