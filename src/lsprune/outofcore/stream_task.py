"""What identifies a streamed run: only a run with the same input, options and version can be resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprune._version import __version__
from lsprune.errors import FormatError
from lsprune.files import EdgeFiles, VerifiedInput
from lsprune.outofcore.stream_input import StreamInput
from lsprune.pruners import Pruner


@dataclass(frozen=True)
class StreamTask:
    """The input and all options of a run, as plain data."""

    settings: dict[str, Any]
    marks: list[int]  # when each file of the input was changed in any way, in ns; times that no program can set back
    verified: VerifiedInput = field(default_factory=VerifiedInput)  # what was compared with seals

    @classmethod
    def of(cls, source: StreamInput, edges: EdgeFiles, pruner: Pruner, out: Path, memory: int) -> StreamTask:
        """Describe a run; `memory` is its ceiling in bytes."""
        options, tables = source.options, source.table_paths
        files = _all_files((*edges.inputs, *tables))
        settings = {
            "input": _file_facts(edges.inputs), "features": _file_facts(tables) if tables else None,
            "version": __version__, "pruner": pruner.to_dict(), "edge_attr": list(options.edge_attr),
            "float_edge_attr": options.float_edge_attr,
            "ends": list(edges.names), "num_nodes": options.num_nodes, "out": str(out.absolute()), "memory": memory,
            "map_ids": str(source.mapping),
            "tables": [None if table is None else [table.id, list(table.x)] for table in options.tables],
            "arrays": [list(options.edge_arrays), list(options.node_arrays)], "bipartite": edges.limits is not None,
        }  # fmt: skip
        return cls(settings, [file.stat().st_ctime_ns for file in files])

    def refuse_changed(self) -> None:
        """Raise FormatError if a file of the input is gone, or has another size or time than when the run began."""
        self.verified.check()
        known = [*self.settings["input"], *(self.settings["features"] or [])]
        for path, *before in known:
            try:
                stat = Path(path).stat()
            except OSError:
                raise FormatError(f"{path}: was removed while it was read") from None
            if before != [stat.st_size, stat.st_mtime_ns]:
                raise FormatError(f"{path}: was changed while it was read; prune it again")

    @property
    def name(self) -> str:
        """SHA-256 of the settings that decide what is written; neither `out` nor `memory` does."""
        deciding = {key: value for key, value in self.settings.items() if key not in ("out", "memory")}
        return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()


def _file_facts(paths: Sequence[Path]) -> list[list[Any]]:
    """Return path, size and modification time of every file, by which a changed file is recognised."""
    stats = [(file, file.stat()) for file in _all_files(paths)]
    return [[str(file.absolute()), stat.st_size, stat.st_mtime_ns] for file, stat in stats]


def _all_files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files among the paths and in the folders among them."""
    files = (file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path]))
    return tuple(file for file in files if file.is_file())
