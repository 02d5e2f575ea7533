"""What comes from outside is printed as text: no control character reaches the terminal, and no markup is obeyed."""

from __future__ import annotations

import ast
import json
import os
import unicodedata
import zipfile
from pathlib import Path

import numpy as np
import pytest
from files_helpers import EDGES
from lab_records import comparison, save
from typer.testing import CliRunner

import lsprune.cli
from lsprune.cli import app
from lsprune.cli.console import add_kept_rows, escaped, framed, interruptible, say, show, steps, tell, trials_bar

RUNNER = CliRunner()
HOSTILE = "\x1b]0;pwned\x07\x1b[2J\x9b31m\x7f\u202egnp\u2066\u200b\u2028[red]x[/red][link=http:a]y[/link]:bomb:"


def harmful(text: str) -> list[str]:
    return [
        letter for letter in text if letter != "\n" and unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]


def clean(result) -> str:
    """The output of a command without an unexpected exception and without harmful characters."""
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    shown = result.stdout + result.stderr
    assert harmful(shown) == []
    return shown


def test_escaping_is_visible_and_leaves_other_text_alone():
    assert escaped("naïve – ✓ \\n .npz") == "naïve – ✓ \\n .npz"
    assert escaped("a\x1b\n\t\x7f\x85\u202e\u2028\udcff") == r"a\x1b\n\t\x7f\x85\u202e\u2028\udcff"
    assert harmful(escaped("".join(map(chr, range(0x3000))))) == []


def test_every_way_of_printing_escapes(capsys, monkeypatch):
    say("error", HOSTILE)
    tell(HOSTILE)
    show({HOSTILE: HOSTILE}, True, str)
    show({}, False, lambda: HOSTILE)
    show({}, False, lambda: [HOSTILE, f"a\n{HOSTILE}"])
    table = framed(f"a\n{HOSTILE}", "two\nlines", HOSTILE)
    table.add_row(HOSTILE, f"b\n{HOSTILE}")
    show({}, False, lambda: table)
    shown = capsys.readouterr()
    assert harmful(shown.out + shown.err) == []
    assert shown.err.startswith("error: \\x1b]0;pwned")
    assert shown.out.count("[red]x[/red][link=http:a]y[/link]:bomb:") >= 5
    assert json.loads(shown.out.splitlines()[1]) == {HOSTILE: HOSTILE}
    assert "\\n" in shown.out and "two" in shown.out


def test_a_terminal_gets_the_escapes_of_tables_and_bars_and_no_others(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "400")
    with steps(1) as step:
        step(HOSTILE)
    table = framed(HOSTILE, "", "head")
    table.add_row(HOSTILE, "")
    show({}, False, lambda: table)
    shown = capsys.readouterr()
    assert "\x1b[" in shown.err and "\x1b[" in shown.out
    for text in (shown.err, shown.out):
        assert "[red]x[/red]" in text
        assert not {"\x07", "\x9b", "\x7f", "\u202e", "\u2066", "\u200b", "\u2028"} & set(text)
        assert "\x1b]" not in text and "\x1b[2J" not in text


def test_trials_say_how_long_they_take_once_one_was_measured(capsys, monkeypatch):
    with trials_bar() as progress:
        progress(0, 3, "first")
    assert capsys.readouterr() == ("", "")  # not in a pipe
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("lsprune.lab.time_left.MIN_SECONDS", 0)
    for budget, words in ((None, "a few seconds left"), (1e-9, "stops in a few seconds")):
        with trials_bar(budget) as progress:
            progress(0, 3, HOSTILE)
            capsys.readouterr()
            print("a result")
            progress(1, 3, "second")
        shown = capsys.readouterr()
        assert shown.out == "a result\n" and "second" in shown.err and "1/3" in shown.err and words in shown.err
    with trials_bar() as progress:
        progress(0, 3, HOSTILE)
    shown = capsys.readouterr().err
    assert "0/3" in shown and "[red]x[/red]" in shown and "left" not in shown
    assert not {"\x07", "\x9b", "\u202e"} & set(shown)


def test_only_one_module_prints():
    folder = Path(lsprune.cli.__file__).parent
    for path in folder.glob("*.py"):
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        names = {ast.unparse(call) for call in calls} & {"typer.echo", "print", "typer.secho", "Console"}
        assert path.name == "console.py" or not names, f"{path.name} prints by itself; use tell, say or show"


def hostile_graph(folder: Path, name: str = f"{HOSTILE}.npz") -> Path:
    path = folder / name.replace("/", "|")
    np.savez(path, edge_index=EDGES, x=np.eye(4, dtype=np.float32))
    return path


