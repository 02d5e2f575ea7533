"""Manners that all commands share: examples, JSON, completion, colours, exit codes, and what Ctrl-C leaves behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from own_files import masks, npz
from typer.testing import CliRunner

import lsprune
from lsprune.cli import app
from lsprune.cli.console import ENDINGS

SRC = str(Path(lsprune.__file__).parents[1])
MAIN = "import sys; sys.argv[0] = 'lsprune'; from lsprune.cli import main; main()"
ESCAPE, COLOUR = re.compile(r"\x1b"), re.compile(r"\x1b\[(?:\d+;)*(?:[349]\d|10\d|[34]8;[\d;]+)m")
WITHOUT_JSON: set[str] = set()  # commands that print no table and no fact: so far there is none


def commands(command: Any = None, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every group and command, with the words that lead to it."""
    command = typer.main.get_command(app) if command is None else command
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*words, name))


ALL = [pytest.param(*one, id=" ".join(one[0]) or "lsprune") for one in commands()]
LEAVES = [pytest.param(*one, id=" ".join(one[0])) for one in commands() if not hasattr(one[1], "commands")]


def environment(**more: str) -> dict[str, str]:
    """Ours without what would force or forbid colours."""
    kept = {name: value for name, value in os.environ.items() if not re.search("COLOR|GITHUB|COLUMNS", name)}
    return {**kept, "PYTHONPATH": SRC, **more}


