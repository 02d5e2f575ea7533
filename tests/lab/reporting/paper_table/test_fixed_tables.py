from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from lsprune.lab.reporting.paper_table.fixed_tables import SIZES, example_error, fixed_tables

ROOT = Path(__file__).resolve().parents[4]


def test_both_tables_and_the_two_figures_without_data_are_there_with_verdicts():
    words = {fixed.about.figure: fixed.verdict.word for fixed in fixed_tables()}
    assert words == {"1": "not judged", "2": "reproduced", "Table 1": "reproduced", "Table 2": "partly"}


def test_the_generator_has_the_papers_thirteen_parameters():
    (generator,) = (fixed for fixed in fixed_tables() if fixed.about.figure == "Table 1")
    assert len(generator.rows) == 13
    assert all(theirs == ours for _, theirs, ours in generator.rows)


def test_the_example_is_that_of_the_example_file():
    example = runpy.run_path(str(ROOT / "examples" / "shared_neighbours.py"))
    assert example["exact_probability"]() == pytest.approx(example_error()) == pytest.approx(1 / 36)


@pytest.mark.parametrize("name", sorted(SIZES))
def test_our_sizes_are_those_of_the_datasets(name):
    pytest.importorskip("torch_geometric")
    from lsprune.errors import DatasetNotFound
    from lsprune.lab.datasets import load

    data = ROOT.parent / "shared" / "data"
    if not data.is_dir():
        pytest.skip("needs the datasets in shared/data beside the checkout")
    try:
        dataset = load(name, data=data)
    except DatasetNotFound as error:
        pytest.skip(str(error))
    graphs = [dataset.train] if dataset.single else list(dataset.train)
    nodes, edges = (sum(int(getattr(graph, field)) for graph in graphs) for field in ("num_nodes", "num_edges"))
    assert (nodes, edges, dataset.num_classes) == SIZES[name][1]
