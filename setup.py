"""The long description: README.md, with links that work where the README is shown without the repository.

Everything else about the package is in pyproject.toml.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)\s]+)\)")


def long_description() -> str:
    """Return README.md with links to this version of the files in the repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    version = re.search(r'__version__ = "(.+)"', (ROOT / "src/lsprune/_version.py").read_text(encoding="utf8"))
    assert version is not None
    repository, tag = project["urls"]["Repository"], f"v{version[1]}"

    def absolute(link: re.Match[str]) -> str:
        picture, words, path = link.groups()
        return f"{picture}[{words}]({repository}/{'raw' if picture else 'blob'}/{tag}/{path})"

    return LINK.sub(absolute, (ROOT / "README.md").read_text(encoding="utf8"))


setup(long_description=long_description(), long_description_content_type="text/markdown")
