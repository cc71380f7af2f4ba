"""Modules that may come later, and classes of ours that stand for those of scikit-learn.

Tools around scikit-learn (shap, dtreeviz, treeinterpreter, partial dependence by recursion) ask
``isinstance(model, sklearn.tree.DecisionTreeClassifier)`` and then read attributes that ours has
too. ``stands_for`` answers yes: a virtual subclass, by ``ABCMeta.register``. Nothing is imported
for it: a module that is not there yet is met when it comes.
"""

import sys
from abc import ABCMeta
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

Call = Callable[[ModuleType], object]
_waiting: dict[str, list[Call]] = defaultdict(list)  # by the module that is not imported yet


def when_imported(module: str, call: Call) -> None:
    """Call with a module: now if it is there, else when it has been imported.

    >>> import json
    >>> when_imported("json", lambda module: print(module.__name__))
    json
    """
    found = sys.modules.get(module)
    if found is not None and not getattr(found.__spec__, "_initializing", False):
        call(found)
        return
    _waiting[module].append(call)
    if _watch not in sys.meta_path:
        sys.meta_path.insert(0, _watch)


def stands_for(module: str, cls: type) -> None:
    """Make a class a virtual subclass of the one with its name in ``module``.

    >>> import collections.abc
    >>> class Sized:
    ...     pass
    >>> stands_for("collections.abc", Sized)
    >>> issubclass(Sized, collections.abc.Sized)
    True
    """

    def register(found: ModuleType) -> None:
        theirs: Any = getattr(found, cls.__name__, None)
        if isinstance(theirs, ABCMeta):
            theirs.register(cls)

    when_imported(module, register)


def instance_class(own: type, module: str, name: str) -> type:
    """What ``__class__`` of an object of ``own`` says: the class of that name, once it is there."""
    return getattr(sys.modules.get(module), name, own)


@lru_cache
def both(first: type, second: type) -> type:
    """A class that is each of the two."""
    return type(f"{first.__name__}Or{second.__name__}", (first, second), {})


class _Watch:
    """Meets a module when it is imported; finds nothing itself."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in _waiting:
            return None
        calls = _waiting.pop(name)
        if not _waiting and self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            run: Any = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                for call in calls:
                    call(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_watch: Any = _Watch()
