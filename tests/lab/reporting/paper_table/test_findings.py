from __future__ import annotations

from paper_records import runs, studied, theirs

from lsprune.lab.reporting.paper_table.findings import findings
from lsprune.lab.reporting.paper_table.table import paper_table


def headlines(tmp_path, values, study: str = "cora", **how) -> list[str]:
    studies = [studied(runs(values, study=study, **how), tmp_path, study)]
    return [found.headline for found in findings(paper_table(studies), studies)]


def test_presets_below_random_are_a_headline(tmp_path):
    values = theirs("cora", "accuracy")
    turned = {(m, s): (v - 0.05 if m.startswith("lsp") else v) for (m, s), v in values.items()}
    assert headlines(tmp_path, turned)[0] == "On Cora the published presets lie below random."
    assert not any("random." in text for text in headlines(tmp_path, values))
    assert not any("random." in text for text in headlines(tmp_path, turned, epochs=5))  # too short to say so


def test_of_errors_they_lie_above(tmp_path):
    values = theirs("zinc", "mae") | {("random", 0.3): 0.7, ("random", 0.6): 0.5}
    turned = {(m, s): (v + 0.5 if m.startswith("lsp") else v) for (m, s), v in values.items()}
    assert headlines(tmp_path, turned, "zinc", mae=True)[0].endswith("lie above random.")


def test_a_basic_model_as_good_as_attention_is_a_headline(tmp_path):
    values = {("unpruned", 1.0): 0.86, ("basic", 1.0): 0.87}
    assert headlines(tmp_path, values)[0] == "On Cora plain averaging is as good as attention."
    assert not any("averaging" in text for text in headlines(tmp_path, {**values, ("basic", 1.0): 0.81}))


def test_a_graph_whose_edges_do_not_matter_is_a_headline(tmp_path):
    values = {("unpruned", 1.0): 0.86, ("no-edges", 0.0): 0.857}
    assert "Cora cannot tell pruning methods apart." in headlines(tmp_path, values)
    assert not any("apart" in text for text in headlines(tmp_path, {**values, ("no-edges", 0.0): 0.8}))


def test_what_was_not_run_is_named_last(tmp_path):
    studies = [studied(runs(theirs("cora", "accuracy")), tmp_path, "cora")]
    last = findings(paper_table(studies), studies)[-1]
    assert last.headline == "Not everything has been run."
    assert "21 of 22 plots" in last.text and "QM9 (12 plots)" in last.text and "Cora" not in last.text.split(":")[0]


def test_what_was_run_and_cannot_be_judged_is_named_apart(tmp_path):
    studies = [studied(runs({("unpruned", 1.0): 0.876}, epochs=5), tmp_path, "cora")]
    missing, unclear = findings(paper_table(studies), studies)[-2:]
    assert missing.headline == "Not everything has been run." and "21 of 22 plots" in missing.text
    assert unclear.headline == "Not every run can be judged." and unclear.text.endswith(": Cora.")


def test_neighbourhood_sizes_of_the_paper_are_attributed_to_the_closer_method(tmp_path):
    lines = []
    for method, value in (("random", 7.3), ("lsp-projection-published", 0.5)):
        for line in runs({(method, 0.5): 0.5}, seeds=1):
            lines.append({**line, "variance": {"1": value}})
    studies = [studied(lines, tmp_path, "neighbourhood-variance")]
    texts = [found.headline for found in findings(paper_table(studies), studies)]
    assert "The neighbourhood sizes of Figure 6 are those of random pruning." in texts
