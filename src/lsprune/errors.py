"""The errors and warnings a user can meet, all under one name."""

from __future__ import annotations


class LspruneError(Exception):
    """Anything lsprune refuses to do; the message says what to change."""


class GraphError(LspruneError, ValueError):
    """The graph cannot be pruned as it is: ids, shapes or values are wrong."""


class OptionError(LspruneError, ValueError):
    """An option is out of range or does not go with another one."""


class FormatError(LspruneError, ValueError):
    """A file or object is not what it claims to be."""


class MissingDependency(LspruneError, ImportError):
    """An optional package is needed; the message has the command that installs it."""


class Lacking(LspruneError):
    """A dataset at hand has not what a run needs; a study skips the run and says so."""


class LspruneWarning(UserWarning):
    """Something worth knowing that does not stop the work."""


class SymmetryWarning(LspruneWarning):
    """An undirected graph is being pruned one direction at a time."""


class ConstantWarning(LspruneWarning):
    """All edges look alike to the hash functions, so that the tie rule decides."""


class IsolatedWarning(LspruneWarning):
    """Pruning left nodes without any edge."""


class BudgetWarning(LspruneWarning):
    """Promises needed more edges than the budget has, so that more are kept than were asked for."""


class BipartiteWarning(LspruneWarning):
    """Two columns that look like two kinds of nodes are taken for one."""
