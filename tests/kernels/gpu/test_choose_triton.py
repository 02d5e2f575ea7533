"""The edges that the Triton kernels take are those of the definition, for owners of every class."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_selections import Selection, chosen, defined, first_come, one_owner, random_selection, tensor, torch
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels.gpu import choose_triton as kernels
from lsprune.kernels.gpu.choose import Block, Chooser


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


def find(*args, **options) -> Chooser:
    facts = torch.zeros(kernels.FACTS, dtype=torch.int64, device=DEVICE)
    return Chooser(facts, kernels.classify(*args, facts, **options), kernels)


def check(case: Selection) -> np.ndarray:
    taken = chosen(case, DEVICE, find)
    np.testing.assert_array_equal(taken, defined(case))
    return taken


@runs
@pytest.mark.parametrize("seed", range(100, 108))
def test_any_owners_take_the_edges_of_the_definition(seed):
    check(random_selection(seed))


@runs
@pytest.mark.parametrize("columns", [1, 8, 16])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_owners_of_every_class_choose(dtype, columns):
    degree = np.array([c + more for c in kernels.CLASSES for more in (0, 1)])
    indptr = np.concatenate([[0], np.cumsum(degree)])
    rng = np.random.default_rng(columns)
    table = rng.integers(0, 2**31 - 1, (300, columns)).astype(dtype)
    check(Selection(indptr, rng.integers(0, 300, indptr[-1]), (table,), 3))


@runs
def test_owners_are_listed_by_class_and_hubs_by_chunks():
    degree = np.array([5, 6, 16, 17, 128, 129, 1024, 1025, 3000, 0])
    indptr = tensor(np.concatenate([[0], np.cumsum(degree)]), DEVICE)
    found = find(indptr, 5, 0, ranked=False)
    facts, lists = found.facts.tolist(), found.lists.tolist()
    members = [sorted(row[:count]) for row, count in zip(lists, facts[: len(kernels.CLASSES) + 1], strict=False)]
    assert members == [[1, 2], [3], [], [4], [5], [], [6], [7, 8]]
    assert facts[len(kernels.CLASSES) + 1 :] == [45, 5, 2 + 3, 0]


@runs
def test_more_owners_than_a_program_sorts():
    rng = np.random.default_rng(0)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 5, 1100))])
    table = rng.integers(0, 99, (50, 8)).astype(np.int32)
    check(Selection(indptr, rng.integers(0, 50, indptr[-1]), (table,), 2))


@runs
@pytest.mark.parametrize("ties", [0, 1, 2])
@pytest.mark.parametrize("ranked", [False, True])
def test_equal_keys_go_by_the_tie_rule_within_and_across_chunks(ties, ranked):
    for degree in (40, 2500):
        check(one_owner(degree, np.zeros((degree, 8), np.int32), 6, ties=ties, ranked=ranked))


@runs
@pytest.mark.parametrize(("columns", "ranked"), [(1, False), (16, False), (16, True)])
def test_hubs_with_more_candidates_than_lanes(columns, ranked):
    # 16 candidates of each of 65 chunks: they are merged in two parts. Ranks are for many equal keys.
    degree, largest = 65 * kernels.CHUNK - 7, 500 if ranked else 2**40
    keys = np.random.default_rng(1).integers(0, largest, (degree, columns))
    keys[-1000:] -= largest // 2  # the last candidates win often
    ranks = first_come(np.broadcast_to(keys, (degree, 16)))
    taken = chosen(one_owner(degree, keys, 16, ties=2, ranked=ranked), DEVICE, find)
    np.testing.assert_array_equal(taken, ranks if ranked else ranks > 0)


@runs
@pytest.mark.parametrize("ranked", [False, True])
def test_steps_beyond_the_last_function_keep_to_the_quota_of_each_owner(ranked):
    rng = np.random.default_rng(5)
    indptr, quota = np.concatenate([[0], np.cumsum(rng.integers(0, 60, 40))]), rng.integers(0, 24, 40)
    tables = tuple(rng.integers(0, 30, (70, columns)) for columns in (8, 1))
    case = Selection(indptr, rng.integers(0, 70, indptr[-1]), tables, quota, ranked=ranked)
    assert np.count_nonzero(check(case)) == np.minimum(quota, np.diff(indptr)).sum()


@runs
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("columns", [1, 16])
def test_the_largest_and_smallest_keys_are_keys_like_others(dtype, columns):
    limits = np.array([np.iinfo(dtype).min, -1, 0, np.iinfo(dtype).max], dtype)
    keys = np.random.default_rng(0).choice(limits, (30, columns))
    check(one_owner(30, keys, 14))
    assert check(one_owner(30, np.full((30, columns), limits[-1]), 4)).sum() == 4


@runs
def test_self_loops_stay_as_they_are_and_take_no_step():
    rng = np.random.default_rng(3)
    degree = np.array([2, 7, 20, 200, 2100, 3])
    indptr, owner = np.concatenate([[0], np.cumsum(degree)]), np.repeat(np.arange(6), degree)
    neighbour = np.where(rng.random(len(owner)) < 0.3, owner + 4, rng.integers(4, 300, len(owner)))
    neighbour[:2] = 4  # self-loops and nothing else
    table = rng.integers(0, 1000, (300, 8)).astype(np.int32)
    table[4:10] = -1
    for first in (4, 5):
        case = Selection(indptr, neighbour, (table, table), 12, origin=first)
        check(case)
        facts = find(tensor(indptr, DEVICE), 12, 0, ranked=False, loops=tensor(case.loops, DEVICE)).facts
        counted = degree - case.loops
        assert facts[-1] == (counted == 0).sum() and facts[len(kernels.CLASSES) + 1] == counted.clip(max=12).sum()


@runs
@pytest.mark.parametrize("quota", [0, 2, 9])
@pytest.mark.parametrize("ranked", [False, True])
def test_owners_without_edges_and_quotas_of_zero(quota, ranked):
    for indptr in ([0], [0, 0], [0, 0, 4, 4]):
        case = Selection(np.array(indptr), np.arange(indptr[-1]), (np.zeros((5, 8), np.int32),), quota, ranked=ranked)
        assert np.count_nonzero(check(case)) == min(quota, indptr[-1])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device here")
def test_keys_are_loaded_four_at_a_time_where_that_is_possible():
    def loads_four(dtype, bottom):
        table, none = torch.zeros((1, 8), dtype=dtype, device="cuda"), torch.zeros(1, device="cuda")
        return kernels._loads_four(Block(none, none, table, False, 1, 0, 1, None, 0, none, none, False, bottom))

    assert loads_four(torch.int32, False)
    assert not loads_four(torch.int64, False) and not loads_four(torch.int32, True)
