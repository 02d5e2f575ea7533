"""The report in a real browser: opened from disk, used by mouse and keys, attacked by names. Needs Chromium."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from statistics import fmean

import pytest
from lab_records import comparison, save
from paper_records import runs, theirs
from report_records import XSS, attacks

from lsprune.lab.reporting.html.neighbourhood import neighbourhood_data
from lsprune.lab.reporting.records import read_records
from lsprune.lab.reporting.statistics import estimate

# Every panel with all its lines, its table, its lines alone, and the tip of its last line.
LOOK_AROUND = """() => [...document.querySelectorAll("[data-comparison]")].map((button) => {
  button.click();
  document.querySelector("#legend .presets button:nth-child(2)").click();
  document.querySelector("#view-table").click();
  document.querySelector("#view-chart").click();
  for (const entry of document.querySelectorAll("#legend [data-entry]")) { entry.click(); entry.click(); }
  document.querySelector("#main-chart svg").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp" }));
  return document.querySelector("#main-chart .tooltip strong").textContent;
})"""


def values_of(report: Path, method: str, keep: float | None, dataset: str = "cora") -> list[float]:
    found = [(r["run"], r["test"]) for r in read_records(report.parent / "results" / "compare.jsonl")]
    return [t for run, t in found if (run["dataset"], run["method"], run["keep"]) == (dataset, method, keep)]


# What is shown


def test_everything_can_be_chosen_without_an_error_or_a_request(opened):
    page = opened.page
    for select in page.locator("select:visible").all():
        values = select.locator("option").evaluate_all("all => all.map(one => one.value)")
        for value in [*values, values[0]]:
            select.select_option(value)
    for number in range(page.locator("button, input").count()):  # by script: what one opens may cover another
        page.evaluate("number => [...document.querySelectorAll('button, input')][number]?.click()", number)
    opened.drawn()
    assert opened.problems() == []


def test_a_hovered_value_is_that_of_the_lines(opened, report):
    page = opened.page
    for method, index, keep in (("lsp-projection", 1, 0.25), ("random", 0, 0.1), ("local-random", 2, 0.5)):
        page.locator(f'#legend [data-entry="method:{method}"]').click()  # alone, so that no other point is nearer
        page.locator(f'#main-chart [data-series="{method}"][data-index="{index}"]').hover()
        values = values_of(report, method, keep)
        one = estimate(values)
        assert opened.tip() == [
            method,
            f"{100 * keep:g} % of edges kept",
            f"{fmean(values):.4f} [{one.low:.4f}, {one.high:.4f}]",
            "5 runs, 95 % interval",
            f"{fmean(values_of(report, 'unpruned', None)) - fmean(values):.4f} below the unpruned mean (worse)",
        ]
        page.locator(f'#legend [data-entry="method:{method}"]').click()


def test_another_dataset_and_another_study_are_another_plot(opened, report):
    page = opened.page
    heading = page.locator("#main-chart svg")
    assert "cora" in heading.get_attribute("aria-label")
    page.select_option("#dataset", "pubmed")
    assert "pubmed" in heading.get_attribute("aria-label")
    page.locator('#legend [data-entry="method:lsp-codebook"]').click()
    page.locator('#main-chart [data-series="lsp-codebook"][data-index="1"]').hover()
    assert opened.tip()[2].startswith(f"{fmean(values_of(report, 'lsp-codebook', 0.4, 'pubmed')):.4f} ")
    page.select_option("#study", "compare-graphs")
    assert page.locator("#dataset").input_value() == "zinc"
    assert "MAE" in page.locator("#main-chart .title").text_content()
    assert opened.problems() == []


def test_another_metric_is_another_level(opened):
    page = opened.page
    level = "#main-chart .level-unpruned"
    page.locator("#main-chart").scroll_into_view_if_needed()
    said = []
    for metric in ("test", "test_max"):
        page.select_option("#metric", metric)
        box = page.locator(level).bounding_box()
        page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
        said.append(opened.tip())
    assert [one[0] for one in said] == ["unpruned", "unpruned"]
    assert [one[1].split(" ")[0] for one in said] == ["0.8000", "0.8100"]


def test_methods_are_switched_on_and_off(opened):
    page = opened.page
    assert "lsp-projection" in opened.lines() and "low-degree" not in opened.lines()
    page.locator("#legend").get_by_label("Show lsp-projection", exact=True).uncheck()
    assert "lsp-projection" not in opened.lines()
    page.locator("#legend summary").last.click()
    page.locator("#legend").get_by_label("Show low-degree", exact=True).check()
    assert "low-degree" in opened.lines()
    page.locator("#legend").get_by_text("References only").click()
    assert opened.lines() == {"unpruned", "no edges", "basic model (plain averaging), whole graph"}
    page.locator("#legend").get_by_text("All", exact=True).click()
    assert {"lsp-projection", "low-degree", "dropedge"} <= opened.lines()


def test_a_line_is_isolated_and_restored(opened):
    before = opened.lines()
    levels = {"unpruned", "no edges", "basic model (plain averaging), whole graph"}
    entry = opened.page.locator('#legend [data-entry="method:lsp-codebook"]')
    entry.click()
    assert opened.lines() == {"lsp-codebook", *levels}
    assert entry.get_attribute("aria-pressed") == "true"
    entry.click()
    assert opened.lines() == before


def test_the_papers_points_are_a_layer(opened):
    paper = {"random, paper", "LSP-P, paper", "LSP-T, paper", "basic, paper"}
    assert paper <= opened.lines()
    opened.page.uncheck("#paper")
    assert not paper & opened.lines()
    opened.page.select_option("#dataset", "pubmed")  # the switch stays off
    assert not paper & opened.lines()


def test_times_are_shown_where_they_compare_and_explained_where_not(opened):
    page = opened.page
    page.uncheck("#paper")
    page.locator('#train-chart [data-series="lsp-projection"][data-index="0"]').hover(force=True)
    assert opened.tip("#train-chart")[1:] == ["10 % of edges kept", f"{0.2 / 1.1:.4f} of the unpruned time"]
    assert not page.locator("#times-note").is_visible()
    page.select_option("#dataset", "pubmed")
    assert page.locator("#times-note").is_visible()
    assert "up to 4 runs shared the device" in page.locator("#times-note").inner_text()
    assert page.locator("#train-chart svg").count() == 0


def test_the_recommendation_is_in_words_and_in_the_plot(opened, report):
    page = opened.page
    assert "No share measured comes within half a point" in page.locator("#recommendation").inner_text()
    assert "clearly worse" in page.locator("#recommendation").inner_text()
    assert page.locator("#trade-chart .recommended").count() == 0
    page.select_option("#dataset", "photo")
    text = "Keep 25 % with lsp-projection: ±0 points, 3.1× faster training"
    assert page.locator("#recommendation strong").inner_text() == text
    assert (
        "Keep 25 % with lsp-projection; accuracy 0.800 against 0.800 unpruned" in page.locator("#glance").inner_text()
    )
    page.locator("#trade-chart").scroll_into_view_if_needed()
    ring = page.locator("#trade-chart .recommended").bounding_box()
    page.mouse.move(ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2)
    assert opened.tip("#trade-chart")[1] == "25 % of edges kept"
    assert opened.tip("#trade-chart")[2].startswith(f"{fmean(values_of(report, 'lsp-projection', 0.25, 'photo')):.4f} ")
    assert "0.3500 s per epoch" in opened.tip("#trade-chart")
    page.select_option("#study", "compare-graphs")
    page.locator("#recommendation summary").click()
    assert "One run only" in page.locator("#recommendation").inner_text()


def test_short_epochs_are_in_milliseconds(open_page, tmp_path):
    from lsprune.lab.reporting import write_report

    quick = [{**one, "train_seconds_per_epoch": one["train_seconds_per_epoch"] / 100} for one in comparison()]
    save(quick, tmp_path / "compare.jsonl")
    found = open_page(write_report([tmp_path / "compare.jsonl"], tmp_path / "report.html").path)
    page = found.page
    assert "Milliseconds of a training epoch" in page.locator("#trade-chart text").all_text_contents()
    page.locator("#trade-chart").scroll_into_view_if_needed()
    page.locator('#trade-chart [data-series="lsp-projection"][data-index="0"]').hover(force=True)
    assert "2.0000 ms per epoch" in found.tip("#trade-chart")


def test_the_paper_and_ours_have_the_same_axes(opened):
    ticks = "all => all.map(one => one.textContent).filter(text => /^[0-9.]+( %)?$/.test(text))"
    for pair in (("#paper-chart", "#ours-chart"), ("#sizes-paper", "#sizes-ours")):
        first, second = (opened.page.locator(f"{one} text").evaluate_all(ticks) for one in pair)
        assert first == second and len(first) > 4


def test_neighbourhood_sizes_are_those_of_the_lines(opened):
    page = opened.page
    page.select_option("#sizes-hops", "3")
    page.locator('#sizes-legend [data-entry="method:random"]').click()
    page.locator('#sizes-chart [data-series="random"][data-index="1"]').hover(force=True)
    assert opened.tip("#sizes-chart")[:2] == ["random", "60 % of edges kept"]
    assert opened.tip("#sizes-chart")[2].startswith("600.500 ")


def test_overlaps_are_those_of_the_lines(opened, report):
    page, chart = opened.page, "#consistency-chart"
    assert page.locator(f"{chart} svg [data-line]").count() == 3
    found = [(r["run"], r["overlap"]) for r in read_records(report.parent / "results" / "consistency.jsonl")]
    for method, index, k in (("lsp-codebook-edge", 1, 3), ("random", 0, 1), ("first", 1, 3)):
        entry = page.locator(f'#consistency-legend [data-entry="method:{method}"]')
        entry.click()
        assert page.locator(f"{chart} svg [data-line]").count() == 1
        page.locator(f'{chart} [data-series="{method}"][data-index="{index}"]').hover(force=True)
        values = [value for run, value in found if (run["method"], run["k"]) == (method, k)]
        one = estimate(values)
        assert opened.tip(chart) == [
            method,
            f"{11 * k} % of edges kept, k = {k}",
            f"{fmean(values):.4f} [{one.low:.4f}, {one.high:.4f}]",
            "3 runs, 95 % interval",
        ]
        entry.click()
    assert opened.problems() == []


def test_overlaps_are_a_table_and_csv_too(opened):
    page = opened.page
    page.click("#consistency-view-table")
    assert not page.locator("#consistency-chart").is_visible()
    page.locator("#consistency-legend").get_by_label("Show random", exact=True).uncheck()
    rows = page.locator("#consistency-table tr").evaluate_all(
        "all => all.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    assert [row[0] for row in rows] == ["line", "lsp-codebook-edge", "lsp-codebook-edge", "first", "first"]
    assert rows[0][1:] == ["edges kept", "overlap", "low", "high", "runs"]
    assert (rows[2][1:3], rows[2][5:]) == (["0.33", "0.56"], ["3"])
    with page.expect_download() as waiting:
        page.click("#consistency-csv")
    assert waiting.value.suggested_filename == "consistency-synthetic-small.csv"
    text = Path(waiting.value.path()).read_text(encoding="utf8")
    assert list(csv.reader(io.StringIO(text))) == rows
    page.click("#consistency-view-chart")
    assert page.locator("#consistency-chart svg").is_visible()
    assert opened.problems() == []


def test_a_report_without_measurements_has_no_place_for_them(open_page, report, tmp_path):
    from lsprune.lab.reporting import write_report

    alone = write_report([report.parent / "results" / "compare.jsonl"], tmp_path / "r.html").path
    opened = open_page(alone)
    assert not opened.page.locator("#consistency").is_visible()
    assert opened.problems() == []


# The table


def test_the_csv_is_the_table_and_the_table_the_lines(opened, report):
    page = opened.page
    page.click("#view-table")
    assert not page.locator("#main-chart").is_visible()
    rows = page.locator("#table tr").evaluate_all("all => all.map(row => [...row.cells].map(cell => cell.textContent))")
    with page.expect_download() as waiting:
        page.click("#csv")
    assert waiting.value.suggested_filename == "compare-cora-test.csv"
    text = Path(waiting.value.path()).read_text(encoding="utf8")
    assert list(csv.reader(io.StringIO(text))) == rows
    (row,) = [row for row in rows if row[:2] == ["lsp-projection", "0.25"]]
    one = estimate(values_of(report, "lsp-projection", 0.25))
    assert [float(cell) for cell in row[2:6]] == pytest.approx([one.mean, one.low, one.high, 5], abs=1e-6)
    assert float(row[6]) == pytest.approx(0.35 / 1.1, rel=1e-5)
    assert opened.problems() == []


def test_a_formula_in_a_name_is_no_formula_in_the_csv(opened):
    found = opened.page.evaluate("csvText([['=1+1', 0.5, -0.25, null, null, 1, null, null, null], ['a,\"b', 1, 1]])")
    assert found.splitlines()[1:] == ["'=1+1,0.5,-0.25,,,1,,,", '"a,""b",1,1']


# Keys


def test_the_keyboard_reaches_all_controls_and_changes_them(opened):
    page = opened.page
    page.locator(".card").last.focus()
    order = []
    for _ in range(16):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id || document.activeElement.closest('.chart')?.id || ''"))
    wanted = ["study", "dataset", "metric", "paper", "log", "view-chart", "view-table", "main-chart"]
    assert [name for name in order if name in wanted] == wanted
    assert page.locator("#main-chart svg").get_attribute("tabindex") == "0"  # Chromium would not need it, others do
    page.locator("#dataset").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#dataset").input_value() == "pubmed"
    assert "pubmed" in page.locator("#main-chart svg").get_attribute("aria-label")
    page.locator("#paper").focus()
    page.keyboard.press("Space")
    assert not page.locator("#paper").is_checked()
    page.locator('#legend [data-entry="method:lsp-codebook"]').focus()
    page.keyboard.press("Enter")
    assert "random" not in opened.lines()
    assert page.evaluate("document.activeElement.dataset.entry") == "method:lsp-codebook"  # the focus is not lost


def test_arrow_keys_go_from_point_to_point(opened, report):
    page = opened.page
    page.locator('#legend [data-entry="method:random"]').click()
    page.locator("#recommendation summary").focus()
    page.keyboard.press("Tab")
    assert opened.tip()[0] == "unpruned"
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert opened.tip()[:2] == ["random", "10 % of edges kept"]
    page.keyboard.press("ArrowRight")
    assert opened.tip()[2].startswith(f"{fmean(values_of(report, 'random', 0.25)):.4f} ")
    page.keyboard.press("Escape")
    assert page.locator("#main-chart .tooltip").is_hidden()


def test_the_focus_can_be_seen(opened):
    page = opened.page
    page.locator("#theme").focus()
    page.keyboard.press("Tab")
    width = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert float(width.removesuffix("px")) >= 2


# Looks


def test_short_cells_of_the_papers_tables_stay_on_one_line(open_page, tmp_path):
    from lsprune.lab.reporting import write_report

    save(runs({**theirs("cora", "accuracy"), ("no-edges", 0.0): 0.7}), tmp_path / "cora.jsonl")
    opened = open_page(write_report([tmp_path / "cora.jsonl"], tmp_path / "report.html").path, width=400)
    tables = opened.page.locator("#figure-by-figure table")
    tables.evaluate_all(
        "all => all.forEach(one => { if (one.closest('details')) one.closest('details').open = true; })"
    )
    lines = """cells => cells.map(cell => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return new Set([...range.getClientRects()].map(box => Math.round(box.top / 8))).size;
    })"""
    for table in tables.all():
        columns = table.locator("thead th").count()
        if columns > 3:  # the others fit, or are text
            assert max(table.locator("td:not(.text)").evaluate_all(lines)) == 1
        else:
            assert table.evaluate("one => one.offsetWidth <= one.parentElement.clientWidth")
    assert tables.first.locator("td.text").count() == tables.first.locator("tbody tr").count()
    assert not opened.scrolls()


@pytest.mark.parametrize("width", [360, 700])
def test_a_small_screen_does_not_scroll_sideways(open_page, report, width):
    opened = open_page(report, width=width)
    assert not opened.scrolls()
    opened.page.click("#view-table")
    assert not opened.scrolls()
    opened.page.select_option("#study", "compare-graphs")
    assert not opened.scrolls()
    sizes = opened.page.locator("#sizes-chart text, #consistency-chart text").evaluate_all(
        "all => all.map(one => getComputedStyle(one).fontSize)"
    )
    assert set(sizes) == {"13px"}


def test_light_and_dark(open_page, report):
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = (open_page(report, color_scheme=scheme).page for scheme in ("light", "dark"))
    white, black = light.evaluate(ground), dark.evaluate(ground)
    assert white == "rgb(255, 255, 255)" != black
    light.click("#theme")
    dark.click("#theme")
    assert (light.evaluate(ground), dark.evaluate(ground)) == (black, white)
    assert light.locator("#theme").get_attribute("aria-pressed") == "true"
    light.click("#theme")
    assert light.evaluate(ground) == white


# The neighbourhood


def test_a_node_is_picked_and_its_edges_are_those_of_the_masks(opened):
    page, data = opened.page, neighbourhood_data()
    node = data["common"][2]
    page.locator(f'#hood-rows [data-node="{node}"]').first.click()
    assert page.locator("#hood-node").input_value() == str(node)
    for k in (1, 3):
        page.select_option("#hood-k", str(k))
        for method in data["methods"]:
            found = method["byK"][data["k"].index(k)]
            row = page.locator(f'[data-method="{method["name"]}"]')
            for i, sample in enumerate(data["samples"]):
                mine = [(s, x) for (s, t, _), x in zip(sample["edges"], found["mask"][i], strict=True) if t == node]
                arrows = row.locator("figure").nth(i).locator("[data-source]")
                drawn = arrows.evaluate_all("all => all.map(one => [Number(one.dataset.source), one.dataset.kept])")
                assert sorted(map(tuple, drawn)) == sorted((s, "yes" if x == "1" else "no") for s, x in mine)
            both, either = found["overlap"][str(node)]
            assert f"{both} of {either} kept edges" in row.inner_text()
    assert opened.problems() == []


# Attacks


def test_no_name_ever_runs(open_page, tmp_path):
    from lsprune.lab.reporting import write_report

    folder = tmp_path / "<img src=x onerror=window.__xss=1>"
    opened = open_page(write_report([attacks(folder)], tmp_path / "report.html").path)
    page = opened.page
    assert page.locator("#glance [data-comparison]").count() == len(XSS) == 40
    shown = set(page.locator(".verdicts h3 a").all_text_contents())
    assert shown == {f"{text}, {text}" for text in XSS}
    assert page.locator("#consistency-dataset option").count() == len(XSS)
    for number in range(len(XSS)):
        page.select_option("#consistency-dataset", index=number)
    tips = page.evaluate(LOOK_AROUND)
    assert len(tips) == len(XSS)
    assert set(tips) == set(XSS)  # the name is shown as it is
    page.locator('#main-chart [data-index="0"]').first.hover(force=True)
    assert not opened.scrolls()
    assert opened.problems() == []


@pytest.mark.parametrize(
    "attack",
    [
        "<script>window.__xss=1</script>",
        "<img src=x onerror=window.__xss=1>",
        "<a id=a href='javascript:window.__xss=1'>x</a>",
    ],
)
def test_the_policy_would_stop_a_script_that_got_in(open_page, report, tmp_path, attack):
    bad = tmp_path / "bad.html"
    bad.write_text(report.read_text(encoding="utf8").replace("<main>", f"<main>{attack}"), encoding="utf8")
    opened = open_page(bad)
    opened.page.evaluate("document.getElementById('a')?.click()")
    opened.drawn()
    assert opened.page.evaluate("typeof window.__xss") == "undefined"
    assert opened.page.evaluate("window.__blocked.length") > 0
    assert opened.page.locator("#main-chart svg").count() == 1  # and our own script still ran
