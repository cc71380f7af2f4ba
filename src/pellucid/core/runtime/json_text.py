"""JSON of strangers: one sentence for everything that is wrong with it."""

import json
from typing import Any


def read_json(text: str | bytes, where: str) -> Any:
    """The value of a JSON text; what cannot be read is a ValueError that names ``where``.

    >>> read_json("[" * 100_000, "a.json")
    Traceback (most recent call last):
    ValueError: a.json is not JSON that can be read: it is nested too deeply
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(f"{where} is not JSON that can be read: it is nested too deeply") from None
    except UnicodeDecodeError:
        raise ValueError(f"{where} is not JSON: it is not UTF-8 text") from None
    except ValueError as error:
        raise ValueError(f"{where} is not JSON: {str(error).splitlines()[0]}") from None
