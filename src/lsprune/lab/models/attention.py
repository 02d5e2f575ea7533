"""PyG's GATConv, and the same layer on a GPU without a row for every edge."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils._triton import has_triton
from torch_geometric.nn import GATConv


@dataclass(frozen=True, eq=False)
class Links:
    """The edges sorted by target and by source; no size depends on their values.

    Args:
        starts: `[N + 1]` where each node's incoming edges begin. sources: `[E]` where they come from.
        back_starts: `[N + 1]` where each node's outgoing edges begin. targets: `[E]` where they go to.
    """

    starts: Tensor
    sources: Tensor
    back_starts: Tensor
    targets: Tensor

    @classmethod
    def of(cls, edge_index: Tensor, nodes: int, real: Tensor | None = None) -> Links:
        """The links of a graph; edges of nodes that are not real come last and belong to nobody."""
        ends = edge_index if real is None else torch.where(real[edge_index], edge_index, nodes)
        every = torch.arange(nodes + 1, device=edge_index.device)
        target, by_target = torch.sort(ends[1], stable=True)
        source, by_source = torch.sort(ends[0], stable=True)
        return cls(
            starts=torch.searchsorted(target, every), sources=edge_index[0].index_select(0, by_target),
            back_starts=torch.searchsorted(source, every), targets=edge_index[1].index_select(0, by_source),
        )  # fmt: skip


class SmallGAT(GATConv):  # type: ignore[misc]  # PyG has no types
    """GATConv for graphs of small degrees, with its weights and its result; on a GPU in a fraction of the time.

    One program goes through all edges of a node, so that hubs of thousands of edges are better left to PyG.
    """

    def forward(self, x: Tensor, edges: Tensor | Links) -> Tensor:
        if not isinstance(edges, Links):
            plain: Tensor = super().forward(x, edges)
            return plain
        from lsprune.lab.models.attention_triton import attend

        values = self.lin(x).view(-1, self.heads, self.out_channels)
        source, target = (values * self.att_src).sum(-1), (values * self.att_dst).sum(-1)
        found = attend(values, source, target, edges, self.negative_slope)
        out: Tensor = (found.flatten(1) if self.concat else found.mean(1)) + self.bias
        return out


def fusable(x: Tensor) -> bool:
    """Whether links can be used: on a GPU that Triton knows."""
    return x.is_cuda and has_triton()
