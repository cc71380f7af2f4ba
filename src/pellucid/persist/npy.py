"""Arrays as ``.npy`` data, without pickle: the header is written and compared, never evaluated."""

import hashlib
import math
import re
from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from pellucid.persist.format import MAX_BYTES, ModelFileError, brief

DTYPE = re.compile(r"\|[biu]1|[<>][iu][248]|[<>]f[248]|[<>]U[1-9]\d{0,7}|\|S[1-9]\d{0,7}")
MAX_DIMENSIONS = 32


class Layout(NamedTuple):
    """What the header of an array says."""

    dtype: str
    shape: tuple[int, ...]
    order: str  # C or F

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def layout_of(array: np.ndarray) -> Layout:
    """The header of an array; Fortran order is kept.

    >>> layout_of(np.zeros((2, 3), order="F"))
    Layout(dtype='<f8', shape=(2, 3), order='F')
    """
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return Layout(array.dtype.str, array.shape, order)


def check_layout(dtype: object, shape: Sequence[int], order: Any) -> Layout:
    """A layout as a file states it, or the reason why it is refused."""
    if isinstance(dtype, str) and dtype.endswith("O"):
        raise ModelFileError("an array of Python objects (object dtype) is never loaded")
    if not isinstance(dtype, str) or not DTYPE.fullmatch(dtype):
        raise ModelFileError(f"an array of dtype {brief(dtype)} is not float, int, bool or text")
    layout = Layout(dtype, check_shape(shape), order)
    if order not in ("C", "F") or layout.nbytes > MAX_BYTES:
        raise ModelFileError(f"an array of shape {layout.shape}, order {brief(order)} is refused")
    return layout


def check_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """A list of sizes from a file as the shape of a dense array."""
    sizes = check_sizes(shape)
    if math.prod(max(size, 1) for size in sizes) > MAX_BYTES:
        raise ModelFileError(f"an array of shape {sizes} is too large for a model file")
    return sizes


def check_sizes(shape: object) -> tuple[int, ...]:
    """A list of sizes from a file."""
    if not (isinstance(shape, list) and len(shape) <= MAX_DIMENSIONS):
        raise ModelFileError("the shape of an array must be a list of at most 32 sizes")
    for size in shape:
        if type(size) is not int or not 0 <= size <= MAX_BYTES:
            raise ModelFileError(f"the shape of an array holds {brief(size)}, not a size")
    return tuple(shape)


def header(layout: Layout) -> bytes:
    """The start of a ``.npy`` file, version 1.0, padded to 64 bytes.

    >>> header(Layout("<f8", (3,), "C"))[10:67]
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"
    """
    fortran = layout.order == "F"
    shape = repr(tuple(int(size) for size in layout.shape))
    text = f"{{'descr': '{layout.dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    length = -(-(10 + len(text) + 1) // 64) * 64 - 10
    body = text.encode("ascii").ljust(length - 1) + b"\n"
    return b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little") + body


def flat_bytes(array: np.ndarray, order: str) -> np.ndarray:
    """The data as one run of bytes, without a copy where the memory allows it."""
    array = np.asarray(array)
    rows = array.T if order == "F" else array
    return np.ascontiguousarray(rows).reshape(-1).view(np.uint8)


def read_array(
    file: BinaryIO, name: str, place: tuple[int, int], layout: Layout, digest: str
) -> np.ndarray:
    """Read one array of a verified archive; sizes are compared before memory is taken."""
    start, size = place
    expected = header(layout)
    file.seek(start)
    found = file.read(min(size, len(expected)))
    if b"'|O'" in found:
        raise ModelFileError(f"{name} holds Python objects (object dtype), which are never loaded")
    if found != expected:
        raise ModelFileError(f"the header of {name} is not what the manifest says")
    if size != len(expected) + layout.nbytes:
        raise ModelFileError(f"{name} has {size} bytes, its header asks for a different number")
    array = np.empty(layout.shape, layout.dtype, order=layout.order)  # type: ignore[call-overload]
    data = flat_bytes(array, layout.order)  # shares the memory of array
    if file.readinto(data.data) != layout.nbytes:  # type: ignore[attr-defined]
        raise ModelFileError(f"{name} is cut short")
    if array_digest([expected, data]) != digest:
        raise ModelFileError(f"{name} is damaged: its SHA-256 is not the one in the manifest")
    check_values(array, name)
    return array


def array_digest(parts: Sequence[Any]) -> str:
    """SHA-256 of the parts, one after the other."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()


def check_values(array: np.ndarray, name: str) -> None:
    """Bytes that are no truth value and no character would mislead whoever reads them."""
    if array.size == 0:
        return
    if array.dtype.kind == "b" and flat_bytes(array, "C").max() > 1:
        raise ModelFileError(f"{name} holds a truth value that is neither 0 nor 1")
    if array.dtype.kind == "U":
        codes = np.ascontiguousarray(array).reshape(-1).view(f"{array.dtype.str[0]}u4")
        if codes.max() > 0x10FFFF:
            raise ModelFileError(f"{name} holds a character that does not exist")
