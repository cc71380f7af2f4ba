"""Objects from checked names and values. No method is called that the file could choose; what the
class does not declare is refused before the object exists."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from pellucid.persist.allowed import (
    ONLY_NONE,
    RECORDS,
    check_attribute,
    class_name,
    is_namedtuple,
)
from pellucid.persist.foreign import CHECKS
from pellucid.persist.format import ModelFileError, brief, expect
from pellucid.persist.kinds import check_fields, check_params
from pellucid.persist.schema import check_state, declarations

# What a check or a constructor of the library may raise on values that it was not made for.
TROUBLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
)


def build_estimator(
    cls: type, name: str, params: dict[str, Any], state: dict[str, Any], room: int
) -> Any:
    """An estimator with these parameters and this state; its constructor does not run."""
    signature = inspect.signature(cls.__init__).parameters  # type: ignore[misc]
    known = {key: signature[key].default for key in cls._get_param_names()}  # type: ignore[attr-defined]
    for key in params:
        if key not in known:
            raise ModelFileError(f"{name} has no parameter {brief(key)}, the file gives one")
    for key, default in known.items():
        if key not in params and default is inspect.Parameter.empty:
            raise ModelFileError(f"{name} needs a parameter {key!r}, the file gives none")
    for key in ONLY_NONE.get(name, ()):
        if params.get(key) is not None:
            raise ModelFileError(f"{name} is loaded only with {key}=None")
    values = {key: params.get(key, default) for key, default in known.items()}
    for key in state:
        check_attribute(cls, key)
        if key in known:
            raise ModelFileError(f"{name}.{key} is a parameter, the file has it as state")
    check_params(cls, name, params)
    check_state(name, values, state, room)
    model: Any = object.__new__(cls)
    for key, value in state.items():
        values[key] = build_requests(model, value) if key == "_metadata_request" else value
    vars(model).update(values)
    return checked(model, name)


def checked(model: Any, name: str) -> Any:
    """Let an estimator whose compiled code trusts its state look at what came from the file."""
    check = CHECKS.get(name) or getattr(type(model), "_check_state", None)
    if check is not None:
        guarded(check, f"the state of {name} does not fit together", model)
    return model


def guarded(function: Callable[..., Any], what: str, *values: Any, **fields: Any) -> Any:
    """Call a function of the library with values from the file; only one error leaves it."""
    try:
        return function(*values, **fields)
    except ModelFileError:
        raise
    except TROUBLE as error:
        raise ModelFileError(f"{what}: {brief_error(error)}") from error


def brief_error(error: BaseException) -> str:
    """One line of at most 200 characters."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def build_requests(model: Any, stored: object) -> MetadataRequest:
    """scikit-learn's metadata requests, pointing to their new owner."""
    request = MetadataRequest(owner=model)
    methods = vars(request).keys() - {"owner"}
    for method, asked in expect(stored, dict).items():
        if method not in methods:
            raise ModelFileError(f"the manifest routes metadata to {brief(method)}")
        for param, alias in expect(asked, dict).items():
            add = getattr(request, method).add_request
            guarded(add, f"the manifest routes {brief(param)} wrongly", param=param, alias=alias)
    return request


def build_record(cls: type, name: str, state: dict[str, Any], room: int) -> Any:
    """A NamedTuple, a dataclass or a listed record with exactly its own fields."""
    if is_namedtuple(cls):
        fields, defaults = set(cls._fields), dict(cls._field_defaults)  # type: ignore[attr-defined]
    elif name in RECORDS:
        fields, defaults = set(RECORDS[name]), {}
    else:
        fields, defaults = {field.name for field in dataclasses.fields(cls)}, _defaults(cls)
    if not fields - defaults.keys() <= state.keys() <= fields:
        raise ModelFileError(
            f"{name} has the fields {', '.join(sorted(fields))}, the file gives others"
        )
    for key, accepts in RECORDS.get(name, {}).items():
        if not accepts(state[key]):
            raise ModelFileError(f"{name} cannot hold {brief(state[key])} as {key}")
    if name not in RECORDS:
        check_fields(cls, name, state)
    own = class_name(cls) or name  # the file may say another name of the same class
    if own in declarations():
        check_state(own, {}, {**defaults, **state}, room)
    if is_namedtuple(cls):
        return guarded(_namedtuple, f"the fields of {name} do not fit together", cls, state)
    record: Any = object.__new__(cls)
    for key in fields:
        object.__setattr__(record, key, state[key] if key in state else defaults[key])
    return record


def _namedtuple(cls: Any, state: dict[str, Any]) -> Any:
    """A record; one whose class writes itself shorter (``_to_file``) at full length.

    Its constructor may check the fields, and ``_check_state`` what the annotations cannot say.
    """
    record = cls(**state)
    check = getattr(cls, "_check_state", None)
    if check is not None:
        check(record)
    return record._from_file() if hasattr(cls, "_from_file") else record


def _defaults(cls: Any) -> dict[str, Any]:
    """The defaults of a dataclass; a fresh object where there is a factory."""
    found = {}
    for field in dataclasses.fields(cls):
        if field.default is not dataclasses.MISSING:
            found[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            found[field.name] = field.default_factory()
    return found
