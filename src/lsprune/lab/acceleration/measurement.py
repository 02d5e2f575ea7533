"""One measurement: all options that decide it, and the order in which measurements are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lsprune.checks import did_you_mean
from lsprune.errors import OptionError
from lsprune.lab.studies.methods import UNPRUNED
from lsprune.lab.studies.run import content_key

SHARES = (1.0, 0.5, 0.2, 0.1, 0.05)
METHOD = "lsp-projection"  # times depend on the number of edges and on degrees, hardly on which edges are kept
DATASETS = ("computers", "github", "synthetic", "large")
LARGE, MAIN_MODEL = "large", "gat"
MODELS = {  # the model of `lab.models` for a single graph, and for many graphs
    "gat": ("node-gat", "synthetic-gat"),
    "gcn": ("node-gcn", "graph-gcn"),
    "sage": ("node-sage", "graph-sage"),
    "pna": ("node-pna", "graph-pna"),
}
GAT_OF = {
    "github": "github-gat",
    "large": "github-gat",
}  # 8 heads of 16 make 32 GB of every row per edge of the large one
ORDINARY = "ordinary"
BACKENDS = {
    ORDINARY: "PyG layers on a COO edge_index, self-loops and normalisation in every step",
    "sorted": "sorted EdgeIndex, self-loops and normalisation computed once",
    "captured": "as sorted (graph sets: padded batches), the step recorded once and replayed as a CUDA graph",
    "fused": "attention in Triton kernels that store no row per edge, the step replayed as a CUDA graph",
    "compiled": "torch.compile on edges sorted by target; on a GPU replayed as a CUDA graph",
}
SIZES = ("full", "tiny")


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What is timed where.

    Args:
        dataset: one of `DATASETS`, or a generated set.
        model: one of `MODELS`.
        backend: one of `BACKENDS`; all but the ordinary one compete for the fastest path.
        share: of the edges to keep; 1 is the unpruned graph.
        device: cpu or cuda.
        size: full, or tiny: generated graphs that are too small to say anything.
    """

    dataset: str
    model: str
    backend: str
    share: float
    device: str = "cpu"
    size: str = "full"

    def __post_init__(self) -> None:
        for option, known in (("model", MODELS), ("backend", BACKENDS), ("size", SIZES), ("device", ("cpu", "cuda"))):
            value = getattr(self, option)
            if value not in known:
                hint = did_you_mean(value, known)
                raise OptionError(f"{option} must be one of {', '.join(known)}, got {value!r}{hint}")
        if not 0 < self.share <= 1:
            raise OptionError(f"share must be in (0, 1], got {self.share!r}")

    @property
    def key(self) -> str:
        """The content hash."""
        return content_key({"task": "acceleration", **asdict(self)})

    @property
    def many_graphs(self) -> bool:
        """Whether the dataset has many graphs, which are trained in batches."""
        return self.dataset.startswith("synthetic")

    @property
    def model_name(self) -> str:
        """The name of the model in `lab.models`.

        >>> Measurement(dataset="github", model="gat", backend="ordinary", share=0.2).model_name
        'github-gat'
        """
        if self.model == MAIN_MODEL and self.dataset in GAT_OF:
            return GAT_OF[self.dataset]
        return MODELS[self.model][self.many_graphs]

    def to_dict(self) -> dict[str, Any]:
        """Return what a record says of the measurement, with the fields that every record of a run has."""
        unpruned = self.share == 1
        return {
            **asdict(self), "study": "acceleration", "path": ORDINARY if self.backend == ORDINARY else "fastest",
            "method": UNPRUNED if unpruned else METHOD, "pruner": None if unpruned else {"pruner": "lsp"},
            "keep": None if unpruned else self.share, "seed": 0,
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.dataset}, {self.model}, {self.backend}, share {self.share:g}, {self.device}"


def backends_for(model: str, device: str, many_graphs: bool) -> list[str]:
    """Return the backends that exist there: replays and the Triton kernel need a GPU, sorting one graph.

    >>> backends_for("gcn", "cpu", False)
    ['ordinary', 'sorted', 'compiled']
    """
    left_out = {"sorted"} if many_graphs else set()
    left_out |= {"captured"} if device == "cpu" else set()
    left_out |= {"fused"} if device == "cpu" or model != MAIN_MODEL else set()
    return [name for name in BACKENDS if name not in left_out]


def plan(
    *,
    device: str = "cpu",
    size: str = "full",
    datasets: Sequence[str] = DATASETS,
    models: Sequence[str] = tuple(MODELS),
    backends: Sequence[str] = tuple(BACKENDS),
    shares: Sequence[float] = SHARES,
) -> Iterator[Measurement]:
    """Yield the measurements in order: GAT on all datasets, the others on the large graph, then on the rest.

    The unpruned graph comes first everywhere: all other shares are relative to it.
    """
    pairs = [(dataset, model) for model in models for dataset in datasets]
    pairs.sort(key=lambda pair: (pair[1] != MAIN_MODEL, pair[0] != LARGE if pair[1] != MAIN_MODEL else False))
    for dataset, model in pairs:
        for backend in backends_for(model, device, dataset.startswith("synthetic")):
            for share in sorted(shares, reverse=True) if backend in backends else ():
                yield Measurement(dataset=dataset, model=model, backend=backend, share=share, device=device, size=size)
