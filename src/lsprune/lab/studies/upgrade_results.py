"""Upgrade files of results that lsprune 0.1.0 wrote: new names of methods, their options, new keys.

    python -m lsprune.lab.studies.upgrade_results results/*.jsonl

Nothing else changes: neither the order of the lines nor a measured value. Lines of this version stay as they are.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from lsprune.errors import FormatError, LspruneError
from lsprune.files.atomic_write import atomic_write
from lsprune.lab.studies.methods import Method, catalogue
from lsprune.lab.studies.run import Run, content_key
from lsprune.pruners import Pruner, from_dict
from lsprune.pruners.saved import upgraded

NEW_NAMES = {
    "none": "unpruned",
    "lsp-p": "lsp-projection",
    "lsp-t": "lsp-threshold",
    "lsp-q": "lsp-codebook",
    "lsp-e": "lsp-codebook-edge",
    "lsp-s": "lsp-signs",
    "lsp-i": "lsp-identity",
    "lsp-w": "lsp-structure",
    "lsp-d": "lsp-degree",
    "lsp-d1": "lsp-degree-1",
    "lsp-qd": "lsp-codebook-degree",
    "lsp-id": "lsp-identity-degree",
    "lsp-j": "lsp-jaccard",
    "lsp-ij": "lsp-identity-jaccard",
    "lsp-a": "lsp-similarity",
    "lsp-auto": "lsp-auto-hash",
    "lsp-auto-a": "lsp-auto",
    "lsp-auto-a-out": "lsp-auto-out",
    "lsp-p-paper": "lsp-projection-paper",
    "lsp-t-paper": "lsp-threshold-paper",
    "lsp-p-published": "lsp-projection-published",
    "lsp-t-published": "lsp-threshold-published",
    "position": "first",
    "position-out": "first-out",
}
SAME_NAMES = (
    "no-edges", "basic", "random", "local-random", "local-random-out", "dropedge", "low-degree", "local-degree",
    "jaccard", "cosine", "dspar", "effective-resistance", "spanning-forest",
)  # fmt: skip
PUBLISHED = ("lsp-p-published", "lsp-t-published")  # whose hash looks at `sparsity` entries
DEFAULT_SPARSITY = 25
NEW_FIELDS = ("pruner", "every_epoch", "basic")  # of a run
MEASURED_APART = ("acceleration", "serving")  # tasks of lines that are no runs of a study; 0.1.0 had none
CHOSEN_BY_FIT = ("hash", "attributes", "weights")  # a record holds what an auto-calibrated LSP chose


def upgrade_file(path: Path) -> int:
    """Upgrade a file in place; return the number of lines that changed. On an error the file stays as it is."""
    content = path.read_bytes()
    new, changed = upgrade_lines(content, str(path))
    if changed:
        with atomic_write(path) as handle:
            handle.write(new)
    return changed


def upgrade_lines(content: bytes, path: str) -> tuple[bytes, int]:
    """Return the content of a file with every line upgraded, and the number of lines that changed.

    Raise FormatError with the number of a line that lsprune 0.1.0 cannot have written.
    """
    lines = content.split(b"\n")
    new = []
    for number, line in enumerate(lines, 1):
        try:
            new.append(upgrade_line(line) if line.strip() else line)
        except (LspruneError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise FormatError(f"{path}, line {number} cannot be upgraded: {error}; nothing was changed") from None
    return b"\n".join(new), sum(map(bytes.__ne__, lines, new))


def upgrade_line(line: bytes) -> bytes:
    """Return the line of one run in the form of this version; a line of this version is returned as it is."""
    record = json.loads(line)
    run = record["run"]
    if record.get("task") in MEASURED_APART:
        return line
    if "pruner" in run:
        if "sparsity" in run or Run(**run).key != record["key"]:
            raise FormatError(f"the key {record['key']} is not that of its options")
        return line
    new = _upgraded_run(run)
    if record["key"] != _old_key(new, run):
        raise FormatError(f"the key {record['key']} is not that of its options")
    pruner = None if record["pruner"] is None else upgraded(record["pruner"])
    _check_pruner(new, pruner)
    kept = {name: value for name, value in run.items() if name != "sparsity"}
    changed = {name: getattr(new, name) for name in ("method", *NEW_FIELDS)}
    record = {**record, "key": new.key, "run": {**kept, **changed}, "pruner": pruner}
    return json.dumps(record, allow_nan=False, sort_keys=True).encode()


def _upgraded_run(run: Mapping[str, Any]) -> Run:
    method = _method(run["method"], run.get("sparsity", DEFAULT_SPARSITY))
    rest = {name: value for name, value in run.items() if name not in ("method", "sparsity")}
    return Run(method=method.name, pruner=method.pruner, every_epoch=method.every_epoch, basic=method.basic, **rest)


def _method(old: str, sparsity: int) -> Method:
    if old not in NEW_NAMES and old not in SAME_NAMES:
        raise FormatError(f"lsprune 0.1.0 has no method {old!r}")
    method = catalogue()[NEW_NAMES.get(old, old)]
    if old not in PUBLISHED or method.pruner is None:
        return method
    return replace(method, pruner={**method.pruner, "hash": {**method.pruner["hash"], "sparsity": sparsity}})


def _old_key(new: Run, old: Mapping[str, Any]) -> str:
    """Return the key that lsprune 0.1.0 gave to a run."""
    options = {f.name: value for f in fields(new) if (value := getattr(new, f.name)) != f.default}
    options = {name: value for name, value in options.items() if name not in NEW_FIELDS}
    sparsity = old.get("sparsity", DEFAULT_SPARSITY)
    more = {"sparsity": sparsity} if sparsity != DEFAULT_SPARSITY else {}
    return content_key({**options, **more, "method": old["method"]})


def _check_pruner(run: Run, recorded: Mapping[str, Any] | None) -> None:
    """Raise FormatError unless the recorded pruner is that of the run."""
    expected, actual = run.make_pruner(), None if recorded is None else from_dict(recorded)
    if _comparable(expected, expected) != _comparable(actual, expected):
        raise FormatError(f"its pruner {actual} is not that of {run.method}, {expected}")


def _comparable(pruner: Pruner | None, expected: Pruner | None) -> dict[str, Any]:
    """Return the options of a pruner, without those that the expected one leaves to `fit`."""
    by_fit = CHOSEN_BY_FIT if getattr(expected, "chosen_by_fit", False) else ()
    options = {} if pruner is None else pruner.to_dict()
    return {name: value for name, value in options.items() if name not in by_fit}


def main(paths: Iterable[str]) -> None:
    """Upgrade these files, and print how many lines of each changed."""
    for path in paths:
        print(f"{path}: {upgrade_file(Path(path))} lines upgraded")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except LspruneError as error:
        sys.exit(f"error: {error}")
