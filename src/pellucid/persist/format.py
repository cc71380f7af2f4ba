"""What a model file is: names, limits, and the one error.

    model.pellucid = stored zip
        manifest.json        the value tree, the SHA-256 of every array, versions, schema, card
        arrays/0000.npy ...  numbers and fixed-width text
        comment              "pellucid-model sha256:" + seal [+ " hmac-sha256:" + signature]

The seal is the SHA-256 of every byte that is not array data, and the manifest holds the SHA-256
of each array, so every byte of the file is covered once. The signature, if the file was saved with
a key, is the HMAC of the seal.
"""

import json
from typing import Any

from pellucid.core.runtime.json_text import whole_characters

FORMAT = "pellucid-model"
VERSION = 1
MANIFEST = "manifest.json"
SEAL_PREFIX = b"pellucid-model sha256:"
SEAL_LENGTH = len(SEAL_PREFIX) + 64
SIGNATURE_PREFIX = b" hmac-sha256:"
SIGNATURE_LENGTH = len(SIGNATURE_PREFIX) + 64

MAX_BYTES = 2**32 - 1  # 4 GiB in all, so that every field of the archive has 32 bits
MAX_MANIFEST = 64 * 10**6
MAX_DEPTH = 100  # of brackets in the manifest
MAX_MEMBERS = 10**6
MAX_INTEGER_BITS = 4096

# Scaffolding that scikit-learn's callbacks leave on an estimator while it is being fitted.
TRANSIENT = frozenset(
    {"_skl_callbacks", "_skl_callbacks_to_teardown", "_callback_fit_ctx", "_parent_callback_ctx"}
)


class ModelFileError(ValueError):
    """A model cannot be written to a file, or a file is not a model file that can be trusted.

    >>> from pellucid.persist import load
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "notes.pellucid")
    ...     _ = path.write_text("These are my notes about the model.")
    ...     load(path)
    Traceback (most recent call last):
    pellucid.persist.format.ModelFileError: notes.pellucid is not a Pellucid model file
    """


def brief(value: object) -> str:
    """A value for a message, cut at 80 characters.

    >>> brief("abc")
    "'abc'"
    """
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def expect(value: object, kind: type) -> Any:
    if type(value) is not kind:
        raise ModelFileError(f"the manifest holds {brief(value)} where a {kind.__name__} belongs")
    return value


def array_name(index: int) -> str:
    """The member that holds the array of this number.

    >>> array_name(7)
    'arrays/0007.npy'
    """
    return f"arrays/{index:04d}.npy"


def dump_json(tree: object) -> bytes:
    """The one spelling of a tree: ASCII, no spaces, no NaN, keys in their own order."""
    return json.dumps(tree, allow_nan=False, separators=(",", ":")).encode("ascii")


def parse_json(text: bytes) -> Any:
    """Read JSON; refuse deep nesting and what Python adds: NaN, repeated keys, half characters."""
    try:
        words = text.decode("utf-8")
        tree = json.loads(words, object_pairs_hook=_unique, parse_constant=_no_constant)
        whole_characters(tree, words)
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError("the manifest is not valid JSON") from error
    check_depth(tree)
    return tree


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelFileError("the manifest gives a key twice")
    return found


def _no_constant(name: str) -> Any:
    raise ModelFileError(f"the manifest holds {name}, which is not JSON")


def check_depth(tree: object) -> None:
    """Refuse a tree nested deeper than ``MAX_DEPTH``.

    >>> check_depth([[[1]], {"a": []}])
    """
    level = [tree] if isinstance(tree, list | dict) else []
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, list | dict)
        ]
        if not level:
            return
    raise ModelFileError(f"the model is nested deeper than {MAX_DEPTH} levels")
