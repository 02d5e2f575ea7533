"""Time: which edges take part, equal to a plain computation; exact beyond 2^53; in step in every kind of object."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from real_data import DATA

import lsprune
from lsprune import LSP, Graph, GraphError, Guarded, LocalRandom, NoEdges, OptionError, Random, Timed, mask, prune
from lsprune.baselines import TopWeight

BIG = 2**60
ALL = Random(keep=1.0, self_loops="edge")


def timed_graph(seed: int = 0, edges: int = 300, nodes: int = 20, base: int = BIG, **options) -> Graph:
    rng = np.random.default_rng(seed)
    return Graph.from_edges(
        rng.integers(0, nodes, (2, edges)), num_nodes=nodes, x=rng.normal(size=(nodes, 4)).astype(np.float32),
        edge_columns={"time": rng.integers(0, 30, edges) + base},
        node_columns={"time": rng.integers(0, 30, nodes) + base, "born": rng.integers(0, 30, nodes) + base}, **options,
    )  # fmt: skip


def plain(graph: Graph, side: str, until=None, since=None, window=None, node_time="time", edge_time=True) -> list[bool]:
    """The definition, in Python's own whole numbers."""
    source, target = (end.tolist() for end in graph.ends())
    owner, neighbour = (target, source) if side == "in" else (source, target)
    of_node = graph.node_columns["time"][0].tolist()
    times = graph.edge_columns["time"].tolist() if edge_time else [of_node[n] for n in neighbour]
    own = graph.node_columns[node_time][0].tolist()
    first = [since is None or t >= since for t in times]
    allowed = []
    for e, t in enumerate(times):
        limit = own[owner[e]] if until == "owner" else until
        if limit is None and window is not None:
            limit = max((times[i] for i in range(len(times)) if owner[i] == owner[e] and first[i]), default=None)
        allowed.append(
            first[e]
            and (limit is None or t <= limit)
            and (window is None or (limit is not None and t >= limit - window))
        )
    return allowed


OPTIONS = [
    {"until": BIG + 12}, {"since": BIG + 12}, {"until": BIG + 20, "since": BIG + 5}, {"until": BIG + 20, "window": 7},
    {"until": BIG + 20, "window": 0}, {"until": "owner"}, {"until": "owner", "window": 4}, {"window": 3}, {"window": 0},
    {"window": 6, "since": BIG + 10}, {"until": "owner", "node_time": "born"}, {"until": "owner", "since": BIG + 9},
]  # fmt: skip


@pytest.mark.parametrize("edge_time", [True, False])
@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_edges_within_the_time_are_those_of_a_plain_computation(options, side, edge_time):
    for seed in range(3):
        graph = timed_graph(seed)
        graph = graph if edge_time else graph.with_columns({}, {n: c[0] for n, c in graph.node_columns.items()})
        whole = Graph.from_edges(
            graph.ends(), edge_columns=timed_graph(seed).edge_columns,
            node_columns={n: c[0] for n, c in graph.node_columns.items()},
        )  # fmt: skip
        expected = plain(whole, side, edge_time=edge_time, **options)
        pruner = Timed(pruner=Random(keep=1.0, side=side, self_loops="edge"), **options)
        assert sum(expected) < graph.num_edges
        assert any(expected) or options == {"until": BIG + 20, "window": 0}
        assert pruner.mask(graph).tolist() == expected
        assert pruner.allowed(graph).tolist() == expected


INNER = [
    LSP(k=2), LSP(keep=0.4), LocalRandom(k=2), Random(keep=0.3), NoEdges(), TopWeight(k=2, column="time"),
    Guarded(pruner=LSP(keep=0.2), min_keep=2),
]  # fmt: skip


@pytest.mark.parametrize("inner", INNER, ids=repr)
@pytest.mark.parametrize("options", OPTIONS[::3], ids=str)
def test_the_inner_pruner_chooses_as_if_there_were_no_other_edges(inner, options):
    graph = timed_graph(1)
    pruner = Timed(pruner=inner, **options)
    allowed = pruner.allowed(graph)
    columns = {name: column[allowed] for name, column in graph.edge_columns.items()}
    smaller = Graph.from_edges([end[allowed] for end in graph.ends()], num_nodes=20, x=graph.x, edge_columns=columns)
    found = pruner.mask(graph)
    assert not found[~allowed].any()
    np.testing.assert_array_equal(found[allowed], inner.mask(smaller))
    for executor, threads in (("reference", None), ("cpu", 1), ("cpu", 3)):
        np.testing.assert_array_equal(pruner.mask(graph, executor=executor, threads=threads), found)
    np.testing.assert_array_equal(pruner.fit(graph).mask(graph), found)


