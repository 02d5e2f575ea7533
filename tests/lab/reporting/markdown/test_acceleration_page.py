"""The page of acceleration says first what a fifth of the edges costs, and what pruning for inference does."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_geometric")
pytest.importorskip("matplotlib")

from lab_records import comparison, save  # noqa: E402
from timing_records import all_served, failure, timing  # noqa: E402

from lsprune.errors import FormatError  # noqa: E402
from lsprune.lab.reporting.comparison import read_study  # noqa: E402
from lsprune.lab.reporting.markdown.acceleration_page import acceleration_page  # noqa: E402
from lsprune.lab.reporting.markdown.page import write_page  # noqa: E402

RECORDS = [timing(backend=b, share=s) for b in ("ordinary", "fused") for s in (1.0, 0.5, 0.2)]


def test_the_headline_is_what_a_fifth_of_the_edges_costs():
    text, images = acceleration_page(RECORDS, "../results")
    headline = text.split("\n\n")[1]
    assert headline == (
        "**With 20 % of the edges a training epoch of GAT takes 0.27 (computers) on the ordinary path; "
        "0.27 (computers) on the fastest path** of the time on the unpruned graph (a GPU)."
    )
    assert "| computers | GAT | 0.27 | 0.27 | 0.20 | 0.20 | 0.27 | 0.32 | 0.27 | yes | fused |" in text
    assert "| computers | GAT | 50 % | fastest (fused) | 0.18 | 0.55 | 0.1 | 0.50 | 0.55 |" in text
    assert list(images) == ["results/acceleration-a-gpu.svg"] and "](results/acceleration-a-gpu.svg)" in text


def test_what_failed_is_listed():
    text, images = acceleration_page([failure(dataset="large"), timing(dataset="large", share=0.2)], "x")
    assert "What failed (1)" in text and "- large, gat, ordinary, 100 %: OutOfMemoryError: CUDA out of memory" in text
    assert images == {}  # nothing to relate to
    assert "**With" not in text


def test_serving_has_a_headline_a_table_and_a_figure():
    text, images = acceleration_page(all_served(), "x")
    headline = text.split("\n\n")[1]
    assert "GAT on computers scores all nodes with lsp-auto as follows: 50 % of the edges take 0.55" in headline
    assert "10 % of the edges take 0.18 of the time and -3.60 [-3.60, -3.60] points of accuracy (a GPU)" in headline
    assert "| random | 25 % | 0.826 [0.825, 0.827] | -7.50 [-7.50, -7.50] | 0.32 | 0.25 | 0.25 |" in text
    assert list(images) == ["results/serving-a-gpu.svg"]


def test_there_is_no_page_without_measurements():
    assert acceleration_page([], "x") is None


def test_the_page_is_written_beside_the_results_and_both_read_the_same_folder(tmp_path):
    save(comparison(), tmp_path / "results" / "compare.jsonl")
    save(RECORDS, tmp_path / "results" / "acceleration.jsonl")
    save(all_served(), tmp_path / "results" / "serving.jsonl")
    written = write_page(tmp_path / "results", tmp_path / "docs")
    names = {path.name for path in written}
    assert {"acceleration.md", "results.md", "acceleration-a-gpu.svg", "serving-a-gpu.svg"} <= names
    assert all(path.exists() for path in written) and written[-1].name == "results.md"
    assert all(
        "acceleration" not in (tmp_path / "docs" / name).read_text() for name in ("comparison.md", "by-dataset.md")
    )


def test_a_damaged_line_is_named(tmp_path):
    wrong = {**RECORDS[0], "epoch_seconds_min": None}
    with pytest.raises(FormatError, match="line 1: wrong or missing epoch_seconds_min"):
        read_study(save([wrong], tmp_path / "acceleration.jsonl"))
    no_batches = {**all_served()[0], "batches": None}
    with pytest.raises(FormatError, match="wrong or missing batches"):
        read_study(save([no_batches], tmp_path / "serving.jsonl"))
    assert len(read_study(save([failure()], tmp_path / "fine.jsonl")).timings) == 1
