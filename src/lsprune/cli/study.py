"""`lsprune study`: list the studies, run one, say how many of its runs are done, make a page of the results."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.cli.console import Command, Group, Json, Report, errors, registry_table, show, tell
from lsprune.cli.edge_file_options import names as split_names
from lsprune.cli.option_groups import with_groups
from lsprune.cli.user_graph_options import parse_shares
from lsprune.errors import OptionError
from lsprune.specs import split_list

if TYPE_CHECKING:
    from lsprune.lab.studies.result_files import Results
    from lsprune.lab.studies.run import Run
    from lsprune.lab.studies.run_study import Status
    from lsprune.lab.studies.study import Study
    from lsprune.lab.training.callbacks import Callback

ALL = "all"  # every study that comes with lsprune
study_app = typer.Typer(
    cls=Group,
    help="""Run the paper's experiments and your own. Rerun the same command after an interruption.

    Example: lsprune study list
    """,
)
Out = Annotated[Path, typer.Option("--out", help="Folder of the results.")]
StudyName = Annotated[str, typer.Argument(metavar="NAME", help="A study of `lsprune study list`, or a .toml file.")]
Device = Annotated[str, typer.Option(help="cpu or cuda.")]
TimeLimit = Annotated[
    str | None, typer.Option(metavar="TIME", help="Start no run that would not finish within this time: 90s, 9m or 2h.")
]
Smoke = Annotated[bool, typer.Option("--smoke", help="Quick check: two epochs, one seed, one budget.")]


@dataclass(frozen=True)
class Selection:
    """The part of a study to use; the whole study by default."""

    seeds: Annotated[int | None, typer.Option(min=1, help="Number of seeds (default: the study's).")] = None
    k: Annotated[str, typer.Option("--k", metavar="LIST", help="Only these k, comma-separated, and no shares.")] = ""
    shares: Annotated[
        str, typer.Option(metavar="LIST", help="Only these shares of the study, comma-separated, and no k.")
    ] = ""
    methods: Annotated[
        str,
        typer.Option(metavar="LIST", help="Only these methods, comma-separated; put names with commas in brackets."),
    ] = ""
    datasets: Annotated[
        str, typer.Option(metavar="LIST", help="Only these datasets of the study, comma-separated.")
    ] = ""
    models: Annotated[str, typer.Option(metavar="LIST", help="Only these models of the study, comma-separated.")] = ""
    targets: Annotated[str, typer.Option(metavar="LIST", help="Only these regression targets, comma-separated.")] = ""
    epochs: Annotated[int | None, typer.Option(min=1, help="Epochs (default: the study's).")] = None
    smoke: Smoke = False

    def read(self, name: str, out: Path) -> tuple[Study, Results]:
        """Return the selected part of a study, and where its results are."""
        from lsprune.lab.studies import study_files
        from lsprune.lab.studies.result_files import Results

        whole = study_files.read(name)
        study = (whole.smoke() if self.smoke else whole).only(
            k=self._ks(), shares=parse_shares(self.shares) if self.shares else [], models=split_names(self.models),
            methods=[_method_name(entry) for entry in split_methods(self.methods)],
            datasets=split_names(self.datasets), targets=split_names(self.targets), epochs=self.epochs,
        )  # fmt: skip
        return study, Results(out / f"{study.name}.jsonl")

    def _ks(self) -> list[int]:
        for word in split_names(self.k):
            if not (word.isascii() and word.isdigit() and len(word) < 10) or int(word) < 1:
                raise OptionError(f"k must be a comma-separated list of whole numbers >= 1, got {word!r}")
        return [int(word) for word in split_names(self.k)]


@dataclass(frozen=True)
class Loggers:
    """Additional loggers of every epoch."""

    tensorboard: Annotated[Path | None, typer.Option(help="Folder for TensorBoard files with every epoch.")] = None
    wandb: Annotated[
        str | None, typer.Option(metavar="PROJECT", help="Log every epoch to this Weights & Biases project.")
    ] = None


@study_app.command("list", cls=Command)
def study_list(as_json: Json = False) -> None:
    """List the studies that come with lsprune.

    Example: lsprune study list --json
    """
    with errors():
        from lsprune.lab.studies import study_files

        titles = {name: study_files.read(name).title for name in study_files.names()}
        entries = {name: {"about": title, "options": {}} for name, title in titles.items()}
        show(titles, as_json, lambda: registry_table({"studies": entries}))


@study_app.command("run", cls=Command)
@with_groups
def study_run(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A study of `lsprune study list`, a .toml file, or all (every study in the list)."
        ),
    ],
    selection: Selection,
    loggers: Loggers,
    budget: TimeLimit = None,
    out: Out = Path("results"),
    data: Annotated[str | None, typer.Option(help="Folder of local datasets (default: LSPRUNE_DATA).")] = None,
    device: Device = "cpu",
    jobs: Annotated[int, typer.Option(min=1, help="Number of parallel runs, each in its own process.")] = 1,
    as_json: Json = False,
) -> None:
    """Do the missing runs of a study; after an interruption, start it again to continue.

    Example: lsprune study run cora --seeds 5 --budget 9m --device cuda
    """
    with errors():
        from lsprune.lab.studies import study_files
        from lsprune.lab.studies.run_study import run_study, status

        end = None if budget is None else time.monotonic() + parse_seconds(budget)
        if jobs > 1 and (loggers.tensorboard or loggers.wandb):
            raise OptionError("jobs must be 1 with tensorboard or wandb, which log one run at a time")
        reports: list[Report] = []
        for study_name in study_files.names() if name == ALL else [name]:
            study, results = selection.read(study_name, out)
            left = None if end is None else end - time.monotonic()
            if reports and left is not None and left <= 0:
                break
            with open_callbacks(status(study, results, selection.seeds), loggers, left) as callbacks:
                now = run_study(
                    study, results, seeds=selection.seeds, budget=left, jobs=jobs, device=device, data=data,
                    callbacks=callbacks, on_record=None if as_json else _tell_record, skip_missing_datasets=name == ALL,
                )  # fmt: skip
            reports.append({"study": study.name, **asdict(now)})
            if not as_json:
                tell(status_text(reports[-1]))
        if as_json:
            show(reports if name == ALL else reports[0], True, str)
        elif name == ALL:
            tell(summary_text(reports))


@study_app.command("status", cls=Command)
@with_groups
def study_status(name: StudyName, selection: Selection, out: Out = Path("results"), as_json: Json = False) -> None:
    """Print how many runs of a study are done.

    Example: lsprune study status cora --seeds 5
    """
    with errors():
        from lsprune.lab.studies.run_study import status

        study, results = selection.read(name, out)
        report = {"study": study.name, **asdict(status(study, results, selection.seeds))}
        show(report, as_json, lambda: status_text(report))


@study_app.command("page", cls=Command)
def study_page(
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="Folder for the pages (results.md is the summary) and figures.")] = Path(
        "docs"
    ),
    as_json: Json = False,
) -> None:
    """Make pages of all results: a summary, its tables and figures, acceleration, and the paper's figures.

    Example: lsprune study page --results results --out docs
    """
    with errors():
        from lsprune.lab.reporting.markdown.page import write_page

        written = [str(path) for path in write_page(results, out)]
        figures = sum(path.endswith(".svg") for path in written)
        show(written, as_json, lambda: f"{written[-1]}; figures: {figures}")


@contextmanager
def open_callbacks(
    status: Status, loggers: Loggers | None = None, budget: float | None = None
) -> Iterator[list[Callback]]:
    """Open the progress bars and loggers of a study; close them also after an error."""
    from lsprune.lab.training.callbacks import ProgressBars, TensorBoardLogger, WandbLogger

    loggers = loggers or Loggers()
    with ExitStack() as stack:
        callbacks: list[Callback] = [ProgressBars(status.total, status.done, budget=budget)]
        callbacks += [TensorBoardLogger(loggers.tensorboard)] if loggers.tensorboard else []
        callbacks += [WandbLogger(loggers.wandb)] if loggers.wandb else []
        for callback in callbacks:
            stack.callback(callback.close)
        yield callbacks


def parse_seconds(text: str) -> float:
    """Return the seconds of a time such as 90s, 9m or 2h.

    >>> parse_seconds("9m")
    540.0
    """
    unit = {"s": 1, "m": 60, "h": 3600}.get(text[-1:])
    number = text[:-1] if unit else text
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise OptionError(f"budget must be a time such as 90s, 9m or 2h, got {text!r}")
    return value * (unit or 1)


def split_methods(text: str) -> list[str]:
    """Split a comma-separated list of methods; entries in brackets may contain commas.

    >>> split_methods("random, (lsp:hash=signs,weights=degree)")
    ['random', '(lsp:hash=signs,weights=degree)']
    """
    return [entry.strip() for entry in split_list(text) if entry.strip()]


def _method_name(entry: str) -> str:
    return entry[1:-1] if entry.startswith("(") and entry.endswith(")") else entry


def _tell_record(run: Run, record: Mapping[str, Any]) -> None:
    """Print a line about a run that is done."""
    if "variance" in record:
        result = ", ".join(f"{hops} hops {value:.5g}" for hops, value in record["variance"].items())
    elif "overlap" in record:
        result = f"overlap {record['overlap']:.4f}"
    else:
        result = f"{record['metric']} {record['test']:.4f} in {record['train_seconds']:.1f} s"
    model = f" ({run.model})" if run.model else ""
    tell(f"{run.study}: {run}{model}: share {record['share']:.3f}, {result}")


def summary_text(reports: Sequence[Report]) -> str:
    """Return a line that counts the runs of all studies.

    >>> summary_text([{"study": "a", "total": 2, "done": 2, "skipped": {}}])
    '1 study: 2 of 2 runs'
    """
    done, total = (sum(report[name] for report in reports) for name in ("done", "total"))
    datasets = dict.fromkeys(dataset for report in reports for dataset in report["skipped"])
    skipped = f"; skipped datasets: {', '.join(datasets)}" if datasets else ""
    return f"{len(reports)} {'study' if len(reports) == 1 else 'studies'}: {done} of {total} runs{skipped}"


def status_text(report: Report) -> str:
    """Return a line that says how many runs of a study are done."""
    missing = report["total"] - report["done"]
    rest = "complete" if not missing else f"{missing} to do; run the same command again to continue"
    if report["skipped"]:
        (_, reason), *others = report["skipped"].items()
        more = f" (and also without {', '.join(name for name, _ in others)})" if others else ""
        rest = f"skipped: {reason}{more}"
    return f"{report['study']}: {report['done']} of {report['total']} runs, {rest}"
