"""The closed lists that both directions share: nothing outside them has a name in a file."""

import re

import numpy as np
from scipy import sparse

# NumPy scalars
SCALARS: dict[str, type] = {
    name: getattr(np, name)
    for name in (
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "str_",
        "bytes_",
    )
}

# Classes that stand for a dtype, as in OneHotEncoder(dtype=numpy.float64)
TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (bool, bytes, float, int, object, str)},
    **{f"numpy.{name}": kind for name, kind in SCALARS.items()},
    **{
        f"numpy.{name}": getattr(np, name)
        for name in (
            "generic",
            "number",
            "integer",
            "signedinteger",
            "unsignedinteger",
            "inexact",
            "floating",
            "character",
            "object_",
        )
    },
}

DTYPES = re.compile(r"\|O|\|[biu]1|[<>][iu][248]|[<>]f[248]|[<>]U\d{1,8}|\|S\d{1,8}")

MATRICES: dict[str, type] = {
    kind.__name__: kind
    for kind in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array)
}

# Floats that JSON has no number for, by their bits
CODES = {"7ff0000000000000": "inf", "fff0000000000000": "-inf", "7ff8000000000000": "nan"}
