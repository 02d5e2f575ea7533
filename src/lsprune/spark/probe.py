"""A function that a Spark worker runs to report its lsprune. Sent as code, so that it runs without lsprune."""

from __future__ import annotations


def probe(_: int) -> tuple[str, str, str]:
    """Return (host, version of lsprune, import error); the version is empty if an import fails."""
    import importlib
    import socket

    host = socket.gethostname()
    try:
        for name in ("lsprune.spark.tasks", "lsprune.kernels.cpu"):
            importlib.import_module(name)
        return host, str(importlib.import_module("lsprune").__version__), ""
    except ImportError as error:
        return host, "", str(error)
