"""Print the tables of results/README.md from the JSON lines: `python results/summarise.py results/*.jsonl`."""

import sys
from pathlib import Path

from lsprune.lab.reporting.markdown.study_tables import study_tables

if __name__ == "__main__":
    print("\n\n".join(study_tables(Path(name)) for name in sys.argv[1:]))
