"""The paper's synthetic graph classification set (appendix B.2.1), vectorised, seeded and streamable.

Every class has a centre: a number of nodes, a topology, a vector for each node and edge. A sample is its class's centre
with noise on every vector, less some nodes. Since node and edge of a sample know which of the centre they came from,
one can say exactly which edges of two samples correspond, and so measure whether pruning keeps the same ones.

Samples are made in blocks with a random stream each, so any part of the set can be made by itself, on any number of
threads, and is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lsprune.checks import is_number, is_whole
from lsprune.errors import OptionError
from lsprune.graph import Array, Graph
from lsprune.kernels import threads as pool

BLOCK = 128  # samples with a random stream of their own


@dataclass(frozen=True, eq=False)
class Samples:
    """Some samples of the set, one after the other; edges count nodes from the first sample on."""

    x: Array  # [N, node_dim] float32
    edge_index: Array  # [2, E] int64
    edge_attr: Array  # [E, edge_dim] float32
    y: Array  # [S] class of each sample
    ptr: Array  # [S + 1] where the nodes of each sample begin
    edge_ptr: Array  # [S + 1] where its edges begin
    centre_node: Array  # [N] which node of the class's centre each one is
    centre_edge: Array  # [E] which edge of the class's centre each one is

    @cached_property
    def graph(self) -> Graph:
        """All samples as one `Graph` of several."""
        return Graph.from_edges(
            self.edge_index, num_nodes=int(self.ptr[-1]), x=self.x, edge_attr=self.edge_attr, ptr=self.ptr
        )

    def chosen(self, samples: Array) -> Samples:
        """The samples of these numbers, as a set of their own."""
        sizes, nodes = np.diff(self.edge_ptr)[samples], np.diff(self.ptr)[samples]
        edge_ptr, ptr = np.append(0, np.cumsum(sizes)), np.append(0, np.cumsum(nodes))
        edges = np.repeat(self.edge_ptr[samples] - edge_ptr[:-1], sizes) + np.arange(edge_ptr[-1])
        rows = np.repeat(self.ptr[samples] - ptr[:-1], nodes) + np.arange(ptr[-1])
        ends = self.edge_index[:, edges] - np.repeat(self.ptr[samples] - ptr[:-1], sizes)
        return Samples(
            x=self.x[rows], edge_index=ends, edge_attr=self.edge_attr[edges], y=self.y[samples], ptr=ptr,
            edge_ptr=edge_ptr, centre_node=self.centre_node[rows], centre_edge=self.centre_edge[edges],
        )  # fmt: skip

    def parted(self, classes: int, each: int) -> tuple[Samples, Samples]:
        """(the first `each` samples of each of the first `classes` classes, all the others)."""
        order = np.argsort(self.y, kind="stable")
        place = np.empty_like(order)  # of a sample within its class
        place[order] = np.arange(order.size) - np.searchsorted(self.y[order], self.y[order])
        wanted = (self.y < classes) & (place < each)
        return self.chosen(np.flatnonzero(wanted)), self.chosen(np.flatnonzero(~wanted))

    def to_data_list(self) -> list[Any]:
        """One PyG `Data` for each sample, views of the arrays here; node numbers begin at 0 in each."""
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
    """The centres of all classes, one after the other."""

    nodes: Array  # [C + 1] offsets
    edges: Array  # [C + 1] offsets
    source: Array  # [edges] node of its class, from 0
    target: Array
    mirror: Array  # [edges] the edge of the class that is the other direction; itself unless symmetric
    x: Array
    edge_attr: Array


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """The generator: the paper's 13 parameters with its defaults, and a seed.

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
            _check(name, getattr(self, name), 1, 2**31, whole=True)
        _check("max_nodes", self.max_nodes, self.min_nodes, 2**31, whole=True)
        for name in ("connectivity", "node_removal"):
            _check(name, getattr(self, name), 0, 1)
        for name in ("node_centre_std", "edge_centre_std", "node_noise_std", "edge_noise_std"):
            _check(name, getattr(self, name), 0, 1e6)
        _check("seed", self.seed, 0, 2**63, whole=True)

    def make(self, *, threads: int | None = None) -> Samples:
        """The whole set."""
        blocks: dict[int, Samples] = {}
        count, centres = -(-self.samples // BLOCK), self._centres()

        def one(number: int) -> None:
            blocks[number] = self._block(centres, number)

        pool.run((_bound(one, number) for number in range(count)), pool.count(threads))
        return joined([blocks[number] for number in range(count)])

    def stream(self) -> Iterator[Samples]:
        """The set block by block, for sets that do not fit in memory; the same samples as `make`."""
        centres = self._centres()
        for number in range(-(-self.samples // BLOCK)):
            yield self._block(centres, number)

    def _stream_of(self, *counters: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, *counters])))

    def _centres(self) -> _Centres:
        random = self._stream_of(0)
        sizes = random.integers(self.min_nodes, self.max_nodes + 1, self.classes)
        tops = [_topology(random, int(size), self.connectivity, self.symmetric) for size in sizes]
        source, target, mirror = (np.concatenate([top[i] for top in tops]) for i in range(3))
        nodes = np.concatenate([[0], np.cumsum(sizes)])
        edges = np.concatenate([[0], np.cumsum([top[0].size for top in tops])])
        x = random.normal(0, self.node_centre_std, (int(nodes[-1]), self.node_dim)).astype(np.float32)
        attr = random.normal(0, self.edge_centre_std, (source.size, self.edge_dim)).astype(np.float32)
        first = np.minimum(np.arange(source.size), mirror + np.repeat(edges[:-1], np.diff(edges)))
        return _Centres(nodes, edges, source, target, mirror, x, attr[first])

    def _block(self, centres: _Centres, number: int) -> Samples:
        random = self._stream_of(1, number)
        first, last = number * BLOCK, min((number + 1) * BLOCK, self.samples)
        y = np.arange(first, last) % self.classes
        nodes, node_sample = _expand(centres.nodes, y)
        alive = random.random(nodes.size) >= self.node_removal
        starts = np.cumsum(np.append(0, np.bincount(node_sample, minlength=y.size)))
        alive[starts[:-1][np.add.reduceat(alive, starts[:-1]) == 0]] = True  # never a graph without nodes
        edges, edge_sample = _expand(centres.edges, y)
        source = starts[edge_sample] + centres.source[edges]
        target = starts[edge_sample] + centres.target[edges]
        kept = alive[source] & alive[target]
        place = np.cumsum(alive) - 1  # the new number of each node that is left
        noise = random.standard_normal((int(kept.sum()), self.edge_dim), dtype=np.float32)
        if self.symmetric:
            noise = noise[_first_of_pair(edges, edge_sample, centres, y, kept)]
        noise *= np.float32(self.edge_noise_std)
        noise += centres.edge_attr[edges[kept]]
        x = random.standard_normal((int(alive.sum()), self.node_dim), dtype=np.float32)
        x *= np.float32(self.node_noise_std)
        x += centres.x[nodes[alive]]
        return Samples(
            x=x, edge_index=np.stack([place[source[kept]], place[target[kept]]]), edge_attr=noise, y=y,
            ptr=_offsets(node_sample[alive], y.size), edge_ptr=_offsets(edge_sample[kept], y.size),
            centre_node=(nodes - centres.nodes[y][node_sample])[alive],
            centre_edge=(edges - centres.edges[y][edge_sample])[kept],
        )  # fmt: skip


