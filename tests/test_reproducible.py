"""The same bits in any process, and for ever: a changed mask is a breaking change.

The configurations are in `golden_masks.py`, their digests in `golden_masks.json`. Every mask is computed in memory, by
a pruner that went through plain data and a file, and out of core; all of them must have the one digest that is written.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from golden_graphs import graph_named
from golden_masks import CONFIGURATIONS, FILE, MACHINE, digest_of, known, main, promised
from pyarrow import parquet

import lsprune
from lsprune import FAMILIES, LSP, PRUNERS, FittedLSP, Graph, OptionError
from lsprune.hashing import Family
from lsprune.outofcore import memory_ceiling as memory
from lsprune.outofcore.stream import prune_stream
from lsprune.pruners import Pruner
from lsprune.weights import WEIGHTS, Product, Weight, weight

GOLDEN = known()

CODE = """
import sys
sys.path.insert(0, {folder!r})
from golden_masks import digest, promised
print([digest(name) for name in promised()])
"""

# Methods that must see the whole graph at once, so that streaming refuses them, also within Timed.
REFUSED = {
    "random", "dspar", "effective-resistance", "spanning-forest", "no-edges", "guarded", "disparity", "metric-backbone",
}  # fmt: skip

# Configurations that keep nothing.
EMPTY = {"no-edges edge", "no-edges drop", "no-edges bipartite"}

# Configurations that must give the mask of another one, besides those that `twin` finds by name.
SAME = {
    "auto auto power": "auto auto k",  # where the product alone decides, its power changes nothing
    "auto auto labels": "auto auto keep",  # there are none
    "identity on bare": "identity",  # attributes are not looked at
    "no-edges": "k 0",
    "no-edges edge": "no-edges drop",
    "threshold of owner": "projection of owner",  # what all edges of an owner share decides nothing
    "codebook of owner": "projection of owner",
    "signs auto": "signs similarity",  # what calibration chooses
    "signs auto^0.25": "signs similarity^0.25",
    "auto k": "projection on nodes",
    "projection l uniform k": "projection l k",
    "projection l uniform keep": "projection l keep",
    "auto on nodes": "projection on nodes",
    "auto on words": "codebook on words",
    "auto on several": "several keep",
}


def per_configuration(names):
    """A test for each name; those that are promised on another machine are skipped."""
    skipped, here = pytest.mark.skip(reason=f"digest promised on {MACHINE} alone"), set(promised())
    return pytest.mark.parametrize(
        "name", [name if name in here else pytest.param(name, marks=skipped) for name in names]
    )


def configuration(name: str) -> tuple[Pruner, Graph]:
    make, graph = CONFIGURATIONS[name]
    return make(), graph_named(graph)


def twin(name: str) -> str:
    """The configuration that has the same mask for a reason: the same graph in another form, or as in SAME."""
    name = name.replace("sparse words", "words").replace(", compressed", "").replace("on compressed", "on sorted")
    if "undirected" in name:
        name = name.replace("undirected", "union pairs" if name.startswith("undirected") else "union")
    return SAME.get(name, name)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder in memory where the system has one: streaming writes thousands of small files."""
    in_memory = Path("/dev/shm")
    with TemporaryDirectory(dir=in_memory if os.access(in_memory, os.W_OK) else None) as found:
        yield Path(found)


# (a) in memory


@per_configuration(CONFIGURATIONS)
def test_masks_never_change(name, monkeypatch):
    monkeypatch.setenv("LSPRUNE_THREADS", "1")  # another process takes three
    pruner, graph = configuration(name)
    mask = pruner.mask(graph)
    assert digest_of(mask) == GOLDEN[name]
    assert not mask.all()
    assert mask.any() == (name not in EMPTY)


# (b) after plain data, fit and a file


@per_configuration(CONFIGURATIONS)
def test_saved_pruners_give_the_same_masks(name, folder):
    pruner, graph = configuration(name)
    if getattr(pruner, "protected", None) is not None:  # such edges belong to one graph
        with pytest.raises(OptionError, match="protected must be None"):
            pruner.save(folder / "saved.npz")
        return
    if isinstance(pruner, FittedLSP):
        pruner.save(folder / "saved.npz")
        assert lsprune.load(folder / "saved.npz") == pruner
        assert digest_of(lsprune.load(folder / "saved.npz").mask(graph)) == GOLDEN[name]
        return
    described = type(pruner).from_dict(json.loads(json.dumps(pruner.to_dict())))
    assert described == pruner
    described.fit(graph).save(folder / "saved.npz")
    assert digest_of(lsprune.load(folder / "saved.npz").mask(graph)) == GOLDEN[name]


