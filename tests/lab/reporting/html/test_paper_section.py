from __future__ import annotations

import re

import pytest
from lab_records import comparison
from paper_records import runs, studied, theirs

from lsprune.lab.reporting.html.paper_section import paper_section
from lsprune.lab.reporting.paper_table.cells import summary
from lsprune.lab.reporting.paper_table.table import paper_table


def test_the_section_has_what_the_table_has(tmp_path):
    studies = [studied(runs(theirs("cora", "accuracy")), tmp_path, "cora")]
    section = paper_section(studies)
    assert section is not None
    rows = summary(paper_table(studies))
    assert [row["cells"] for row in section["rows"]] == [row.cells for row in rows]
    assert {row["anchor"] for row in section["rows"]} == {figure["anchor"] for figure in section["figures"]}
    assert any(table["rows"] for figure in section["figures"] for table in figure["tables"])


def test_the_report_shows_the_section_and_its_links_lead_somewhere(tmp_path):
    pytest.importorskip("jinja2")
    from lsprune.lab.reporting.html.page import make_report

    text = make_report([studied(runs(theirs("cora", "accuracy")), tmp_path, "cora")]).decode()
    section = text[text.index('id="figure-by-figure"') :].split("</section>")[0]
    assert "The paper, figure by figure" in section
    links, ids = set(re.findall(r'href="#(.+?)"', section)), re.findall(r'\bid="(.+?)"', section)
    assert links and links <= set(ids)
    assert len(set(re.findall(r'\bid="(.+?)"', text))) == len(re.findall(r'\bid="(.+?)"', text))


def test_without_a_run_of_the_paper_there_is_no_section(tmp_path):
    pytest.importorskip("jinja2")
    from lsprune.lab.reporting.html.page import make_report

    studies = [studied(comparison(dataset="computers"), tmp_path, "mine")]
    assert paper_section(studies) is None
    assert b'id="figure-by-figure"' not in make_report(studies)
