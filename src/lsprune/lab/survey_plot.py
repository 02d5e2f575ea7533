"""A survey in four plots: degrees before and after, isolated nodes, components, overlap of neighbourhoods."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsprune.errors import OptionError
from lsprune.files.atomic_write import atomic_write
from lsprune.lab.survey import Profile, Trial
from lsprune.lab.user_graph import UserGraph
from lsprune.measure import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    """Raise OptionError if a plot cannot be written to `path`, MissingDependency without matplotlib."""
    if path.suffix.lower() not in FORMATS:
        raise OptionError(f"plot must be a file with the suffix {', '.join(FORMATS)}, got {path}")
    if not path.absolute().parent.is_dir():
        raise OptionError(f"plot must be in a folder that exists, got {path}")
    plots.canvas()  # raises without matplotlib


def draw_survey(user_graph: UserGraph, profile: Profile, trials: Sequence[Trial], title: str) -> Figure:
    """Return a figure of the four plots; the plot of degrees shows the smallest share."""
    figure, axes = plots.canvas(2, 2)
    curves = {
        field: {
            method: {trial.share: float(getattr(trial, field)) for trial in trials if trial.method == method}
            for method in dict.fromkeys(trial.method for trial in trials)
        }
        for field in ("isolated", "components", "alike")
    }
    smallest = min(trial.keep for trial in trials)
    masks = {trial.method: trial.mask for trial in trials if trial.keep == smallest}
    plots.degrees(user_graph.graph, masks, axes=axes[0], title=f"Degrees at keep={smallest:g}")
    plots.scalar(curves["isolated"], "Nodes that lost their last neighbour", axes=axes[1])
    plots.scalar(curves["components"], "Connected components", unpruned=profile.shape.components, axes=axes[2])
    plots.consistency(curves["alike"], measure="Rank correlation of neighbourhood overlaps", axes=axes[3])
    figure.suptitle(title, x=0.01, ha="left").set_parse_math(False)
    return figure


def write_plot(figure: Figure, path: Path) -> None:
    """Write the figure atomically, in the format of the suffix."""
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix.lower()[1:])
    with atomic_write(path) as handle:
        handle.write(content.getvalue())
