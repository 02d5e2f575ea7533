"""Numbers of texts in Arrow columns."""

from __future__ import annotations

import pytest

pa = pytest.importorskip("pyarrow")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from lsprune.files import text_numbers  # noqa: E402
from lsprune.files.text_numbers import TextNumbers  # noqa: E402
from lsprune.kernels import Runtime  # noqa: E402


@given(
    batches=st.lists(st.lists(st.text(max_size=5), max_size=20), max_size=5), kind=st.sampled_from(["cpu", "reference"])
)
@settings(max_examples=30, deadline=None)
def test_a_text_has_the_number_of_its_first_appearance(batches, kind):
    numbers, expected = TextNumbers(Runtime(kind)), {}
    for texts in batches:
        for text in texts:
            expected.setdefault(text, len(expected))
        assert numbers.number(pa.array(texts, pa.string()))[0].tolist() == [expected[text] for text in texts]
    assert len(numbers) == len(expected)
    assert numbers.texts(0, len(numbers)).cast(pa.string()).to_pylist() == list(expected)
    assert numbers.find(pa.array([*expected, "another one"])).tolist() == [*range(len(expected)), -1]


def test_all_kinds_of_text_and_parts_of_arrays():
    numbers = TextNumbers()
    numbers.number(pa.array(["b", "a", "c"], pa.large_string())[1:], pa.array([b"c", b"d"]))
    assert numbers.texts(0, 3).to_pylist() == [b"a", b"c", b"d"]
    assert numbers.texts(1, 2).to_pylist() == [b"c"]
    assert numbers.find(pa.array([], pa.string())).size == 0


def test_too_many_texts_are_refused(monkeypatch):
    from lsprune import OptionError

    monkeypatch.setattr(text_numbers, "_MAX_TEXTS", 3)
    with pytest.raises(OptionError, match="at most 3 distinct ids"):
        TextNumbers().number(pa.array(["a", "b", "c"]))
