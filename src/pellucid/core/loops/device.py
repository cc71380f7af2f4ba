r"""Rows on an accelerator: the sums of a fit are computed where the rows are.

A statistic (``statistics.py``) is ``summarise(rows) -> S`` and ``merge(S, S) -> S``. A leaf
function may have a second form for tensors, written in the array API and registered beside it:

    @on_device(leaf_moments)
    def device_moments(rows): ...          # the same arguments, the same record, made of tensors

``DeviceRows`` is a source like the blocks of a file, so an estimator that can ``fit_blocks`` needs
nothing else: its shell, certificates, history and inference see the same small host records. Rows
are taken in pieces of PIECE_BYTES; where memory runs out the pieces are halved. A statistic without
a form for tensors is refused, never computed elsewhere in silence.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pellucid.core.arrays.tensors import describe, host, is_tensor, namespace
from pellucid.core.loops.statistics import LEAF_ROWS, Moments, Rows, Statistic, unit_weights

PIECE_BYTES = 2**31  # of X at a time; few launches keep a device busy

Form = TypeVar("Form", bound=Callable[..., Any])
FORMS: dict[Callable[..., Any], Callable[..., Any]] = {}


def on_device(leaf: Callable[..., Any]) -> Callable[[Form], Form]:
    """Register the form for tensors of a leaf function."""

    def register(form: Form) -> Form:
        FORMS[leaf] = form
        return form

    return register


class DeviceRows(NamedTuple):
    """Checked rows on a device."""

    X: Any  # (n, p) float64 or float32
    y: Any  # (n,), (n, k) or None
    w: Any  # (n,) or None: every weight is 1

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    def slice(self, start: int, stop: int) -> "DeviceRows":
        """The rows from ``start`` to before ``stop``; X in double precision."""
        xp, stop = namespace(self.X), min(stop, self.n_rows)
        y, w = (None if a is None else a[start:stop, ...] for a in (self.y, self.w))
        return DeviceRows(xp.astype(self.X[start:stop, ...], xp.float64, copy=False), y, w)

    def spans(self) -> list["DeviceSpan"]:
        """One span for each leaf; reading one copies it to the host."""
        return [DeviceSpan(self, start) for start in range(0, self.n_rows, LEAF_ROWS)]

    def read(self) -> Rows:
        """The rows copied to the host."""
        X = np.ascontiguousarray(host(self.X))
        w = unit_weights(len(X)) if self.w is None else host(self.w)
        return Rows(X, None if self.y is None else host(self.y), w)

    def weights(self) -> Any:
        """The weights as a tensor."""
        if self.w is not None:
            return self.w
        xp = namespace(self.X)
        return xp.ones(self.n_rows, dtype=xp.float64, device=self.X.device)

    def reduce(self, statistic: Statistic) -> Any:
        """The statistic of all rows, by its form for tensors."""
        form = form_of(statistic.summarise, self.X)
        size = max(LEAF_ROWS, PIECE_BYTES // (8 * max(1, self.X.shape[1])))
        while True:
            size -= size % LEAF_ROWS  # whole leaves, for statistics of each
            try:
                parts = [form(self.slice(i, i + size)) for i in range(0, self.n_rows, size)]
                break
            except RuntimeError as error:
                if "out of memory" not in str(error).lower() or size <= LEAF_ROWS:
                    raise
                size //= 2
        records = [to_host(part) for part in parts]
        total = records[0]
        for record in records[1:]:
            total = statistic.merge(total, record)
        return total


class DeviceSpan(NamedTuple):
    """One leaf of rows on a device, read to the host when asked for."""

    rows: DeviceRows
    start: int

    def leaves(self) -> Iterator[Rows]:
        yield self.rows.slice(self.start, self.start + LEAF_ROWS).read()


def form_of(summarise: Callable[[Rows], Any], X: Any) -> Callable[[DeviceRows], Any]:
    """The form for tensors of a leaf function, with the arguments it was given."""
    given: tuple[Any, ...] = ()
    named: dict[str, Any] = {}
    leaf: Any = summarise
    while isinstance(leaf, partial):
        given, named, leaf = (*leaf.args, *given), {**leaf.keywords, **named}, leaf.func
    if leaf not in FORMS:
        name = f"{leaf.__module__.partition('.')[2]}.{leaf.__name__}"
        raise TypeError(f"X is {describe(X)}, and {name} has no form for tensors: use NumPy arrays")
    return partial(FORMS[leaf], *given, **named)


def to_host(record: Any) -> Any:
    """A record of tensors as one of NumPy arrays; single numbers become floats and ints.

    >>> to_host((1.0, [np.ones(2)], None))
    (1.0, [array([1., 1.])], None)
    """
    if is_tensor(record):
        found = host(record)
        return found.item() if found.ndim == 0 else found
    if isinstance(record, tuple):
        fields = [to_host(field) for field in record]
        return type(record)(*fields) if hasattr(record, "_fields") else tuple(fields)
    return [to_host(field) for field in record] if isinstance(record, list) else record


def centred(Z: Any, w: Any) -> tuple[Any, Any]:
    """The mean (1, d) of the rows of Z and the rows without it; a constant column becomes 0."""
    xp = namespace(Z)
    origin = Z[:1, :]
    C = Z - origin
    offset = xp.mean(C, axis=0, keepdims=True) if w is None else (w[None, :] @ C) / xp.sum(w)
    return origin + offset, C - offset


def cross(A: Any, B: Any) -> Any:
    """A'B of tensors with many rows: leaf by leaf side by side, so that a device is kept busy."""
    xp, n = namespace(A), A.shape[0]
    whole = n - n % LEAF_ROWS
    if whole <= LEAF_ROWS:
        return A.T @ B
    a, b = (xp.reshape(V[:whole, :], (-1, LEAF_ROWS, V.shape[1])) for V in (A, B))
    total = xp.sum(xp.matmul(xp.matrix_transpose(a), b), axis=0)
    return total if whole == n else total + A[whole:, :].T @ B[whole:, :]


