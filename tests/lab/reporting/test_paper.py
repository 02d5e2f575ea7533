from __future__ import annotations

from lsprune.lab.reporting import paper


def test_the_packaged_points_are_those_of_the_paper():
    assert paper.curves("cora", None, "accuracy")["random"][0] == (0.2, 0.758)
    assert set(paper.curves("qm9", "mu", "mae")) == {"random", "lsp-p", "lsp-t"}
    assert paper.curves("qm9", None, "mae") == {}  # twelve targets: none of them is meant
    assert paper.curves("zinc", None, "mae") == paper.curves("zinc", "constrained-solubility", "mae") != {}
    assert set(paper.variance("pubmed")) == {"1", "3", "5", "7", "9"}
