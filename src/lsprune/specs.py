"""Short forms of options: `signs:bits=4` names a hash family, an edge weight or a pruner with some of its options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lsprune.checks import shown
from lsprune.errors import OptionError

WORDS: dict[str, Any] = {"none": None, "true": True, "false": False}


def parse_spec(text: str) -> dict[str, Any]:
    """Return the name and the options in `NAME` or `NAME:OPTION=VALUE,...` as a table; values may be specs in brackets.

    >>> parse_spec("signs:bits=4")
    {'name': 'signs', 'bits': 4}
    >>> parse_spec("both:edge=(signs:bits=2),node=(projection)")
    {'name': 'both', 'edge': {'name': 'signs', 'bits': 2}, 'node': {'name': 'projection'}}
    """
    name, colon, rest = text.partition(":")
    options: dict[str, Any] = {"name": name.strip()}
    if colon and not rest.strip():
        raise OptionError(f"{shown(text)} must have options after the colon, such as signs:bits=4")
    for option, value in (parse_setting(part) for part in split_list(rest)):
        if option in options:
            raise OptionError(f"{shown(text)} must not name {option} twice")
        options[option] = value
    return options


def parse_setting(text: str) -> tuple[str, Any]:
    """Return the name and the value in `NAME=VALUE`.

    >>> parse_setting("attributes=edge,neighbour"), parse_setting("power=0.4"), parse_setting("column=none")
    (('attributes', ['edge', 'neighbour']), ('power', 0.4), ('column', None))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise OptionError(f"options must be written as NAME=VALUE, got {shown(text)}")
    return name.strip(), parse_value(value.strip())


def parse_value(text: str) -> Any:
    """Return a number, True, False, None, a spec in brackets, a list of words or the word itself.

    A product in brackets stays text: its factors are parsed by `lsprune.weights.weight`.

    >>> parse_value("(jaccard:power=0.5*column:part=edge,column=2)")
    'jaccard:power=0.5*column:part=edge,column=2'
    """
    if text.startswith("(") and text.endswith(")"):
        return text[1:-1] if "*" in text else parse_spec(text[1:-1])
    parts = [part.strip() for part in split_list(text)]
    if len(parts) > 1:
        return [parse_value(part) for part in parts if part]
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def split_list(text: str) -> Iterator[str]:
    """Split at commas outside brackets.

    >>> list(split_list("random,(lsp:hash=signs,weights=degree)"))
    ['random', '(lsp:hash=signs,weights=degree)']
    """
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    if depth:
        raise OptionError(f"brackets must match, got {shown(text)}")
    if text[start:].strip() or start:
        yield text[start:]
