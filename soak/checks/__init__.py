"""The checks by name, in the order of `docs/promises.md`. A module has one concept and a constant `CHECKS`."""

from __future__ import annotations

from soak.check import Check
from soak.checks import (
    bad_bytes,
    disturbances,
    input_unchanged,
    isolation,
    kills,
    memory_ceiling,
    same_batches,
    same_device,
    same_executors,
    same_files,
    same_objects,
    same_order,
    same_processes,
    same_spark,
    same_tables,
    stable_masks,
)

_SAME_BITS = (
    same_executors, same_order, same_batches, same_objects, same_tables, same_files, same_spark, same_device,
    same_processes,
)  # fmt: skip
_MODULES = (
    *_SAME_BITS, stable_masks, input_unchanged, kills, disturbances, memory_ceiling, bad_bytes, isolation,
)  # fmt: skip

CHECKS: dict[str, Check] = {check.name: check for module in _MODULES for check in module.CHECKS}
