"""Check that the workers have this version of lsprune, once for each application, before the first task runs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lsprune._version import __version__
from lsprune.errors import MissingDependency
from lsprune.spark import probe

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INSTALL_ADVICE = (
    "install it on each node with pip, send it along with --py-files or spark.archives (docs/scale.md), or name the "
    "Python that has it by PYSPARK_PYTHON"
)
_CHECKED: set[tuple[str, str]] = set()  # (application, Python of its workers) without problems


def check_workers(session: SparkSession) -> None:
    """Raise MissingDependency if a worker has no lsprune, or another version: its tasks would fail."""
    context = session.sparkContext
    application = (str(context.applicationId), str(context.pythonExec))
    if application in _CHECKED:
        return
    for host, version, problem in _answers(session):
        if version != __version__:
            raise MissingDependency(lacking(f"{host} has {version}" if version else f"{host} says: {problem}"))
    _CHECKED.add(application)


def lacking(detail: str) -> str:
    """Return the error message for a worker without this version of lsprune; `detail` names the worker."""
    return f"lsprune {__version__} must be installed on every worker of Spark, but {detail}; {_INSTALL_ADVICE}"


def _answers(session: SparkSession) -> list[tuple[str, str, str]]:
    """Return what `probe` returns on as many workers as one round of tasks reaches."""
    pickler: Any = import_module("pyspark.cloudpickle")  # not typed
    context = session.sparkContext
    count = max(context.defaultParallelism, 1)
    pickler.register_pickle_by_value(probe)
    try:
        return list(context.parallelize(range(count), count).map(probe.probe).collect())
    finally:
        pickler.unregister_pickle_by_value(probe)
