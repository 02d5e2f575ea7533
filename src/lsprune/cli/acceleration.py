"""`lsprune acceleration`: time training and inference against the share of edges kept; serve from a pruned graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from lsprune.cli.console import Command, Group, Json, errors, show, tell, trials_bar
from lsprune.cli.edge_file_options import names
from lsprune.cli.option_groups import with_groups
from lsprune.cli.study import Device, Out, TimeLimit, parse_seconds, status_text
from lsprune.errors import OptionError

CPU_DATASETS = ("computers", "github")  # the others take hours
acceleration_app = typer.Typer(
    cls=Group,
    help="""Measure how much faster training and inference are on pruned graphs, on an otherwise idle machine.

    Rerun the same command after an interruption.

    Example: lsprune acceleration measure --device cuda --budget 9m
    """,
)
Data = Annotated[str | None, typer.Option(help="Folder of local datasets (default: LSPRUNE_DATA).")]


@dataclass(frozen=True)
class Part:
    """What to measure; everything by default."""

    datasets: Annotated[
        str,
        typer.Option(
            metavar="LIST", help="Only these datasets, comma-separated (default on a CPU: computers, github)."
        ),
    ] = ""
    models: Annotated[str, typer.Option(metavar="LIST", help="Only these models: gat, gcn, sage, pna.")] = ""
    size: Annotated[str, typer.Option(help="full, or tiny (small generated graphs, for a quick check).")] = "full"

    def options(self, device: str) -> dict[str, Any]:
        """Return the options of a plan that were asked for."""
        datasets = names(self.datasets) or (CPU_DATASETS if device == "cpu" else ())
        asked = {"datasets": datasets, "models": names(self.models)}
        return {"device": device, "size": self.size, **{name: value for name, value in asked.items() if value}}


@acceleration_app.command("measure", cls=Command)
@with_groups
def measure_command(
    part: Part,
    backends: Annotated[
        str, typer.Option(metavar="LIST", help="Only these backends: ordinary, sorted, captured, fused, compiled.")
    ] = "",
    shares: Annotated[str, typer.Option(metavar="LIST", help="Only these shares, comma-separated.")] = "",
    retry: Annotated[bool, typer.Option("--retry", help="Repeat measurements that failed.")] = False,
    budget: TimeLimit = None,
    out: Out = Path("results"),
    data: Data = None,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Time epochs and inference at each share of the edges; append the times to acceleration.jsonl.

    Example: lsprune acceleration measure --device cuda --budget 9m --data data
    """
    with errors():
        from lsprune.lab.acceleration.measurement import plan
        from lsprune.lab.acceleration.run_measurements import run_measurements
        from lsprune.lab.studies.result_files import Results

        options: dict[str, Any] = part.options(device)
        options |= {"backends": names(backends)} if backends else {}
        options |= {"shares": tuple(map(_share, names(shares)))} if shares else {}
        seconds = None if budget is None else parse_seconds(budget)
        with trials_bar(seconds) as progress:
            status = run_measurements(
                list(plan(**options)), Results(out / "acceleration.jsonl"), data=data, retry=retry, budget=seconds,
                on_record=None if as_json else _tell_measured, progress=progress,
            )  # fmt: skip
        report = {"study": "acceleration", **asdict(status)}
        show(report, as_json, lambda: status_text(report))


@acceleration_app.command("serve", cls=Command)
@with_groups
def serve_command(
    part: Part,
    seeds: Annotated[int, typer.Option(min=1, help="Number of trainings of each model.")] = 3,
    epochs: Annotated[int | None, typer.Option(min=1, help="Epochs of training (default: 200).")] = None,
    budget: TimeLimit = None,
    out: Out = Path("results"),
    data: Data = None,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Train on the unpruned graphs and serve from pruned ones; append accuracy and latency to serving.jsonl.

    Example: lsprune acceleration serve --device cuda --budget 9m --data data
    """
    with errors():
        from lsprune.lab.acceleration.serving import plan, run_servings
        from lsprune.lab.studies.result_files import Results

        seconds = None if budget is None else parse_seconds(budget)
        with trials_bar(seconds) as progress:
            status = run_servings(
                list(plan(**part.options(device), seeds=seeds, epochs=epochs)), Results(out / "serving.jsonl"),
                data=data, budget=seconds, on_record=None if as_json else _tell_served, progress=progress,
            )  # fmt: skip
        report = {"study": "serving", **asdict(status)}
        show(report, as_json, lambda: status_text(report))


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"shares must be a comma-separated list of numbers in (0, 1], got {text!r}") from None


def _tell_measured(measurement: object, record: Mapping[str, Any]) -> None:
    """Print a line about a measurement."""
    if record["error"] is not None:
        tell(f"{measurement}: {record['error']}")
        return
    peak = record["training_peak_bytes"]
    memory = "" if peak is None else f", peak {peak / 2**30:.3f} GiB"
    times = f"epoch {record['epoch_seconds_min']:.5f} s, inference {record['inference_seconds_min']:.5f} s"
    tell(f"{measurement}: {times}{memory}")


def _tell_served(serving: object, record: Mapping[str, Any]) -> None:
    """Print a line about a served model."""
    if record["error"] is not None:
        tell(f"{serving}: {record['error']}")
        return
    tell(f"{serving}: accuracy {record['test']:.4f}, inference {record['inference_seconds_min']:.5f} s")
