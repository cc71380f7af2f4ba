r"""Bayes' classifier: the best there is when the densities are known.

    p(k | x) = pi_k f_k(x) / sum_l pi_l f_l(x),     decide argmin_d sum_k L[k, d] p(k | x)

Known densities need no fit; the plug-in rule puts the maximum-likelihood density of a family in
the place of each f_k and the share of the class in the place of pi_k.

References: Devroye, Gyorfi & Lugosi (1996), chapter 2.
"""

from typing import Any, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.inference.decisions import bayes_error as errors
from pellucid.inference.decisions import class_densities as ask
from pellucid.inference.decisions.bayes_error import BayesError
from pellucid.inference.decisions.class_densities import FAMILIES, ask_log_density
from pellucid.inference.decisions.decisions import check_losses, decide

METHODS = ("auto", "closed_form", "integration", "monte_carlo")


class BayesClassifier(Classifier):
    """The Bayes decision with known densities, or with one fitted density per class.

    Parameters
    ----------
    densities : str, list of str or list of distributions, default="normal"
        A family (normal, laplace, exponential, poisson, bernoulli), one for all classes or one
        for each: plug-in. Or the known density of each class: anything with ``log_density``, or a
        frozen distribution of scipy; then the model is ready without ``fit``.
    priors : array-like of shape (K,), default=None
        Class probabilities; None: the shares of the classes, or equal without ``fit``.
    loss_matrix : array-like of shape (K, K), default=None
        ``[truth, decision]``; None: 0/1 loss.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        0..K-1 when the densities are known and nothing was fitted.
    densities_ : list of K distributions
    priors_ : ndarray of shape (K,)

    Examples
    --------
    >>> from pellucid import BayesClassifier
    >>> from pellucid.inference import Normal
    >>> model = BayesClassifier([Normal(0, 1), Normal(2, 1)])
    >>> model.predict([[0.4], [1.6]]), model.boundaries(-5, 5)
    (array([0, 1]), array([1.]))
    >>> print(model.bayes_error())
    Bayes error 0.158655 (closed_form)
    """

    def __init__(
        self,
        densities: Any = "normal",
        priors: ArrayLike | None = None,
        loss_matrix: ArrayLike | None = None,
    ) -> None:
        self.densities = densities
        self.priors = priors
        self.loss_matrix = loss_matrix

    @property
    def _known(self) -> list[Any] | None:
        """The given densities, or None where families are to be fitted."""
        given = self.__dict__.get("densities")
        if isinstance(given, str) or not isinstance(given, list | tuple) or len(given) == 0:
            return None
        return None if any(isinstance(law, str) for law in given) else list(given)

    def __getattr__(self, name: str) -> Any:
        """Known densities are a model before any fit."""
        known = self._known if name in ("classes_", "densities_", "priors_") else None
        if known is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name == "classes_":
            return np.arange(len(known))
        equal = np.full(len(known), 1.0 / len(known))
        return check_densities(known) if name == "densities_" else check_priors(self.priors, equal)

    def __sklearn_is_fitted__(self) -> bool:
        return self._known is not None or "densities_" in self.__dict__

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit one density per class and the class priors."""
        rows = self._check_training(X, y, sample_weight)
        K = len(self.classes_)
        if K < 2:
            n, name = rows.n_rows, type(self).__name__
            got = f"1 class in {n} samples (n_samples={n})"
            raise ValueError(f"{name} needs at least 2 classes, got {got}")
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight)
        weight = np.bincount(rows.y, rows.w, minlength=K).astype(np.float64)
        if not (weight > 0).all():
            empty = self.classes_[np.argmin(weight > 0)]
            raise ValueError(f"class {empty} has no row of positive weight")
        check_losses(self.loss_matrix, K)
        self.priors_ = check_priors(self.priors, weight / weight.sum())
        self.densities_ = self._class_densities(rows, K)
        context.end()
        return self

    def _class_densities(self, rows: Rows, K: int) -> list[Any]:
        known = self._known
        given = K * [self.densities] if isinstance(self.densities, str) else self.densities
        if not isinstance(given, list | tuple) or len(given) != K:
            need = f"{', '.join(FAMILIES)}, or a family or distribution for each of {K} classes"
            raise ValueError(f"densities must be one of {need}, got {given!r}")
        if known is not None:
            return check_densities(known)
        for family in given:
            check.one_of(tuple(FAMILIES), densities=family)
        return [
            FAMILIES[family](rows.X[rows.y == k], rows.w[rows.y == k], f"class {self.classes_[k]}")
            for k, family in enumerate(given)
        ]

    def _joint(self, X: Any) -> Array:
        """log pi_k f_k(x), (n, K); the priors alone where every density is 0."""
        return self._joint_rows(self._check_input(X))

    def _joint_rows(self, X: Array) -> Array:
        with np.errstate(divide="ignore"):
            log_prior = np.log(self.priors_)
        joint = log_prior + np.column_stack([ask_log_density(law, X) for law in self.densities_])
        nowhere = ~np.isfinite(joint).any(axis=1)
        return np.where(nowhere[:, None], log_prior, joint) if nowhere.any() else joint

    def _decide(self, joint: Array) -> tuple[IntArray, Array]:
        """Column of the loss matrix and its expected loss; an even chance is the later of two."""
        L = None if self.loss_matrix is None else self._losses()
        P = np.exp(log_softmax(joint, axis=1))
        return decide(P, L, "last" if joint.shape[1] == 2 else "first")

    def _losses(self) -> Array:
        K = len(self.densities_)
        losses = check_losses(self.loss_matrix, K)
        if losses.shape != (K, K):
            hint = "further decisions are for LossMatrixClassifier"
            raise ValueError(f"loss_matrix must have shape ({K}, {K}), got {losses.shape}; {hint}")
        return losses

    def predict(self, X: Any) -> Any:
        """The class of least expected loss."""
        index, _ = self._decide(self._joint(X))
        return self.classes_[index]

    def decision_function(self, X: ArrayLike) -> Array:
        """log pi_k f_k(x), (n, K); for two classes the log-odds of ``classes_[1]``, (n,)."""
        joint = self._joint(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log p(k | x), (n, K)."""
        return log_softmax(self._joint(X), axis=1)

    def predict_proba(self, X: ArrayLike) -> Array:
        """p(k | x), (n, K)."""
        return np.exp(self.predict_log_proba(X))

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> tuple[Array, Any]:
        """Draw (X, y): a class from the priors, then a row from its density."""
        check_is_fitted(self)
        check.whole(n_samples=n_samples)
        rng = generator(random_state)
        codes = rng.choice(len(self.priors_), size=n_samples, p=self.priors_)
        X: Array | None = None
        for k in np.unique(codes):
            own = codes == k
            part = ask.ask_sample(self.densities_[k], int(own.sum()), rng)
            X = np.empty((n_samples, part.shape[1])) if X is None else X
            X[own] = part
        assert X is not None  # n_samples >= 1
        return X, self.classes_[codes]

    def _on_line(self, x: Array) -> IntArray:
        return self._decide(self._joint_rows(np.asarray(x, dtype=np.float64)[:, None]))[0]

    def _dimension(self) -> int:
        first = self.densities_[0]
        if ask.is_scalar(first):
            return 1
        mean = first.mean() if callable(first.mean) else first.mean
        return len(mean)

    def boundaries(self, low: float, high: float) -> Array:
        """Cut points in (low, high) where the decision changes; X of one column."""
        check_is_fitted(self)
        if not low < high:
            raise ValueError(f"low must be below high, got {low!r} and {high!r}")
        if self._dimension() != 1:
            raise ValueError(f"boundaries need one column, the densities have {self._dimension()}")
        grid = errors.line_grid(self.densities_, generator(0))
        grid = np.concatenate([grid, np.linspace(low, high, errors.POINTS)])
        return errors.cut_points(self._on_line, np.unique(grid[(grid >= low) & (grid <= high)]))

    def bayes_error(
        self, method: str = "auto", n_samples: int = 100_000, random_state: Seed = None
    ) -> BayesError:
        """The error (with ``loss_matrix``: the risk) of this rule if the densities are true.

        Of ``method`` "auto", closed form for two Gaussians of one covariance under 0/1 loss,
        integration for one column, else the mean of 1 - max posterior over ``n_samples`` rows drawn
        from the model with the seed ``random_state``; or one of these by name: "closed_form",
        "integration", "monte_carlo".
        """
        check_is_fitted(self)
        check.one_of(METHODS, method=method)
        check.whole(n_samples=n_samples)
        rng = generator(random_state)
        if method in ("auto", "closed_form") and self.loss_matrix is None:
            value = errors.gaussian_error(self.densities_, self.priors_)
            if value is not None:
                return BayesError(value, 0.0, "closed_form")
        if method == "closed_form":
            raise ValueError("closed_form needs two normal densities of one covariance, 0/1 loss")
        if method != "monte_carlo" and self._dimension() == 1:
            value = self._line_risk(rng)
            if value is not None:
                return BayesError(value, 0.0, "integration")
        if method == "integration":
            raise ValueError("integration needs densities of one column, all continuous or counts")
        X, _ = self.sample(n_samples, rng)
        return errors.simulated_risk(self._decide(self._joint_rows(X))[1])

    def _line_risk(self, rng: Rng) -> float | None:
        losses = self._losses()
        discrete = [ask.is_discrete(law) for law in self.densities_]
        if all(discrete):
            return errors.count_risk(self.densities_, self.priors_, losses, self._on_line)
        if any(discrete):
            return None  # a mass and a density cannot be compared
        return errors.line_risk(self.densities_, self.priors_, losses, self._on_line, rng)

    def card(self) -> Card:
        """Describe the densities, the priors and the decision rule of this fit."""
        check_is_fitted(self)
        K = len(self.densities_)
        kinds = sorted({type(law).__name__ for law in self.densities_})
        known = self._known is not None
        gaussian = sum(ask.gaussian_moments(law) is not None for law in self.densities_)
        then = "" if self.loss_matrix is None else "; then the least expected loss"
        fitted = "log-likelihood of each class, maximised within its family"
        return Card(
            f"argmax_k log pi_k + log f_k(x), f_k from {', '.join(kinds)}{then}",
            "none: the densities are given" if known else fitted,
            "nothing to fit" if known else "closed forms, one pass per class",
            {"classes": K, "normal densities": gaussian, "columns": self._dimension()},
        )


def check_densities(laws: list[Any]) -> list[Any]:
    """Refuse what cannot be asked for log densities."""
    if len(laws) < 2:
        raise ValueError(f"at least 2 classes are needed, got {len(laws)} density")
    for law in laws:
        if isinstance(law, type) or not ask.has_log_density(law):
            need = f"families ({', '.join(FAMILIES)}) or have log_density or logpdf"
            raise ValueError(f"densities must be {need}, got {law!r}")
    return laws


def check_priors(priors: ArrayLike | None, shares: Array) -> Array:
    """Given priors, checked, or the shares."""
    if priors is None:
        return shares
    values = np.array(priors, dtype=np.float64)
    if values.shape != shares.shape:
        raise ValueError(f"priors must have {len(shares)} values, got shape {values.shape}")
    if not (values >= 0).all() or abs(values.sum() - 1.0) > 1e-8:
        raise ValueError(f"priors must be >= 0 and add up to 1, got {values.tolist()}")
    return values
