from __future__ import annotations

import numpy as np
import pytest

from lsprune.adapters import Adapter, Kept, libraries
from lsprune.errors import OptionError
from lsprune.graph import Graph


class Whole(Adapter):
    name = "whole"
    about = "anything"

    @classmethod
    def accepts(cls, data):
        return True

    def graphs(self, data):
        return {None: data}

    def rebuild(self, data, kept):
        return data


def test_an_adapter_must_read_and_rebuild():
    class Half(Adapter):
        name = about = "half"

        @classmethod
        def accepts(cls, data):
            return True

    with pytest.raises(TypeError, match="abstract"):
        Half()


def test_masks_are_one_array_or_a_dict_of_relations():
    mask = np.array([True])
    assert Whole().masks(None, {None: mask}) is mask
    assert Whole().masks(None, {("a", "to", "b"): mask}) == {("a", "to", "b"): mask}
    assert Whole().masks(None, {}) == {}


def test_what_an_object_has_no_place_for_is_refused():
    mask = np.array([True])
    Kept(mask=mask).refuse_weight("a thing")
    Kept(mask=mask).refuse_e_id("a thing")
    with pytest.raises(OptionError, match="rescale needs a place for edge weights, and a thing has none"):
        Kept(mask=mask, weight=np.ones(1, np.float32)).refuse_weight("a thing")
    with pytest.raises(OptionError, match="e_id=True needs a place for edge ids, and a thing has none"):
        Kept(mask=mask, e_id=True).refuse_e_id("a thing")


def test_libraries_are_those_of_all_base_classes():
    class Own(np.ndarray):
        pass

    assert "numpy" in libraries(np.zeros(1).view(Own))
    assert libraries(Graph.from_edges(np.zeros((2, 1), int))) == {"lsprune", "builtins"}
