"""What an adapter is: the way from one kind of graph object to `Graph`, and from masks back to the same kind."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from lsprune.errors import NoGpuPath, OptionError
from lsprune.graph import Array, Graph

Key = Hashable  # None for an object with one set of edges, else a relation such as ("user", "likes", "item")


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What to keep of one relation, aligned with the edges of the `Graph` that the adapter returned."""

    mask: Array  # [E] bool, True = kept; a tensor for graphs on a device
    weight: Array | None = None  # [E] float32: factors for the edge weights (`rescale`), or None
    e_id: bool = False  # whether to store the positions of the kept edges on the result
    count: int | None = None  # number of edges that the mask keeps, where that is known

    def refuse_weight(self, kind: str) -> None:
        """Raise OptionError if there are weights: for kinds of objects without edge weights."""
        if self.weight is not None:
            raise OptionError(
                f"rescale needs a place for edge weights, and {kind} has none; "
                "use a scipy.sparse matrix, a NetworkX graph or a PyG object"
            )

    def refuse_e_id(self, kind: str) -> None:
        """Raise OptionError if edge ids are wanted: for kinds of objects without a place for them."""
        if self.e_id:
            raise OptionError(
                f"e_id=True needs a place for edge ids, and {kind} has none; "
                "use return_mask=True and np.flatnonzero(mask)"
            )


class Adapter(ABC):
    """Reads one kind of object and rebuilds it from masks; never changes the object.

    To prune a kind of object that lsprune does not know, write a subclass and register it with `lsprune.register`.
    Registered adapters are asked before those of lsprune.

    >>> class PairsAdapter(Adapter):
    ...     name = "pairs"
    ...     about = "a set of (source, target) pairs"
    ...
    ...     @classmethod
    ...     def accepts(cls, data):
    ...         return isinstance(data, frozenset)
    ...
    ...     def graphs(self, data):
    ...         return {None: Graph.from_edges(list(zip(*sorted(data))))}
    ...
    ...     def rebuild(self, data, kept):
    ...         return frozenset(pair for pair, keep in zip(sorted(data), kept[None].mask) if keep)
    >>> import numpy as np
    >>> pairs = frozenset({(0, 2), (1, 2)})
    >>> sorted(PairsAdapter().rebuild(pairs, {None: Kept(mask=np.array([False, True]))}))
    [(1, 2)]
    """

    name: ClassVar[str]  # unique among registered adapters
    about: ClassVar[str]  # the kind of object in a few words, for error messages
    guesses_nodes: ClassVar[bool] = False  # whether the largest id says how many nodes there are
    columns: tuple[str, ...] = ()  # names of columns of edges or nodes that the pruners ask for; see `configured`

    @classmethod
    @abstractmethod
    def accepts(cls, data: Any) -> bool:
        """Return whether this adapter can read `data`. Must not import a heavy library: see `libraries`."""

    @abstractmethod
    def graphs(self, data: Any) -> Mapping[Key, Graph]:
        """Return the graph in `data` under the key None, or one graph for each relation, under its name.

        The edges of a graph may be in any order; masks will be in the same order. Arrays are views where possible.
        Several graphs in one object become one `Graph` with node offsets (`Graph.concat`).
        """

    @abstractmethod
    def rebuild(self, data: Any, kept: Mapping[Key, Kept]) -> Any:
        """Return a new object of the same kind with the kept edges, in their order, and all that belongs to them.

        `kept` has the keys of `graphs`; relations without an entry stay whole.
        """

    def device(self, data: Any) -> Any:
        """Return the torch device of the edges of `data` if that is a GPU; None for graphs in host memory."""
        return None

    def device_graphs(self, data: Any) -> Mapping[Key, Graph]:
        """Return what `graphs` returns, with tensors on the device instead of arrays (`lsprune.device.graph`)."""
        raise NoGpuPath(f"{self.about} has no GPU path")

    def pruned_apart(self, data: Any) -> bool:
        """Return whether the graphs in `data`, a list or tuple, must be pruned one by one, each fitted by itself."""
        return False

    def configured(
        self,
        *,
        source: Any = None,
        target: Any = None,
        edge_attr: Any = None,
        columns: Sequence[str] = (),
        features: Any = None,
    ) -> Adapter:
        """Return the adapter to use with what `prune` was told of the object; adapters of tables read columns by name.

        Args:
            columns: names that the pruners ask for. An adapter whose objects have named attributes puts those that it
                finds into `edge_columns` and `node_columns` of its graphs.
        """
        for name, value in (("source", source), ("target", target), ("edge_attr", edge_attr)):
            if value is not None:
                raise OptionError(f"{name} must be None unless the edges are a table, got {value!r} for {self.about}")
        adapter = self
        if columns:
            adapter = copy.copy(self)
            adapter.columns = tuple(columns)
        if features is None:
            return adapter
        from lsprune.adapters.given_features import GivenFeatures

        return GivenFeatures(adapter, features)

    def masks(self, data: Any, masks: Mapping[Key, Array]) -> Any:
        """Return the masks `[E]` bool, with the keys of `graphs`, as users of this kind of object expect them.

        By default that is one array, or a dict from relation to array. Objects that hold several graphs, each with
        its own edges, return a list.
        """
        return masks[None] if None in masks else dict(masks)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def libraries(data: Any) -> set[str]:
    """Return the names of the packages that the classes of `data` are from, without importing any.

    >>> import numpy as np
    >>> sorted(libraries(np.zeros(2)))
    ['builtins', 'numpy']
    """
    return {kind.__module__.partition(".")[0] for kind in type(data).__mro__}
