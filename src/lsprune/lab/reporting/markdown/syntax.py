"""Write Markdown: escaped text, tables, folded parts, headings that can be linked to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsprune.lab.reporting.comparison import Comparison


def escape(text: str) -> str:
    """Return the text as Markdown shows it: no markup, no HTML, no end of a table cell.

    >>> escape("a|b <i>")
    'a\\\\|b &lt;i&gt;'
    """
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~$!])", r"\\\1", plain)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; cells are Markdown already."""
    return [_row(heads), "|---" * len(heads) + "|", *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def block(lines: Sequence[str]) -> str:
    """Return lines as one paragraph, list or table."""
    return "\n".join(lines)


def folded(title: str, lines: Sequence[str]) -> str:
    """Return lines that the reader unfolds; the blank line makes them Markdown."""
    return f"<details><summary>{escape(title)}</summary>\n\n{block(lines).strip()}\n\n</details>"


def anchor(text: str) -> str:
    """Return the text in small letters, digits and hyphens.

    >>> anchor("compare cora, µ")
    'compare-cora'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def anchor_of(comparison: Comparison) -> str:
    """Return the anchor of a comparison's heading, which is also the stem of its figure's file."""
    parts = dict.fromkeys((comparison.study, comparison.dataset, comparison.target))
    return anchor("-".join(part for part in parts if part))


@dataclass(frozen=True)
class Headings:
    """The headings of comparisons: the dataset, and the study where two of them have the same."""

    comparisons: Sequence[Comparison]
    page: str = ""  # that has the headings, where links stand on another one

    def title(self, comparison: Comparison) -> str:
        """Return the heading as Markdown."""
        name = comparison.name
        unique = Counter(other.name for other in self.comparisons)[name] == 1
        return escape(name if unique else f"{name} ({comparison.study})")

    def link(self, comparison: Comparison) -> str:
        """Return a link to the heading."""
        return f"[{self.title(comparison)}]({self.page}#{anchor_of(comparison)})"
