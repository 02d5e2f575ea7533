"""Figures of studies: the test metric against the share of edges kept, with 95 % bands; and their bytes as SVG.

matplotlib is imported when the first figure is drawn. References and random baselines look the same in every figure.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lsprune.errors import MissingDependency, OptionError
from lsprune.lab.reporting.markdown_tables import per_cent
from lsprune.lab.reporting.panels import Panel, calibrated
from lsprune.lab.studies.methods import NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Look:
    """How a line is drawn; names are matplotlib's."""

    color: str
    linewidth: float
    marker: str = ""
    markersize: float = 5.0
    linestyle: str | tuple[int, tuple[float, ...]] = "-"
    zorder: float = 3.0


LEVELS = {
    "none": ("unpruned", Look("#000000", 1.4, linestyle=(0, (6, 3)), zorder=2)),
    "no-edges": ("no edges", Look("#000000", 1.4, linestyle=(0, (1, 2)), zorder=2)),
}
CHANCE = {
    "random": Look("#8a8a8a", 1.8, "x", 6.0),
    "local-random": Look("#444444", 1.8, "s", 4.5),
}
# Okabe and Ito's colours, which the colour-blind can tell apart: the first three for ours, the others for the rest.
OURS = ("#0072B2", "#D55E00", "#009E73")
OTHERS = ("#CC79A7", "#E69F00", "#56B4E9", "#7F5F2A")
MARKERS = ("o", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
BAND = 0.16  # opacity of the interval of an emphasised line; thin ones have less
METRICS = {
    "accuracy": "Test accuracy",
    "micro-f1": "Test micro-F1",
    "mae": "Test MAE, lower is better",
    "overlap": "Overlap of what two samples keep",
}
TICKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
ACROSS = 3  # panels side by side


def looks(methods: Sequence[str]) -> dict[str, Look]:
    """How each of these methods is drawn, in the same order; a method has its own colour while that is free."""
    found = {name: CHANCE[name] for name in methods if name in CHANCE}
    for mine, colours, width, size in ((True, OURS, 2.4, 6.0), (False, OTHERS, 1.1, 4.0)):
        group = sorted((n for n in methods if n not in CHANCE and calibrated(n) is mine), key=_place)
        known = [name for name in NAMES if calibrated(name) is mine and name not in CHANCE]
        free = list(colours)
        for number, name in enumerate(group):
            at = known.index(name) if name in known else number
            wanted = colours[at % len(colours)]
            colour = wanted if wanted in free else free[0] if free else wanted
            free = [one for one in free if one != colour]
            dashes = "-" if mine else (0, (4, 1.5))
            found[name] = Look(colour, width, MARKERS[at % len(MARKERS)], size, dashes, 4 if mine else 3)
    return {name: found[name] for name in methods}


def _place(name: str) -> tuple[int, str]:
    return (NAMES.index(name) if name in NAMES else len(NAMES), name)


def curves(panels: Sequence[Panel], methods: Sequence[str], *, title: str = "") -> Figure:
    """The test metric at the best validation epoch against the share kept, a panel for each dataset or target.

    Args:
        methods: those drawn as lines; the unpruned graph and no edges are levels across wherever they were run.
    """
    if not any((name, budget) in panel.cells for panel in panels for name in methods for budget in panel.budgets):
        raise OptionError("methods must have at least one point in these panels, got none")
    figure, grid = _canvas(len(panels))
    styles, levels = looks(methods), dict[str, Any]()
    for panel, axes in zip(panels, grid, strict=True):
        levels |= _levels(axes, panel)
        handles = {name: _line(axes, panel, name, look) for name, look in styles.items()}
        heading = axes.set_title(title if len(panels) == 1 else panel.name, loc="left", fontsize="large")
        heading.set_parse_math(False)
        _axes(axes, panel, small=len(panels) > 1)
    shown = {**{name: levels[name] for name, _ in LEVELS.values() if name in levels}, **handles}
    legend = figure.legend(shown.values(), shown.keys(), loc="outside right upper", frameon=False, handlelength=3)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return figure


def svg(figure: Figure) -> bytes:
    """The figure as SVG: the same figure gives the same bytes."""
    from matplotlib import rc_context

    target = io.BytesIO()
    with rc_context({"svg.hashsalt": "lsprune", "svg.fonttype": "path"}):
        figure.savefig(target, format="svg", facecolor="white", metadata={"Date": None, "Creator": None})
    return target.getvalue()


def _canvas(panels: int) -> tuple[Figure, list[Any]]:
    """An empty figure with axes for so many panels: the one place that imports matplotlib to draw."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency(
            "lsprune.lab.reporting.figures needs matplotlib: pip install 'lsprune[plots]'"
        ) from error
    wide = min(panels, ACROSS)
    high = -(-panels // wide)
    size = (8.4, 4.6) if panels == 1 else (3.6 * wide + 2.2, 3.0 * high)
    figure = Figure(figsize=size, dpi=110, layout="constrained")
    grid = figure.subplots(high, wide, squeeze=False).ravel().tolist()
    for axes in grid[panels:]:
        axes.set_visible(False)
    return figure, grid[:panels]


def _levels(axes: Any, panel: Panel) -> dict[str, Any]:
    """Lines across for the whole graph and for none of it."""
    handles = {}
    for method, (name, look) in LEVELS.items():
        one = panel.level(method)
        if one is not None:
            if one.runs > 1:
                axes.axhspan(one.low, one.high, color=look.color, alpha=0.08, linewidth=0, zorder=1)
            handles[name] = axes.axhline(one.mean, label=name, **_style(look))
    return handles


def _line(axes: Any, panel: Panel, method: str, look: Look) -> Any:
    """The line of a method with its band, over the shares at which it was run."""
    found = [(panel.share(method, b), panel.level(method, b)) for b in panel.budgets if (method, b) in panel.cells]
    points = sorted(((share, one) for share, one in found if share > 0 and one is not None), key=lambda p: p[0])
    across = [share for share, _ in points]
    several = [one.runs > 1 for _, one in points]
    axes.fill_between(
        across, [one.low for _, one in points], [one.high for _, one in points], where=several, color=look.color,
        alpha=BAND if look.linewidth > 1.5 else BAND / 3, linewidth=0, zorder=look.zorder - 1,
    )  # fmt: skip
    (line,) = axes.plot(across, [one.mean for _, one in points], label=method, **_style(look))
    return line


def _style(look: Look) -> Mapping[str, Any]:
    return asdict(look)


def _axes(axes: Any, panel: Panel, small: bool) -> None:
    """A logarithmic axis of shares in per cent, named axes, a light grid; in a small panel no two ticks are close."""
    axes.set_xscale("log")
    shares = [share for share in map(panel.column, panel.budgets) if share > 0]
    low, high = min(shares, default=0.05), max(shares, default=1.0)
    axes.set_xlim(low / 1.12, max(high * 1.12, low * 1.5))
    ticks = [tick for tick in TICKS if low / 1.12 <= tick <= high * 1.12 and not (small and tick == 0.75)]
    axes.set_xticks(ticks or [low])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter(lambda share, _: per_cent(share))
    axes.set(xlabel="Share of edges kept", ylabel=METRICS.get(panel.metric, panel.metric))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
