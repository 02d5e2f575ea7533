"""Import and compile what commands use, so that copies of this process (`soak.command_line`) start at once."""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from pathlib import Path


def warm_up(folder: Path) -> None:
    """Run a few small commands, so that their modules are imported and their kernels compiled."""
    import numpy as np
    from typer.testing import CliRunner

    from lsprune.cli import app

    rng = np.random.default_rng(0)
    ends = rng.integers(0, 40, (2, 400))
    np.save(folder / "in.npy", ends)
    np.save(folder / "x.npy", rng.standard_normal((40, 4)).astype(np.float32))
    (folder / "in.csv").write_text("source,target\n" + "".join(f"a{s},a{t}\n" for s, t in ends.T))
    for words in (
        "in.npy 1.npy --stream --features x.npy --keep 0.4 --symmetric union --memory 3GB",
        "in.npy 2.npy --stream --features x.npy --k 2 --memory 3GB",
        "in.csv 3.csv --stream --hash identity --k 2 --map-ids ids.parquet --memory 3GB",
        "in.csv 4.csv --pruner local-random --k 2",
    ):
        paths = [str(folder / word) if "." in word and not word[0].isdigit() else word for word in words.split()]
        paths[1] = str(folder / paths[1])
        CliRunner().invoke(app, ["prune", *paths])


with contextlib.suppress(ModuleNotFoundError):
    import lsprune.lab.studies.consistency
    import lsprune.lab.studies.run_study
    import lsprune.lab.training.train  # noqa: F401
with tempfile.TemporaryDirectory() as place, contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    warm_up(Path(place))
