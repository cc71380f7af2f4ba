"""Objects from checked names and values. No constructor runs and no method is called that the
file could choose; what the class does not know is refused."""

import dataclasses
import inspect
from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from pellucid.persist.allowed import ONLY_NONE, RECORDS, check_attribute, is_namedtuple
from pellucid.persist.format import ModelFileError, brief, expect


def build_estimator(cls: type, name: str, params: dict[str, Any], state: dict[str, Any]) -> Any:
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
    model: Any = object.__new__(cls)
    values = {key: params.get(key, default) for key, default in known.items()}
    for key, value in state.items():
        check_attribute(cls, key)
        if key in known:
            raise ModelFileError(f"{name}.{key} is a parameter, the file has it as state")
        values[key] = build_requests(model, value) if key == "_metadata_request" else value
    vars(model).update(values)
    return checked(model, name)


def checked(model: Any, name: str) -> Any:
    """Let an estimator whose compiled code trusts its state look at what came from the file."""
    check = getattr(type(model), "_check_state", None)
    if check is not None:
        try:
            check(model)
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            raise ModelFileError(f"the state of {name} does not fit together: {error}") from error
    return model


def build_requests(model: Any, stored: object) -> MetadataRequest:
    """scikit-learn's metadata requests, pointing to their new owner."""
    request = MetadataRequest(owner=model)
    methods = vars(request).keys() - {"owner"}
    for method, asked in expect(stored, dict).items():
        if method not in methods:
            raise ModelFileError(f"the manifest routes metadata to {brief(method)}")
        for param, alias in expect(asked, dict).items():
            try:
                getattr(request, method).add_request(param=param, alias=alias)
            except (ValueError, TypeError, AttributeError) as error:
                raise ModelFileError(f"the manifest routes {brief(param)} wrongly") from error
    return request


def build_record(cls: type, name: str, state: dict[str, Any]) -> Any:
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
    if is_namedtuple(cls):
        return unpacked(cls(**state), name)
    record: Any = object.__new__(cls)
    for key in fields:
        object.__setattr__(record, key, state[key] if key in state else defaults[key])
    return record


def unpacked(record: object, name: str) -> Any:
    """A record whose class writes itself shorter than it is (``_to_file``), at full length."""
    whole = getattr(type(record), "_from_file", None)
    if whole is None:
        return record
    try:
        return whole(record)
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        raise ModelFileError(f"the fields of {name} do not fit together") from error


def _defaults(cls: Any) -> dict[str, Any]:
    """The defaults of a dataclass; a fresh object where there is a factory."""
    found = {}
    for field in dataclasses.fields(cls):
        if field.default is not dataclasses.MISSING:
            found[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            found[field.name] = field.default_factory()
    return found
