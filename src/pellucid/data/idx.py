"""IDX files: the format of the MNIST images and labels.

bytes 0, 1   zero
byte 2       type of the numbers          byte 3   d, the number of dimensions
4 d bytes    the dimensions, big-endian   rest     the numbers, big-endian, row by row
"""

import os

import numpy as np

from pellucid.data.spool import unpacked

TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def load_idx(path: str | os.PathLike[str]) -> np.ndarray:
    """Read an IDX file, plain or gzip: images become rows (28 x 28 -> 784), labels a vector.

    ``path`` is the name of the file.

    Examples
    --------
    >>> import os, tempfile
    >>> from pellucid.data import load_idx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "images")
    ...     with open(name, "wb") as file:
    ...         head = [0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2]
    ...         size = file.write(bytes([*head, 1, 2, 3, 4]))
    ...     load_idx(name)
    array([[1, 2, 3, 4]], dtype=uint8)
    """
    path = os.fspath(path)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {path!r}")
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if packed:
        return parse_idx(unpacked(path, path), path)
    with open(path, "rb") as file:
        return parse_idx(file.read(), path)


def parse_idx(data: bytes, name: str) -> np.ndarray:
    """The numbers of an IDX file; anything that does not fit its own header is refused."""
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in TYPES or not 1 <= data[3] <= 8:
        raise ValueError(f"{name} is not an IDX file: it begins with {data[:4].hex() or 'nothing'}")
    dtype, n_dimensions = np.dtype(TYPES[data[2]]), data[3]
    head = 4 + 4 * n_dimensions
    if len(data) < head:
        raise ValueError(f"{name} is cut off: the header needs {head} bytes, got {len(data)}")
    shape = [int.from_bytes(data[at : at + 4], "big") for at in range(4, head, 4)]
    count = 1
    for size in shape:
        count *= size
    if len(data) - head != count * dtype.itemsize:
        raise ValueError(
            f"{name} does not fit its header: {' x '.join(map(str, shape))} numbers need "
            f"{count * dtype.itemsize} bytes, got {len(data) - head}"
        )
    values = np.frombuffer(data, dtype=dtype, offset=head).astype(dtype.newbyteorder("="))
    if len(shape) == 1:
        return values
    return values.reshape(shape[0], count // shape[0] if shape[0] else int(np.prod(shape[1:])))
