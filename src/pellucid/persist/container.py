"""The archive: a stored zip with exactly one spelling.

Members lie one after the other from byte 0, each as local header and data; then the directory,
the end record, the seal and perhaps a signature. Given the names, sizes and check sums there is one
correct skeleton, so the reader rebuilds it and compares: gaps, overlaps, flags, extra fields and
second directories cannot exist.
"""

import hashlib
import hmac
import os
import struct
from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

from pellucid.persist.format import (
    MANIFEST,
    MAX_BYTES,
    MAX_MANIFEST,
    MAX_MEMBERS,
    SEAL_LENGTH,
    SEAL_PREFIX,
    SIGNATURE_LENGTH,
    SIGNATURE_PREFIX,
    ModelFileError,
)

LOCAL = struct.Struct("<4s5H3L2H")
CENTRAL = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
END64 = struct.Struct("<4sQ2H2L4Q")  # only when there are more members than 16 bits count
LOCATOR64 = struct.Struct("<4sLQL")

MADE_BY, NEEDED = 3 << 8 | 20, 20  # Unix, version 2.0
EPOCH = 1 << 5 | 1  # 1 January 1980, the first date a zip can say
MODE = 0o100644 << 16
MANY = 0xFFFF
MAX_NAME = 100


class Member(NamedTuple):
    """One file of the archive."""

    name: str
    crc: int
    size: int


class Skeleton(NamedTuple):
    """Every byte of the archive that is neither data nor seal."""

    headers: list[bytes]  # one per member
    starts: list[int]  # where each member's data begins
    tail: bytes  # directory and end record


def skeleton(members: Sequence[Member], comment: int = SEAL_LENGTH) -> Skeleton:
    """The one correct archive of these members with a comment of this length.

    >>> skeleton([Member("manifest.json", 0, 10)]).starts
    [43]
    """
    headers, starts, directory, offset = [], [], [], 0
    if len(members) > MAX_MEMBERS:
        raise ModelFileError(f"the model has {len(members)} arrays, a file holds at most a million")
    for name, crc, size in members:
        path = name.encode("utf-8")
        fields = (NEEDED, 0, 0, 0, EPOCH, crc, size, size, len(path), 0)
        headers.append(LOCAL.pack(b"PK\x03\x04", *fields) + path)
        places = (0, 0, 0, MODE, offset)  # comment, disk, kind, mode, place
        directory.append(CENTRAL.pack(b"PK\x01\x02", MADE_BY, *fields, *places) + path)
        starts.append(offset + len(headers[-1]))
        offset = starts[-1] + size
        if offset > MAX_BYTES:
            raise ModelFileError("the model needs more than 4 GiB, the most a model file may hold")
    listing = b"".join(directory)
    tail = listing + _end(len(directory), len(listing), offset, comment)
    return Skeleton(headers, starts, tail)


def _end(count: int, size: int, offset: int, comment: int) -> bytes:
    wide = b""
    if count >= MANY:
        record = END64.pack(b"PK\x06\x06", 44, MADE_BY, 45, 0, 0, count, count, size, offset)
        wide = record + LOCATOR64.pack(b"PK\x06\x07", 0, offset + size, 1)
    n = min(count, MANY)
    return wide + END.pack(b"PK\x05\x06", 0, 0, n, n, size, offset, comment)


class Archive(NamedTuple):
    """A verified archive: the manifest's bytes, and where each array lies."""

    manifest: bytes
    places: dict[str, tuple[int, int]]  # name -> start, size
    size: int


def read_archive(file: BinaryIO, label: str, key: bytes | None = None) -> Archive:
    """Check everything but the arrays' own data; ``label`` is the file's name in messages.

    With a key, the file must have been signed with it.
    """
    size = os.fstat(file.fileno()).st_size
    if size > MAX_BYTES + SEAL_LENGTH + SIGNATURE_LENGTH:
        raise ModelFileError(f"{label} has more than 4 GiB, the most a model file may hold")
    comment = SEAL_LENGTH + (SIGNATURE_LENGTH if _is_signed(file, size) else 0)
    offset, count = _read_end(file, size, label, comment)
    members = _read_directory(file, offset, count, size, label)
    if members[0].name != MANIFEST:
        raise ModelFileError(f"{label} does not begin with {MANIFEST}")
    if members[0].size > MAX_MANIFEST:
        raise ModelFileError(f"the manifest has {members[0].size} bytes, more than 64 MB")
    expected = skeleton(members, comment)
    if expected.starts[-1] + members[-1].size != offset:
        raise ModelFileError(f"the members of {label} overlap or leave gaps")
    seal = hashlib.sha256()
    manifest = b""
    for member, header, start in zip(members, expected.headers, expected.starts, strict=True):
        if _read(file, start - len(header), len(header)) != header:
            raise ModelFileError(f"{label} is damaged: the header of {member.name} is wrong")
        seal.update(header)
        if member.name == MANIFEST:
            manifest = _read(file, start, member.size)
            seal.update(manifest)
    tail = _read(file, offset, len(expected.tail))
    if tail != expected.tail or offset + len(tail) + comment != size:
        raise ModelFileError(f"{label} is damaged: its directory is not the one it should have")
    seal.update(tail)
    found = _read(file, size - comment, comment)
    if found[:SEAL_LENGTH] != seal_comment(seal.hexdigest()):
        raise ModelFileError(f"{label} is damaged or was altered: its seal does not match")
    if key is not None:
        check_signature(found, key, label)
    places = {m.name: (start, m.size) for m, start in zip(members, expected.starts, strict=True)}
    del places[MANIFEST]
    return Archive(manifest, places, size)


