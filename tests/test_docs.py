"""The documentation says what is true: links resolve, snippets run, commands exist, numbers come from the results."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from soak.checks import CHECKS
from typer.testing import CliRunner

import lsprune
from lsprune.cli import app
from lsprune.errors import MissingDependency

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
HOW_TO = sorted((DOCS / "how-to").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAV = re.compile(r"^ +- .+: (\S+\.md)$", re.MULTILINE)
DECIMAL = re.compile(r"\d+\.\d+")


def text(page: Path) -> str:
    """The page with the files that it includes."""
    return re.sub(r'--8<-- "(.+?)"', lambda found: (ROOT / found[1]).read_text(), page.read_text())


def prose(page: Path) -> str:
    return BLOCK.sub("", text(page))


def anchors(page: Path) -> set[str]:
    """What a link into the page may name: its headings, as Python-Markdown names them, and its <a id>."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    slugs = {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}
    return slugs | set(re.findall(r'<a id="(.+?)"', text(page)))


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    return [(kind, code) for kind, code in BLOCK.findall(text(page)) if kind in languages]


def recipes() -> Iterator[Any]:
    """Every page of how-to and every section with Python, as (language, code): their blocks build on each other."""
    sections = [(page, page.read_text()) for page in HOW_TO]
    for page in (DOCS / name for name in ("index.md", "theory.md", "weights.md")):
        sections += [(page, section) for section in re.split(r"^## ", page.read_text(), flags=re.MULTILINE)[1:]]
    for page, section in sections:
        found = [(kind, code) for kind, code in BLOCK.findall(section) if kind in ("python", "console", "text")]
        if any(kind == "python" for kind, _ in found):
            yield pytest.param(page, found, id=f"{page.stem}: {section.splitlines()[0]}")


