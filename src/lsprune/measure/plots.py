"""Figures of the measures, each a matplotlib `Figure` to save or show: `figure.savefig("name.png")`.

matplotlib is imported when the first figure is drawn; the state of pyplot is not touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from lsprune.checks import check_choice, did_you_mean
from lsprune.errors import MissingDependency, OptionError
from lsprune.graph import SIDES, Array, Graph
from lsprune.measure.collisions import CollisionCurve
from lsprune.measure.spectral import Spectral
from lsprune.measure.structure import Structure
from lsprune.measure.structure import degrees as node_degrees

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours are distinct to colour-blind readers; the markers are distinct in print without colour.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
REFERENCE_COLOUR = "#666666"
LEAST_DEGREE = 0.8  # where a logarithmic axis of degrees begins, so that degree 1 is visible

STRUCTURE_LABELS = {  # of the fields of `Structure` that are one number
    "components": "Connected components",
    "largest": "Share of nodes in the largest component",
    "isolated": "Isolated nodes",
    "degree_mean": "Mean degree",
    "clustering": "Mean clustering coefficient",
    "homophily": "Share of edges between nodes of one label",
}
SPECTRAL_LABELS = {
    "random_mean": "Error of the quadratic form, random signals",
    "random_max": "Largest error of the quadratic form, random signals",
    "lowest_mean": "Error of the quadratic form, smooth signals",
    "lowest_max": "Largest error of the quadratic form, smooth signals",
}
PER_CENT_FIELDS = ("largest", "homophily", *SPECTRAL_LABELS)

Curves = Mapping[str, Mapping[float, float]]  # name: {share of edges kept: value}


def consistency(
    curves: Curves, *, title: str = "", measure: str = "Consistency of kept edges", axes: Any = None
) -> Figure:
    """Draw the consistency of the kept edges against the share kept; one line for each pruner.

    Args:
        curves: for each name the value at each share, from `aligned_consistency`, `consistency` or `stability`.
        measure: the name of the value.
        axes: matplotlib axes to draw on; default a new figure. The same in `scalar` and `degrees`.

    >>> figure = consistency({"LSP": {0.2: 0.5, 0.4: 0.7}, "random": {0.2: 0.1, 0.4: 0.3}})  # doctest: +SKIP
    >>> figure.savefig("consistency.png")  # doctest: +SKIP
    """
    figure, axes = _over_shares(curves, measure, None, title, axes)
    values = _finite(curves)
    axes.set_ylim(min([0.0, *values]) * 1.05, max([1.0, *values]) * 1.02)
    return figure


def scalar(curves: Curves, measure: str, *, unpruned: float | None = None, title: str = "", axes: Any = None) -> Figure:
    """Draw any measure that is one number against the share of edges kept; one line for each pruner.

    Args:
        curves: for each name the value at each share.
        measure: the name of the value.
        unpruned: the value of the unpruned graph, drawn as a horizontal line.

    >>> figure = scalar({"LSP": {0.2: 40, 0.4: 3}}, "Isolated nodes", unpruned=0)  # doctest: +SKIP
    """
    figure, axes = _over_shares(curves, measure, unpruned, title, axes)
    whole = {} if unpruned is None else {"unpruned": {1.0: unpruned}}
    axes.set_ylim(*_limits(_finite(curves) + _finite(whole)))
    return figure


def structure(
    results: Mapping[str, Mapping[float, Structure]], field: str, *, unpruned: Structure | None = None, title: str = ""
) -> Figure:
    """Draw one figure of the structure against the share of edges kept; one line for each pruner.

    Args:
        results: for each name, the `Structure` at each share.
        field: "components", "largest", "isolated", "degree_mean", "clustering" or "homophily".
        unpruned: the `Structure` of the unpruned graph, drawn as a horizontal line.

    >>> from lsprune.measure.structure import structure as shape
    >>> ring = Graph.from_edges(np.array([[0, 1, 2], [1, 2, 0]]))
    >>> results = {"LSP": {2 / 3: shape(ring, np.array([True, True, False]))}}
    >>> figure = structure(results, "clustering", unpruned=shape(ring))  # doctest: +SKIP
    """
    return _of_field(results, unpruned, Structure, STRUCTURE_LABELS, field, title)


def spectral(results: Mapping[str, Mapping[float, Spectral]], field: str = "random_mean", *, title: str = "") -> Figure:
    """Draw the error of the Laplacian quadratic form against the share of edges kept; unpruned it is 0.

    Args:
        results: for each name, the `Spectral` at each share.
        field: "random_mean", "random_max", "lowest_mean" or "lowest_max".

    >>> figure = spectral({"LSP": {0.5: Spectral(0.3, 0.4, 0.2, 0.3)}}, "lowest_mean")  # doctest: +SKIP
    """
    return _of_field(results, Spectral(0.0, 0.0, 0.0, 0.0), Spectral, SPECTRAL_LABELS, field, title)


def collisions(curves: Mapping[str, CollisionCurve], *, title: str = "", keys: bool = False) -> Figure:
    """Draw how often the same edge is taken (with `keys`: has the same key) against the distance, for each hash.

    >>> curve = CollisionCurve((0.0, 0.5, 1.0), (1.0, 0.6, 0.4), (1.0, 0.0, 0.0), chance=0.125)
    >>> figure = collisions({"projection": curve})  # doctest: +SKIP
    """
    what = "have the same key" if keys else "are both taken"
    figure, axes = _canvas(title, "Distance, in standard deviations of a column", f"P(corresponding edges {what})")
    _lines(
        axes,
        {
            name: dict(zip(curve.distances, curve.same_key if keys else curve.same_edge, strict=True))
            for name, curve in curves.items()
        },
    )
    if not keys:
        for chance in sorted({curve.chance for curve in curves.values()}):
            _level(axes, chance, "chance")
    axes.set_ylim(0, 1.02)
    axes.set_xlim(left=0)
    _legend(axes)
    return figure


def degrees(
    graph: Graph, masks: Mapping[str, Array], *, side: str | None = None, title: str = "", whole: str = "unpruned",
    axes: Any = None,
) -> Figure:  # fmt: skip
    """Draw the share of nodes with at least each degree, before and after pruning; both axes logarithmic.

    Args:
        masks: for each name, the mask.
        side: as in `structure`: neighbours in either direction (None), or on one side.

    >>> ring = Graph.from_edges(np.array([[0, 1, 2], [1, 2, 0]]))
    >>> figure = degrees(ring, {"LSP": np.array([True, True, False])})  # doctest: +SKIP
    """
    check_choice("side", side, (None, *SIDES))
    label = {None: "Degree", "in": "In-degree", "out": "Out-degree"}[side]
    figure, axes = _canvas(title, label, "Share of nodes with at least this degree", axes)
    _tail(axes, node_degrees(graph, None, side), color=REFERENCE_COLOUR, linewidth=3, alpha=0.6, label=whole)
    for number, (name, mask) in enumerate(masks.items()):
        _tail(axes, node_degrees(graph, mask, side), color=_colour(number), linewidth=1.8, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left=LEAST_DEGREE)
    axes.set_ylim(0.5 / max(graph.num_nodes, 1), 1.3)
    axes.xaxis.set_major_formatter(lambda degree, _: f"{degree:g}")
    axes.yaxis.set_major_formatter(_per_cent)
    _legend(axes)
    return figure


def variance(curves: Curves, *, unpruned: float | None = None, title: str = "", hops: int | None = None) -> Figure:
    """Draw the variance of the neighbourhood sizes against the share of edges kept (paper, appendix C), logarithmic.

    Args:
        curves: for each name the value at each share, from `neighbourhood_variance`.
        unpruned: the value of the unpruned graph, drawn as a horizontal line.
        hops: number of hops, for the label.

    >>> figure = variance({"LSP": {0.2: 3.0, 0.4: 9.0}}, unpruned=27.3, hops=1)  # doctest: +SKIP
    """
    near = "" if hops is None else f"{hops}-hop "
    figure, axes = _over_shares(curves, f"Variance of {near}neighbourhood sizes", unpruned, title)
    values = _finite(curves)
    axes.set_yscale("log" if all(value > 0 for value in values) else "symlog")  # a graph without edges has variance 0
    return figure


def intervals(
    values: Mapping[str, tuple[float, float, float]], measure: str, *, title: str = "", axes: Any = None
) -> Figure:
    """Draw a value and its interval for each name, from top to bottom, and a line at 0.

    Args:
        values: (value, low, high) by name.
        measure: the name of the value.

    >>> figure = intervals({"jaccard": (1.2, 0.4, 2.0)}, "Gain in points")  # doctest: +SKIP
    """
    if not values:
        raise OptionError("values must have at least one name, got none")
    figure, axes = _canvas(title, measure, "", axes)
    places = range(len(values), 0, -1)
    for place, (value, low, high) in zip(places, values.values(), strict=True):
        colour = COLOURS[0] if low > 0 else COLOURS[1] if high < 0 else REFERENCE_COLOUR
        axes.plot([low, high], [place, place], color=colour, linewidth=2)
        axes.plot([value], [place], marker="o", color=colour)
    axes.axvline(0, color=REFERENCE_COLOUR, linewidth=1, linestyle="--")
    axes.set_yticks(list(places), [name.replace("$", r"\$") for name in values])
    axes.set_ylim(0.5, len(values) + 0.5)
    return figure


def _of_field(
    results: Mapping[str, Mapping[float, Any]],
    unpruned: Any,
    kind: type,
    names: Mapping[str, str],
    field: str,
    title: str,
) -> Figure:
    """Draw one field of the results of a measure at each share, and of the unpruned graph."""
    if field not in names:
        raise OptionError(f"field must be one of {', '.join(names)}, got {field!r}{did_you_mean(field, names)}")

    def value(result: Any) -> float:
        if not isinstance(result, kind):
            raise OptionError(f"results must hold a {kind.__name__} for each share, got {result!r}")
        if (number := getattr(result, field)) is None:
            raise OptionError(f"{field} was not measured: call `structure` with labels")
        return float(number)

    curves = {name: {share: value(result) for share, result in line.items()} for name, line in results.items()}
    level = None if unpruned is None else value(unpruned)
    figure = scalar(curves, names[field], unpruned=level, title=title)
    if field in PER_CENT_FIELDS:
        figure.axes[0].yaxis.set_major_formatter(_per_cent)
    return figure


def _over_shares(
    curves: Curves, measure: str, unpruned: float | None, title: str, axes: Any = None
) -> tuple[Figure, Any]:
    """Draw values against the share of edges kept, and the value of the unpruned graph."""
    figure, axes = _canvas(title, "Share of edges kept", measure, axes)
    _lines(axes, curves)
    if unpruned is not None:
        _level(axes, unpruned, "unpruned")
    _shares(axes, curves)
    _legend(axes)
    return figure, axes


def canvas(high: int = 1, wide: int = 1) -> tuple[Figure, list[Any]]:
    """Return an empty figure and its axes, row by row: the one place that imports matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency("lsprune.measure.plots needs matplotlib: pip install 'lsprune[plots]'") from error
    figure = Figure(figsize=(6.0 * wide, 4.0 * high), dpi=150, layout="constrained")
    return figure, figure.subplots(high, wide, squeeze=False).ravel().tolist()


