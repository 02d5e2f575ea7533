"""`lsprune prune`: what it writes, prints and refuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import lsprune
from lsprune import LSP, Graph, LocalRandom
from lsprune.cli import app
from lsprune.cli.console import GUARD, errors
from lsprune.cli.pruner_options import PRESETS
from lsprune.files import read_edges
from lsprune.measure import summary
from lsprune.pruners import from_dict

NODES, EDGES = 40, 400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    edges = random.integers(0, NODES, (EDGES, 2))
    lines = "".join(f"{s},{t},{i / 8},{i % 7}\n" for i, (s, t) in enumerate(edges))
    (tmp_path / "in.csv").write_text(f"source,target,w,v\n{lines}")
    np.save(tmp_path / "x.npy", random.standard_normal((NODES, 6)).astype(np.float32))
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def run(*arguments: object, **env: str) -> object:
    return CliRunner(env=env).invoke(app, [str(argument) for argument in arguments])


def good(*arguments: object, **env: str) -> object:
    result = run(*arguments, **env)
    assert result.exit_code == 0, result.output
    return result


def pruned(folder: Path, *options: object, out: str = "out.csv") -> dict:
    result = good("prune", folder / "in.csv", folder / out, "--features", folder / "x.npy", *options, "--json")
    return json.loads(result.stdout)


def test_the_kept_lines_are_those_of_the_library(folder: Path) -> None:
    report = pruned(folder, "--keep", 0.25, "--seed", 3, "--edge-attr", "w, v")
    graph = read_edges(folder / "in.csv", features=folder / "x.npy", edge_attr=["w", "v"]).graph
    mask = LSP(keep=0.25, seed=3).mask(graph)
    header, *lines = (folder / "in.csv").read_text().splitlines()
    expected = [header, *(line for line, kept in zip(lines, mask, strict=True) if kept)]
    assert (folder / "out.csv").read_text().splitlines() == expected
    counts = summary(graph, mask)
    for name in ("edges", "kept", "share", "owners", "owners_cut", "isolated"):
        assert report[name] == getattr(counts, name)
    assert report["seconds"] > 0
    assert report["edges_per_second"] == pytest.approx(EDGES / report["seconds"])
    assert report["input"] == str(folder / "in.csv")
    assert from_dict(report["pruner"]) == LSP(keep=0.25, seed=3)


def test_edge_attributes_count(folder: Path) -> None:
    pruned(folder, "--k", 2, "--edge-attr", "w,v")
    described = (folder / "out.csv").read_bytes()
    pruned(folder, "--k", 2)
    assert (folder / "out.csv").read_bytes() != described


def test_table_of_what_was_kept(folder: Path) -> None:
    output = good("prune", folder / "in.csv", folder / "out.csv", "--method", "local-random", "--k", "2").stdout
    graph = read_edges(folder / "in.csv").graph
    counts = summary(graph, LocalRandom(k=2).mask(graph))
    for label, value in (
        ("edges before", f"{counts.edges:,}"), ("edges kept", f"{counts.kept:,} ({counts.share:.2%})"),
        ("nodes with edges", f"{counts.owners}"), ("of these, lost some", f"{counts.owners_cut}"),
        ("nodes left without any edge", f"{counts.isolated}"), ("seconds for pruning", ""), ("edges per second", ""),
    ):  # fmt: skip
        assert re.search(rf"{re.escape(label)} +│ +{re.escape(value)}", output), (label, output)


def test_the_row_of_isolated_nodes_names_what_prevents_them(folder: Path) -> None:
    def shown(*words: str) -> str:
        return good("prune", folder / "in.csv", folder / "out.csv", *words).stdout

    few = ("--hash", "identity", "--keep", "0.05")
    row = r"without any edge +│ +[1-9]\d* │\n│ +to avoid this, keep more, or +│ (.*) │"
    assert re.search(row, shown(*few))[1] == GUARD
    guarded = GUARD.partition('"')[2].rstrip('"').replace("...", "lsp:keep=0.05,hash=identity")
    assert "to avoid this" not in shown("--pruner", guarded)
    assert "to avoid this" not in shown("--keep", "1", "--hash", "identity")
    assert "to avoid this" in shown(*few, "--stream")


@pytest.mark.parametrize("way", [[], ["--stream"], ["--stream", "--resume"]])  # again over a complete output
@pytest.mark.parametrize("ordered", [True, False])  # streamed in one pass, and in stages
@pytest.mark.parametrize(("self_loops", "uncounted"), [(None, 3), ("free", 3), ("edge", 0), ("drop", 0)])
def test_kept_self_loops_that_no_budget_counts_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, self_loops: str | None, uncounted: int, ordered: bool,
    way: list[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    lines = ["0,0", "1,1", "1,1", *(f"{source},{9}" for source in range(9))]
    lines = ["source,target", *(lines if ordered else lines[::-1])]
    Path("in.csv").write_text("\n".join(lines) + "\n")
    options = ["--hash", "identity", "--k", "2", *(["--self-loops", self_loops] if self_loops else []), *way]
    command = ["prune", "in.csv", "out.csv", *options]
    report = json.loads(good(*command, "--json").stdout)
    assert report["uncounted_self_loops"] == uncounted
    assert report["kept"] == {None: 5, "free": 5, "edge": 5, "drop": 2}[self_loops]
    told = re.findall(r"self-loops outside the budget +│ +(\d+)", good(*command).stdout)
    assert told == ([str(uncounted)] if uncounted else [])


def test_equal_ids_of_two_kinds_of_nodes_are_no_self_loops(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("source,target\n0,0\n1,1\n2,0\n")
    files = [tmp_path / "in.csv", tmp_path / "out.csv"]
    result = good("prune", *files, "--bipartite", "--hash", "identity", "--k", "5", "--json")
    assert json.loads(result.stdout)["uncounted_self_loops"] == 0


def test_what_was_chosen_is_told(folder: Path) -> None:
    told = pruned(folder, "--keep", 0.2, "--hash", "auto", "--weights", "auto")
    graph = read_edges(folder / "in.csv", features=folder / "x.npy").graph
    fitted = LSP(keep=0.2, hash="auto", weights="auto").fit(graph)
    assert told["chosen"] == json.loads(json.dumps(fitted.to_dict())) != told["pruner"]
    assert told["kept"] == fitted.mask(graph).sum()
    words = good(
        "prune", folder / "in.csv", folder / "two.csv", "--features", folder / "x.npy", "--keep", 0.2, "--hash", "auto"
    ).stdout
    assert re.search(r"chosen +│ +hash [a-z]+ of [a-z]+", words) and re.search(r"│ +│ +weights none", words)
    words = good("prune", folder / "in.csv", folder / "three.csv", "--k", 1, "--hash", "identity", "--weights", "auto")
    assert re.search(r"chosen +│ +hash identity │", words.stdout)
    assert "chosen" not in pruned(folder, "--keep", 0.2)


@pytest.mark.parametrize(
    "options",
    [
        {"k": 3, "hash": "identity", "side": "out", "select": "bottom", "seed": 7},
        {"k": 3, "hash": "threshold:sparsity=2", "self_loops": "edge"},
        {"k": 3, "hash": "signs:bits=4", "weights": "degree:power=0.4"},
        {"keep": 0.5, "symmetric": "union", "self_loops": "drop"},
        {"pruner": "random", "keep": 0.5, "seed": 5},
        {"pruner": "local-random", "k": 1, "side": "out"},
        {"pruner": "first", "keep": 0.1},
        {"pruner": "no-edges"},
    ],
)
def test_every_option_reaches_the_pruner(folder: Path, options: dict) -> None:
    flags: list[object] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        flags += [flag] if value is True else [flag, value]
    shown = pruned(folder, *flags)["pruner"]
    assert from_dict(shown) == from_dict({"pruner": "lsp", **options})


@pytest.mark.parametrize("preset", PRESETS)
def test_presets(folder: Path, preset: str) -> None:
    shown = pruned(folder, "--preset", preset, "--k", 2, "--seed", 4)["pruner"]
    maker, kind = preset.split("-")
    assert from_dict(shown) == getattr(LSP, maker)(kind, k=2, seed=4)


def test_threads_do_not_change_the_result(folder: Path) -> None:
    pruned(folder, "--keep", 0.5, "--threads", 1)
    one = (folder / "out.csv").read_bytes()
    pruned(folder, "--keep", 0.5, "--threads", 3)
    assert (folder / "out.csv").read_bytes() == one


def test_threads_reach_the_pruner(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []
    mask = LocalRandom.mask

    def spy(self: LocalRandom, data: object, *, threads: int | None = None) -> object:
        given.append(threads)
        return mask(self, data, threads=threads)

    monkeypatch.setattr(LocalRandom, "mask", spy)
    pruned(folder, "--k", 1, "--method", "local-random", "--threads", 3)
    assert given == [3]


def test_owners_are_counted_on_the_side_that_owns(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("source,target\n0,1\n0,2\n0,3\n")
    for side, owners in (("in", 3), ("out", 1)):
        options = ("--method", "first", "--k", 1, "--side", side, "--json")
        report = json.loads(good("prune", tmp_path / "in.csv", tmp_path / "out.csv", *options).stdout)
        assert report["owners"] == owners


def test_columns_nodes_and_another_format(folder: Path) -> None:
    text = (folder / "in.csv").read_text().replace("source,target", "a,b")
    (folder / "named.csv").write_text(text)
    out = folder / "out.parquet"
    good("prune", folder / "named.csv", out, "--source", "b", "--target", "a", "--num-nodes", 99, "--k", 1,
         "--method", "first")  # fmt: skip
    table = pq.read_table(out)
    assert table.column_names == ["a", "b", "w", "v"]
    assert len(set(table["a"].to_pylist())) == table.num_rows - sum(
        a == b for a, b in zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True)
    )  # the owner is the target, here column a; self-loops are free


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--keep", "1.5"), r"keep must be in \(0, 1\], got 1\.5"),
        (("--keep", "0.5", "--k", "2"), "exactly one of k .* and keep="),
        ((), "exactly one of k .*none of them"),
        (("--k", "-1"), "k must be a whole number .*, got -1"),
        (("--k", "1", "--method", "magic"), "pruner must be one of lsp, .*got 'magic'"),
        (("--k", "1", "--hash", "magic"), "hash must be one of projection, .*got 'magic'"),
        (("--k", "1", "--side", "up"), "side must be one of 'in', 'out', got 'up'"),
        (("--k", "1", "--preset", "magic"), "preset must be one of auto, paper-p, .*got 'magic'"),
        (("--k", "1", "--method", "random", "--set", "ties=id"), "ties is not an option of random"),
        (("--k", "1", "--set", "ties"), "options must be written as NAME=VALUE, got 'ties'"),
        (("--k", "1", "--hash", "signs:bits"), "options must be written as NAME=VALUE, got 'bits'"),
        (("--k", "1", "--weights", "degree:powr=2"), "powr is not an option of weights degree; it has power"),
        (
            ("--keep", "0.5", "--pruner", "lsp-paper", "--set", "replace=true"),
            "keep must be None with replace=True",
        ),
        (("--k", "1", "--threads", "0"), "threads must be a whole number >= 1, got 0"),
        (("--k", "1"), "neither node attributes .*identity"),
        (("--k", "1", "--features", "absent.npy"), "absent.npy: No such file or directory"),
        (("--k", "1", "--edge-attr", "w,u"), r"in\.csv: no column 'u'; it has 'source', 'target', 'w'"),
        (("--k", "1", "--source", "w"), "source and target must be named together"),
        (("--k", "1", "--source", "w", "--target", "target"), r"column 'w', line 2: ids must be whole numbers"),
        (("--k", "1", "--hash", "identity", "--num-nodes", "5"), r"ids must be in \[0, 5\)"),
    ],
)
def test_one_line_of_error_and_nothing_written(folder: Path, options: tuple[str, ...], message: str) -> None:
    (folder / "out.csv").write_text("old\n")
    before = names(folder)
    result = run("prune", folder / "in.csv", folder / "out.csv", *options)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert re.fullmatch(rf"error: .*{message}.*\n", result.stderr), result.stderr
    assert (folder / "out.csv").read_text() == "old\n"
    assert names(folder) == before


def test_bad_files_and_places(folder: Path) -> None:
    (folder / "cut.csv").write_text("source,target\n0,1\n1,2")
    (folder / "pickle.npz").write_bytes(b"\x80\x04not a zip")
    (folder / "link.csv").symlink_to(folder / "in.csv")
    options = ("--k", "1", "--method", "first")
    for source, out, message in (
        ("cut.csv", "out.csv", "cut short"), ("pickle.npz", "out.npz", "not a readable .npz file"),
        ("absent.csv", "out.csv", "No such file"), ("in.csv", "no/out.csv", "no such folder"),
        ("in.csv", "out.pkl", "suffix must be one of"), ("in.csv", "in.csv", "must not be an input file"),
        ("in.csv", "link.csv", "must not be an input file"),
    ):  # fmt: skip
        before = (folder / "in.csv").read_bytes()
        result = run("prune", folder / source, folder / out, *options)
        assert result.exit_code == 1
        assert re.fullmatch(rf"error: .*{message}.*\n", result.stderr), result.stderr
        assert (folder / "in.csv").read_bytes() == before
    assert not list(folder.glob("out*"))
    result = run("prune", folder / "in.csv", folder / "x.npz", "--features", folder / "x.npz", *options)
    assert "must not be an input file" in result.stderr


def test_not_enough_memory_is_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 7 TiB")

    monkeypatch.setattr("lsprune.adapters.tables.text_id_files.read_edges", refuse)
    result = run("prune", folder / "in.csv", folder / "out.csv", "--k", "1")
    assert (result.exit_code, result.stderr) == (1, "error: not enough memory (Unable to allocate 7 TiB)\n")


def test_a_closed_pipe_is_left_to_typer() -> None:
    with pytest.raises(BrokenPipeError), errors():
        raise BrokenPipeError


@pytest.mark.parametrize("arguments", [("prune",), ("prune", "a.csv", "b.csv", "--k", "x"), ("fly",), ("demo", "--up")])
def test_usage_errors(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_progress_only_on_a_terminal_and_no_colour_when_asked(folder: Path) -> None:
    arguments = ("prune", folder / "in.csv", folder / "out.csv", "--k", 1, "--method", "first")
    assert good(*arguments).stderr == ""
    terminal = good(*arguments, FORCE_COLOR="1", TERM="xterm-256color")
    assert "writing out.csv" in terminal.stderr
    colour = re.compile(r"\x1b\[(?:\d+;)*(?:3\d|9\d|38;)")
    assert colour.search(terminal.stderr)
    assert not colour.search(good(*arguments, FORCE_COLOR="1", TERM="xterm-256color", NO_COLOR="1").output)


def test_as_a_program_without_torch(folder: Path) -> None:
    (folder / "both.csv").write_text("source,target\n0,1\n1,0\n1,2\n2,1\n2,0\n0,2\n")
    code = "import sys; sys.modules['torch'] = None; from lsprune.cli import main; main()"
    command = [sys.executable, "-c", code, "prune", "both.csv", "out.csv", "--method", "first", "--k", "1", "--json"]
    env = {**os.environ, "PYTHONPATH": str(Path(lsprune.__file__).parents[1])}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kept"] == 3
    assert re.fullmatch(r"warning: the graph is undirected.*\n", done.stderr)
    command[5] = "both.csv"
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.fullmatch(r"error: .*must not be an input file.*\n", done.stderr)


@pytest.mark.parametrize("stream", [(), ("--stream", "--memory", "3GB")])
def test_a_table_of_nodes_is_joined_by_its_ids_and_never_hashes_them(folder: Path, stream: tuple[str, ...]) -> None:
    order, x = np.random.default_rng(1).permutation(NODES), np.load(folder / "x.npy")
    graph = read_edges(folder / "in.csv", features=folder / "x.npy").graph
    expected = np.flatnonzero(LSP(k=3).mask(graph))
    columns = {f"c{i}": x[order, i] for i in range(6)}
    pq.write_table(pa.table({"id": order, **columns}), folder / "n.parquet")
    pq.write_table(pa.table({"key": order, "v": x[order].tolist(), "word": ["w"] * NODES}), folder / "k.parquet")
    for name, options in (("n.parquet", ()), ("k.parquet", ("--id", "key", "--x", "v"))):
        out = folder / f"{name[0]}.csv"
        good("prune", folder / "in.csv", out, "--features", folder / name, "--k", 3, *options, *stream)
        weights = np.loadtxt(out, delimiter=",", skiprows=1)[:, 2]
        np.testing.assert_array_equal(np.rint(weights * 8), expected)
    for options, said in (
        (("--id", "absent"), "no column 'absent'"), (("--x", "absent"), "no column 'absent'"),
        ((), "column 'word' must be numbers"),
    ):  # fmt: skip
        features = ("--features", folder / "k.parquet", "--k", 3)
        bad = run("prune", folder / "in.csv", folder / "bad.csv", *features, *options, *stream)
        assert bad.exit_code == 1
        assert said in bad.stderr.splitlines()[-1]
        assert "Traceback" not in bad.stderr
        assert not (folder / "bad.csv").exists()


@pytest.mark.parametrize("stream", [(), ("--stream", "--memory", "3GB")])
def test_two_kinds_of_nodes(folder: Path, stream: tuple[str, ...]) -> None:
    lines = (folder / "in.csv").read_text().replace("source,target", "user,item")
    (folder / "r.csv").write_text(lines)
    ends = np.loadtxt(folder / "r.csv", delimiter=",", skiprows=1)[:, :2].astype(int)
    command = ("prune", folder / "r.csv", folder / "o.csv", "--source", "user", "--target", "item")
    most = {}
    for name, option in (("one", ()), ("two", ("--bipartite",)), ("quiet", ("--no-bipartite",))):
        out = folder / f"{name}.csv"
        done = good(*command[:2], out, *command[3:], *option, "--hash", "identity", "--k", 5, *stream)
        warned = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
        assert len(warned) == (name == "one")
        kept = np.loadtxt(out, delimiter=",", skiprows=1)
        most[name] = np.bincount(kept[:, 1].astype(int)).max()
        graph = Graph.from_edges(ends.T, num_nodes=(NODES, NODES) if name == "two" else NODES)
        expected = LSP(k=5, hash="identity").mask(graph)
        np.testing.assert_array_equal(np.rint(kept[:, 2] * 8), np.flatnonzero(expected))
    assert most["two"] == 5 < most["one"] == most["quiet"]
    for option in (("--num-targets", 3), ("--target-features", folder / "x.npy")):
        bad = run(*command, "--k", 2, *option, *stream)
        assert bad.exit_code == 1
        assert "needs --bipartite" in bad.stderr


@pytest.mark.parametrize("stream", [(), ("--stream", "--memory", "3GB")])
def test_arrays_of_the_edges_stay_in_step(folder: Path, stream: tuple[str, ...]) -> None:
    ends = np.random.default_rng(2).integers(0, 30, (2, 30))
    ends[0, 0] = 29
    np.savez(folder / "e.npz", src=ends[0], dst=ends[1], t=np.arange(30))
    command = ("prune", folder / "e.npz", folder / "o.npz", "--k", 1, "--hash", "identity", *stream)
    bad = run(*command)
    assert bad.exit_code == 1
    assert "array 't' is as long as the 30 edges and as the 30 nodes" in bad.stderr
    assert not (folder / "o.npz").exists()
    good(*command, "--edge-arrays", "t")
    with np.load(folder / "o.npz") as out:
        np.testing.assert_array_equal(ends[:, out["t"]], [out["src"], out["dst"]])


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_a_column_of_times_is_no_category_if_the_flag_says_so(tmp_path: Path, stream: tuple[str, ...]) -> None:
    lines = "".join(f"{i % 9},{i * 7 % 10},{1_700_000_000 + i}\n" for i in range(200))
    (tmp_path / "in.csv").write_text(f"src,dst,when\n{lines}")
    words = ["prune", str(tmp_path / "in.csv"), str(tmp_path / "out.csv"), "--edge-attr", "when", "--k", "2", *stream]
    wrong = CliRunner().invoke(app, words)
    assert wrong.exit_code == 1 and "make them floats (--float-edge-attr for those of --edge-attr)" in wrong.stderr
    right = CliRunner().invoke(app, [*words, "--float-edge-attr"])
    assert right.exit_code == 0, right.output
