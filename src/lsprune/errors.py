"""All errors and warnings of lsprune, each under one base class."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class LspruneError(Exception):
    """Base class of all errors; the message says what to change."""


class GraphError(LspruneError, ValueError):
    """The graph cannot be pruned as it is: ids, shapes or values are wrong."""


class RowError(GraphError):
    """A row of an attribute is wrong. Rows are counted over all graphs that were joined.

    Args:
        problem: the message without the row. name: of the attribute. row: -1: not known any more.
    """

    problem, name, row = "", "", -1

    @classmethod
    def at(cls, problem: str, name: str, row: int) -> RowError:
        """Return the error.

        >>> print(RowError.at("x must be finite, got nan", "x", 3))
        x must be finite, got nan in row 3
        """
        error = cls(f"{problem} in row {row}")
        error.problem, error.name, error.row = problem, name, row
        return error


class OptionError(LspruneError, ValueError):
    """An option is out of range or does not go with another one."""


class PositionalError(OptionError, TypeError):
    """An option is given by position, and is a keyword."""


class NoGpuPath(OptionError):
    """Something cannot be computed on a GPU; the graph is pruned on the host instead, unless a GPU was asked for."""


class FormatError(LspruneError, ValueError):
    """A file or object is not what it claims to be."""


class DatasetNotFound(FormatError):
    """A dataset is neither in the folder of local datasets nor can it be downloaded."""


class MissingDependency(LspruneError, ImportError):
    """An optional package is needed; the message has the command that installs it."""


class Lacking(LspruneError):
    """The local copy of a dataset lacks data that a run requires; a study skips the run and says so."""


@contextmanager
def naming_graph(number: int) -> Iterator[None]:
    """Begin the message of an error with the graph of a list that it is about.

    >>> with naming_graph(3):
    ...     raise GraphError("edge_index must be integers, got float32")
    Traceback (most recent call last):
    lsprune.errors.GraphError: graph 3: edge_index must be integers, got float32
    """
    try:
        yield
    except NoGpuPath:  # about all of them: another place is looked for
        raise
    except LspruneError as error:
        raise type(error)(f"graph {number}: {error}") from error


class LspruneWarning(UserWarning):
    """Base class of all warnings."""


class SymmetryWarning(LspruneWarning):
    """An undirected graph is being pruned one direction at a time."""


class ConstantWarning(LspruneWarning):
    """All edges have the same key, so that the tie rule decides."""


class HostWarning(LspruneWarning):
    """A graph on a GPU is copied to the host and pruned there, because there is no GPU path."""


class IsolatedWarning(LspruneWarning):
    """Pruning left nodes without any edge."""


class LinkSplitWarning(LspruneWarning):
    """A graph is pruned before links are held out of it, so that removed edges cannot be test links."""


class BudgetWarning(LspruneWarning):
    """Guarantees needed more edges than the budget has, so that more edges are kept than the budget allows."""


class EdgeEntryWarning(LspruneWarning):
    """An entry of a PyG object has a row for each edge, but its name does not say so: it is not pruned."""


class LabelsWarning(LspruneWarning):
    """There are labels that may be learned from, but not in a form that can be used."""


class BipartiteWarning(LspruneWarning):
    """Two columns that look like two kinds of nodes are read as one kind."""


def warn(message: str, category: type[LspruneWarning]) -> None:
    """Warn at the line of the caller's code that called lsprune, perhaps by a transform of PyG."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("lsprune", "torch_geometric"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)