def test_file_names(tmp_path):
    graph = hostile_graph(tmp_path)
    out = graph.with_name(f"out{graph.name}")
    words = ["--k", "1", "--hash", "identity"]
    assert "pwned" in clean(RUNNER.invoke(app, ["prune", str(graph), str(out), *words]))
    assert out.exists()
    assert "pwned" in clean(RUNNER.invoke(app, ["prune", str(graph), str(out), *words, "--stream", "--memory", "3GB"]))
    assert "pwned" in clean(RUNNER.invoke(app, ["verify", str(out)]))
    assert "pwned" in clean(RUNNER.invoke(app, ["inspect", str(graph), "--methods", "random", "--shares", "0.5"]))
    for command in (["verify"], ["inspect"], ["report"], ["figures"], ["study", "run"], ["compare"], ["prune", "x"]):
        result = RUNNER.invoke(app, [*command, str(tmp_path / f"absent{HOSTILE}")])
        assert result.exit_code == 1, result.stderr
        clean(result)


def test_file_names_that_are_no_text(tmp_path):
    odd = os.fsdecode(b"\xff\xfe")
    graph = hostile_graph(tmp_path, f"{odd}.npz")
    result = RUNNER.invoke(
        app, ["prune", str(graph), str(tmp_path / f"out{odd}.npz"), "--k", "1", "--hash", "identity"]
    )
    assert result.exit_code == 0 and "\\udcff" in clean(result)


def test_names_of_arrays_and_columns(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr(f"{HOSTILE}.npy", b"no array")
    np.savez(tmp_path / "b.npz", **{HOSTILE: np.eye(2), f"{HOSTILE}2": np.eye(2)})
    (tmp_path / "c.csv").write_text(f"{HOSTILE.replace(chr(0x2028), '')},b\n1,2\n")
    np.savez(tmp_path / "good.npz", edge_index=EDGES)
    for name in ("a.npz", "b.npz", "c.csv"):
        result = RUNNER.invoke(app, ["prune", str(tmp_path / name), str(tmp_path / "out.npz"), "--k", "1"])
        assert result.exit_code == 1
        assert "pwned" in clean(result)
        asked = ["inspect", str(tmp_path / "good.npz"), "--features", str(tmp_path / name), "--label", HOSTILE]
        clean(RUNNER.invoke(app, asked))
    clean(RUNNER.invoke(app, ["prune", str(tmp_path / "good.npz"), str(tmp_path / "o.npz"), "--edge-attr", HOSTILE]))


def test_names_in_manifests(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    entry = {"name": HOSTILE, "rows": 1, "bytes": 1, "sha256": "0" * 64}
    whole = {"manifest": 1, "version": "1", "config": {}, "edges": 1, "kept": 1, "files": [entry]}
    for changed in ({}, {HOSTILE: 1}, {"files": [{**entry, "sha256": HOSTILE}]}, {"edges": HOSTILE}):
        (folder / "_lsprune.json").write_text(json.dumps({**whole, **changed}))
        result = RUNNER.invoke(app, ["verify", str(folder)])
        assert result.exit_code == 1
        assert "pwned" in clean(result)


def test_names_in_results_and_studies(tmp_path):
    lines = comparison(dataset="[red]pwned[/red]")
    path = save(lines, tmp_path / f"{HOSTILE.replace('/', '|')}.jsonl")
    out = tmp_path / f"f{HOSTILE[:9]}"
    assert "pwned" in clean(RUNNER.invoke(app, ["figures", str(path), "--out", str(out), "--format", "svg"]))
    path.write_text(json.dumps({"key": HOSTILE, "run": {"dataset": HOSTILE}}) + "\n")
    clean(RUNNER.invoke(app, ["report", str(path)]))
    study = tmp_path / "s.toml"
    for text in (
        f'"{HOSTILE}" = 3',
        f'title = "t"\n{HOSTILE}',
        f'title = "t"\nmodel = "{HOSTILE}"\ndataset="x"\nk=[1]\nmethods=["{HOSTILE}"]',
    ):
        study.write_text(text)
        clean(RUNNER.invoke(app, ["study", "status", str(study)]))
        quoted = text.replace("\x1b", "\\u001b").replace("\x07", "\\u0007").replace("\x7f", "\\u007f")
        study.write_text(quoted)
        assert RUNNER.invoke(app, ["study", "status", str(study)]).exit_code == 1
        clean(RUNNER.invoke(app, ["study", "status", str(study)]))


@pytest.mark.parametrize(
    "words",
    [["\x1b]0;x\x07"], ["--\x1b]0;x\x07"], ["prune", "--\x9b31m"], ["study", "\u202ex"], ["prune", "a", "b", "\x1b"]],
)
def test_usage_errors(words):
    result = RUNNER.invoke(app, words)
    assert result.exit_code == 2
    clean(result)


def test_an_interrupt_before_a_command_begins_is_an_exit_code():
    with pytest.raises(SystemExit) as end, interruptible():
        raise KeyboardInterrupt
    assert end.value.code == 130


def test_no_edges_have_no_share(capsys):
    table = framed("t", "", "")
    add_kept_rows(table, {"edges": 0, "kept": 0, "share": 1.0, "uncounted_self_loops": 0})
    show(None, False, lambda: table)
    assert "100" not in capsys.readouterr().out
