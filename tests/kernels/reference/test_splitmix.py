from __future__ import annotations

from lsprune.kernels.reference.splitmix import mix
from lsprune.numeric.random_numbers import GOLDEN


def test_splitmix_is_the_published_generator():
    # The first outputs of the generator seeded with 1234567, as its author's C code prints them.
    outputs = [mix((1234567 + i * GOLDEN) % 2**64) for i in range(3)]
    assert outputs == [6457827717110365317, 3203168211198807973, 9817491932198370423]
