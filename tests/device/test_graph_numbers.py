from __future__ import annotations

import torch

from lsprune.device.graph_numbers import CHOICES, FACTS, GraphNumbers


def test_all_numbers_are_zero_at_first_and_lie_apart():
    numbers = GraphNumbers(5, torch.device("cpu"))
    area = numbers.take_choices()
    assert area is not None and area.shape == (CHOICES,) and numbers.facts.shape == (FACTS,)
    assert numbers.loops_of.dtype == torch.int32 and numbers.loops_of.tolist() == [0] * 5
    numbers.facts += 1
    area += 2
    numbers.loops_of += 3
    assert numbers.begin_both().numbers() == [1] * FACTS + [2] * CHOICES
    assert numbers.read_facts() == [1] * FACTS and numbers.loops_of.tolist() == [3] * 5


def test_choices_are_counted_there_once():
    numbers = GraphNumbers(0, torch.device("cpu"))
    assert numbers.take_choices() is not None
    assert numbers.take_choices() is None


def test_facts_can_be_read_at_any_time():
    numbers = GraphNumbers(1, torch.device("cpu"))
    numbers.facts[2] = 7
    assert numbers.read_facts()[2] == 7
    numbers.begin_both()
    assert numbers.read_facts()[2] == 7
