from __future__ import annotations

import re
from pathlib import Path

import pytest
from lab_records import METHODS, comparison, level, lsp, save
from report_records import overlaps

from lsprune import FormatError, MissingDependency, OptionError
from lsprune.lab.reporting.figures import files as figure_files
from lsprune.lab.reporting.markdown.page import Pages, make_pages, write_page

pytest.importorskip("matplotlib")


def flat(method: str, share: float) -> float:
    """Edges do not matter."""
    return 0.7


def hard(method: str, share: float) -> float:
    """Local random is better than LSP at a tenth of the edges, and no different at half of them."""
    shift = {0.1: -0.06, 0.5: -0.02}.get(share, 0.0)
    return level(method, share) + (shift if method.startswith("lsp-") else 0.0)


@pytest.fixture
def results(tmp_path) -> Path:
    folder = tmp_path / "results"
    records = [*comparison(), *comparison(dataset="pubmed", test=flat, val=flat), *comparison(dataset="cs", test=hard)]
    save(records, folder / "compare.jsonl")
    save(
        [*comparison(dataset="zinc", study="compare-graphs", seeds=3, mae=True, shares=(0.1, 0.25, 0.5))],
        folder / "compare-graphs.jsonl",
    )
    save(comparison(study="cora", ks=(1, 3), shares=()), folder / "cora.jsonl")
    return folder


def part(text: str, begin: str, end: str) -> str:
    return text[text.index(begin) :].split(end, 1)[0]


def row(text: str, first: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in line.split("|")[2:-1]]


def text_of(pages: Pages) -> str:
    """The pages behind the summary, as one text."""
    return pages.texts["comparison.md"] + "\n" + pages.texts["by-dataset.md"]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_summary_has_levels_verdicts_and_shares(results):
    text = part(text_of(make_pages(results)), "## Summary", "## Where")
    verdicts, shares = text.split("\n\n")[1:3]
    cora = row(verdicts, "[cora](by-dataset.md#compare-cora)")
    assert cora == [
        "accuracy", "0.800", "0.600", "yes", "lsp-projection", "0.728", "0.764", "better", "better", "0.740", "0.770",
        "better", "better",
    ]  # fmt: skip
    assert row(verdicts, "[pubmed](by-dataset.md#compare-pubmed)")[3] == "not clearly"
    assert row(verdicts, "[cs](by-dataset.md#compare-cs)")[7:9] == ["worse", "worse"]
    zinc = row(verdicts, "[zinc](by-dataset.md#compare-graphs-zinc)")
    assert (zinc[0], zinc[3], zinc[7:9]) == ("mae", "yes", ["better", "better"])
    assert [line.split("]")[0] for line in verdicts.splitlines()[2:]] == ["| [cora", "| [pubmed", "| [cs", "| [zinc"]
    assert row(shares, "[cora](by-dataset.md#compare-cora)") == ["yes", "none", "none", "none", "1.00"]
    assert row(shares, "*mean where topology matters*")[-1] == "1.00 (3)"  # not pubmed


def test_shares_that_were_not_run_stay_empty_in_the_summary(tmp_path):
    save(comparison(shares=(0.104, 0.3, 0.5)), tmp_path / "compare.jsonl")
    cells = row(text_of(make_pages(tmp_path)).split("\n\n")[3], "[cora](by-dataset.md#compare-cora)")
    assert all(cells[:9])
    assert cells[9:] == [""] * 4
    assert "says so" not in text_of(make_pages(tmp_path))


def test_other_shares_are_named_in_the_summary(tmp_path):
    save(comparison(shares=(), ks=(5, 8, 3)), tmp_path / "compare.jsonl")
    text = text_of(make_pages(tmp_path))
    cells = row(text.split("\n\n")[3], "[cora](by-dataset.md#compare-cora)")
    assert [cells[5], cells[6], cells[9], cells[10]] == [
        "0.744 at 30 %",
        "0.772 at 30 %",
        "0.760 at 50 %",
        "0.780 at 50 %",
    ]
    assert cells[7:9] == cells[11:] == ["better", "better"]
    assert "says so" in text


