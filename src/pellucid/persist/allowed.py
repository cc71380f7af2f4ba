"""Which classes a model file may name. A name is compared with the list before any import.

Allowed are

- the public names of Pellucid (a line in ``pellucid._HOME``) that are estimators, NamedTuples or
  dataclasses: a new estimator is allowed as soon as it has its line;
- estimators and NamedTuples that are defined in a module of a family that has such a line, and
  those of ``pellucid.core`` and ``pellucid.solvers``, under their full dotted names;
- the records and the scikit-learn classes listed here.
"""

import dataclasses
import inspect
import re
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import pellucid
from pellucid.persist.addresses import present, written
from pellucid.persist.format import TRANSIENT, ModelFileError, brief

SCIKIT_LEARN = {
    "sklearn.compose": ("ColumnTransformer", "TransformedTargetRegressor"),
    "sklearn.feature_selection": ("VarianceThreshold",),
    "sklearn.impute": ("MissingIndicator", "SimpleImputer"),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.preprocessing": (
        "Binarizer",
        "FunctionTransformer",
        "KBinsDiscretizer",
        "LabelBinarizer",
        "LabelEncoder",
        "MaxAbsScaler",
        "MinMaxScaler",
        "MultiLabelBinarizer",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
        "TargetEncoder",
    ),
}


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _is_selection(value: Any) -> bool:
    """A column selector takes a dtype, a name of one, or a list of them."""
    many = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(one, str | type | np.dtype | None) for one in many)


KERNELS = "sklearn.gaussian_process.kernels"


def _is_kernel(value: Any) -> bool:
    return type(value).__module__ == KERNELS or isinstance(value, BaseEstimator)


def _as_array(value: Any) -> np.ndarray:
    """Numbers as an array; no number at all where their lengths differ."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.empty(0, dtype=object)


def _are_positive(value: Any) -> bool:
    """A number above 0, or one for each column."""
    if isinstance(value, bool) or not isinstance(
        value, int | float | np.number | np.ndarray | list
    ):
        return False
    numbers = _as_array(value)
    return numbers.dtype.kind in "iuf" and numbers.ndim <= 1 and bool((numbers > 0).all())


def _are_bounds(value: Any) -> bool:
    """Two ends, or a pair of them for each column; "fixed" where nothing is learned."""
    if isinstance(value, str):
        return value == "fixed"
    pairs = _as_array(value) if isinstance(value, tuple | list | np.ndarray) else np.empty(0)
    return pairs.dtype.kind in "iuf" and pairs.ndim in (1, 2) and pairs.shape[-1] == 2


def _kernel(*numbers: str, **more: Callable[[Any], bool]) -> dict[str, Callable[[Any], bool]]:
    """What a kernel of scikit-learn's holds: numbers with their bounds, and more."""
    bounds = {f"{name}_bounds": _are_bounds for name in numbers}
    return dict.fromkeys(numbers, _are_positive) | bounds | more


# Plain records that are neither estimator nor NamedTuple, by the name that files use for them:
# their attributes and what these accept.
RECORDS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "pellucid.core.iterate.History": {"_rows": _is_rows},
    "pellucid.core.records.Summary": {
        "title": _is(str),
        "names": _is(tuple),
        "arrays": _is(dict),
        "scalars": _is(dict),
        "valid": _is(bool),
        "reason": _is(str),
        "notes": _is(tuple),
    },
    "sklearn.compose.make_column_selector": {
        "pattern": _is(str, type(None)),
        "dtype_include": _is_selection,
        "dtype_exclude": _is_selection,
    },
    f"{KERNELS}.RBF": _kernel("length_scale"),
    f"{KERNELS}.Matern": _kernel("length_scale", nu=_are_positive),
    f"{KERNELS}.RationalQuadratic": _kernel("length_scale", "alpha"),
    f"{KERNELS}.ExpSineSquared": _kernel("length_scale", "periodicity"),
    f"{KERNELS}.DotProduct": _kernel("sigma_0"),
    f"{KERNELS}.ConstantKernel": _kernel("constant_value"),
    f"{KERNELS}.WhiteKernel": _kernel("noise_level"),
    f"{KERNELS}.Sum": {"k1": _is_kernel, "k2": _is_kernel},
    f"{KERNELS}.Product": {"k1": _is_kernel, "k2": _is_kernel},
    f"{KERNELS}.Exponentiation": {"kernel": _is_kernel, "exponent": _is(int, float)},
}

# Parameters that take a function: only their empty value is accepted, at save and at load.
ONLY_NONE = {"sklearn.preprocessing.FunctionTransformer": ("func", "inverse_func")}

