r"""Leave-one-out and generalised cross-validation of ridge for many penalties at once.

One decomposition serves every alpha. With q = (x - mean)'V, g = 1/(d^2 + alpha),

    yhat = ybar + q'(d g beta),    h = 1/n + (q^2)'g,
    leave one out   e = (y - yhat)/(1 - h),         gcv   e = (y - yhat)/(1 - tr H/n),

so a second pass over the rows costs one product with V and two with (r, alphas) matrices; only the
sums of e^2 and e^4 are kept. With no more rows than columns the eigenvectors of XX' (or the SVD of
X) give e directly, and 1 - h as a sum of positive terms.   O(n p min(n, p) + n p alphas)

A row of weight w stands for w copies; one copy is left out (the whole row where w < 1), so h
counts min(w, 1) times in 1 - h.

References: Golub, Heath & Wahba (1979); Hastie, Tibshirani & Friedman, ESL, eq. 7.52 and 7.64.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.algebra.least_squares import Engine, Wide, dense_leaf
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.tensors import like, namespace
from pellucid.core.arrays.typing import Array, Map
from pellucid.core.loops.device import DeviceRows, on_device
from pellucid.core.loops.statistics import Rows, Source, Statistic, is_unit, reduce_rows
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.linear.least_squares.smoother import own_fit
from pellucid.linear.ridge.ridge import spectrum_of_rows, spectrum_of_sums
from pellucid.linear.ridge.ridge_model import Spectrum

SQUARED = 1e6  # d_1^2/(d_r^2 + alpha) up to which the squares of X serve; above, X is factored
TIGHT = 1e-10  # 1 - h below which a row is fitted exactly whatever its y
BLOCK = 512  # rows at a time: with 50 alphas the work arrays stay in cache


class RidgeMap(NamedTuple):
    """Everything about the fits of all alphas that a row needs."""

    mean: Array  # (p,)
    y_mean: Array  # (k,)
    V: Array  # (p, r) directions in the units of X
    offset: Array  # (r,) score of x = mean; 0 where the intercept is free or absent
    base: float  # leverage of the free intercept, 1/n
    gains: Array  # (r, A)
    weights: Array  # (r, k, A): d g beta


def choose_alphas(d: Array, n_alphas: int = 100) -> Array:
    """Penalties from a hundredth of the smallest d^2 to a hundred times the largest.

    >>> choose_alphas(np.array([10.0, 1.0]), 3).round(6)
    array([1.e-02, 1.e+01, 1.e+04])
    """
    live = d[d > 0] ** 2
    if not len(live):
        return np.geomspace(1e-2, 1e2, n_alphas)
    return np.geomspace(1e-2 * max(live.min(), 1e-10 * live.max()), 1e2 * live.max(), n_alphas)


def spectrum_for(engine: Engine, smallest: float, *, svd: bool = False) -> Spectrum:
    """The decomposition, from the cross-products where their squares do no harm, else by TSQR."""
    live = engine.live
    with single_threaded_blas():
        G, B = engine.system.G[np.ix_(live, live)], engine.system.B[live]
        found = spectrum_of_sums(G, B, engine.tolerance)
        squares = found.d**2
        worst = squares.max(initial=0.0) / max(squares.min(initial=np.inf) + smallest, 1e-300)
        if len(live) and (svd or worst > SQUARED):
            found = spectrum_of_rows(engine.reduced.A[:, live], engine.reduced.c, engine.tolerance)
        V = np.zeros((len(engine.system.G), len(found.d)))
        V[live] = found.V
        return found._replace(V=V)


def ridge_map(
    found: Spectrum, alphas: Array, unknowns: str, mean: Array, y_mean: Array, weight: float
) -> RidgeMap:
    """The fits of all alphas, ready to meet rows; for ``unknowns`` see core.leastsquares."""
    gains = found.gain(alphas)  # (r, A)
    weights = (found.d[:, None] * gains)[:, None, :] * found.beta[:, :, None]
    if unknowns == "all":
        V, offset = found.V[1:], found.V[0]
        return RidgeMap(np.zeros(len(V)), 0.0 * y_mean, V, offset, 0.0, gains, weights)
    base = 1 / weight if unknowns == "centred" else 0.0
    return RidgeMap(mean, y_mean, found.V, np.zeros(len(found.d)), base, gains, weights)


class Errors(NamedTuple):
    """Sums over the rows of e^2 and e^4 (rows weighted), e averaged over the targets or not."""

    squares: Array  # (A,) or (k, A)
    fourths: Array
    row: int  # the first row with leverage 1, or -1
    rows: int


def leaf_predictions(at: RidgeMap, X: Array) -> tuple[Array, Array]:
    """Predictions (m, k, A) and leverages (m, A) of a few rows."""
    Q = (X - at.mean) @ at.V + at.offset
    r, k, A = at.weights.shape
    fit = (Q @ at.weights.reshape(r, k * A)).reshape(len(X), k, A) + at.y_mean[:, None]
    return fit, np.square(Q, out=Q) @ at.gains + at.base


def room_of(H: Array, w: Array) -> Array:
    """1 - h, for one copy of each row (or what there is of it)."""
    if is_unit(w):
        return np.subtract(1.0, H, out=H)
    return 1 - np.minimum(w, 1.0)[:, None] * H


def leaf_errors(at: RidgeMap, room: Array | None, separate: bool, rows: Rows) -> Errors:
    """Error sums of one leaf; ``room`` replaces 1 - h (gcv)."""
    X, Y = dense_leaf(rows)
    _, k, A = at.weights.shape
    shape = (k, A) if separate else (A,)
    squares, fourths, bad = np.zeros(shape), np.zeros(shape), -1
    for start in range(0, len(X), BLOCK):
        part = slice(start, start + BLOCK)
        E, H = leaf_predictions(at, X[part])
        np.subtract(Y[part, :, None], E, out=E)
        left = room_of(H, rows.w[part]) if room is None else room
        tight = (left <= TIGHT).any(axis=-1)
        if tight.any() and bad < 0:
            bad = start + int(np.argmax(tight))
        with np.errstate(all="ignore"):  # the row is named by the caller
            E /= left[:, None, :] if room is None else left
        np.square(E, out=E)
        e = E if separate else (E[:, 0] if k == 1 else E.mean(axis=1))
        w, flat = np.ascontiguousarray(rows.w[part]), e.reshape(len(e), -1)
        squares += (w @ flat).reshape(shape)
        fourths += (w @ np.square(flat)).reshape(shape)
    return Errors(squares, fourths, bad, len(X))


@on_device(leaf_errors)
def device_errors(at: RidgeMap, room: Array | None, separate: bool, rows: DeviceRows) -> Errors:
    """Error sums of tensors."""
    X, xp, w = rows.X, namespace(rows.X), rows.weights()
    r, k, A = at.weights.shape
    Q = (X - like(at.mean, X)) @ like(at.V, X) + like(at.offset, X)
    flat = Q @ like(at.weights.reshape(r, k * A), X)
    fit = xp.reshape(flat, (-1, k, A)) + like(at.y_mean, X)[:, None]
    E = xp.reshape(rows.y, (X.shape[0], -1))[:, :, None] - fit
    bad: Any = -1
    if room is None:
        H = (Q * Q) @ like(at.gains, X) + like(at.base, X)
        one = xp.ones_like(w)
        left = 1.0 - xp.where(w < 1.0, w, one)[:, None] * H
        tight = xp.any(left <= TIGHT, axis=1)
        first = xp.argmax(xp.astype(tight, xp.int8))
        bad = xp.where(xp.any(tight), first, -xp.ones_like(first))
        E = E / left[:, None, :]
    else:
        E = E / like(room, X)
    E = E * E
    e = E if separate else xp.mean(E, axis=1)
    V = xp.reshape(w, (-1, *([1] * (e.ndim - 1))))
    return Errors(xp.sum(V * e, axis=0), xp.sum(V * e * e, axis=0), bad, X.shape[0])


def merge_errors(a: Errors, b: Errors) -> Errors:
    """Error sums of two leaves."""
    row = a.row if a.row >= 0 else (b.row + a.rows if b.row >= 0 else -1)
    return Errors(a.squares + b.squares, a.fourths + b.fourths, row, a.rows + b.rows)


class Criterion(NamedTuple):
    """Mean squared error per alpha and its standard error: (A,), or (k, A) per target."""

    mean: Array
    error: Array


def criterion_of(sums: Errors, weight: float) -> Criterion:
    """Means and standard errors from the sums."""
    if sums.row >= 0:
        refuse_tight(sums.row)
    mean = sums.squares / weight
    spread = np.maximum(sums.fourths / weight - mean**2, 0.0)
    return Criterion(mean, np.sqrt(spread / max(weight - 1, 1e-300)))


def refuse_tight(row: int) -> None:
    """A row that decides its own fit cannot be left out."""
    raise ValueError(f"{own_fit(row)}, so it cannot be left out; use larger alphas, or cv=5")


def generalised_room(found: Spectrum, alphas: Array, weight: float, base: float) -> Array:
    """1 - tr H/n for each alpha; ``base`` is the leverage of a free intercept, 1/n."""
    trace = found.factors(alphas).sum(axis=0) + base * weight
    return 1 - trace / weight


def cross_validate_rows(
    source: Source, map_: Map, at: RidgeMap, room: Array | None, *, separate: bool, weight: float
) -> Criterion:
    """Leave one out (``room`` None) or gcv, in one pass over the rows."""
    statistic = Statistic(partial(leaf_errors, at, room, separate), merge_errors)
    return criterion_of(reduce_rows(statistic, source, map_), weight)


class WideErrors(NamedTuple):
    """Errors of every row for every alpha, and the decomposition they came from."""

    errors: Array  # (n, k, A): in the units of y
    found: Spectrum


def decompose_wide(wide: Wide, smallest: float, *, svd: bool) -> tuple[Array, Spectrum]:
    """U (n, r) and the spectrum of the rows, from XX' where its squares do no harm."""
    n, tolerance = len(wide.Z), max(wide.Z.shape) * EPS
    with single_threaded_blas():
        pieces = np.array_split(wide.Z, 4, axis=1)  # always four: the same bits for any threads
        if not svd:
            squares, U = np.linalg.eigh(sum(map_threads(lambda P: P @ P.T, pieces)))
            svd = squares[-1] > SQUARED * max(smallest, 1e-300)
        if svd:
            U, d, Vt = np.linalg.svd(wide.Z, full_matrices=False)
            d = np.where(d > tolerance * d.max(initial=0.0), d, 0.0)
            return U, Spectrum(Vt.T, d, U.T @ wide.V)
        squares, U = np.maximum(squares[::-1], 0.0), U[:, ::-1]
        live = squares > n * EPS * squares[0]
        d, U = np.sqrt(squares[live]), U[:, live]
        right = np.concatenate(list(map_threads(lambda P: P.T @ U, pieces)))
        return U, Spectrum(right / d, d, U.T @ wide.V)


