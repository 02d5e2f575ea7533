from __future__ import annotations

from itertools import combinations

import pytest

from lsprune.lab.reporting.method_styles import (
    AUTO_METHODS,
    PAPER_METHODS,
    SAMPLE_METHODS,
    SIZE_METHODS,
    STUDY_METHOD,
    UPPER_BOUND,
    group_of,
    in_order,
    is_lsp,
    page_style,
    print_styles,
)
from lsprune.lab.studies.methods import BUDGETED, NAMES


def test_every_method_that_is_named_here_exists():
    ours = [name for method in PAPER_METHODS.values() for name in method.ours]
    names = {*AUTO_METHODS, *SAMPLE_METHODS, *SIZE_METHODS, STUDY_METHOD, UPPER_BOUND, *ours}
    assert names <= set(BUDGETED)


@pytest.mark.parametrize(
    ("method", "group"),
    [("random", "random"), ("local-random", "random"), ("lsp-p", "lsp"), ("lsp-p-out", "lsp"), ("lsp-p-paper", "other"),
     ("lsp-t-published", "other"), ("cosine", "other"), ("local-random-out", "other")],
)  # fmt: skip
def test_groups(method, group):
    assert group_of(method) == group
    assert is_lsp(method) == (group == "lsp")


def test_unknown_methods_come_last():
    assert in_order(["zzz", "lsp-p", "aaa", "random"]) == ["random", "lsp-p", "aaa", "zzz"]


def test_styles_of_the_page_do_not_depend_on_what_else_was_run():
    lsp = [name for name in NAMES if is_lsp(name)]
    assert len({page_style(name) for name in lsp}) == len(lsp)
    first, sixth = (page_style(name) for name in (lsp[0], lsp[5]))
    assert first.shape != sixth.shape  # both are blue
    assert page_style("a method of a user") == page_style("a method of a user")


def test_no_two_lines_of_a_figure_look_alike():
    names = [name for name in BUDGETED if name != "dropedge"]
    ours = [name for name in names if name.startswith("lsp-")][:9]
    others = [name for name in names if not name.startswith("lsp-") and name not in ("random", "local-random")]
    for mine in combinations(ours, 3):
        for theirs in combinations(others, 2):
            methods = ["random", "local-random", *mine, *theirs]
            styles = print_styles(methods)
            assert list(styles) == methods
            assert len({style.color for style in styles.values()}) == len(methods)
    assert print_styles(["lsp-p"])["lsp-p"] == print_styles(["lsp-q", "lsp-p", "random"])["lsp-p"]


def test_many_unknown_names_have_their_own_styles():
    names = [f"lsp-{n}" for n in range(5)] + [f"x{n}" for n in range(6)]
    assert len({(style.color, style.marker) for style in print_styles(names).values()}) == len(names)
