"""Upgrade result files of lsprune 0.1.0 to the names of this version: `python results/rename.py results/*.jsonl`."""

import sys

from lsprune.lab.studies.upgrade_results import main

if __name__ == "__main__":
    main(sys.argv[1:])