def _canvas(title: str, across: str, up: str, axes: Any = None) -> tuple[Figure, Any]:
    """Return a figure and labelled axes with nothing on them: the given axes, or those of a new figure."""
    axes = canvas()[1][0] if axes is None else axes
    figure = axes.figure
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set(xlabel=across, ylabel=up)
    if title:
        axes.set_title(title, loc="left", fontsize="large")
    return figure, axes


def _lines(axes: Any, curves: Curves) -> None:
    """Draw a line with markers for each curve, its points from left to right."""
    if not any(curves.values()):
        raise OptionError("curves must have at least one point, got none")
    for value in (value for curve in curves.values() for value in curve.values()):
        if not isinstance(value, Real):
            raise OptionError(f"curves must hold a number for each share, got {value!r}")
    for number, (name, curve) in enumerate(curves.items()):
        across = sorted(curve)
        axes.plot(
            across, [curve[x] for x in across], label=name, color=_colour(number), linewidth=1.6, markersize=4.5,
            marker=MARKERS[number % len(MARKERS)], linestyle="-" if number < len(COLOURS) else "--", clip_on=False,
        )  # fmt: skip


def _finite(curves: Curves) -> list[float]:
    """Return all values but NaN, which is a gap in the line: nothing could be measured there."""
    return [value for curve in curves.values() for value in curve.values() if np.isfinite(value)]


