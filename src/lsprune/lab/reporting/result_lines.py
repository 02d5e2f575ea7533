"""Files of results as checked records: every line that cannot be shown is named with its file and number."""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprune.errors import FormatError, LspruneWarning, OptionError
from lsprune.lab.reporting.panels import Panel, make_panel, overlap_panel
from lsprune.lab.reporting.records import OVERLAP, Record, wrong_fields


@dataclass(frozen=True, eq=False)
class Source:
    """One file of results.

    Args:
        study: the name of the file, and of its folder where two files have the same name.
        panels: what was trained, for each dataset and target.
        variance: the measurements of neighbourhood sizes, for each dataset.
        overlaps: the measurements of consistency, for each dataset.
    """

    path: Path
    study: str
    runs: int
    panels: tuple[Panel, ...]
    variance: dict[str, list[Record]]
    overlaps: tuple[Panel, ...] = ()


def read_sources(given: Sequence[Path]) -> list[Source]:
    """The runs in these files and folders; an error where there are none at all."""
    paths = list(dict.fromkeys(path for one in given for path in result_files(one)))
    stems = [path.stem for path in paths]
    sources = []
    for path in paths:
        study = path.stem if stems.count(path.stem) == 1 else f"{path.stem} ({path.parent})"
        sources.append(_source(path, study))
    full = [source for source in sources if source.runs]
    if not full:
        places = ", ".join(map(str, given)) or "nothing"
        raise OptionError(f"results must be files or folders with runs in lines, such as cora.jsonl, got {places}")
    return full


def result_files(place: Path) -> list[Path]:
    """The file itself, or the .jsonl files of a folder by name; those of a trial (-smoke) only when they are named."""
    if place.is_dir():
        there = (path for path in place.glob("*.jsonl") if not path.stem.endswith("-smoke"))
        return sorted(there, key=lambda path: path.stem)
    if not place.is_file():
        raise OptionError(f"results must be files or folders that exist, got {place}")
    return [place]


def _source(path: Path, study: str) -> Source:
    trained: dict[tuple[str, str | None], list[Record]] = defaultdict(list)
    measured: dict[str, list[Record]] = defaultdict(list)
    compared: dict[str, list[Record]] = defaultdict(list)
    count = 0
    for record in read_records(path):
        run, count = record["run"], count + 1
        if "variance" in record:
            measured[run["dataset"]].append(record)
        elif OVERLAP in record:
            compared[run["dataset"]].append(record)
        else:
            trained[run["dataset"], run.get("target")].append(record)
    panels = tuple(make_panel(path, dataset, target, records) for (dataset, target), records in trained.items())
    overlaps = tuple(overlap_panel(path, dataset, None, records) for dataset, records in compared.items())
    return Source(path, study, count, panels, dict(measured), overlaps)


def read_records(path: Path) -> Iterator[Record]:
    """The records of a file, checked; a last line cut short is left out with a warning, other damage is an error.

    Lines are counted as an editor counts them, empty ones too.
    """
    *whole, tail = path.read_bytes().split(b"\n")
    if tail.strip():
        message = f"{path}, line {len(whole) + 1} is cut short and left out; the study that writes it will mend it"
        warnings.warn(message, LspruneWarning, stacklevel=2)
    for number, line in enumerate(whole, 1):
        if line.strip():
            yield _record(line, f"{path}, line {number}")


def _record(line: bytes, place: str) -> Record:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{place} is damaged ({error}); remove or mend that line, the others are kept") from None
    if not isinstance(record, dict) or not isinstance(record.get("key"), str):
        raise FormatError(f"{place} is no run of a study, for it has no key; is it a file of results?")
    if wrong := wrong_fields(record):
        raise FormatError(f"{place} is no proper run: wrong or missing {', '.join(wrong)}; mend or remove that line")
    return record


def side_of(records: Iterable[Record]) -> str:
    """The side whose neighbourhoods a method pruned, in or out; empty where it has none or records differ."""
    found: set[Any] = set()
    for record in records:
        pruner = record.get("pruner")
        found.add(pruner.get("side") if isinstance(pruner, dict) else None)
    side = found.pop() if len(found) == 1 else None
    return side if side in ("in", "out") else ""
