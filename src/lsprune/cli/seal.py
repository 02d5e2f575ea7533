"""`lsprune seal`: write the size and SHA-256 of input files, for `--verify-input`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lsprune.cli.console import Json, Report, errors, show

if TYPE_CHECKING:
    from lsprune.files.manifest import Manifest


def seal_command(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files or folders, of any format.")],
    as_json: Json = False,
) -> None:
    """Write the size and SHA-256 of each FILE to a manifest beside it; for a folder, to one inside it.

    Seal files while they are known to be good. With --verify-input, `prune`, `inspect`, `choose`, `compare`, `fit` and
    `spark-prune` refuse a file that changed after it was sealed; `lsprune verify FILE` also checks it. A FILE that has
    a manifest already is compared with it.

    Example: lsprune seal edges.csv x.npy

    Example: lsprune prune edges.csv small.csv --features x.npy --keep 0.5 --verify-input
    """
    with errors():
        from lsprune.files import seal

        reports = [_report(path, seal(path)) for path in paths]
        show(reports, as_json, lambda: [f"{report['path']}: sealed by {report['seal']}" for report in reports])


def _report(path: Path, manifest: Manifest) -> Report:
    from lsprune.files.manifest import manifest_of

    size = sum(entry.bytes for entry in manifest.files)
    return {"path": str(path), "seal": str(manifest_of(path)), "files": len(manifest.files), "bytes": size}