def commands(code: str) -> list[list[str]]:
    """The words of every `$ lsprune ...` line, comments left out."""
    lines = [line.removeprefix("$ ") for line in code.splitlines() if line.startswith("$ lsprune")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


def is_shown(printed: str, shown: str) -> bool:
    """Whether a page shows what was printed; other machines may give slightly other accuracies."""
    decimals = [[float(number) for number in DECIMAL.findall(text)] for text in (printed, shown)]
    same = DECIMAL.sub("#", printed) == DECIMAL.sub("#", shown)
    return same and decimals[0] == pytest.approx(decimals[1], abs=0.05)


def test_an_output_that_is_not_shown_is_noticed():
    assert is_shown("accuracy 0.812 of 12\n", "accuracy 0.800 of 12\n")
    assert not is_shown("accuracy 0.912 of 12\n", "accuracy 0.800 of 12\n")
    assert not is_shown("accuracy 0.812 of 13\n", "accuracy 0.812 of 12\n")


def test_every_page_is_in_the_nav_and_the_other_way_round():
    pages = [page.relative_to(DOCS).as_posix() for page in PAGES]
    assert sorted(NAV.findall((ROOT / "mkdocs.yml").read_text())) == sorted(pages)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(linked), f"{page.name} links to {target}"


@pytest.mark.parametrize(("page", "steps"), list(recipes()))
def test_recipes_run(
    page: Path,
    steps: list[tuple[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    # the lab trains with PyTorch Geometric
    for word, library in (
        ("lsprune.lab", "torch_geometric"),
        *((n, n) for n in ("torch_geometric", "anndata", "pandas")),
    ):
        if any(word in code for _, code in steps):
            pytest.importorskip(library)
    names: dict[str, Any] = {}
    printed = ""
    for kind, code in steps:
        if kind == "text":  # what the block above prints
            assert not printed or is_shown(printed, code), f"{page.name} shows another output: {printed}"
        elif kind == "console" and page in HOW_TO:
            for words in commands(code):
                result = CliRunner().invoke(app, words)
                assert result.exit_code == 0, f"{words}: {result.output}"
        elif "import dgl" in code and importlib.util.find_spec("dgl") is None:
            compile(code, page.name, "exec")  # what can be said of it here
        elif kind == "python":
            capsys.readouterr()
            exec(compile(code, page.name, "exec"), names)
        printed = capsys.readouterr().out if kind == "python" else ""


def test_there_are_recipes_with_and_without_dgl():
    """Whatever the pages look like, the test above has something to run."""
    code = [code for page in HOW_TO for kind, code in blocks(page, "python")]
    assert sum("import dgl" in one for one in code) == 1
    assert len(code) >= 10


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_commands_and_their_options_exist(page: Path):
    for _, code in blocks(page, "console"):
        for words in commands(code):
            command = typer.main.get_command(app)
            while getattr(command, "commands", None):
                assert words[0] in command.commands, f"{page.name}: no command {words[0]}"
                command, words = command.commands[words[0]], words[1:]
            known = {name for one in command.params for name in one.opts + one.secondary_opts}
            for word in words:
                assert not word.startswith("-") or word in known, f"{page.name}: no option {word}"


def test_the_page_of_the_command_line_is_what_the_script_makes():
    pinned = re.search(r"^typer==(\S+)$", (DOCS.parent / "constraints.txt").read_text(), re.MULTILINE)
    if version("typer") != pinned.group(1):
        pytest.skip(f"typer {version('typer')} describes commands otherwise than the pinned {pinned.group(1)}")
    made = module("make_cli").page()
    assert (DOCS / "cli.md").read_text() == made, "run: python docs/make_cli.py"
    assert "## lsprune prune\n" in made
    assert "`--bipartite / --no-bipartite`" in made


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("page", ["choosing.md", "studies.md"])
def test_studies_in_the_text_are_studies(page: str, tmp_path: Path):
    pytest.importorskip("torch_geometric")
    from lsprune.lab import datasets
    from lsprune.lab.models import MODELS
    from lsprune.lab.studies import study_files

    found = blocks(DOCS / page, "toml")
    assert found
    for _, code in found:
        (tmp_path / "mine.toml").write_text(code)
        read = study_files.read(str(tmp_path / "mine.toml"))  # raises for a method that does not exist
        assert read.title == tomllib.loads(code)["title"]
        for one in read.runs():
            assert one.model in MODELS and one.dataset in datasets.NAMES


def test_the_page_of_studies_has_every_method_and_every_new_name():
    from lsprune.lab.studies.methods import catalogue
    from lsprune.lab.studies.upgrade_results import NEW_NAMES

    rows = re.findall(r"^\| (.+) \|$", (DOCS / "studies.md").read_text(), re.MULTILINE)
    listed = {name for row in rows for name in row.split(" | ")[0].split(", ")}
    assert set(catalogue()) <= listed
    pairs = {pair for row in rows for pair in zip(row.split(" | ")[::2], row.split(" | ")[1::2], strict=False)}
    assert set(NEW_NAMES.items()) <= pairs


OLD_NAME = re.compile(r"(?<![\w-])lsp-(?:[ptqesiwja]|d1?|qd|id|ij|auto-a|auto-a-out|[pt]-(?:paper|published))(?![\w-])")


@pytest.mark.parametrize(
    "page",
    [*(page for page in PAGES if page.name != "changelog.md"), ROOT / "README.md", *(ROOT / "results").glob("*.md")],
    ids=lambda page: page.name,
)
def test_old_names_of_methods_are_only_where_they_are_translated(page: Path):
    old = set(OLD_NAME.findall(text(page)))
    assert bool(old) == (page.name == "studies.md"), old


def test_the_api_page_has_every_public_name():
    shown = re.findall(r"^::: (\S+)$", (DOCS / "api.md").read_text(), re.MULTILINE)
    for path in shown:
        where, _, name = path.rpartition(".")
        if where == "lsprune.pyg":
            pytest.importorskip("torch_geometric")
        assert getattr(importlib.import_module(where), name).__doc__, path
    missing = set(lsprune.__all__) - {path.rpartition(".")[2] for path in shown}
    assert missing == {"FAMILIES", "PRUNERS", "WEIGHTS", "__version__"}
    methods = {type_.__name__ for type_ in lsprune.PRUNERS.values()}
    assert methods <= {path.rpartition(".")[2] for path in shown}


@pytest.mark.parametrize(
    ("page", "sources"),
    [
        ("results/paper-notes.md", ["results/README.md"]),
        (
            "docs/choosing.md",
            [
                "results/README.md",
                "docs/comparison.md",
                "docs/by-dataset.md",
                "docs/how-it-works.md",
                "benchmarks/README.md",
            ],
        ),
    ],
)
def test_numbers_come_from_the_results(page: str, sources: list[str]):
    """Figures such as 0.865 and 18,103 stand in the results, there perhaps with another digit."""
    known = " ".join((ROOT / source).read_text() for source in sources)
    rounded = {f"{float(number):.3f}" for number in re.findall(r"\b0\.\d{3,4}\b", known)}
    said = re.findall(r"\b0\.\d{3,4}\b|\b\d{1,3},\d{3}\b", prose(ROOT / page))
    assert len(said) > 10
    for number in said:
        assert number in known or number in rounded, f"{page} says {number}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="needs the extra docs: pip install 'lsprune[docs]'")
    pytest.importorskip("mkdocstrings", reason="needs the extra docs: pip install 'lsprune[docs]'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(site: Path):
    assert (site / "tutorial.ipynb").exists()
    assert 'href="../tables.html"' in (site / "how-to" / "heterogeneous.html").read_text()
    for page in site.rglob("*.html"):
        html = page.read_text()
        assert not re.findall(r'<(?:script|img|link)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*"', html), page.name
    results = (site / "by-dataset.html").read_text()
    assert "<details>" in results and "| method |" not in results  # tables inside <details> are tables


def test_figures_and_tables_of_the_site_can_be_read_on_a_telephone(site: Path):
    """In a real browser: figures keep a legible size, verdicts stay on one line, and no page scrolls sideways."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = os.environ.get("LSPRUNE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        page = browser.new_page(viewport={"width": 400, "height": 800})
        for name in ("results", "acceleration", "paper", "security", "index"):
            page.goto((site / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= 400, name
            figures = page.locator('.md-content img[src$=".svg"]').evaluate_all(
                "all => all.map(one => one.getBoundingClientRect().width / one.naturalWidth)"
            )
            assert min(figures, default=1.0) > 0.75, name
        page.goto((site / "paper.html").as_uri())
        row = page.locator("td", has_text="not reproduced").first.bounding_box()
        assert row["height"] < 45
        browser.close()


def test_the_map_of_the_modules_is_current():
    made = module("make_architecture").page()
    assert (DOCS / "architecture.md").read_text() == made, "run: python docs/make_architecture.py"


def test_the_page_of_promises_is_current():
    made = module("make_promises").page()
    assert (DOCS / "promises.md").read_text() == made, "run: python docs/make_promises.py"


def test_every_test_of_a_promise_exists_and_every_long_check_has_a_promise():
    maker = module("make_promises")
    for promise in maker.PROMISES:
        assert promise.tests, promise.name
        for test in promise.tests:
            file, _, name = test.partition("::")
            assert re.search(rf"^def {name}\(", (ROOT / file).read_text(), re.MULTILINE), test
    assert {check.promise for check in CHECKS.values()} <= {promise.name for promise in maker.PROMISES}
    assert set(json.loads(maker.SOAK.read_text())["checks"]) == set(CHECKS), "run: make soak"


def resolve(name: str) -> object:
    """What a dotted name stands for: a module, or something within one."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("lsprune"):
            pytest.skip(f"{error.name} is not installed")
        parent, _, last = name.rpartition(".")
        return getattr(resolve(parent), last)


MAP = (DOCS / "architecture.md").read_text()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(lsprune(?:\.\w+)+)", MAP))))
def test_every_name_on_the_map_exists(name):
    if name.endswith("_triton"):
        pytest.importorskip("triton")
    try:
        assert resolve(name) is not None
    except MissingDependency as error:  # where all optional packages are installed, every name is resolved
        pytest.skip(str(error))


def test_every_module_is_on_the_map():
    maker = module("make_architecture")
    assert all(f"| `{maker.dotted(path)}` |" in MAP for path in maker.modules())


def test_the_figures_of_choosing_are_what_the_script_prints():
    pytest.importorskip("torch_geometric")
    script = runpy.run_path(str(ROOT / "results" / "choose_figures.py"))
    lines = [json.loads(line) for line in (ROOT / "results" / "choose.jsonl").read_text().splitlines()]
    printed = "\n".join(script["figures"](lines)).rstrip()
    assert printed in (ROOT / "results" / "README.md").read_text()
    page = (DOCS / "choose-results.md").read_text()
    for share in (0.1, 0.25):
        assert "\n".join(script["table"](lines, share)) in page
    for row in re.findall(r"   (\S+) +random (\d+ %|none) +choose (\d+ %|none) +ratio (\S+)", printed):
        assert any(f"| {row[0]} | {model} | {' | '.join(row[1:])} |" in page for model in ("GAT", "SAGE")), row
