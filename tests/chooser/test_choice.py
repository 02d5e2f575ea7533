"""A choice tells what was tried, prunes, and is saved as its pruner."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np

import lsprune
from lsprune import Choice, LocalRandom
from lsprune.chooser.choice import Tried

GRAPH = np.stack([np.arange(40) % 20, np.repeat(np.arange(10), 4)])


def choice():
    rows = (
        Tried("all edges", 1.0, 40, 0.9, math.nan, math.nan, math.nan, 0.1),
        Tried("mine", 0.5, 20, 0.8, 0.0123, -0.002, 0.0266, 0.2),
    )
    return Choice("mine", 0.5, LocalRandom(keep=0.5), "Because.", "accuracy", rows, True, 1.5)


def test_it_prints_the_reason_and_a_line_for_each_trial():
    lines = str(choice()).split("\n")
    assert lines[0] == "Because." and len(lines) == 4
    assert "+1.23 [-0.20, +2.66]" in lines[3] and "nan" not in "".join(lines)


def test_errors_are_printed_in_the_unit_of_the_labels():
    rows = (
        Tried("k random neighbours", 0.5, 20, -1189.25, math.nan, math.nan, math.nan, 0.1),
        Tried("mine", 0.5, 20, -1046.5, 142.75, 90.0, 195.5, 0.2),
    )
    shown = dataclasses.replace(choice(), metric="minus the mean absolute error", tried=rows)
    head, base, mine = str(shown).split("\n")[1:]
    assert "error  error below that of k random neighbours, units of y  seconds" in head and "1189" in base
    assert " 1046  " in mine and "+143 [+90, +196]" in mine
    assert head.index("seconds") + len("seconds") == len(mine)
    figure = shown.plot()
    assert figure.axes[0].get_xlabel() == "Error below that of k random neighbours, units of y"
    assert choice().plot().axes[0].get_xlabel() == "Gain over k random neighbours, points"


def test_it_is_told_as_json_without_nan():
    told = json.loads(json.dumps(choice().to_dict(), allow_nan=False))
    assert told["tried"][0]["gain"] is None and told["tried"][1]["gain"] == 0.0123
    assert told["pruner"]["pruner"] == "local-random" and told["keep"] == 0.5


def test_it_prunes_and_is_saved_as_its_pruner(tmp_path):
    assert choice().prune(GRAPH).shape == (2, LocalRandom(keep=0.5).mask(GRAPH).sum())
    choice().save(tmp_path / "choice.npz")
    assert lsprune.load(tmp_path / "choice.npz") == LocalRandom(keep=0.5)
