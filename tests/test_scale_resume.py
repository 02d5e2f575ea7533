"""What is resumed is checked: a damaged file is made again or refused, and never gets into an output."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow")

from faults import CASES, DAMAGES, Bench
from lsprune import FormatError, OptionError
from lsprune.scale import memory
from lsprune.scale.manifest import verify


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(memory, "LEAST_ROWS", 64)
    monkeypatch.setattr(memory, "MOST_ROWS", 64)


@pytest.fixture(name="bench", params=CASES, ids=lambda case: case.name)
def _bench(request, tmp_path, monkeypatch):
    (tmp_path / "place").mkdir()
    return Bench(request.param, tmp_path / "place", monkeypatch)


def test_a_damaged_file_is_made_again_or_refused(bench):
    turn = 0
    for _, kept in bench.points():
        for path in bench.left():
            turn += 1
            bench.restore(kept)
            DAMAGES[turn % len(DAMAGES)](path)
            try:
                bench.resume()
            except (FormatError, OptionError) as error:
                assert path.name == "journal.json", (path, error)  # noqa: PT017
                assert f"remove {path.parent}" in str(error) or "move it away or remove it" in str(error)
                assert not bench.case.out(bench.place, "out").is_dir()
                assert not verify(bench.case.out(bench.place, "out")).ok
            else:
                assert bench.content("out") == bench.whole, path
    assert turn >= 10


@pytest.mark.parametrize("bench", CASES[1:3] + CASES[4:5], ids=lambda case: case.name, indirect=True)
def test_an_undamaged_run_goes_on_without_making_anything_again(bench):
    for number, _ in bench.points():
        said = bench.resume()
        assert not [line for line in said if "again" in line]
        assert bench.content("out") == bench.whole
        if number == bench.stages:
            assert not [line for line in said if line.startswith(("reading", "grouping", "selecting", "writing"))]


@pytest.mark.parametrize("bench", [CASES[0], CASES[2]], ids=["file", "folder"], indirect=True)
def test_an_output_that_is_called_complete_is_compared(bench):
    for damage in DAMAGES:
        bench.remove("out")
        bench.case.run(bench.place, "out")
        path = next(path for name in bench.whole for path in [bench.place / name] if path.suffix == ".parquet")
        damage(path)
        if bench.case.suffix:
            bench.resume()
            assert bench.content("out") == bench.whole
        else:
            with pytest.raises(OptionError, match=rf"not as it was written .*{path.name}.*; remove it to begin again"):
                bench.resume()


@pytest.mark.parametrize("bench", [CASES[0], CASES[2]], ids=["file", "folder"], indirect=True)
def test_a_manifest_that_was_changed_is_not_believed(bench):
    bench.case.run(bench.place, "out")
    path = next(bench.place / name for name in bench.whole if name.endswith("json"))
    path.write_text(path.read_text().replace('"isolated": ', '"isolated": 1'))
    assert not verify(bench.case.out(bench.place, "out")).ok
    if bench.case.suffix:
        bench.resume()
        assert bench.content("out") == bench.whole
    else:
        with pytest.raises(OptionError, match="its checksum is not that"):
            bench.resume()


@pytest.mark.parametrize("bench", [CASES[5]], ids=["ids"], indirect=True)
def test_the_mapping_of_a_complete_output_is_compared_too(bench):
    for damage in DAMAGES:
        damage(bench.place / "out-ids.parquet") if damage is not DAMAGES[0] else bench.case.run(bench.place, "out")
        bench.resume()
        assert bench.content("out") == bench.whole
