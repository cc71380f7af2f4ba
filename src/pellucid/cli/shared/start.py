"""Start scikit-learn without the two libraries that it imports for us in vain.

``sklearn.utils.fixes`` and ``sklearn.preprocessing`` import ``scipy.stats`` and ``pandas``, most of
the time that ``import sklearn.pipeline`` takes, for functions that hardly anything calls. While
scikit-learn is imported, a module stands in for each that imports the real one when it is first
asked for something; afterwards ``sys.modules`` is as if scikit-learn had not mentioned them. The
command line does this for its own process; ``import pellucid`` never does.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

DEFERRED = ("scipy.stats", "pandas")


class Later(ModuleType):
    """A module that is imported when it is first asked for something."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def start_sklearn() -> None:
    """Import ``sklearn.pipeline``, which every saved model of a study needs."""
    if "sklearn" in sys.modules:
        return
    stand_ins = {name: Later(name) for name in DEFERRED if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        import_module("sklearn.pipeline")
    finally:
        for name, module in stand_ins.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
