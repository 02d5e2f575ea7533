"""Write docs/architecture.md: `python docs/make_architecture.py`; `--check` only says whether it is current.

The walks are written here. The line for each module is the first sentence of its docstring.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

PAGE = Path(__file__).with_name("architecture.md")
SRC = Path(__file__).resolve().parents[1] / "src" / "lsprune"

INTRO = """\
# Architecture

Made by `docs/make_architecture.py`: edit the walks there, and the line of a module in its docstring.

**A pruner is a function from a graph to a boolean mask over its edges.** Everything else is what comes before that mask
(reading a graph, describing its edges, hashing them), what computes it (one definition, several executors), and what is
done with it (a smaller graph, a study, a report).

    object or file ─ adapters, files → Graph ─ attributes → parts ─ numeric → integers ─ hashing (+ weights) → keys
        ─ selection → mask ─ adapters, files → the same kind of object

    datasets → Graph → pruner → model, training → results/*.jsonl → reporting

Three phases, always in this order: **fit** (the only place where floats of the data decide), **keys**, **select**.
A module imports only what stands before it in this page; `tests/test_architecture.py` holds the order, and which folder
may import which heavy library. `numeric` has two halves: random numbers stand before the kernels, quantisation and
weighted sampling run on them. `import lsprune` imports none of torch, numba, pyarrow and scipy.

What a pruner needs is declared by the pruner (`lsprune.needs.Needs`): streaming, Spark and the memory ceiling ask it
and know no pruner, hash family or weight by name. A class of your own, registered with `lsprune.register`, works
wherever ours do; `tests/user_plugin` proves it.

## Where to find

| question | answer |
|---|---|
| where are ties broken? | `lsprune.kernels.reference.ties.tie_order`; the fast form in `lsprune.kernels.cpu.choose` |
| where does `keep` become a quota? | `lsprune.selection.budget.quotas` |
| where is a Parquet footer checked? | `lsprune.files.parquet_footer.read_footer` |
| where are the GPU kernels? | `lsprune.kernels.gpu`; selection is `lsprune.kernels.gpu.choose_triton` |
| where is it decided what runs on a GPU? | `lsprune.pruners.placement.where_it_is`, from `pruner.needs.gpu` |
| where does the report's recommendation come from? | `lsprune.lab.reporting.recommendation.recommend` |
| where do attributes become integers? | `lsprune.numeric.quantisation.fit_scales` |
| where is a file written whole or not at all? | `lsprune.files.atomic_write.atomic_write` |
| where are the paper's own settings? | `lsprune.pruners.presets` |
| where is `hash="auto"` decided? | `lsprune.pruners.calibration.calibrated` |

## The walk of `prune`

1. `lsprune.api.prune` finds the adapter (`lsprune.adapters.find`), which reads the object into a `lsprune.graph.Graph`
   without copying.
2. `lsprune.pruners.relations.relation_masks` asks the pruner for the mask of each relation.
3. `lsprune.pruners.contract.PerOwner.mask_graph` shows the three phases. `lsprune.selection.owners.group` groups the
   edges by owner, `lsprune.selection.budget.quotas` says how many each owner keeps.
4. Fit: `lsprune.pruners.lsp.LSP.fit_graph` describes the edges (`lsprune.attributes.describe`), learns scales
   (`lsprune.numeric.quantisation.fit_scales`) and returns a `lsprune.pruners.fitted.FittedLSP`.
5. Keys: `FittedLSP.key_source` asks the hash family (`lsprune.hashing.base.Family.keys`) and adds the weights
   (`lsprune.weights.base.Weight.key_offsets`).
6. Select: `lsprune.selection.choose.choose` runs the kernels block by block (or
   `lsprune.selection.pairs.symmetric_mask` for pairs), `lsprune.selection.mask.owners_outcome` makes the mask.
7. The adapter rebuilds an object of the same kind.

## The walk of `prune` on a GPU

1. `lsprune.pruners.placement.where_it_is` decides: a graph on a GPU is pruned there if the pruner's needs allow it. The
   adapter gives a `lsprune.device.graph.DeviceGraph`, whose arrays are tensors. The graphs of a list are joined before
   and cut apart afterwards (`lsprune.adapters.pyg.listed_stores`).
2. `lsprune.device.pruning.mask_graph` takes the same steps with tensors: `lsprune.device.owners.group`,
   `lsprune.device.budget.quotas`, keys, `lsprune.device.choose.choose` (or `lsprune.device.pairs.symmetric_choice`),
   `lsprune.device.mask.to_mask`. Pruners that choose over the whole graph have `lsprune.device.global_choice`.
3. Hash families and weights are written once. The helpers that they call (`lsprune.hashing.keys`) hand tensors over to
   `lsprune.hashing.device_keys` and `lsprune.weights.device_logs`; the keys of baselines are in
   `lsprune.device.edge_keys`. Codebooks are learned and searched by `lsprune.hashing.device_codebook`;
   `lsprune.device.calibration` samples the edges that "auto" is chosen on.
4. The work is done in `lsprune.kernels.gpu`: a module in torch, and a module with the same name and `_triton` where
   torch is slow. `lsprune.kernels.gpu.choose_triton` selects.

## The walk of `lsprune prune --stream`

1. `lsprune.cli.prune.prune_command` builds the pruner (`lsprune.cli.pruner_options.PrunerOptions.make`) and calls
   `lsprune.outofcore.stream.prune_stream`.
2. `lsprune.files.open_edges` opens the input; footers, headers and manifests are checked first.
3. `lsprune.outofcore.stream_job.StreamJob` runs the stages. If the pruner's needs have rules for times
   (`lsprune.time_rules.TimeRule`), `lsprune.outofcore.allowed_edges.TimeStage` reads the times, and all that follows
   sees the allowed edges alone (`AllowedEdges`) and runs the pruner within. Edges that are sorted by owner go through
   `lsprune.outofcore.one_pass.OnePass`, if the pruner's needs allow it.
4. Otherwise (`lsprune.outofcore.stream_stages`) the edges are counted and grouped by owner into files
   (`lsprune.outofcore.grouping.group_on_disk`), and the pruner runs as in memory on arrays that live in files
   (`lsprune.kernels.file_arrays`), below `lsprune.outofcore.memory_ceiling.Ceiling`.
5. `lsprune.outofcore.output.Output` writes the kept rows in the caller's order, with a manifest
   (`lsprune.files.manifest.Manifest`); the work folder (`lsprune.outofcore.work_folder`) holds what is needed to
   resume.

## The walk on Spark

1. `lsprune.spark.prune_spark` checks the workers; `lsprune.spark.preparation.prepare` checks the tables
   (`lsprune.spark.tables.GraphTables`), and fits the pruner on them if it is not fitted (`lsprune.spark.fitting.fit`):
   the same sums as in memory, added up over partitions. Edges outside the time of a pruner's rules are left out before
   (`lsprune.spark.time_filter.within_time`).
2. `lsprune.spark.plan.Plan` follows the pruner's needs: what the edges are joined with (keys of the neighbour, or
   attributes), and how many edges each owner keeps (`lsprune.spark.budget.find_budget`).
3. Weights that compare neighbourhoods say how they are computed where no task sees the whole graph
   (`lsprune.weights.comparison`): from rows that nodes make in rounds of sums (`lsprune.spark.row_comparison`), or from
   sets of neighbours (`lsprune.spark.set_comparison`). `lsprune.spark.carried_weights.carry` adds their logarithms to
   the edges as columns, which the pruner reads from then on (`lsprune.weights.carried.Carried`).
4. Tasks select from batches sorted by owner with `lsprune.outofcore.partial_selection.Selector`, the same kernels as in
   memory; hubs are shared out over several tasks and merged exactly.

## The walk of a study

1. `lsprune.lab.studies.study_files.read` reads a TOML file into a `lsprune.lab.studies.study.Study`: datasets, models,
   budgets and methods (`lsprune.lab.studies.methods.Method`, a pruner as a table).
2. `lsprune.lab.studies.run_study.run_study` does the runs (`lsprune.lab.studies.run.Run`) that are missing.
3. `lsprune.lab.training.train.train` prunes, trains and tests one model; the record is a line of `results/NAME.jsonl`
   (`lsprune.lab.studies.result_files.Results`).
4. `lsprune.lab.reporting.records` validates lines, `lsprune.lab.reporting.comparison` compares methods with intervals,
   and `lsprune.lab.reporting.markdown`, `lsprune.lab.reporting.html` and `lsprune.lab.reporting.figures` show them.

Times are measured apart from studies: `lsprune.lab.acceleration.run_measurements.run_measurements` times a model
(`lsprune.lab.acceleration.workloads`) on a pruned graph as one backend runs it (`lsprune.lab.acceleration.backends`),
`lsprune.lab.acceleration.serving.run_servings` trains on the whole graph and answers from pruned ones, and
`lsprune.lab.reporting.markdown.acceleration_page` shows both.

## Modules

"""

ORDER = [
    "errors", "checks", "keyword_options", "times", "registry", "specs", "ownership", "graph_arrays", "graph",
    "numeric", "kernels", "common_neighbours", "adapters", "files", "attributes", "time_rules", "needs", "hashing",
    "weights", "selection", "device", "pruners", "baselines", "measure", "plugins", "api", "chooser", "pyg",
    "anndata", "outofcore", "spark", "lab", "cli",
]  # fmt: skip


def first_sentence(path: Path) -> str:
    """Return the first sentence of a module's docstring, in one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf8"))) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    sentence = re.split(r"(?<!al)\. (?=[A-Z`])", paragraph)[0]
    return f"{sentence.rstrip('.')}.".replace("|", r"\|")


def modules() -> list[Path]:
    """Return all modules in the order of imports; a package comes before what is in it."""
    paths = [path for path in SRC.rglob("*.py") if path.name not in ("_version.py", "__main__.py")]

    def place(path: Path) -> tuple[int, tuple[str, ...]]:
        parts = path.relative_to(SRC).with_suffix("").parts
        names = parts[:-1] if parts[-1] == "__init__" else parts
        return (ORDER.index(names[0]) if names else -1, names)

    return sorted(paths, key=place)


def dotted(path: Path) -> str:
    """Return the import path of a module."""
    parts = path.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def page() -> str:
    """Return the whole page."""
    rows = [f"| `{dotted(path)}` | {first_sentence(path)} |" for path in modules()]
    return INTRO + "| module | what it does |\n|---|---|\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        current = PAGE.exists() and PAGE.read_text(encoding="utf8") == page()
        sys.exit(0 if current else "docs/architecture.md is old: python docs/make_architecture.py")
    PAGE.write_text(page(), encoding="utf8")
