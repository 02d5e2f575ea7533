"""Generator of the paper's synthetic graphs for graph classification (appendix B.2.1).

Every class has a centre: a graph with a vector for each node and edge. A sample is the centre of its class with noise
on every vector and some nodes removed. Every node and edge of a sample stores its number in the centre, so it is known
which edges of two samples correspond, and one can measure whether a pruner keeps the same ones.

Samples are generated in blocks with one random stream each, so any block can be generated alone, and the number of
threads does not change the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from lsprune.checks import is_number, is_whole
from lsprune.errors import OptionError
from lsprune.graph import Array, Graph
from lsprune.kernels import threads as pool

BLOCK_SAMPLES = 128  # samples that share a random stream; another value would change all samples


@dataclass(frozen=True, eq=False)
class Samples:
    """Graphs stored one after the other; `edge_index` numbers the nodes of all of them."""

    x: Array  # [N, node_dim] float32
    edge_index: Array  # [2, E] int64
    edge_attr: Array  # [E, edge_dim] float32
    y: Array  # [S] class of each sample
    ptr: Array  # [S + 1] where each sample's nodes begin
    edge_ptr: Array  # [S + 1] where each sample's edges begin
    centre_node: Array  # [N] number of the node in the centre of its class
    centre_edge: Array  # [E] number of the edge in the centre of its class

    @cached_property
    def graph(self) -> Graph:
        """All samples as one `Graph` with `ptr`."""
        return Graph.from_edges(
            self.edge_index, num_nodes=int(self.ptr[-1]), x=self.x, edge_attr=self.edge_attr, ptr=self.ptr
        )

    def select(self, samples: Array) -> Samples:
        """Return the samples of these numbers, in this order."""
        edge_counts, node_counts = np.diff(self.edge_ptr)[samples], np.diff(self.ptr)[samples]
        edge_ptr, ptr = np.append(0, np.cumsum(edge_counts)), np.append(0, np.cumsum(node_counts))
        edges = np.repeat(self.edge_ptr[samples] - edge_ptr[:-1], edge_counts) + np.arange(edge_ptr[-1])
        nodes = np.repeat(self.ptr[samples] - ptr[:-1], node_counts) + np.arange(ptr[-1])
        edge_index = self.edge_index[:, edges] - np.repeat(self.ptr[samples] - ptr[:-1], edge_counts)
        return Samples(
            x=self.x[nodes], edge_index=edge_index, edge_attr=self.edge_attr[edges], y=self.y[samples], ptr=ptr,
            edge_ptr=edge_ptr, centre_node=self.centre_node[nodes], centre_edge=self.centre_edge[edges],
        )  # fmt: skip

    def split_by_class(self, classes: int, each: int) -> tuple[Samples, Samples]:
        """Return (the first `each` samples of each of the first `classes` classes, all other samples)."""
        order = np.argsort(self.y, kind="stable")
        rank = np.empty_like(order)  # of a sample within its class
        rank[order] = np.arange(order.size) - np.searchsorted(self.y[order], self.y[order])
        first = (self.y < classes) & (rank < each)
        return self.select(np.flatnonzero(first)), self.select(np.flatnonzero(~first))

    def to_data_list(self) -> list[Any]:
        """Return one PyG `Data` per sample, which share memory with the arrays; each numbers its nodes from 0."""
        import torch
        from torch_geometric.data import Data

        x, attr, y = (torch.from_numpy(array) for array in (self.x, self.edge_attr, self.y))
        local = torch.from_numpy(self.edge_index - np.repeat(self.ptr[:-1], np.diff(self.edge_ptr)))
        nodes, edges = self.ptr.tolist(), self.edge_ptr.tolist()
        return [
            Data(
                x=x[nodes[i] : nodes[i + 1]], edge_index=local[:, edges[i] : edges[i + 1]],
                edge_attr=attr[edges[i] : edges[i + 1]], y=y[i : i + 1],
            )
            for i in range(len(nodes) - 1)
        ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Centres:
    """The centres of all classes, stored one after the other."""

    node_ptr: Array  # [C + 1] where each class's nodes begin
    edge_ptr: Array  # [C + 1] where each class's edges begin
    source: Array  # [E] numbered from 0 within the class
    target: Array
    reverse: Array  # [E] number within the class of the reverse edge; of the edge itself unless symmetric
    x: Array
    edge_attr: Array


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """The generator: the paper's 13 parameters with their defaults, and a seed.

    >>> small = Synthetic(samples=6, classes=3).make()
    >>> small.y.tolist(), small.x.shape[1], small.edge_attr.shape[1]
    ([0, 1, 2, 0, 1, 2], 10, 40)
    """

    samples: int = 20_000
    classes: int = 100
    min_nodes: int = 40
    max_nodes: int = 60
    node_dim: int = 10
    edge_dim: int = 40
    connectivity: float = 0.2
    node_centre_std: float = 0.2
    edge_centre_std: float = 0.2
    node_noise_std: float = 0.25
    edge_noise_std: float = 0.1
    symmetric: bool = False
    node_removal: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("samples", "classes", "min_nodes", "node_dim", "edge_dim"):
            _check(name, getattr(self, name), 1, 2**31, integer=True)
        _check("max_nodes", self.max_nodes, self.min_nodes, 2**31, integer=True)
        for name in ("connectivity", "node_removal"):
            _check(name, getattr(self, name), 0, 1)
        for name in ("node_centre_std", "edge_centre_std", "node_noise_std", "edge_noise_std"):
            _check(name, getattr(self, name), 0, 1e6)
        _check("seed", self.seed, 0, 2**63, integer=True)

    def make(self, *, threads: int | None = None) -> Samples:
        """Return all samples."""
        blocks: dict[int, Samples] = {}
        centres = self._centres()

        def make_block(number: int) -> None:
            blocks[number] = self._block(centres, number)

        pool.run((partial(make_block, number) for number in range(self._num_blocks)), pool.count(threads))
        return concat([blocks[number] for number in range(self._num_blocks)])

    def stream(self) -> Iterator[Samples]:
        """Yield the samples of `make` block by block, for sets that do not fit in memory."""
        centres = self._centres()
        for number in range(self._num_blocks):
            yield self._block(centres, number)

    @property
    def _num_blocks(self) -> int:
        return -(-self.samples // BLOCK_SAMPLES)

    def _random(self, *counters: int) -> np.random.Generator:
        """Return the random stream of these counters."""
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, *counters])))

    def _centres(self) -> _Centres:
        random = self._random(0)
        sizes = random.integers(self.min_nodes, self.max_nodes + 1, self.classes)
        topologies = [_topology(random, int(size), self.connectivity, self.symmetric) for size in sizes]
        source, target, reverse = (np.concatenate([topology[i] for topology in topologies]) for i in range(3))
        node_ptr = np.concatenate([[0], np.cumsum(sizes)])
        edge_ptr = np.concatenate([[0], np.cumsum([topology[0].size for topology in topologies])])
        x = random.normal(0, self.node_centre_std, (int(node_ptr[-1]), self.node_dim)).astype(np.float32)
        attr = random.normal(0, self.edge_centre_std, (source.size, self.edge_dim)).astype(np.float32)
        first = np.minimum(np.arange(source.size), reverse + np.repeat(edge_ptr[:-1], np.diff(edge_ptr)))
        return _Centres(node_ptr, edge_ptr, source, target, reverse, x, attr[first])

    def _block(self, centres: _Centres, number: int) -> Samples:
        random = self._random(1, number)
        first, last = number * BLOCK_SAMPLES, min((number + 1) * BLOCK_SAMPLES, self.samples)
        y = np.arange(first, last) % self.classes
        nodes, node_sample = _expand(centres.node_ptr, y)
        kept_nodes = random.random(nodes.size) >= self.node_removal
        starts = np.cumsum(np.append(0, np.bincount(node_sample, minlength=y.size)))
        kept_nodes[starts[:-1][np.add.reduceat(kept_nodes, starts[:-1]) == 0]] = True  # never a graph without nodes
        edges, edge_sample = _expand(centres.edge_ptr, y)
        source = starts[edge_sample] + centres.source[edges]
        target = starts[edge_sample] + centres.target[edges]
        kept_edges = kept_nodes[source] & kept_nodes[target]
        new_number = np.cumsum(kept_nodes) - 1  # of each kept node
        edge_attr = random.standard_normal((int(kept_edges.sum()), self.edge_dim), dtype=np.float32)
        if self.symmetric:
            edge_attr = edge_attr[_first_of_pair(edges, edge_sample, centres, y, kept_edges)]
        edge_attr *= np.float32(self.edge_noise_std)
        edge_attr += centres.edge_attr[edges[kept_edges]]
        x = random.standard_normal((int(kept_nodes.sum()), self.node_dim), dtype=np.float32)
        x *= np.float32(self.node_noise_std)
        x += centres.x[nodes[kept_nodes]]
        edge_index = np.stack([new_number[source[kept_edges]], new_number[target[kept_edges]]])
        return Samples(
            x=x, edge_index=edge_index, edge_attr=edge_attr, y=y,
            ptr=_offsets(node_sample[kept_nodes], y.size), edge_ptr=_offsets(edge_sample[kept_edges], y.size),
            centre_node=(nodes - centres.node_ptr[y][node_sample])[kept_nodes],
            centre_edge=(edges - centres.edge_ptr[y][edge_sample])[kept_edges],
        )  # fmt: skip


def _topology(random: np.random.Generator, size: int, rate: float, symmetric: bool) -> tuple[Array, Array, Array]:
    """Return (source, target, reverse) of one class: each ordered pair of nodes is an edge with probability `rate`."""
    linked = random.random((size, size)) < rate
    np.fill_diagonal(linked, False)
    if symmetric:
        linked = np.triu(linked) | np.triu(linked).T
    source, target = np.nonzero(linked)
    number = np.zeros((size, size), np.int64)
    number[source, target] = np.arange(source.size)
    return source, target, number[target, source] if symmetric else number[source, target]


def _expand(offsets: Array, y: Array) -> tuple[Array, Array]:
    """Return (row in the centres, sample) for all nodes or edges of samples of the classes y."""
    sizes = offsets[y + 1] - offsets[y]
    sample = np.repeat(np.arange(y.size), sizes)
    begin = np.cumsum(sizes) - sizes
    return np.arange(sample.size) - begin[sample] + offsets[y][sample], sample


def _first_of_pair(edges: Array, sample: Array, centres: _Centres, y: Array, kept: Array) -> Array:
    """Return the position among the kept edges of the first of each edge and its reverse: both get the same noise."""
    base = centres.edge_ptr[y][sample]
    begin = np.searchsorted(sample, np.arange(y.size))
    reverse = begin[sample] + centres.reverse[edges]  # position in this block
    first = np.minimum(np.arange(edges.size), reverse)
    assert np.all(edges[reverse] - base == centres.reverse[edges])
    return (np.cumsum(kept) - 1)[first[kept]]


def _offsets(sample: Array, count: int) -> Array:
    return np.concatenate([[0], np.cumsum(np.bincount(sample, minlength=count))])


def concat(parts: list[Samples]) -> Samples:
    """Return the samples of all parts, one after the other."""
    nodes = np.concatenate([[0], np.cumsum([part.ptr[-1] for part in parts])])
    edges = np.concatenate([[0], np.cumsum([part.edge_ptr[-1] for part in parts])])
    return Samples(
        x=np.concatenate([part.x for part in parts]),
        edge_index=np.concatenate(
            [part.edge_index + offset for part, offset in zip(parts, nodes[:-1], strict=True)], axis=1
        ),
        edge_attr=np.concatenate([part.edge_attr for part in parts]),
        y=np.concatenate([part.y for part in parts]),
        ptr=_concat_offsets([part.ptr for part in parts], nodes),
        edge_ptr=_concat_offsets([part.edge_ptr for part in parts], edges),
        centre_node=np.concatenate([part.centre_node for part in parts]),
        centre_edge=np.concatenate([part.centre_edge for part in parts]),
    )


def _concat_offsets(offsets: list[Array], starts: Array) -> Array:
    return np.concatenate([[0], *(part[1:] + start for part, start in zip(offsets, starts[:-1], strict=True))])


def _check(name: str, value: Any, minimum: float, maximum: float, *, integer: bool = False) -> None:
    if not (is_whole(value) if integer else is_number(value)) or not minimum <= value <= maximum:
        kind = "a whole number" if integer else "a number"
        raise OptionError(f"{name} must be {kind} in [{minimum:g}, {maximum:g}], got {value!r}")
