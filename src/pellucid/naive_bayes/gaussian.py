r"""Gaussian naive Bayes.

Model        c ~ pi,   x_j | c ~ N(theta_cj, var_cj), independent over j
Estimator    maximum likelihood: pi_c = W_c / W, theta_cj = m_cj, var_cj = S_cj / W_cj + epsilon
             with epsilon = var_smoothing max_j var(x_j)
Joint        log p(x, c) = log pi_c - 1/2 sum_j [log(2 pi var_cj) + (x_j - theta_cj)^2 / var_cj]
Algorithm    one pass for the moments (W, m, S) within the classes (compiled.moments).  O(n p)

With ``shared_variance`` var_cj = sum_c S_cj / sum_c W_cj for every class. The squares of x cancel
between classes, and the posterior is that of a logistic (softmax) regression with

    coef_c = theta_c / var,     intercept_c = log pi_c - 1/2 sum_j theta_cj^2 / var_j.

Missing cells are left out of the moments and of the joint: exact marginalisation. Two corners:

* A class in which a feature is never seen takes that feature's moments over all classes, so that
  it says nothing for or against a class beyond what the others say together. A feature seen
  nowhere has theta = var = NaN and contributes 0.
* A variance of 0 (a constant feature, no smoothing) is a point mass. It is replaced by the
  smallest spread that numbers of the feature's size can show, (2^-52 r_j)^2 with r_j the root
  mean square of the feature, so that densities stay finite and the class wins at its constant and
  nowhere else.

References: Duda & Hart (1973), section 2; Chan, Golub & LeVeque (1979); Hastie, Tibshirani,
Friedman, ESL, section 6.6.3.
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from pellucid.base import fit_blocks, with_callbacks
from pellucid.compiled.counts.moments import ClassMoments, class_moments, merge_class_moments
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Map, Rng
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.naive_bayes.naive_bayes import NaiveBayes

TINY = float(np.finfo(np.float64).tiny)  # 1 / TINY is still finite
RESOLUTION = float(np.finfo(np.float64).eps)


class ZeroVarianceWarning(UserWarning):
    """A feature is constant within a class and no smoothing is added: a point mass."""


class UnseenFeatureWarning(UserWarning):
    """A feature has no value in a class, or in none."""


class Pooled(NamedTuple):
    """Moments of each feature over all classes; NaN where it is never seen."""

    mean: Array  # (p,)
    var: Array  # (p,)  around the mean of all classes
    within: Array  # (p,)  around the mean of each class


class GaussianNBFit(NamedTuple):
    prior: Array  # (K,)
    theta: Array  # (K, p)
    var: Array  # (K, p)
    epsilon: float
    constant: BoolArray  # (K, p)  the variance was 0
    unseen: BoolArray  # (K, p)  no value of the feature in the class


class LogDensity(NamedTuple):
    """log p(x, c) = log_prior_c + sum_j [log_scale_cj - half_precision_cj (x_j - mean_cj)^2]."""

    mean: Array  # (K, p)
    half_precision: Array  # (K, p)
    log_scale: Array  # (K, p)
    log_prior: Array  # (K,)


def pool(moments: ClassMoments) -> Pooled:
    """Moments of each feature over all classes."""
    _, W, m, S = moments
    total = W.sum(axis=0)
    n = np.where(total > 0, total, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow stays to be found: inf
        within = S.sum(axis=0)
        mean = (W * m).sum(axis=0) / n
        between = (W * (m - mean) ** 2).sum(axis=0)
    return Pooled(mean, (within + between) / n, within / n)


def fit_gaussian_nb(
    moments: ClassMoments, priors: Array | None, var_smoothing: float, shared_variance: bool
) -> GaussianNBFit:
    """Maximum likelihood from the moments within the classes."""
    count, W, m, S = moments
    pooled = pool(moments)
    seen = np.isfinite(pooled.var)
    epsilon = var_smoothing * float(pooled.var[seen].max(initial=0.0))

    unseen = W == 0
    theta = np.where(unseen, pooled.mean, m)
    if shared_variance:
        var = np.broadcast_to(pooled.within, W.shape) + epsilon
    else:
        var = np.where(unseen, pooled.var, S / np.where(unseen, 1.0, W)) + epsilon

    size = np.sqrt(pooled.var + pooled.mean**2)  # root mean square, (p,)
    floor = np.maximum((RESOLUTION * np.where(size > 0, size, 1.0)) ** 2, TINY)
    constant = var < TINY
    var = np.where(constant, floor, var)
    prior = count / count.sum() if priors is None else priors
    return GaussianNBFit(prior, theta, var, epsilon, constant, unseen)


def log_density(prior: Array, theta: Array, var: Array) -> LogDensity:
    """Constants of the joint log density; a feature seen nowhere (NaN) contributes 0."""
    known = ~np.isnan(var)
    v = np.where(known, var, 1.0)
    with np.errstate(divide="ignore"):  # a prior of 0
        log_prior = np.log(prior)
    return LogDensity(
        mean=np.where(known, theta, 0.0),
        half_precision=np.where(known, 0.5 / v, 0.0),
        log_scale=np.where(known, -0.5 * np.log(2 * np.pi * v), 0.0),
        log_prior=log_prior,
    )


@jit(reassociate=True)
def write_joint_log_density(X, mean, half_precision, log_scale, log_prior, constant, out):
    """out[i, c] = log p(x_i, c); constant (K,) = log_prior + sum_j log_scale."""
    n, p = X.shape
    for i in range(n):
        x = X[i]
        for c in range(len(mean)):
            m, h = mean[c], half_precision[c]
            q = 0.0
            for j in range(p):
                d = x[j] - m[j]
                q += d * d * h[j]
            if q == q:
                out[i, c] = constant[c] - q
                continue
            total = log_prior[c]  # some cell is missing: sum over the others
            for j in range(p):
                if h[j] == 0.0 and x[j] == x[j]:
                    total += 0.0 * x[j]  # never seen in training: 0, or NaN if infinite
                elif x[j] == x[j]:
                    d = x[j] - m[j]
                    total += log_scale[c, j] - d * d * h[j]
            out[i, c] = total


def joint_log_density(density: LogDensity, X: Array) -> Array:
    """log p(x_i, c), shape (n, K), without the cells that are NaN.

    >>> density = log_density(np.array([1.0]), np.array([[0.0]]), np.array([[1.0]]))
    >>> joint_log_density(density, np.array([[0.0], [np.nan]])).round(4).tolist()
    [[-0.9189], [0.0]]
    """
    X = X if X.flags.writeable else X.copy()  # a read-only array would compile anew
    out = np.empty((len(X), len(density.mean)))
    constant = density.log_prior + density.log_scale.sum(axis=1)
    write_joint_log_density(X, *density, constant, out)
    return out


def contributions(density: LogDensity, X: Array) -> Array:
    """log p(x_ij | c), shape (n, K, p); 0 for a cell that is NaN."""
    with np.errstate(over="ignore", invalid="ignore"):  # a density may underflow to 0
        D2 = (X[:, None, :] - density.mean) ** 2
        terms = density.log_scale - density.half_precision * D2
    return np.where(np.isnan(terms), 0.0, terms)


def log_likelihood(density: LogDensity, moments: ClassMoments) -> float:
    """log p(X, y) of the rows behind ``moments``, from the moments alone."""
    count, W, m, S = moments
    mean, h, log_scale, log_prior = density
    squares = S + W * (m - mean) ** 2  # around theta
    present = count > 0
    labels = count[present] @ log_prior[present]
    return float(labels + (W * log_scale - h * squares).sum())


def check_priors(priors: ArrayLike | None, n_classes: int) -> Array | None:
    """Given priors as a vector: one per class, none negative, sum 1."""
    if priors is None:
        return None
    try:
        prior = np.array(priors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"priors must be numbers, one per class, got {priors!r}") from None
    if prior.shape != (n_classes,):
        given = len(prior) if prior.ndim == 1 else f"shape {prior.shape}"
        needed = f"{n_classes} needed, got {given}"
        raise ValueError(f"Number of priors must match number of classes: {needed}")
    if (prior < 0).any():
        raise ValueError(f"Priors must be non-negative, got {prior.min():g}")
    if not np.isclose(prior.sum(), 1.0):
        raise ValueError(f"The sum of the priors should be 1, got {prior.sum():g}")
    return prior


def too_large(name: str) -> str:
    """The refusal of a column whose squares overflow."""
    return f"{name} holds numbers too large to be squared; divide the column by a constant"


class GaussianNB(NaiveBayes):
    """Naive Bayes with a normal density for each feature within each class.

    NaN is accepted as a missing cell in fit and prediction and left out. ``sample_weight`` equals
    repetition. ``summary()`` is not defined: the parameters are means and variances of the
    classes, not effects.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Class probabilities that replace the shares of the classes; they sum to 1.
    var_smoothing : float, default=1e-9
        This share of the largest feature variance is added to every variance, ``>= 0``;
        0 is exact maximum likelihood.
    shared_variance : bool, default=False
        One variance per feature for all classes (divisor N). The rule is then linear and
        ``coef_``, ``intercept_`` hold the logistic weights it implies.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_count_, class_prior_ : ndarray of shape (n_classes,)
        Sum of the weights of each class; probability of each class.
    theta_, var_ : ndarray of shape (n_classes, n_features)
        Mean and variance (with ``epsilon_``) of each feature in each class; NaN for a feature
        that was never seen.
    epsilon_ : float
        What was added to the variances.
    coef_, intercept_ : ndarray of shape (n_rules, n_features) and (n_rules,)
        With ``shared_variance`` only, for rows without missing cells. Two classes: one rule, the
        log-odds of ``classes_[1]``; otherwise a softmax score for each class.
    moments_ : ndarray of shape (3, n_classes, n_features)
        Weight, mean and centred sum of squares of the cells seen; what ``partial_fit`` adds to.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import GaussianNB
    >>> model = GaussianNB(var_smoothing=0).fit([[1], [2], [3], [6], [7], [8]], [0, 0, 0, 1, 1, 1])
    >>> model.theta_.ravel(), model.predict_proba([[4.4]]).round(4)
    (array([2., 7.]), array([[0.6792, 0.3208]]))
    >>> model.set_params(shared_variance=True).fit([[1], [2], [3], [6], [7], [8]], list("aaabbb"))
    GaussianNB(shared_variance=True, var_smoothing=0)
    >>> model.coef_, model.intercept_
    (array([[7.5]]), array([-33.75]))
    """

    fit_blocks = fit_blocks

    _keeps_single = True

    def __init__(
        self,
        *,
        priors: ArrayLike | None = None,
        var_smoothing: float = 1e-9,
        shared_variance: bool = False,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.shared_variance = shared_variance

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        rows = self._check_training(X, y, sample_weight, defer_finite=True)
        context = FitContext.of_one_step(self, X, y, sample_weight)
        self._solve(self._moments(rows, map_threads))
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._solve(self._moments(rows, map_))

    def _update(self, rows: Rows, *, first: bool) -> None:
        moments = self._moments(rows, map_threads)
        if not first:
            moments = merge_class_moments(self._stored_moments(), moments)
        self._solve(moments)

    def _moments(self, rows: Source, map_: Map) -> ClassMoments:
        """The statistic of the fit; infinite cells show in it and are named."""
        summarise = partial(class_moments, n_classes=len(self.classes_))
        moments = reduce_rows(Statistic(summarise, merge_class_moments), rows, map_)
        if isinstance(rows, Rows) and not np.isfinite(moments[2:]).all():
            self._refuse_nonfinite(rows.X)
        return moments

    def _stored_moments(self) -> ClassMoments:
        return ClassMoments(self.class_count_, *self.moments_)

    def _solve(self, moments: ClassMoments) -> None:
        check.non_negative(var_smoothing=self.var_smoothing)
        check.boolean(shared_variance=self.shared_variance)
        priors = check_priors(self.priors, len(self.classes_))
        unsound = ~np.isfinite(moments[2:]).all(axis=(0, 1))  # mean and scatter
        unsound |= ~np.isfinite(pool(moments).var) & (moments.weight > 0).any(axis=0)
        if unsound.any():
            raise ValueError(too_large(self._column_name(int(np.argmax(unsound)))))
        fit = fit_gaussian_nb(moments, priors, self.var_smoothing, self.shared_variance)
        if not np.isfinite(fit.epsilon):
            what = f"var_smoothing={self.var_smoothing!r} times the largest variance"
            raise ValueError(f"{what} is not a finite number; give a smaller one")
        self.class_count_, self.moments_ = moments.total, np.stack(moments[1:])
        self.class_prior_, self.theta_, self.var_, self.epsilon_ = fit[:4]
        for category, message in self._corners(fit, moments):
            warn(message, category)

    def _corners(
        self, fit: GaussianNBFit, moments: ClassMoments
    ) -> list[tuple[type[Warning], str]]:
        """What the fit had to decide that the data do not say; each with its first place."""
        present = moments.total[:, None] > 0
        nowhere = fit.unseen.all(axis=0)
        found: list[tuple[type[Warning], str]] = []
        if nowhere.any():
            where = self._column_name(int(np.argmax(nowhere)))
            found.append((UnseenFeatureWarning, f"{where} has no value at all: it is left out"))
        partly = fit.unseen & present & ~nowhere
        if partly.any():
            k, where = self._first(partly)
            message = (
                f"{where} has no value in class {k!r}: its mean and variance over all classes "
                f"stand in ({partly.sum()} such pairs of class and feature)"
            )
            found.append((UnseenFeatureWarning, message))
        constant = fit.constant & present
        if constant.any():
            k, where = self._first(constant)
            message = (
                f"{where} is constant in class {k!r}, a point mass: any other value there rules "
                f"the class out ({constant.sum()} such pairs of class and feature); "
                "var_smoothing > 0 softens it unless all features are constant"
            )
            found.append((ZeroVarianceWarning, message))
        return found

    def _first(self, cells: BoolArray) -> tuple[Any, str]:
        k, j = np.argwhere(cells)[0]
        return self.classes_.tolist()[k], self._column_name(int(j))

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        K, p = len(self.classes_), self.n_features_in_
        per_class = {"class_count_": (K,), "class_prior_": (K,)}
        return per_class | {"theta_": (K, p), "var_": (K, p), "moments_": (3, K, p)}

    def _log_prior(self) -> Array:
        with np.errstate(divide="ignore"):  # a class of prior 0 has log prior -inf
            return np.log(self.class_prior_)

    def _density(self) -> LogDensity:
        return log_density(self.class_prior_, self.theta_, self.var_)

    def _joint_log_likelihood(self) -> partial[Array]:
        return partial(joint_log_density, self._density())

    def _contributions(self, X: Array) -> Array:
        return contributions(self._density(), X)

    def _draw(self, codes: IntArray, rng: Rng) -> Array:
        noise = rng.standard_normal((len(codes), self.n_features_in_))
        return self.theta_[codes] + np.sqrt(self.var_[codes]) * noise

    @property
    def coef_(self) -> Array:
        return self._linear_rule()[0]

    @property
    def intercept_(self) -> Array:
        return self._linear_rule()[1]

    def _linear_rule(self) -> tuple[Array, Array]:
        if not (self.shared_variance and self.__sklearn_is_fitted__()):
            only = "coef_ and intercept_ exist after fit with shared_variance=True only"
            raise AttributeError(f"{only}: with a variance per class the rule is quadratic")
        mean, h, _, log_prior = self._density()
        coef = 2 * h * mean
        intercept = log_prior - (h * mean**2).sum(axis=1)
        if len(coef) == 2:  # log-odds of classes_[1]
            return coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        return coef, intercept

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> model = GaussianNB().fit([[1.0], [2.0], [6.0], [7.0]], [0, 0, 1, 1])
        >>> model.card().numbers["parameters"]
        5
        """
        numbers, moments = self._numbers(), self._stored_moments()
        K, p = self.theta_.shape
        spread = "var_j, the same in every class" if self.shared_variance else "var_cj"
        given = "given" if self.priors is not None else "shares of the classes"
        free = (0 if self.priors is not None else K - 1) + K * p
        value = log_likelihood(self._density(), moments)
        rule = "linear" if self.shared_variance else "quadratic"
        return Card(
            representation=f"p(x, c) = pi_c prod_j N(x_j; theta_cj, {spread}), a {rule} rule in x",
            evaluation="maximise sum_i w_i log p(x_i, c_i) over the cells that are not missing; no "
            f"penalty; priors: {given}; then epsilon = {self.var_smoothing:g} max_j var(x_j) "
            f"= {self.epsilon_:.6g} is added to every variance",
            optimisation="closed form, one pass over the rows; the maximum is unique",
            numbers={
                **numbers,
                "parameters": free + (p if self.shared_variance else K * p),
                "missing cells": float((moments.total[:, None] - moments.weight).sum()),
                "epsilon": self.epsilon_,
                "log_likelihood": value,
                "mean_log_likelihood": value / numbers["rows"],
            },
        )
