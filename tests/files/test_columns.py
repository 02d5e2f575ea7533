"""Columns of an edge list: the two ends by their usual names or the caller's, and messages that list what there is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lsprune.errors import FormatError
from lsprune.files.columns import END_NAMES, choose_ends, listed, need, refuse_repeated, row, rows_from, stack

FILE = Path("in.csv")


@pytest.mark.parametrize("ends", END_NAMES)
def test_usual_names_are_found_in_any_order(ends: tuple[str, str]) -> None:
    assert choose_ends(["w", ends[1], ends[0]], None, None, FILE) == ends


def test_the_first_pair_of_usual_names_wins_and_the_callers_wins_over_all() -> None:
    columns = ["s", "t", "source", "target", "a"]
    assert choose_ends(columns, None, None, FILE) == ("source", "target")
    assert choose_ends(columns, "a", "s", FILE) == ("a", "s")


def test_refused() -> None:
    with pytest.raises(FormatError, match=r"in\.csv: no columns a, b for the ends of an edge; it has 's', 't'"):
        choose_ends(["s", "t"], "a", "b", FILE)
    with pytest.raises(FormatError, match=r"no columns source, target or src, dst or s, t or from, to .*it has none"):
        choose_ends([], None, None, FILE)
    with pytest.raises(FormatError, match="column 't' is there more than once"):
        choose_ends(["s", "t", "t"], None, None, FILE)
    with pytest.raises(FormatError, match="column 'x' is there more than once"):
        refuse_repeated(["x", "y", "x"], FILE)
    with pytest.raises(FormatError, match="no column 'w'; it has 'a'"):
        need(["a"], ("a", "w"), FILE)


def test_one_column_stays_as_it_is() -> None:
    category = np.arange(3, dtype=np.int8)
    assert stack([category]) is category
    assert stack([]) is None
    both = stack([category, np.ones((3, 2))])
    assert both.tolist() == [[0, 1, 1], [1, 1, 1], [2, 1, 1]]


def test_messages() -> None:
    assert listed([str(i) for i in range(14)]).endswith("'11' and 2 more")
    assert rows_from(5)(2) == row(7) == "row 7"
    assert rows_from(5, lambda position: f"line {position}")(0) == "line 5"


def test_the_closest_column_is_suggested() -> None:
    with pytest.raises(FormatError, match="no column 'wieght'; it has 'weight', 'time'; did you mean 'weight'"):
        need(["weight", "time"], ["wieght"], FILE)
    with pytest.raises(FormatError, match="no columns sorce, dst .* it has 'source', 'dst'; did you mean 'source'"):
        choose_ends(["source", "dst"], "sorce", "dst", FILE)