def _topology(random: np.random.Generator, size: int, rate: float, symmetric: bool) -> tuple[Array, Array, Array]:
    """(source, target, mirror) of one class: every ordered pair of different nodes an edge with probability `rate`."""
    linked = random.random((size, size)) < rate
    np.fill_diagonal(linked, False)
    if symmetric:
        linked = np.triu(linked) | np.triu(linked).T
    source, target = np.nonzero(linked)
    number = np.zeros((size, size), np.int64)
    number[source, target] = np.arange(source.size)
    return source, target, number[target, source] if symmetric else number[source, target]


def _expand(offsets: Array, y: Array) -> tuple[Array, Array]:
    """(item of the centres, sample) for all items of the classes y, sample by sample."""
    sizes = offsets[y + 1] - offsets[y]
    sample = np.repeat(np.arange(y.size), sizes)
    begin = np.cumsum(sizes) - sizes
    return np.arange(sample.size) - begin[sample] + offsets[y][sample], sample


def _first_of_pair(edges: Array, sample: Array, centres: _Centres, y: Array, kept: Array) -> Array:
    """For each kept edge the position (among the kept) of the first of it and its mirror: both get the same noise."""
    base = centres.edges[y][sample]
    begin = np.searchsorted(sample, np.arange(y.size))
    mirror = begin[sample] + centres.mirror[edges]  # position in this block
    first = np.minimum(np.arange(edges.size), mirror)
    assert np.all(edges[mirror] - base == centres.mirror[edges])
    return (np.cumsum(kept) - 1)[first[kept]]


def _offsets(sample: Array, count: int) -> Array:
    return np.concatenate([[0], np.cumsum(np.bincount(sample, minlength=count))])


def joined(parts: list[Samples]) -> Samples:
    """Several sets of samples as one."""
    nodes = np.concatenate([[0], np.cumsum([part.ptr[-1] for part in parts])])
    edges = np.concatenate([[0], np.cumsum([part.edge_ptr[-1] for part in parts])])
    return Samples(
        x=np.concatenate([part.x for part in parts]),
        edge_index=np.concatenate(
            [part.edge_index + offset for part, offset in zip(parts, nodes[:-1], strict=True)], axis=1
        ),
        edge_attr=np.concatenate([part.edge_attr for part in parts]),
        y=np.concatenate([part.y for part in parts]),
        ptr=_chained([part.ptr for part in parts], nodes),
        edge_ptr=_chained([part.edge_ptr for part in parts], edges),
        centre_node=np.concatenate([part.centre_node for part in parts]),
        centre_edge=np.concatenate([part.centre_edge for part in parts]),
    )


def _chained(offsets: list[Array], starts: Array) -> Array:
    return np.concatenate([[0], *(one[1:] + start for one, start in zip(offsets, starts[:-1], strict=True))])


def _bound(function: Any, argument: int) -> pool.Job:
    return lambda: function(argument)


def _check(name: str, value: Any, least: float, most: float, *, whole: bool = False) -> None:
    right = is_whole(value) if whole else is_number(value)
    if not right or not least <= value <= most:
        word = "a whole number" if whole else "a number"
        raise OptionError(f"{name} must be {word} in [{least:g}, {most:g}], got {value!r}")
