"""How reports show methods: groups, labels, colours, markers and order.

What a method is follows from the options in its records, see `lab.studies.methods.Method`. This is the only file of the
reports that names methods, for labels and for what is shown first. Their order is that of `methods.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from lsprune.lab.studies.methods import BASIC, LOCAL_RANDOM, NO_EDGES, RANDOM, UNPRUNED, Method, catalogue

RANDOM_BASELINES = (RANDOM, LOCAL_RANDOM)  # roles
UPPER_BOUND = "first"  # of consistency on generated graphs
AUTO_METHODS = ("lsp-auto", "lsp-auto-hash")  # choose their options from the graph
LABEL_METHODS = ("lsp-auto-labels", "choose")  # look at the labels of training nodes
STUDY_METHOD = "lsp-projection"  # compared with local random in the tables of single studies
SIZE_METHODS = (RANDOM, LOCAL_RANDOM, "lsp-projection", "lsp-threshold")  # shown first among neighbourhood sizes
SAMPLE_METHODS = {  # in the view of one neighbourhood
    "lsp-codebook-edge": "a codebook on the edge's own vector decides",
    "lsp-projection": "random projections of edge and neighbour decide",
    LOCAL_RANDOM: "a random choice, drawn for each sample separately",
}
REFERENCE_LABELS = {  # by role
    UNPRUNED: "unpruned",
    NO_EDGES: "no edges",
    BASIC: "basic model (plain averaging), whole graph",
}
GROUPS = {"random": "Random", "lsp": "LSP", "other": "Others"}


def group_of(method: Method) -> str:
    """Return the key in GROUPS of a method."""
    return "random" if method.role in RANDOM_BASELINES else "lsp" if method.is_lsp else "other"


def in_order(methods: Iterable[Method]) -> list[Method]:
    """Return methods in the order of `methods.toml`, unknown ones last."""
    names = list(catalogue())
    return sorted(
        methods, key=lambda method: (names.index(method.name) if method.name in names else len(names), method.name)
    )


def _style_group(method: Method) -> str:
    """Return random or local-random, which have styles of their own unless they have options, else "lsp" or "other"."""
    if method.role in RANDOM_BASELINES and method.pruner == {"pruner": method.role}:
        return method.role
    return "lsp" if method.is_lsp else "other"


def _known_names(group: str) -> list[str]:
    """Return the names of the methods of `methods.toml` that have a budget and styles of this group."""
    known = [method for method in catalogue().values() if method.role not in REFERENCE_LABELS]
    return [method.name for method in known if _style_group(method) == group]


# On the HTML page: names of colours in page.css and of markers in scales.js


@dataclass(frozen=True)
class PageStyle:
    """How the HTML page draws a method."""

    css: str
    shape: str
    line: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the style as plain data."""
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True)
class PaperMethod:
    """A method of the paper's figures.

    Args:
        label: its name in a legend.
        ours: our methods to show beside it; the first that was run is taken.
    """

    label: str
    style: PageStyle
    ours: tuple[str, ...] = ()


PAGE_COLOURS = 12  # the classes h0 to h11 of page.css
PAGE_SHAPES = ("circle", "up", "diamond", "square", "down")
RANDOM_PAGE_STYLES = {RANDOM: PageStyle("h-random", "cross"), LOCAL_RANDOM: PageStyle("h-local", "square")}  # by role
LSP_P, LSP_T = ("lsp-projection-published", "lsp-projection"), ("lsp-threshold-published", "lsp-threshold")
PAPER_METHODS = {  # by their names in paper.csv
    "random": PaperMethod("random", PageStyle("h-random", "square", "dotted"), (RANDOM,)),
    "lsp-p": PaperMethod("LSP-P", PageStyle("h0", "circle", "dotted"), LSP_P),
    "lsp-t": PaperMethod("LSP-T", PageStyle("h1", "up", "dotted"), LSP_T),
    "basic": PaperMethod("basic", PageStyle("h-ink", "diamond", "dotted")),
    "any": PaperMethod("any method", PageStyle("h-ink", "circle", "dotted")),
}


def page_style(method: Method) -> PageStyle:
    """Return how the page draws a method: the same everywhere, whatever else was run."""
    group = _style_group(method)
    if group in RANDOM_PAGE_STYLES:
        return RANDOM_PAGE_STYLES[group]
    known = _known_names(group)
    place = known.index(method.name) if method.name in known else len(known) + sum(map(ord, method.name)) % 40
    colour, again = place % PAGE_COLOURS, place // PAGE_COLOURS
    # A colour used again has another marker, and so have the similar colours that are five apart.
    shift = colour + colour // len(PAGE_SHAPES) + 3 * again + (0 if method.is_lsp else 2)
    shape = PAGE_SHAPES[shift % len(PAGE_SHAPES)]
    return PageStyle(f"h{colour}", shape, "" if method.is_lsp else "dashed")


# In print: names of matplotlib


@dataclass(frozen=True)
class PrintStyle:
    """How a figure draws a method; the names are matplotlib's."""

    color: str
    linewidth: float
    marker: str = ""
    markersize: float = 5.0
    linestyle: str | tuple[int, tuple[float, ...]] = "-"
    zorder: float = 3.0


REFERENCE_PRINT_STYLES = {
    UNPRUNED: PrintStyle("#000000", 1.4, linestyle=(0, (6, 3)), zorder=2),
    NO_EDGES: PrintStyle("#000000", 1.4, linestyle=(0, (1, 2)), zorder=2),
}
RANDOM_PRINT_STYLES = {
    RANDOM: PrintStyle("#8a8a8a", 1.8, "x", 6.0),
    LOCAL_RANDOM: PrintStyle("#444444", 1.8, "s", 4.5),
}
# Okabe and Ito's colours, which the colour-blind can tell apart: the first three for LSP, the others for the rest.
LSP_COLOURS = ("#0072B2", "#D55E00", "#009E73")
OTHER_COLOURS = ("#CC79A7", "#E69F00", "#56B4E9", "#7F5F2A")
MARKERS = ("o", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")


def print_styles(methods: Sequence[Method]) -> dict[str, PrintStyle]:
    """Return how a figure draws each of these methods; a method keeps its own colour while no other has taken it."""
    groups = {method.name: _style_group(method) for method in in_order(methods)}
    styles = {name: RANDOM_PRINT_STYLES[group] for name, group in groups.items() if group in RANDOM_PRINT_STYLES}
    for group, colours, width, size in (("lsp", LSP_COLOURS, 2.4, 6.0), ("other", OTHER_COLOURS, 1.1, 4.0)):
        known, free = _known_names(group), list(colours)
        dashes, order = ("-", 4.0) if group == "lsp" else ((0, (4.0, 1.5)), 3.0)
        for number, name in enumerate(name for name, other in groups.items() if other == group):
            place = known.index(name) if name in known else number
            own = colours[place % len(colours)]
            colour = own if own in free else free[0] if free else own
            free = [other for other in free if other != colour]
            styles[name] = PrintStyle(colour, width, MARKERS[place % len(MARKERS)], size, dashes, order)
    return {method.name: styles[method.name] for method in methods}
