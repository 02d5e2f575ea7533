"""Made-up runs of the paper's figures: lines of a study with the values that a test wants."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab_records import method_fields, record, save

from lsprune.lab.reporting import paper
from lsprune.lab.reporting.comparison import StudyResults, read_study
from lsprune.lab.studies import study_files
from lsprune.lab.studies.run import Run

PUBLISHED = {"lsp-p": "lsp-projection-published", "lsp-t": "lsp-threshold-published", "random": "random"}
Values = Mapping[tuple[str, float], float]  # of a method at a share; the share of the whole graph is 1, of no edges 0


def runs(
    values: Values, *, study: str = "cora", name: str | None = None, target: str | None = None, seeds: int = 3,
    epochs: int | None = None, limit: int | None = None, mae: bool = False, **more: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the lines of these values, by default with the full training of the study."""
    part = study_files.read(study).parts[0]
    kind = {"metric": "mae", "higher_is_better": False} if mae else {}
    lines = []
    for (method, share), value in values.items():
        budget = {} if method in ("unpruned", "basic", "no-edges") else {"keep": share}
        for seed in range(seeds):
            run = Run(
                study=name or study, dataset=part.dataset, model=part.model, seed=seed, target=target, limit=limit,
                epochs=epochs or part.epochs, lr=part.lr, **method_fields(method), **budget,
            )  # fmt: skip
            noise = 0.001 * (seed - (seeds - 1) / 2) * (value if mae else 1)
            lines.append(record(run, value + noise, value, share, **{"test_max": value + 0.02, **kind, **more}))
    return lines


def theirs(dataset: str, metric: str, target: str | None = None, shift: float = 0.0) -> dict[tuple[str, float], float]:
    """Return the paper's values at the points of LSP-P, for all three lines, moved by `shift`."""
    curves = paper.curves(dataset, target, metric)
    shares = [share for share, _ in curves["lsp-p"] if share < 0.95]
    values = {}
    for line, method in PUBLISHED.items():
        for share in shares:
            found = interpolated(curves[line], share)
            if found is not None:
                values[method, share] = found + shift
    values["unpruned", 1.0] = dict(curves["random"])[1.0] + shift
    if "basic" in curves:
        values["basic", 1.0] = curves["basic"][0][1] + shift
    return values


def interpolated(curve: list[tuple[float, float]], share: float) -> float | None:
    """Return the value of a line at a share; None outside of it."""
    for (x0, y0), (x1, y1) in zip(curve, curve[1:], strict=False):
        if x0 <= share <= x1:
            return y0 + (y1 - y0) * (share - x0) / (x1 - x0)
    return None


def studied(lines: list[dict[str, Any]], folder: Path, name: str) -> StudyResults:
    """Write the lines to a file and read them as a study."""
    path = folder / f"{name}.jsonl"
    save(lines, path)
    return read_study(path)
