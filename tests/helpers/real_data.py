"""Where the real datasets are, if they are: a folder beside the checkout, or LSPRUNE_DATA."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("LSPRUNE_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
