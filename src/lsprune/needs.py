"""What a pruner needs to know of a graph, declared by the pruner itself.

Streaming, Spark and the memory ceiling ask for it instead of knowing single pruners, hash families or weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lsprune.time_rules import TimeRule

Scope = Literal["edge", "neighbourhood", "graph"]
SCOPES: tuple[Scope, ...] = ("edge", "neighbourhood", "graph")


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What the keys of an edge are made of, besides the ids of its ends, and the memory that making them takes.

    Args:
        owner, neighbour, edge: the attributes of the owner, the neighbour, the edge.
        degree: the number of edges that have the neighbour as theirs.
        owner_id: the owner's id, or the place of the edge among all edges: keys differ from owner to owner.
        carried: logarithms of weights that were computed beforehand and come with the edge.
        position: the caller's order of the edges, if only for ties.
        scope: "edge": an edge with its two ends is enough, so that edges may come in any batches; "neighbourhood": the
            edges of other owners too; "graph": edges are chosen over the whole graph, not by their owners.
        reason: what is wrong with single edges, for error messages; empty with scope "edge".
        fit_edges: `fit` looks at edges, not only at nodes.
        key_table: keys depend on the neighbour alone (edge attributes aside) and are made once for each neighbour.
        own_type: edge attributes are compared in their own type, not as float32.
        edge_columns: columns of edges, or of nodes, that are asked for by name.
        within: which edges take part, one rule after the other. Streaming and Spark remove the others before anything
            is counted or learned, and go on with `pruner.among_allowed()`.
        edge_bytes: memory held for each edge while keys are made. fit_bytes: memory that `fit` takes, whatever the
            graph.
        gpu: keys can be made of tensors on a GPU; otherwise a graph there is copied to the host and pruned there.
    """

    owner: bool = False
    neighbour: bool = False
    edge: bool = False
    degree: bool = False
    owner_id: bool = False
    carried: bool = False
    position: bool = False
    scope: Scope = "edge"
    reason: str = ""
    fit_edges: bool = False
    key_table: bool = False
    own_type: bool = False
    edge_columns: tuple[str, ...] = ()
    within: tuple[TimeRule, ...] = ()
    edge_bytes: int = 0
    fit_bytes: int = 0
    gpu: bool = False

    @property
    def by_neighbour(self) -> bool:
        """Whether the keys depend on the neighbour alone."""
        return not (self.owner or self.edge or self.owner_id or self.carried or self.edge_columns)

    def __or__(self, other: Needs) -> Needs:
        """Combine the needs of two parts of a pruner; keys are a table only if both parts allow it."""
        wider = max(self, other, key=lambda needs: SCOPES.index(needs.scope))
        return Needs(
            owner=self.owner or other.owner, neighbour=self.neighbour or other.neighbour, edge=self.edge or other.edge,
            degree=self.degree or other.degree, owner_id=self.owner_id or other.owner_id,
            carried=self.carried or other.carried,
            position=self.position or other.position, scope=wider.scope, reason=wider.reason,
            fit_edges=self.fit_edges or other.fit_edges,
            key_table=self.key_table and other.key_table, own_type=self.own_type or other.own_type,
            edge_columns=tuple(dict.fromkeys(self.edge_columns + other.edge_columns)),
            within=self.within + other.within,
            edge_bytes=self.edge_bytes + other.edge_bytes, fit_bytes=self.fit_bytes + other.fit_bytes,
            gpu=self.gpu and other.gpu,
        )  # fmt: skip