def _limits(values: list[float]) -> tuple[float, float]:
    """Return the limits of the vertical axis, with a margin: 0 is on it, unless all values are far from 0.

    >>> _limits([0.0, 1.0]), _limits([]), _limits([8.0, 9.0])
    ((-0.02, 1.05), (-0.02, 1.05), (7.9, 9.1))
    """
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if low > high / 2 and low < high:
        return low - 0.1 * (high - low), high + 0.1 * (high - low)
    low, high = min(low, 0.0), max(high, 0.0)
    size = (high - low) or 1.0
    return low - 0.02 * size, low + 1.05 * size


def _shares(axes: Any, curves: Curves) -> None:
    """Make the horizontal axis begin at 0, in per cent."""
    largest = max(share for curve in curves.values() for share in curve)
    axes.set_xlim(0, max(largest * 1.02, 1e-6))
    axes.xaxis.set_major_formatter(_per_cent)


def _per_cent(share: float, _: float | None = None) -> str:
    return f"{100 * share:g} %"


def _level(axes: Any, value: float, name: str) -> None:
    """Draw a horizontal line for what the curves are compared with."""
    axes.axhline(value, color=REFERENCE_COLOUR, linewidth=1.2, linestyle=(0, (4, 3)), label=name, zorder=1)


def _tail(axes: Any, degree: Array, **style: Any) -> None:
    """Draw steps of the share of nodes with at least each degree, from 1 down to nothing beyond the largest."""
    values, counts = np.unique(degree, return_counts=True)
    share = np.cumsum(counts[::-1])[::-1] / max(degree.size, 1)
    values, share = values[values > 0], share[values > 0]
    if values.size:
        ends = (
            np.concatenate([[LEAST_DEGREE], values, values[-1:]]),
            np.concatenate([share[:1], share, [0.1 / degree.size]]),
        )
        axes.step(*ends, where="pre", **style)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _legend(axes: Any) -> None:
    axes.legend(frameon=False, fontsize="small")