def test_compressed_rows_are_cut_too():
    graph = timed_graph(2)
    source, target = graph.ends()
    order = np.argsort(target, kind="stable")
    indptr = np.searchsorted(target[order], np.arange(21))
    rows = Graph.from_csr(indptr, source[order], rows="target", x=graph.x)
    rows = rows.with_columns({"time": graph.edge_columns["time"][order]}, {})
    pruner = Timed(pruner=LSP(k=2), until=BIG + 15)
    np.testing.assert_array_equal(pruner.mask(rows), pruner.mask(graph)[order])


def test_nanoseconds_beyond_2_53_are_told_apart():
    times = BIG + np.arange(4)  # equal as float64
    graph = Graph.from_edges(np.array([[0, 1, 2, 3], [4, 4, 4, 4]]), edge_columns={"time": times})
    assert Timed(pruner=ALL, until=BIG + 1).mask(graph).tolist() == [True, True, False, False]
    assert Timed(pruner=ALL, since=BIG + 1).mask(graph).tolist() == [False, True, True, True]
    assert Timed(pruner=ALL, window=1).mask(graph).tolist() == [False, False, True, True]
    dates = graph.with_columns({"time": times.view("M8[ns]")}, {})
    cut = np.datetime64(BIG + 1, "ns")
    assert Timed(pruner=ALL, until=cut).mask(dates).tolist() == [True, True, False, False]
    assert Timed(pruner=ALL, until=str(cut)) == Timed(pruner=ALL, until=cut)
    assert Timed(pruner=ALL, until=cut, window=np.timedelta64(1, "ns")).mask(dates).tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_equal_times_are_no_later():
    graph = Graph.from_edges(np.array([[0, 1], [2, 2]]), edge_columns={"time": np.array([5, 6])})
    assert Timed(pruner=ALL, until=5, since=5).mask(graph).tolist() == [True, False]
    assert Timed(pruner=ALL, until=6, window=1).mask(graph).tolist() == [True, True]
    owned = graph.with_columns({"time": np.array([5, 6])}, {"time": np.array([0, 0, 5])})
    assert Timed(pruner=ALL, until="owner").mask(owned).tolist() == [True, False]


def test_the_last_edges_of_each_node_before_its_own_time():
    graph = timed_graph(3)
    found = Timed(pruner=TopWeight(k=2, column="time", self_loops="edge"), until="owner").mask(graph)
    (_, target), times, own = graph.ends(), graph.edge_columns["time"], graph.node_columns["time"][0]
    for node in range(20):
        mine = times[(target == node) & (times <= own[node])]
        assert sorted(times[found & (target == node)]) == sorted(mine)[-2:]


# Options


def test_plain_data_and_files_hold_everything(tmp_path):
    graph = timed_graph()
    for options in (*OPTIONS, {"until": 2.5, "time": "t"}, {"until": "2024-01-31T10:00:00.000000001", "window": "36h"}):
        pruner = Timed(pruner=LSP(k=2), **options)
        described = json.loads(json.dumps(pruner.to_dict()))
        assert Timed.from_dict(described) == pruner == lsprune.pruner(described)
    fitted = Timed(pruner=LSP(k=2), until=BIG + 12).fit(graph)
    fitted.save(tmp_path / "timed.npz")
    loaded = lsprune.load(tmp_path / "timed.npz")
    assert loaded == fitted != Timed(pruner=LSP(k=2), until=BIG + 12)
    assert fitted.with_budget(keep=0.1).mask(graph).sum() < fitted.mask(graph).sum()
    assert Timed(pruner=Random(k=2), until=3).with_budget(keep=0.5) == Timed(pruner=Random(keep=0.5), until=3)


def test_fit_looks_at_the_edges_within_the_time_alone():
    graph = timed_graph(edge_attr=np.random.default_rng(5).normal(size=(300, 3)).astype(np.float32))
    late = graph.edge_columns["time"] > BIG + 12
    changed = graph.edge_attr.copy()
    changed[late] += np.array([5, 0, 0], np.float32)
    pruner = Timed(pruner=LSP(k=2, attributes=("edge",)), until=BIG + 12)
    other = Graph.from_edges(graph.ends(), num_nodes=20, x=graph.x, edge_attr=changed, edge_columns=graph.edge_columns)
    assert pruner.fit(other) == pruner.fit(graph)
    assert LSP(k=2, attributes=("edge",)).fit(other) != LSP(k=2, attributes=("edge",)).fit(graph)


