"""One kind of nodes at both ends of an edge, or two (users and items): what the caller said, and what names suggest."""

from __future__ import annotations

import re
import warnings

from lsprune.errors import BipartiteWarning, OptionError

# Words for the role of an end or for a node of any kind. They do not tell which kind of node an end is.
_ROLES = frozenset(
    """source src sources target targets tgt dst dest destination from to start end stop begin origin head tail u v i j a
    b s t p q x y m n h r w e o d l row rows col cols column columns first second left right in out into one two sender
    receiver recipient parent child children citing cited cites caller callee payer payee buyer seller giver taker
    follower followee following followed referrer referred predecessor successor pred succ upstream downstream ancestor
    descendant superior subordinate manager report boss employee trustor trustee rater ratee voter votee asker answerer
    replier initiator acceptor subject object antecedent consequent id ids idx index node nodes vertex vertices key no
    num number name code neighbor neighbour neighbors neighbours friend peer other partner ego alter me owner edge
    link""".split()
)


def look_like_two_kinds(names: tuple[str, str]) -> bool:
    """Whether the names of two columns of ids suggest two kinds of nodes.

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
    one, other = "".join(first), "".join(second)
    return not (one in other or other in one or one[:4] == other[:4])


def _kind(name: str) -> list[str]:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return sorted({_singular(word.lower()) for word in words} - _ROLES)


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 and word not in _ROLES else word


def warn_two_kinds(names: tuple[str, str]) -> None:
    """Warn that rows with one id in both columns are taken for self-loops."""
    warnings.warn(
        f"columns {names[0]!r} and {names[1]!r} look like two kinds of nodes but are read as one: rows with the same id "
        "in both count as self-loops, and both share their attributes; --bipartite (bipartite=True) keeps the kinds "
        "apart, --no-bipartite (bipartite=False) says that there is one",
        BipartiteWarning,
        stacklevel=3,
    )


def check_two_kinds(bipartite: bool | None, stored: bool, **options: object) -> bool:
    """Whether there are two kinds of nodes.

    Args:
        bipartite: what the caller said, None for nothing. stored: whether the file says so.
        options: those that only two kinds have; OptionError where one is given and there is one kind.
    """
    if bipartite is False and stored:
        raise OptionError("bipartite must not be False (--no-bipartite): the file has two numbers of nodes, one an end")
    two = bool(bipartite) or stored
    for name, value in options.items():
        if not two and value:
            raise OptionError(f"{name} (--{name.replace('_', '-')}) goes with --bipartite (bipartite=True)")
    return two
