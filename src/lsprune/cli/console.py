"""Output of the command line: errors in one line, progress bars, tables and JSON.

Every command prints through this module. Names of files, columns and arrays are untrusted: control characters are
escaped and markup is not interpreted, so that a name can neither control the terminal nor fake a line.
"""

from __future__ import annotations

import atexit
import inspect
import json
import os
import re
import sys
import time
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO, cast

import typer
from typer.core import TyperCommand, TyperGroup

from lsprune.errors import LspruneError, LspruneWarning

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Report = dict[str, Any]
INTERRUPTED, TERMINATED = 130, 143  # 128 and the number of SIGINT and of SIGTERM, as in shells
ENDINGS = {INTERRUPTED: "interrupted", TERMINATED: "terminated"}
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]

# Unicode categories: controls (C0, C1, DEL), format characters (bidirectional, zero width), halves of surrogate pairs
# (bytes of a file name that are not UTF-8), line and paragraph separators.
_UNPRINTED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def escaped(text: str) -> str:
    """Return the text in one line, with characters escaped that could control a terminal.

    >>> print(escaped("a\\x1b[31m.npz"))
    a\\x1b[31m.npz
    """
    return "".join(_escape(letter) if unicodedata.category(letter) in _UNPRINTED else letter for letter in text)


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode("ascii")


# UsageError of click, or of the copy of click in newer typer versions.
_USAGE_ERRORS = cast("tuple[type[Exception], ...]", typer.BadParameter.__bases__)


_VALUES = {"int": "INTEGER", "integer": "INTEGER", "integer range": "INTEGER", "float": "NUMBER", "Path": "PATH",
           "path": "PATH"}  # fmt: skip


class _PlainHelp:
    """In `--help`, show flags without a type, values as one word, and paragraphs as wide as the terminal."""

    def __init__(self, *words: Any, **options: Any) -> None:
        if text := options.get("help"):
            options["help"] = "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))
        super().__init__(*words, **options)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments, `--help` included."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "metavar", None) is None and param.param_type_name == "option":
                param.metavar = "" if param.is_flag else value_word(param)
        return params


def value_word(option: Any) -> str:
    """Return the placeholder for the value of an option: INTEGER, NUMBER, PATH or TEXT."""
    if hasattr(option, "type_descriptor"):  # newer typer versions, which do not use click
        return _VALUES.get(str(getattr(option.type_descriptor.annotation, "__name__", "")), "TEXT")
    return _VALUES.get(str(option.type.name), "TEXT")


class Command(_PlainHelp, TyperCommand):
    """A command with a plain `--help`."""


class Group(_PlainHelp, TyperGroup):
    """A group of commands whose usage errors escape control characters in what was typed."""

    def make_context(self, *words: Any, **options: Any) -> Any:
        """Parse the group's own options."""
        with interruptible(), _escaped_usage():
            return super().make_context(*words, **options)

    def invoke(self, ctx: Any) -> Any:
        """Find the command, parse its options and run it."""
        with interruptible(), _escaped_usage():
            return super().invoke(ctx)


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn Ctrl-C into exit code 130, also before a command begins."""
    try:
        yield
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


@contextmanager
def _escaped_usage() -> Iterator[None]:
    try:
        yield
    except _USAGE_ERRORS as error:
        for name in ("message", "option_name"):
            if isinstance(text := getattr(error, name, None), str):
                setattr(error, name, escaped(text))
        raise


@contextmanager
def errors() -> Iterator[None]:
    """Turn errors into one line and exit code 1, warnings into one line each, Ctrl-C into exit code 130."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", LspruneWarning)
        warnings.showwarning = _show_warning
        try:
            yield
        except BrokenPipeError:  # the reader of the pipe has exited: typer ends quietly
            raise
        except LspruneError as error:
            say("error", error)
        except OSError as error:
            say("error", _described(error))
        except MemoryError as error:
            say("error", f"not enough memory ({error or 'the graph is too large'})")
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        else:
            return
    raise typer.Exit(1)


def _described(error: OSError) -> str:
    """Return the file and the reason, such as "a.csv: No such file or directory"."""
    return f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)


def _show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: TextIO | None = None,
    line: str | None = None,
) -> None:  # fmt: skip
    say("warning", message)


def say(kind: str, message: object) -> None:
    """Print one line of that kind (error, warning, note) on standard error; line breaks become spaces."""
    # str.split would also fold other control characters, which must be escaped
    words = (word for word in re.split(r"[ \t\r\n]+", str(message)) if word)
    typer.echo(escaped(f"{kind}: {' '.join(words)}"), err=True)


def say_ending(word: str) -> None:
    """Print on standard error which signal ended the command."""
    typer.echo(word, err=True)