def test_where_lsp_does_not_help_is_said_in_words(results):
    text = part(text_of(make_pages(results)), "## Where LSP does not help", "## How")
    best = r"- \*\*cs\*\*: lsp-(?:projection|codebook)"
    assert re.search(rf"{best} is worse than k random neighbours at 10 % kept \(-2\.\d\d \[-.*\] points\)\n", text)
    assert re.search(rf"{best} does not clearly differ from k random neighbours at 50 % kept \(", text)
    assert "**pubmed**: the edges themselves do not clearly help" in text
    assert "**cora**" not in text and "**zinc**" not in text
    assert "against k random neighbours 14 better, 2 unclear, 2 worse" in text


def test_the_picture_of_the_readme_comes_first_if_it_has_runs(results):
    assert "results/accuracy.svg" not in make_pages(results).images
    methods = ("unpruned", "no-edges", "random", "local-random", "lsp-auto-labels")
    records = [
        record
        for name in ("computers", "facebook-pages", "cora")
        for record in comparison(dataset=name, study="choose", methods=methods)
    ]
    for record in records:
        record["run"]["model"] = "node-gat-skip"
    save(records, results / "choose.jsonl")
    page = make_pages(results)
    assert page.images["results/accuracy.svg"].startswith(b"<?xml")
    shown = part(page.texts["results.md"], "## In one picture", "## Do the edges matter?")
    assert "](results/accuracy.svg)" in shown and "*LSP.auto* is lsp-auto-labels of the study choose" in shown


def test_nowhere_is_said_too(tmp_path):
    save(comparison(), tmp_path / "compare.jsonl")
    assert "- nowhere in these results" in text_of(make_pages(tmp_path))


def test_the_mean_ratio_is_over_datasets_where_topology_matters(tmp_path):
    def falls(at):
        return lambda m, s: (
            0.5 if m == "no-edges" else 0.8 if s >= {"random": 0.5, "lsp-projection": at}.get(m, 1) else 0.6
        )

    methods = ("unpruned", "no-edges", "random", "lsp-projection")
    records = comparison(methods=methods, test=falls(0.1)) + comparison(dataset="cs", methods=methods, test=falls(0.25))
    save([*records, *comparison(dataset="pubmed", methods=methods, test=flat)], tmp_path / "compare.jsonl")
    text = part(text_of(make_pages(tmp_path)), "## Lossless shares", "## Datasets")
    assert row(text, "lsp-projection") == ["10 % (0.20)", "25 % (0.50)", "10 % (1.00)", "0.35 (2)"]
    assert row(text, "*best LSP*") == row(text, "lsp-projection")


def test_the_smallest_share_stands_beside_that_of_the_lsp_which_validation_chooses(tmp_path):
    reach = {"random": 0.5, "lsp-projection": 0.25, "lsp-codebook": 0.1}

    def falls(method, share):
        return 0.5 if method == "no-edges" else 0.8 if share >= reach.get(method, 1) else 0.6

    def val(method, share):
        return 0.9 if method == "lsp-projection" else 0.5

    methods = ("unpruned", "no-edges", "random", "lsp-projection", "lsp-codebook")
    save(comparison(methods=methods, test=falls, val=val), tmp_path / "compare.jsonl")
    text = part(text_of(make_pages(tmp_path)), "## Lossless shares", "## Datasets")
    assert row(text, "*best LSP*") == ["25 % (0.50)", "0.50 (1)"]
    assert row(text, "*smallest of the LSPs* ‡") == ["10 % (0.20)", "0.20 (1)"]


