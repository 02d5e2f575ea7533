"""`lsprune study`: list the studies, run one, say how far it is, make a page of the results."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.cli.console import Group, Json, Report, errors, registry_table, show, tell
from lsprune.errors import OptionError

if TYPE_CHECKING:
    from lsprune.lab.studies.result_files import Results
    from lsprune.lab.studies.run import Run
    from lsprune.lab.studies.study import Status, Study
    from lsprune.lab.training.callbacks import Callback

study_app = typer.Typer(
    cls=Group,
    help="""Run the paper's experiments, and your own, in slices that can be stopped at any time.

    Example: lsprune study list
    """,
)
Out = Annotated[Path, typer.Option("--out", help="Folder of the results.")]
Seeds = Annotated[int | None, typer.Option(min=1, help="Number of seeds (default: the study's).")]
StudyName = Annotated[str, typer.Argument(metavar="NAME", help="A study of `lsprune study list`, or a .toml file.")]
Ks = Annotated[str, typer.Option("--k", metavar="LIST", help="Only these k, by commas, and no shares.")]
Methods = Annotated[str, typer.Option(metavar="LIST", help="Only these methods, by commas.")]
Datasets = Annotated[str, typer.Option(metavar="LIST", help="Only these datasets of the study, by commas.")]
Targets = Annotated[str, typer.Option(metavar="LIST", help="Only these regression targets, by commas.")]
Epochs = Annotated[int | None, typer.Option(min=1, help="Epochs (default: the study's).")]
Device = Annotated[str, typer.Option(help="cpu or cuda.")]
Smoke = Annotated[bool, typer.Option("--smoke", help="Two epochs of one seed and one budget, to see that it works.")]


@study_app.command("list")
def study_list(as_json: Json = False) -> None:
    """List the studies that come with lsprune.

    Example: lsprune study list --json
    """
    with errors():
        from lsprune.lab.studies import study

        listed = {name: study.read(name).title for name in study.names()}
        show(
            listed,
            as_json,
            lambda: registry_table(
                {"studies": {name: {"about": title, "options": {}} for name, title in listed.items()}}
            ),
        )


# One parameter for each option of the library, as with `prune`.
@study_app.command("run")
def study_run(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A study of `lsprune study list`, a .toml file, or all of them: all.")
    ],
    seeds: Seeds = None,
    budget: Annotated[str | None, typer.Option(help="Stop in time, as 90s, 9m or 2h.")] = None,
    out: Out = Path("results"),
    data: Annotated[str | None, typer.Option(help="Folder of local datasets (default: LSPRUNE_DATA).")] = None,
    device: Device = "cpu",
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time, each in its own process.")] = 1,
    k: Ks = "",
    methods: Methods = "",
    datasets: Datasets = "",
    targets: Targets = "",
    epochs: Epochs = None,
    smoke: Smoke = False,
    tensorboard: Annotated[Path | None, typer.Option(help="Write every epoch to TensorBoard files here.")] = None,
    wandb: Annotated[str | None, typer.Option(metavar="PROJECT", help="Log to this Weights & Biases project.")] = None,
    as_json: Json = False,
) -> None:
    """Do the runs of a study that are missing; start it again to go on.

    Example: lsprune study run cora --seeds 5 --budget 9m --device cuda
    """
    with errors():
        from lsprune.lab.studies import study

        seconds, begun, reports = None if budget is None else seconds_of(budget), time.monotonic(), []
        if jobs > 1 and (tensorboard or wandb):
            raise OptionError("jobs must be 1 with tensorboard or wandb, which follow one run at a time")
        for one in study.names() if name == "all" else [name]:
            chosen, results = chosen_study(one, out, smoke, k, methods, datasets, targets, epochs)
            left = None if seconds is None else seconds - (time.monotonic() - begun)
            if left is not None and left <= 0:
                break
            with watching(study.status(chosen, results, seeds), tensorboard, wandb) as watchers:
                now = study.run_study(
                    chosen, results, seeds=seeds, budget=left, jobs=jobs, device=device, data=data,
                    watchers=watchers, told=None if as_json else _tell,
                )  # fmt: skip
            reports.append({"study": chosen.name, **asdict(now)})
            if not as_json:
                show({}, False, lambda report=reports[-1]: status_text(report))  # type: ignore[misc]
        if as_json:
            show(reports if name == "all" else reports[0], True, str)


@study_app.command("status")
def study_status(
    name: StudyName,
    seeds: Seeds = None,
    out: Out = Path("results"),
    k: Ks = "",
    methods: Methods = "",
    datasets: Datasets = "",
    targets: Targets = "",
    epochs: Epochs = None,
    smoke: Smoke = False,
    as_json: Json = False,
) -> None:
    """Say how far a study is.

    Example: lsprune study status cora --seeds 5
    """
    with errors():
        from lsprune.lab.studies import study

        chosen, results = chosen_study(name, out, smoke, k, methods, datasets, targets, epochs)
        report = {"study": chosen.name, **asdict(study.status(chosen, results, seeds))}
        show(report, as_json, lambda: status_text(report))


@study_app.command("page")
def study_page(
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="Folder of the page results.md and of its figures.")] = Path("docs"),
    as_json: Json = False,
) -> None:
    """Make a page of tables and figures from all results.

    Example: lsprune study page --results results --out docs
    """
    with errors():
        from lsprune.lab.reporting.markdown.page import write_page

        written = [str(path) for path in write_page(results, out)]
        show(written, as_json, lambda: f"{written[-1]}; figures: {len(written) - 1}")


def chosen_study(
    name: str, out: Path, smoke: bool, k: str, methods: str, datasets: str, targets: str, epochs: int | None
) -> tuple[Study, Results]:
    """The study, or the part of it that was asked for, and where its results are."""
    from lsprune.lab.studies import study
    from lsprune.lab.studies.result_files import Results

    for one in listed(k):
        if not (one.isascii() and one.isdigit() and len(one) < 10) or int(one) < 1:
            raise OptionError(f"k must be whole numbers >= 1, by commas, got {one!r}")
    whole = study.read(name)
    chosen = (whole.smoke() if smoke else whole).only(
        k=[int(one) for one in listed(k)], methods=listed(methods), datasets=listed(datasets),
        targets=listed(targets), epochs=epochs,
    )  # fmt: skip
    return chosen, Results(out / f"{chosen.name}.jsonl")


@contextmanager
def watching(now: Status, tensorboard: Path | None, wandb: str | None) -> Iterator[list[Callback]]:
    """Those who are told of every epoch; closed whatever happens."""
    from lsprune.lab.training.callbacks import ProgressBars, TensorBoardLogger, WandbLogger

    with ExitStack() as stack:
        watching: list[Callback] = [ProgressBars(now.total, now.done)]
        watching += [TensorBoardLogger(tensorboard)] if tensorboard else []
        watching += [WandbLogger(wandb)] if wandb else []
        for watcher in watching:
            stack.callback(watcher.close)
        yield watching


def seconds_of(text: str) -> float:
    """The seconds of a time such as 90s, 9m or 2h."""
    unit = {"s": 1, "m": 60, "h": 3600}.get(text[-1:])
    number = text[:-1] if unit else text
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise OptionError(f"budget must be a time such as 90s, 9m or 2h, got {text!r}")
    return value * (unit or 1)


def _tell(run: Run, record: Mapping[str, Any]) -> None:
    said = ", ".join(f"{hops} hops {value:.5g}" for hops, value in record.get("variance", {}).items())
    said = f"overlap {record['overlap']:.4f}" if "overlap" in record else said
    if not said:
        said = f"{record['metric']} {record['test']:.4f} in {record['train_seconds']:.1f} s"
    tell(f"{run.study}: {run}: share {record['share']:.3f}, {said}")


def status_text(report: Report) -> str:
    """How far a study is, in a line."""
    missing = report["total"] - report["done"]
    left = "complete" if not missing else f"{missing} to do; the same command goes on"
    left = "skipped: " + "; ".join(report["skipped"].values()) if report["skipped"] else left
    return f"{report['study']}: {report['done']} of {report['total']} runs, {left}"


def listed(text: str) -> list[str]:
    """The names of a list by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]
