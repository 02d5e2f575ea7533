from __future__ import annotations

import numpy as np
import pytest

from lsprune.kernels import cpu, reference


def test_hub_with_many_equal_keys_takes_the_chain_and_its_tie_rule():
    rng = np.random.default_rng(0)
    indptr, neighbour = np.array([0, 300]), rng.integers(0, 40, 300)
    table = rng.integers(0, 3, (40, 16)).astype(np.int32)
    for ties in range(3):
        results = []
        for module in (cpu, reference):
            taken = np.zeros(300, np.uint8)
            module.choose_nodes(0, 1, indptr, neighbour, table, 0, 16, np.array([16]), np.empty(0, np.int64), ties,
                                np.uint64(9), False, taken)  # fmt: skip
            results.append(taken)
        np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("degree", [12, 30, 50, 90])
def test_owners_of_every_size_agree_where_only_some_keys_are_equal(degree, width):
    # Minima are mostly alone, but those that come after a collision are often tied: every shortcut has to notice.
    rng = np.random.default_rng(degree)
    owners, steps = 60, width - 1
    indptr, neighbour = np.arange(owners + 1) * degree, rng.integers(0, 500, owners * degree)
    table = rng.geometric(0.03, (500, width)).astype(np.int32) * -1
    results = []
    for module in (cpu, reference):
        taken = np.zeros(owners * degree, np.uint8)
        quota, none = np.full(owners, steps), np.empty(0, np.int64)
        module.choose_nodes(
            0, owners, indptr, neighbour, table, 0, steps, quota, none, 0, np.uint64(3), False, taken
        )  # fmt: skip
        results.append(taken)
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("name", ["choose_steps", "choose_with_replacement"])
@pytest.mark.parametrize("ties", [0, 1, 2])
@pytest.mark.parametrize("ranked", [False, True])
def test_keys_of_edges_are_chosen_by_as_the_definition_says(name, ties, ranked):
    # Few distinct keys and a second block of steps, which skips what the first one took.
    rng = np.random.default_rng(ties)
    degree = rng.integers(0, 12, 40)
    indptr, bases = np.concatenate([[0], np.cumsum(degree)]), np.full(40, 5)
    neighbour, keys = rng.integers(5, 30, indptr[-1]), rng.integers(0, 4, (2, indptr[-1], 3))
    results = []
    for module in (cpu, reference):
        taken = np.zeros(indptr[-1], np.uint8)
        for block in range(2):
            getattr(module, name)(0, 40, indptr, neighbour, keys[block], 3 * block, np.full(40, 5), bases, ties,
                                  np.uint64(7), ranked, taken)  # fmt: skip
        results.append(taken.tolist())
    assert results[0] == results[1]
