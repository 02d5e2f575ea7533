"""The report in a real browser: what it opens with, names that are explained, views in the address. Needs Chromium."""

from __future__ import annotations

import pytest

# What a page opens with


def test_the_page_opens_on_the_verdicts(open_page, report):
    opened = open_page(report, width=1400)
    page = opened.page
    assert page.locator("#glance h2").bounding_box()["y"] < 300
    assert page.locator(".verdicts li").count() == 4  # cora, pubmed, photo, zinc
    assert page.locator(".verdicts li").first.is_visible()
    assert page.locator("#comparison-title").inner_text() == "cora"
    assert page.locator(".card .thumbnail svg").count() == page.locator(".card").count() == 4
    assert page.locator(".card .thumbnail polyline").count() > 8


def test_lines_at_first_differ_in_colour_and_all_lines_in_marker_or_dash(opened):
    page = opened.page
    look = "one => [one.querySelector('.line').getAttribute('class'), one.querySelector('path').outerHTML]"
    entries = page.locator('#legend [data-entry^="method:"] svg').evaluate_all(f"all => all.map({look})")
    assert len({tuple(entry) for entry in entries}) == len(entries) == 10
    shown = page.locator('#legend > .row [data-entry^="method:"] .line')
    colours = shown.evaluate_all("all => all.map(one => getComputedStyle(one).stroke)")
    assert len(set(colours)) == len(colours) == 7


def test_errors_are_better_when_they_are_lower(opened):
    page = opened.page
    page.select_option("#study", "compare-graphs")
    assert page.locator("#main-chart .title").text_content() == "Test MAE (lower is better ↓)"
    page.locator('#main-chart [data-series="lsp-projection"][data-index="0"]').hover(force=True)
    assert opened.tip()[-1] == "0.0368 above the unpruned mean (worse)"
    better = "differenceText(0.2, 0.25, false) + differenceText(0.3, 0.25, false) + differenceText(0.3, 0.25, true)"
    said = (
        "0.0500 below the unpruned mean (better)",
        "0.0500 above the unpruned mean (worse)",
        "0.0500 above the unpruned mean (better)",
    )
    assert page.evaluate(better) == "".join(said)
    assert page.evaluate("differenceText(0.2, 0.2, true)") == "the same as the unpruned mean"


# What methods do


def test_a_name_is_explained_on_hover_and_by_the_keyboard(opened):
    page, bubble = opened.page, opened.page.locator("#about")
    assert bubble.is_hidden()
    page.locator('#legend [data-entry="method:lsp-projection"]').hover()
    assert "random projection of the attributes" in bubble.inner_text()
    page.mouse.move(0, 0)
    assert bubble.is_hidden()
    page.locator(".verdicts .term").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert bubble.inner_text().startswith("Locality-sensitive pruning. Hash: ")
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "about"
    page.keyboard.press("Escape")
    assert bubble.is_hidden()


def test_the_methods_of_the_plot_are_listed_with_what_they_do(opened):
    page = opened.page
    page.locator(".glossary summary").click()
    assert "Locality-sensitive pruning" in page.locator("#glossary").inner_text()
    page.locator('#legend [data-entry="method:random"]').click()
    assert page.locator("#glossary dt").all_text_contents() == ["random"]
    assert page.locator("#methods dt").count() > 10


# Views in the address


def address(opened, part: str) -> None:
    """Wait until the address holds a part."""
    opened.page.wait_for_function("part => decodeURIComponent(location.hash).includes(part)", arg=part)


def test_an_address_restores_its_view(open_page, report):
    view = "#study=compare&dataset=photo&metric=val&log=no&view=table&line=method%3Arandom&line=level%3Aunpruned"
    opened = open_page(report, view=view)
    page = opened.page
    assert page.locator("#comparison-title").inner_text() == "photo"
    assert page.locator("#metric").input_value() == "val"
    assert not page.locator("#log").is_checked() and page.locator("#table").is_visible()
    assert opened.lines() == {"random", "unpruned"}
    assert page.evaluate("scrollY") > 100  # at what the address names
    assert page.locator("#study").evaluate("one => one.getBoundingClientRect().top") < 300
    assert opened.problems() == []


@pytest.mark.parametrize(
    "view", ["#study=compare-graphs", "#study=nothing&dataset=<b>", "#line=x&only=y&metric=z&side=q"]
)
def test_a_part_of_a_view_or_a_wrong_one_is_no_error(open_page, report, view):
    opened = open_page(report, view=view)
    assert opened.page.locator("#comparison-title").inner_text() == ("zinc" if "graphs" in view else "cora")
    assert opened.page.locator("#main-chart svg").count() == 1
    assert opened.problems() == []


def test_what_is_chosen_is_in_the_address_and_the_back_button_undoes_it(opened):
    page = opened.page
    page.select_option("#dataset", "pubmed")
    address(opened, "study=compare&dataset=pubmed")
    page.locator('#legend [data-entry="method:random"]').click()
    address(opened, "only=method:random")
    page.select_option("#sizes-hops", "1")
    address(opened, "sizes-hops=1&at=sizes")
    page.go_back()
    assert page.locator("#sizes-hops").input_value() == "3"
    assert "lsp-projection" not in opened.lines()
    page.go_back()
    assert "lsp-projection" in opened.lines()
    page.go_back()
    assert page.locator("#comparison-title").inner_text() == "cora"
    page.go_forward()
    assert page.locator("#comparison-title").inner_text() == "pubmed"
    assert opened.problems() == []


def test_verdicts_cards_and_sections_are_links(opened):
    page = opened.page
    page.locator(".verdicts a").get_by_text("zinc").click()
    assert page.locator("#comparison-title").inner_text() == "zinc"
    assert page.evaluate("location.hash") == "#study=compare-graphs"
    assert page.evaluate("scrollY") > 100
    page.locator("nav").get_by_text("Consistency").click()
    assert page.evaluate("location.hash") == "#study=compare-graphs&at=consistency"
    assert 0 <= page.locator("#consistency").bounding_box()["y"] < 150
    page.locator('[data-card="compare"]').click()
    assert page.locator("#comparison-title").inner_text() == "cora"
    page.go_back()
    assert page.locator("#comparison-title").inner_text() == "zinc"
    assert opened.problems() == []


def test_tables_and_other_sections_are_restored_too(open_page, report):
    view = "#sizes-hops=1&sizes-only=method%3Arandom&consistency-view=table&consistency-line=method%3Afirst"
    page = open_page(report, view=f"{view}&hood-k=3&at=sizes").page
    assert page.locator("#sizes-hops").input_value() == "1" and page.locator("#hood-k").input_value() == "3"
    assert page.locator("#sizes-chart polyline.line").count() == 1
    assert page.locator("#consistency-table tbody tr").count() == 2
    assert 0 <= page.locator("#sizes").bounding_box()["y"] < 150
