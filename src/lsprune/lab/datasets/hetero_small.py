"""A small generated graph of papers, authors and terms, made so that a shared budget wins at small shares."""

from __future__ import annotations

import numpy as np
import torch
from torch_geometric.data import HeteroData

from lsprune.lab.datasets import Dataset, hetero_dataset
from lsprune.lab.datasets.splits import KNOWN

HETERO_SMALL = "hetero-small"
CLASSES, AUTHORS, TERMS = 3, 60, 40
AUTHORS_PER_PAPER, TERMS_PER_PAPER = 2, 15


def hetero_small(papers: int = 300, *, seed: int = 0) -> Dataset:
    """Return papers of three classes: an author writes of one class, and terms are drawn at random.

    So the few edges of authors tell the class, and the many edges of terms nothing. Half of the labels are known.

    >>> hetero_small(10).train.num_edges
    340
    """
    rng, data = np.random.default_rng(seed), HeteroData()
    y = rng.integers(0, CLASSES, papers)
    author = CLASSES * rng.integers(0, AUTHORS // CLASSES, AUTHORS_PER_PAPER * papers) + np.repeat(y, AUTHORS_PER_PAPER)
    term = rng.integers(0, TERMS, TERMS_PER_PAPER * papers)
    data["paper"].x = torch.from_numpy((np.eye(CLASSES)[y] + rng.normal(0, 1, (papers, CLASSES))).astype(np.float32))
    data["author"].x, data["term"].x = torch.eye(AUTHORS), torch.eye(TERMS)
    data["paper"].y = torch.from_numpy(y)
    data["paper"][KNOWN] = torch.arange(papers) % 2 == 0
    for kind, name, source, degree in (
        ("author", "writes", author, AUTHORS_PER_PAPER),
        ("term", "describes", term, TERMS_PER_PAPER),
    ):
        edges = torch.from_numpy(np.stack([source, np.repeat(np.arange(papers), degree)]))
        data[kind, name, "paper"].edge_index, data["paper", f"rev_{name}", kind].edge_index = edges, edges.flip(0)
    return hetero_dataset(HETERO_SMALL, data, 0)
