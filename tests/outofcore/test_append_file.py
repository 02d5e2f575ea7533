from __future__ import annotations

import os

import numpy as np
import pytest

from lsprune.outofcore.append_file import AppendFile, map_rows


@pytest.mark.parametrize("shape", [(), (3,)])
def test_what_was_added_comes_back_in_order_and_again(tmp_path, shape):
    rows = np.arange(10 * int(np.prod(shape))).reshape(10, *shape)
    file = AppendFile(tmp_path / "s", np.int32, shape)
    for lo in (0, 4, 9):
        file.add(rows[lo : {0: 4, 4: 9, 9: 10}[lo]])
    np.testing.assert_array_equal(file.close(), rows)
    again = map_rows(tmp_path / "s", np.int32, shape)
    np.testing.assert_array_equal(again, rows)
    assert not again.flags.writeable


def test_all_of_it_is_handed_to_the_disk_when_it_is_closed(tmp_path, monkeypatch):
    sizes, fsync = [], os.fsync

    def watched(handle):
        sizes.append(os.fstat(handle).st_size)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    file = AppendFile(tmp_path / "s", np.int64)
    file.add(np.arange(7))
    file.close()
    assert sizes == [56]


def test_nothing_is_an_empty_array(tmp_path):
    assert AppendFile(tmp_path / "s", np.float32, (2,)).close().shape == (0, 2)
