"""What a parameter or the field of a record may hold: the annotation it has in its class.

``alpha: float`` takes a number, ``parents: tuple[Name, ...]`` a tuple of names, ``values: Array``
an array of float64. The constructors and records are typed, so the annotations are the
declaration, and a type checker holds them true. scikit-learn's classes have constraints of their
own for that.
"""

import inspect
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import validate_parameter_constraints

from pellucid.persist.format import ModelFileError, brief

NUMBER = (int, float, np.integer, np.floating)
MANY = (list, tuple, set, frozenset, range, dict)


@cache
def hints_of(owner: Any) -> dict[str, Any]:
    """The annotations of a constructor or a record, by name."""
    try:
        return get_type_hints(owner)
    except NameError:  # imported for the type checker alone: what is left is unresolved text
        return dict(getattr(owner, "__annotations__", {}))


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says.

    >>> fits(3, float), fits("3", float), fits([1, 2], list[int] | None)
    (True, False, True)
    """
    if hint is Any or hint is object or isinstance(hint, str | TypeVar):
        return True
    origin, args = get_origin(hint), get_args(hint)
    if origin is Union or origin is types.UnionType:
        return any(fits(value, one) for one in args)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in args)
    if hint is None or hint is type(None):
        return value is None
    if getattr(hint, "__module__", "").startswith("numpy._typing"):  # array-like, dtype-like
        return _is_data(value)
    if origin is np.ndarray or hint is np.ndarray:
        return isinstance(value, np.ndarray) and _dtype_fits(value.dtype, args)
    if origin is None:
        return _is_plain(value, hint)
    return _is_generic(value, origin, args)


def _is_plain(value: Any, kind: Any) -> bool:
    """A value of a class."""
    if kind is bool:
        return isinstance(value, bool | np.bool)
    if kind is int:
        return isinstance(value, int | np.integer)
    if kind is float:
        return isinstance(value, NUMBER) and not isinstance(value, bool)
    if kind in (Sequence, Iterable, Collection, Iterator, Mapping, Callable, list, tuple, dict):
        return _is_generic(value, kind, ())
    if getattr(kind, "_is_protocol", False):
        return all(hasattr(value, name) for name in vars(kind) if not name.startswith("_"))
    return not isinstance(kind, type) or isinstance(value, kind)


def _is_generic(value: Any, origin: Any, args: tuple[Any, ...]) -> bool:
    """A container, a function or a type."""
    if origin is type or origin is np.dtype:
        return isinstance(value, type | np.dtype)
    if origin is Callable or origin is getattr(Callable, "__origin__", Callable):
        return callable(value) and not isinstance(value, type)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return False
        pair = args if len(args) == 2 else (Any, Any)
        return all(fits(key, pair[0]) and fits(item, pair[1]) for key, item in value.items())
    if not isinstance(origin, type) or not issubclass(origin, Iterable):
        return not isinstance(origin, type) or isinstance(value, origin)
    if isinstance(value, np.ndarray):
        return issubclass(np.ndarray, origin) or origin in (Sequence, Collection, Iterable)
    if not isinstance(value, MANY):
        return False
    if origin is tuple and args and args[-1] is not Ellipsis:
        return len(value) == len(args) and all(map(fits, value, args))
    return all(fits(item, args[0]) for item in value) if args else True


def _is_data(value: Any) -> bool:
    """Numbers and text, alone or nested, as arrays can be made of them; also a dtype."""
    if isinstance(value, bool | int | float | str | bytes | np.generic | np.ndarray | range):
        return True
    if isinstance(value, list | tuple):
        return all(item is None or _is_data(item) for item in value)
    return issparse(value) or isinstance(value, type | np.dtype)


def _dtype_fits(dtype: np.dtype, args: tuple[Any, ...]) -> bool:
    """Whether a dtype is the annotated one, at any width of its kind."""
    wanted = get_args(args[1])[0] if len(args) == 2 and get_args(args[1]) else Any
    if not isinstance(wanted, type) or not issubclass(wanted, np.generic):
        return True
    return np.issubdtype(dtype, wanted) or (
        wanted is not np.generic and np.dtype(wanted).kind == dtype.kind and dtype.itemsize <= 8
    )


def check_params(cls: type, name: str, params: dict[str, Any]) -> None:
    """Refuse parameters that are not what the constructor or its constraints declare."""
    constraints = getattr(cls, "_parameter_constraints", None)
    if name.startswith("sklearn.") and constraints is not None:
        given = {key: value for key, value in params.items() if key in constraints}
        try:
            validate_parameter_constraints(constraints, given, caller_name=cls.__name__)
        except ValueError as error:
            raise ModelFileError(f"{name} cannot have this parameter: {error}") from error
        return
    hints = hints_of(cls.__init__)  # type: ignore[misc]
    for key, value in params.items():
        if not _holds_objects(value):
            check_hint(name, key, value, hints.get(key, Any))


def _holds_objects(value: Any) -> bool:
    """Whether a parameter is or holds an object, which was checked as one: ``solver=Newton()``."""
    if isinstance(value, dict):
        return any(map(_holds_objects, value.values()))
    if hasattr(type(value), "_fields") or isinstance(value, BaseEstimator):
        return True
    return isinstance(value, list | tuple) and any(map(_holds_objects, value))


def check_fields(cls: type, name: str, state: dict[str, Any]) -> None:
    """Refuse fields of a record that are not what it declares."""
    hints = hints_of(cls)
    for key, value in state.items():
        check_hint(name, key, value, hints.get(key, Any))


def check_hint(name: str, key: str, value: Any, hint: Any) -> None:
    if not fits(value, hint):
        wanted = inspect.formatannotation(hint)
        said = wanted if len(wanted) <= 60 else "of another kind"
        raise ModelFileError(f"{name} cannot hold {brief(value)} as {key}, it must be {said}")
