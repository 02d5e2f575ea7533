"""Options are keywords: a value that is given by position is an error with the call that is meant."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Self

from lsprune.checks import is_number, is_whole, shown
from lsprune.errors import PositionalError


class _SignatureOfInit:
    """The signature of `__init__`, which `inspect.signature` and `help` would else take from `__new__`."""

    def __get__(self, instance: object, owner: type) -> inspect.Signature:
        signature = inspect.signature(owner.__init__)  # type: ignore[misc]  # of the class that is looked at
        return signature.replace(parameters=list(signature.parameters.values())[1:])


class KeywordOptions:
    """Base of classes whose options are keywords.

    Python's own message for `LSP(0.5)` says how many arguments there are, and not what to write.
    """

    __slots__ = ()
    __signature__ = _SignatureOfInit()

    def __new__(cls, *values: Any, **options: Any) -> Self:
        """Raise PositionalError for more values by position than `__init__` takes."""
        if values:
            check_positions(cls, values)
        return super().__new__(cls)


def check_positions(cls: type, values: tuple[Any, ...]) -> None:
    """Raise PositionalError for more values by position than the class takes."""
    parameters = list(inspect.signature(cls).parameters.values())
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(values) <= len(by_position) or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return
    keywords = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    raise positional_error(cls.__name__, keywords, values[len(by_position)], [p.name for p in by_position])


def positional_error(name: str, keywords: Sequence[str], value: Any, before: Sequence[str] = ()) -> PositionalError:
    """Return the error for a value that must be a keyword, with the calls that may be meant.

    Args:
        name: of what is called. keywords: its options. before: what it takes by position.
    """
    calls = [f"{name}({', '.join((*before, option))})" for option in _options(keywords, value)]
    after = f" after {before[-1]}" if before else ""
    write = f": write {' or '.join(calls)}" if calls else ""
    return PositionalError(f"{name} takes keywords only{after}, got {shown(value)}{write}")


def _options(keywords: Sequence[str], value: Any) -> list[str]:
    """Return the options that may be meant, as text: a share or a number of edges, else the first one."""
    if {"k", "keep"} <= set(keywords):
        if is_whole(value):
            return [f"k={value}"]
        return [f"keep={value}"] if is_number(value) and 0 < value <= 1 else ["keep=0.5", "k=5"]
    return [f"{keywords[0]}={shown(value)}"] if keywords else []
