"""A survey in four plots: degrees before and after, isolated nodes, components, and how alike neighbourhoods stay."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsprune.errors import OptionError
from lsprune.files.atomic_write import atomic_write
from lsprune.lab.survey import Portrait, Trial
from lsprune.lab.user_graph import OwnGraph
from lsprune.measure import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    """Nothing; raises where a plot cannot be written, before the work is done."""
    if path.suffix.lower() not in FORMATS:
        raise OptionError(f"plot must be a file with the suffix {', '.join(FORMATS)}, got {path}")
    if not path.absolute().parent.is_dir():
        raise OptionError(f"plot must be in a folder that exists, got {path}")
    plots.canvas()  # says so where matplotlib is missing


def draw(own: OwnGraph, found: Portrait, trials: Sequence[Trial], title: str) -> Figure:
    """The four plots; the degrees are those at the smallest share."""
    figure, axes = plots.canvas(2, 2)
    curves = {
        field: {
            name: {one.share: float(getattr(one, field)) for one in trials if one.method == name}
            for name in dict.fromkeys(one.method for one in trials)
        }
        for field in ("isolated", "components", "alike")
    }
    least = min(one.keep for one in trials)
    masks = {one.method: one.mask for one in trials if one.keep == least}
    plots.degrees(own.graph, masks, axes=axes[0], title=f"Degrees at keep={least:g}")
    plots.scalar(curves["isolated"], "Nodes that lost their last neighbour", axes=axes[1])
    whole = found.shape.components
    plots.scalar(curves["components"], "Connected components", unpruned=whole, axes=axes[2])
    plots.consistency(curves["alike"], measure="Likeness of neighbourhoods, before and after", axes=axes[3])
    figure.suptitle(title, x=0.01, ha="left").set_parse_math(False)
    return figure


def write_plot(figure: Figure, path: Path) -> None:
    """Write the figure in the format of the suffix, whole or not at all."""
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix.lower()[1:])
    with atomic_write(path) as handle:
        handle.write(content.getvalue())
