"""Make the HTML report: one file that opens from disk and needs no network, the same bytes for the same results.

Plots are SVG drawn by the page's own script in `static/`. Tried instead, inlined: Bokeh 3.9 (1.27 MB of script; the
main plot alone is ready after 2.0 s, our whole page, of 0.49 MB then, after 0.7 s) and Plotly 6 (4.8 MB; 3.2 s).
Either would replace about 300 of our 1,400 lines of JavaScript and add zooming, but their points cannot be reached by
keyboard, and they set inline styles, which our content security policy forbids.
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
from lsprune.lab.reporting.comparison import StudyResults, read_studies
from lsprune.lab.reporting.html.compact import compact
from lsprune.lab.reporting.html.data import page_data
from lsprune.lab.reporting.html.overview import study_cards, verdict_rows
from lsprune.lab.reporting.html.paper_section import paper_section
from lsprune.lab.reporting.method_styles import UPPER_BOUND
from lsprune.lab.reporting.records import result_files

if TYPE_CHECKING:
    from jinja2 import Template

SCRIPTS = (
    "elements.js", "data.js", "scales.js", "chart.js", "about.js", "legend.js", "tables.js", "curves.js",
    "recommendation.js", "trade_off.js", "paper.js", "sizes.js", "consistency.js", "neighbourhood.js",
    "thumbnails.js", "view.js", "start.js",
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
    """Write the report of these files and folders; on an error nothing is written."""
    check_destination(out, results)
    studies = read_studies(results)
    content = make_report(studies)
    with atomic_write(out) as handle:
        handle.write(content)
    return Written(out, len(content), tuple(study.name for study in studies))


def check_destination(out: Path, results: Sequence[Path]) -> None:
    """Raise OptionError if `out` cannot be written or is one of the results."""
    if out.is_dir():
        raise OptionError(f"the report must be a file, got the folder {out}; name it, such as {out / 'report.html'}")
    if not out.absolute().parent.is_dir():
        raise OptionError(f"no such folder for the report: {out.absolute().parent}")
    inputs = {path.resolve() for place in results if place.exists() for path in result_files(place)}
    if out.resolve() in inputs:
        raise OptionError(f"the report must not be a file of results, got {out} for both")
    if not os.access(out.resolve().parent, os.W_OK):
        raise OptionError(f"the folder {out.absolute().parent} is not writable; choose another place with -o")


def make_report(studies: Sequence[StudyResults]) -> bytes:
    """Return the bytes of the page."""
    template = _template()
    data = page_data(studies)
    script, style = (_joined(names) for names in (SCRIPTS, STYLES))
    text = template.render(
        policy=POLICY.format(script=_digest(script), style=_digest(style)),
        script=script,
        style=style,
        data=embedded(compact(data)),
        comparisons=data["comparisons"],
        paper_section=paper_section(studies),
        has_paper=any(comparison["paper"] for comparison in data["comparisons"]),
        has_consistency=bool(data["consistency"]),
        has_sizes=bool(data["sizes"]),
        rows=verdict_rows(studies),
        cards=study_cards(studies),
        about=dict(data["about"]),
        upper_bound=UPPER_BOUND,
        files=[{"path": str(study.path), "runs": study.runs} for study in studies],
        version=__version__,
    )
    return text.encode("utf8", errors="replace")  # a name may hold half a surrogate pair


def embedded(data: Any) -> str:
    """Return JSON that cannot end the script element it stands in, and that JavaScript of any version reads alike.

    >>> embedded("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _template() -> Template:
    """Return the page's template, which escapes every value: the only place that imports jinja2."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingDependency("lsprune.lab.reporting needs jinja2: pip install 'lsprune[report]'") from error
    loader = PackageLoader("lsprune.lab.reporting.html", "templates")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).get_template("report.html")


def _joined(names: Sequence[str]) -> str:
    folder = files("lsprune.lab.reporting.html") / "static"
    return "".join((folder / name).read_text(encoding="utf8") for name in names)


def _digest(text: str) -> str:
    """Return the source expression of a policy that allows this inline text and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
