"""The first picture is drawn from the newest study that has enough runs on all three graphs."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from lab_records import comparison, save

from lsprune.lab.reporting.comparison import read_studies
from lsprune.lab.reporting.headline import GRAPHS, SOURCES, find_headline

ROOT = Path(__file__).parents[3]
BASELINES = ("unpruned", "no-edges", "random", "local-random")
OLD_MODELS = {"computers": "node-gat", "github": "github-gat", "cora": "planetoid-gat"}


def with_model(records, model):
    for record in records:
        record["run"]["model"] = model
        record["key"] += model
    return records


def older():
    """Runs of the older comparison on all graphs."""
    runs = [
        with_model(comparison(dataset=name, methods=(*BASELINES, "lsp-jaccard")), OLD_MODELS[name]) for name in GRAPHS
    ]
    return sum(runs, [])


def newer(model="node-gat-skip", graphs=tuple(GRAPHS), shares=(0.1, 0.25), seeds=2, ours="lsp-auto-labels"):
    """Runs of the study `choose`."""
    runs = [
        comparison(dataset=name, study="choose", methods=(*BASELINES, ours), shares=shares, seeds=seeds)
        for name in graphs
    ]
    return with_model(sum(runs, []), model)


@pytest.fixture
def headline(tmp_path):
    def make(*studies):
        paths = [save(records, tmp_path / f"{records[0]['run']['study']}.jsonl") for records in studies]
        return find_headline(read_studies(paths))

    return make


def test_the_newer_study_is_drawn_as_soon_as_it_has_enough_runs(headline):
    found = headline(older(), newer())
    assert (found.source.study, found.source.method) == ("choose", "lsp-auto-labels")
    assert (found.shares, found.runs) == ((0.1, 0.25), "2")
    assert [one.dataset for one in found.comparisons] == list(GRAPHS)
    assert list(found.lines.values()) == ["LSP.auto", "k random neighbours", "random edges"]


@pytest.mark.parametrize(
    "missing",
    [{"graphs": ("computers", "cora")}, {"shares": (0.1,)}, {"shares": (0.1, 0.5)}, {"seeds": 1},
     {"ours": "lsp-auto"}, {"model": "node-gat"}],
    ids=str,
)  # fmt: skip
def test_until_then_it_is_the_older_one(headline, missing):
    found = headline(newer(**missing), older())
    assert (found.source.study, found.source.method) == ("compare", "lsp-jaccard")
    assert (found.shares, found.runs) == ((0.1, 0.25, 0.5), "5")


def test_one_model_is_drawn_and_the_gat_comes_first(headline):
    both = [*newer("node-sage-skip", seeds=3), *newer("node-gat-skip")]
    assert headline(both).source.models == ("node-gat-skip",)
    part = [*newer("node-sage-skip", seeds=3), *newer("node-gat-skip", graphs=("cora", "github"))]
    assert headline(part, older()).source.models == ("node-sage-skip",)
    assert {one.dataset for one in headline(part).comparisons} == {
        f"{name}, node-sage-skip" for name in ("cora", "github")
    } | {"computers"}


def test_a_share_that_one_graph_lacks_is_left_out(headline):
    found = headline(
        [*newer(graphs=("computers", "github"), shares=(0.1, 0.25, 0.5)), *newer(graphs=("cora",), seeds=3)]
    )
    assert (found.shares, found.runs) == ((0.1, 0.25), "2 to 3")


def test_without_enough_runs_there_is_no_picture(headline):
    assert headline(newer(seeds=1)) is None
    assert headline([one for one in newer() if one["run"]["method"] != "no-edges"]) is None


def test_the_method_is_what_a_user_gets_and_the_graphs_are_as_dense_as_they_say():
    from lsprune import LSP
    from lsprune.lab.studies.methods import catalogue

    ours = next(source for source in SOURCES if source.label == "LSP.auto")
    assert LSP.from_dict({**catalogue()[ours.method].pruner, "keep": 0.25}) == LSP.auto(keep=0.25)
    older = SOURCES[-1].method
    assert LSP.from_dict({**catalogue()[older].pruner, "keep": 0.25}) == LSP(keep=0.25, weights="jaccard")
    degrees = runpy.run_path(str(ROOT / "results" / "choose_figures.py"))["MEAN_DEGREES"]
    for name, title in GRAPHS.items():
        assert title.endswith(f", {degrees[name]:.0f} edges a node")
