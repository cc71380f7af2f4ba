"""Public names that are imported on first use, for the ``__init__`` of a package.

It needs little of the standard library and nothing else: ``import pellucid`` must cost nothing.
"""

import sys
from collections.abc import Callable
from importlib import import_module


def lazy_names(
    package: str,
    home: dict[str, str],
    packages: tuple[str, ...] = (),
    elsewhere: Callable[[str], str] | None = None,
) -> tuple:
    """``(__getattr__, __dir__, __all__)`` of a package whose names live where ``home`` says.

    ``elsewhere(name)`` is a sentence about a name that is not there, or "".

    >>> get, _, names = lazy_names("pellucid", {"KMeans": "cluster.kmeans.kmeans"})
    >>> names, get("KMeans").__name__
    (['KMeans'], 'KMeans')
    """
    names = sorted([*home, *packages])

    def find(name: str) -> object:
        if name in packages:
            return import_module(f"{package}.{name}")
        if name not in home:
            told = "" if elsewhere is None or name.startswith("_") else elsewhere(name)
            asked = sys._getframe(1).f_code.co_name  # ``from package import name`` asks so first
            if told and asked == "_handle_fromlist":
                raise ImportError(f"cannot import name {name!r} from {package!r}{told}", name=name)
            raise AttributeError(f"module {package!r} has no attribute {name!r}{told}")
        try:
            module = import_module(f"{package}.{home[name]}")
        except ModuleNotFoundError as missing:
            if missing.name != "polars":
                raise
            sentence = f"{name} needs Polars, which is not installed: pip install polars"
            raise ImportError(sentence, name="polars") from missing
        value = getattr(module, name)
        setattr(import_module(package), name, value)
        return value

    return find, lambda: names, names
