from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from lab_records import as_method, lsp

from lsprune.lab.reporting.comparison import read_studies
from lsprune.lab.reporting.method_styles import (
    AUTO_METHODS,
    COLOURS,
    GROUP_LINES,
    HUES,
    MARKERS,
    PAPER_METHODS,
    PRINT_LINES,
    PRINT_MARKERS,
    SAMPLE_METHODS,
    SIZE_METHODS,
    STUDY_METHOD,
    UPPER_BOUND,
    group_of,
    in_order,
    page_styles,
    print_styles,
    prose_name,
    styles_of,
)
from lsprune.lab.studies.methods import Method, catalogue

ROOT = Path(__file__).resolve().parents[3]
WITH_BUDGET = [method for method in catalogue().values() if method.has_budget]


def test_every_method_that_is_named_here_exists():
    ours = [name for method in PAPER_METHODS.values() for name in method.ours]
    names = {*AUTO_METHODS, *SAMPLE_METHODS, *SIZE_METHODS, STUDY_METHOD, UPPER_BOUND, *ours}
    assert names <= {method.name for method in WITH_BUDGET}


@pytest.mark.parametrize(
    ("method", "group"),
    [("random", "random"), ("local-random", "random"), ("lsp-projection", "lsp"), ("lsp-auto-out", "lsp"),
     ("lsp-projection-paper", "other"), ("lsp-threshold-published", "other"), ("cosine", "other"),
     ("local-random-out", "other"), ("dropedge", "other"), (lsp("whatever"), "lsp"),
     (Method("lsp-of-a-user", {"pruner": "registered"}), "other")],
)  # fmt: skip
def test_groups_follow_from_the_options(method, group):
    assert group_of(as_method(method)) == group


def test_unknown_methods_come_last():
    names = ("zzz", "lsp-projection", "aaa", "random")
    assert [method.name for method in in_order(map(as_method, names))] == ["random", "lsp-projection", "aaa", "zzz"]


def test_a_random_choice_with_options_is_told_from_the_plain_one():
    plain, pairs = as_method("random"), Method("pairs", {"pruner": "random", "symmetric": "union"})
    assert group_of(plain) == group_of(pairs) == "random"
    page = page_styles([plain, pairs], ())
    assert page["random"] != page["pairs"]
    styles = print_styles([plain, pairs])
    assert styles["random"] != styles["pairs"]


def test_markers_and_lines_of_known_methods_are_the_same_everywhere():
    everywhere = styles_of(WITH_BUDGET, ())
    for method in WITH_BUDGET:
        (alone,) = styles_of([method], [method.name]).values()
        assert (alone.marker, alone.line) == (everywhere[method.name].marker, everywhere[method.name].line)


def test_no_two_methods_of_a_plot_share_a_style():
    """Lines differ in marker or dash without their colours; points without lines differ in marker or colour."""
    methods = [*WITH_BUDGET, *(lsp(f"mine{n}") for n in range(9)), *(as_method(f"x{n}") for n in range(9))]
    names = [method.name for method in methods]
    for drawn in ((), names, names[3:8], names[-6:], names[::7]):
        styles = styles_of(methods, drawn)
        assert list(styles) == names
        assert len({(style.marker, style.line) for style in styles.values()}) == len(names)
        assert len({(style.marker, style.colour) for style in styles.values()}) == len(names)


@pytest.mark.usefixtures("few_resamples")
def test_no_two_methods_of_our_own_results_share_a_style():
    for study in read_studies([ROOT / "results"]):
        for comparison in (*study.comparisons, *study.overlaps):
            methods = [comparison.defined[name] for name in comparison.methods]
            drawn = comparison.methods_to_draw() if methods and comparison in study.comparisons else []
            styles = page_styles(methods, drawn)
            assert len({(style.shape, style.line) for style in styles.values()}) == len(methods)
            assert len({styles[name].css for name in drawn}) == len(drawn)


