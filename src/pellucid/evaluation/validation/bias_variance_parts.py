r"""Why a model errs: bias, variance and noise of the WHOLE model building, repeated.

B models are built on B training sets; at a test point with yhat_b, their mean m and truth f

    squared    E (y - yhat)^2 = (f - m)^2 + (1/B) sum_b (yhat_b - m)^2 + E (y - f)^2
                                bias^2      variance (1/B)               noise
    zero-one   main prediction = the most frequent label (the lowest on ties);
               bias 1[main != y], variance P(yhat != main), total P(yhat != y)

For zero-one loss the parts do not add up: variance helps where the main prediction is wrong.

References: Geman, Bienenstock & Doursat (1992); Domingos (2000).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng, Seed
from pellucid.core.readable import readable
from pellucid.core.records import plain, show
from pellucid.evaluation.workers import root_seed, run_tasks, seeded, task_stream

LOSSES = ("squared", "zero_one")
CONTAINS_NOISE = "bias2 contains the noise, since the truth is not known"
OPTIMISTIC = (
    "bootstrap samples share rows, so the variance over new training sets is larger than this"
)


class Pointwise(NamedTuple):
    """The parts at every test point."""

    bias2: Array
    variance: Array
    noise: Array | None
    total: Array


@readable
class BiasVariance(NamedTuple):
    """Bias, variance, noise and total error, averaged over the test points.

    >>> print(decompose_squared([[1, 2], [3, 2], [2, 5]], truth=[2, 2]))
    total error 1.83333 = bias^2 0.5 + variance 1.33333 (squared loss)
    """

    bias2: float  # squared distance of the mean prediction from the truth
    variance: float  # spread of the models about their mean
    noise: float | None  # spread of the observations; None where unknown
    total: float  # error of a single model
    pointwise: Pointwise  # the same at every test point
    loss: str = "squared"  # squared or zero_one
    notes: tuple[str, ...] = ()  # what to know of the numbers

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict() | {"pointwise": self.pointwise._asdict()})

    def to_frame(self) -> Any:
        """The parts at every test point, as a Polars frame."""
        import polars

        columns = self.pointwise._asdict()
        return polars.DataFrame({k: v for k, v in columns.items() if v is not None})

    def __str__(self) -> str:
        total, bias, spread = (show(v) for v in (self.total, self.bias2, self.variance))
        if self.loss == "squared":
            noise = "" if self.noise is None else f" + noise {show(self.noise)}"
            text = f"total error {total} = bias^2 {bias} + variance {spread}{noise} (squared loss)"
        else:
            usual = f"the usual answer is wrong at {bias} of the points"
            differ = f"models differ from it with probability {spread} (zero-one loss)"
            text = f"wrong with probability {total}: {usual}, and {differ}"
        return "; ".join([text, *self.notes])


def decompose_squared(
    predictions: ArrayLike, truth: ArrayLike | None = None, y: ArrayLike | None = None
) -> BiasVariance:
    """Bias^2, variance and noise of squared error, from the predictions of B models.

    ``predictions`` (B, n) are of B models at n points, ``truth`` (n,) is f there, without noise.
    Noisy observations ``y``, (n,) or (R, n), give the noise beside the truth; alone they stand for
    it, and bias2 then contains the noise.

    >>> parts = decompose_squared([[1, 2], [3, 2], [2, 5]], truth=[2, 2])
    >>> parts.bias2, round(parts.variance, 6), round(parts.total, 6)
    (0.5, 1.333333, 1.833333)
    """
    P = _matrix(predictions)
    if truth is None and y is None:
        raise ValueError("decompose_squared needs the truth, y, or both")
    f = None if truth is None else _points(truth, P.shape[1], "truth")
    observed = None if y is None else np.atleast_2d(_points(y, P.shape[1], "y"))
    centre = P.mean(axis=0)
    variance = ((P - centre) ** 2).mean(axis=0)
    noise = None
    if f is None:
        assert observed is not None
        bias2 = ((observed - centre) ** 2).mean(axis=0)
    else:
        if f.ndim != 1:
            raise ValueError(f"truth must be one number per point, got shape {f.shape}")
        bias2 = (f - centre) ** 2
        noise = None if observed is None else ((observed - f) ** 2).mean(axis=0)
    total = bias2 + variance + (0.0 if noise is None else noise)
    mean_noise = None if noise is None else float(noise.mean())
    parts = float(bias2.mean()), float(variance.mean()), mean_noise
    whole, notes = parts[0] + parts[1] + (parts[2] or 0.0), (CONTAINS_NOISE,) if f is None else ()
    each = Pointwise(bias2, variance, noise, total)
    return BiasVariance(*parts, whole, each, "squared", notes)


def decompose_zero_one(predictions: ArrayLike, y: ArrayLike) -> BiasVariance:
    """Bias, variance and total of zero-one loss, from the labels given by B models.

    ``predictions`` (B, n) are labels by B models at n points, ``y`` (n,) the true ones.

    >>> parts = decompose_zero_one([[0, 1], [0, 0], [1, 0]], [0, 1])
    >>> parts.bias2, round(parts.variance, 6), parts.total
    (0.5, 0.333333, 0.5)
    """
    P, y = np.asarray(predictions), np.asarray(y)
    if P.ndim != 2 or P.size == 0:
        raise ValueError(f"predictions must have shape (models, points), got {P.shape}")
    if y.shape != P.shape[1:]:
        raise ValueError(f"y must have one label per point, {P.shape[1]}, got shape {y.shape}")
    labels, codes = np.unique(P, return_inverse=True)
    codes = codes.reshape(P.shape)
    counts = np.zeros((len(labels), P.shape[1]), dtype=np.intp)
    np.add.at(counts, (codes, np.arange(P.shape[1])), 1)
    main = np.argmax(counts, axis=0)  # the first of the sorted labels on ties
    bias = (labels[main] != y).astype(np.float64)
    variance = (codes != main).mean(axis=0)
    total = (y != P).mean(axis=0)
    means = float(bias.mean()), float(variance.mean()), None, float(total.mean())
    return BiasVariance(*means, Pointwise(bias, variance, None, total), "zero_one")


@readable
class BootstrapDraw(NamedTuple):
    """Training sets by drawing n of the n rows with replacement.

    Draws share rows, so the spread of the models is smaller than over new data: optimistic.

    >>> import numpy as np
    >>> draw = BootstrapDraw(np.arange(3.0)[:, None], np.arange(3.0))
    >>> draw(np.random.default_rng(0))[1]
    array([2., 1., 1.])
    """

    X: Any  # the rows
    y: Any  # their target

    def __call__(self, rng: Rng) -> tuple[Any, Any]:
        n = _num_samples(self.X)
        rows = rng.integers(n, size=n)
        return _safe_indexing(self.X, rows), np.asarray(self.y)[rows]


@readable
class SimulatedDraw(NamedTuple):
    """New training sets from a known law: y = f(X) + noise.

    ``X`` is a fixed design or a function of the Generator; ``noise`` is a standard deviation or a
    function ``(rng, n)`` of the Generator and the number of rows.

    >>> import numpy as np
    >>> draw = SimulatedDraw(lambda X: 2 * X[:, 0], np.ones((2, 1)), 0.0)
    >>> draw(np.random.default_rng(0))[1]
    array([2., 2.])
    """

    f: Callable[[Any], Any]  # the true mean as a function of X
    X: Any
    noise: Any

    def __call__(self, rng: Rng) -> tuple[Any, Any]:
        X = self.X(rng) if callable(self.X) else self.X
        mean = np.asarray(self.f(X), dtype=np.float64)
        if callable(self.noise):
            return X, mean + np.asarray(self.noise(rng, len(mean)))
        return X, mean + float(self.noise) * rng.standard_normal(len(mean))


def bias_variance(
    estimator: BaseEstimator,
    draw: Callable[[Rng], tuple[Any, Any]] | BootstrapDraw | SimulatedDraw,
    X_test: Any,
    *,
    truth: Callable[[Any], Any] | None = None,
    y_test: ArrayLike | None = None,
    loss: str = "squared",
    n_models: int = 200,
    random_state: Seed = 0,
    n_jobs: int | None = None,
    callbacks: object = (),
) -> BiasVariance:
    """Build the model on many training sets and say where its error comes from.

    Parameters
    ----------
    estimator : estimator
        The WHOLE model building, such as a pipeline with its feature selection and tuning. A
        ``random_state`` of None inside it is drawn anew for every model.
    draw : callable ``rng -> (X, y)``
        ``SimulatedDraw(f, X, noise)`` or ``BootstrapDraw(X, y)``.
    X_test : array-like
        The points at which the parts are measured.
    truth : callable, optional
        f(X) without noise; taken from a ``SimulatedDraw`` when not given.
    y_test : array, optional
        Observations at the points.
    loss : {"squared", "zero_one"}, default="squared"
        "zero_one" needs ``y_test``, or a ``truth`` that gives labels.
    n_models : int, default=200
        How many training sets are drawn, >= 2.
    random_state : int, Generator or None, default=0
        Seed of the draws.
    n_jobs : int or None, default=None
        Workers of joblib; the numbers do not depend on it.
    callbacks : scikit-learn callbacks, optional
        Such as ``sklearn.callback.ProgressBar()``; a step is a model.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression
    >>> from pellucid.evaluation import SimulatedDraw, bias_variance
    >>> x = np.linspace(-1, 1, 20)[:, None]
    >>> draw = SimulatedDraw(lambda X: X[:, 0] ** 2, x, 0.1)
    >>> parts = bias_variance(LinearRegression(), draw, x, n_models=50)
    >>> parts.bias2 > 10 * parts.variance  # a line cannot bend
    True
    """
    check.one_of(LOSSES, loss=loss)
    check.whole(n_models=n_models, at_least=2)
    if truth is None and isinstance(draw, SimulatedDraw):
        truth = draw.f
    f = None if truth is None else np.asarray(truth(X_test))
    if f is None and y_test is None:
        raise ValueError("bias_variance needs truth or y_test to compare the predictions with")
    work = partial(_one_model, estimator, draw, X_test, root_seed(random_state))
    models = range(n_models)
    said = run_tasks(work, models, n_jobs=n_jobs, callbacks=callbacks, name="BiasVariance")
    predictions = np.array(said)
    if loss == "squared":
        parts = decompose_squared(predictions, f, y_test)
    else:
        parts = decompose_zero_one(predictions, np.asarray(f if y_test is None else y_test))
    if isinstance(draw, BootstrapDraw):
        parts = parts._replace(notes=(*parts.notes, OPTIMISTIC))
    return parts


def _one_model(estimator: BaseEstimator, draw: Any, X_test: Any, seed: int, i: int) -> Any:
    rng = task_stream(seed, i)
    X, y = draw(rng)
    return seeded(clone(estimator), rng).fit(X, y).predict(X_test)


def _matrix(predictions: ArrayLike) -> Array:
    P = np.asarray(predictions, dtype=np.float64)
    if P.ndim != 2 or P.size == 0:
        raise ValueError(f"predictions must have shape (models, points), got {P.shape}")
    if not np.isfinite(P).all():
        model, point = np.argwhere(~np.isfinite(P))[0]
        raise ValueError(f"predictions must be finite, model {model} says {P[model, point]}")
    return P


def _points(values: ArrayLike, n: int, name: str) -> Array:
    v = np.asarray(values, dtype=np.float64)
    if v.ndim not in (1, 2) or v.shape[-1] != n:
        raise ValueError(f"{name} must have one number per point, {n}, got shape {v.shape}")
    if not np.isfinite(v).all():
        raise ValueError(f"{name} must be finite numbers, got NaN or infinity")
    return v
