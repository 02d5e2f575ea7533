from __future__ import annotations

import csv
import shlex
import subprocess
import sys
from collections import Counter
from importlib.resources import files

from typer.testing import CliRunner

from lsprune.cli import app
from lsprune.lab.reporting.paper_table.figures import PANELS
from lsprune.lab.studies import study_files


def test_every_figure_of_the_papers_points_is_a_plot_and_the_other_way_round():
    text = (files("lsprune.lab.reporting") / "paper.csv").read_text(encoding="utf8")
    theirs = {(row["dataset"], row["target"] or None, row["metric"]) for row in csv.DictReader(text.splitlines())}
    ours = Counter((panel.dataset, panel.target, panel.metric) for panel in PANELS)
    assert set(ours) == theirs
    assert set(ours.values()) == {1}


def test_every_figure_with_data_has_its_number():
    numbers = {number for panel in PANELS for number in panel.figure.replace("and", " ").split()}
    assert numbers == {"3", "4a", "4b", "5", "6", "7", "8"}


def test_keys_are_unique_and_can_be_linked():
    keys = [panel.key for panel in PANELS]
    assert len(set(keys)) == len(keys)
    assert all(key.replace("-", "").isascii() and key.replace("-", "").isalnum() and key == key.lower() for key in keys)


def test_every_plot_is_of_a_part_of_its_study_and_its_command_selects_runs():
    for panel in PANELS:
        assert panel.part.dataset == panel.dataset
        if panel.part.targets:
            assert panel.target in panel.part.targets
    for command in dict.fromkeys(panel.command for panel in PANELS):
        words = shlex.split(command.replace(" --device cuda", ""))
        assert words[:3] == ["lsprune", "study", "run"]
        done = CliRunner().invoke(app, ["study", "status", *words[3:]])
        assert done.exit_code == 0, (command, done.output)


def test_where_our_data_differ_the_plot_says_so():
    differing = {panel.dataset: panel.differs for panel in PANELS if panel.differs}
    assert differing == {
        "ppi": "rebuilt labels", "zinc": "recomputed target", "qm9": "derived bonds", "github": "derived features",
    }  # fmt: skip
    assert all(panel.note for panel in PANELS if panel.differs)
    assert "ppi" in study_files.names()


def test_studies_can_be_imported_before_reports():
    """The rules of result lines are in the reports, whose plots know studies: one of the two must wait."""
    done = subprocess.run(
        [sys.executable, "-c", "import lsprune.lab.studies.study_files"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
