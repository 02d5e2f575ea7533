"""One kind of nodes or two: what the names of columns suggest, and the warning where they are taken for one."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from files_helpers import text

from lsprune.errors import BipartiteWarning
from lsprune.files import read_edges
from lsprune.files.node_kinds import look_like_two_kinds

TWO = [
    ("user", "item"), ("user_id", "item_id"), ("userId", "movieId"), ("author", "paper"), ("customer", "product"),
    ("users", "tracks"), ("drug", "protein"), ("src_user", "dst_item"), ("reviewer_id", "asin"), ("gene", "disease"),
]  # fmt: skip
ONE = [
    ("source", "target"), ("src", "dst"), ("u", "v"), ("i", "j"), ("a", "b"), ("from", "to"), ("head", "tail"),
    ("row", "col"), ("citing", "cited"), ("follower", "followee"), ("from_user", "to_user"), ("user1", "user2"),
    ("user", "friend"), ("userA", "userB"), ("node_1", "node_2"), ("id1", "id2"), ("author", "coauthor"),
    ("sender", "receiver"), ("FromNodeId", "ToNodeId"), ("parent", "child"), ("page", "pages"), ("s", "o"),
    ("source_id", "target_id"), ("user", "user_to"), ("blogger", "blogged"), ("caller", "callee"), ("0", "1"),
]  # fmt: skip


@pytest.mark.parametrize("names", TWO)
def test_names_of_two_kinds(names: tuple[str, str]) -> None:
    assert look_like_two_kinds(names)
    assert look_like_two_kinds(names[::-1])


@pytest.mark.parametrize("names", ONE)
def test_names_of_one_kind(names: tuple[str, str]) -> None:
    assert not look_like_two_kinds(names)
    assert not look_like_two_kinds(names[::-1])


def warned(path: Path, first: str, second: str, **options: object) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_edges(path, source=first, target=second, **options)
    return [str(one.message) for one in caught if one.category is BipartiteWarning]


def test_a_warning_where_rows_become_self_loops_and_nobody_said(tmp_path: Path) -> None:
    loops = text(tmp_path / "loops.csv", "user,item,friend\n0,1,1\n1,1,2\n2,0,2\n")
    assert len(warned(loops, "user", "item")) == 1
    assert "columns 'user' and 'item' look like two kinds" in warned(loops, "user", "item")[0]
    assert warned(loops, "user", "friend") == []
    assert warned(loops, "user", "item", bipartite=True) == []
    assert warned(loops, "user", "item", bipartite=False) == []
    apart = text(tmp_path / "apart.csv", "user,item\n0,3\n1,4\n2,3\n")  # ids of items follow those of users
    assert warned(apart, "user", "item") == []