# (c) out of core


def in_a_file(name: str) -> bool:
    """Whether files can say what the graph is: they hold one graph, of directed edges, with dense attributes."""
    make, graph = CONFIGURATIONS[name]
    pooled = graph == "several" and getattr(make(), "pooled", False)
    return not pooled and graph not in ("undirected", "sparse words", "compressed")  # the last two are others in a file


STREAMED = {name: make().among_allowed().name not in REFUSED for name, (make, _) in CONFIGURATIONS.items()}
LOCAL = [name for name, streamed in STREAMED.items() if streamed and in_a_file(name)]


def written(folder: Path, graph: Graph, name: str, some: np.ndarray, nodes: slice) -> tuple[Path, dict]:
    """Some edges and nodes of a graph as files, with the number of each edge; and options to read them."""
    path, first = folder / f"{name}.parquet", nodes.start or 0
    table = {"source": graph.ends()[0][some] - first, "target": graph.ends()[1][some] - first, "number": some}
    options: dict = {"num_nodes": len(range(*nodes.indices(graph.num_targets)))}
    if graph.bipartite:
        options = {"num_nodes": (graph.num_sources, graph.num_targets), "bipartite": True}
    if graph.edge_attr is not None:
        columns = graph.edge_attr.reshape(graph.num_edges, -1)[some].T
        options["edge_attr"] = [f"a{i}" for i in range(len(columns))]
        table |= dict(zip(options["edge_attr"], columns, strict=True))
    table |= {column: values[some] for column, values in (graph.edge_columns or {}).items()}
    for end, (option, x) in enumerate((("features", graph.x_source), ("target_features", graph.x_target))):
        if x is not None and (graph.bipartite or option == "features"):
            columns = {column: pair[end][nodes] for column, pair in (graph.node_columns or {}).items()}
            options[option] = folder / f"{name}.{option}.{'npz' if columns else 'npy'}"
            if not options[option].exists():
                np.savez(options[option], x=x[nodes], **columns) if columns else np.save(options[option], x[nodes])
    if not path.exists():
        parquet.write_table(pa.table(table), path, row_group_size=3000)
    return path, options


def parts(graph: Graph) -> Iterator[tuple[np.ndarray, slice]]:
    """The edges and the nodes of each graph in this one, without those that have no edges."""
    if graph.target_ptr is None:
        yield np.arange(graph.num_edges), slice(None)
        return
    for lo, hi in itertools.pairwise(graph.target_ptr.tolist()):
        if (some := np.flatnonzero((graph.ends()[1] >= lo) & (graph.ends()[1] < hi))).size:
            yield some, slice(lo, hi)


@per_configuration(LOCAL)
def test_streamed_masks_are_those_in_memory(name, folder, monkeypatch):
    monkeypatch.setattr(memory, "MIN_BATCH_ROWS", 2048)  # several batches
    monkeypatch.setattr(memory, "MAX_BATCH_ROWS", 2048)
    monkeypatch.setattr("lsprune.kernels.file_arrays.MIN_FILE_BYTES", 4096)  # files in the place of arrays of edges
    pruner, graph = configuration(name)
    mask, said = np.zeros(graph.num_edges, bool), []
    if graph.num_graphs > 1:  # a file holds one of them: what there is to learn is learned from all
        pruner = pruner.fit(graph)
    for i, (some, nodes) in enumerate(parts(graph)):
        path, options = written(folder, graph, f"{CONFIGURATIONS[name][1]} {i}", some, nodes)
        out = folder / "out.parquet"
        for old in folder.glob("out.parquet*"):
            old.unlink()
        found = prune_stream(path, out, pruner, memory="6GB", say=said.append, **options)
        numbers = parquet.read_table(out)["number"].to_numpy()
        assert found.kept == numbers.size
        assert np.all(numbers[1:] > numbers[:-1])  # rows stay in order
        mask[numbers] = True
    assert digest_of(mask) == GOLDEN[name]
    if CONFIGURATIONS[name][1] in ("sorted", "sorted by source"):
        assert any("one pass" in line for line in said)


