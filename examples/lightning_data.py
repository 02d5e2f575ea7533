"""Train with Lightning on a pruned graph: prune once, then hand the graph to PyG's LightningNodeData.

With `loader="full"` each epoch is one step on the whole pruned graph. `loader="neighbor"` with `num_neighbors=[-1, -1]`
reads all neighbours that pruning has left, batch by batch (it needs pyg-lib or torch-sparse).
Needs Lightning: `pip install lightning`. Run it: `python examples/lightning_data.py`.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec

import torch
from torch.nn import functional
from torch_geometric.data import Data
from torch_geometric.data.lightning import LightningNodeData
from torch_geometric.nn import GraphSAGE

from lsprune import LSP
from lsprune.pyg import Prune

CLASSES, WIDTH = 4, 16


def communities(nodes: int = 400) -> Data:
    """Return an undirected graph in which most edges are within a class, and features that hint at the class."""
    random = torch.Generator().manual_seed(0)
    y = torch.randint(CLASSES, (nodes,), generator=random)
    ends = torch.randint(nodes, (2, 40 * nodes), generator=random)
    near = (y[ends[0]] == y[ends[1]]) | (torch.rand(ends.shape[1], generator=random) < 0.1)
    x = functional.one_hot(y, WIDTH) + 1.5 * torch.randn(nodes, WIDTH, generator=random)
    part = torch.rand(nodes, generator=random)
    masks = {"train_mask": part < 0.3, "val_mask": (part >= 0.3) & (part < 0.5), "test_mask": part >= 0.5}
    pairs = ends[:, near]
    return Data(x=x, y=y, edge_index=torch.cat([pairs, pairs.flip(0)], 1), **masks).coalesce()


def pruned_data(data: Data, keep: float) -> LightningNodeData:
    """Return a data module of the pruned graph; its masks say which nodes are for training, validation and test."""
    small = Prune(LSP(keep=keep, symmetric="union"))(data)
    return LightningNodeData(
        small, small.train_mask, input_val_nodes=small.val_mask, input_test_nodes=small.test_mask, loader="full"
    )


def model():
    """Return a Lightning module with a small GraphSAGE; made here, so that Lightning is imported only when needed."""
    import lightning

    class Net(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layers = GraphSAGE(WIDTH, 32, num_layers=2, out_channels=CLASSES)

        def part(self, data: Data, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return self.layers(data.x, data.edge_index)[mask], data.y[mask]

        def training_step(self, data: Data, _: int) -> torch.Tensor:
            return functional.cross_entropy(*self.part(data, data.train_mask))

        def test_step(self, data: Data, _: int) -> None:
            out, y = self.part(data, data.test_mask)
            self.log("accuracy", (out.argmax(1) == y).float().mean(), batch_size=len(y))

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.Adam(self.parameters(), lr=0.01)

    return Net()


def main(arguments: list[str] | None = None) -> None:
    """Train on the whole graph and on a quarter of it; print both accuracies."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    if find_spec("lightning") is None:
        sys.exit("this example needs Lightning: pip install lightning")
    import lightning

    data = communities()
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    for keep in (1.0, 0.25):
        lightning.seed_everything(0, verbose=False)
        module, source = model(), pruned_data(data, keep)
        trainer = lightning.Trainer(max_epochs=30, enable_checkpointing=False, **quiet)
        trainer.fit(module, datamodule=source)
        (found,) = trainer.test(module, datamodule=source, verbose=False)
        print(f"keep={keep}: {source.data.num_edges:,} edges, test accuracy {found['accuracy']:.3f}")


if __name__ == "__main__":
    main()
