"""hash="auto": the parts, the family and its options that noise does not disturb, whatever the order of edges."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse

from lsprune import LSP, Graph, GraphError
from lsprune.attributes import describe
from lsprune.errors import ConstantWarning
from lsprune.hashing import Auto, Bins, Codebook, Identity, Projection, Signs, Threshold
from lsprune.kernels import runtime
from lsprune.pruners import FittedLSP, PaperLSP, calibration
from lsprune.pruners.calibration import Candidate, mean_overlap
from lsprune.weights import Column


def clustered() -> Graph:
    """Kinds of edges told clearly by their attributes, between nodes whose attributes are noise."""
    rng = np.random.default_rng(0)
    kinds = 3 * rng.standard_normal((400, 12))
    pairs = rng.choice(300 * 300, 4000, replace=False)  # no edge twice
    source, target = pairs // 300, 300 + pairs % 300
    attr = kinds[rng.integers(0, 400, 4000)] + 0.2 * rng.standard_normal((4000, 12))
    x = rng.standard_normal((600, 12))
    return Graph.from_edges(np.stack([source, target]), x=x.astype(np.float32), edge_attr=attr.astype(np.float32))


def shuffled(graph: Graph, order: np.ndarray) -> Graph:
    ends = np.stack(graph.ends())[:, order]
    return Graph.from_edges(ends, num_nodes=graph.num_nodes, x=graph.x, edge_attr=graph.edge_attr[order])


class Seen:
    """What was tried, how well each did, and on how many edges."""

    def __init__(self) -> None:
        self.tried: list[Candidate] = []
        self.scores: list[float] = []
        self.edges: list[int] = []
        self.learned_from: list[int] = []

    def best(self) -> Candidate:
        return self.tried[int(np.argmax(self.scores))]  # the first of equals


@pytest.fixture
def seen(monkeypatch):
    spy, score = Seen(), calibration._Trials.score

    def watched(self, *args):
        for result in score(self, *args):
            spy.tried.append(result.candidate)
            spy.scores.append(result.overlap)
            spy.edges.append(self.clean.num_edges)
            spy.learned_from.append(self.learning.num_edges)
            yield result

    monkeypatch.setattr(calibration._Trials, "score", watched)
    return spy


def chosen(fitted: FittedLSP) -> Candidate:
    """What fit chose."""
    return Candidate(fitted.options.family, fitted.options.attributes)


def test_the_part_that_can_be_told_apart_is_chosen():
    fitted = LSP(keep=0.3, hash="auto").fit(clustered())
    assert chosen(fitted) == Candidate(Codebook(), ("edge",))
    assert fitted.keep == 0.3


def test_the_winner_is_the_most_stable_of_all(monkeypatch, seen):
    monkeypatch.setattr(calibration, "OVERLAP_TOLERANCE", -1)  # nothing is good enough to leave others out
    fitted = LSP(k=2, hash="auto").fit(clustered())
    assert seen.best() == chosen(fitted)
    assert len(seen.scores) == len(seen.tried) == len(set(seen.tried)) == 3 * 4 + 3 * 2 + 13
    parts = {candidate.parts for candidate in seen.tried}
    assert parts == {
        ("edge",), ("neighbour",), ("edge", "neighbour"),
        ("owner", "edge"), ("owner", "neighbour"), ("owner", "edge", "neighbour"),
    }  # fmt: skip
    options = {candidate.family for candidate in seen.tried if candidate.parts == fitted.options.attributes}
    assert {type(family) for family in options} == {Projection, Codebook, Bins, Signs, Threshold}
    assert len({family.bits for family in options if isinstance(family, Signs)}) == 6
    assert len({family.length for family in options if isinstance(family, Bins)}) == 4
    assert len({family.sparsity for family in options if isinstance(family, Threshold)}) == 4


def test_families_that_learn_are_left_out_when_another_can_hardly_be_beaten(monkeypatch, seen):
    fitted = LSP(k=2, hash="auto").fit(clustered())
    assert max(seen.scores) >= 0.98 and chosen(fitted) == Candidate(Codebook(), ("edge",))
    assert [one.parts for one in seen.tried if one.family.learns] == [("edge",)]
    assert {one.parts for one in seen.tried} >= {("neighbour",), ("edge", "neighbour")}  # with other families
    monkeypatch.setattr(calibration, "FIRST_FAMILIES", (Identity(),))
    seen.tried.clear()
    monkeypatch.setattr(calibration._Trials, "_overlap", lambda self, fitted: 1.0)
    LSP(k=2, hash="auto").fit(clustered())
    assert not any(one.family.learns for one in seen.tried)


def test_options_are_chosen_too(monkeypatch, seen):
    """Many kinds of edges, hardly any noise: a longer code than the one that is tried first is more stable."""
    monkeypatch.setattr(calibration, "FIRST_FAMILIES", (Signs(bits=6),))
    monkeypatch.setattr(calibration, "FAMILY_OPTIONS", tuple(Signs(bits=bits) for bits in (2, 4, 8, 12)))
    rng = np.random.default_rng(3)
    attr = rng.standard_normal((300, 64))[rng.integers(0, 300, 3000)].astype(np.float32)
    graph = Graph.from_edges(rng.integers(0, 150, (2, 3000)), edge_attr=attr)
    fitted = LSP(k=2, hash=Auto(noise=0.02)).fit(graph)
    assert chosen(fitted) == seen.best()
    assert fitted.options.family.bits > 6
    assert len(seen.tried) == 5


@pytest.mark.parametrize("sparse", [False, True])
def test_without_a_choice_to_compare_the_first_candidate_is_taken(sparse):
    for ends in (np.zeros((2, 0), np.int64), np.array([[0, 1], [0, 1]]), np.array([[0, 1], [1, 2]])):
        attr = np.arange(3 * ends.shape[1], dtype=np.float32).reshape(-1, 3) % 4
        rows = scipy.sparse.csr_matrix(attr) if sparse else attr
        graph = Graph.from_edges(ends, num_nodes=3, x=np.eye(3, dtype=np.float32), edge_attr=rows)
        fitted = LSP(k=2, hash="auto").fit(graph)
        assert chosen(fitted) == Candidate(Projection(), ("edge",))
        assert fitted.mask(graph).all()


def test_owners_of_two_edges_are_compared_by_one(seen):
    """No owner has more than TRIAL_STEPS edges: one edge of each pair is kept, so that they can be compared."""
    rng = np.random.default_rng(0)
    kinds = 5 * rng.standard_normal((50, 8)).astype(np.float32)
    ends = np.stack([rng.integers(0, 200, 400), np.repeat(np.arange(200), 2)])
    graph = Graph.from_edges(ends, num_nodes=(200, 200), edge_attr=kinds[rng.integers(0, 50, 400)])
    fitted = LSP(k=2, hash="auto").fit(graph)
    assert max(seen.scores) > min(seen.scores) + 0.1
    assert seen.best() == chosen(fitted)


def test_sparse_attributes_give_the_same_choice_as_dense():
    rng = np.random.default_rng(0)
    kinds = rng.standard_normal((40, 10)) * (rng.random((40, 10)) < 0.4)
    attr = kinds[rng.integers(0, 40, 900)].astype(np.float32)
    x = (rng.standard_normal((60, 10)) * (rng.random((60, 10)) < 0.4)).astype(np.float32)
    ends = rng.integers(0, 60, (2, 900))
    dense = LSP(k=2, hash="auto").fit(Graph.from_edges(ends, x=x, edge_attr=attr))
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.coo_matrix):
        assert LSP(k=2, hash="auto").fit(Graph.from_edges(ends, x=kind(x), edge_attr=kind(attr))) == dense


@pytest.mark.parametrize("name", ["x", "edge_attr"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_attribute_that_is_not_finite_is_named_by_the_callers_row(name, bad):
    rng = np.random.default_rng(0)
    given = {"x": rng.random((50, 3)), "edge_attr": rng.random((400, 3))}
    given[name][37, 1] = bad
    with pytest.raises(GraphError, match=rf"{name}.*\b37\b"):
        LSP(k=1, hash="auto").fit(Graph.from_edges(rng.integers(1, 50, (2, 400)), **given))


def test_attributes_of_owners_alone_leave_all_to_ties_and_the_first_of_equals_wins(seen):
    rng = np.random.default_rng(0)
    ends, x = np.stack([rng.integers(0, 20, 200), rng.integers(0, 30, 200)]), rng.random((30, 4), np.float32)
    graph = Graph.from_edges(ends, num_nodes=(20, 30), x=(None, x))
    fitted = LSP(k=2, hash="auto").fit(graph)
    assert len(set(seen.scores)) == 1 < len(seen.scores)
    assert chosen(fitted) == Candidate(Projection(), ("owner",))
    np.testing.assert_array_equal(fitted.mask(graph), LSP(k=2).fit(graph).mask(graph))


def test_wide_sparse_rows_are_made_dense_for_few_nodes(monkeypatch):
    monkeypatch.setattr(calibration, "MAX_TRIAL_VALUES", 1 << 21)
    rng = np.random.default_rng(0)
    x = scipy.sparse.random(6_000, 4_000, density=0.002, format="csr", dtype=np.float32, random_state=rng)
    graph = Graph.from_edges(rng.integers(0, 6_000, (2, 20_000)), x=x)
    parts = describe(graph, "in", ("neighbour",), seed=0)
    tracemalloc.start()
    made = calibration._trials(LSP(k=1, hash="auto"), graph, parts, runtime(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made is not None and 500 < made.clean.num_edges <= calibration.MAX_TRIAL_VALUES // 4_000
    assert peak < 90e6  # all nodes would take 96 MB as float32, and many times that with noise


def test_a_star_is_tried_and_learned_from_in_part(monkeypatch, seen):
    """And which part does not depend on the order of its edges, of which some are parallel."""
    monkeypatch.setattr(calibration, "MAX_LEARNING_EDGES", 1 << 11)
    rng = np.random.default_rng(0)
    ends = np.stack([rng.integers(1, 200, 20_000), np.zeros(20_000, np.int64)])
    attr = (rng.standard_normal((90, 6))[rng.integers(0, 90, 20_000)]).astype(np.float32)
    graph = Graph.from_edges(ends, num_nodes=200, edge_attr=attr)
    fitted = LSP(k=2, hash="auto").fit(graph)
    assert set(seen.edges) == {calibration.MAX_OWNER_EDGES} and set(seen.learned_from) == {1 << 11}
    scores, seen.scores[:] = list(seen.scores), []
    assert LSP(k=2, hash="auto").fit(shuffled(graph, rng.permutation(20_000))) == fitted
    assert seen.scores == scores


def test_a_hub_behind_small_owners_is_learned_from(monkeypatch, seen):
    monkeypatch.setattr(calibration, "MAX_LEARNING_EDGES", 1 << 11)
    rng = np.random.default_rng(0)
    target = np.concatenate([np.zeros(5_000, np.int64), np.repeat(np.arange(1, 51), 3)])
    attr = rng.standard_normal((5_150, 4)).astype(np.float32)
    LSP(k=2, hash="auto").fit(Graph.from_edges(np.stack([np.arange(51, 5_201), target]), edge_attr=attr))
    assert set(seen.learned_from) == {1 << 11}
    assert set(seen.edges) == {calibration.MAX_OWNER_EDGES + 150}


def test_many_edges_are_tried_but_no_more_than_said(seen):
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 900, (2, 20_000)), x=rng.standard_normal((900, 4)).astype(np.float32))
    LSP(k=2, hash="auto").fit(graph)
    assert len(set(seen.edges)) == 1
    assert (
        8_000 < seen.edges[0] <= calibration.MAX_TRIAL_EDGES == 8_192
    )  # with few, the scores of good candidates are chance
    assert seen.learned_from[0] > 19_000


def test_fitted_and_unfitted_agree_on_any_threads_and_in_any_order():
    graph = clustered()
    pruner = LSP(k=2, hash="auto", seed=3)
    fitted = pruner.fit(graph, threads=1)
    mask = pruner.mask(graph, threads=2)
    np.testing.assert_array_equal(fitted.mask(graph), mask)
    order = np.random.default_rng(1).permutation(4000)
    other = shuffled(graph, order)
    assert (again := pruner.fit(other)) == fitted
    np.testing.assert_array_equal(again.mask(other), mask[order])


def test_the_reference_makes_the_same_choice():
    rng = np.random.default_rng(0)
    x, attr = rng.random((12, 3), np.float32), rng.random((60, 2), np.float32)
    graph = Graph.from_edges(rng.integers(0, 12, (2, 60)), x=x, edge_attr=attr)
    pruner = LSP(k=2, hash="auto")
    assert pruner.fit(graph, executor="reference") == pruner.fit(graph)


def test_noise_does_not_depend_on_the_order_of_edges():
    graph = clustered()
    order = np.random.default_rng(1).permutation(4000)
    pruner = LSP(k=2, hash="auto")
    parts = describe(graph, "in", ("edge",), seed=0)
    one, other = (calibration._trials(pruner, some, parts, runtime(1)) for some in (graph, shuffled(graph, order)))
    np.testing.assert_array_equal(one.clean.edge_attr, other.clean.edge_attr)
    np.testing.assert_array_equal(one.noisy.edge_attr, other.noisy.edge_attr)
    np.testing.assert_array_equal(one.noisy.ends(), other.noisy.ends())


@pytest.mark.parametrize("ties", ["hash", "id", "position"])
def test_identity_of_nodes_is_of_no_help(seen, ties):
    """Ties go by the neighbour's number: nodes are renamed, so that who cannot tell edges apart scores low."""
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 200, (2, 3000)), x=np.ones((200, 4), np.float32))
    with pytest.warns(ConstantWarning) as said:
        fitted = PaperLSP(k=2, hash="auto", ties=ties).fit(graph)
    assert len(said) == 1  # of the winner, not of every candidate
    assert max(seen.scores) < 0.2
    assert fitted.options.ties == ties


