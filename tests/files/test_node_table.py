"""Tables of nodes: the column of ids and those of features, and rows put in their node's place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files.node_table import NodeColumns, check_ends, node_columns, place_rows, row_order

FILE = Path("nodes.parquet")


@pytest.mark.parametrize(
    ("columns", "id", "x", "expected"),
    [
        ({"a": False, "b": False}, None, (), NodeColumns(None, ("a", "b"))),
        ({"id": False, "a": False}, None, (), NodeColumns("id", ("a",))),
        ({"Node": False, "x": True, "a": False}, None, (), NodeColumns("Node", ("x",))),
        ({"x": False, "a": False}, None, (), NodeColumns(None, ("x", "a"))),
        ({"user_id": False, "a": False}, "user_id", (), NodeColumns("user_id", ("a",))),
        ({"user_id": False, "a": False}, "", (), NodeColumns(None, ("user_id", "a"))),
        ({"user_id": False, "a": False}, None, ("user_id",), NodeColumns(None, ("user_id",))),
    ],
)
def test_what_is_what(columns: dict, id: str | None, x: tuple, expected: NodeColumns) -> None:
    assert node_columns(columns, id, x, FILE) == expected


def test_what_is_not_clear_is_asked() -> None:
    with pytest.raises(FormatError, match="several columns may hold ids: 'id', 'node'; choose one with --id"):
        node_columns({"id": False, "node": False, "a": False}, None, (), FILE)
    with pytest.raises(FormatError, match="column 'itemId' looks like ids; --id itemId"):
        node_columns({"itemId": False, "a": False}, None, (), FILE)
    with pytest.raises(FormatError, match="has no columns of features, only 'id'"):
        node_columns({"id": False}, None, (), FILE)
    with pytest.raises(OptionError, match="x .* must not name the column of ids, got 'a'"):
        node_columns({"a": False}, "a", ("a",), FILE)


@given(st.lists(st.integers(0, 15), unique=True, min_size=1, max_size=10))
def test_rows_stand_where_their_ids_say(ids: list[int]) -> None:
    x = np.arange(len(ids)) * 10.0
    rows = place_rows(x, np.array(ids), "id", FILE)
    assert rows.joined
    assert rows.x[ids].tolist() == x.tolist()
    named = np.isin(np.arange(max(ids) + 1), ids)
    assert (rows.known is None) == bool(named.all())
    assert rows.known is None or np.array_equal(rows.known, named)
    check_ends(np.array(ids), "s", rows, max(ids) + 1, FILE)
    missing = [id for id in range(max(ids) + 2) if id not in ids][0]
    with pytest.raises(GraphError, match=rf"column 's', row 1: ids in edges must be among the nodes.*got {missing}$"):
        check_ends(np.array([ids[0], missing]), "s", rows, max(ids) + 1, FILE)


def test_ids_that_name_a_node_twice_or_are_far_away() -> None:
    with pytest.raises(GraphError, match="ids of nodes must be unique, got 3 2 times"):
        place_rows(np.ones(3), np.array([3, 1, 3]), "id", FILE)
    with pytest.raises(FormatError, match="id 10000000000 is far beyond the 1 rows"):
        place_rows(np.ones(1), np.array([10**10]), "id", FILE)
    with pytest.raises(FormatError, match="must have 2 ids, one for each row, got 1"):
        place_rows(np.ones(2), np.array([0]), "id", FILE)


def test_the_order_of_rows_needs_every_node() -> None:
    assert row_order(np.array([2, 0, 1]), "id", FILE).tolist() == [1, 2, 0]
    with pytest.raises(FormatError, match="must name each of the nodes 0 to 1 once, got 2 and no 1"):
        row_order(np.array([2, 0]), "id", FILE)
