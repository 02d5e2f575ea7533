from __future__ import annotations

from itertools import combinations

import pytest
from lab_records import as_method, lsp

from lsprune.lab.reporting.method_styles import (
    AUTO_METHODS,
    PAPER_METHODS,
    SAMPLE_METHODS,
    SIZE_METHODS,
    STUDY_METHOD,
    UPPER_BOUND,
    group_of,
    in_order,
    page_style,
    print_styles,
)
from lsprune.lab.studies.methods import Method, catalogue

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


def test_styles_of_the_page_do_not_depend_on_what_else_was_run():
    ours = [method for method in WITH_BUDGET if group_of(method) == "lsp"]
    assert len({page_style(method) for method in ours}) == len(ours)
    first, sixth = (page_style(method) for method in (ours[0], ours[5]))
    assert first.shape != sixth.shape  # both are blue
    assert page_style(lsp("of a user")) == page_style(lsp("of a user"))


def test_similar_colours_of_the_page_have_different_markers():
    """Colours five apart look similar, and colours are used again after twelve."""
    ours = [page_style(method) for method in WITH_BUDGET if group_of(method) == "lsp"]
    for one, other in combinations(ours, 2):
        apart = abs(int(one.css[1:]) - int(other.css[1:]))
        assert apart not in (0, 5) or one.shape != other.shape


def test_a_random_choice_with_options_is_told_from_the_plain_one():
    plain, pairs = as_method("random"), Method("pairs", {"pruner": "random", "symmetric": "union"})
    assert group_of(plain) == group_of(pairs) == "random"
    assert page_style(plain) != page_style(pairs)
    styles = print_styles([plain, pairs])
    assert styles["random"] != styles["pairs"]


def test_no_two_lines_of_a_figure_look_alike():
    methods = [method for method in WITH_BUDGET if not method.every_epoch]
    ours = [method for method in methods if group_of(method) == "lsp"][:9]
    others = [method for method in methods if group_of(method) == "other"]
    random = [as_method(name) for name in ("random", "local-random")]
    for mine in combinations(ours, 3):
        for theirs in combinations(others, 2):
            drawn = [*random, *mine, *theirs]
            styles = print_styles(drawn)
            assert list(styles) == [method.name for method in drawn]
            assert len({style.color for style in styles.values()}) == len(drawn)
    projection, codebook = as_method("lsp-projection"), as_method("lsp-codebook")
    alone, among = print_styles([projection]), print_styles([codebook, projection, random[0]])
    assert alone["lsp-projection"] == among["lsp-projection"]


def test_many_unknown_names_have_their_own_styles():
    methods = [lsp(f"mine{n}") for n in range(5)] + [as_method(f"x{n}") for n in range(6)]
    assert len({(style.color, style.marker) for style in print_styles(methods).values()}) == len(methods)
