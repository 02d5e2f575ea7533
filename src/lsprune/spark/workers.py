"""Whether the workers have this lsprune: asked once for each application, before the first task needs it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lsprune._version import __version__
from lsprune.errors import MissingDependency
from lsprune.spark import probe

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOW = (
    "install it on each node with pip, send it along with --py-files or spark.archives (docs/scale.md), or name the "
    "Python that has it by PYSPARK_PYTHON"
)
_ASKED: set[tuple[str, str]] = set()  # (application, Python of its workers) that were found to be in order


def check_workers(session: SparkSession) -> None:
    """Raise MissingDependency if a worker lacks lsprune or has another version: its tasks could not run."""
    context = session.sparkContext
    application = (str(context.applicationId), str(context.pythonExec))
    if application in _ASKED:
        return
    for host, version, problem in _answers(session):
        if version != __version__:
            raise MissingDependency(lacking(f"{host} has {version}" if version else f"{host} says: {problem}"))
    _ASKED.add(application)


def lacking(detail: str) -> str:
    """One sentence for a worker without this lsprune."""
    return f"lsprune {__version__} must be installed on every worker of Spark, but {detail}; {HOW}"


def _answers(session: SparkSession) -> list[tuple[str, str, str]]:
    """What `probe` returns on as many workers as one round of tasks reaches."""
    pickler: Any = import_module("pyspark.cloudpickle")  # not typed
    context = session.sparkContext
    count = max(context.defaultParallelism, 1)
    pickler.register_pickle_by_value(probe)
    try:
        return list(context.parallelize(range(count), count).map(probe.probe).collect())
    finally:
        pickler.unregister_pickle_by_value(probe)
