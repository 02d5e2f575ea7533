"""Quotas that follow from the id of an owner, and the owner at which the budget ends."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa

from lsprune import LSP, LocalRandom
from lsprune.numeric.random_numbers import OWNER, draw
from lsprune.spark import budget as budgets
from lsprune.spark.budget import Budget, find_budget

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


def test_a_budget_follows_from_the_id():
    owner = np.arange(100)
    hashed = draw(5, OWNER, owner)
    last = int(np.argsort(hashed)[9])
    quota = Budget(2, 5, (int(hashed[last]), last)).of(owner)
    assert sorted(np.argsort(hashed)[:10].tolist()) == np.flatnonzero(quota == 3).tolist()
    assert (quota >= 2).all()


def test_owners_are_counted_by_the_next_bits_of_their_hash():
    owner = np.arange(5000)
    hashed = draw(3, OWNER, owner)
    prefix = int(hashed[17] >> np.uint64(48))
    batches = [pa.RecordBatch.from_pydict({"owner": part}) for part in np.array_split(owner, 7)]
    (found,) = budgets._CountDigits(3, 32, prefix).run(iter(batches))
    inside = hashed[(hashed >> np.uint64(48)) == np.uint64(prefix)]
    expected = np.bincount(((inside >> np.uint64(32)) & np.uint64(0xFFFF)).astype(int), minlength=1 << 16)
    counts = np.zeros(1 << 16, int)
    counts[found.column("digit").to_numpy()] = found.column("count").to_numpy()
    np.testing.assert_array_equal(counts, expected)
    near = np.concatenate([
        batch.column("id").to_numpy() for batch in budgets._OwnersWithPrefix(3, 16, prefix).run(iter(batches))
    ])  # fmt: skip
    assert sorted(draw(3, OWNER, near).tolist()) == sorted(inside.tolist())


def test_the_largest_quota_is_one_more_than_the_level_where_some_is_left():
    assert Budget(4).largest == 4
    assert Budget(4, 0, (9, 9)).largest == 5
    assert Budget(4).of(np.arange(3)).tolist() == [4, 4, 4]


def test_keep_is_exact_when_hashes_are_refined_bit_by_bit(tables, graph, monkeypatch, kept_by):
    monkeypatch.setattr(budgets, "MAX_COLLECTED_OWNERS", 0)
    from lsprune.spark import prune_spark

    edges, _ = tables
    for keep in (0.02, 0.5, 0.51):
        pruner = LocalRandom(keep=keep, seed=3)
        kept = kept_by(prune_spark(edges, None, pruner, position="n"))
        np.testing.assert_array_equal(kept, np.flatnonzero(pruner.mask(graph)))


def test_k_needs_no_look_at_the_degrees():
    assert find_budget(LSP(k=7).rules, None) == (Budget(7), None)
