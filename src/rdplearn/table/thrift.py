"""Structures in Thrift's compact protocol, in which Parquet writes the heads of its pages; only reading, and only that.

https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
DEEPEST = 16


class ThriftError(ValueError):
    """The bytes end too early, or are no structure."""


def read_struct(content: bytes) -> tuple[dict[int, Any], int]:
    r"""The fields of a structure by their numbers, and how many bytes it takes.

    Examples
    --------
    >>> read_struct(b"\x15\x04\x15\x90\x03\x00")  # field 1 is 2, field 2 is 200
    ({1: 2, 2: 200}, 6)
    """
    reader = _Reader(content)
    try:
        return reader.struct(0), reader.place
    except IndexError:
        raise ThriftError("the bytes end within a structure") from None


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def byte(self) -> int:
        value = self.content[self.place]
        self.place += 1
        return value

    def varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            more = self.byte()
            value |= (more & 0x7F) << shift
            if more < 0x80:
                return value
        raise ThriftError("a number of more than ten bytes")

    def zigzag(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def skip(self, n_bytes: int) -> None:
        if self.place + n_bytes > len(self.content):
            raise IndexError
        self.place += n_bytes

    def struct(self, depth: int) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            found[number] = self.value(head & 0x0F, depth)
        return found

    def value(self, kind: int, depth: int) -> Any:
        """A number, or a structure; texts, lists and the like are passed over as None."""
        if depth > DEEPEST:
            raise ThriftError("values within values without end")
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind in (I16, I32, I64):
            return self.zigzag()
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in (BYTE, DOUBLE):
            self.skip(1 if kind == BYTE else 8)
        elif kind == BINARY:
            self.skip(self.varint())
        elif kind in (LIST, SET):
            self.elements(depth)
        else:
            raise ThriftError(f"no such type: {kind}")
        return None

    def elements(self, depth: int) -> None:
        head = self.byte()
        size = self.varint() if head >> 4 == 15 else head >> 4
        for _ in range(size):
            if head & 0x0F in (TRUE, FALSE):
                self.skip(1)  # in lists a truth value is a byte of its own
            else:
                self.value(head & 0x0F, depth + 1)
