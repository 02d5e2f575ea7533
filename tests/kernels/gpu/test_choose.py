"""The edges that torch takes are those of the definition. `test_choose_triton` has the same cases for Triton."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_selections import Selection, chosen, defined, first_come, one_owner, random_selection, tensor

from lsprune.kernels.gpu.choose import MAX_BOTTOM_STEPS, chooser


def check(case: Selection, device) -> np.ndarray:
    taken = chosen(case, device, chooser)
    np.testing.assert_array_equal(taken, defined(case))
    return taken


@pytest.mark.parametrize("seed", range(30))
def test_any_owners_take_the_edges_of_the_definition(seed, device):
    check(random_selection(seed), device)


@pytest.mark.parametrize("ties", [0, 1, 2])
@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("columns", [1, 8])
def test_equal_keys_go_by_the_tie_rule(ties, ranked, columns, device):
    case = one_owner(40, np.zeros((40, columns), np.int32), 6, ties=ties, ranked=ranked)
    taken = check(case, device)
    if ties == 2:
        assert np.flatnonzero(taken).tolist() == list(range(6))
    elif ties == 1:
        assert sorted(case.neighbour[taken != 0]) == [0, 0, 1, 1, 2, 2]


def test_ties_go_by_ids_within_each_graph(device):
    # The same owner twice, in two graphs: the ids of the second begin at 50.
    neighbour, table = np.random.default_rng(0).permutation(50), np.zeros((100, 8), np.int32)
    case = Selection(
        np.array([0, 50, 100]), np.concatenate([neighbour, neighbour + 50]), (table,), 5, bases=np.array([0, 50])
    )
    first, second = check(case, device).reshape(2, 50)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("columns", [1, 16])
def test_the_largest_and_smallest_keys_are_keys_like_others(dtype, columns, device):
    limits = np.array([np.iinfo(dtype).min, -1, 0, np.iinfo(dtype).max], dtype)
    keys = np.random.default_rng(0).choice(limits, (30, columns))
    for quota in (3, 14):
        check(one_owner(30, keys, quota), device)
    assert check(one_owner(30, np.full((30, columns), limits[-1]), 4), device).sum() == 4


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("columns", [1, 16])
def test_hubs_take_their_steps_among_all_their_edges(ranked, columns, device):
    keys = np.random.default_rng(1).integers(0, 500, (70_000, columns))
    case = one_owner(70_000, keys, 16, ties=2, ranked=ranked)
    ranks = first_come(np.broadcast_to(keys, (70_000, 16)))
    np.testing.assert_array_equal(chosen(case, device, chooser), ranks if ranked else ranks > 0)


@pytest.mark.parametrize("ranked", [False, True])
def test_more_steps_by_one_key_than_kernels_hold(ranked, device):
    quota = MAX_BOTTOM_STEPS + 9
    keys = np.random.default_rng(2).integers(0, 20, (90, 1)).astype(np.int32)
    assert np.count_nonzero(check(one_owner(90, keys, quota, ranked=ranked), device)) == quota


@pytest.mark.parametrize("ranked", [False, True])
def test_steps_beyond_the_last_function_keep_to_the_quota_of_each_owner(ranked, device):
    rng = np.random.default_rng(5)
    indptr, quota = np.concatenate([[0], np.cumsum(rng.integers(0, 60, 40))]), rng.integers(0, 40, 40)
    tables = tuple(rng.integers(0, 30, (70, columns)) for columns in (8, 1))
    case = Selection(indptr, rng.integers(0, 70, indptr[-1]), tables, quota, ranked=ranked)
    assert np.count_nonzero(check(case, device)) == np.minimum(quota, np.diff(indptr)).sum()


@pytest.mark.parametrize("origin", [0, 30])
def test_self_loops_stay_as_they_are_and_take_no_step(origin, device):
    # Owner 0 has loops alone, owner 1 loops with the smallest keys, owner 2 only just no choice, owner 3 no edge.
    ids = np.array([0, 0, 1, 1, 1, 5, 6, 7, 8, 2, 9, 10]) + origin
    table = np.tile(np.where(np.isin(np.arange(50), np.arange(3) + origin), -9, np.arange(50))[:, None], 8)
    case = Selection(np.array([0, 2, 9, 12, 12]), ids, (table,), 2, origin=origin)
    assert check(case, device).tolist() == [1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1]
    found = chooser(tensor(case.indptr, device), 2, 0, ranked=False, loops=tensor(case.loops, device))
    facts = found.facts.tolist()
    assert facts[found.kept_at] == 4 and facts[-1] == 1 and any(facts[: found.kept_at])


def test_nobody_chooses_where_quotas_cover_degrees(device):
    indptr = np.array([0, 3, 3, 8])
    found = chooser(tensor(indptr, device), 5, 0, ranked=False)
    facts = found.facts.tolist()
    assert not any(facts[: found.kept_at]) and facts[found.kept_at] == 8
    assert facts[found.kept_at + 1] == 0
    quota = tensor(np.array([3, 0, 4]), device)
    facts = chooser(tensor(indptr, device), quota, 0, ranked=False).facts.tolist()
    assert any(facts[: found.kept_at]) and facts[found.kept_at + 1] == 4
    facts = chooser(tensor(indptr, device), 5, 4, ranked=True).facts.tolist()
    assert any(facts[: found.kept_at]) and facts[found.kept_at + 1] == 5
    assert not any(chooser(tensor(indptr, device), 5, 5, ranked=True).facts.tolist()[: found.kept_at])


@pytest.mark.parametrize("indptr", [[0], [0, 0], [0, 0, 4, 4]])
@pytest.mark.parametrize("quota", [0, 2, 9])
@pytest.mark.parametrize("ranked", [False, True])
def test_owners_without_edges_and_quotas_of_zero(indptr, quota, ranked, device):
    neighbour = np.arange(indptr[-1])
    case = Selection(np.array(indptr), neighbour, (np.zeros((5, 8), np.int32),), quota, ranked=ranked)
    assert np.count_nonzero(check(case, device)) == min(quota, indptr[-1])
