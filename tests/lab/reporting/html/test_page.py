"""The page as bytes: self-contained, escaped, allowed to run only what is its own, the same every time."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from lab_records import comparison, save
from report_records import XSS, attacks, results

from lsprune import MissingDependency, OptionError
from lsprune.lab.reporting import make_report, write_report
from lsprune.lab.reporting.comparison import read_studies
from lsprune.lab.reporting.html.compact import compact
from lsprune.lab.reporting.html.data import page_data
from lsprune.lab.reporting.html.page import SCRIPTS, STYLES, embedded
from lsprune.lab.studies.methods import REFERENCES, catalogue

pytest.importorskip("jinja2")
ROOT = Path(__file__).resolve().parents[4]
STATIC = ROOT / "src" / "lsprune" / "lab" / "reporting" / "html" / "static"


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.found and self.found[-1][0] in ("script", "style") and data.strip():
            self.inside.append((*self.found[-1], data))


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    return make_report(read_studies([results(tmp_path_factory.mktemp("results"))])).decode()


@pytest.fixture(scope="module")
def attacked(tmp_path_factory) -> str:
    return make_report(read_studies([attacks(tmp_path_factory.mktemp("attacks"))])).decode()


def test_the_same_results_give_the_same_bytes(tmp_path):
    path = save(comparison(), tmp_path / "compare.jsonl")
    first, second = (write_report([path], tmp_path / name) for name in ("a.html", "b.html"))
    assert first.path.read_bytes() == second.path.read_bytes()
    assert (first.bytes, first.studies) == (first.path.stat().st_size, ("compare",))


def test_nothing_is_loaded_from_elsewhere(page):
    elements = Elements(page)
    for tag, attributes in elements.found:
        assert tag not in ("iframe", "object", "embed", "base", "form", "img")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))
    code = "".join(text for tag, attributes, text in elements.inside if attributes.get("type") != "application/json")
    assert set(re.findall(r"https?://[^\s\"']+", code)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|WebSocket|sendBeacon|innerHTML|eval\(", code)


def test_the_policy_allows_this_script_and_this_style_and_nothing_else(page):
    elements = Elements(page)
    (policy,) = [a["content"] for tag, a in elements.found if a.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy and "*" not in policy and "http" not in policy
    for tag in ("script", "style"):
        (text,) = [text for name, a, text in elements.inside if name == tag and a.get("type") != "application/json"]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"
    assert not [a for _, a in elements.found for name in a if name.startswith("on") or name == "style"]


def test_the_policy_comes_before_all_that_it_governs(page):
    assert page.index("Content-Security-Policy") < page.index("<style") < page.index("<script")


def test_the_data_are_in_the_page_as_they_were_computed(tmp_path, page):
    (text,) = [text for _, a, text in Elements(page).inside if a.get("type") == "application/json"]
    expected = page_data(read_studies([results(tmp_path)]))
    assert json.loads(text) == json.loads(json.dumps(compact(expected)))


@pytest.mark.parametrize("text", ["</script>", "<!--", "a&b", "\u2028\u2029", "\ud800", '"\\'])
def test_embedded_text_comes_back_and_ends_nothing(text):
    found = embedded({text: text})
    assert not re.search("[<>&\u2028\u2029]", found)
    assert json.loads(found) == {text: text}


def test_attacks_are_text(attacked, page):
    calm, wild = Elements(page), Elements(attacked)
    kinds = {tag for tag, _ in calm.found}
    assert {tag for tag, _ in wild.found} <= kinds
    assert [t for t, _ in wild.found].count("script") == 2
    assert not [a for _, a in wild.found for name in a if name.startswith("on")]
    for text in XSS:
        assert str(html.escape(text, quote=True)).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in attacked
    assert "{{ 7 * 7 }}" in attacked


def test_half_a_surrogate_pair_does_not_stop_the_page(tmp_path):
    path = save(comparison(dataset="x\ud800", seeds=1), tmp_path / "compare.jsonl")
    assert b"x?" in write_report([path], tmp_path / "r.html").path.read_bytes()


@pytest.mark.usefixtures("few_resamples")
def test_all_our_studies_fit_in_six_hundred_kilobytes(tmp_path):
    written = write_report([ROOT / "results"], tmp_path / "all.html")
    assert 100_000 < written.bytes <= 600_000
    assert {"cora", "neighbourhood-variance", "consistency"} <= set(written.studies)


def test_nothing_is_written_where_it_should_not_be(tmp_path):
    path = save(comparison(), tmp_path / "results" / "compare.jsonl")
    before = path.read_bytes()
    for out, said in (
        (tmp_path, "must be a file, got the folder"),
        (tmp_path / "no" / "r.html", "no such folder for the report"),
        (path, "must not be a file of results"),
    ):
        with pytest.raises(OptionError, match=said):
            write_report([path.parent], out)
    path.write_text("{\n")
    (tmp_path / "r.html").write_text("old")
    with pytest.raises(Exception, match="line 1"):
        write_report([path], tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == "old"
    assert path.read_bytes() != before and sorted(one.name for one in tmp_path.iterdir()) == ["r.html", "results"]


def test_without_jinja_the_fix_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    path = save(comparison(), tmp_path / "compare.jsonl")
    with pytest.raises(MissingDependency, match=r"pip install 'lsprune\[report\]'"):
        write_report([path], tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_a_report_loads_no_heavy_library(tmp_path):
    path = save(comparison(seeds=2), tmp_path / "compare.jsonl")
    code = (
        "import sys; from pathlib import Path; from lsprune.lab.reporting import write_report; "
        f"write_report([Path({str(path)!r})], Path({str(tmp_path / 'r.html')!r})); "
        "print(sorted({'matplotlib', 'numba', 'scipy', 'torch', 'pyarrow'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", sorted(path.name for path in STATIC.iterdir()))
def test_static_files_are_small_plain_text(name):
    text = (STATIC / name).read_text(encoding="utf8")
    assert len(text.splitlines()) < 400
    assert "\r" not in text and "</script" not in text and "</style" not in text  # or the digest would not match


def test_every_static_file_is_in_the_page():
    assert sorted((*SCRIPTS, *STYLES)) == sorted(path.name for path in STATIC.iterdir())


def test_no_script_names_a_method():
    names = [name for name in catalogue() if name not in REFERENCES]
    for path in STATIC.glob("*.js"):
        assert not re.findall(rf"[\"'`]({'|'.join(names)})[\"'`]", path.read_text()), path.name


def test_what_the_paper_has_is_shown_only_where_it_has_something(tmp_path):
    def hidden(dataset: str) -> set[str]:
        made = make_report(read_studies([save(comparison(dataset=dataset), tmp_path / f"{dataset}.jsonl")])).decode()
        return {one["id"] for _, one in Elements(made).found if "hidden" in one and "id" in one}

    own = hidden("mine-1f2e3d4c")
    assert {"paper-figures", "paper-note"} <= own
    assert not {"paper-figures", "paper-note"} & hidden("cora")


def test_verdicts_and_methods_are_there_without_the_script(page):
    text = html.unescape(re.sub(r"<script.*?</script>|<[^>]*>", "", page, flags=re.S))
    words = " ".join(text.split())
    assert (
        "photo no loss compare, 5 seeds keep 25 % with lsp-projection; accuracy 0.800 against 0.800 unpruned;" in words
    )
    assert "lower is better" in words  # the errors of zinc
    assert "Locality-sensitive pruning. Hash: " in words
    assert not [
        1 for tag, _ in Elements(page).found if tag == "details" and "open" in _
    ]  # nothing at a glance is folded
    assert page.index('id="glance"') < page.index('id="studies"') < page.index('id="comparison"')


def test_every_link_of_the_page_leads_to_a_view_or_a_section(page):
    elements = Elements(page).found
    ids = {attributes["id"] for _, attributes in elements if "id" in attributes}
    links = [attributes["href"] for tag, attributes in elements if tag == "a"]
    assert len(links) > 15
    assert all("=" in link or link[1:] in ids for link in links)
