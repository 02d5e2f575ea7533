from __future__ import annotations

import pytest
from lab_records import comparison, save
from report_records import overlaps, results, sizes

from lsprune.lab.reporting.comparison import read_studies
from lsprune.lab.reporting.html.overview import study_cards, verdict_rows, view_link

pytestmark = pytest.mark.usefixtures("few_resamples")


def test_every_dataset_has_one_verdict_and_a_link_to_its_comparison(tmp_path):
    save([*comparison(), *comparison(dataset="pubmed", seeds=3)], tmp_path / "compare.jsonl")
    save(comparison(seeds=2), tmp_path / "small.jsonl")
    first, second = verdict_rows(read_studies([tmp_path]))
    assert (first.dataset, first.study, first.seeds, first.number) == ("cora", "compare", 5, 0)
    assert first.href == "#study=compare&dataset=cora"
    assert (second.dataset, second.number) == ("pubmed", 1)
    assert first.verdict.text.startswith("keep ") and first.verdict.method


def test_every_study_has_a_card_the_largest_first(tmp_path):
    cards = study_cards(read_studies([results(tmp_path)]))
    assert [card.name for card in cards] == ["compare", "compare-graphs", "consistency", "neighbourhood-variance"]
    compare, graphs, consistency, variance = cards
    assert compare.contents.startswith("3 datasets, 10 methods, ") and compare.href == "#study=compare&dataset=cora"
    assert (compare.number, graphs.number, graphs.href) == (0, 3, "#study=compare-graphs")
    assert compare.title == "All methods on six graphs at five shares"
    assert (consistency.href, variance.href) == ("#at=consistency", "#at=sizes")


def test_a_study_without_a_pruned_graph_has_no_card(tmp_path):
    save(comparison(methods=("unpruned", "no-edges")), tmp_path / "whole.jsonl")
    save([*overlaps(), *overlaps("other")], tmp_path / "c.jsonl")
    save(sizes(), tmp_path / "mine.jsonl")
    assert [(card.name, card.title) for card in study_cards(read_studies([tmp_path]))] == [("c", ""), ("mine", "")]


def test_links_hold_any_name():
    assert view_link({"study": "a&b=c", "dataset": "\ud800<", "target": None}) == "#study=a%26b%3Dc&dataset=%3F%3C"
