"""The command line: parse, call one library function, print.

Libraries that take long to import (numba, pyarrow) are loaded by the command that needs them, so that `--help` and
`--version` answer at once.
"""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from lsprune.cli.acceleration import acceleration_app
from lsprune.cli.choose import choose_command
from lsprune.cli.compare import compare_command
from lsprune.cli.console import ENDINGS, INTERRUPTED, TERMINATED, Command, Group, end_at_once, say_ending, tell
from lsprune.cli.demo import demo_command
from lsprune.cli.fit import fit_command
from lsprune.cli.inspect import inspect_command
from lsprune.cli.methods import methods_command
from lsprune.cli.prune import prune_command
from lsprune.cli.report import figures_command, report_command
from lsprune.cli.seal import seal_command
from lsprune.cli.spark import spark_prune_command
from lsprune.cli.stream import verify_command
from lsprune.cli.study import study_app

app = typer.Typer(
    name="lsprune",
    cls=Group,
    help="""Prune the edges of a graph, so that a graph neural network trains faster with little or no loss of accuracy.

    Example: lsprune prune edges.parquet small.parquet --features x.npy --preset auto --keep 0.5

    Example: lsprune inspect mine.npz --plot mine.png
    """,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; the entry point of the `lsprune` script.

    Ctrl-C prints one line and exits with code 130; SIGTERM prints one line and exits with code 143.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # escape what the terminal's encoding lacks
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)
    try:
        code = _run()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # another Ctrl-C would only print a traceback
    except (KeyboardInterrupt, SystemExit) as end:  # a signal before the command began or after its end
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = end.code if isinstance(end, SystemExit) else INTERRUPTED
    if code in ENDINGS:
        say_ending(ENDINGS[code])
        end_at_once(code)
    sys.exit(code)


def _run() -> Any:
    """Run the command of this process; return its exit code."""
    try:
        app(prog_name="lsprune")
    except SystemExit as end:
        return end.code


def _terminate(number: int, frame: object) -> None:
    """Exit as after an error, so that temporary files are removed; a second signal ends the process at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise SystemExit(TERMINATED)


def _version(wanted: bool) -> None:
    if wanted:
        from lsprune import __version__

        tell(f"lsprune {__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")]


# in the order that `--help` shows
_COMMANDS: dict[str, Callable[..., None]] = {
    "prune": prune_command,
    "inspect": inspect_command,
    "choose": choose_command,
    "compare": compare_command,
    "fit": fit_command,
    "verify": verify_command,
    "seal": seal_command,
    "spark-prune": spark_prune_command,
    "methods": methods_command,
    "demo": demo_command,
    "report": report_command,
    "figures": figures_command,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, cls=Command)(_command)
app.add_typer(study_app, name="study")
app.add_typer(acceleration_app, name="acceleration")


@app.callback()
def _options(version: Version = False) -> None:
    pass  # the callback of --version has done the work
