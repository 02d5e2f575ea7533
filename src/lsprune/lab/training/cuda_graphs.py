"""GPU work that is captured once as a CUDA graph and replayed.

With batches of small graphs, launching kernels takes longer than running them. A replay launches all of them at once;
it needs tensors whose shapes and addresses stay the same.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from lsprune.lab.training.padding import PaddedSize

_WARM_UP_CALLS = 3  # before the capture: libraries choose their kernels in the first calls


class CapturedFunction:
    """A function on the GPU that the first call captures and every call replays.

    Args:
        function: returns a tensor; reads and writes tensors that keep their addresses.
        model, optimiser: what the function changes, if it is a training step. They are restored after the capture, so
            that the first call takes one step.
    """

    def __init__(
        self,
        function: Callable[[], Tensor],
        model: torch.nn.Module | None = None,
        optimiser: torch.optim.Optimizer | None = None,
    ) -> None:
        self.function: Callable[[], Tensor] | None = function
        self.model, self.optimiser = model, optimiser
        self.graph = torch.cuda.CUDAGraph()
        self.output = torch.zeros(())

    def __call__(self) -> Tensor:
        """Run the function; return the same tensor every time, with new values."""
        if self.function is not None:
            self._capture(self.function)
            self.function = None  # breaks the reference cycle, so that the task and the captured graph can be freed
        self.graph.replay()
        return self.output

    def _capture(self, function: Callable[[], Tensor]) -> None:
        model_state = None if self.model is None else copy.deepcopy(self.model.state_dict())
        states = {} if self.optimiser is None else self.optimiser.state
        saved = {key: {name: value.clone() for name, value in state.items()} for key, state in states.items()}
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP_CALLS):
                function()
        torch.cuda.current_stream().wait_stream(stream)
        with torch.cuda.graph(self.graph):
            self.output = function()
        if self.model is not None and model_state is not None:
            self.model.load_state_dict(model_state)
        for key, state in states.items():
            for name, value in state.items():
                value.copy_(saved[key][name]) if key in saved else value.zero_()


class CapturedStep:
    """The training step of a model: copies a padded batch into fixed tensors, replays, returns the loss."""

    def __init__(
        self,
        model: torch.nn.Module,
        loss: Callable[[Tensor, Any], Tensor],
        optimiser: torch.optim.Optimizer,
        size: PaddedSize,
    ) -> None:
        self.model, self.loss, self.optimiser, self.size = model, loss, optimiser, size
        self.batch: Data | None = None
        self.captured = CapturedFunction(self._step, model, optimiser)

    def __call__(self, batch: Data) -> Tensor:
        """Take a step on the batch; return the loss before it."""
        padded = self.size.pad(batch)
        if self.batch is None:
            self.batch = padded.clone()
        for key, value in padded.to_dict().items():
            if torch.is_tensor(value):
                self.batch[key].copy_(value)
        return self.captured()

    def _step(self) -> Tensor:
        assert self.batch is not None
        self.optimiser.zero_grad()  # sets gradients to None, so that the graph writes them instead of adding
        loss = self.loss(self.model(self.batch)[: self.size.graphs], self.batch)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        return loss.detach()
