"""The first picture is drawn as soon as there are enough runs of one model on all three graphs."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from lab_records import comparison, save

from lsprune.lab.reporting.comparison import read_studies
from lsprune.lab.reporting.headline import GRAPHS, SOURCES, find_headline

ROOT = Path(__file__).parents[3]
BASELINES = ("unpruned", "no-edges", "random", "local-random")


def with_model(records, model):
    for record in records:
        record["run"]["model"] = model
        record["key"] += model
    return records


def runs_of(model="node-gat-skip", graphs=tuple(GRAPHS), shares=(0.1, 0.25), seeds=2, ours="lsp-auto-labels"):
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


def test_what_is_drawn(headline):
    found = headline(runs_of())
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
def test_without_enough_runs_there_is_no_picture(headline, missing):
    assert headline(runs_of(**missing)) is None


def test_one_model_is_drawn_and_the_gat_comes_first(headline):
    both = [*runs_of("node-sage-skip", seeds=3), *runs_of("node-gat-skip")]
    assert headline(both).source.models == ("node-gat-skip",)
    part = [*runs_of("node-sage-skip", seeds=3), *runs_of("node-gat-skip", graphs=("cora", "facebook-pages"))]
    assert headline(part).source.models == ("node-sage-skip",)
    assert {one.dataset for one in headline(part).comparisons} == {
        f"{name}, node-sage-skip" for name in ("cora", "facebook-pages")
    } | {"computers"}


def test_a_share_that_one_graph_lacks_is_left_out(headline):
    found = headline(
        [*runs_of(graphs=("computers", "facebook-pages"), shares=(0.1, 0.25, 0.5)), *runs_of(graphs=("cora",), seeds=3)]
    )
    assert (found.shares, found.runs) == ((0.1, 0.25), "2 to 3")


def test_the_levels_are_part_of_the_picture(headline):
    assert headline([one for one in runs_of() if one["run"]["method"] != "no-edges"]) is None


def test_the_method_is_what_a_user_gets_and_the_graphs_are_as_dense_as_they_say():
    from lsprune import LSP
    from lsprune.lab.studies.methods import catalogue

    for source in SOURCES:
        assert source.label == "LSP.auto"
        assert LSP.from_dict({**catalogue()[source.method].pruner, "keep": 0.25}) == LSP.auto(keep=0.25)
    degrees = runpy.run_path(str(ROOT / "results" / "choose_figures.py"))["MEAN_DEGREES"]
    for name, title in GRAPHS.items():
        assert title.endswith(f", {degrees[name]:.0f} edges a node")
