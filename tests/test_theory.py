"""What `docs/theory.md` proves, measured over 10,000 draws, and exactly for small neighbourhoods; and where it fails.

Ids that differ are hashed as independently as seeds are: 100 seeds of a graph with 100 copies are 10,000 draws.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from lsprune import LSP, Graph

SEEDS, COPIES = 100, 100


class Pairs:
    """Many copies of two owners, with `common` neighbours and some of their own; every copy has ids of its own.

    Args:
        same: whether the i-th neighbours of the two owners are one node; default: the first `common` are.
    """

    def __init__(self, first: int, second: int, common: int, copies: int = COPIES, same=None) -> None:
        self.degrees, self.copies = (first, second), copies
        total = first + second
        ids = np.arange(copies * total).reshape(copies, total)
        self.same = np.zeros((copies, min(first, second)), bool)
        self.same[:, :common] = True
        self.same = self.same if same is None else same
        paired = ids[:, first : first + self.same.shape[1]]
        paired[self.same] = ids[:, : self.same.shape[1]][self.same]
        owners = np.repeat(np.arange(2 * copies), np.tile(self.degrees, copies))
        self.ids, self.size = ids, (copies * total, 2 * copies)
        self.edges = np.stack([ids.ravel(), owners])
        self.jaccard = self.same.sum(1) / (total - self.same.sum(1))

    def graph(self, **attributes) -> Graph:
        return Graph.from_edges(self.edges, num_nodes=self.size, **attributes)

    def kept(self, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Overlap (share of the smaller kept set) and Jaccard of what the two owners keep, of every copy."""
        first, second = np.split(masks.reshape(-1, self.copies, sum(self.degrees)), [self.degrees[0]], axis=2)
        width = self.same.shape[1]
        both = (first[:, :, :width] & second[:, :, :width] & self.same).sum(2)
        sizes = first.sum(2), second.sum(2)
        return both / np.minimum(*sizes), both / (sizes[0] + sizes[1] - both)


def masks_of(pairs: Pairs, seeds: int = SEEDS, **options) -> np.ndarray:
    graph = pairs.graph(**{name: options.pop(name) for name in ("x", "edge_attr") if name in options})
    pruner = {"hash": "identity", "select": "bottom", **options}
    return np.array([LSP(seed=seed, **pruner).mask(graph, threads=1) for seed in range(seeds)])


def error(values: np.ndarray) -> float:
    """Three standard errors of a mean."""
    return 3 * float(values.std()) / values.size**0.5


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize(("first", "second", "common"), [(10, 10, 8), (15, 10, 5), (22, 22, 2), (13, 6, 6)])
def test_owners_keep_at_least_what_their_neighbourhoods_share(first, second, common, k):
    pairs = Pairs(first, second, common)
    overlap, jaccard = pairs.kept(masks_of(pairs, k=k))
    j = float(pairs.jaccard[0])
    assert overlap.size == 10_000
    assert overlap.mean() >= j - error(overlap)
    assert jaccard.mean() >= j / (2 - j) - error(jaccard)


def test_one_kept_neighbour_is_the_same_with_the_chance_j():
    pairs = Pairs(15, 10, 5)
    overlap, _ = pairs.kept(masks_of(pairs, k=1))
    assert abs(overlap.mean() - 0.25) < error(overlap)


@pytest.mark.parametrize("p", [0.3, 0.7, 0.95])
def test_matched_neighbours_that_collide_with_a_chance_are_kept_together(p):
    pairs = Pairs(12, 12, 0, same=np.random.default_rng(1).random((COPIES, 12)) < p)
    overlap, jaccard = pairs.kept(masks_of(pairs, k=3))
    per_copy = jaccard.mean(0)  # collisions are drawn once for each copy
    assert overlap.mean() >= p / (2 - p) - error(overlap.mean(0))
    assert jaccard.mean() >= p / (4 - 3 * p) - error(per_copy)


