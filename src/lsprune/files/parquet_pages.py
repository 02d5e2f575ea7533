"""The headers of Parquet pages, checked before Arrow reads them, for it takes the memory that a header claims.

A page header is a struct in Thrift's compact protocol, right before the page. Only its sizes are looked at.
"""

from __future__ import annotations

from typing import Any, BinaryIO

from lsprune.errors import FormatError

_FIRST_BYTES = 1 << 8  # read for a header; more if it does not end there
_MAX_HEADER_BYTES = 1 << 24  # as Arrow has it
_UNCOMPRESSED, _COMPRESSED, _DATA, _DATA_V2 = 2, 3, 5, 8  # fields of a page header
_NUM_VALUES = 1  # field of the headers of data pages
_SLACK = 1 << 10  # bytes by which old writers understate a column: they leave out the header of its dictionary
_MAX_DEPTH = 16  # of structs within structs; a page header needs four
Struct = dict[int, Any]


def check_pages(handle: BinaryIO, group: Any, size: int, where: str) -> None:
    """Raise FormatError if a page of a row group claims more than its column or its file has.

    Args:
        handle: the file, open. group: the row group in its metadata. size: of the file, without its end mark.
        where: how errors name the row group.
    """
    for c in range(group.num_columns):
        column = group.column(c)
        try:
            _check_column(handle, column, size)
        except (ValueError, IndexError, RecursionError) as error:
            reason = str(error) if isinstance(error, ValueError) else "its header ends in the middle"
            name = column.path_in_schema
            raise FormatError(f"{where}: not a readable Parquet file (a page of column {name!r}: {reason})") from None


def _check_column(handle: BinaryIO, column: Any, size: int) -> None:
    at = min(filter(None, (column.dictionary_page_offset, column.data_page_offset)), default=0)
    values, most = 0, column.total_uncompressed_size + _SLACK
    while values < column.num_values:
        header, length = _read_header(handle, at, size)
        packed, unpacked = _number(header, _COMPRESSED), _number(header, _UNCOMPRESSED)
        at += length + packed
        if at > size:
            raise ValueError(f"claims {packed} bytes, beyond the end of the file")
        if unpacked > most:
            raise ValueError(f"claims {unpacked} bytes of the {most - _SLACK} of its column")
        for field in (_DATA, _DATA_V2):
            values += _number(header[field], _NUM_VALUES) if field in header else 0


def _number(fields: Any, field: int) -> int:
    """Return a number >= 0 among the fields of a struct; ValueError if there is none."""
    value = fields.get(field) if isinstance(fields, dict) else None
    if type(value) is not int or value < 0:
        raise ValueError(f"field {field} of its header is no number >= 0")
    return value


def _read_header(handle: BinaryIO, at: int, size: int) -> tuple[Struct, int]:
    """Return the page header at a place, and its length."""
    step = _FIRST_BYTES
    while True:
        handle.seek(at)
        data = handle.read(max(0, min(step, size - at)))
        try:
            return _struct(data, 0, _MAX_DEPTH)
        except IndexError:  # it goes on behind what was read
            if step >= _MAX_HEADER_BYTES or len(data) < step:
                raise
            step *= 16


# Thrift's compact protocol


def _struct(data: bytes, at: int, depth: int) -> tuple[Struct, int]:
    """Return the fields of a struct by number, and where it ends; IndexError if the data ends before it."""
    if depth == 0:
        raise ValueError("its header is too deep")
    fields: Struct = {}
    number = 0
    while kind := data[at]:
        at += 1
        if kind >> 4:
            number += kind >> 4
        else:
            number, at = _signed(data, at)
        fields[number], at = _value(data, at, kind & 15, depth)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (1, 2):  # true and false have no bytes
        return kind == 1, at
    if kind in (4, 5, 6):
        return _signed(data, at)
    if kind == 12:
        return _struct(data, at, depth - 1)
    if kind in (3, 7, 8):
        length, at = {3: (1, at), 7: (8, at)}.get(kind) or _unsigned(data, at)
        if at + length > len(data):
            raise IndexError(at + length)
        return None, at + length
    raise ValueError(f"its header has a field of type {kind}")  # lists and maps: no page header has one


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at + shift // 7]
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at + shift // 7 + 1
    raise ValueError("its header has a number of more than 64 bits")


def _signed(data: bytes, at: int) -> tuple[int, int]:
    value, at = _unsigned(data, at)
    return (value >> 1) ^ -(value & 1), at
