"""What a worker says of the lsprune that it has."""

from __future__ import annotations

import socket
import sys

import pytest

from lsprune import __version__
from lsprune.spark.probe import probe


def test_a_worker_with_lsprune_says_its_version():
    pytest.importorskip("pyarrow")
    assert probe(0) == (socket.gethostname(), __version__, "")


def test_a_worker_without_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "lsprune.spark.tasks", None)
    host, version, problem = probe(3)
    assert (host, version) == (socket.gethostname(), "")
    assert "lsprune.spark.tasks" in problem