def end_at_once(code: int) -> NoReturn:
    """Exit after a signal without unloading libraries.

    Threads of kernels, Arrow and OpenMP may still run. Some crash when their libraries are unloaded, which would
    change the exit code. Python's exit handlers run as usual.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the reader has exited, or the stream is closed
            stream.flush()
    os._exit(code)


def tell(text: str) -> None:
    """Print one line on standard output."""
    typer.echo(escaped(text))


def baseline_note(methods: Iterable[str]) -> Iterator[str]:
    """Yield what `local-random` is, if it is among the methods of a table."""
    from lsprune.baselines import LocalRandom

    if LocalRandom.name in methods:
        yield f"{LocalRandom.name}: {LocalRandom.about}"


@contextmanager
def steps(total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function that names the next of `total` steps on a progress bar, shown only on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_interactive:  # rich 14.1 and older print an empty line for a disabled bar
        yield lambda name: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    # do not redirect a piped stdout: rich would send it to the terminal
    with Progress(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as progress:
        task = progress.add_task("", total=total)
        started = False

        def step(name: str) -> None:
            nonlocal started
            progress.update(task, description=escaped(name), advance=1 if started else 0)
            started = True

        yield step


@contextmanager
def trials_bar(budget: float | None = None) -> Iterator[Callable[[int, int, str], None]]:
    """Yield a function that takes (steps done, all steps, name of the next), for a progress bar with the time left.

    The bar is shown on standard error, and only on a terminal; the time left appears after the first step.

    Args:
        budget: seconds from now after which no step starts.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from lsprune.lab.time_left import Pace, time_left

    console = Console(stderr=True)
    if not console.is_interactive:
        yield lambda done, total, name: None
        return
    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[left]}", markup=False),
    )  # fmt: skip
    end = None if budget is None else time.monotonic() + budget
    with Progress(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as progress:
        task, pace = progress.add_task("", total=None, left=""), Pace()

        def step(done: int, total: int, name: str) -> None:
            limit = None if end is None else max(end - time.monotonic(), 0.0)
            words = time_left(pace.left(done, total), limit)
            progress.update(task, completed=done, total=total, description=escaped(name), left=words)

        yield step


def show(report: Any, as_json: bool, table: Callable[[], Table | str | Sequence[str]]) -> None:
    """Print a report as JSON, or as the table or lines that `table` returns."""
    if as_json:
        # the only control character that json does not escape
        typer.echo(json.dumps(report).replace("\x7f", "\\u007f"))
        return
    shown = table()
    if isinstance(shown, str):
        tell(shown)
    elif isinstance(shown, Sequence):
        for line in shown:
            tell(line)
    else:
        _console().print(shown)


def _console() -> Console:
    """Return a console for tables on standard output; strings are escaped, and markup is not interpreted."""
    from rich.console import Console
    from rich.text import Text

    class Escaping(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(escaped(text), **options)

    # for a pipe, rich would assume 80 columns and cut cells
    width = None if sys.stdout.isatty() else 120
    return Escaping(file=sys.stdout, highlight=False, markup=False, emoji=False, width=width)


# what `IsolatedWarning` recommends in Python
GUARD = '--pruner "guarded:pruner=(...),min_keep=1"'


def kept_table(name: str, report: Report) -> Table:
    table = framed(name, "", "")
    add_kept_rows(table, report)
    table.add_row("nodes with edges", f"{report['owners']:,}")
    table.add_row("of these, lost some", f"{report['owners_cut']:,}")
    table.add_row("nodes left without any edge", f"{report['isolated']:,}")
    if report["isolated"] and not report["pruner"].get("min_keep"):
        table.add_row("  to avoid this, keep more, or", GUARD)
    table.add_row("seconds for pruning", f"{report['seconds']:.3f}")
    table.add_row("edges per second", f"{report['edges_per_second']:,.0f}")
    if chosen := report.get("chosen"):
        from lsprune.hashing import FAMILIES

        family, weights = chosen["hash"]["name"], chosen["weights"]
        parts = f" of {', '.join(chosen['attributes'])}" if FAMILIES[family].needs_attributes else ""
        table.add_row("chosen", f"hash {family}{parts}")
        names = [factor["name"] for factor in (weights or {}).get("factors", [weights or {"name": "none"}])]
        table.add_row("", f"weights {' * '.join(names)}")
    return table


def add_kept_rows(table: Table, report: Report) -> None:
    """Add the rows of how many edges there were and how many are kept."""
    table.add_row("edges before", f"{report['edges']:,}")
    table.add_row("edges kept", f"{report['kept']:,} ({report['share']:.2%})" if report["edges"] else "0")
    if report["uncounted_self_loops"]:
        table.add_row("of these, self-loops outside the budget", f"{report['uncounted_self_loops']:,}")


def comparison_table(reports: Mapping[str, Report]) -> Table:
    edges = next(iter(reports.values()))["edges"]
    table = framed(f"keep=0.5 of {edges:,} edges", "method", "kept", "share", "nodes cut", "isolated", "s", "edges/s")
    for method, report in reports.items():
        nodes = (f"{report[name]:,}" for name in ("owners_cut", "isolated"))
        speed = (f"{report['seconds']:.3f}", f"{report['edges_per_second']:,.0f}")
        table.add_row(method, f"{report['kept']:,}", f"{report['share']:.2%}", *nodes, *speed)
    return table


def training_table(title: str, rows: Mapping[str, Report]) -> Table:
    table = framed(title, "method", "edges kept", "accuracy", "each seed", "prune s", "train s/epoch")
    for method, row in rows.items():
        runs = " ".join(f"{value:.3f}" for value in row["runs"])
        seconds = (f"{row[name]:.3f}" for name in ("prune_seconds", "train_seconds_per_epoch"))
        table.add_row(method, f"{row['share']:.1%}", f"{row['test']:.3f}", runs, *seconds)
    return table


def registry_table(kinds: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Table:
    """Return a table of names, what they do, and their options with defaults."""
    from rich.table import Table

    table = Table("", "name", "what it does", box=None)
    for kind, entries in kinds.items():
        for i, (name, entry) in enumerate(entries.items()):
            table.add_row("" if i else kind, name, entry["about"])
            if entry["options"]:
                table.add_row("", "", "  " + ", ".join(f"{key}={value}" for key, value in entry["options"].items()))
    return table


def framed(title: str, *columns: str) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", show_header=any(columns))
    for i, column in enumerate(columns):
        heading = Text("\n".join(map(escaped, column.split("\n"))))
        table.add_column(heading, justify="right" if i else "left", no_wrap=True)
    return table
