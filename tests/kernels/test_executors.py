from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphs import random_graph
from lsprune import LSP, OptionError
from lsprune.kernels import compress, compress_csr, cpu, reference, runtime, threads
from lsprune.numeric import normal_table as normals
from lsprune.numeric import random_numbers as mix

FEW = settings(max_examples=25, deadline=None, derandomize=True)
rows = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 6), st.integers(1, 40)),
    elements=st.floats(-(2.0**127), 2.0**127, width=32) | st.sampled_from([0.0, 1.0, -1.0, 2.0**-130, 2.0**-115]),
)


@given(x=rows, unit=st.booleans(), exponent=st.integers(6, 20))
@FEW
def test_rows_become_the_same_integers(x, unit, exponent):
    centre = np.arange(x.shape[1], dtype=np.int32) * 3
    ours, theirs = np.zeros(x.shape, np.int16), np.zeros(x.shape, np.int16)
    assert cpu.quanta(x, unit, exponent, centre, ours) == reference.quanta(x, unit, exponent, centre, theirs) == -1
    np.testing.assert_array_equal(ours, theirs)


@given(x=rows)
@FEW
def test_statistics_are_the_same(x):
    for function in ("sums", "spread"):
        results = []
        for module in (cpu, reference):
            sums, histogram = np.zeros(x.shape[1], np.int64), np.zeros(64, np.int64)
            if function == "sums":
                assert module.unit_sums(x, sums) == -1
            else:
                module.unit_spread(x, np.full(x.shape[1], 7), histogram, sums)
            results.append((sums.tolist(), histogram.tolist(), module.raw_top(x)))
        assert results[0] == results[1]


@given(x=rows, unit=st.booleans())
@FEW
def test_projections_and_signatures_are_the_same(x, unit):
    rng = np.random.default_rng(0)
    dim, centre = x.shape[1], np.zeros(x.shape[1], np.int32)
    weights = rng.integers(-117, 118, (3, dim)).astype(np.int16)
    entry, threshold = rng.integers(0, dim, (3, 4)), rng.integers(-50, 50, (3, 4))
    code = rng.integers(0, 2**63, (3, 4)).astype(np.uint64) * np.uint64(2)
    results = []
    for module in (cpu, reference):
        out = np.zeros((x.shape[0], 8), np.int32 if unit else np.int64)
        signs = np.zeros((x.shape[0], 3), np.uint64)
        assert module.project(x, unit, 9, centre, weights, out) == -1
        assert module.signature(x, unit, 9, centre, entry, threshold, code, signs) == -1
        results.append((out, signs))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_many_columns_do_not_overflow():
    x = np.full((2, 1 << 17), 1, np.float32)
    x[1] = -1
    weights = np.full((1, 1 << 17), 117, np.int16)
    out = np.zeros((2, 8), np.int32)
    centre = np.zeros(1 << 17, np.int32)
    assert cpu.project(x, True, 16, centre, weights, out) == -1
    q = np.zeros(x.shape, np.int16)
    cpu.quanta(x, True, 16, centre, q)
    assert q.max() == 127
    assert out[:, 0].tolist() == (q.astype(np.int64) @ weights[0].astype(np.int64)).tolist()


@pytest.mark.parametrize("where", [0, 3])
def test_rows_that_are_not_finite_are_found(where):
    x = np.ones((4, 3), np.float32)
    x[where, 2] = np.nan
    centre = np.zeros(3, np.int32)
    for module in (cpu, reference):
        assert module.quanta(x, True, 7, centre, np.zeros((4, 3), np.int16)) == where
        assert module.quanta(x, False, 7, centre, np.zeros((4, 3), np.int16)) == where
        assert module.unit_sums(x, np.zeros(3, np.int64)) == where
        assert module.raw_top(x) >= 255 << 23