def program(*words: object, code: str = MAIN, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(command, env=environment(**env), capture_output=True, text=True, check=False)


def test_the_walk_finds_the_commands() -> None:
    found = {words for words, _ in commands()}
    assert {(), ("prune",), ("compare",), ("inspect",), ("study",), ("study", "run")} <= found


def test_commands_are_listed_in_the_order_of_use() -> None:
    names = list(typer.main.get_command(app).commands)
    assert names[:4] == ["prune", "inspect", "choose", "compare"]


@pytest.mark.parametrize(("words", "command"), ALL)
def test_flags_are_shown_without_a_type(words: tuple[str, ...], command: Any) -> None:
    shown = CliRunner().invoke(app, [*words, "--help"]).output
    assert "--help" in shown and "bool" not in shown.lower()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(("words", "command"), ALL)
def test_help_is_not_cut_and_has_paragraphs_without_short_lines(
    words: tuple[str, ...], command: Any, width: int
) -> None:
    shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": str(width)}).output
    assert "…" not in shown and "range" not in shown
    assert max(map(len, shown.splitlines())) <= width
    assert all("\n" not in paragraph for paragraph in command.help.split("\n\n"))


@pytest.mark.parametrize(("words", "command"), ALL)
def test_every_help_has_an_example_of_that_command(words: tuple[str, ...], command: Any) -> None:
    shown = CliRunner().invoke(app, [*words, "--help"])
    assert shown.exit_code == 0
    assert " ".join(["Example: lsprune", *words]) in " ".join(shown.stdout.split())


@pytest.mark.parametrize(("words", "command"), LEAVES)
def test_every_command_speaks_json(words: tuple[str, ...], command: Any) -> None:
    has = any("--json" in one.opts for one in command.params)
    assert has is (" ".join(words) not in WITHOUT_JSON)


@pytest.mark.parametrize(("words", "command"), ALL)
def test_an_unknown_option_is_a_usage_error(words: tuple[str, ...], command: Any) -> None:
    wrong = CliRunner().invoke(app, [*words, "--nonsense"])
    assert wrong.exit_code == 2
    assert wrong.stdout == ""
    assert "--nonsense" in wrong.stderr and "--help" in wrong.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("prune", "absent.csv", "out.csv", "--k", "1"),
        ("inspect", "absent.npz"),
        ("compare", "absent.npz"),
        ("report", "absent"),
        ("figures", "absent", "--results", "absent"),
        ("study", "run", "absent"),
        ("study", "status", "absent"),
        ("study", "page", "--results", "absent"),
    ],
)
def test_a_runtime_error_is_one_line_and_code_1(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if words[0] == "compare":
        pytest.importorskip("torch_geometric")
    monkeypatch.chdir(tmp_path)
    wrong = CliRunner().invoke(app, list(words))
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert re.fullmatch(r"error: .*absent.*\n", wrong.stderr), wrong.stderr
    assert list(tmp_path.iterdir()) == []


def test_completion_is_shown_for_the_shell_that_asks() -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    line = f'{sys.executable} -c "$0" --show-completion; exit $?'
    shown = subprocess.run([bash, "-c", line, MAIN], env=environment(), capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert "complete -o default -F _lsprune_completion lsprune" in shown.stdout
    assert "_LSPRUNE_COMPLETE=complete_bash" in shown.stdout


def test_completion_knows_commands_and_options() -> None:
    for words, place, wanted in (
        ("lsprune ", 1, "compare"),
        ("lsprune study ru", 2, "run"),
        ("lsprune inspect --sha", 2, "--shares"),
    ):
        asked = program(_LSPRUNE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(place))
        assert wanted in asked.stdout.split(), asked.stdout


@pytest.mark.parametrize(
    "words", [("--help",), ("compare", "--help"), ("methods",), ("fly",), ("inspect", "absent.npz")]
)
def test_no_escapes_in_a_pipe_and_no_colour_when_asked(words: tuple[str, ...]) -> None:
    piped = program(*words)
    assert not ESCAPE.search(piped.stdout + piped.stderr)
    plain = program(*words, NO_COLOR="1")
    assert not ESCAPE.search(plain.stdout + plain.stderr)
    forced = program(*words, NO_COLOR="1", FORCE_COLOR="1", TERM="xterm-256color")
    assert not COLOUR.search(forced.stdout + forced.stderr)


def test_the_patterns_find_colours() -> None:
    assert COLOUR.search("\x1b[1;36mname\x1b[0m") and COLOUR.search("\x1b[31m") and not COLOUR.search("\x1b[1m\x1b[0m")
    shown = program("--help", FORCE_COLOR="1", TERM="xterm-256color")
    assert COLOUR.search(shown.stdout)


# Ctrl-C. The child says on stdout when it is in the middle of the work, and then gets the signal.

CHILD = """
import signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would ignore it
{patch}
sys.argv[0] = "lsprune"
from lsprune.cli import main
main()
"""
HALF_WRITTEN = """
from lsprune.files import text
def write(self, handle, suffix, mask):
    handle.write(b"source,target\\n0,1\\n")
    handle.flush()
    print("working", flush=True)
    threading.Event().wait()
for kind in [one for one in vars(text).values() if hasattr(one, "write") and isinstance(one, type)]:
    kind.write = write
"""
FIRST_RUN = """
from lsprune.lab.studies.result_files import Results
append = Results.append
def told(self, run):
    append(self, run)
    print("working", flush=True)
    threading.Event().wait()
Results.append = told
"""
BUSY_THREAD = """
import atexit, os, pathlib
def go_on():
    threading.Event().wait(60)
    os._exit(9)
def busy(text, **options):
    threading.Thread(target=go_on).start()
    shown(text, **options)
shown, print = print, busy
atexit.register(pathlib.Path("cleaned").touch)
"""
LATE = """
import contextlib, io, lsprune.cli
run = lsprune.cli._run
def end_late():
    with contextlib.redirect_stdout(io.StringIO()):
        code = run()
    print("working", flush=True)
    threading.Event().wait()
lsprune.cli._run = end_late
"""
HALF_DRAWN = """
import lsprune.lab.survey_plot as plots
def drawn(*_):
    print("working", flush=True)
    threading.Event().wait()
plots.draw_survey = drawn
"""


def interrupted(patch: str, folder: Path, *words: object, number: int = signal.SIGINT) -> list[str]:
    """The files in the folder after a signal in the middle of the work, which is checked to end as it should."""
    command = [sys.executable, "-c", CHILD.format(patch=patch), *map(str, words)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as child:
        assert child.stdout is not None
        if child.stdout.readline() != "working\n":
            pytest.fail(f"it ended before it was interrupted: {child.communicate()[1]}")
        if number == signal.SIGINT:
            os.killpg(child.pid, number)  # a terminal sends it to all processes of a command
        else:
            os.kill(child.pid, number)
        out, err = child.communicate()
    assert (child.returncode, out, err) == (128 + number, "", ENDINGS[128 + number] + "\n")
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_an_interrupted_prune_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("source,target\n0,1\n1,2\n")
    (tmp_path / "old.csv").write_text("old\n")
    for out in ("out.csv", "old.csv"):
        found = interrupted(HALF_WRITTEN, tmp_path, "prune", "in.csv", out, "--k", 1, "--method", "first")
        assert found == ["in.csv", "old.csv"]
    assert (tmp_path / "old.csv").read_text() == "old\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_end_waits_for_no_thread_but_cleans_up(tmp_path: Path, number: int) -> None:
    (tmp_path / "in.csv").write_text("source,target\n0,1\n1,2\n")
    words = ("prune", "in.csv", "out.csv", "--k", 1, "--method", "first")
    found = interrupted(BUSY_THREAD + HALF_WRITTEN, tmp_path, *words, number=number)
    assert found == ["cleaned", "in.csv"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_last_step_is_one_line_too(tmp_path: Path, number: int) -> None:
    assert interrupted(LATE, tmp_path, "study", "list", number=number) == []


def test_a_terminated_prune_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("source,target\n0,1\n1,2\n")
    words = ("prune", "in.csv", "out.csv", "--k", 1, "--method", "first")
    assert interrupted(HALF_WRITTEN, tmp_path, *words, number=signal.SIGTERM) == ["in.csv"]


def test_processes_of_a_terminated_study_end_with_it(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric")
    words = ("study", "run", "demo", "--smoke", "--jobs", 2)
    assert interrupted(FIRST_RUN, tmp_path, *words, number=signal.SIGTERM) == ["results/demo-smoke.jsonl"]


def test_an_interrupted_comparison_keeps_whole_runs_and_makes_no_report(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric")
    npz(tmp_path / "g.npz", **masks())
    words = ("compare", "g.npz", "--epochs", 2, "--seeds", 1, "--shares", 0.5, "--methods", "lsp")
    found = interrupted(FIRST_RUN, tmp_path, *words)
    assert len(found) == 2 and found[0] == "g.npz" and re.fullmatch(r"results/g-\w{8}\.jsonl", found[1])
    (line,) = (tmp_path / found[1]).read_text().splitlines()
    assert CliRunner().invoke(app, ["report", str(tmp_path / found[1]), "-o", str(tmp_path / "r.html")]).exit_code == 0


def test_processes_of_an_interrupted_study_end_without_a_word(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric")
    found = interrupted(FIRST_RUN, tmp_path, "study", "run", "demo", "--smoke", "--jobs", 2)
    assert found == ["results/demo-smoke.jsonl"]


def test_an_interrupted_inspection_leaves_no_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    np.savez(tmp_path / "g.npz", edge_index=np.array([[0, 1, 2], [1, 2, 0]]))
    assert interrupted(HALF_DRAWN, tmp_path, "inspect", "g.npz", "--plot", "g.png", "--methods", "random") == ["g.npz"]