def exact(first: int, second: int, common: int, quotas: tuple[int, int]) -> tuple[Fraction, Fraction]:
    """The expected overlap and Jaccard of two bottom-k sets, over all orders of the codes."""
    union = first + second - common
    a, b = set(range(first)), {*range(common), *range(first, union)}
    overlaps, jaccards, count = Fraction(0), Fraction(0), 0
    for order in itertools.permutations(range(union)):
        one, two = (
            set([code for code in order if code in own][:quota]) for own, quota in zip((a, b), quotas, strict=True)
        )
        overlaps += Fraction(len(one & two), min(len(one), len(two)))
        jaccards += Fraction(len(one & two), len(one | two))
        count += 1
    return overlaps / count, jaccards / count


SMALL = [
    (first, second, common)
    for first, second in itertools.combinations_with_replacement(range(1, 5), 2)
    for common in range(1, first + 1)
    if first + second - common <= 5
]


@pytest.mark.parametrize(("first", "second", "common"), SMALL)
def test_the_bounds_hold_exactly_for_all_small_neighbourhoods_whatever_their_degrees(first, second, common):
    j = Fraction(common, first + second - common)
    for k in range(1, 5):
        overlap, jaccard = exact(first, second, common, (k, k))
        assert overlap >= j
        assert jaccard >= j / (2 - j)


def test_quotas_that_differ_have_a_smaller_bound():
    for one, two in ((1, 2), (2, 3), (1, 4)):
        for first, second, common in ((4, 4, 3), (4, 4, 4)):
            j = Fraction(common, first + second - common)
            overlap, jaccard = exact(first, second, common, (one, two))
            assert overlap >= j
            assert jaccard >= one * j / (one + two - one * j)
    assert exact(4, 4, 4, (1, 4))[1] == Fraction(1, 4)  # below j / (2 - j) = 1


def test_with_repeated_codes_both_bounds_fail():
    """{a, a, a, a, c} and {a, a, a, a, b} share four of six neighbours, and keep the same one a third of the time."""
    pairs = Pairs(5, 5, 4)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((COPIES, 3, 16))
    x = np.zeros((COPIES, 10, 16))
    x[:, :4], x[:, 4], x[:, 9] = rows[:, :1], rows[:, 1], rows[:, 2]
    x = (x.reshape(-1, 16), np.zeros((2 * COPIES, 16)))
    masks = masks_of(pairs, 20, x=x, k=1, hash="signs:bits=40", attributes=("neighbour",))
    overlap, jaccard = pairs.kept(masks)
    j = float(pairs.jaccard[0])
    assert abs(overlap.mean() - 1 / 3) < error(overlap)
    assert overlap.mean() < j - error(overlap)
    assert jaccard.mean() < j / (2 - j) - error(jaccard)


def weighted_pairs(weights: np.ndarray) -> tuple[Pairs, dict]:
    """Copies of two owners of 6 neighbours, of which they share 2; `weights` are those of the 12 slots."""
    pairs = Pairs(6, 6, 2)
    column = np.ones((pairs.size[0], 1), np.float32)
    column[pairs.ids.ravel(), 0] = np.tile(weights, COPIES)
    return pairs, {"x": (column, np.ones((pairs.size[1], 1), np.float32)), "weights": "neighbour:0"}


def test_with_weights_one_kept_neighbour_is_the_same_with_the_weighted_jaccard():
    weights = np.array([5.0, 3, 1, 1, 2, 2, 5, 3, 4, 1, 1, 1])
    pairs, options = weighted_pairs(weights)
    overlap, _ = pairs.kept(masks_of(pairs, k=1, **options))
    assert abs(overlap.mean() - 8 / 21) < error(overlap)


def test_with_weights_several_kept_neighbours_fail_either_bound():
    heavy, light = np.array([1000.0, 1] + [1] * 4), np.array([0.001, 0.001] + [1] * 4)
    pairs, options = weighted_pairs(np.tile(heavy, 2))
    overlap, _ = pairs.kept(masks_of(pairs, k=2, **options))
    assert overlap.mean() + error(overlap) < 1001 / 1009  # the Jaccard of weights
    pairs, options = weighted_pairs(np.tile(light, 2))
    overlap, _ = pairs.kept(masks_of(pairs, k=2, **options))
    assert overlap.mean() + error(overlap) < 2 / 10  # the Jaccard of sets
