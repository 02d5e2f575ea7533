"""GraphSAGE for graphs of several kinds of nodes: means over each relation, with skip connections.

Not in the paper. What does not change between steps, `precompute` computes once: attributes of one scale, and for each
relation the matrix that takes means over in-neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lsprune.lab.models.sparse_features import sparse_if_faster

Relation = tuple[str, str, str]
MAX_ROW_SCALE = 30  # rows of attributes get the length of so many entries of size one, or of as many as there are


@dataclass(frozen=True, eq=False)
class Means:
    """The matrix `[targets, sources]` that takes means over the in-neighbours of a relation, and its transpose."""

    matrix: Tensor
    transposed: Tensor

    @classmethod
    def of(cls, edge_index: Tensor, sources: int, targets: int) -> Means:
        """Return the means of a relation; a node without in-neighbours has mean 0."""
        source, target = edge_index.cpu().numpy()
        share = (1 / np.maximum(np.bincount(target, minlength=targets), 1)).astype(np.float32)[target]
        pair = _rows(target, source, share, (targets, sources)), _rows(source, target, share, (sources, targets))
        return cls(*(matrix.to(edge_index.device) for matrix in pair))


def _rows(row: Any, column: Any, values: Any, shape: tuple[int, int]) -> Tensor:
    """Return a matrix in compressed rows; entries in one place add up."""
    order = np.argsort(row, kind="stable")
    starts = np.concatenate([[0], np.bincount(row, minlength=shape[0]).cumsum()])
    entries = torch.from_numpy(column[order]), torch.from_numpy(values[order])
    return torch.sparse_csr_tensor(torch.from_numpy(starts), *entries, shape, check_invariants=False)


class _Mean(torch.autograd.Function):
    """The means times rows of the sources; torch alone would transpose the matrix in every step."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, means: Means) -> Tensor:
        ctx.means = means
        return means.matrix @ rows

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.means.transposed @ gradient, None


@dataclass(frozen=True, eq=False)
class PreparedRelations:
    """What the model reads of a graph: attributes of each kind of nodes, and the means of each relation."""

    x: dict[str, Tensor]
    means: dict[Relation, Means]


class HeteroSAGE(nn.Module):
    """Scores `[N, out_dim]` of the nodes of one kind: a linear layer for each kind, convolutions, a linear layer.

    A convolution adds to what a node knows of itself the means over its in-neighbours of each relation, each with
    weights of its own; a skip connection adds the input. The last one is computed for the kind with scores only.

    Args:
        widths: the number of columns of `x` of each kind of nodes.
        target: the kind that has scores.
    """

    def __init__(
        self,
        widths: dict[str, int],
        relations: list[Relation],
        target: str,
        out_dim: int,
        *,
        width: int = 32,
        depth: int = 2,
        dropout: float = 0.3,
    ) -> None:
        super().__init__()
        self.target, self.dropout = target, dropout
        self.first = nn.ModuleDict({kind: nn.Linear(columns, width, bias=False) for kind, columns in widths.items()})
        for weight in self.first.parameters():
            nn.init.xavier_uniform_(weight)  # larger than usual: rows have few entries that are not zero
        kinds = [tuple(widths)] * (depth - 1) + [(target,)]
        self.convs = nn.ModuleList(HeteroConvolution(list(widths), relations, of, width, dropout) for of in kinds)
        self.last = nn.Linear(width, out_dim)

    def precompute(self, data: Any) -> PreparedRelations:
        """Return what the model reads of a `HeteroData`, computed once; it can be called with either."""
        sizes = {kind: int(data[kind].num_nodes) for kind in data.node_types}
        relations = [(source, name, target) for source, name, target in data.edge_types]
        means = {key: Means.of(data[key].edge_index, sizes[key[0]], sizes[key[2]]) for key in relations}
        return PreparedRelations({kind: _scaled(data[kind].x) for kind in data.node_types}, means)

    def forward(self, data: Any) -> Tensor:
        graph = data if isinstance(data, PreparedRelations) else self.precompute(data)
        rows = {kind: F.relu(self.first[kind](x)) for kind, x in graph.x.items()}
        for conv in self.convs:
            rows = conv(rows, graph.means)
        scores: Tensor = self.last(F.dropout(rows[self.target], self.dropout, self.training))
        return scores


class HeteroConvolution(nn.Module):
    """One layer: rows of width `width` of all kinds in, those of some kinds out.

    Args:
        targets: the kinds that come out.
    """

    def __init__(
        self, kinds: list[str], relations: list[Relation], targets: tuple[str, ...], width: int, dropout: float
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.relations = [relation for relation in relations if relation[2] in targets]
        read = {*targets, *(source for source, _, _ in self.relations)}
        self.norms = nn.ModuleDict({kind: nn.LayerNorm(width) for kind in kinds if kind in read})
        self.own = nn.ModuleDict({kind: nn.Linear(width, width) for kind in targets})
        self.others = nn.ModuleDict({"-".join(key): nn.Linear(width, width, bias=False) for key in self.relations})

    def forward(self, rows: dict[str, Tensor], means: dict[Relation, Means]) -> dict[str, Tensor]:
        normed = {kind: F.dropout(norm(rows[kind]), self.dropout, self.training) for kind, norm in self.norms.items()}
        new = {kind: own(normed[kind]) for kind, own in self.own.items()}
        for key in self.relations:
            source, _, target = key
            sent = self.others["-".join(key)](normed[source])
            new[target] = new[target] + _Mean.apply(sent, means[key])  # type: ignore[no-untyped-call]
        return {kind: rows[kind] + F.relu(values) for kind, values in new.items()}


def _scaled(x: Tensor) -> Tensor:
    """Return attributes with rows of equal length; on a CPU, wide ones that are mostly zero become sparse."""
    return sparse_if_faster(F.normalize(x) * min(x.shape[1], MAX_ROW_SCALE) ** 0.5)
