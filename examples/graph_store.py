"""Prune the edges of a PyG GraphStore, with features from a FeatureStore, and write them back.

Stores hold graphs that live elsewhere, such as in a database. What a loader needs of them is here kept in two
dictionaries. A pruned store gets the kept edges and the attributes that belong to them; node features are not copied.
Run it: `python examples/graph_store.py`.
"""

from __future__ import annotations

import argparse

import torch
from torch_geometric.data import EdgeAttr, FeatureStore, GraphStore, HeteroData, TensorAttr

from lsprune import LSP, prune

RATES = ("user", "rates", "item")


class Edges(GraphStore):
    """Edges in memory, by their type."""

    def __init__(self) -> None:
        super().__init__()
        self.held: dict = {}

    def _put_edge_index(self, edge_index, attr: EdgeAttr) -> bool:
        self.held[attr.edge_type] = (edge_index, attr)
        return True

    def _get_edge_index(self, attr: EdgeAttr):
        return self.held[attr.edge_type][0] if attr.edge_type in self.held else None

    def _remove_edge_index(self, attr: EdgeAttr) -> bool:
        return self.held.pop(attr.edge_type, None) is not None

    def get_all_edge_attrs(self) -> list[EdgeAttr]:
        return [attr for _, attr in self.held.values()]


class Features(FeatureStore):
    """Features in memory, by node or edge type and name."""

    def __init__(self) -> None:
        super().__init__()
        self.held: dict = {}

    def _put_tensor(self, tensor, attr: TensorAttr) -> bool:
        self.held[attr.group_name, attr.attr_name] = tensor
        return True

    def _get_tensor(self, attr: TensorAttr):
        tensor = self.held.get((attr.group_name, attr.attr_name))
        return tensor if tensor is None or attr.index is None else tensor[attr.index]

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        return self.held.pop((attr.group_name, attr.attr_name), None) is not None

    def _get_tensor_size(self, attr: TensorAttr):
        return self._get_tensor(attr).shape

    def get_all_tensor_attrs(self) -> list[TensorAttr]:
        return [TensorAttr(*key, index=None) for key in self.held]


def prune_stores(edges: GraphStore, features: FeatureStore, pruner) -> dict:
    """Prune all relations of the stores and write them back; return how many edges each has before and after."""
    rows, columns, _ = edges.coo()
    data, known = HeteroData(), {(attr.group_name, attr.attr_name) for attr in features.get_all_tensor_attrs()}
    for kind, name in known:
        if name in ("x", "edge_attr"):
            data[kind][name] = features.get_tensor(kind, name, index=None)
    for kind, row in rows.items():
        data[kind].edge_index = torch.stack([row, columns[kind]])
    small = prune(data, pruner)
    for attr in edges.get_all_edge_attrs():
        kept = tuple(small[attr.edge_type].edge_index)
        edges.put_edge_index(kept, edge_type=attr.edge_type, layout="coo", size=attr.size)
        if (attr.edge_type, "edge_attr") in known:
            features.put_tensor(small[attr.edge_type].edge_attr, attr.edge_type, "edge_attr", index=None)
    return {kind: (data[kind].num_edges, small[kind].num_edges) for kind in rows}


def main(arguments: list[str] | None = None) -> None:
    """Fill two stores, prune them and say what is left."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    random = torch.Generator().manual_seed(0)
    ends = tuple(torch.randint(count, (2_000,), generator=random) for count in (100, 50))
    edges, features = Edges(), Features()
    edges.put_edge_index(ends, edge_type=RATES, layout="coo", size=(100, 50))
    features.put_tensor(torch.rand(100, 8, generator=random), "user", "x", index=None)
    features.put_tensor(torch.rand(50, 8, generator=random), "item", "x", index=None)
    features.put_tensor(torch.rand(2_000, 1, generator=random), RATES, "edge_attr", index=None)
    for kind, (before, after) in prune_stores(edges, features, LSP(keep=0.25)).items():
        print(f"{kind}: {before:,} edges in, {after:,} out")


if __name__ == "__main__":
    main()
