"""JSON of strangers: one sentence for everything that is wrong with it."""

import json
import re
from typing import Any

HALF = re.compile(r"\\u[dD][89a-fA-F]")  # half of a character, or the first of two halves


def read_json(text: str | bytes, where: str) -> Any:
    """The value of a JSON text; what cannot be read is a ValueError that names ``where``.

    >>> read_json("[" * 100_000, "a.json")
    Traceback (most recent call last):
    ValueError: a.json is not JSON that can be read: it is nested too deeply
    """
    try:
        words = text if isinstance(text, str) else text.decode(json.detect_encoding(text))
        return whole_characters(json.loads(words), words)
    except RecursionError:
        raise ValueError(f"{where} is not JSON that can be read: it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError(f"{where} is not JSON that can be read: half a character") from None
    except UnicodeDecodeError:
        raise ValueError(f"{where} is not JSON: it is not UTF-8 text") from None
    except ValueError as error:
        raise ValueError(f"{where} is not JSON: {str(error).splitlines()[0]}") from None


def whole_characters(tree: Any, text: str) -> Any:
    """The value that was read from a text; half a character in it is a UnicodeEncodeError.

    >>> whole_characters("x", '"x"')
    'x'
    """
    if HALF.search(text):
        json.dumps(tree, ensure_ascii=False).encode("utf-8")  # pairs are whole characters
    return tree
