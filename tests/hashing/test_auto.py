"""The stand-in for a family that fit chooses; how it chooses is tested with `pruners.calibration`."""

from __future__ import annotations

import pytest

from graphs import random_graph, view_of
from lsprune import LSP, OptionError
from lsprune.hashing import Auto


@pytest.mark.parametrize("noise", [0, 100, True, "1"])
def test_bad_options_are_named(noise):
    with pytest.raises(OptionError, match=rf"noise must be a number in \(0, 100\), got {noise!r}"):
        Auto(noise=noise)


def test_it_has_no_keys_until_fit_puts_another_family_in_its_place():
    with pytest.raises(OptionError, match="hash='auto' must be fitted first"):
        Auto().keys(view_of(LSP(k=1), random_graph(0)), 0, 1)
    fitted = LSP(k=1, hash="auto").fit(random_graph(0))
    assert not fitted.options.family.chosen_by_fit
    assert LSP(k=1, hash=Auto(noise=0.5)).chosen_by_fit
