"""What a worker of Spark runs to say whether it has lsprune. Sent as code, so that it runs where lsprune is missing."""

from __future__ import annotations


def probe(_: int) -> tuple[str, str, str]:
    """Return (host, version of lsprune, what cannot be imported): the version is empty where something is missing."""
    import importlib
    import socket

    host = socket.gethostname()
    try:
        for name in ("lsprune.spark.tasks", "lsprune.kernels.cpu"):
            importlib.import_module(name)
        return host, str(importlib.import_module("lsprune").__version__), ""
    except ImportError as error:
        return host, "", str(error)
