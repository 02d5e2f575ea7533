"""Write docs/promises.md: `python docs/make_promises.py`; `--check` only says whether it is current.

The promises are written here. The figures are those of the last long run, `results/soak.json` (`make soak`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

PAGE = Path(__file__).with_name("promises.md")
ROOT = Path(__file__).resolve().parents[1]
SOAK = ROOT / "results" / "soak.json"
DAMAGE = ROOT / "results" / "damage.json"


class Promise(NamedTuple):
    """A promise: its text, its limits, and its tests (`tests/file.py::test`)."""

    name: str
    says: str
    ends: str
    tests: tuple[str, ...]


PROMISES = (
    Promise(
        "Same bits",
        "The same graph, options and seed give the same mask: in plain Python, in numba on any number of threads, on a "
        "GPU, streamed from files, on Spark, in any process, for any order of the edges, from every kind of object.",
        "Linux on x86-64 and ARM64 ([platforms](platforms.md)). Parallel edges with equal keys are selected in the "
        "order of the input, so another order of the edges may keep another one of them and change later selections of "
        "their owner. Scores in floats (effective resistance, and the fit of label weights) are promised on one "
        "machine only. A saved fitted pruner with label weights keeps the same edges everywhere.",
        (
            "tests/pruners/test_contract.py::test_executors_and_threads_agree",
            "tests/pruners/test_contract.py::test_edge_order_does_not_matter",
            "tests/pruners/test_contract.py::test_every_kind_of_object_gives_the_same_mask",
            "tests/test_reproducible.py::test_streamed_masks_are_those_in_memory",
            "tests/test_reproducible.py::test_other_processes_give_the_same_bits",
            "tests/spark/test_spark.py::test_the_same_edges_as_in_memory_with_hubs_shared_out",
            "tests/spark/test_standalone_cluster.py::test_a_worker_that_dies_and_one_that_is_slow_change_nothing",
            "tests/files/test_parquet_writers.py::test_memory_and_stream_keep_the_rows_of_the_arrays",
            "tests/gpu/test_same_bits.py::test_golden_digests",
            "tests/test_soak.py::test_the_promise_holds_on_a_few_cases",
            "tests/test_soak_environments.py::test_another_process_gives_the_same_digests",
        ),
    ),
    Promise(
        "Stable masks",
        "A mask of a released version never changes in a later one, unless the changelog lists it as breaking.",
        "Saved pruners keep their masks even then. Changes since 0.1.0, and the reasons, are in "
        "`tests/released_masks/changed.json`.",
        (
            "tests/test_reproducible.py::test_masks_never_change",
            "tests/test_reproducible.py::test_saved_pruners_give_the_same_masks",
            "tests/test_reproducible.py::test_a_digest_is_added_and_never_changed",
            "tests/test_released_masks.py::test_every_released_digest_is_that_of_today_or_listed",
            "tests/test_released_masks.py::test_the_changelog_has_every_change",
            "tests/test_released_masks.py::test_whole_masks_are_those_of_today",
            "tests/test_released_masks.py::test_files_of_a_release_never_change",
        ),
    ),
    Promise(
        "Exact keep",
        "Of E edges, `keep=0.3` keeps exactly floor(0.3 · E + 0.5), and a larger share keeps all edges that a smaller "
        "share keeps.",
        'Self-loops are kept on top by default (`self_loops="free"`). With `symmetric=`, whole pairs are counted.',
        (
            "tests/pruners/test_contract.py::test_keep_is_met_to_the_edge",
            "tests/pruners/test_contract.py::test_larger_shares_keep_what_smaller_keep",
            "tests/selection/test_budget.py::test_budget_is_the_largest_k_and_the_rest_by_hashed_owner",
        ),
    ),
    Promise(
        "Input unchanged",
        "lsprune does not change its inputs: objects, arrays and files.",
        "",
        (
            "tests/device/test_pruning.py::test_the_input_is_not_changed",
            "tests/pruners/test_shared_budget.py::test_a_hetero_data_of_one_relation_equals_data_and_is_not_changed",
            "tests/test_soak.py::test_the_promise_holds_on_a_few_cases",
        ),
    ),
    Promise(
        "Whole or absent",
        "An output file or folder is written completely or not at all, even after an error, Ctrl-C, a kill or a full "
        "disk.",
        "lsprune cannot help if a disk loses writes that it confirmed. In an object store (`s3://…`), each object "
        "is complete or absent; a folder is complete when its manifest exists.",
        (
            "tests/files/test_atomic_write.py::test_content_arrives_only_when_the_block_ends",
            "tests/files/test_atomic_write.py::test_error_leaves_the_old_file_and_no_other",
            "tests/files/test_manifest.py::test_a_full_disk_names_the_file_and_leaves_nothing",
            "tests/files/test_atomic_write.py::test_a_file_is_claimed_by_one_process_at_a_time",
            "tests/outofcore/test_resume.py::test_a_file_that_is_removed_while_the_others_are_written_is_missed",
            "tests/outofcore/test_resume.py::test_two_processes_with_other_scratch_folders_do_not_write_one_output",
            "tests/outofcore/test_resume.py::test_an_input_that_is_changed_while_it_is_read_gives_no_output",
            "tests/cli/test_conventions.py::test_an_interrupted_prune_leaves_no_file",
            "tests/cli/test_conventions.py::test_a_terminated_prune_leaves_no_file",
            "tests/cli/test_conventions.py::test_a_signal_after_the_last_step_is_one_line_too",
            "tests/kernels/cpu/test_jit.py::test_ctrl_c_while_a_kernel_is_compiled_comes_after_it",
            "tests/files/test_remote.py::test_a_failed_upload_leaves_what_was_there",
            "tests/files/test_remote.py::test_a_folder_is_uploaded_with_its_manifest_last_or_not_at_all",
        ),
    ),
    Promise(
        "Resume",
        "After a kill, SIGTERM or a full disk, the same command with `--resume` continues and writes the same bytes as "
        "an uninterrupted run. Files that were damaged in between are computed again or refused. If the input was "
        "changed, old and new rows are never mixed. A study does only its missing runs, each once. No processes and no "
        "temporary files remain.",
        "The work folder must be the same. If a run was killed after its output was complete, `--resume` accepts this "
        "output even if the input was changed since and its size and time restored.",
        (
            "tests/outofcore/test_resume.py::test_a_damaged_file_is_made_again_or_refused",
            "tests/outofcore/test_resume.py::test_an_input_that_was_changed_in_between_is_refused",
            "tests/outofcore/test_resume.py::test_an_undamaged_run_goes_on_without_making_anything_again",
            "tests/outofcore/test_resume.py::"
            "test_a_changed_input_with_the_same_size_and_time_is_not_mixed_with_what_it_was",
            "tests/outofcore/test_work_folder.py::test_killed_at_any_stage_it_goes_on_and_gives_the_same_bytes",
            "tests/lab/studies/test_result_files.py::test_a_kill_at_any_moment_loses_no_finished_run",
            "tests/lab/studies/test_run_study.py::test_processes_end_when_the_one_that_started_them_is_killed",
            "tests/lab/studies/test_run_study.py::test_runs_in_progress_end_when_the_study_is_interrupted",
        ),
    ),
    Promise(
        "Memory ceiling",
        "A run with `--stream --memory 1GB` stays below 1 GB, or is refused before it starts, with the size it needs. "
        "A file that declares more data than fits in memory is refused before it is read.",
        "The file cache of the operating system is not counted.",
        (
            "tests/outofcore/test_memory_ceiling.py::test_a_run_stays_below_its_ceiling",
            "tests/outofcore/test_memory_ceiling.py::test_a_ceiling_says_the_least_that_would_do_and_that_does",
            "tests/files/test_memory_budget.py::test_a_small_file_that_expands_is_refused",
        ),
    ),
    Promise(
        "Damaged input is refused",
        "A damaged file gives one clear error, or the same output as before. Formats with checksums never give a wrong "
        "output, and sealed files never do with `--verify-input`.",
        "Formats without checksums ([list](scale.md#damaged-files)) cannot detect all damage: seal such files "
        "with `lsprune seal`, and prune with `--verify-input`. A hostile Parquet file can crash PyArrow 15, the lowest "
        "version allowed; it did not crash version 26, which the tests use.",
        (
            "tests/cli/test_user_graph_options.py::test_input_is_verified",
            "tests/test_soak.py::test_the_promise_holds_on_a_few_cases",
            "tests/files/test_damaged_files.py::test_commands_end_with_a_line",
            "tests/files/test_seals.py::test_a_sealed_file_is_read_and_a_changed_one_is_not",
            "tests/files/test_seals.py::test_a_file_that_changes_while_it_is_streamed_gives_no_output",
            "tests/files/test_footer_checksum.py::test_any_flipped_bit_of_a_footer_is_refused",
        ),
    ),
    Promise(
        "No code from input files",
        "Reading a file never executes its content: no pickles, no expressions.",
        "Three things are outside of this promise: installed plugins are code, and are loaded; PyG reads the datasets "
        "of studies, some of which are pickles; numba loads compiled kernels from its cache folder.",
        (
            "tests/files/test_npy.py::test_pickles_are_refused_and_never_run",
            "tests/test_isolation.py::test_no_kind_of_input_file_is_unpickled_or_run",
            "tests/test_isolation.py::test_what_is_looked_for_would_be_seen",
        ),
    ),
    Promise(
        "No network",
        "Pruning opens no network connection and starts no process. Reports and documentation load nothing from the "
        "network.",
        "If you give URLs (`s3://…`), lsprune reads and writes them. PyG downloads datasets of studies that are not "
        "available locally, and Spark connects to its own cluster.",
        (
            "tests/test_isolation.py::test_pruning_objects_and_files_needs_no_network_and_starts_no_process",
            "tests/test_isolation.py::test_what_is_looked_for_would_be_seen",
            "tests/test_docs.py::test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere",
        ),
    ),
)

INTRO = """\
# Promises