def test_the_edges_that_the_calibrated_one_needs_are_shown_where_it_was_run(tmp_path):
    save(comparison(), tmp_path / "compare.jsonl")
    assert "### Edges for the same accuracy" not in text_of(make_pages(tmp_path))
    save(comparison(methods=("unpruned", "no-edges", "random", "lsp-auto-hash")), tmp_path / "compare.jsonl")
    text = part(text_of(make_pages(tmp_path)), "### Edges for the same accuracy", "## Where LSP")
    assert row(text, "[cora](by-dataset.md#compare-cora)") == ["lsp-auto-hash", "10 % for 25 %; 10 % for 50 %", "0.30"]


def test_a_method_run_at_few_shares_is_compared_by_its_side_and_has_no_lossless_share(tmp_path):
    usual = comparison(methods=("unpruned", "no-edges", "random", "local-random", "lsp-projection"))
    save([*usual, *comparison(methods=(lsp("mine", side="out"),), shares=(0.25,))], tmp_path / "compare.jsonl")
    text = text_of(make_pages(tmp_path))
    sides = part(text, "## Who decides on an edge", "## Where")
    assert row(sides, "[cora](by-dataset.md#compare-cora)")[:2] == ["mine", "lsp-projection"]
    assert "mine" not in part(text, "## Lossless shares", "## Datasets")
    save(usual, tmp_path / "compare.jsonl")
    assert "## Who decides" not in text_of(make_pages(tmp_path))


def test_the_best_lsp_is_chosen_by_validation(tmp_path):
    def lucky(method, share):
        return level(method, share) + (0.03 if method == "lsp-codebook" else 0)

    def chosen(method, share):
        return level(method, share) + (0.01 if method == "lsp-projection" else 0)

    save(comparison(test=lucky, val=chosen), tmp_path / "compare.jsonl")
    text = text_of(make_pages(tmp_path))
    assert row(text.split("\n\n")[3], "[cora](by-dataset.md#compare-cora)")[4] == "lsp-projection"
    assert "Best LSP by validation: lsp-projection." in text


def test_every_dataset_has_its_section_and_every_image_is_there(results, tmp_path):
    written = write_page(results, tmp_path / "docs")
    texts = {path.name: path.read_text(encoding="utf8") for path in (tmp_path / "docs").glob("*.md")}
    text = texts["by-dataset.md"]
    for name in ("cora", "pubmed", "cs", "zinc"):
        section = text.split(f"\n### {name}\n", 1)[1].split("\n### ", 1)[0]
        for piece in (
            "- unpruned:",
            "- topology matters:",
            "![Test ",
            "All methods",
            "against random baselines",
            "ry>Time",
        ):
            assert piece in section, (name, piece)
    assert "### Study cora" in text and "](../results/README.md)" not in text
    shown = {path for page in texts.values() for path in re.findall(r"!\[[^]]*\]\((results/[^)]*)\)", page)}
    there = {f"results/{path.name}" for path in (tmp_path / "docs" / "results").iterdir()}
    assert shown == there == {str(path.relative_to(tmp_path / "docs")) for path in written[:-3]}
    linked = set(re.findall(r"\]\(by-dataset\.md#([^)]*)\)", texts["comparison.md"]))
    assert linked and linked <= set(re.findall(r'<a id="([^"]*)">', text))
    assert [path.name for path in written[-3:]] == ["comparison.md", "by-dataset.md", "results.md"]
    assert set(texts) == {path.name for path in written[-3:]}


def test_the_same_results_give_the_same_bytes(results, tmp_path):
    for name in ("a", "b"):
        write_page(results, tmp_path / name)
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")
    write_page(results, tmp_path / "a")
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")


def test_notes_come_first_as_they_are_and_readme_is_linked(results):
    (results / "notes.md").write_text("By hand: *a < b* | c\n", encoding="utf8")
    (results / "README.md").write_text("tables")
    text = text_of(make_pages(results, "../my%20results"))
    assert text.index("By hand: *a < b* | c\n") < text.index("## Summary")
    assert "(../my%20results/README.md)" in text


