"""One kind of nodes at both ends of an edge, or two (users and items): what the caller says, and what names suggest."""

from __future__ import annotations

import re
import warnings

from lsprune.errors import BipartiteWarning, OptionError

# Words for the role of an end or for a node of any kind. They do not tell which kind of node an end is.
_ROLES = frozenset({
    "a", "acceptor", "alter", "ancestor", "answerer", "antecedent", "asker", "b", "begin", "boss", "buyer", "callee",
    "caller", "child", "children", "cited", "cites", "citing", "code", "col", "cols", "column", "columns",
    "consequent", "d", "descendant", "dest", "destination", "downstream", "dst", "e", "edge", "ego", "employee",
    "end", "first", "followed", "followee", "follower", "following", "friend", "from", "giver", "h", "head", "i",
    "id", "ids", "idx", "in", "index", "initiator", "into", "j", "key", "l", "left", "link", "m", "manager", "me",
    "n", "name", "neighbor", "neighbors", "neighbour", "neighbours", "no", "node", "nodes", "num", "number", "o",
    "object", "one", "origin", "other", "out", "owner", "p", "parent", "partner", "payee", "payer", "peer", "pred",
    "predecessor", "q", "r", "ratee", "rater", "receiver", "recipient", "referred", "referrer", "replier", "report",
    "right", "row", "rows", "s", "second", "seller", "sender", "source", "sources", "src", "start", "stop", "subject",
    "subordinate", "succ", "successor", "superior", "t", "tail", "taker", "target", "targets", "tgt", "to", "trustee",
    "trustor", "two", "u", "upstream", "v", "vertex", "vertices", "votee", "voter", "w", "x", "y",
})  # fmt: skip


def look_like_two_kinds(names: tuple[str, str]) -> bool:
    """Return whether the names of two columns of ids suggest two kinds of nodes.

    Words for roles and numbers are left out; what is left must be there at both ends and differ.

    >>> look_like_two_kinds(("user_id", "item_id")), look_like_two_kinds(("from_user", "to_user"))
    (True, False)
    >>> look_like_two_kinds(("citing", "cited")), look_like_two_kinds(("user", "friend"))
    (False, False)
    """
    first, second = (_kind(name) for name in names)
    if not first or not second or first == second:
        return False
    # one word that goes on from the other, or two that begin alike (author and coauthor, blogger and blogged)
    left, right = "".join(first), "".join(second)
    return not (left in right or right in left or left[:4] == right[:4])


def _kind(name: str) -> list[str]:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return sorted({_singular(word.lower()) for word in words} - _ROLES)


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 and word not in _ROLES else word


def warn_two_kinds(names: tuple[str, str]) -> None:
    """Warn that rows with one id in both columns are taken for self-loops."""
    warnings.warn(
        f"columns {names[0]!r} and {names[1]!r} look like two kinds of nodes but are read as one: rows with one id in "
        "both count as self-loops, and both share their attributes; prune with --bipartite (bipartite=True) to keep "
        "the kinds apart, with --no-bipartite (bipartite=False) if there is one",
        BipartiteWarning,
        stacklevel=3,
    )


def check_two_kinds(bipartite: bool | None, stored: bool, **options: object) -> bool:
    """Return whether there are two kinds of nodes.

    Args:
        bipartite: what the caller says, None for nothing. stored: whether the file says so.
        options: those that only two kinds have; OptionError if one has a value and there is one kind.
    """
    if bipartite is False and stored:
        raise OptionError("bipartite must not be False (--no-bipartite): the file has two numbers of nodes, one an end")
    two = bool(bipartite) or stored
    for name, value in options.items():
        if not two and value:
            raise OptionError(f"{name} (--{name.replace('_', '-')}) needs --bipartite (bipartite=True)")
    return two