@pytest.mark.parametrize("name", [name for name, streamed in STREAMED.items() if not streamed])
def test_other_pruners_refuse_to_be_streamed(name, tmp_path):
    with pytest.raises(OptionError, match="must see the whole graph at once"):
        prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", CONFIGURATIONS[name][0]())
    assert not list(tmp_path.iterdir())


# the same everywhere


def test_other_processes_give_the_same_bits():
    folder = str(FILE.parent)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE.format(folder=folder)],
        env={**os.environ, "PYTHONHASHSEED": "12345", "LSPRUNE_THREADS": "3"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == str([GOLDEN[name] for name in promised()])


# the table itself


def test_equal_digests_are_those_that_must_be_equal():
    """Every other configuration has a mask of its own: none of its options is without effect."""
    assert list(GOLDEN) == list(CONFIGURATIONS)
    first: dict[str, str] = {}
    for name in CONFIGURATIONS:
        if (other := twin(name)) != name:
            assert GOLDEN[name] == GOLDEN[other], name
        else:
            same = twin(first.setdefault(GOLDEN[name], name))
            assert same == name, f"{name} has the mask of {same}"


def used() -> Iterator[Pruner | Family]:
    """All pruners and families of the table, those within others too."""
    left: list = [make() for make, _ in CONFIGURATIONS.values()]
    while left:
        one = left.pop()
        one = getattr(one, "options", one)  # of a fitted pruner
        yield one
        held = [getattr(one, field.name) for field in dataclasses.fields(one)]
        left += [value for value in held if isinstance(value, Pruner | Family | Weight)]


def test_the_table_has_every_method_family_and_option():
    values: dict[type, dict[str, set[str]]] = {}
    for one in used():
        for field in dataclasses.fields(one):
            values.setdefault(type(one), {}).setdefault(field.name, set()).add(repr(getattr(one, field.name)))
        values.setdefault(type(one), {})
    assert set(values) == {*PRUNERS.values(), *FAMILIES.values(), *WEIGHTS.values(), Product}
    for kind, options in values.items():
        hints, own = typing.get_type_hints(kind), {field.name for field in dataclasses.fields(kind) if field.init}
        for parent in kind.__mro__[1:]:  # what it shares with another class of the table is tried there
            own -= {field.name for field in dataclasses.fields(parent)} if parent in values else set()
        for option, found in options.items():
            if option not in own:
                continue
            assert len(found) > 1, f"{option} of {kind.__name__} is always {found}"
            for hint in (hints[option], *typing.get_args(hints[option])):
                if typing.get_origin(hint) is typing.Literal:
                    assert found >= {repr(choice) for choice in typing.get_args(hint)}, f"{option} of {kind.__name__}"


@pytest.mark.parametrize("codes", [False, True])
def test_the_table_has_every_weight_with_and_without_power(codes):
    wanted = {"degree", "jaccard", "similarity", "edge", "edge:2", "neighbour:1", "auto", "labels"}
    lsps = [one for one in used() if isinstance(one, LSP) and one.family.has_codes == codes]
    weights = {one.weights for one in lsps if not isinstance(one.weights, Product)} - {None}
    found = {dataclasses.replace(one, power=1.0) for one in weights} - {weight("auto:labels=true")}
    assert found == {weight(name) for name in wanted}
    assert {type(one) for one in weights if one.power not in (0, 1)} == set(WEIGHTS.values())


def test_a_digest_is_added_and_never_changed(tmp_path, monkeypatch, capsys):
    few, file = dict(itertools.islice(CONFIGURATIONS.items(), 3)), tmp_path / "digests.json"
    monkeypatch.setattr("golden_masks.CONFIGURATIONS", few)
    monkeypatch.setattr("golden_masks.EXACT", few)
    monkeypatch.setattr("golden_masks.FILE", file)
    first, second, third = ((name, GOLDEN[name]) for name in few)
    file.write_text(json.dumps(dict([third, first])))
    assert main([]) == 1
    assert main(["--write"]) == 0
    assert list(json.loads(file.read_text()).items()) == [first, second, third]
    assert main([]) == 0
    for wrong in ({first[0]: "0" * 16}, dict([first, ("no such configuration", "0" * 16)])):
        file.write_text(json.dumps(wrong))
        assert main(["--write"]) == 1
        assert json.loads(file.read_text()) == wrong
    assert "never changed" in capsys.readouterr().out
    assert FILE.exists()
