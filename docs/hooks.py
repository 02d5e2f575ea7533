"""What the site needs beyond Markdown: links in and out of `docs/`, tables inside <details>, doctests in docstrings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import griffe

# A file outside docs/ and the page that shows it; other links out of docs/ become plain text.
PAGES = {"../results/README.md": "tables.md", "../CHANGELOG.md": "changelog.md", "../README.md": "index.md"}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)\s]*)\)")
INCLUDED = re.compile(r'^--8<-- "(.+)"$', re.MULTILINE)
ROOT = Path(__file__).resolve().parents[1]

# Pages whose tables are of numbers, which stay on one line.
NUMBERS = ("results.md", "comparison.md", "by-dataset.md", "acceleration.md", "paper.md", "tables.md")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page with what it includes, its links inside the site, and Markdown inside <details>."""
    markdown = INCLUDED.sub(lambda found: (ROOT / found[1]).read_text(encoding="utf8"), markdown)
    markdown = markdown.replace("<details>", '<details markdown="1">')
    return markdown if "/" in page.file.src_uri else LINK.sub(_inside, markdown)  # how-to/: `../` is docs/ itself


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """The page, marked where its tables are of numbers: `site.css` does the rest."""
    name = page.file.src_uri
    return f'<div class="numbers {name.removesuffix(".md")}">{html}</div>' if name in NUMBERS else html


def _inside(link: re.Match[str]) -> str:
    words, path = link.groups()
    page = PAGES.get(path) or (path.removeprefix("../docs/") if path.startswith("../docs/") else None)
    return f"[{'Tables of the runs' if words == path else words}]({page})" if page else words


class Doctests(griffe.Extension):
    """A docstring's bare `>>>` lines become its section of examples, so that they are shown as code."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring and "\n>>> " in (text := obj.docstring.value) and "\nExample" not in text:
            before, _, after = text.partition("\n>>> ")
            lines = f">>> {after}".splitlines()
            obj.docstring.value = "\n".join([before, "Examples:", *(f"    {line}" for line in lines)])