Made by `docs/make_promises.py`: edit the promises there.

This page lists the promises of lsprune and the tests of each promise. Besides the tests, *long checks* try generated
cases: `make soak` runs them for an hour and prints the table below, `make test` runs a few. To repeat one case, give
its number: `python -m soak --checks NAME --first NUMBER --cases 1`.
"""


def figures(soak: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Return the cases and failures of each promise in the last long run."""
    counted: dict[str, tuple[int, int]] = {}
    for check in soak["checks"].values():
        cases, failures = counted.get(check["promise"], (0, 0))
        counted[check["promise"]] = (cases + check["cases"], failures + check["failures"])
    return counted


def page() -> str:
    """Return the page as Markdown."""
    soak = json.loads(SOAK.read_text(encoding="utf8"))
    counted = figures(soak)
    lines = [INTRO, "| promise | tests | cases tried | failures |", "|---|---|---|---|"]
    for promise in PROMISES:
        cases, failures = counted.get(promise.name, (0, 0))
        tried = (f"{cases:,}", f"{failures:,}") if cases else ("–", "–")
        link = promise.name.lower().replace(" ", "-")
        lines.append(f"| [{promise.name}](#{link}) | {len(promise.tests)} | {' | '.join(tried)} |")
    versions = ", ".join(f"{name} {version}" for name, version in soak["versions"].items())
    lines += ["", f"Last long run: {soak['date']}, {versions}. {soak.get('note', '')}".rstrip(), ""]
    for promise in PROMISES:
        lines += _section(promise, soak)
        lines += _damage() if promise.name == "Damaged input is refused" else []
    return "\n".join(lines).rstrip() + "\n"