def test_dates_of_any_kind_are_one_option():
    pandas = pytest.importorskip("pandas")
    zone = pandas.Timestamp("2024-01-31T02:00", tz="Europe/Berlin")
    python = datetime(2024, 1, 31, 1), datetime(2024, 1, 31, 1, tzinfo=UTC)
    same = ["2024-01-31T01:00", "2024-01-31T02:00+01:00", *python, np.datetime64("2024-01-31T01"), zone]
    assert len({repr(Timed(pruner=NoEdges(), until=value)) for value in same}) == 1
    spans = ["7d", "168h", timedelta(days=7), np.timedelta64(1, "W"), pandas.Timedelta(days=7)]
    assert {Timed(pruner=NoEdges(), window=value).window for value in spans} == {"7d"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "until, since or window must be given"),
        ({"until": "later"}, "until must be a number, a date such as .* or 'owner', got 'later'"),
        ({"until": True}, "until must be"),
        ({"until": float("nan")}, "until must be"),
        ({"until": 2**63}, "until must be"),
        ({"until": "9999-01-01"}, "until must be .* years 1678 to 2261"),
        ({"since": "owner"}, "since must be a number or a date"),
        ({"since": np.datetime64("NaT")}, "since must be .* missing"),
        ({"window": -1}, "window must be a number >= 0, or a span"),
        ({"window": "soon"}, "window must be"),
        ({"since": 5, "until": 4}, "since must be no later than until, got 5 and 4"),
        ({"since": "2024-02-01", "until": "2024-01-01"}, "since must be no later than until"),
        ({"until": 3, "time": ""}, "time must be the name of a column"),
        ({"until": 3, "node_time": 4}, "node_time must be the name of a column"),
        ({"until": 3, "pruner": 4}, "pruner must be a pruner"),
        ({"until": 3, "pruner": Guarded(pruner=NoEdges(), protected=[1])}, "must not protect edges within Timed"),
    ],
    ids=str,
)
def test_bad_options_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        Timed(**{"pruner": NoEdges(), **options})


def test_guarded_goes_inside():
    with pytest.raises(OptionError, match=r"put Guarded inside instead: Timed\(pruner=Guarded"):
        Guarded(pruner=Timed(pruner=LSP(k=2), until=3), min_keep=1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"time": "tme"},
            GraphError,
            "time 'tme' needs a value of each edge or neighbour.*; there are 'time', .*'born'",
        ),
        ({"until": "owner", "node_time": "x"}, GraphError, "until='owner' with time 'x'.* of each owner"),
        ({"until": "2024-01-31"}, OptionError, "until must be a number, since the times are numbers, got '2024"),
        ({"since": "2024-01-31"}, OptionError, "since must be a number"),
        ({"window": "7d"}, OptionError, "window must be a number"),
        ({"time": "date"}, OptionError, "until must be a date, since the times are dates, got 3"),
        ({"time": "date", "until": "2024-01-31", "window": 7}, OptionError, "window must be a span"),
        ({"time": "gap"}, GraphError, "time 'gap' must be finite, got nan in row 7"),
        ({"time": "date", "until": "owner", "node_time": "born"}, GraphError, "must both be dates or both be numbers"),
    ],
    ids=str,
)
def test_bad_times_are_named(options, error, message):
    graph = timed_graph()
    gap = np.where(np.arange(300) == 7, np.nan, 1.0)
    more = {**graph.edge_columns, "gap": gap, "date": np.full(300, "2024-01-01", "M8[s]")}
    nodes = {name: column[0] for name, column in graph.node_columns.items()}
    with pytest.raises(error, match=message):
        Timed(pruner=NoEdges(), **{"until": 3, **options}).mask(graph.with_columns(more, nodes))


def test_objects_without_columns_say_so():
    with pytest.raises(GraphError, match="time 'time' needs a value of each edge"):
        Timed(pruner=NoEdges(), until=3).mask(np.array([[0], [1]]))


def test_an_undirected_edge_has_no_single_owner():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edges_from([(0, 1, {"time": BIG}), (1, 2, {"time": BIG + 1}), (0, 2, {"time": BIG + 2})])
    assert list(prune(graph, Timed(pruner=Random(keep=1.0), until=BIG + 1)).edges) == [(0, 1), (1, 2)]
    for options in ({"until": "owner"}, {"window": 3}):
        with pytest.raises(GraphError, match="an undirected edge has two"):
            prune(graph, Timed(pruner=Random(keep=1.0), **options))


# What the result is used for