def far_off(square: Any, kept: Any) -> bool:
    """Whether taking ``square`` off lost more than two digits of what is ``kept``."""
    return bool(namespace(square).any(square > 100.0 * kept))


def tensor_moments(X: Any, y: Any, w: Any) -> Moments:
    """Weight, mean and scatter of the columns of [X y], y None for those of X alone.

    The cross-products are those of the raw columns, with the means taken off afterwards; where that
    would cost digits (a mean far from 0, a constant column) the rows are centred first.
    """
    xp = namespace(X)
    Y = None if y is None else xp.reshape(xp.astype(y, xp.float64, copy=False), (X.shape[0], -1))
    total = xp.asarray(float(X.shape[0]), dtype=xp.float64) if w is None else xp.sum(w)
    ones = xp.ones((X.shape[0], 1), dtype=X.dtype, device=X.device) if w is None else w[:, None]
    shift = None
    for attempt in range(2):
        if attempt:
            shift, X = centred(X, w)
            if Y is not None:
                own, Y = centred(Y, w)
                shift = xp.concat([shift, own], axis=1)
        weighted = X if w is None else X * w[:, None]
        side = ones if Y is None else xp.concat([Y if w is None else Y * w[:, None], ones], axis=1)
        right = cross(X, side)  # [X'WY, X'w]
        scatter, sums = cross(X, weighted), right[:, -1]
        if Y is not None:
            below = cross(Y, side)
            top = xp.concat([scatter, right[:, :-1]], axis=1)
            bottom = xp.concat([right[:, :-1].T, below[:, :-1]], axis=1)
            scatter, sums = xp.concat([top, bottom], axis=0), xp.concat([sums, below[:, -1]])
        off = sums / total
        if not far_off(off * sums, xp.linalg.diagonal(scatter) - off * sums):
            break
    mean = off if shift is None else shift[0, :] + off
    return Moments(total, mean, scatter - off[:, None] * sums[None, :])
