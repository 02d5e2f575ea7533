"""A file of trials, so that a choice that was stopped goes on where it was: one line of JSON for each trial."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.chooser.known_labels import KnownLabels
from lsprune.chooser.scores import Scores
from lsprune.errors import FormatError
from lsprune.graph import Array, Graph

Trial = tuple[Scores, int, float]  # scores, number of edges kept, seconds


def fingerprint(graph: Graph, labels: KnownLabels, seed: int) -> str:
    """Return a hash of all that trials depend on but the candidate: edges, attributes, labels, seed."""
    state = hashlib.blake2b(
        f"{graph.num_sources} {graph.num_targets} {labels.metric.name} {seed}".encode(), digest_size=16
    )
    attributes = [graph.x_target, graph.edge_attr]
    arrays = [*graph.ends(), graph.target_ptr, labels.items, labels.targets, labels.judged]
    for values in attributes:
        sparse = hasattr(values, "tocsr")
        matrix = values.tocsr() if sparse else values
        arrays += [matrix.data, matrix.indices, matrix.indptr] if sparse else [matrix]
    for array in arrays:
        rows = np.ascontiguousarray(np.empty(0) if array is None else array)
        state.update(f"{rows.dtype} {rows.shape}".encode())
        state.update(rows.reshape(-1).view(np.uint8).data)
    return state.hexdigest()


class TrialFile:
    """Trials that are done already, by name and share; None as path: there is no file."""

    def __init__(self, path: str | os.PathLike[str] | None, of: Callable[[], str]) -> None:
        self.path = None if path is None else Path(path)
        self.graph = "" if path is None else of()
        self.done: dict[tuple[str, float, str], Trial] = {}
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def get(self, name: str, keep: float, pruner: str) -> Trial | None:
        """Return a trial that was done before on the same graph with the same pruner."""
        return self.done.get((name, keep, pruner))

    def add(self, name: str, keep: float, pruner: str, trial: Trial) -> None:
        """Write a trial."""
        self.done[name, keep, pruner] = trial
        if self.path is None:
            return
        scores, edges, seconds = trial
        line = {
            "graph": self.graph, "name": name, "keep": keep, "pruner": pruner, "edges": edges, "seconds": seconds,
            "hits": _packed(scores.hits), "closeness": _packed(scores.closeness),
        }  # fmt: skip
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _read(self, path: Path) -> None:
        *lines, unfinished = path.read_text(encoding="utf-8").split("\n")
        for number, text in enumerate(lines, 1):
            try:
                line = json.loads(text)
                scores = Scores(_unpacked(line["hits"]), _unpacked(line["closeness"]))
                key = line["name"], float(line["keep"]), line["pruner"]
                trial = scores, int(line["edges"]), float(line["seconds"])
                graph = line["graph"]
            except (KeyError, TypeError, ValueError, zlib.error) as error:
                raise FormatError(f"{path}, line {number} is not a trial: {error}") from None
            if graph == self.graph:
                self.done[key] = trial
        if unfinished:  # the process was stopped while it wrote this line
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def _packed(values: Array) -> str:
    return base64.b64encode(zlib.compress(values.astype("<f4").tobytes())).decode()


def _unpacked(text: Any) -> Array:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), "<f4").astype(np.float64)
