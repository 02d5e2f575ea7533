"""Tables of edges: the same rows whatever library holds them, same kind back, ids of any kind, clear errors."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pytest

from lsprune import LSP, Graph, GraphError, LocalRandom, OptionError, Random, mask, prune
from lsprune.baselines import Jaccard, TopWeight
from lsprune.weights import Column

RNG = np.random.default_rng(0)
PAIRS = np.unique(RNG.integers(0, 40, (2, 400)), axis=1)
SOURCE, TARGET = PAIRS[:, RNG.permutation(PAIRS.shape[1])]  # no parallel edges, which would be exchangeable
ROWS = SOURCE.shape[0]
WEIGHT = RNG.permutation(ROWS).astype(np.float64) - 50
X = RNG.normal(size=(40, 3)).astype(np.float32)


def arrow(source=SOURCE, target=TARGET, **more) -> pa.Table:
    return pa.table({"src": source, "dst": target, "w": WEIGHT, "note": [f"row {i}" for i in range(ROWS)], **more})


def libraries() -> dict[str, object]:
    table = arrow()
    found = {"Table": table, "RecordBatch": table.to_batches()[0], "InMemoryDataset": pads.dataset(table)}
    try:
        import pandas  # noqa: F401

        found["pandas"] = table.to_pandas().set_index(np.arange(ROWS)[::-1] * 3)
    except ImportError:
        pass
    try:
        import polars

        found["polars"], found["LazyFrame"] = polars.from_arrow(table), polars.from_arrow(table).lazy()
    except ImportError:
        pass
    try:
        import duckdb

        found["duckdb"] = duckdb.from_arrow(table)
    except ImportError:
        pass
    return found


def as_arrow(data) -> pa.Table:
    if type(data).__module__.startswith("pandas"):
        return pa.Table.from_pandas(data, preserve_index=False)
    if hasattr(data, "collect"):
        data = data.collect()
    if isinstance(data, pads.Dataset):
        return data.to_table()
    return data if isinstance(data, pa.Table) else pa.table(data)


@pytest.mark.parametrize("name", libraries())
@pytest.mark.parametrize(
    "pruner", [LocalRandom(k=2), TopWeight(keep=0.3, column="w"), LSP(k=2, hash="identity")], ids=repr
)
def test_every_library_gives_the_rows_of_plain_arrays_and_its_own_kind_back(name, pruner):
    data = libraries()[name]
    edges = Graph.from_edges((SOURCE, TARGET), edge_weight=WEIGHT)
    expected = (pruner if pruner.name != "top-weight" else TopWeight(keep=0.3)).mask(edges)
    pruned, kept = prune(data, pruner, return_mask=True)
    assert type(pruned) is type(data)
    assert np.array_equal(kept, expected)
    whole = arrow().filter(pa.array(expected))
    assert as_arrow(pruned).select(whole.column_names).to_pydict() == whole.to_pydict()


def test_a_frame_keeps_its_index_and_types():
    pandas = pytest.importorskip("pandas")
    frame = arrow().to_pandas()
    frame.index = pandas.date_range("2020", periods=ROWS, tz="Europe/Berlin")
    frame["kind"], frame["small"] = pandas.Categorical(["a", "b"] * (ROWS // 2) + ["a"] * (ROWS % 2)), np.int8(3)
    before = frame.copy()
    pruned, kept = prune(frame, LocalRandom(k=2), return_mask=True)
    pandas.testing.assert_frame_equal(pruned, before[kept])
    pandas.testing.assert_frame_equal(frame, before)


IDS = {
    "text": lambda i: f"user {i}",
    "empty and unicode text": lambda i: "ä" * i,
    "bytes": lambda i: bytes([i, 0, i]),
    "large numbers": lambda i: 10**15 + 7 * i,
    "negative numbers": lambda i: 5 - i,
    "dates": lambda i: datetime.date(2020, 1, 1) + datetime.timedelta(days=i),
    "times with zones": lambda i: datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(hours=i),
    "decimals": lambda i: decimal.Decimal(i) / 4,
}
PRUNERS = [
    LocalRandom(k=2), LocalRandom(keep=0.31), Random(keep=0.3), LSP(keep=0.31, hash="identity", symmetric="union"),
    Jaccard(keep=0.31), TopWeight(keep=0.31, column="w"),
]  # fmt: skip


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("pruner", PRUNERS, ids=repr)
def test_the_order_of_the_rows_does_not_matter(kind, pruner):
    values = [IDS[kind](i) for i in range(40)]
    table = arrow([values[i] for i in SOURCE], [values[i] for i in TARGET])
    order = np.random.default_rng(4).permutation(ROWS)
    kept, again = mask(table, pruner), mask(table.take(pa.array(order)), pruner)
    assert np.array_equal(kept[order], again) and kept.any() and not kept.all()


def test_other_nodes_do_not_change_ties():
    values = [f"user {i}" for i in range(40)]
    ends = [values[i] for i in SOURCE], [values[i] for i in TARGET]
    table, pruner = arrow(*ends), LocalRandom(k=2)
    more = pa.table({"src": [*ends[0], "a", "b"], "dst": [*ends[1], "zz", "zy"]})
    assert np.array_equal(mask(more, pruner)[:-2], mask(table, pruner))


def test_the_same_ids_choose_the_same_edges_in_any_type():
    text = pa.array([f"user {i}" for i in SOURCE]), pa.array([f"user {i}" for i in TARGET])
    tables = [arrow(*text), arrow(*(column.cast(pa.large_string()) for column in text))]
    tables.append(arrow(*(column.dictionary_encode() for column in text)))
    masks = [mask(table, LocalRandom(k=2)) for table in tables]
    assert all(np.array_equal(masks[0], other) for other in masks[1:])
    whole = [mask(arrow(SOURCE.astype(kind), TARGET.astype(kind)), LocalRandom(k=2)) for kind in (np.int8, np.uint64)]
    assert np.array_equal(whole[0], LocalRandom(k=2).mask(np.stack([SOURCE, TARGET]))) and np.array_equal(*whole)


def test_tuples_are_ids_and_lists_are_not():
    pd = pytest.importorskip("pandas")
    pairs = [(1, 2), (2, 3), (1, 1)]
    frame = pd.DataFrame({"src": pairs, "dst": [(9, 9)] * 3, "w": [1.0, 3.0, 2.0]})
    assert prune(frame, TopWeight(k=1, column="w"))["src"].tolist() == [(2, 3)]
    with pytest.raises(GraphError, match="ids must be hashable"):
        prune(frame.assign(src=list(map(list, pairs))), TopWeight(k=1, column="w"))


def test_any_hashable_objects_are_ids():
    pandas = pytest.importorskip("pandas")
    names = [(i, "a") if i % 2 else f"node {i}" for i in range(40)]
    frame = pandas.DataFrame({"src": [names[i] for i in SOURCE], "dst": [names[i] for i in TARGET]})
    kept = mask(frame, LocalRandom(k=2))
    order = np.random.default_rng(1).permutation(ROWS)
    assert np.array_equal(mask(frame.iloc[order], LocalRandom(k=2)), kept[order])
    with pytest.raises(GraphError, match="ids must be hashable"):
        prune(pandas.DataFrame({"src": [[1], "a", 2], "dst": ["a", "b", "c"]}), LocalRandom(k=1))


def test_remainders_go_by_the_id_and_not_by_the_number_of_a_node():
    table = arrow(3 * SOURCE + 1, 3 * TARGET + 1)  # gaps: a table of nodes numbers only the ids that occur
    nodes = pa.table({"id": 3 * np.arange(40) + 1, "x": np.arange(40.0)})
    for keep in (0.2, 0.31, 0.45):
        pruner = LocalRandom(keep=keep)
        assert np.array_equal(mask(table, pruner), mask(table, pruner, features=nodes))


def test_a_pruner_finds_its_column_by_itself():
    pruner = TopWeight(k=2, column="w")
    assert np.array_equal(pruner.mask(arrow()), mask(arrow(), pruner))


@pytest.mark.parametrize("named", [False, True])
def test_features_are_rows_by_id_or_a_table_with_ids(named):
    expected = LSP(k=2).mask(Graph.from_edges((SOURCE, TARGET), num_nodes=40, x=X))
    values = [f"user {i}" for i in range(40)] if named else list(range(40))
    table = arrow([values[i] for i in SOURCE], [values[i] for i in TARGET])
    order = np.random.default_rng(2).permutation(40)
    nodes = pa.table({"node_id": [values[i] for i in order], **{f"x{j}": X[order, j] for j in range(3)}})
    kept = mask(table, LSP(k=2), features=nodes)
    if named:  # ties aside, features decide
        assert np.array_equal(kept, expected)
        with pytest.raises(GraphError, match="features must be a table with a column of ids"):
            mask(table, LSP(k=2), features=X)
        return
    assert np.array_equal(kept, expected) and np.array_equal(mask(table, LSP(k=2), features=X), expected)
    with pytest.raises(GraphError, match="features must have 40 rows or more, one for each id, got 30"):
        mask(table, LSP(k=2), features=X[:30])


def test_edge_attributes_are_columns_by_name():
    attributes = np.column_stack([WEIGHT, WEIGHT**2])
    graph = Graph.from_edges((SOURCE, TARGET), edge_attr=attributes)
    table = arrow(squares=WEIGHT**2)
    pruner = LSP(k=2, attributes=("edge",))
    assert np.array_equal(mask(table, pruner, edge_attr=["w", "squares"]), pruner.mask(graph))
    heavy = LSP(k=2, hash="identity", weights=Column(column="positive"))
    kept = mask(arrow(positive=WEIGHT + 60), heavy)
    single = LSP(k=2, hash="identity", weights="edge")
    assert np.array_equal(kept, single.mask(Graph.from_edges((SOURCE, TARGET), edge_weight=WEIGHT + 60)))


def test_nanoseconds_are_told_apart():
    stamps = 1_700_000_000_000_000_000 + np.random.default_rng(0).permutation(ROWS)
    for column in (pa.array(stamps), pa.array(stamps).cast(pa.timestamp("ns", "UTC"))):
        kept = mask(arrow(time=column), TopWeight(k=2, column="time"))
        assert np.array_equal(kept, TopWeight(k=2).mask(Graph.from_edges((SOURCE, TARGET), edge_weight=stamps)))


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"a": [1], "b": [2]}, {}, "no columns source, target or src, dst .* name them with source= and target="),
        ({"src": [1], "dst": [2]}, {"source": "src"}, "source and target must be given together"),
        ({"src": [1], "dst": [2]}, {"source": "from", "target": "dst"}, "no column 'from'; it has 'src', 'dst'"),
        ({"src": [1, None], "dst": [2, 3]}, {}, "column 'src', row 1: a value is missing"),
        ({"src": ["a", None], "dst": ["b", "c"]}, {}, "column 'src', row 1: a value is missing"),
        ({"src": [1, 2], "dst": ["b", "c"]}, {}, "one kind: src has int64, dst has string"),
        (
            {"src": [1.5, 2], "dst": [1.0, 2]},
            {},
            "column 'src' must hold ids, got numbers that are not whole, such as 1.5",
        ),
        ({"src": [[1], [2]], "dst": [[1], [2]]}, {}, "column 'src' must hold ids, got list"),
        ({"src": [True], "dst": [False]}, {}, "column 'src' must hold ids, got bool"),
        ({"src": [1], "dst": [2], "t": ["x"]}, {"edge_attr": ["t"]}, "column 't' must be numbers, got string"),
    ],
)
def test_bad_tables_are_named(table, options, message):
    with pytest.raises(GraphError, match=message):
        prune(pa.table(table), LocalRandom(k=1), **options)


def test_bad_columns_of_pruners_are_named():
    with pytest.raises(GraphError, match="no column 'weight'"):
        prune(arrow(), TopWeight(k=1, column="weight"))
    with pytest.raises(GraphError, match="column 'note' must be numbers, got string"):
        prune(arrow(), TopWeight(k=1, column="note"))
    with pytest.raises(GraphError, match="column 'w' needs a value of each edge"):
        TopWeight(k=1, column="w").mask(np.stack([SOURCE, TARGET]))
    with pytest.raises(OptionError, match="column must be a number for part 'neighbour'"):
        Column(part="neighbour", column="w")
    broken = arrow(w2=np.where(WEIGHT == 3, np.inf, WEIGHT))
    with pytest.raises(GraphError, match="column 'w2' must be finite, got inf"):
        prune(broken, TopWeight(k=1, column="w2"))


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(GraphError, match="two columns named 'src'"):
        prune(pa.table([[1], [2], [3]], names=["src", "dst", "src"]), LocalRandom(k=1))


def test_options_of_tables_are_refused_elsewhere():
    with pytest.raises(OptionError, match="source must be None unless the edges are a table"):
        prune(np.stack([SOURCE, TARGET]), LocalRandom(k=1), source="a", target="b")


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ({"name": ["a"], "x": [1.0]}, "features must have a column of ids"),
        ({"id": [0, 0], "x": [1.0, 2]}, "one row for each id, got several for 0"),
        ({"id": [0], "x": [1.0]}, "a row for each id, got none for 1"),
        ({"id": [0, 1]}, "features must have columns besides the ids"),
    ],
)
def test_bad_tables_of_nodes_are_named(nodes, message):
    with pytest.raises(GraphError, match=message):
        prune(pa.table({"src": [0], "dst": [1]}), LSP(k=1), features=pa.table(nodes))


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
def test_an_empty_table_stays_empty(kind):
    empty = pa.table({"src": pa.array([], kind), "dst": pa.array([], kind)})
    assert prune(empty, LocalRandom(k=1)).equals(empty)
    pandas = pytest.importorskip("pandas")
    assert prune(pandas.DataFrame({"src": [], "dst": []}), LocalRandom(k=1)).shape == (0, 2)


def test_whole_numbers_that_pandas_stores_as_floats_are_ids():
    table = arrow(SOURCE.astype(float), TARGET.astype(float))
    assert np.array_equal(mask(table, LocalRandom(k=2)), mask(arrow(), LocalRandom(k=2)))


def test_both_ends_are_two_columns():
    with pytest.raises(GraphError, match="source and target must be two columns, got 'src' for both"):
        prune(arrow(), LocalRandom(k=2), source="src", target="src")
