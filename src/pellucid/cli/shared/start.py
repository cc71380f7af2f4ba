"""Start scikit-learn without the libraries that it imports for us in vain.

``sklearn.utils``, ``sklearn.preprocessing``, joblib and SciPy's shim of the array API import
``scipy.stats``, ``scipy.special``, ``scipy.interpolate`` (with it ``scipy.optimize``), ``pandas``,
``rich``, ``asyncio``, and parts of NumPy, most of the time that ``import sklearn.pipeline`` takes,
for functions that hardly anything calls. While scikit-learn is imported, a module stands in for
each that imports the real one when it is first asked for something; afterwards ``sys.modules`` is
as if scikit-learn had not mentioned them. The command line does this for its own process;
``import pellucid`` never.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

SPLITTERS = ("sklearn.preprocessing", "sklearn.model_selection")  # what a study needs beside
DEFERRED = (
    "asyncio",
    "numpy.f2py",
    "numpy.testing",
    "pandas",
    "psutil",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.optimize",
    "scipy.sparse.csgraph",
    "scipy.sparse.linalg",
    "scipy.special",
    "scipy.stats",
    "sklearn.callback._progressbar",
    "sklearn.preprocessing",
)
NAMED = {  # what is taken from a module by name, and called later
    "psutil": ("Process",),
    "scipy.integrate": ("trapezoid",),
    "scipy.interpolate": ("BSpline",),
    "scipy.optimize": ("linear_sum_assignment",),
    "scipy.special": ("boxcox", "comb", "gammaln", "inv_boxcox"),
    "scipy.sparse.csgraph": ("laplacian",),
    "scipy.sparse.linalg": ("LinearOperator", "cg"),
    "scipy.stats": ("rankdata",),
    "sklearn.callback._progressbar": ("ProgressBar",),
    "sklearn.preprocessing": ("FunctionTransformer",),
}


class Later(ModuleType):
    """A module that is imported when it is first asked for something."""

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":  # asked before a name is taken from it
            raise AttributeError(name)
        if name in NAMED.get(self.__name__, ()):
            return LaterName(self, name)
        return self.real(name)

    def real(self, name: str) -> Any:
        """What the module itself has under this name."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class LaterName:
    """A class of such a module."""

    def __init__(self, module: Later, name: str) -> None:
        self._module, self._name = module, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._module.real(self._name)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module.real(self._name), name)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type]:
        return (self._module.real(self._name),)  # a class is made of the class itself

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, self._module.real(self._name))


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for garbage, nor later among what was made here: modules, and they stay."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was:
            gc.enable()


def start_sklearn(*more: str) -> None:
    """Import ``sklearn.pipeline``, which every saved model of a study needs, and ``more``."""
    wanted = ("sklearn.pipeline", *more)
    if all(name in sys.modules for name in wanted):
        return
    names = [n for n in DEFERRED if n not in sys.modules and n not in more and _exists(n)]
    stand_ins = {n: Later(n) for n in names}
    sys.modules.update(stand_ins)
    for name, module in stand_ins.items():
        package, _, own = name.rpartition(".")
        if package == "numpy":  # it asks itself for its parts
            setattr(import_module(package), own, module)
    try:
        for name in wanted:
            import_module(name)
    finally:
        for name, module in stand_ins.items():
            package, _, own = name.rpartition(".")
            if sys.modules.get(name) is module:
                del sys.modules[name]
            if package in sys.modules and vars(sys.modules[package]).get(own) is module:
                delattr(sys.modules[package], own)


def _exists(name: str) -> bool:
    """Whether the library is installed; parts of one that is are."""
    return "." in name or find_spec(name) is not None