def test_a_constant_part_is_passed_over_without_a_warning():
    rng = np.random.default_rng(0)
    x, attr = rng.standard_normal((200, 4)).astype(np.float32), np.ones((3000, 2), np.float32)
    assert LSP(k=2, hash="auto").fit(Graph.from_edges(rng.integers(0, 200, (2, 3000)), x=x, edge_attr=attr))


def test_categories_that_the_sample_lacks_are_known(monkeypatch):
    """Candidates learn from few owners here: not all values of a category occur there."""
    monkeypatch.setattr(calibration, "MAX_LEARNING_EDGES", 8)
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 90, (2, 2000)), x=np.arange(90), edge_attr=rng.random((2000, 2)))
    assert LSP(k=2, hash="auto").fit(graph).mask(graph).any()


@pytest.mark.parametrize("values", ["unit", "raw"])
def test_with_weights_families_are_tried_that_can_have_them(seen, values):
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 60, (2, 900)), edge_attr=rng.random((900, 1), np.float32) + 0.01)
    fitted = PaperLSP(k=2, hash="auto", weights="edge", values=values).fit(graph)
    assert fitted.options.weights == Column() and fitted.mask(graph).any()
    for candidate in seen.tried:
        PaperLSP(k=2, hash=candidate.family, weights="edge", values=values).mask(graph)
    assert len(seen.tried) == (13 if values == "unit" else 12)


