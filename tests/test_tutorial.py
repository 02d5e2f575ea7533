"""The tutorial is one text: the notebook is that of the page, it runs, and it prints what it shows."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
TIMES = re.compile(r"seconds|s/epoch|\bs [┃│]")


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_tutorial", DOCS / "make_tutorial.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_tutorial"] = module
    spec.loader.exec_module(module)
    return module


def test_the_notebook_is_that_of_the_page(maker: ModuleType):
    page = (DOCS / "tutorial.md").read_text(encoding="utf8")
    cells = maker.read_page(page)
    assert maker.write_page(cells) == page
    notebook = (DOCS / "tutorial.ipynb").read_text(encoding="utf8")
    assert notebook == maker.write_notebook(cells), "run: python docs/make_tutorial.py"
    code = [cell for cell in cells if cell.kind != "markdown"]
    read = list(maker.read_notebook(notebook))
    assert [(cell.kind, cell.source.strip(), cell.output) for cell in code] == [
        (cell.kind, cell.source, cell.output) for cell in read
    ]


def test_the_notebook_is_one_that_jupyter_reads():
    notebook = json.loads((DOCS / "tutorial.ipynb").read_text(encoding="utf8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids) > 10
    for cell in notebook["cells"]:
        assert set(cell) - {"execution_count", "outputs"} == {"cell_type", "id", "metadata", "source"}
    validate = getattr(pytest.importorskip("nbformat"), "validate", None)
    assert validate is not None
    validate(notebook)


def words(output: str) -> list[str]:
    """What stands there beside numbers; without times, lines below a table say the same whatever they measure."""
    lines = output.splitlines()
    lines = [line for line in lines if line[:1] in "│┃"] if "┃" in output else lines
    return re.sub(r"[\s│┃]+", " ", NUMBER.sub("#", "\n".join(lines))).split()


def numbers(output: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(output)]


def test_the_notebook_runs_and_prints_what_it_shows(maker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    shown = list(maker.read_notebook((DOCS / "tutorial.ipynb").read_text(encoding="utf8")))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # tests run side by side, and two pools of threads on the same cores wait for each other
    try:
        printed = maker.run(shown)
    finally:
        torch.set_num_threads(threads)
    compared = 0
    for old, new in zip(shown, printed, strict=True):
        assert words(new.output) == words(old.output), old.source
        if not TIMES.search(old.output):
            assert numbers(new.output) == pytest.approx(numbers(old.output), abs=0.06, rel=0.01), old.source
            compared += bool(old.output)
    assert compared >= 2
    assert (tmp_path / "lsprune-compare.html").stat().st_size > 10_000
    assert (tmp_path / "small.npz").exists()


def test_a_changed_output_is_noticed(maker: ModuleType):
    """The comparison above can fail."""
    table = "┃ method ┃ s ┃\n│ lsp │ 0.3 │\nlast line"
    assert words(table) == words("┃ method ┃   s ┃\n│ lsp │ 12.25 │\nanother line")
    assert words(table) != words(table.replace("lsp", "random"))
    assert words("accuracy 0.5") != words("error 0.5")
    with pytest.raises(SystemExit, match="No such file|no such|not exist"):
        maker.run([maker.Cell("console", "$ lsprune inspect nowhere.npz\n")])
