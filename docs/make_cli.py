"""Write docs/cli.md from the command line itself: `python docs/make_cli.py`; `--check` only says whether it is current.

The page lists every command that `lsprune --help` shows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from lsprune.cli import app
from lsprune.cli.console import value_word

PAGE = Path(__file__).with_name("cli.md")
INTRO = """\
# Command line

Made by `docs/make_cli.py` from the commands themselves: do not edit.

- Every command has `--help` with an example, and `--json` for scripts: one JSON object on stdout, nothing else.
- Exit codes: 0 success; 1 error, with a one-line message that says what to change; 2 no such command or option;
  130 Ctrl-C; 143 SIGTERM.
- An output file is written completely or not at all, even after Ctrl-C, SIGTERM or a kill. A study or
  comparison keeps its finished runs.
- Progress bars and colours are shown only on a terminal; `NO_COLOR=1` turns colours off.
- `lsprune --install-completion` installs completion for your shell (bash, zsh, fish, PowerShell);
  `--show-completion` prints the script.
"""


def page() -> str:
    """Return the whole page: the program, then each command."""
    return "\n".join([INTRO, *_described("lsprune", typer.main.get_command(app), level=1)]).rstrip() + "\n"


def _described(name: str, command: Any, level: int) -> Iterator[str]:
    if level > 1:
        yield f"{'#' * min(level, 4)} {name}\n"
    yield _help(command.help or "")
    shown = [one for one in command.params if not getattr(one, "hidden", False) and one.name != "help"]
    arguments = [one for one in shown if one.param_type_name == "argument"]
    options = [one for one in shown if one.param_type_name == "option"]
    commands = getattr(command, "commands", {})
    yield f"```text\n{_usage(name, arguments, options, commands)}\n```\n"
    yield from _table("command", [(inner, _first(below.help)) for inner, below in _visible(commands)])
    yield from _table("argument", [(_name(one), _about(one)) for one in arguments])
    yield from _table("option", [(_flags(one), _about(one)) for one in options])
    for inner, below in _visible(commands):
        yield from _described(f"{name} {inner}", below, level + 1)


def _visible(commands: Any) -> list[tuple[str, Any]]:
    return [(name, command) for name, command in commands.items() if not command.hidden]


def _first(text: str | None) -> str:
    return (text or "").strip().split("\n\n")[0].replace("\n", " ")


def _help(text: str) -> str:
    """The help as Markdown: examples become code, everything else stays."""
    out: list[str] = []
    for line in text.replace("\b", "").replace("\f", "").strip().splitlines():
        words = line.strip().removeprefix("Example: ").removeprefix("$ ")
        if words.startswith("lsprune "):
            if out[-2:] == ["```", ""]:
                del out[-2:]  # one block for examples that follow each other
            else:
                out.append("```console")
            out += [f"$ {words}", "```"]
        else:
            out.append(words)
    return "\n".join(out) + "\n"


def _usage(name: str, arguments: list[Any], options: list[Any], commands: Any) -> str:
    words = [name, *(["[OPTIONS]"] if options else []), *map(_name, arguments), *(["COMMAND ..."] if commands else [])]
    return " ".join(words)


def _table(kind: str, rows: list[tuple[str, str]]) -> Iterator[str]:
    if rows:
        yield f"| {kind} | meaning |\n|---|---|"
        yield "\n".join(f"| `{first}` | {second} |" for first, second in rows) + "\n"


def _name(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _flags(option: Any) -> str:
    """`--keep FLOAT`, `--replace / --no-replace`, `-o, --out PATH`."""
    flags = ", ".join(sorted(option.opts, key=len))
    if option.is_flag:
        return " / ".join([flags, *option.secondary_opts])
    return f"{flags} {option.metavar or value_word(option)}"


def _about(parameter: Any) -> str:
    said = (parameter.help or "").replace("|", r"\|").strip()
    default = parameter.default
    plain = isinstance(default, (str, int, float, Path)) and not isinstance(default, bool)
    if plain and str(default) and "default" not in said:
        said += f" Default: `{default}`."
    return said


if __name__ == "__main__":
    current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == page()
    if "--check" in sys.argv[1:]:
        sys.exit(0 if current else "docs/cli.md is old: python docs/make_cli.py")
    PAGE.write_text(page(), encoding="utf-8")
