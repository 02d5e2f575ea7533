from __future__ import annotations

import re

import pytest
from lab_records import comparison, save
from paper_records import runs, studied, theirs

from lsprune.lab.reporting.markdown.page import write_page
from lsprune.lab.reporting.markdown.paper_page import paper_page
from lsprune.lab.reporting.paper_table.figures import PANELS
from lsprune.lab.reporting.paper_table.verdict import MEANINGS


def test_the_page_has_every_figure_and_the_notes(tmp_path):
    studies = [studied(runs(theirs("cora", "accuracy")), tmp_path, "cora")]
    (tmp_path / "paper-notes.md").write_text("## Remarks\n\nMine.\n")
    text = paper_page(studies, tmp_path, "../results") or ""
    for panel in PANELS:
        if not panel.is_time:
            assert f'<a id="{panel.key}"></a>' in text and f"(#{panel.key})" in text
            assert f"$ {panel.command}\n" in text
    for title in ("Figure 1:", "Figure 2:", "Figures 4b and 8:", "Table 1:", "Table 2:"):
        assert f"### {title}" in text
    order = [int(number) for number in re.findall(r"^### Figures? (\d)", text, re.MULTILINE)]
    assert order == sorted(order)
    assert text.endswith("## Remarks\n\nMine.\n")
    assert "| 3 | [Cora](#cora-accuracy) | **reproduced** |" in text
    assert set(re.findall(r"\(#(.+?)\)", text)) - {"how-a-verdict-is-made"} == set(re.findall(r'<a id="(.+?)"', text))


def test_the_headlines_come_before_the_table_and_the_table_before_the_details(tmp_path):
    studies = [studied(runs({("unpruned", 1.0): 0.86, ("basic", 1.0): 0.87}), tmp_path, "cora")]
    text = paper_page(studies, tmp_path, "../results") or ""
    assert f"- **not judged**: {MEANINGS['not judged']}.\n" in text
    places = [
        text.index(part)
        for part in ("- **not judged**", "plain averaging", "## All figures", "## How a verdict", "### Figure 1")
    ]
    assert places == sorted(places)


def test_there_is_no_page_without_a_run_of_the_paper(tmp_path):
    save(comparison(dataset="computers"), tmp_path / "mine.jsonl")
    assert paper_page([studied(comparison(dataset="computers"), tmp_path, "mine")], tmp_path, "..") is None


def test_the_page_is_written_with_the_others_and_the_same_twice(tmp_path):
    pytest.importorskip("matplotlib")
    results = tmp_path / "results"
    save(runs(theirs("cora", "accuracy")), results / "cora.jsonl")
    first, second = ({path.name: path.read_bytes() for path in write_page(results, tmp_path / out)} for out in "ab")
    assert "paper.md" in first
    assert first == second