def seal_comment(digest: str) -> bytes:
    """The archive's comment."""
    return SEAL_PREFIX + digest.encode("ascii")


def signature(seal: bytes, key: bytes) -> bytes:
    """What follows the seal in a signed file: the HMAC-SHA256 of the seal under the key."""
    return SIGNATURE_PREFIX + hmac.new(key, seal, "sha256").hexdigest().encode("ascii")


def check_signature(comment: bytes, key: bytes, label: str) -> None:
    """Refuse a file that was not signed with this key."""
    seal, found = comment[:SEAL_LENGTH], comment[SEAL_LENGTH:]
    if not found:
        raise ModelFileError(f"{label} has no signature, and a key was given to check one")
    if not hmac.compare_digest(found, signature(seal, key)):
        raise ModelFileError(f"{label} was not signed with this key")


def _is_signed(file: BinaryIO, size: int) -> bool:
    """Whether the file ends with a signature; what it says is checked later."""
    return _read(file, max(size - SIGNATURE_LENGTH, 0), SIGNATURE_LENGTH).startswith(
        SIGNATURE_PREFIX
    )


def _read(file: BinaryIO, start: int, n: int) -> bytes:
    file.seek(start)
    return file.read(n)


def _read_end(file: BinaryIO, size: int, label: str, comment: int) -> tuple[int, int]:
    """Where the directory starts and how many members it has."""
    place = size - comment - END.size
    if _read(file, 0, 4) != b"PK\x03\x04":
        raise ModelFileError(f"{label} is not a Pellucid model file")
    raw = _read(file, place, END.size + len(SEAL_PREFIX)) if place > 0 else b""
    if not (raw.startswith(b"PK\x05\x06") and raw.endswith(SEAL_PREFIX)):
        raise ModelFileError(f"{label} is a cut or altered model file, or another kind of archive")
    count, offset = END.unpack(raw[: END.size])[4], END.unpack(raw[: END.size])[6]
    if count == MANY:
        place -= END64.size + LOCATOR64.size
        raw = _read(file, place, END64.size) if place > 0 else b""
        if len(raw) != END64.size:
            raise ModelFileError(f"{label} is damaged: its end record is wrong")
        count = END64.unpack(raw)[7]
    if not 0 < count <= min(MAX_MEMBERS, (place - offset) // CENTRAL.size):
        raise ModelFileError(f"{label} is damaged: its end record is wrong")
    return offset, count


def _read_directory(file: BinaryIO, offset: int, count: int, size: int, label: str) -> list[Member]:
    raw = _read(file, offset, min(size - offset, count * (CENTRAL.size + MAX_NAME)))
    members: dict[str, Member] = {}
    place = 0
    for _ in range(count):
        fields = raw[place : place + CENTRAL.size]
        if len(fields) < CENTRAL.size or not fields.startswith(b"PK\x01\x02"):
            raise ModelFileError(f"{label} is damaged: its directory is cut")
        _, _, _, flags, method, _, _, crc, packed, full, length, *_ = CENTRAL.unpack(fields)
        if length > MAX_NAME:
            raise ModelFileError(f"a member of {label} has a name of {length} bytes")
        name = check_name(raw[place + CENTRAL.size : place + CENTRAL.size + length])
        if flags & 1:
            raise ModelFileError(f"member {name} is encrypted, which a model file never is")
        if method != 0 or packed != full:
            raise ModelFileError(f"member {name} is compressed, which a model file never is")
        if name in members:
            raise ModelFileError(f"member {name} is there twice")
        members[name] = Member(name, crc, full)
        place += CENTRAL.size + length
    return list(members.values())


def check_name(raw: bytes) -> str:
    """A member's name, or the reason why it is refused.

    >>> check_name(b"../evil")
    Traceback (most recent call last):
    pellucid.persist.format.ModelFileError: member name '../evil' leaves the archive
    """
    try:
        name = raw.decode("ascii")
    except UnicodeDecodeError as error:
        raise ModelFileError("a member has a name that is not ASCII") from error
    if name.startswith("/") or ":" in name or "\\" in name or ".." in name.split("/"):
        raise ModelFileError(f"member name {name!r} leaves the archive")
    if not name or not name.isprintable() or "" in name.split("/"):
        raise ModelFileError(f"member name {name!r} is not a file name")
    return name
