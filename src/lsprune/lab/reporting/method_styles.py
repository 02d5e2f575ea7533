"""Names of methods as reports use them: groups, labels, colours and markers.

Methods are defined in `lab/studies/methods.py`. This is the only file of the reports that names one: a method that is
renamed there is renamed here, and in `paper.csv` where the paper has points of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from lsprune.lab.studies.methods import NAMES, REFERENCES

UNPRUNED, NO_EDGES, BASIC = REFERENCES
RANDOM, LOCAL_RANDOM = RANDOM_BASELINES = ("random", "local-random")
UPPER_BOUND = "position"  # of consistency on generated graphs
AUTO_METHODS = ("lsp-auto-a", "lsp-auto")  # choose their options from the graph
STUDY_METHOD = "lsp-p"  # compared with local random in the tables of single studies
SIZE_METHODS = (*RANDOM_BASELINES, "lsp-p", "lsp-t")  # shown first among neighbourhood sizes
SAMPLE_METHODS = {  # in the view of one neighbourhood
    "lsp-e": "a codebook on the edge's own vector decides",
    "lsp-p": "random projections of edge and neighbour decide",
    LOCAL_RANDOM: "a random choice, drawn for each sample separately",
}
OUT_SUFFIX = "-out"  # methods that prune the out-neighbours of each node
PRESET_SUFFIXES = ("-paper", "-published")  # LSP as the paper describes it, and as its code does it
REFERENCE_LABELS = {
    UNPRUNED: "unpruned",
    NO_EDGES: "no edges",
    BASIC: "basic model (plain averaging), whole graph",
}
REFERENCE_ROLES = {UNPRUNED: "unpruned", NO_EDGES: "no-edges", BASIC: "basic"}  # names for the page's script
GROUPS = {"random": "Random", "lsp": "LSP", "other": "Others"}


def is_lsp(method: str) -> bool:
    """Return whether a method is an LSP, and not one of the paper's presets."""
    return method.startswith("lsp-") and not method.endswith(PRESET_SUFFIXES)


def group_of(method: str) -> str:
    """Return the key in GROUPS of a method."""
    return "random" if method in RANDOM_BASELINES else "lsp" if is_lsp(method) else "other"


def in_order(methods: Iterable[str]) -> list[str]:
    """Return methods in the order of `lab/studies/methods.py`, unknown ones last."""
    return sorted(methods, key=lambda name: (NAMES.index(name) if name in NAMES else len(NAMES), name))


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
RANDOM_PAGE_STYLES = {RANDOM: PageStyle("h-random", "cross"), LOCAL_RANDOM: PageStyle("h-local", "square")}
PAPER_METHODS = {
    "random": PaperMethod("random", PageStyle("h-random", "square", "dotted"), (RANDOM,)),
    "lsp-p": PaperMethod("lsp-p", PageStyle("h0", "circle", "dotted"), ("lsp-p-published", "lsp-p")),
    "lsp-t": PaperMethod("lsp-t", PageStyle("h1", "up", "dotted"), ("lsp-t-published", "lsp-t")),
    "basic": PaperMethod("basic", PageStyle("h-ink", "diamond", "dotted")),
    "any": PaperMethod("any method", PageStyle("h-ink", "circle", "dotted")),
}


def page_style(method: str) -> PageStyle:
    """Return how the page draws a method: the same everywhere, whatever else was run."""
    if method in RANDOM_PAGE_STYLES:
        return RANDOM_PAGE_STYLES[method]
    known = [name for name in NAMES if name not in REFERENCES and group_of(name) == group_of(method)]
    place = known.index(method) if method in known else len(known) + sum(map(ord, method)) % 40
    colour, again = place % PAGE_COLOURS, place // PAGE_COLOURS
    # A colour used again has another marker, and so have the similar colours that are five apart.
    shift = colour + colour // len(PAGE_SHAPES) + again + (0 if is_lsp(method) else 2)
    shape = PAGE_SHAPES[shift % len(PAGE_SHAPES)]
    return PageStyle(f"h{colour}", shape, "" if is_lsp(method) else "dashed")


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


def print_styles(methods: Sequence[str]) -> dict[str, PrintStyle]:
    """Return how a figure draws each of these methods; a method keeps its own colour while no other has taken it."""
    styles = {name: RANDOM_PRINT_STYLES[name] for name in methods if name in RANDOM_PRINT_STYLES}
    for lsp, colours, width, size in ((True, LSP_COLOURS, 2.4, 6.0), (False, OTHER_COLOURS, 1.1, 4.0)):
        known = [name for name in NAMES if is_lsp(name) is lsp and name not in RANDOM_PRINT_STYLES]
        free = list(colours)
        group = in_order(name for name in methods if name not in RANDOM_PRINT_STYLES and is_lsp(name) is lsp)
        for number, name in enumerate(group):
            place = known.index(name) if name in known else number
            own = colours[place % len(colours)]
            colour = own if own in free else free[0] if free else own
            free = [other for other in free if other != colour]
            dashes = "-" if lsp else (0, (4, 1.5))
            styles[name] = PrintStyle(colour, width, MARKERS[place % len(MARKERS)], size, dashes, 4 if lsp else 3)
    return {name: styles[name] for name in methods}
