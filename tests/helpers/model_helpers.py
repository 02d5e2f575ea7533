"""Small molecule-like graphs, and every model of the lab built for them."""

from __future__ import annotations

import torch
from torch_geometric.data import Data
from torch_geometric.utils import degree

from lsprune.lab.models import MODELS, build
from lsprune.lab.models.layers import graph_count

NODE_GAT = ("github-gat", "planetoid-gat", "node-gat", "ppi-gat")
SKIP = ("node-gcn-skip", "node-sage-skip", "node-gat-skip")
NODE = (*NODE_GAT, *SKIP, "node-gcn", "node-sage", "node-pna")  # their output has a row per node
ATTENTION = (*NODE_GAT, "synthetic-gat", "synthetic-gat-small")
PLAIN = (*SKIP, "node-gcn", "node-sage", "node-pna", "graph-gcn", "graph-sage", "graph-pna")
MOLECULE = tuple(name for name in MODELS if name not in (*ATTENTION, *PLAIN))
IN_DIM, OUT_DIM = 6, 3


def out_dim(name: str) -> int:
    return 1 if name in MOLECULE else OUT_DIM


def molecule(seed: int, *, nodes: int = 8, chords: int = 4) -> Data:
    """Return a connected graph with both directions of every edge and all attributes that any model reads."""
    generator = torch.Generator().manual_seed(seed)
    path = torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])
    once = torch.cat([path, torch.randint(nodes, (2, chords), generator=generator)], dim=1)
    once = torch.unique(torch.sort(once[:, once[0] != once[1]], dim=0).values, dim=1)
    bond = torch.randint(4, (once.shape[1],), generator=generator)
    return Data(
        x=torch.randn(nodes, IN_DIM, generator=generator),
        z=torch.randint(1, 10, (nodes,), generator=generator),
        pos=torch.randn(nodes, 3, generator=generator) * 1.5,
        edge_index=torch.cat([once, once.flip(0)], dim=1),
        edge_attr=torch.cat([bond, bond]),
    )


def without_edges(seed: int) -> Data:
    data = molecule(seed)
    return data.edge_subgraph(torch.zeros(data.num_edges, dtype=torch.bool))


def complete_graph(nodes: int) -> Data:
    """Return a graph in which all nodes are in-neighbours of every node; only node 0 has just the nodes 0 to 2."""
    pairs = torch.cartesian_prod(torch.arange(nodes), torch.arange(nodes)).T
    pairs = pairs[:, (pairs[1] != 0) | (pairs[0] < 3)]
    return Data(x=torch.randn(nodes, IN_DIM, generator=torch.Generator().manual_seed(0)), edge_index=pairs)


def for_model(name: str, data: Data) -> Data:
    """Return the graph with the attributes of the model's dataset: ZINC's atoms are categories in `x`."""
    if name == "zinc-pna":
        data = data.clone()
        data.x = data.z.view(-1, 1)
    return data


def as_double(data: Data) -> Data:
    """Return the graph in double precision, where a small difference is not a rounding error."""
    return data.clone().apply(lambda value: value.double() if value.is_floating_point() else value)


def make(name: str, basic: bool = False) -> torch.nn.Module:
    torch.manual_seed(0)
    degrees = torch.bincount(degree(molecule(0).edge_index[1], 8).long())
    return build(name, in_dim=IN_DIM, out_dim=out_dim(name), basic=basic, degrees=degrees)


def num_rows(name: str, data: Data) -> int:
    return data.num_nodes if name in NODE else graph_count(data)