def wide_errors(
    wide: Wide, w: Array, alphas: Array, U: Array, found: Spectrum, *, intercept: bool, gcv: bool
) -> WideErrors:
    """Leave-one-out (or gcv) errors of a table with no more rows than columns; weights > 0."""
    with single_threaded_blas():
        live = found.d > 0
        U, d, beta = U[:, live], found.d[live], found.beta[live]
        v = np.sqrt(w / w.sum())[:, None] if intercept else np.zeros((len(w), 0))
        basis = np.linalg.qr(np.hstack([v, U]), mode="complete")[0]
        rest = basis[:, v.shape[1] + len(d) :]  # what no alpha can fit
        with np.errstate(divide="ignore"):
            shrink = 1 / (1 + np.divide.outer(d**2, alphas))  # alpha/(d^2 + alpha): (r, A)
        fitted = np.einsum("ir,rk,ra->ika", U, beta, shrink, optimize=True)
        E = (rest @ (rest.T @ wide.V))[:, :, None] + fitted
        E /= np.sqrt(w)[:, None, None]  # y - yhat
        if gcv:
            trace = (1 - shrink).sum(axis=0) + v.shape[1]
            return WideErrors(E / (1 - trace / w.sum()), found)
        room = U**2 @ shrink + (rest**2).sum(axis=1)[:, None]  # 1 - w h, from positive terms
        copies = np.maximum(w, 1.0)[:, None]
        room = room / copies + (1 - 1 / copies)
        if not (room > 0).all():
            refuse_tight(int(np.argwhere(~(room > 0))[0][0]))
        return WideErrors(E / room[:, None, :], found)


def criterion_of_errors(errors: Array, w: Array, *, separate: bool) -> Criterion:
    """Means and standard errors of given errors (n, k, A)."""
    squares = errors**2 if separate else (errors**2).mean(axis=1)
    mean = np.tensordot(w, squares, 1) / w.sum()
    spread = np.tensordot(w, (squares - mean) ** 2, 1) / w.sum()
    return Criterion(mean, np.sqrt(spread / max(w.sum() - 1, 1e-300)))


def loo_errors(at: RidgeMap, rows: Rows, room: Array | None = None) -> Array:
    """The errors themselves, (n, k, A), for those who ask to keep them."""
    X, Y = dense_leaf(rows)
    fit, H = leaf_predictions(at, X)
    left = room_of(H, rows.w) if room is None else room
    return (Y[:, :, None] - fit) / (left[:, None, :] if room is None else left)