def test_names_cannot_break_out(tmp_path):
    bad = 'x|<img src=x onerror="alert(1)">'
    records = comparison(dataset=bad)
    for record in records:
        if record["run"]["method"] == "lsp-codebook":
            record["run"]["method"] = f"lsp-{bad}"
    save(records, tmp_path / "compare.jsonl")
    save([{**record, "key": f"s{record['key']}"} for record in records], tmp_path / "a'b.jsonl")
    made = make_pages(tmp_path)
    assert "<img" not in text_of(made)
    assert all(re.fullmatch(r"results/[a-z0-9-]+\.svg", name) for name in made.images)
    tables = [block for block in text_of(made).split("\n\n") if block.startswith("| ")]
    assert len(tables) > 4
    for block in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block


@pytest.mark.parametrize(
    "methods",
    [
        ("unpruned",),
        ("lsp-projection",),
        ("random", "cosine"),
        ("unpruned", "no-edges", "dropedge"),
        METHODS[2:],
        ("no-edges", "lsp-projection"),
    ],
    ids=str,
)
@pytest.mark.parametrize("seeds", [1, 2])
def test_whatever_is_there_gets_a_page(tmp_path, methods, seeds):
    for study in ("compare", "citeseer"):
        save(comparison(methods=methods, seeds=seeds, study=study, ks=(2,), shares=(0.1,)), tmp_path / f"{study}.jsonl")
    text = text_of(make_pages(tmp_path))
    assert not re.search(r"\bnan\b", text)
    assert "### Study citeseer" in text
    pairs = {"random", "local-random"} & set(methods) and any(name.startswith("lsp-") for name in methods)
    assert ("against random baselines, points" in text) == bool(pairs)
    assert "None" not in text


def test_without_a_comparison_the_single_studies_are_shown(results):
    for name in ("compare", "compare-graphs"):
        (results / f"{name}.jsonl").unlink()
    made = make_pages(results)
    assert "has not been run yet" in text_of(made) and "## Summary" not in text_of(made)
    assert list(made.images) == ["results/cora.svg"]


def test_a_study_of_shared_budgets_has_their_gains(tmp_path):
    methods = ("unpruned", "no-edges", "local-random", "lsp-projection", "shared-lsp-projection")
    save(comparison(dataset="acm", study="hetero", methods=methods), tmp_path / "hetero.jsonl")
    section = text_of(make_pages(tmp_path)).split("### Study hetero", 1)[1]
    assert "| acm | shared-lsp-projection | lsp-projection | 10 %: " in section
    save(comparison(dataset="acm", study="hetero"), tmp_path / "hetero.jsonl")
    assert "A budget that all relations share" not in text_of(make_pages(tmp_path))


def test_targets_of_a_study_share_a_figure(tmp_path):
    records = []
    for target in ("gap", "mu"):
        for record in comparison(dataset="qm9", study="qm9", mae=True):
            record["run"]["target"] = target
            records.append({**record, "key": f"{target}{record['key']}"})
    made = make_pages(save(records, tmp_path / "qm9.jsonl").parent)
    assert list(made.images) == ["results/qm9.svg"]
    assert "**qm9, gap**" in text_of(made) and "**qm9, mu**" in text_of(made)


def test_shared_devices_give_no_times(tmp_path):
    save(comparison(jobs=4), tmp_path / "compare.jsonl")
    section = text_of(make_pages(tmp_path)).split("<summary>Time", 1)[1]
    assert "The times of epochs do not compare: up to 4 runs shared the device" in section
    assert "| lsp-projection | 0.500 |\n" in section


def test_trials_and_measurements_are_left_out(results):
    before = make_pages(results)
    save(comparison(dataset="trial"), results / "compare-smoke.jsonl")
    assert make_pages(results) == before
    save([{**r, "variance": {"1": 2.0}} for r in comparison(seeds=1)], results / "neighbourhood-variance.jsonl")
    after = make_pages(results)
    assert after.images == before.images
    assert {name for name, text in after.texts.items() if text != before.texts.get(name)} <= {"paper.md"}  # Figure 6


