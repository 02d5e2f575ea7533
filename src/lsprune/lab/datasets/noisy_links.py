"""A generated graph on which edges matter and most of them are noise, as a `Dataset`: what the demo trains on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.data import Data

from lsprune.graph import Array
from lsprune.lab.datasets import Dataset
from lsprune.lab.datasets.splits import split_nodes
from lsprune.lab.node_splits import MASKS

RANK_OFFSET = 10.0  # random links go to a node with probability ~ (rank + 10)^-0.5, so that some nodes are hubs


@dataclass(frozen=True, kw_only=True)
class NoisyLinks:
    """People in small circles, and links to anybody.

    All members of a circle have one class and know several others of it. Most links, though, go to people drawn by
    chance from all circles, popular ones more often. The attributes of a person say little of the class.

    Args:
        circle: members of a circle.
        circle_links, random_links: links that each node makes in its circle and to anybody; each is stored in both
            directions, and repeated ones once.
        columns: attributes of a node.
        signal: distance of the classes in the attributes, in standard deviations of the noise.
    """

    nodes: int = 2_400
    classes: int = 6
    circle: int = 16
    circle_links: int = 5
    random_links: int = 14
    columns: int = 64
    signal: float = 0.14
    seed: int = 0

    def edge_index(self) -> Array:
        """Return the edges `[2, E]`, sorted, without self-loops.

        >>> NoisyLinks(nodes=24).edge_index().shape[0]
        2
        """
        rng = np.random.default_rng(self.seed)
        person = np.arange(self.nodes)
        near = np.repeat(person, self.circle_links)
        friend = np.minimum(near // self.circle * self.circle + rng.integers(0, self.circle, near.size), self.nodes - 1)
        fame = (person + RANK_OFFSET) ** -0.5
        stranger = rng.permutation(self.nodes)[
            rng.choice(self.nodes, self.nodes * self.random_links, p=fame / fame.sum())
        ]
        links = np.stack([np.append(near, np.repeat(person, self.random_links)), np.append(friend, stranger)])
        links = links[:, links[0] != links[1]]
        edges: Array = np.unique(np.concatenate([links, links[::-1]], axis=1), axis=1)
        return edges

    def make(self) -> Dataset:
        """Return the graph with attributes, classes and a split of 60, 20 and 20 %; the same on every machine."""
        rng = np.random.default_rng(self.seed + 1)
        circles = -(-self.nodes // self.circle)
        y = rng.integers(0, self.classes, circles)[np.arange(self.nodes) // self.circle]
        centres = rng.standard_normal((self.classes, self.columns))
        x = self.signal * centres[y] + rng.standard_normal((self.nodes, self.columns))
        data = Data(
            x=torch.from_numpy(x.astype(np.float32)), y=torch.from_numpy(y),
            edge_index=torch.from_numpy(self.edge_index()),
        )  # fmt: skip
        for name, part in zip(MASKS, split_nodes(np.arange(self.nodes), self.seed), strict=True):
            mask = np.zeros(self.nodes, dtype=bool)
            mask[part] = True
            data[name] = torch.from_numpy(mask)
        return Dataset("noisy-links", "node-classification", data, data, data, self.columns, self.classes)
