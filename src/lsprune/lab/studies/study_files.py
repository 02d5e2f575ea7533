"""Studies in TOML files: those that come with lsprune, and the user's own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from lsprune.checks import did_you_mean, shown
from lsprune.errors import FormatError, OptionError
from lsprune.lab.studies.study import Part, Study, check_value


def names() -> list[str]:
    """Return the names of the studies that come with lsprune."""
    return sorted(path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml"))


def read(name: str) -> Study:
    """Return the study of that name, or the one in a user's `.toml` file.

    A file has a title and the fields of `Part`; a study of several datasets has a table `[[part]]` for each of them,
    whose keys override those at the top. `dataset` may be a list: the same part for each of these datasets.

    >>> read("cora").parts[0].dataset
    'cora'
    """
    if name.endswith(".toml"):
        text, stem = _read_text(Path(name)), Path(name).stem
    elif name in names():
        text, stem = (_folder() / f"{name}.toml").read_text(encoding="utf8"), name
    else:
        raise OptionError(
            f"study must be one of {', '.join(names())}, or a .toml file, got {name!r}{did_you_mean(name, names())}"
        )
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a ValueError also for impossible dates and numbers
        raise FormatError(f"{name} is not a TOML file: {error}") from None
    own = {key: table.pop(key) for key in ("title", "seeds") if key in table}
    if not isinstance(own.get("title"), str):
        raise OptionError(f"title must be in the study file {name}, a string")
    parts = table.pop("part", [{}])
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        raise OptionError(f"part must be one or more tables [[part]] in the study file {name}, got {shown(parts)}")
    tables = [expanded for part in parts for expanded in _for_each_dataset({**table, **part})]
    return Study(name=stem, parts=tuple(_part(expanded, name) for expanded in tables), **own)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf8")
    except ValueError as error:  # not UTF-8, or no path at all
        raise FormatError(f"{path} is not a TOML file in UTF-8: {error}") from None


def _for_each_dataset(table: dict[str, Any]) -> list[dict[str, Any]]:
    datasets = table.get("dataset")
    return [{**table, "dataset": name} for name in datasets] if isinstance(datasets, list) and datasets else [table]


def _part(table: Mapping[str, Any], name: str) -> Part:
    known = {f.name: f for f in fields(Part)}
    for key, value in table.items():
        if key not in known:
            keys = ", ".join(sorted({*known, "title", "seeds", "part"}))
            raise OptionError(f"{key} is not a key of a study; it may have {keys}")
        kind = _KINDS[str(known[key].type).partition("[")[0].partition(" ")[0]]
        check_value(isinstance(value, kind) and not isinstance(value, bool), key, f"{_WORDS[kind[0]]} in {name}", value)
    missing = [key for key, f in known.items() if f.default is MISSING and key not in table]
    if missing:
        raise OptionError(f"{missing[0]} must be in the study file {name}")
    lists = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
    return Part(**{**table, **lists})


_WORDS: dict[type, str] = {list: "a list", str: "a string", int: "a whole number", float: "a number", dict: "a table"}
_KINDS: dict[str, tuple[type, ...]] = {
    "tuple": (list,),
    "str": (str,),
    "Literal": (str,),
    "int": (int,),
    "float": (float, int),
}


def _folder() -> Any:
    return files("lsprune.lab.studies") / "definitions"