def _section(promise: Promise, soak: dict[str, Any]) -> list[str]:
    lines = [f"## {promise.name}", "", promise.says, ""]
    lines += [f"*Limits:* {promise.ends}", ""] if promise.ends else []
    lines += ["Tests:", "", *(f"- `{test}`" for test in promise.tests), ""]
    checks = {name: check for name, check in soak["checks"].items() if check["promise"] == promise.name}
    if checks:
        lines += ["| long check | one case | cases | comparisons | failures |", "|---|---|---|---|---|"]
        for name, check in checks.items():
            counts = f"{check['cases']:,} | {check['comparisons']:,} | {check['failures']:,}"
            counts = f"not run: {check['cannot_run']} | | " if check["cannot_run"] else counts
            lines.append(f"| `{name}` | {check['about']} | {counts} |")
        lines.append("")
    return lines


def _damage() -> list[str]:
    """Return the outcomes for damaged files of each kind."""
    counts = json.loads(DAMAGE.read_text(encoding="utf8"))
    lines = [
        "A small file of each kind was damaged: cut at every byte, 10,006 times with flipped bits, and 5,003 "
        "times with parts removed, repeated, overwritten or inserted (`python -m soak.damage_table --out "
        "results/damage.json`). The outcomes: *same*, the output of the undamaged file; *refused*, a clear error; "
        "*other*, another output without an error, which only formats without checksums allow; *failed*, a crash, an "
        "unclear error or too much memory.",
        "",
        "| kind of file | checksum | cases | same | refused | other | failed |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, of in counts.items():
        figures = " | ".join(f"{of[key]:,}" for key in ("cases", "same", "refused", "wrong", "failed"))
        lines.append(f"| {name} | {'yes' if of['checksum'] else 'no'} | {figures} |")
    return [*lines, ""]


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf8") == page() else "docs/promises.md is not current")
    PAGE.write_text(page(), encoding="utf8")
