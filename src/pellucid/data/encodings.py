"""Text that is not UTF-8: which encoding it is in, and a copy of the file in UTF-8.

UTF-16 and UTF-32 are known by their byte-order mark, UTF-16 without one by its zero bytes. Other
text is one byte per letter: Windows-1252, which has all letters of Latin-1, or Latin-1 itself where
a byte has no letter in Windows-1252; single lines of it may be UTF-8. A file of which most letters
are UTF-8 is a damaged UTF-8 file and is refused by its first bad line.
"""

import codecs

from pellucid.data.findings import finding
from pellucid.data.spool import COPY_BYTES, Spool, plain_name
from pellucid.data.table import File

BOMS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
NAMES = {"cp1252": "Windows-1252 (Latin-1)", "latin-1": "Latin-1"}
WITHOUT_LETTER = bytes([0x81, 0x8D, 0x8F, 0x90, 0x9D])  # in Windows-1252


class NotUtf8(ValueError):  # noqa: N818  the file takes another way first
    """The bytes are not UTF-8; the message says where."""


def wide_encoding(sample: bytes) -> str:
    """UTF-16 or UTF-32 by the first bytes; empty for anything else.

    >>> wide_encoding("a,b".encode("utf-16")), wide_encoding("a,b".encode("utf-16-le"))
    ('utf-16', 'utf-16-le')
    """
    for mark, name in BOMS.items():  # a mark of UTF-32 begins with one of UTF-16
        if sample.startswith(mark):
            return name
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if len(sample) >= 4 and max(even, odd) > len(sample) // 4 and min(even, odd) == 0:
        return "utf-16-be" if even else "utf-16-le"
    return ""


def find_encoding(file: File, problem: NotUtf8) -> str:
    """The encoding of a file that is not UTF-8; raises ``problem`` where it is, but damaged."""
    with open(file.path, "rb") as stream:
        if wide := wide_encoding(stream.read(4096)):
            return wide
        stream.seek(0)
        good = bad = 0
        name, decoder = "cp1252", codecs.getincrementaldecoder("utf-8")("replace")
        while piece := stream.read(COPY_BYTES):
            text = decoder.decode(piece)
            lost = text.count("\ufffd")
            good, bad = good + len(text) - len(text.encode("ascii", "ignore")) - lost, bad + lost
            if piece.translate(None, WITHOUT_LETTER) != piece:
                name = "latin-1"
    if good > bad:
        raise problem
    return name


def _copy_lines(source: str, target: str, name: str) -> int:
    """A copy in UTF-8; lines that are UTF-8 (files were joined) stay. How many of these there are.

    No letters of a language make UTF-8 in one byte each: it takes pairs such as "Ã¶".
    """
    kept = 0
    with open(source, "rb") as lines, open(target, "wb") as copy:
        while piece := lines.readline(COPY_BYTES):
            try:
                piece.decode("utf-8")
            except UnicodeDecodeError:
                piece = piece.decode(name).encode("utf-8")
            else:
                kept += not piece.isascii()
            copy.write(piece)
    return kept


def as_utf8(file: File, problem: NotUtf8) -> File:
    """The file copied to a temporary one in UTF-8, with a finding that says what it was."""
    name = find_encoding(file, problem)
    spool = Spool()
    path = spool.file(plain_name(file.path))
    lines = 0  # that were UTF-8 after all
    try:
        if name in NAMES:
            lines = _copy_lines(file.path, path, name)
        else:
            with open(file.path, encoding=name, newline="") as text, open(path, "wb") as target:
                while piece := text.read(COPY_BYTES):
                    target.write(piece.encode("utf-8"))
    except UnicodeError:
        raise problem from None
    how = NAMES.get(name, name.upper()) + (f", {lines:,} of its lines as UTF-8" if lines else "")
    finding(
        f"{file.name} is not UTF-8; it was read as {how}. If letters look wrong, save it as UTF-8, "
        f"or pass open({file.name!r}, encoding=...)"
    )
    return File(path, file.name, spool)
