"""How reports show methods: groups, labels, colours, markers, lines and order.

What a method is follows from the options in its records, see `lab.studies.methods.Method`. This is the only file of the
reports that names methods, for labels and for what is shown first. Their order is that of `methods.toml`. The HTML page
and the figures of matplotlib share one table of styles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass

from lsprune.lab.studies.methods import BASIC, LOCAL_RANDOM, NO_EDGES, RANDOM, UNPRUNED, Method, catalogue

RANDOM_BASELINES = (RANDOM, LOCAL_RANDOM)  # roles
BASELINE_NAMES = {RANDOM: "random", LOCAL_RANDOM: "k random neighbours"}  # in prose and headings, by role
UPPER_BOUND = "first"  # of consistency on generated graphs
AUTO_METHODS = ("lsp-auto", "lsp-auto-hash")  # choose their options from the graph
LABEL_METHODS = ("lsp-auto-labels", "choose")  # look at the labels of training nodes
STUDY_METHOD = "lsp-projection"  # compared with k random neighbours in the tables of single studies
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


def prose_name(method: Method) -> str:
    """Return what prose and headings call a method; one that a study names has that name.

    >>> prose_name(catalogue()["local-random"]), prose_name(catalogue()["lsp-auto"])
    ('k random neighbours', 'lsp-auto')
    """
    return BASELINE_NAMES[method.role] if method.name == method.role in BASELINE_NAMES else method.name


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


# One style for each method


@dataclass(frozen=True)
class Style:
    """How a method is drawn: the name of its colour, the name of its marker, the kind of its line."""

    colour: str
    marker: str
    line: str = "solid"


# Six colours that people with any colour vision can tell apart, on white; page.css has others for a dark page.
COLOURS = {
    "h0": "#126df5", "h1": "#b62c00", "h2": "#196c5e", "h3": "#e168be", "h4": "#a5932d", "h5": "#790eae",
    "h-random": "#7d848c", "h-local": "#3f464e", "h-ink": "#16191d",
}  # fmt: skip
HUES = ("h0", "h1", "h2", "h3", "h4", "h5")
MARKERS = ("circle", "up", "diamond", "down", "plus", "star", "left", "right", "pentagon", "hexagon")
GROUP_LINES = {"lsp": ("solid", "long", "long-dot"), "other": ("short", "short-dot", "short-dot-dot")}
PLACES = 30  # of a group: markers x kinds of lines
RANDOM_STYLES = {RANDOM: Style("h-random", "cross"), LOCAL_RANDOM: Style("h-local", "square")}  # by role


def styles_of(methods: Sequence[Method], drawn: Collection[str]) -> dict[str, Style]:
    """Return a style for each of these methods, so that no two look alike.

    A method of `methods.toml` has the same marker and line everywhere, and no other has both. Its colour is its own
    while no other line that is drawn has taken it: the lines that are drawn at first differ in colour too. Markers
    without lines differ in colour or shape.

    Args:
        drawn: the names of the methods that are lines at first; the rest can be switched on.
    """
    styles = {m.name: RANDOM_STYLES[group] for m in methods if (group := _style_group(m)) in RANDOM_STYLES}
    places = [(group, name, place) for group in GROUP_LINES for name, place in _places(methods, group).items()]
    free, taken = list(HUES), set[tuple[str, str]]()
    for group, name, place in sorted(places, key=lambda entry: entry[1] not in drawn):
        marker, own = MARKERS[place % len(MARKERS)], _own_colour(group, place)
        pool = free if name in drawn and free else HUES
        candidates = [own, *pool] if own in pool else pool
        colour = next((hue for hue in candidates if (hue, marker) not in taken), own)
        taken.add((colour, marker))
        free = [hue for hue in free if hue != colour]
        styles[name] = Style(colour, marker, GROUP_LINES[group][place // len(MARKERS)])
    return {method.name: styles[method.name] for method in methods}


def _places(methods: Sequence[Method], group: str) -> dict[str, int]:
    """Return the number of each method in its group: those of `methods.toml` have theirs, others what is free."""
    known = _known_names(group)
    names = [method.name for method in in_order(methods) if _style_group(method) == group]
    places = {name: known.index(name) for name in names if name in known}
    free = [place for place in (*range(len(known), PLACES), *range(len(known))) if place not in places.values()]
    for number, name in enumerate(name for name in names if name not in known):
        places[name] = free[number % len(free)]
    return places


def _own_colour(group: str, place: int) -> str:
    """Return the colour of a place: the six places with the same marker have six colours."""
    row = place // len(MARKERS) + (0 if group == "lsp" else len(GROUP_LINES["lsp"]))
    return HUES[(place % len(MARKERS) + row) % len(HUES)]


# On the HTML page: classes of page.css and shapes of scales.js


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


LSP_P, LSP_T = ("lsp-projection-published", "lsp-projection"), ("lsp-threshold-published", "lsp-threshold")
# Lines with round dots, which no method of ours has: the paper's differ from ours and from each other without colours.
PAPER_METHODS = {  # by their names in paper.csv
    "random": PaperMethod("random", PageStyle("h2", "plus", "dots"), (RANDOM,)),
    "lsp-p": PaperMethod("LSP-P", PageStyle("h0", "circle", "dots-dash"), LSP_P),
    "lsp-t": PaperMethod("LSP-T", PageStyle("h1", "up", "dot-dash"), LSP_T),
    "basic": PaperMethod("basic", PageStyle("h-ink", "diamond", "none")),
    "any": PaperMethod("any method", PageStyle("h-ink", "pentagon", "dots")),
}


def page_styles(methods: Sequence[Method], drawn: Collection[str]) -> dict[str, PageStyle]:
    """Return how the page draws each of these methods; see `styles_of`."""
    return {
        name: PageStyle(style.colour, style.marker, "" if style.line == "solid" else style.line)
        for name, style in styles_of(methods, drawn).items()
    }


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
PRINT_MARKERS = {
    "circle": "o", "up": "^", "diamond": "D", "down": "v", "plus": "P", "star": "*", "left": "<", "right": ">",
    "pentagon": "p", "hexagon": "h", "square": "s", "cross": "x",
}  # fmt: skip
PRINT_LINES: dict[str, str | tuple[int, tuple[float, ...]]] = {
    "solid": "-",
    "long": (0, (6.0, 1.5)),
    "long-dot": (0, (6.0, 1.5, 1.0, 1.5)),
    "short": (0, (3.0, 1.5)),
    "short-dot": (0, (3.0, 1.5, 1.0, 1.5)),
    "short-dot-dot": (0, (3.0, 1.5, 1.0, 1.5, 1.0, 1.5)),
}
PRINT_WEIGHTS = {"lsp": (2.4, 6.0, 4.0), "other": (1.4, 4.5, 3.0)}  # width of lines, size of markers, order
RANDOM_PRINT_WEIGHTS = {RANDOM: (1.8, 6.0, 3.0), LOCAL_RANDOM: (1.8, 4.5, 3.0)}


def print_styles(methods: Sequence[Method]) -> dict[str, PrintStyle]:
    """Return how a figure draws each of these methods, which are all lines of it; see `styles_of`."""
    groups = {method.name: _style_group(method) for method in methods}
    weights = {**PRINT_WEIGHTS, **RANDOM_PRINT_WEIGHTS}
    styles = {}
    for name, style in styles_of(methods, groups).items():
        width, size, order = weights[groups[name]]
        styles[name] = PrintStyle(
            COLOURS[style.colour], width, PRINT_MARKERS[style.marker], size, PRINT_LINES[style.line], order
        )
    return styles
