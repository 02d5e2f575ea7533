from __future__ import annotations

from lab_records import comparison, save

from lsprune.lab.reporting.comparison import read_studies
from lsprune.lab.reporting.markdown.syntax import Headings, anchor_of, escape, folded, table


def test_names_are_only_names():
    assert escape("a|b") == "a\\|b"
    assert escape("<script>&") == "&lt;script&gt;&amp;"
    assert escape("[x](y) *b* `c`\nd") == "\\[x\\](y) \\*b\\* \\`c\\` d"
    assert escape("lsp-projection") == "lsp-projection"


def test_a_table_has_a_line_below_its_heads():
    assert table(["a", "b"], [["1", "2"]]) == ["| a | b |", "|---|---|", "| 1 | 2 |"]


def test_a_folded_part_has_blank_lines_around_its_markdown():
    assert folded("a|b", ["", "x", ""]) == "<details><summary>a\\|b</summary>\n\nx\n\n</details>"


def test_datasets_of_two_studies_have_the_study_in_their_headings(tmp_path):
    for name in ("one", "two"):
        save(comparison(seeds=1), tmp_path / f"{name}.jsonl")
    save(comparison(dataset="a|b", seeds=1), tmp_path / "three.jsonl")
    compared = [one for study in read_studies([tmp_path]) for one in study.comparisons]
    headings = Headings(compared)
    assert [headings.title(one) for one in compared] == ["cora (one)", "a\\|b", "cora (two)"]
    assert headings.link(compared[0]) == "[cora (one)](#one-cora)"
    assert [anchor_of(one) for one in compared] == ["one-cora", "three-a-b", "two-cora"]