# Functions that a parameter may name: pure functions of arrays, found by their public name.
SCORES = {
    "pellucid.features": ("f_classif", "f_regression", "mutual_info_regression", "r_regression"),
    "sklearn.feature_selection": (
        "chi2",
        "f_classif",
        "f_oneway",
        "f_regression",
        "mutual_info_classif",
        "mutual_info_regression",
        "r_regression",
    ),
}
FUNCTION_NAMES = frozenset(f"{home}.{name}" for home, names in SCORES.items() for name in names)

NOTHING = object()
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+")
SCIKIT_LEARN_NAMES = frozenset(
    f"{module}.{name}" for module, names in SCIKIT_LEARN.items() for name in names
)


def find_class(name: Any) -> type:
    """The class of this name, if it is on the list.

    >>> find_class("sklearn.preprocessing.StandardScaler").__name__
    'StandardScaler'
    >>> find_class("os.system")
    Traceback (most recent call last):
    pellucid.persist.format.ModelFileError: class os.system is not one a model file may hold
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ModelFileError(f"a class name must be a dotted name, got {brief(name)}")
    module, _, last = present(name).rpartition(".")
    if name in SCIKIT_LEARN_NAMES or name in RECORDS:
        found = vars(_module(module)).get(last)
    elif module == "pellucid" and last in pellucid._HOME:
        found = vars(_module(f"pellucid.{pellucid._HOME[last]}")).get(last)
    elif _is_family_module(module):
        found = vars(_module(module)).get(last)
        if getattr(found, "__module__", None) != module:  # imported there, not defined there
            found = None
    else:
        found = None
    if not isinstance(found, type) or not (name in RECORDS or _is_storable(found, module)):
        raise ModelFileError(f"class {name[:200]} is not one a model file may hold")
    return found


def class_name(cls: type) -> str | None:
    """The name under which ``find_class`` finds this class, or None."""
    module, name = cls.__module__, cls.__qualname__
    candidates: list[str] = []
    if module.startswith("sklearn."):
        listed = (*SCIKIT_LEARN_NAMES, *RECORDS)
        candidates += [public for public in listed if public.rpartition(".")[2] == name]
    if module.startswith("pellucid."):
        candidates += [f"pellucid.{name}"] if name in pellucid._HOME else []
        candidates.append(written(f"{module}.{name}"))
    for candidate in candidates:
        try:
            if find_class(candidate) is cls:
                return candidate
        except ModelFileError:
            continue  # not under this name; perhaps under the next
    return None


def find_function(name: Any) -> Any:
    """The function of this public name, if it is on the list.

    >>> find_function("pellucid.features.f_classif").__name__
    'f_classif'
    >>> find_function("os.system")
    Traceback (most recent call last):
    pellucid.persist.format.ModelFileError: function 'os.system' is not one a model file may name
    """
    if not isinstance(name, str) or name not in FUNCTION_NAMES:
        raise ModelFileError(f"function {brief(name)} is not one a model file may name")
    module, _, last = name.rpartition(".")
    return getattr(_module(module), last)


def public_function(value: Any) -> str | None:
    """The name under which ``find_function`` finds this function, or None."""
    for name in FUNCTION_NAMES:
        if name.rpartition(".")[2] == getattr(value, "__name__", None) and (
            find_function(name) is value
        ):
            return name
    return None


def is_namedtuple(cls: type) -> bool:
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def _is_storable(cls: type, module: str) -> bool:
    """Full dotted names are for estimators and NamedTuples; public ones for dataclasses too."""
    if issubclass(cls, BaseEstimator):
        return not inspect.isabstract(cls)
    return is_namedtuple(cls) or (module == "pellucid" and dataclasses.is_dataclass(cls))


def _is_family_module(module: str) -> bool:
    parts = module.split(".")
    listed = {home.split(".")[0] for home in pellucid._HOME.values() if "." in home}
    families = {"core", "compiled", "solvers", *listed}
    plain = not any(part.startswith("__") for part in parts)
    return plain and len(parts) > 2 and parts[0] == "pellucid" and parts[1] in families


def _module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name + ".").startswith(error.name + "."):
            raise ModelFileError(f"this version has no module {name[:200]}") from error
        raise  # an optional library is missing; its own message names it


def check_attribute(cls: type, name: str) -> None:
    """Refuse what is no plain data of an estimator: methods, properties, dunders, settings."""
    if not name.isidentifier() or name.startswith("__") or name in TRANSIENT:
        raise ModelFileError(f"{cls.__name__} cannot have a stored attribute {brief(name)}")
    own = inspect.getattr_static(cls, name, NOTHING)
    setting = name.startswith("_") and own is not NOTHING
    if setting or hasattr(type(own), "__get__"):
        raise ModelFileError(f"{cls.__name__}.{name} belongs to the class, it is not data of a fit")


def is_cached(cls: type, name: str) -> bool:
    """A cached property is computed again after loading, not stored."""
    return isinstance(inspect.getattr_static(cls, name, None), cached_property)