@pytest.mark.parametrize("one_level", [True, False])
@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize(("nodes", "edges"), [(1, 5), (9000, 30000), (5000, 0), (0, 0)])
def test_grouping_is_stable_and_the_same_on_any_number_of_threads(nodes, edges, skip, one_level, monkeypatch):
    monkeypatch.setattr(cpu, "ONE_LEVEL", 1 << 40 if one_level or not edges else 0)
    rng = np.random.default_rng(0)
    owner, neighbour = rng.integers(0, max(nodes, 1), (2, edges if nodes else 0))
    expected = reference.group(owner, neighbour, nodes, nodes, skip, 1)
    for count in (1, 2, 5):
        for ours, theirs in zip(cpu.group(owner, neighbour, nodes, nodes, skip, count), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_grouping_takes_ids_that_need_64_bits():
    owner, neighbour = np.array([1, 0, 1]), np.array([2**40, 5, 2**33])
    indptr, other, edge = cpu.group(owner, neighbour, 2, 2**41, True, 2)
    assert (indptr.tolist(), other.tolist(), edge.tolist()) == ([0, 1, 3], [5, 2**40, 2**33], [1, 0, 2])


def test_csr_loses_its_self_loops():
    indptr, neighbour = np.array([0, 2, 3, 5]), np.array([0, 1, 2, 2, 2])
    for module in (cpu, reference):
        new_indptr, other, edge = module.without_loops(indptr, neighbour, 2)
        assert (new_indptr.tolist(), other.tolist(), edge.tolist()) == ([0, 1, 2, 2], [1, 2], [1, 2])
        assert module.without_loops(np.array([0, 1]), np.array([5]), 1)[2] is None


@given(st.integers(0, 3000), st.integers(1, 4), st.integers(0, 2**31))
@FEW
def test_compress_is_indexing(size, count, seed):
    rng = np.random.default_rng(seed)
    mask = rng.random(size) < rng.random()
    arrays = (rng.integers(0, 100, size), rng.random(size).astype(np.float32))
    cpu_span, cpu.SPAN = cpu.SPAN, 64
    try:
        results = tuple(np.empty(int(mask.sum()), array.dtype) for array in arrays)
        cpu.compress(mask, arrays, results, count)
    finally:
        cpu.SPAN = cpu_span
    for ours, array in zip(results, arrays, strict=True):
        np.testing.assert_array_equal(ours, array[mask])
        assert ours.dtype == array.dtype


def test_compress_of_a_large_array_is_indexing():
    mask = np.random.default_rng(0).random(1 << 19) < 0.5
    numbers = np.arange(1 << 19)
    numbers.flags.writeable = False
    np.testing.assert_array_equal(compress(mask, numbers), np.flatnonzero(mask))
    both = np.stack([numbers, numbers[::-1]], axis=1).T  # not in C order
    np.testing.assert_array_equal(compress(mask, both, threads=3), both[:, mask])


def test_compress_csr():
    assert compress_csr(np.array([0, 2, 2, 5]), np.array([1, 0, 1, 1, 0], bool)).tolist() == [0, 1, 1, 3]


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


@given(st.integers(0, 2**64 - 1))
@FEW
def test_splitmix_is_the_same_everywhere(value):
    plain = reference.mix(value)
    assert int(mix.mix64(np.array(value, np.uint64))) == plain
    assert int(cpu.choose.mix(np.uint64(value))) == plain


def test_splitmix_is_the_published_generator():
    # The first outputs of the generator seeded with 1234567, as its author's C code prints them.
    state, outputs = 1234567, []
    for _ in range(3):
        outputs.append(reference.mix(state))
        state = (state + mix.GOLDEN) % 2**64
    assert outputs == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_stored_normals_are_the_quantiles():
    from statistics import NormalDist

    expected = [round(NormalDist().inv_cdf((i + 0.5) / 4096) * 32) for i in range(4096)]
    assert normals.table().tolist() == expected
    draws = normals.normal(mix.draw(3, np.arange(200_000))) / 32
    assert abs(draws.mean()) < 0.01
    assert abs(draws.std() - 1) < 0.01


@pytest.mark.parametrize("value", ["²", "٣", "1e3", "-1", "0", "000", "2.0", "+2", "0x2", "1_0", "9" * 5000, "2 2"])
def test_numbers_of_threads_that_are_none_are_refused(monkeypatch, value):
    monkeypatch.setenv("LSPRUNE_THREADS", value)
    with pytest.raises(OptionError, match="LSPRUNE_THREADS must be a whole number >= 1, got"):
        threads.count()


@pytest.mark.parametrize(("value", "count"), [(" 2", 2), ("02", 2), ("2\n", 2), ("99999999", threads.MOST)])
def test_numbers_of_threads_may_have_space_around_them(monkeypatch, value, count):
    monkeypatch.setenv("LSPRUNE_THREADS", value)
    assert threads.count() == count


def test_no_number_of_threads_is_all_cores(monkeypatch):
    monkeypatch.delenv("LSPRUNE_THREADS", raising=False)
    cores = threads.count()
    for nothing in ("", "  "):
        monkeypatch.setenv("LSPRUNE_THREADS", nothing)
        assert threads.count() == cores


def test_threads_come_from_the_argument_then_the_environment(monkeypatch):
    monkeypatch.setenv("LSPRUNE_THREADS", "3")
    assert threads.count() == 3
    assert threads.count(2) == 2
    monkeypatch.setenv("LSPRUNE_THREADS", "many")
    with pytest.raises(OptionError, match="LSPRUNE_THREADS must be a whole number >= 1, got 'many'"):
        threads.count()
    for wrong in (0, -1, 1.5, True, "2", b"2", float("nan"), [], object()):
        with pytest.raises(OptionError, match="threads must be a whole number >= 1, got"):
            threads.count(wrong)
    assert threads.count(np.int64(2)) == 2
    assert threads.count(2**70) == threads.MOST
    with pytest.raises(OptionError, match="executor must be one of cpu, reference, gpu, got 'tpu'"):
        runtime(1, "tpu")


def test_an_error_in_a_thread_reaches_the_caller():
    def fail():
        raise ValueError("from a thread")

    with pytest.raises(ValueError, match="from a thread"):
        threads.run([lambda: None, fail, lambda: None], 3)


def test_a_damaged_numba_cache_is_compiled_anew(tmp_path):
    code = (
        "import numpy as np; from lsprune import LSP, Graph;"
        "g = Graph.from_edges(np.random.default_rng(0).integers(0, 9, (2, 60)), x=np.eye(9));"
        "print(LSP(k=2).mask(g).astype(int).tolist())"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def call():
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)

    expected = call().stdout
    files = [path for path in tmp_path.rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert files
    for i, path in enumerate(files):
        path.write_bytes([b"", path.read_bytes()[:37], b"not a cache at all"][i % 3])
    assert call().stdout == expected


def test_global_thread_settings_are_left_alone():
    torch = pytest.importorskip("torch")
    import numba

    before = (torch.get_num_threads(), numba.get_num_threads())
    LSP(k=2).mask(random_graph(0), threads=7)
    assert (torch.get_num_threads(), numba.get_num_threads()) == before


@pytest.mark.parametrize("functions", [8, 16])
@pytest.mark.parametrize("columns", [1, 5, cpu.NARROW, cpu.NARROW + 1, 40, 130])
def test_rows_that_are_integers_already_are_projected_exactly(columns, functions):
    rng = np.random.default_rng(columns)
    q = rng.integers(-127, 128, (30, columns)).astype(np.int8)
    weights = rng.integers(-127, 128, (functions - 1, columns)).astype(
        np.int16
    )  # one function fewer than there is room
    results = [np.full((30, functions), 99, np.int32) for _ in range(2)]
    for module, out in zip((cpu, reference), results, strict=True):
        module.project_quanta(q, weights, out)
    np.testing.assert_array_equal(results[0][:, :-1], q.astype(np.int64) @ weights.T)
    np.testing.assert_array_equal(results[0][:, :-1], results[1][:, :-1])


def test_attributes_made_integers_once_give_the_same_masks():
    graph = random_graph(1, nodes=60, edges=3000, dim=40)  # more than 32 steps: made integers once; k=8: every time
    pruner = LSP(k=40, attributes=("neighbour",))
    few, many = LSP(k=8, attributes=("neighbour",)).mask(graph), pruner.mask(graph)
    assert many[few].all() and many.sum() > few.sum()
    np.testing.assert_array_equal(many, pruner.mask(graph, executor="reference"))