def test_every_edge_of_a_node_is_explained():
    graph = timed_graph()
    pruner = Timed(pruner=LSP(k=2), until=BIG + 12)
    explained, found = pruner.explain(graph, 3), pruner.mask(graph)
    target = graph.ends()[1]
    assert sorted(reason.edge for reason in explained.edges) == np.flatnonzero(target == 3).tolist()
    for reason in explained.edges:
        late = graph.edge_columns["time"][reason.edge] > BIG + 12
        assert reason.kept == found[reason.edge]
        assert ("ruled out by its time" in reason.why) == late
        assert (str(graph.edge_columns["time"][reason.edge]) in reason.why) == late


def test_weights_make_up_for_edges_within_the_time_alone():
    torch = pytest.importorskip("torch")
    data_module = pytest.importorskip("torch_geometric.data")
    ends = np.array([[1, 2, 3, 4, 5], [0, 0, 0, 0, 0]])
    data = data_module.Data(edge_index=torch.from_numpy(ends), num_nodes=6, edge_time=torch.tensor([1, 2, 3, 4, 9]))
    for rescale in (True, "unbiased"):
        small = prune(data, Timed(pruner=LocalRandom(k=2), time="edge_time", until=4), rescale=rescale)
        assert small.edge_weight.tolist() == [2.0, 2.0]  # two of four, not of five
    whole = prune(data, Timed(pruner=LocalRandom(k=4), time="edge_time", until=4), rescale="unbiased")
    assert whole.edge_weight.tolist() == [1.0] * 4


def test_two_wrappers_are_as_strict_as_both():
    graph = timed_graph()
    twice = Timed(pruner=Timed(pruner=ALL, since=BIG + 5), until=BIG + 20)
    once = Timed(pruner=ALL, since=BIG + 5, until=BIG + 20)
    np.testing.assert_array_equal(twice.mask(graph), once.mask(graph))
    np.testing.assert_array_equal(twice.allowed(graph), once.mask(graph))


# Every kind of object

RNG = np.random.default_rng(7)
ENDS = RNG.integers(0, 30, (2, 400))
TIMES = RNG.permutation(400) + BIG
CUT = BIG + 200
PRUNER = Timed(pruner=TopWeight(k=3, column="timestamp", self_loops="edge"), time="timestamp", until=CUT)
EXPECTED = PRUNER.mask(Graph.from_edges(ENDS, num_nodes=30, edge_columns={"timestamp": TIMES}))


def tables() -> dict[str, object]:
    import pyarrow as pa

    found = {"pyarrow": pa.table({"src": ENDS[0], "dst": ENDS[1], "timestamp": TIMES})}
    for name, make in (("pandas", lambda m, t: t.to_pandas()), ("polars", lambda m, t: m.from_arrow(t))):
        with contextlib.suppress(ImportError):
            found[name] = make(__import__(name), found["pyarrow"])
    return found


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("dates", ["", "ns", "us"])
def test_tables(name, dates):
    import pyarrow as pa

    pruner, table, times = PRUNER, tables()["pyarrow"], TIMES
    if dates:  # the same numbers as dates; with a time zone in UTC
        scale = 1000 if dates == "us" else 1
        zoned = pa.array(times // 1000 if scale > 1 else times).cast(pa.timestamp(dates, tz="Europe/Berlin"))
        table = table.set_column(2, "timestamp", zoned)
        times = times // scale * scale
        cut = int(np.sort(times)[200])
        pruner = Timed(pruner=PRUNER.pruner, time="timestamp", until=np.datetime64(cut, "ns"))
    expected = Timed(pruner=ALL, time="timestamp", until=int(np.sort(times)[200]))
    graph = Graph.from_edges(ENDS, edge_columns={"timestamp": times})
    given = {
        "pyarrow": lambda: table,
        "pandas": table.to_pandas,
        "polars": lambda: __import__("polars").from_arrow(table),
    }
    data = given[name]()
    allowed = Timed(pruner=ALL, time="timestamp", until=pruner.until).mask(data)
    assert allowed.tolist() == expected.mask(graph).tolist()
    small, found = prune(data, pruner, return_mask=True)
    kept = small["timestamp"].to_list() if name == "polars" else list(small["timestamp"])
    before = data["timestamp"].to_list() if name == "polars" else list(data["timestamp"])
    assert kept == [value for value, keep in zip(before, found, strict=True) if keep]
    if not dates:
        assert found.tolist() == EXPECTED.tolist()


def test_dates_without_a_zone_stay_as_they_are():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"src": [0, 1], "dst": [2, 2], "time": pandas.to_datetime(["2024-01-31 01:00", "2024-01-31 02:00"])}
    )
    zoned = frame.assign(time=frame["time"].dt.tz_localize("Europe/Berlin"))
    pruner = Timed(pruner=ALL, until="2024-01-31T01:00")
    assert len(prune(frame, pruner)) == 1
    assert len(prune(zoned, pruner)) == 2  # an hour earlier in UTC


