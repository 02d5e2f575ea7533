"""Steps that are recorded once and replayed (CUDA graphs).

With batches of small graphs, telling a GPU what to do takes longer than doing it. A recording needs tensors of one
size: a batch is filled up with nodes that belong to one graph more, which no loss looks at.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch_geometric.data import Data

from lsprune.lab.training.graph_store import Stack

_WARM_UP = 3  # steps before recording: libraries choose their kernels then
_SPREAD = 6  # standard deviations of a batch's size that there is room for


@dataclass(frozen=True)
class Room:
    """The size that batches are filled up to; one node at least is not real."""

    nodes: int
    edges: int
    graphs: int

    @classmethod
    def of(cls, stack: Stack, graphs: int) -> Room:
        """Room for nearly every batch of `graphs` graphs drawn at random."""
        sizes = (stack.node_starts.diff().double(), stack.starts["edge_index"].diff().double())
        most = [
            min(
                float(size.mean() * graphs + _SPREAD * size.std(correction=0) * graphs**0.5),
                float(size.sort(descending=True).values[:graphs].sum()),
            )
            for size in sizes
        ]
        return cls(int(most[0]) + 2, int(most[1]) + 1, graphs)

    @classmethod
    def around(cls, batch: Data) -> Room:
        """Room for this batch and one node that is not real."""
        return cls(int(batch.num_nodes or 0) + 1, int(batch.edge_index.shape[1]), int(batch.num_graphs))

    def holds(self, batch: Data) -> bool:
        """Whether the batch has as many graphs, and fits."""
        fits = batch.num_nodes < self.nodes and batch.edge_index.shape[1] <= self.edges
        return bool(batch.num_graphs == self.graphs and fits)

    def filled(self, batch: Data) -> Data:
        """The batch with room filled up, and with `real`, which is false for the nodes that fill it."""
        nodes, edges = batch.num_nodes, batch.edge_index.shape[1]
        fill = {"edge_index": self.nodes - 1, "batch": self.graphs}
        out: dict[str, Tensor] = {}
        for key, value in batch.to_dict().items():
            if not torch.is_tensor(value) or key == "ptr":
                continue
            if key == "edge_index":
                out[key] = pad(value, (0, self.edges - edges), value=fill[key])
                continue
            more = self.edges - edges if key.startswith("edge_") else self.nodes - nodes if key != "y" else 0
            sides = (0, 0) * (value.dim() - 1) + (0, more)
            out[key] = pad(value, sides, value=fill.get(key, 0))
        real = torch.arange(self.nodes, device=batch.edge_index.device) < nodes
        return Data(**out, real=real, num_nodes=self.nodes, num_graphs=self.graphs + 1)


class Replayed:
    """Work on the device that is recorded when it is called first and replayed from then on; a step also learns then.

    Args:
        work: makes a tensor of tensors that stay where they are.
        model, optimiser: what the work changes; they are put back to where they were after recording.
    """

    def __init__(
        self,
        work: Callable[[], Tensor],
        model: torch.nn.Module | None = None,
        optimiser: torch.optim.Optimizer | None = None,
    ) -> None:
        self.work: Callable[[], Tensor] | None = work
        self.model, self.optimiser = model, optimiser
        self.graph = torch.cuda.CUDAGraph()
        self.value = torch.zeros(())

    def __call__(self) -> Tensor:
        """Do the work; the same tensor each time, with new values."""
        if self.work is not None:
            self._record(self.work)
            self.work = None  # so that whose work it is can go, and the recording with it
        self.graph.replay()
        return self.value

    def _record(self, work: Callable[[], Tensor]) -> None:
        before = None if self.model is None else copy.deepcopy(self.model.state_dict())
        states = {} if self.optimiser is None else self.optimiser.state
        had = {key: {name: value.clone() for name, value in state.items()} for key, state in states.items()}
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP):
                work()
        torch.cuda.current_stream().wait_stream(stream)
        with torch.cuda.graph(self.graph):
            self.value = work()
        if self.model is not None and before is not None:
            self.model.load_state_dict(before)
        for key, state in states.items():
            for name, value in state.items():
                value.copy_(had[key][name]) if key in had else value.zero_()


class Recorded:
    """The step of one model and optimiser: fill the same tensors with a batch, replay, read the loss."""

    def __init__(
        self,
        model: torch.nn.Module,
        loss: Callable[[Tensor, Any], Tensor],
        optimiser: torch.optim.Optimizer,
        room: Room,
    ) -> None:
        self.model, self.loss, self.optimiser, self.room = model, loss, optimiser, room
        self.batch: Data | None = None
        self.replayed = Replayed(self._step, model, optimiser)

    def __call__(self, batch: Data) -> Tensor:
        """Take a step; the loss before it."""
        filled = self.room.filled(batch)
        if self.batch is None:
            self.batch = filled.clone()
        for key, value in filled.to_dict().items():
            if torch.is_tensor(value):
                self.batch[key].copy_(value)
        return self.replayed()

    def _step(self) -> Tensor:
        assert self.batch is not None
        self.optimiser.zero_grad()  # so that gradients are written, not added to what was there
        loss = self.loss(self.model(self.batch)[: self.room.graphs], self.batch)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        return loss.detach()
