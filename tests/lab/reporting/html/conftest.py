"""A report in a real browser, for the tests of this folder. Needs Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from report_records import results

CHROMIUM = os.environ.get("LSPRUNE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")

WATCH = """
window.__blocked = [];
addEventListener("securitypolicyviolation", (event) => window.__blocked.push(event.violatedDirective));
"""


@dataclass
class Opened:
    """A page that is open, and all that it said and asked for."""

    page: Any
    url: str
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def problems(self) -> list[object]:
        """What was logged, asked for, blocked or popped up and should not have been."""
        foreign = [url for url in self.requests if not url.startswith(("data:,", "blob:"))]
        blocked = self.page.evaluate("window.__blocked")
        scripts = [] if self.page.evaluate("typeof window.__xss") == "undefined" else ["a script of the data ran"]
        return [*self.console, *([] if foreign == [self.url] else foreign), *self.dialogs, *blocked, *scripts]

    def drawn(self) -> None:
        """Let the page draw twice: what a click set off has happened by then."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def lines(self) -> set[str]:
        """The names of the lines and points in the main plot."""
        found = self.page.locator("#main-chart [data-line], #main-chart [data-series]")
        names = found.evaluate_all("all => all.map(one => one.dataset.line || one.dataset.series)")
        return set(names)

    def tip(self, chart: str = "#main-chart") -> list[str]:
        return self.page.locator(f"{chart} .tooltip").inner_text().split("\n")

    def scrolls(self) -> bool:
        return self.page.evaluate("document.documentElement.scrollWidth > innerWidth")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    pytest.importorskip("jinja2")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    with sync_api.sync_playwright() as driver:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield started
        started.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    from lsprune.lab.reporting import write_report

    folder = tmp_path_factory.mktemp("report")
    return write_report([results(folder / "results")], folder / "report.html").path


@pytest.fixture
def open_page(browser) -> Iterator[Callable[..., Opened]]:
    contexts = []

    def go(path: Path, width: int = 1200, view: str = "", **options: Any) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        opened = Opened(page, path.as_uri())
        page.on("console", lambda message: opened.console.append(message.text))
        page.on("pageerror", lambda error: opened.console.append(str(error)))
        page.on("request", lambda request: opened.requests.append(request.url))
        page.on("dialog", lambda dialog: (opened.dialogs.append(dialog.message), dialog.dismiss()))
        page.add_init_script(WATCH)
        page.goto(opened.url + view)
        return opened

    yield go
    for context in contexts:
        context.close()


@pytest.fixture
def opened(open_page, report) -> Opened:
    return open_page(report)