def test_consistency_has_a_section_with_a_table_and_a_figure(results):
    save(overlaps(), results / "consistency.jsonl")
    made = make_pages(results)
    section = part(text_of(made), "## Do two samples keep the same edges?", "## Single studies")
    assert "(results/consistency-synthetic-small.svg)" in section
    assert made.images["results/consistency-synthetic-small.svg"].startswith(b"<?xml")
    assert row(section, "method") == ["k = 1, 11 %", "k = 3, 33 %"]
    assert row(section, "lsp-codebook-edge")[1].startswith("0.560 [0.55")
    assert "### Study consistency" not in text_of(made)  # nothing was trained
    alone = make_pages(save(overlaps(), results.parent / "alone" / "consistency.jsonl").parent)
    assert section.strip() in text_of(alone)


def test_nothing_to_show_is_one_error_and_nothing_is_written(tmp_path):
    for folder in (tmp_path / "empty", tmp_path / "absent"):
        with pytest.raises(OptionError, match="results must be"):
            write_page(folder, tmp_path / "docs")
    assert not (tmp_path / "docs").exists()


def test_a_damaged_line_is_one_error_and_the_old_page_stays(results, tmp_path):
    write_page(results, tmp_path / "docs")
    before = snapshot(tmp_path / "docs")
    lines = (results / "cora.jsonl").read_text().splitlines()
    (results / "cora.jsonl").write_text("\n".join([lines[0], lines[1][:50], *lines[2:]]) + "\n")
    with pytest.raises(FormatError, match=r"cora\.jsonl, line 2 is damaged"):
        write_page(results, tmp_path / "docs")
    assert snapshot(tmp_path / "docs") == before


def test_a_figure_that_fails_leaves_the_old_page(results, tmp_path, monkeypatch):
    write_page(results, tmp_path / "docs")
    before = snapshot(tmp_path / "docs")
    save(comparison(seeds=2), results / "compare.jsonl")

    def fail(_: object) -> bytes:
        raise MissingDependency("no matplotlib")

    monkeypatch.setattr(figure_files, "to_svg", fail)
    with pytest.raises(MissingDependency):
        write_page(results, tmp_path / "docs")
    assert snapshot(tmp_path / "docs") == before


def test_two_studies_with_the_same_dataset_are_told_apart(tmp_path):
    for study in ("compare", "compare-again"):
        save(comparison(study=study), tmp_path / f"{study}.jsonl")
    text = text_of(make_pages(tmp_path))
    assert "### cora (compare)" in text and "### cora (compare-again)" in text


def test_names_that_are_alike_get_images_of_their_own(tmp_path):
    save([*comparison(dataset="a b"), *comparison(dataset="a|b")], tmp_path / "compare.jsonl")
    assert list(make_pages(tmp_path).images) == ["results/compare-a-b.svg", "results/compare-a-b-2.svg"]


def test_a_dataset_of_two_comparisons_counts_once_where_it_has_most_shares(results):
    more = comparison(shares=(0.1, 0.25, 0.5, 0.75))
    save([*more, *comparison(dataset="cs", test=hard)], results / "compare.jsonl")
    before = text_of(make_pages(results))
    save(comparison(study="compare-seeds", shares=(0.1, 0.25, 0.5)), results / "compare-seeds.jsonl")
    text = part(text_of(make_pages(results)), "## Summary", "## Where")
    assert "[cora (compare)](by-dataset.md#compare-cora)" in text.split("\n\n")[1]
    assert "compare-seeds" not in text.split("\n\n")[1]
    mean = [row(part(page, "## Summary", "## Where").split("\n\n")[2], "*mean where topology matters*")[-1]
            for page in (before, text_of(make_pages(results)))]  # fmt: skip
    assert mean[0] == mean[1]
    assert '<a id="compare-seeds-cora"></a>' in text_of(make_pages(results))
