"""The page itself: data and template in, one HTML file out, the same bytes for the same results.

Plots are SVG drawn by the page's own small script (`static/`), not by a library. plotly.js 4.1 (basic) is 1.2 MB,
fails under trusted types, breaks a style policy without 'unsafe-inline' (both tried in Chromium), and its points cannot
be reached by keyboard. Observable Plot 0.6 with d3 is 0.5 MB, and isolation, tables and keys would be ours to write
anyhow. What is needed here, lines with bands on two kinds of axes, is a few hundred lines; the policy stays strict, and
there is nothing to vendor or to keep up to date.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprune._version import __version__
from lsprune.errors import MissingDependency, OptionError
from lsprune.files.atomic_write import atomic_write
from lsprune.lab.reporting.html_data import Data, clock_of, overlap_data, panel_data, variance_data
from lsprune.lab.reporting.neighbourhood import neighbourhood_data
from lsprune.lab.reporting.recommendation import advise, front_data
from lsprune.lab.reporting.result_lines import Source, read_sources, result_files

if TYPE_CHECKING:
    from jinja2 import Template

SCRIPTS = (
    "draw.js", "chart.js", "tables.js", "curves.js", "extras.js", "consistency.js", "neighbourhood.js", "start.js",
)  # fmt: skip
STYLES = ("page.css",)
POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; img-src data:; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


@dataclass(frozen=True)
class Written:
    """A report on disk."""

    path: Path
    bytes: int
    studies: tuple[str, ...]


def write_report(results: Sequence[Path], out: Path) -> Written:
    """Write the report of these files and folders; it appears whole or not at all."""
    check_place(out, results)
    sources = read_sources(results)
    content = make_report(sources)
    with atomic_write(out) as handle:
        handle.write(content)
    return Written(out, len(content), tuple(source.study for source in sources))


def check_place(out: Path, results: Sequence[Path]) -> None:
    """Nothing; raises where a report cannot be put, before the work of making it is done."""
    if out.is_dir():
        raise OptionError(f"the report must be a file, got the folder {out}; name it, such as {out / 'report.html'}")
    if not out.absolute().parent.is_dir():
        raise OptionError(f"no such folder for the report: {out.absolute().parent}")
    given = {path.resolve() for one in results if one.exists() for path in result_files(one)}
    if out.resolve() in given:
        raise OptionError(f"the report must not be a file of results, got {out} for both")
    if not os.access(out.resolve().parent, os.W_OK):
        raise OptionError(f"the folder {out.absolute().parent} is not writable; choose another place with -o")


def make_report(sources: Sequence[Source]) -> bytes:
    """The bytes of the page."""
    template = _template()
    data = report_data(sources)
    script, style = (_joined(names) for names in (SCRIPTS, STYLES))
    text = template.render(
        policy=POLICY.format(script=_digest(script), style=_digest(style)),
        script=script,
        style=style,
        data=embedded(data),
        panels=data["panels"],
        files=[{"path": str(source.path), "runs": source.runs} for source in sources],
        version=__version__,
    )
    return text.encode("utf8", errors="replace")  # a name may hold half a surrogate pair


def report_data(sources: Sequence[Source]) -> Data:
    """All that the page shows, as plain data."""
    panels, variance, consistency = [], [], []
    for source in sources:
        for panel in source.panels:
            clock = clock_of(panel)
            advice = advise(panel, clock).to_data()
            more = {"study": source.study, "advice": advice, "front": front_data(panel, clock)}
            panels.append({**panel_data(panel, clock), **more})
        variance += [{"study": source.study, **variance_data(*part)} for part in source.variance.items()]
        consistency += [{"study": source.study, **overlap_data(panel)} for panel in source.overlaps if panel.methods]
    return {
        "panels": panels,
        "consistency": consistency,
        "variance": variance,
        "neighbourhood": neighbourhood_data(),
    }


def embedded(data: Any) -> str:
    """JSON that cannot end the script element it stands in, and means the same to JavaScript of any age.

    >>> embedded("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _template() -> Template:
    """The page's template, which escapes what it is given: the one place that imports jinja2."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingDependency("lsprune.lab.reporting needs jinja2: pip install 'lsprune[report]'") from error
    loader = PackageLoader("lsprune.lab.reporting", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True).get_template(
        "report.html"
    )


def _joined(names: Sequence[str]) -> str:
    folder = files("lsprune.lab.reporting") / "static"
    return "".join((folder / name).read_text(encoding="utf8") for name in names)


def _digest(text: str) -> str:
    """The source of a policy that allows this text inline and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