def test_lines_that_are_drawn_at_first_differ_in_colour():
    ours = [method for method in WITH_BUDGET if group_of(method) == "lsp"][:9]
    others = [method for method in WITH_BUDGET if group_of(method) == "other" and not method.every_epoch]
    random = [as_method(name) for name in ("random", "local-random")]
    for mine in combinations(ours, 3):
        for theirs in combinations(others, 2):
            drawn = [*random, *mine, *theirs]
            page, styles = page_styles(drawn, [method.name for method in drawn]), print_styles(drawn)
            assert list(styles) == list(page) == [method.name for method in drawn]
            assert len({style.color for style in styles.values()}) == len(drawn)
            assert [COLOURS[style.css] for style in page.values()] == [style.color for style in styles.values()]
    projection, identity = as_method("lsp-projection"), as_method("lsp-identity")
    assert len({style.css for style in page_styles([projection, identity], ["lsp-identity"]).values()}) == 2


def test_page_and_print_know_every_marker_and_line():
    folder = ROOT / "src" / "lsprune" / "lab" / "reporting" / "html" / "static"
    css, shapes = (folder / "page.css").read_text(), (folder / "scales.js").read_text()
    for marker in (*MARKERS, "square", "cross"):
        assert marker in PRINT_MARKERS and f"\n  {marker}: (r) =>" in shapes
    for line in (line for lines in GROUP_LINES.values() for line in lines):
        assert line in PRINT_LINES and (line == "solid" or f".line.{line} " in css)


def test_the_papers_lines_differ_from_ours_and_from_each_other():
    """They differ in dash, marker and colour; their dashes are in the style sheet, and no method has one of them."""
    css = (ROOT / "src" / "lsprune" / "lab" / "reporting" / "html" / "static" / "page.css").read_text()
    styles = [PAPER_METHODS[name].style for name in ("random", "lsp-p", "lsp-t")]
    for part in ("css", "shape", "line"):
        assert len({getattr(style, part) for style in styles}) == len(styles)
    for line in {method.style.line for method in PAPER_METHODS.values()} - {"none"}:
        assert line not in PRINT_LINES and re.search(rf"\n\.line\.{line} {{ stroke-dasharray: ", css)
    shapes = {style.shape for style in page_styles([as_method("random"), as_method("local-random")], ()).values()}
    assert not shapes & {style.shape for style in styles}


# Colours

MACHADO = {  # how people without one kind of cones see linear RGB (Machado, Oliveira and Fernandes, 2009)
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
LMS = [[0.41222, 0.53633, 0.05145], [0.21190, 0.68070, 0.10740], [0.08830, 0.28172, 0.62998]]
OKLAB = [[0.21045, 0.79362, -0.00407], [1.97800, -2.42859, 0.45059], [0.02590, 0.78277, -0.80868]]


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def seen(colour: str) -> list[np.ndarray]:
    """Return a colour in OKLab, for normal vision and for three kinds of colour blindness."""
    rgb = linear(colour)
    kinds = [rgb, *(np.clip(np.array(matrix) @ rgb, 0, 1) for matrix in MACHADO.values())]
    return [np.array(OKLAB) @ np.cbrt(np.array(LMS) @ one) for one in kinds]


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def colours_of_the_page() -> list[dict[str, str]]:
    """Return the colours of the style sheet by name: light, and dark, which it has twice."""
    text = (ROOT / "src" / "lsprune" / "lab" / "reporting" / "html" / "static" / "page.css").read_text()
    blocks = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r"\{([^{}]*)\}", text)]
    light, dark, chosen = (block for block in blocks if "h0" in block)
    assert dark == chosen
    return [light, dark]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_colours_differ_with_any_colour_vision(dark):
    colours = colours_of_the_page()[dark]
    hues = [colours[name] for name in HUES]
    for one, other in combinations(hues, 2):
        normal, *blind = (100 * np.linalg.norm(a - b) for a, b in zip(seen(one), seen(other), strict=True))
        assert normal > 18 and min(blind) > 10, (one, other)
    assert all(contrast(colour, colours["page"]) >= 3 for colour in hues)


def test_figures_have_the_colours_of_the_light_page():
    light = colours_of_the_page()[0]
    assert {name: light[name.removeprefix("h-")] for name in COLOURS} == COLOURS


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (catalogue()["local-random"], "k random neighbours"),
        (catalogue()["random"], "random"),
        (catalogue()["unpruned"], "unpruned"),
        (Method("chance", {"pruner": "local-random"}), "chance"),
        (Method("local-random", {"pruner": "lsp"}), "local-random"),
    ],
)
def test_prose_has_a_name_for_the_baselines_and_keeps_that_of_a_study(method, name):
    assert prose_name(method) == name