def test_a_missing_date_in_a_table_is_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"src": [0, 1], "dst": [2, 2], "time": pandas.to_datetime(["2024-01-31", None])})
    with pytest.raises(GraphError, match="column 'time', row 1: a value is missing"):
        prune(frame, Timed(pruner=ALL, until="2024-01-31"))
    with pytest.raises(GraphError, match="no column 'when'; it has 'src', 'dst', 'time'"):
        prune(frame, Timed(pruner=ALL, time="when", until="2024-01-31"))


def test_owners_of_a_table_have_times_in_the_table_of_nodes():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"src": ["a", "b", "c"], "dst": ["c", "c", "a"], "time": BIG + np.arange(3)})
    nodes = pandas.DataFrame({"id": ["c", "b", "a"], "time": BIG + np.array([0, 9, 2])})
    pruner = Timed(pruner=ALL, until="owner")
    assert mask(frame, pruner, features=nodes).tolist() == [True, False, True]
    assert mask(frame.drop(columns="time"), pruner, features=nodes).tolist() == [False, False, True]
    hashed = Timed(pruner=LSP(k=1), until="owner")  # times are no features
    wide = nodes.assign(a=[1.0, 2, 3], b=[4.0, 5, 7])
    other = nodes.assign(a=[1.0, 2, 3], b=[4.0, 5, 7], time=nodes["time"] - BIG)
    numbers = frame.assign(time=frame["time"] - BIG)
    assert mask(frame, hashed, features=wide).tolist() == mask(numbers, hashed, features=other).tolist()


@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_graphs_of_objects(library):
    module = pytest.importorskip(library)
    pairs = ENDS.T.tolist()
    if library == "igraph":
        graph = module.Graph(n=30, edges=pairs, directed=True)
        graph.es["timestamp"] = TIMES.tolist()
        small = prune(graph, PRUNER)
        assert small.es["timestamp"] == TIMES[EXPECTED].tolist()
        graph.vs["timestamp"] = (BIG + np.arange(30) * 12).tolist()
    else:
        graph = module.MultiDiGraph()
        graph.add_nodes_from((node, {"timestamp": BIG + node * 12}) for node in range(30))
        graph.add_edges_from((*pair, {"timestamp": time}) for pair, time in zip(pairs, TIMES.tolist(), strict=True))
        small = prune(graph, PRUNER)
        assert sorted(t for *_, t in small.edges(data="timestamp")) == sorted(TIMES[EXPECTED])
    owners = Timed(pruner=ALL, time="timestamp", until="owner").mask(graph)
    kept = sum(BIG + ENDS[1] * 12 >= TIMES)
    assert owners.sum() == kept > 0


def test_an_attribute_that_some_edges_lack_is_named():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph([(0, 1, {"time": 3}), (1, 2)])
    with pytest.raises(GraphError, match="attribute 'time' must be set for all 2 items, got 1"):
        prune(graph, Timed(pruner=ALL, until=3))


@pytest.mark.parametrize("name", ["collegemsg", "wikipedia"])
def test_real_events(name):
    """The last five messages before the median time, against a plain sort."""
    path = DATA / "graphs" / f"temporal_{name}.npz"
    if not path.is_file():
        pytest.skip(f"real dataset {path.name} not found; set LSPRUNE_DATA to a folder that has it")
    with np.load(path) as arrays:
        source, target, times = arrays["src"], arrays["dst"], arrays["t"]
    cut = float(np.median(times))
    graph = Graph.from_edges((source, target), edge_columns={"t": times})
    pruner = Timed(pruner=TopWeight(k=5, column="t", self_loops="edge"), time="t", until=cut)
    found = pruner.mask(graph)
    order = np.lexsort((-times, target))
    order = order[times[order] <= cut]
    starts = np.flatnonzero(np.r_[True, np.diff(target[order]) != 0])
    place = np.arange(order.size) - np.repeat(starts, np.diff(np.r_[starts, order.size]))
    expected = np.zeros(times.size, bool)
    expected[order[place < 5]] = True
    assert found.sum() == expected.sum() and times[found].max() <= cut
    for mine in (found, expected):  # equal times are exchangeable
        mine_order = np.lexsort((times[mine], target[mine]))
        np.testing.assert_array_equal(
            times[mine][mine_order], times[expected][np.lexsort((times[expected], target[expected]))]
        )
