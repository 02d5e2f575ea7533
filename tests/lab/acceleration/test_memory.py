"""Peaks count every tensor that is alive at once, and none that is freed."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from lsprune.lab.acceleration.memory import MemoryOfTensors  # noqa: E402

MIB = 1 << 20
CPU = torch.device("cpu")


def ones(mib: int) -> torch.Tensor:
    return torch.ones(mib * MIB // 4)


def test_the_peak_is_what_is_alive_at_once():
    memory = MemoryOfTensors(CPU)

    def work() -> torch.Tensor:
        for _ in range(3):
            first = ones(8)
            second = ones(4)
            del first, second
        return ones(2)

    kept, peak = memory.watch(work)
    assert peak == 12 * MIB and memory.alive == kept.numel() * 4


def test_tensors_that_stay_count_in_later_work_until_they_are_freed():
    memory = MemoryOfTensors(CPU)
    kept = {"tensor": memory.watch(lambda: ones(8))[0]}
    assert memory.watch(lambda: ones(4).sum().item())[1] == pytest.approx(12 * MIB, abs=1_000)
    memory.watch(kept.clear)
    assert memory.alive == 0
    assert memory.watch(lambda: ones(4).sum().item())[1] == pytest.approx(4 * MIB, abs=1_000)


def test_activations_of_a_backward_pass_are_counted():
    memory = MemoryOfTensors(CPU)
    weight, _ = memory.watch(lambda: torch.ones(MIB // 4, requires_grad=True))
    _, peak = memory.watch(lambda: weight.exp().exp().sum().backward())
    assert 4 * MIB <= peak <= 6 * MIB and memory.alive == 2 * MIB  # the weight and its gradient


def test_an_error_in_the_work_is_raised():
    with pytest.raises(ZeroDivisionError):
        MemoryOfTensors(CPU).watch(lambda: 1 / 0)
