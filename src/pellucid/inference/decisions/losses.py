r"""Losses, what noise they are the likelihood of, and which prediction they ask for.

    loss            l(y, f)                              noise           optimal prediction
    squared         (y - f)^2                            Gaussian        mean
    half_squared    (y - f)^2 / 2                        Gaussian        mean
    absolute        |y - f|                              Laplace         median
    quantile (q)    (y - f)(q - [y < f])                 asymm. Laplace  q-quantile
    huber (delta)   r^2/2, delta |r| - delta^2/2 beyond  Gaussian core   between mean and median
    zero_one        [y != f]                             none            mode
    logistic        log(1 + e^f) - y f,  y in {0, 1}     Bernoulli       log odds
    cross_entropy   -y log f - (1-y) log(1-f)            Bernoulli       probability
    hinge           max(0, 1 - y f),     y = -1, +1      none            sign of the log odds
    perceptron      max(0, -y f)                         none            any of the right sign
    exponential     e^(-y f)                             none            half the log odds
    poisson         e^f - y f                            Poisson         log mean

argmin_c E l(Y, c) is the optimal prediction: each loss asks for its own number.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import xlog1py, xlogy

from pellucid.core.arrays import check
from pellucid.core.arrays.quantiles import weighted_median
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.functions import losses as core
from pellucid.core.readable import readable
from pellucid.inference.decisions.class_densities import ask_quantile
from pellucid.inference.distributions.distribution import Distribution

Elementwise = Callable[[Any, Any], Array]
SAMPLE = 20_000  # quantiles that stand for a distribution without its own expectation


@readable
class Loss(NamedTuple):
    """A loss of one observation: functions of (y, f), element by element.

    >>> from pellucid.inference import get_loss
    >>> loss = get_loss("absolute")
    >>> loss.value([1.0, 2.0], [0.0, 0.0]), loss.noise, loss.optimal
    (array([1., 2.]), 'Laplace', 'median')
    """

    name: str  # as in ``get_loss``
    value: Elementwise  # (y, f) -> loss
    gradient: Elementwise  # its derivative by f
    hessian: Elementwise  # its second derivative by f
    noise: str  # the noise whose likelihood it is
    optimal: str  # the best constant prediction


LINKS = {
    "squared": ("Gaussian", "mean"),
    "half_squared": ("Gaussian", "mean"),
    "absolute": ("Laplace", "median"),
    "quantile": ("asymmetric Laplace", "quantile"),
    "huber": ("Gaussian with Laplace tails", "between mean and median"),
    "zero_one": ("none", "mode"),
    "logistic": ("Bernoulli", "log odds"),
    "cross_entropy": ("Bernoulli", "probability"),
    "hinge": ("none", "sign of the log odds"),
    "perceptron": ("none", "any number of the likelier sign"),
    "exponential": ("none", "half the log odds"),
    "poisson": ("Poisson", "log mean"),
}
PARAMETERS = {"quantile": ("q", 0.5), "huber": ("delta", 1.35)}


def _pairs(function: Callable[[Any, Any], Array], y: ArrayLike, f: Array) -> Array:
    """Apply to broadcast float arrays of any shape."""
    y, f = np.broadcast_arrays(np.asarray(y, dtype=np.float64), np.asarray(f, dtype=np.float64))
    return np.asarray(function(y.ravel(), f.ravel())).reshape(y.shape)


def _of_core(name: str, epsilon: float | None, factor: float) -> tuple[Elementwise, ...]:
    loss = core.get_loss(name, epsilon)

    def scaled(function: Callable[[Any, Any], Array]) -> Elementwise:
        return partial(_pairs, lambda y, f: factor * function(y, f))

    return scaled(loss.value), scaled(loss.gradient), scaled(loss.curvature)


def _quantile(q: float) -> tuple[Elementwise, ...]:
    return (
        partial(_pairs, lambda y, f: (y - f) * (q - (y < f))),
        partial(_pairs, lambda y, f: np.where(y < f, 1.0 - q, np.where(y > f, -q, 0.0))),
        partial(_pairs, lambda y, f: np.zeros(len(y))),
    )


def _zero_one() -> tuple[Elementwise, ...]:
    nothing = partial(_pairs, lambda y, f: np.zeros(len(y)))
    return partial(_pairs, lambda y, f: (y != f).astype(np.float64)), nothing, nothing


def _cross_entropy() -> tuple[Elementwise, ...]:
    def slope(y: np.ndarray, f: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(y > 0, -y / f, 0.0) + np.where(y < 1, (1 - y) / (1 - f), 0.0)

    def curvature(y: np.ndarray, f: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(y > 0, y / f**2, 0.0) + np.where(y < 1, (1 - y) / (1 - f) ** 2, 0.0)

    value = partial(_pairs, lambda y, f: -xlogy(y, f) - xlog1py(1 - y, -f))
    return value, partial(_pairs, slope), partial(_pairs, curvature)


def get_loss(name: "str | Loss | Callable[..., Any]", **params: Any) -> Loss:
    """The loss of this name, with its link to a noise model and to a prediction.

    Parameters
    ----------
    name : str or callable
        squared, half_squared, absolute, quantile, huber, zero_one, logistic, cross_entropy,
        hinge, perceptron, exponential, poisson; or a function of (y, f), whose derivatives are
        then taken numerically.
    **params : float
        ``q`` in (0, 1) of quantile (0.5), ``delta`` > 0 of huber (1.35).

    Examples
    --------
    >>> from pellucid.inference import get_loss
    >>> get_loss("quantile", q=0.9).value([2.0, 0.0], [1.0, 1.0])
    array([0.9, 0.1])
    >>> get_loss("logistic").gradient([1.0], [0.0])
    array([-0.5])
    """
    if isinstance(name, Loss):
        return name
    if callable(name):
        _no_more(params, getattr(name, "__name__", "a function"))
        return _of_function(name)
    check.one_of(tuple(LINKS), loss=name)
    value: Any = None
    if name in PARAMETERS:
        value = params.pop(*PARAMETERS[name])
    _no_more(params, name)
    if name == "quantile":
        check.fraction(q=value)
        parts = _quantile(value)
    elif name == "huber":
        check.positive(delta=value)
        parts = _of_core("huber", value, 1.0)
    elif name == "zero_one":
        parts = _zero_one()
    elif name == "cross_entropy":
        parts = _cross_entropy()
    else:
        half = name == "half_squared"
        parts = _of_core("squared" if half else name, None, 0.5 if half else 1.0)
    return Loss(name, parts[0], parts[1], parts[2], *LINKS[name])


def _no_more(params: dict[str, Any], name: str) -> None:
    if params:
        raise ValueError(f"loss {name!r} has no parameter {', '.join(sorted(params))}")


def _of_function(function: Callable[[Any, Any], Any]) -> Loss:
    step = 1e-4

    def value(y: ArrayLike, f: Array) -> Array:
        return _pairs(lambda a, b: np.asarray(function(a, b), dtype=np.float64), y, f)

    def gradient(y: ArrayLike, f: Array) -> Array:
        h = step * (1.0 + np.abs(f))
        return (value(y, np.add(f, h)) - value(y, np.subtract(f, h))) / (2.0 * h)

    def hessian(y: ArrayLike, f: Array) -> Array:
        h = step * (1.0 + np.abs(f))
        outer = value(y, np.add(f, h)) + value(y, np.subtract(f, h))
        return (outer - 2.0 * value(y, f)) / h**2

    name = getattr(function, "__name__", "function")
    return Loss(name, value, gradient, hessian, "unknown", "found by search")


def optimal_prediction(
    x: Any,
    loss: "str | Loss | Callable[..., Any]" = "squared",
    sample_weight: Any = None,
    **params: Any,
) -> float:
    """The constant c of least E loss(Y, c), for a sample or a distribution.

    Parameters
    ----------
    x : array-like of shape (n,), or a distribution
        A distribution has ``quantile`` (or scipy's ``ppf``).
    loss : str, Loss or callable, default="squared"
        A name of ``get_loss``. Mean, middle of the median interval, quantile and mode (the
        smallest of several) are exact; other losses are minimised by a bounded search.
    sample_weight : array-like of shape (n,), default=None
        Of a sample.
    **params : float
        Parameters of the loss: ``q``, ``delta``.

    Examples
    --------
    >>> from pellucid.inference import optimal_prediction
    >>> x = [2.0, 4.0, 5.0, 10.0]
    >>> optimal_prediction(x), optimal_prediction(x, "absolute")
    (5.25, 4.5)
    >>> optimal_prediction([1, 2, 2, 7], "zero_one")
    2.0
    """
    chosen = get_loss(loss, **params)
    if _is_distribution(x):
        if sample_weight is not None:
            raise ValueError("a distribution takes no sample_weight")
        return _of_distribution(x, chosen, params)
    values, w = _sample(x, sample_weight)
    if chosen.name in ("squared", "half_squared", "cross_entropy"):
        return float(w @ values / w.sum())
    if chosen.name == "absolute":
        return float(weighted_median(values, w))
    if chosen.name == "quantile":
        return weighted_quantile(values, w, float(params.get("q", 0.5)))
    if chosen.name == "zero_one":
        distinct, place = np.unique(values, return_inverse=True)
        return float(distinct[np.argmax(np.bincount(place, w))])
    return _search(values, w, chosen)


def _is_distribution(x: ArrayLike) -> bool:
    return not isinstance(x, np.ndarray) and (hasattr(x, "ppf") or callable(_quantiles_of(x)))


def _quantiles_of(x: ArrayLike) -> Any:
    return None if hasattr(x, "iloc") or hasattr(x, "__len__") else getattr(x, "quantile", None)


def _sample(x: ArrayLike, sample_weight: np.ndarray | None) -> tuple[Array, Array]:
    values = np.asarray(x, dtype=np.float64).ravel()
    if len(values) == 0 or not np.isfinite(values).all():
        raise ValueError("x must hold at least one number, all of them finite")
    w = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if w.shape != values.shape or not (np.isfinite(w) & (w >= 0)).all() or not w.any():
        raise ValueError("sample_weight must be one finite number >= 0 per value, not all 0")
    return values[w > 0], w[w > 0]


def weighted_quantile(x: Array, w: Array, q: float) -> float:
    """The middle of the interval of q-quantiles.

    >>> weighted_quantile(np.arange(5.0), np.ones(5), 0.9)
    4.0
    """
    order = np.argsort(x)
    x, below = x[order], np.cumsum(w[order])
    near = 1e-12 * below[-1]
    low = x[min(int(np.searchsorted(below, q * below[-1] - near)), len(x) - 1)]
    high = x[min(int(np.searchsorted(below, q * below[-1] + near, side="right")), len(x) - 1)]
    return float(low + (high - low) / 2.0)


def _search(values: Array, w: Array, loss: Loss) -> float:
    """The least mean loss between bounds that hold it; the log scale for log odds and log means."""
    if loss.name in ("logistic", "hinge", "perceptron", "exponential"):
        allowed = (0.0, 1.0) if loss.name == "logistic" else (-1.0, 1.0)
        if not np.isin(values, allowed).all():
            raise ValueError(f"loss {loss.name!r} needs y in {allowed}")
    mean = float(w @ values / w.sum())
    if loss.name == "poisson":
        if values.min() < 0:
            raise ValueError("loss 'poisson' needs y >= 0")
        return float(np.log(mean)) if mean > 0 else -np.inf
    if loss.name in ("logistic", "exponential"):
        share = mean if loss.name == "logistic" else (mean + 1.0) / 2.0
        with np.errstate(divide="ignore"):
            odds = float(np.log(share) - np.log1p(-share))
        return odds if loss.name == "logistic" else odds / 2.0
    low, high = float(values.min()), float(values.max())
    if low == high and loss.name not in ("hinge", "perceptron"):
        return low
    if loss.name in ("hinge", "perceptron"):
        low, high = -1.0, 1.0

    def risk(c: float) -> float:
        return float(w @ loss.value(values, np.full(len(values), c)))

    grid = np.linspace(low, high, 257)  # then the best cell, so that several valleys do no harm
    best = int(np.argmin([risk(c) for c in grid]))
    return min((float(grid[best]), _lowest(risk, grid, best)), key=risk)


def _lowest(function: Callable[[float], float], grid: Array, best: int) -> float:
    """The minimiser between the neighbours of a point of the grid."""
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    options = {"xatol": 1e-10}
    return float(minimize_scalar(function, bounds=bounds, method="bounded", options=options).x)


def law_quantile(law: Distribution, q: Array) -> Array:
    """Quantiles of a distribution that must have them."""
    points = ask_quantile(law, q)
    if points is None:
        raise ValueError(f"{law} has no quantile")
    return points


def _of_distribution(law: Distribution, loss: Loss, params: dict[str, Any]) -> float:
    def quantile(q: float) -> float:
        return float(np.ravel(law_quantile(law, np.array([q])))[0])

    if loss.name in ("squared", "half_squared", "cross_entropy"):
        mean = law.mean() if callable(law.mean) else law.mean
        return float(mean)
    if loss.name == "absolute":
        return quantile(0.5)
    if loss.name == "quantile":
        return quantile(float(params.get("q", 0.5)))
    if loss.name == "zero_one":
        return _mode(law)
    points = law_quantile(law, (np.arange(SAMPLE) + 0.5) / SAMPLE)
    return _search(points, np.ones(SAMPLE), loss)


def _mode(law: Distribution) -> float:
    mode = getattr(law, "mode", None)
    if mode is not None:
        return float(mode() if callable(mode) else mode)
    points = np.unique(law_quantile(law, (np.arange(SAMPLE) + 0.5) / SAMPLE))
    name = next((n for n in ("log_density", "logpdf", "logpmf") if hasattr(law, n)), None)
    if name is None:
        raise ValueError(f"{law} has neither mode nor a density")
    log_density = getattr(law, name)
    best = int(np.argmax(log_density(points)))
    if name == "logpmf":
        return float(points[best])
    return _lowest(lambda c: -float(log_density(c)), points, best)
