from __future__ import annotations

import torch

from lsprune.device.transfers import Transfer


def test_numbers_arrive_as_they_were():
    numbers = [3, -(2**63), 2**63 - 1]
    transfer = Transfer(torch.tensor(numbers))
    assert transfer.numbers() == numbers
    assert transfer.numbers() == numbers  # a second time


def test_no_numbers_arrive_too():
    assert Transfer(torch.zeros(0, dtype=torch.int64)).numbers() == []
