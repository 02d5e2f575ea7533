"""`lsprune prune --stream` and `lsprune verify`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.cli.console import Json, Report, add_kept_rows, errors, framed, say, show
from lsprune.errors import FormatError, OptionError

if TYPE_CHECKING:
    from rich.table import Table

    from lsprune.outofcore.stream import Streamed
    from lsprune.pruners import Pruner


@dataclass(frozen=True)
class StreamOptions:
    """Whether and how to prune out of core."""

    stream: Annotated[
        bool,
        typer.Option("--stream", help="Prune from disk, for graphs that do not fit in memory; IN may be a folder."),
    ] = False
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory limit (default: all available memory; with --stream, 2GB)."),
    ] = None
    scratch: Annotated[Path | None, typer.Option(metavar="DIR", help="With --stream: folder for scratch files.")] = None
    resume: Annotated[bool, typer.Option("--resume", help="With --stream: continue a run that was stopped.")] = False
    map_ids: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="With --stream: accept ids of any kind; write their numbering to this Parquet file."
        ),
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of `prune_stream`."""
        memory = "2GB" if self.memory is None else self.memory
        return {"map_ids": self.map_ids, "memory": memory, "scratch": self.scratch, "resume": self.resume}

    def refuse(self) -> None:
        """Raise OptionError for an option that needs --stream."""
        for name in ("scratch", "resume", "map_ids"):
            if getattr(self, name):
                raise OptionError(f"--{name.replace('_', '-')} needs --stream")


def stream(path: Path, output: Path, pruner: Pruner, **options: Any) -> Report:
    """Prune out of core and return a report; print the name of each stage on standard error."""
    from lsprune.files.manifest import manifest_of
    from lsprune.files.remote import url_of
    from lsprune.outofcore.stream import prune_stream

    result = prune_stream(path, output, pruner, **options, say=lambda text: say("note", text))
    manifest = str(manifest_of(output)) if url_of(output) is None else "beside the output, uploaded last"
    return {**_report(result), "manifest": manifest}


def stream_table(name: str, report: Report) -> Table:
    """Show a report as a table."""
    from lsprune.outofcore.memory_ceiling import show_size

    table = framed(name, "", "")
    add_kept_rows(table, report)
    table.add_row("nodes", f"{report['nodes']:,}")
    table.add_row("nodes left without any edge", f"{report['isolated']:,}")
    if report["isolated"]:
        table.add_row("  to avoid this", "keep more edges")
    table.add_row("total seconds", f"{report['seconds']:.1f}")
    for stage, seconds in report["stages"].items():
        table.add_row(f"  {stage}", f"{seconds:.1f}")
    table.add_row("edges per second", f"{report['edges_per_second']:,.0f}")
    table.add_row("peak memory", show_size(report["peak_memory"]))
    table.add_row("scratch files", show_size(report["disk"]))
    table.add_row("manifest", report["manifest"])
    return table


def verify_command(
    output: Annotated[
        Path, typer.Argument(metavar="OUT", help="An output of `prune --stream`, or a sealed file or folder.")
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Compare only sizes and row counts, not SHA-256.")] = False,
    as_json: Json = False,
) -> None:
    """Check an output of `lsprune prune --stream`, or a sealed file, against its manifest.

    Example: lsprune verify small.parquet
    """
    with errors():
        from lsprune.files.manifest import verify
        from lsprune.files.remote import url_of
        from lsprune.files.seals import SEALED

        if url_of(output) is None:
            output.stat()  # raises FileNotFoundError if it is missing
        result = verify(output, deep=not quick)
        for problem in result.problems:
            say("error", problem)
        manifest = result.manifest
        report = {
            "output": str(output), "ok": result.ok, "problems": list(result.problems),
            "files": 0 if manifest is None else len(manifest.files),
            "sealed": manifest is not None and SEALED in manifest.config,
            "edges": None if manifest is None else manifest.edges, "kept": None if manifest is None else manifest.kept,
        }  # fmt: skip
        if result.ok or as_json:
            show(report, as_json, lambda: _verified(output, report))
        if manifest is not None and not result.ok:
            raise FormatError(f"{output} does not match its manifest; write it again, or restore a good copy")
        if not result.ok:
            raise typer.Exit(1)


def _verified(output: Path, report: Report) -> str:
    if report["sealed"]:
        return f"{output}: {report['files']} file(s), unchanged since they were sealed"
    return f"{output}: {report['files']} file(s), {report['kept']:,} of {report['edges']:,} edges; matches the manifest"


def _report(result: Streamed) -> Report:
    return {
        "edges": result.edges, "kept": result.kept, "share": result.share, "nodes": result.nodes,
        "isolated": result.isolated, "uncounted_self_loops": result.uncounted_self_loops,
        "seconds": result.seconds, "stages": result.stages,
        "edges_per_second": result.edges / max(result.seconds, 1e-9), "peak_memory": result.peak_memory,
        "disk": result.disk,
    }  # fmt: skip
