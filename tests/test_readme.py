"""The README and the page of options say what is true: their code runs, their links resolve, the picture is current."""

from __future__ import annotations

import re
import runpy
import tomllib
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from labelled_graphs import labelled_graph
from typer.testing import CliRunner

import lsprune
from lsprune.cli import app

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def blocks(text: str, language: str) -> str:
    """Return the code of all blocks of a language, one after the other."""
    return "\n".join(code for kind, code in BLOCK.findall(text) if kind == language)


def headings(path: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf8"), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


@pytest.fixture
def labelled() -> dict[str, np.ndarray]:
    """A graph without self-loops and with labels of training and validation nodes, as arrays."""
    graph = labelled_graph()
    source, target = graph.ends()
    return {
        "edge_index": np.stack([source, target])[:, source != target], "x": graph.x_source, "y": graph.y,
        "train_mask": graph.train_mask, "val_mask": ~graph.train_mask & (np.arange(graph.num_sources) % 2 == 0),
    }  # fmt: skip


@pytest.fixture
def data(labelled):
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric.data")
    return pyg.Data(**{name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in labelled.items()})


def test_it_fits_a_narrow_page():
    assert [line for line in README.splitlines() if len(line) > 100] == []


@pytest.mark.parametrize("target", sorted({link for link in LINK.findall(README) if not link.startswith("http")}))
def test_links_resolve(target):
    path, _, anchor = target.partition("#")
    assert (ROOT / path).is_file()
    assert not anchor or anchor in headings(ROOT / path)


def test_its_python_runs(data):
    names: dict[str, Any] = {"data": data}
    exec(compile(blocks(README, "python"), "README.md", "exec"), names)
    assert names["small"].num_edges < data.num_edges
    assert names["prune"](data, names["LSP"].auto(keep=0.25)).num_edges == round(0.25 * data.num_edges)


def test_its_commands_run(labelled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("graph.npz", **labelled)
    np.save("x.npy", labelled["x"])
    parquet.write_table(pa.table(dict(zip(("source", "target"), labelled["edge_index"], strict=True))), "edges.parquet")
    lines = [line.split("#")[0] for line in blocks(README, "console").splitlines() if line.startswith("$ lsprune")]
    assert [line.split()[2] for line in lines] == ["inspect", "choose", "prune"]
    for line in lines:
        result = CliRunner().invoke(app, line.split()[2:])
        assert result.exit_code == 0, f"{line}: {result.output}"
    assert (tmp_path / "pruner.npz").is_file()
    assert parquet.read_table("small.parquet").num_rows == round(0.25 * labelled["edge_index"].shape[1])


def test_the_cap_on_degrees_is_as_it_says():
    """A node with at most k edges loses nothing, a node with more keeps k or k + 1; self-loops come on top."""
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 60, (2, 600)) // rng.integers(1, 4, (2, 600))
    edges = np.concatenate([edges[:, edges[0] != edges[1]], np.tile(np.arange(60), (2, 1))], axis=1)
    loops = edges[0] == edges[1]
    mask = lsprune.LSP(keep=0.25).mask(lsprune.Graph.from_edges(edges, x=rng.standard_normal((60, 3))))
    assert mask[loops].all()
    assert mask[~loops].sum() == int(0.25 * (~loops).sum() + 0.5)
    degree, kept = (
        np.bincount(edges[1, chosen & ~loops], minlength=60) for chosen in (np.full(mask.shape, True), mask)
    )
    cap = kept[kept < degree].min()
    assert set(kept[degree > cap]) <= {cap, cap + 1} and (kept == degree)[degree <= cap].all()
    assert (degree <= cap).any() and (kept == cap + 1).any()


def test_the_page_of_options_runs(data, labelled, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric.data")
    monkeypatch.chdir(tmp_path)
    hetero = pyg.HeteroData()
    hetero["user"].x, hetero["item"].x = torch.randn(20, 4), torch.randn(30, 4)
    likes = torch.stack([torch.randint(20, (300,)), torch.randint(30, (300,))])
    hetero["user", "likes", "item"].edge_index = likes
    hetero["item", "rev_likes", "user"].edge_index = likes.flip(0)
    events = data.clone()
    events.t = torch.arange(data.num_edges)
    graph = lsprune.Graph.from_edges(labelled["edge_index"], x=labelled["x"])
    names: dict[str, Any] = {
        "data": data, "graph": graph, "train_graph": graph, "hetero": hetero, "events": events, "cut": 500,
        "edge_index": labelled["edge_index"], "n": data.num_nodes, "x": labelled["x"],
        "Planetoid": lambda root, name, transform: transform(data),
    }  # fmt: skip
    exec(
        compile(blocks((ROOT / "docs" / "options.md").read_text(encoding="utf8"), "python"), "options.md", "exec"),
        names,
    )
    assert names["dataset"].num_edges == round(0.5 * data.num_edges)


def test_the_page_has_every_option():
    rows = "\n".join(
        re.findall(r"^\| (.+?) \|", (ROOT / "docs" / "options.md").read_text(encoding="utf8"), re.MULTILINE)
    )
    named = set(re.findall(r"`(\w+)=", rows))
    options = {field.name for field in fields(lsprune.LSP)} | set(signature(lsprune.prune).parameters) - {
        "data",
        "pruner",
    }
    assert named == options


def test_options_named_on_the_page_exist():
    """Every call in the tables of docs/options.md makes a pruner's option or a weight."""
    text = (ROOT / "docs" / "options.md").read_text(encoding="utf8")
    calls = re.findall(r"`((?:[A-Z]\w+\([^`…]*\)(?: \* )?)+)`", "\n".join(re.findall(r"^\|.*$", text, re.MULTILINE)))
    assert len(calls) > 10
    for call in calls:
        eval(call, {name: getattr(lsprune, name) for name in lsprune.__all__})


def test_the_picture_is_that_of_the_results():
    pinned = re.search(r"^matplotlib==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    matplotlib = pytest.importorskip("matplotlib")
    if matplotlib.__version__ != pinned.group(1):
        pytest.skip(f"matplotlib {matplotlib.__version__} draws otherwise than the pinned {pinned.group(1)}")
    from lsprune.lab.reporting.comparison import read_studies
    from lsprune.lab.reporting.figures.files import to_svg
    from lsprune.lab.reporting.figures.headline import draw_headline
    from lsprune.lab.reporting.headline import SOURCES, find_headline

    paths = {ROOT / "results" / f"{source.study}.jsonl" for source in SOURCES}
    drawn = to_svg(draw_headline(find_headline(read_studies(sorted(paths)))))
    assert (ROOT / "docs/results/accuracy.svg").read_bytes() == drawn, "run: lsprune study page --out docs"


@pytest.fixture
def long_description(monkeypatch) -> str:
    """Run setup.py with another `setup`, and return what it says."""
    said: dict[str, str] = {}
    monkeypatch.setattr("setuptools.setup", lambda **options: said.update(options))
    runpy.run_path(str(ROOT / "setup.py"))
    assert said.pop("long_description_content_type") == "text/markdown"
    return said["long_description"]


def test_the_long_description_needs_no_repository(long_description):
    assert all(link.startswith(("https://", "#")) for link in LINK.findall(long_description))
    repository = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Repository"]
    tag = f"v{lsprune.__version__}"
    assert f"]({repository}/raw/{tag}/docs/results/accuracy.svg)" in long_description
    assert f"[Results]({repository}/blob/{tag}/docs/results.md)" in long_description
    assert LINK.sub("]()", long_description) == LINK.sub("]()", README)  # nothing else has changed
