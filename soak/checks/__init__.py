"""The checks by name, in the order of `docs/promises.md`. A module has one concept and a constant `CHECKS`."""

from __future__ import annotations

from soak.check import Check
from soak.checks import bad_bytes, input_unchanged

_MODULES = (input_unchanged, bad_bytes)

CHECKS: dict[str, Check] = {check.name: check for module in _MODULES for check in module.CHECKS}
