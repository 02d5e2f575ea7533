"""Tables of nodes as text: types that fit all values, and clear errors."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from files_helpers import text

from lsprune.errors import FormatError, OptionError
from lsprune.files import text_nodes
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.text_nodes import TextNodes

BODY = """# people
id,age,height,topic,born,member
7,31,2,a b,2020-01-02,true
3,,1.5, c ,2020-01-03,false
"""


def test_columns_have_types_that_fit_all_values(tmp_path: Path) -> None:
    table = TextNodes(text(tmp_path / "n.csv", BODY)).load(MemoryBudget.of())
    kinds = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert kinds == {
        "id": "int64", "age": "int64", "height": "double", "topic": "string", "born": "date32[day]", "member": "bool"
    }  # fmt: skip
    assert table["age"].to_pylist() == [31, None]
    assert table["topic"].to_pylist() == ["a b", "c"]


def test_types_show_only_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few lines: whole numbers become decimals, and numbers become text, further on."""
    monkeypatch.setattr(text_nodes, "_BLOCK_BYTES", 16)
    lines = "".join(f"{i},{i},{i}\n" for i in range(50))
    nodes = TextNodes(text(tmp_path / "n.csv", f"id,a,b\n{lines}50,0.5,x\n"))
    table = nodes.load(MemoryBudget.of())
    assert nodes.count == table.num_rows == 51
    assert (table.schema.field("a").type, table.schema.field("b").type) == (pa.float64(), pa.string())
    assert table["b"].to_pylist()[-2:] == ["49", "x"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1,2\n3,4\n", "the first line must name the columns of the nodes, such as id,age, got '1, 2'"),
        ("id,a,a\n1,2,3\n", "column 'a' is there more than once"),
        ("id,a\n1,2,3\n", "line 2: 3 fields where 2 are expected"),
        ("", "the file is empty"),
    ],
)
def test_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "n.csv"
    path.write_text(content)
    with pytest.raises(FormatError, match=message):
        TextNodes(path).load(MemoryBudget.of())


def test_more_text_than_memory_is_refused(tmp_path: Path) -> None:
    path = text(tmp_path / "n.csv", "id,a\n" + "1,2\n" * 1000)
    with pytest.raises(OptionError, match="n.csv"):
        TextNodes(path).load(MemoryBudget.of(100))


def test_a_table_without_rows(tmp_path: Path) -> None:
    table = TextNodes(text(tmp_path / "n.csv", "id,a\n")).load(MemoryBudget.of())
    assert table.column_names == ["id", "a"] and table.num_rows == 0
