"""What a fitted model may hold: one line per attribute, in the files of ``persist/state``.

    pellucid.KMeans
        cluster_centers_    f8[c, p]
        labels_             i4[?] in 0:c

A class has its name on a line of its own and its attributes below it, indented; ``*`` has those
that mean the same everywhere. Alternatives are separated by ``|``:

    none bool whole real text label     single values; ``label`` is any of them
    count                               a whole number that memory may be asked for: see ``COUNT``
    f8[c, p]  i8/i4[n]  label[k]        arrays: dtypes, and a size for every axis; ``[...]`` any
    sparse[n, p]  generator  any        a sparse matrix, a random generator, any stored value
    list(x) tuple(x) set(x) dict(x, y)  containers of such values
    @Tree  @                            a record or estimator of this class; any estimator
    {score}  'date'                     a dict with the keys of the section ``{score}``, of which
                                        those with ``?`` may be missing; this very text

A size is a number, ``?`` (any), or a name, with ``+1`` or ``-1``: ``p`` is ``n_features_in_``,
``k`` the number of ``classes_``, another name an attribute or a parameter (its length, if it has
one), or else the same number wherever it stands in the class. ``in 0:k`` bounds whole numbers,
arrays of them and containers: 0 <= x < k.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from pellucid.persist.format import ModelFileError, brief

COUNT = 2**20  # the most a file may count without the bytes to show for it
WORDS = re.compile(
    r"\s*(\.\.\.|\{\w+\}|'\w+'|@[A-Za-z_]\w*|[A-Za-z_]\w*(?:/\w+)*|-?\d+|[\[\](),|:?+@])"
)
NUMBERS = {"b", "i", "u", "f"}


class Scope:
    """The names of one object while it is checked: sizes that other attributes must share."""

    def __init__(self, values: Mapping[str, Any], room: int) -> None:
        self.values = values
        self.room = max(COUNT, room)
        self.sizes: dict[str, int] = {}

    def find(self, name: str) -> int | None:
        """The number that a name stands for, if it is known."""
        if name in self.sizes:
            return self.sizes[name]
        value: Any = self.values.get({"p": "n_features_in_", "k": "classes_"}.get(name, name))
        if isinstance(value, dict | list | tuple):
            return len(value)
        if isinstance(value, np.ndarray):
            return len(value) if value.ndim == 1 else None
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return int(value) if whole else None


class Size(NamedTuple):
    """A size of an axis, or a bound: a number, a name with an offset, or anything."""

    name: str | None = None
    offset: int = 0

    def value(self, scope: Scope) -> int | None:
        """The number, or None where any will do."""
        found = 0 if self.name == "" else None if self.name is None else scope.find(self.name)
        return None if found is None else found + self.offset

    def fits(self, n: int, scope: Scope) -> bool:
        """Compare with a size; a name that is not known yet is known from here on."""
        wanted = self.value(scope)
        if wanted is None and self.name:
            scope.sizes[self.name] = n - self.offset
        return wanted is None or wanted == n


class Spec(NamedTuple):
    """One alternative: a kind, the sizes of an array, what a container holds, bounds."""

    kind: str
    sizes: tuple[Size, ...] | None = None
    inner: tuple[tuple["Spec", ...], ...] = ()
    bounds: tuple[Size, Size] | None = None

    def accepts(self, value: Any, scope: Scope) -> bool:
        """Whether the value is of this kind, shape and range."""
        if self.sizes is not None:
            fits = self._is_array(value, scope)
        elif self.kind in CONTAINERS:
            fits = self._holds(value, scope)
        elif self.kind.startswith("@"):
            fits = _is_object(value, self.kind[1:])
        elif self.kind.startswith("{"):
            fits = _has_fields(value, declarations()[self.kind], scope)
        elif self.kind.startswith("'"):
            fits = isinstance(value, str) and value == self.kind[1:-1]
        else:
            fits = SINGLE[self.kind](value, scope)
        return fits and (self.bounds is None or within(value, self.bounds, scope))

    def _is_array(self, value: Any, scope: Scope) -> bool:
        if self.kind == "sparse":
            right = issparse(value)
        else:
            right = isinstance(value, np.ndarray) and _dtype_fits(value, self.kind)
        if not right or self.sizes is None or self.sizes == (ANY_SHAPE,):
            return right
        return len(self.sizes) == value.ndim and all(
            size.fits(n, scope) for size, n in zip(self.sizes, value.shape, strict=True)
        )

    def _holds(self, value: Any, scope: Scope) -> bool:
        if type(value) not in CONTAINERS[self.kind]:
            return False
        if not self.inner:
            return True
        if self.kind != "dict":
            return all(accepted(item, self.inner[0], scope) for item in value)
        keys, items = self.inner
        return all(
            accepted(key, keys, scope) and accepted(item, items, scope)
            for key, item in value.items()
        )


ANY_SHAPE = Size("...")
CONTAINERS: dict[str, tuple[type, ...]] = {
    "list": (list,),
    "tuple": (tuple,),
    "set": (set, frozenset),
    "dict": (dict,),
}


def _is_whole(value: object, scope: Scope) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_real(value: object, scope: Scope) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _is_label(value: object, scope: Scope) -> bool:
    return value is None or isinstance(value, bool | int | float | str | bytes | np.generic)


SINGLE: dict[str, Callable[[Any, Scope], bool]] = {
    "none": lambda value, _: value is None,
    "bool": lambda value, _: isinstance(value, bool | np.bool),
    "whole": lambda value, scope: _is_whole(value, scope) and -(2**63) <= value < 2**64,
    "count": lambda value, scope: _is_whole(value, scope) and 0 <= value <= scope.room,
    "seed": _is_whole,
    "real": _is_real,
    "text": lambda value, _: isinstance(value, str),
    "label": _is_label,
    "generator": lambda value, _: isinstance(value, np.random.Generator | np.random.RandomState),
    "slice": lambda value, _: isinstance(value, slice),
    "range": lambda value, scope: isinstance(value, range) and len(value) <= scope.room,
    "dtype": lambda value, _: isinstance(value, np.dtype | type),
    "function": lambda value, _: callable(value) and not isinstance(value, BaseEstimator | type),
    "any": lambda value, _: True,
}


def _dtype_fits(array: np.ndarray, kinds: str) -> bool:
    """Whether a dtype is one of ``f8/f4``, ``U``, ``O`` or ``label`` (numbers and text)."""
    dtype = array.dtype
    if dtype.kind == "O":  # decoding lets single values and arrays into one
        plain = not any(isinstance(item, np.ndarray) for item in array.flat)
        return "ragged" in kinds if not plain else ("O" in kinds.split("/") or kinds == "label")
    if kinds == "label":
        return True
    own = dtype.kind if dtype.kind in "US" else dtype.str.lstrip("<|")
    return own in kinds.split("/")


def _is_object(value: object, name: str) -> bool:
    if not name:
        return isinstance(value, BaseEstimator)
    return any(
        cls.__name__ == name and cls.__module__.startswith(("pellucid.", "sklearn."))
        for cls in type(value).__mro__
    )


def _has_fields(value: Any, lines: Mapping[str, str], scope: Scope) -> bool:
    """Whether a dict has these keys and what each of them declares."""
    if type(value) is not dict or not value.keys() <= {key.rstrip("?") for key in lines}:
        return False
    inner = Scope(value, scope.room)
    return all(
        accepted(value[name], specs_of(line), inner) if name in value else key.endswith("?")
        for key, line in lines.items()
        for name in [key.rstrip("?")]
    )


def within(value: Any, bounds: tuple[Size, Size], scope: Scope) -> bool:
    """Whether every whole number in the value lies within the bounds."""
    low, high = (bound.value(scope) for bound in bounds)
    if isinstance(value, dict):
        return all(within(item, bounds, scope) for item in value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return all(within(item, bounds, scope) for item in value)
    if not isinstance(value, np.ndarray | int | float | np.number) or np.size(value) == 0:
        return True
    least, most = (value.min(), value.max()) if isinstance(value, np.ndarray) else (value, value)
    return bool((low is None or least >= low) and (high is None or most < high))


def accepted(value: Any, specs: tuple[Spec, ...], scope: Scope) -> bool:
    """Whether one of the alternatives takes the value; what a failed one assumed is forgotten."""
    for spec in specs:
        known = dict(scope.sizes)
        if spec.accepts(value, scope):
            return True
        scope.sizes = known
    return False


# --- reading the lines --------------------------------------------------------------------------


class Reader:
    """A line of a declaration, word by word."""

    def __init__(self, text: str) -> None:
        self.words: list[str] = []
        place, text = 0, text.strip()
        while place < len(text):
            found = WORDS.match(text, place)
            if found is None:
                raise ValueError(f"a declaration cannot say {text[place:]!r}")
            self.words.append(found[1])
            place = found.end()
        self.words.reverse()

    def take(self, *wanted: str) -> str | None:
        """The next word if it is one of these."""
        if self.words and self.words[-1] in wanted:
            return self.words.pop()
        return None

    def alternatives(self) -> tuple[Spec, ...]:
        found = [self.spec()]
        while self.take("|"):
            found.append(self.spec())
        return tuple(found)

    def spec(self) -> Spec:
        kind, sizes, inner = self.words.pop(), None, []
        if self.take("["):
            sizes = tuple(self.listed("]"))
        elif self.take("("):
            inner = [self.alternatives()]
            while self.take(","):
                inner.append(self.alternatives())
            self.words.pop()
        elif kind not in CONTAINERS and kind[0] not in "@{'" and kind not in SINGLE:
            raise ValueError(f"a declaration does not know the kind {kind!r}")
        bounds = None
        if self.take("in"):
            low = self.size(":")
            self.words.pop()
            bounds = (low, self.size("|", ")", ","))
        return Spec(kind, sizes, tuple(inner), bounds)

    def listed(self, end: str) -> Iterator[Size]:
        while not self.take(end):
            if not self.words:
                raise ValueError(f"a declaration has no {end!r}")
            yield self.size()
            self.take(",")

    def size(self, *ends: str) -> Size:
        """A size; nothing, where one of ``ends`` or the end of the line follows."""
        if not self.words or self.words[-1] in ends:
            return Size()
        word = self.words.pop()
        if word == "?":
            return Size()
        if word.lstrip("-").isdigit():
            return Size("", int(word))
        offset = 0
        if self.take("+") or (self.words and self.words[-1].startswith("-")):
            offset = int(self.words.pop())
        return Size(word, offset)


@cache
def specs_of(line: str) -> tuple[Spec, ...]:
    """The alternatives that a line declares.

    >>> specs_of("f8[k, p] | none")[0].kind
    'f8'
    """
    reader = Reader(line)
    found = reader.alternatives()
    if reader.words:
        raise ValueError(f"a declaration goes on after its end: {line!r}")
    return found


@cache
def declarations() -> dict[str, dict[str, str]]:
    """Every class that has a declaration, with a line for each attribute, as text."""
    found: dict[str, dict[str, str]] = {}
    folder = files("pellucid.persist") / "state"
    for file in folder.iterdir():
        if not file.name.endswith(".txt"):
            continue
        for line in file.read_text("utf-8").splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            if line[0] != " ":
                for name in line.split():
                    found.setdefault(name, {})
                names = line.split()
            else:
                attribute, _, declared = line.strip().partition(" ")
                for name in names:
                    found[name][attribute] = declared.strip()
    return found


def check_state(name: str, params: dict[str, Any], state: dict[str, Any], room: int) -> None:
    """Refuse a state that is not what the class declares; ``room`` is the file's size in bytes."""
    declared = declarations()
    own, common = declared.get(name), declared["*"]
    if own is None:
        raise ModelFileError(f"{name} declares no state, so no file can hold it")
    scope = Scope({**params, **state}, room)
    for key in state:
        if key not in own and key not in common:
            raise ModelFileError(f"{name} declares no attribute {brief(key)}")
    order = [*own, *(key for key in common if key not in own)]
    for key in order:
        values = state if key in state else params if key in own and key in params else None
        if values is None:
            continue
        line = own.get(key, common.get(key, "any"))
        if not accepted(values[key], specs_of(line), scope):
            raise ModelFileError(
                f"the state of {name} does not fit together: {key} must be {line}, "
                f"got {_seen(values[key])}"
            )


def _seen(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype.str} with shape {value.shape}"
    return brief(value) if _is_label(value, Scope({}, 0)) else f"a {type(value).__name__}"
