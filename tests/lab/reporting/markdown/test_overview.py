"""The summary asks, answers by what was computed, and has a picture where there is something to draw."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("torch_geometric")
pytest.importorskip("matplotlib")

from lab_records import comparison, level, save  # noqa: E402
from report_records import overlaps  # noqa: E402
from timing_records import all_served, timing  # noqa: E402

from lsprune.lab.reporting.markdown.page import make_pages  # noqa: E402

METHODS = (
    "unpruned", "no-edges", "random", "local-random", "lsp-projection", "lsp-auto", "lsp-auto-labels", "choose",
    "lsp-auto-out",
)  # fmt: skip


def score(method: str, share: float) -> float:
    """lsp-auto loses nothing, choose gains a point on it, with labels it loses one."""
    ours = {"lsp-auto": 0.8, "choose": 0.81, "lsp-auto-labels": 0.79, "lsp-auto-out": 0.75}
    return ours.get(method, level(method, share))


def flat(method: str, share: float) -> float:
    return 0.7


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    datasets = ("cora", "citeseer", "computers")
    records = [record for name in datasets for record in comparison(dataset=name, methods=METHODS, test=score)]
    save([*records, *comparison(dataset="cs", methods=METHODS, test=flat)], folder / "compare.jsonl")
    save([timing(share=share) for share in (1.0, 0.2)], folder / "acceleration.jsonl")
    save(all_served(), folder / "serving.jsonl")
    save(overlaps(methods=("local-random", "lsp-codebook-edge")), folder / "consistency.jsonl")
    relations = ("unpruned", "no-edges", "local-random", "lsp-projection", "shared-lsp-projection")
    save(comparison(dataset="acm", study="hetero", methods=relations), folder / "hetero.jsonl")
    return folder


def section(text: str, heading: str) -> str:
    return text.split(f"## {heading}", 1)[1].split("\n## ", 1)[0]


def test_every_question_has_its_verdict(results):
    text = make_pages(results).texts["results.md"]
    edges = section(text, "Do the edges matter?")
    assert re.match(r"\n\n\*\*On 4 of 5 datasets and models, clearly\.\*\* Not on cs \([-+]0\.00 \[", edges)
    half = section(text, "Does half of the edges cost accuracy?")
    assert re.search(r"\*\*Not on citeseer \([-+]0\.0\d \[.*; computers .*; cora [^;]*\)\.\*\*", half)
    assert re.search(r"^\| 50 % \| 3 \| 0 \| 0 \| [-+]0\.0\d \|", half, re.MULTILINE)
    chance = section(text, "Is it better than chance?")
    assert "**Clearly better in 9 comparisons, clearly worse in 0, no clear difference in 0.**" in chance
    labels = section(text, "Do labels help to choose?")
    assert (
        "**Clearly in 3 of 6 comparisons, clearly not in 3, unclear in 0.**" in labels
        and "- choose, 10 % kept: +1.00 [" in labels
    )
    assert "random pruning needs" in section(text, "How few edges are enough?")
    assert "- a GPU, PyG's layers: GAT 0.27\n" in section(text, "How much faster is an epoch?")
    assert "- computers, GAT, a GPU: -2.00 [" in section(text, "Can a trained model answer from a pruned graph?")
    assert "is clearly better in 9 comparisons, its source in 0" in section(text, "Who decides on an edge?")
    samples = section(text, "Do two samples keep the same edges?")
    assert "**lsp-codebook-edge keeps 0.460 [" in samples and "k random neighbours 0.160 [" in samples
    assert "in 0 of 3 comparisons" in section(text, "One budget for all relations?")


def test_the_page_is_short_and_its_pictures_exist(results):
    pages = make_pages(results)
    text = pages.texts["results.md"]
    assert len(text.splitlines()) <= 100
    shown = re.findall(r"!\[[^]]*\]\((results/[^)]*)\)", text)
    assert len(shown) == 5 and set(shown) <= set(pages.images)
    for name, anchor in re.findall(r"\]\(([a-z-]+\.md)#?([a-z-]*)\)", text):
        assert name in pages.texts
        slugs = [re.sub(r"\W+", "-", line.strip("# ").lower()) for line in pages.texts[name].splitlines()]
        assert not anchor or anchor in slugs


def test_verdicts_follow_the_numbers(results):
    def lost(method: str, share: float) -> float:
        return score(method, share) - (0.1 if method == "lsp-auto" else 0)

    save(comparison(dataset="cora", methods=METHODS, test=lost), results / "compare.jsonl")
    text = make_pages(results).texts["results.md"]
    assert "**Yes on cora (-10.00 [" in section(text, "Does half of the edges cost accuracy?")
    assert "clearly worse in 3," in section(text, "Is it better than chance?")


def test_too_few_runs_are_said_to_be_too_few(tmp_path):
    save(comparison(seeds=1), tmp_path / "compare.jsonl")
    pages = make_pages(tmp_path)
    assert "There are too few runs yet" in pages.texts["results.md"]
    assert "## Summary" in pages.texts["comparison.md"]


def test_what_the_notes_begin_with_stands_in_the_summary(results):
    (results / "notes.md").write_text("**Mind this.**\n\n## The rest\n\nLong.\n", encoding="utf8")
    pages = make_pages(results)
    assert "**Mind this.**" in pages.texts["results.md"] and "Long." not in pages.texts["results.md"]
    assert "Long." in pages.texts["comparison.md"]


def test_many_datasets_are_counted_and_not_listed(tmp_path):
    records = [record for n in range(9) for record in comparison(dataset=f"d{n}", methods=METHODS, test=score)]
    save(records, tmp_path / "compare.jsonl")
    text = make_pages(tmp_path).texts["results.md"]
    assert "**Not on 9 of them (" in text and "d3 (" not in text


def test_lossless_shares_stand_beside_those_of_the_baseline_that_matters(results):
    text = section(make_pages(results).texts["results.md"], "How few edges are enough?")
    assert re.search(
        r"of the edges that random pruning needs\*\* to lose nothing.* k random neighbours need \d\.\d\d\.", text
    )
    without = comparison(dataset="cora", methods=[name for name in METHODS if name != "local-random"], test=score)
    save(without, results / "compare.jsonl")
    assert "k random neighbours need" not in section(
        make_pages(results).texts["results.md"], "How few edges are enough?"
    )
