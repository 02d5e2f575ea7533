"""The base class of all tasks: a model with its optimiser and its graphs on a device."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType

import torch
from torch import Tensor

from lsprune.lab.studies.run import Run
from lsprune.lab.training.environment import Seconds
from lsprune.lab.training.prepare import RunGraphs


class Task(ABC):
    """A model with its optimiser and its graphs on a device.

    On a GPU, `use_cuda_graphs` says whether training and evaluation are captured as CUDA graphs.
    """

    precision = "highest"  # of float32 matrix products; on a GPU "high" is TF32

    metric: str
    higher_is_better: bool
    details: Mapping[str, float] = MappingProxyType(
        {}
    )  # other test numbers of the last evaluation, which records show too

    def __init__(self, run: Run, graphs: RunGraphs, device: torch.device, model: torch.nn.Module) -> None:
        self.run, self.graphs, self.device, self.model = run, graphs, device, model.to(device)
        torch.set_float32_matmul_precision(self.precision)
        self.use_cuda_graphs = device.type == "cuda" and self.can_capture(run, model)
        learning_rate = torch.tensor(run.lr, device=device) if self.use_cuda_graphs else run.lr
        self.optimiser = torch.optim.Adam(
            self.model.parameters(),
            lr=learning_rate,
            weight_decay=run.weight_decay,
            capturable=self.use_cuda_graphs,
            fused=device.type == "cuda",
        )

    def set_learning_rate(self, progress: float) -> None:
        """Set the learning rate of the schedule at this share of the epochs, in [0, 1)."""
        constant = self.run.schedule == "constant"
        rate = self.run.lr if constant else self.run.lr * (1 + math.cos(math.pi * progress)) / 2
        for group in self.optimiser.param_groups:
            if torch.is_tensor(group["lr"]):
                group["lr"].fill_(rate)  # a captured step reads this tensor
            else:
                group["lr"] = rate

    @staticmethod
    def can_capture(run: Run, model: torch.nn.Module) -> bool:
        """Return whether a step can be captured as a CUDA graph: no tensor size depends on the values of another."""
        return bool(getattr(model, "static_shapes", False))

    @abstractmethod
    def train_epoch(self) -> float:
        """Train one epoch; return the mean loss."""

    @abstractmethod
    def evaluate(self) -> tuple[float, float, Seconds]:
        """Return (validation metric, test metric, seconds that testing took)."""

    def step(self, loss: Tensor) -> None:
        """Take one optimiser step on this loss."""
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