def test_two_kinds_of_nodes_and_graphs_without_attributes():
    rng = np.random.default_rng(0)
    ends = np.stack([rng.integers(0, 20, 200), rng.integers(0, 30, 200)])
    x = (rng.standard_normal((20, 6)).astype(np.float32), rng.standard_normal((30, 4)).astype(np.float32))
    for side in ("in", "out"):
        mask = LSP(k=2, hash="auto", side=side).mask(Graph.from_edges(ends, num_nodes=(20, 30), x=x))
        assert mask.sum() == np.minimum(np.bincount(ends[1 if side == "in" else 0]), 2).sum()
    with pytest.raises(GraphError, match="neither node attributes"):
        LSP(k=1, hash="auto").fit(Graph.from_edges(ends, num_nodes=(20, 30)))


def test_the_overlap_is_the_mean_jaccard_index_of_the_owners():
    owner = np.array([0, 0, 0, 1, 1, 2, 2])
    first = np.array([True, True, False, True, False, True, False])
    second = np.array([True, False, True, True, False, False, True])
    assert mean_overlap(first, second, owner) == pytest.approx((1 / 3 + 1 + 0) / 3)


def test_scales_are_shared_by_candidates_on_the_same_parts(monkeypatch):
    """And are those of each candidate alone; a family that learns is fitted by itself."""
    graph, fits = clustered(), []
    fit = LSP.fit_graph
    monkeypatch.setattr(LSP, "fit_graph", lambda self, *rest: fits.append(self.hash) or fit(self, *rest))
    fitted = LSP(k=2, hash="auto").fit(graph)
    plain = [family for family in fits if not family.learns and not family.chosen_by_fit]
    assert len(plain) <= 6 + 1  # once for each of six sets of parts, and the winner
    assert fits[-1] == fitted.options.hash
    assert fitted == LSP(k=2, hash=fitted.options.hash, attributes=fitted.options.attributes).fit(graph)
