r"""Regularised discriminant analysis with alpha and gamma chosen by cross-validation.

Every fold has its class moments; a training set is the merge of the moments of the other folds, so
the rows are summed once, however many (alpha, gamma) are tried. Its test rows are judged for all
gammas at once: with S_k(a) = V diag(l) V' and z = V'(x - m_k), shrinking to a sphere only moves the
eigenvalues,

    e_j = (1 - g) l_j + g mean(l),    d_k(x) = sum_j z_j^2/e_j,    log|S_k| = sum_j log e_j,

one product with the test rows per class and alpha. gamma = 0 is sphered in scaled columns, as in
the fit; with target="pooled" every pair has a sphere of its own; diagonal covariances need no
products at all.

Cost of the grid: n K p^2 per alpha, n K p per gamma.
"""

from collections.abc import Sequence
from functools import reduce
from itertools import product
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, with_callbacks
from pellucid.core.algebra.linalg import in_range
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, IntArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.selection import one_standard_error
from pellucid.core.loops.statistics import Rows, is_unit, unit_weights
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.discriminant import rda
from pellucid.discriminant.covariance import sphere
from pellucid.discriminant.gaussian_rules import check_two_classes, checked_priors, log_prior
from pellucid.discriminant.moments import ClassScatter, merge_class_scatter, sum_classes
from pellucid.discriminant.quadratic import squared_distances


class Fold(NamedTuple):
    """A training set as its class moments, and the rows it is judged on."""

    stat: ClassScatter
    test: Rows


class Grid(NamedTuple):
    """The candidates."""

    alphas: Array
    gammas: Array
    covariance_type: str
    target: str
    divisor: str = "mle"


def take(rows: Rows, index: IntArray) -> Rows:
    """Some of the rows."""
    w = unit_weights(len(index)) if is_unit(rows.w) else rows.w[index]
    return Rows(rows.X[index], rows.y[index], w)


def make_folds(rows: Rows, splits: list[tuple[Any, Any]], n_classes: int) -> list[Fold]:
    """Folds whose test sets are a partition share their moments; others are summed one by one."""
    n = rows.n_rows
    tests = [take(rows, np.asarray(test)) for _, test in splits]
    counts = np.bincount(np.concatenate([np.asarray(test) for _, test in splits]), minlength=n)
    partition = (counts == 1).all() and all(len(a) + len(b) == n for a, b in splits)
    if not partition:
        trains = [take(rows, np.asarray(train)) for train, _ in splits]
        stats = [sum_classes(train, map_threads, n_classes, True) for train in trains]
        return [Fold(stat, test) for stat, test in zip(stats, tests, strict=True)]
    own = [sum_classes(test, map_threads, n_classes, True) for test in tests]
    others = [own[:f] + own[f + 1 :] for f in range(len(own))]
    stats = [reduce(merge_class_scatter, parts) for parts in others]
    return [Fold(stat, test) for stat, test in zip(stats, tests, strict=True)]


def spherical_candidates(X: Array, m: Array, S: Array, gammas: Array) -> tuple[Array, Array]:
    """Distances (n, G) and log determinants (G,) of (1 - g) S + g tr(S)/p I; NaN if singular."""
    p = len(S)
    eigenvalues, V = np.linalg.eigh(in_range(S, "a covariance"))
    level = np.trace(S) / p
    D = (1 - gammas) * np.maximum(eigenvalues, 0.0)[:, None] + gammas * level  # (p, G)
    bad = ~(D > 0).all(axis=0) | (gammas == 0)
    D[:, bad] = 1.0
    distances = ((X - m) @ V) ** 2 @ (1 / D)
    logs = np.log(D).sum(axis=0)
    logs[bad] = np.nan
    for g in np.flatnonzero(gammas == 0):
        distances[:, [g]], logs[g] = one_candidate(X, m, S)
    return distances, logs


def one_candidate(X: Array, m: Array, S: Array) -> tuple[Array, float]:
    """Distances (n, 1) and log determinant of one covariance; NaN if singular."""
    T, log_determinant, _ = sphere(S, 0.0)
    if T.shape[1] < len(S):
        return np.zeros((len(X), 1)), np.nan
    return squared_distances(X, m[None], T[None]), log_determinant


def diagonal_candidates(X: Array, m: Array, V: Array) -> tuple[Array, Array]:
    """Distances (n, G) and log determinants of variances V (p, G)."""
    bad = ~(V > 0).all(axis=0)
    V = np.where(bad, 1.0, V)
    logs = np.log(V).sum(axis=0)
    logs[bad] = np.nan
    return (X - m) ** 2 @ (1 / V), logs


def scores_for_alpha(given: rda.Covariances, m: Array, X: Array, alpha: float, grid: Grid) -> Array:
    """-(log|S_k| + d_k)/2 of the rows for every gamma, (K, n, G); NaN where singular."""
    K, G = len(m), len(grid.gammas)
    found = np.empty((K, len(X), G))
    if grid.covariance_type == "full" and grid.target == "class":
        S = rda.regularised(given, alpha, 0.0, "class")
        parts = [spherical_candidates(X, m[k], S[k], grid.gammas) for k in range(K)]
    else:
        S = np.array(
            [rda.regularised(given, alpha, g, grid.target) for g in grid.gammas]
        )  # (G,K,p,p)
        if grid.covariance_type == "full":
            each = [[one_candidate(X, m[k], S[g, k]) for g in range(G)] for k in range(K)]
            parts = [(np.hstack(d), np.array(c)) for d, c in (zip(*e, strict=True) for e in each)]
        else:
            V = np.diagonal(S, axis1=2, axis2=3)  # (G, K, p)
            parts = [diagonal_candidates(X, m[k], V[:, k].T) for k in range(K)]
    for k, (distances, logs) in enumerate(parts):
        found[k] = -0.5 * (distances + logs)
    return found


def fold_accuracy(fold: Fold, alpha: float, grid: Grid, priors: Any) -> Array:
    """Weighted share of right answers on the test rows for every gamma; NaN where singular."""
    stat, test = fold
    if alpha > 0 and ((stat.weight > 0) & (stat.weight <= 1)).any():
        return np.full(len(grid.gammas), np.nan)
    given = rda.class_covariances(stat, grid.divisor, grid.covariance_type)
    prior = log_prior(stat.weight / stat.weight.sum() if priors is None else priors)
    scores = scores_for_alpha(given, stat.mean, test.X, alpha, grid) + prior[:, None, None]
    answers = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=0)  # (n, G)
    right = (answers == test.y[:, None]).astype(np.float64)
    accuracy = test.w @ right / test.w.sum()
    return np.where(np.isnan(scores).any(axis=(0, 1)), np.nan, accuracy)


def grid_accuracy(folds: list[Fold], grid: Grid, priors: ArrayLike | None) -> Array:
    """Accuracy of every candidate on every fold, (A, G, F)."""
    tasks = list(product(range(len(grid.alphas)), range(len(folds))))

    def run(task: tuple[int, int]) -> Array:
        a, f = task
        return fold_accuracy(folds[f], float(grid.alphas[a]), grid, priors)

    found = np.array(list(map_threads(run, tasks)))  # (A F, G)
    return found.reshape(len(grid.alphas), len(folds), -1).transpose(0, 2, 1)


def candidates(value: object, name: str) -> Array:
    """A number of values spread over [0, 1], or the values themselves."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        if value < 1:
            raise ValueError(f"{name} must be a whole number >= 1, got {value!r}")
        return np.linspace(0.0, 1.0, int(value)) if value > 1 else np.zeros(1)
    try:
        found = np.unique(np.array(value, dtype=np.float64).ravel())
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a whole number or numbers, got {value!r}") from None
    if len(found) == 0 or not ((found >= 0) & (found <= 1)).all():
        raise ValueError(f"{name} must be a whole number or numbers in [0, 1], got {value!r}")
    return found


class RegularizedDiscriminantAnalysisCV(Classifier):
    """RegularizedDiscriminantAnalysis with alpha and gamma from cross-validation.

    Parameters
    ----------
    alphas : int or array-like, default=11
        Candidates for alpha; a whole number spreads so many over [0, 1].
    gammas : int or array-like, default=6
        Candidates for gamma.
    cv : int, splitter or iterable, default=5
        The folds; a whole number is stratified.
    covariance_type : {"full", "diag", "spherical"}, default="full"
        As in ``RegularizedDiscriminantAnalysis``.
    target : {"class", "pooled"}, default="class"
        As in ``RegularizedDiscriminantAnalysis``.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None: the shares of the classes.
    rule : {"best", "one_standard_error"}, default="best"
        The highest mean accuracy (of equals the simplest), or the simplest candidate within one
        standard error of it; smaller alpha is simpler, then larger gamma.

    Attributes
    ----------
    alpha_, gamma_ : float
        The choice.
    alphas_, gammas_ : ndarray
        The candidates.
    scores_ : ndarray of shape (n_alphas, n_gammas, n_folds)
        Accuracy; NaN where a covariance of the training set is singular.
    model_ : RegularizedDiscriminantAnalysis
        The chosen model fitted to all rows.
    means_, priors_, covariance_
        Those of ``model_``.

    Examples
    --------
    >>> from pellucid import RegularizedDiscriminantAnalysisCV
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=80)
    >>> X = rng.normal(size=(80, 3)) + y[:, None]
    >>> model = RegularizedDiscriminantAnalysisCV(alphas=3, gammas=2).fit(X, y)
    >>> model.scores_.shape, model.alpha_ in (0.0, 0.5, 1.0)
    ((3, 2, 5), True)
    """

    def __init__(
        self,
        *,
        alphas: int | Sequence[float] | Array = 11,
        gammas: int | Sequence[float] | Array = 6,
        covariance_type: str = "full",
        target: str = "class",
        cv: Folds = 5,
        priors: ArrayLike | None = None,
        rule: str = "best",
    ) -> None:
        self.alphas = alphas
        self.gammas = gammas
        self.covariance_type = covariance_type
        self.target = target
        self.cv = cv
        self.priors = priors
        self.rule = rule

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        grid = self._grid()
        rows = self._check_training(X, y, sample_weight)
        check_two_classes(self, rows.n_rows)
        K = len(self.classes_)
        if np.count_nonzero(np.bincount(rows.y, rows.w, minlength=K)) < 2:
            raise ValueError(f"{type(self).__name__} needs rows of at least 2 classes, got 1 class")
        context = FitContext(
            self, X=X, y=y, sample_weight=sample_weight, attributes=lambda _: dict(vars(self))
        )
        splits = list(check_cv(self.cv, rows.y, classifier=True).split(rows.X, rows.y))
        priors = None if self.priors is None else checked_priors(self.priors, np.ones(K))
        scores = grid_accuracy(make_folds(rows, splits, K), grid, priors)
        a, g = self._choose(scores, grid)
        self.scores_, self.alphas_, self.gammas_ = scores, grid.alphas, grid.gammas
        self.alpha_, self.gamma_ = float(grid.alphas[a]), float(grid.gammas[g])
        model = rda.RegularizedDiscriminantAnalysis(self.alpha_, self.gamma_, priors=priors)
        model.set_params(covariance_type=self.covariance_type, target=self.target)
        self.model_ = model.fit(rows.X, self.classes_[rows.y], sample_weight=sample_weight)
        context.end()
        return self

    def _grid(self) -> Grid:
        check.one_of(rda.TYPES, covariance_type=self.covariance_type)
        check.one_of(rda.TARGETS, target=self.target)
        check.one_of(("best", "one_standard_error"), rule=self.rule)
        if isinstance(self.cv, Real):
            check.whole(at_least=2, cv=self.cv)
        alphas = candidates(self.alphas, "alphas")
        return Grid(alphas, candidates(self.gammas, "gammas"), self.covariance_type, self.target)

    def _choose(self, scores: Array, grid: Grid) -> tuple[int, int]:
        singular: Any = np.isnan(scores).any(axis=2)
        if singular.all():
            what = "every pair of alphas and gammas leaves a singular covariance in a training set"
            raise np.linalg.LinAlgError(f"{what}; add a smaller alpha or a larger gamma")
        if singular.any():
            warn(
                f"{singular.sum()} of {singular.size} pairs (alpha, gamma) leave a singular "
                "covariance in some training set and were passed over (NaN in scores_)"
            )
        mean = np.where(singular, -np.inf, scores.mean(axis=2)).ravel()
        folds = scores.shape[2]
        error = np.zeros_like(mean)
        if self.rule == "one_standard_error" and folds > 1:
            spread = np.where(singular[..., None], 0.0, scores).std(axis=2, ddof=1)
            error = spread.ravel() / np.sqrt(folds)
        A, G = np.meshgrid(range(len(grid.alphas)), range(len(grid.gammas)), indexing="ij")
        simpler = (A * len(grid.gammas) - G).ravel()
        best = one_standard_error(mean.round(12), error, simpler, greater_is_better=True)
        return divmod(best, len(grid.gammas))

    def _ask(self, method: str, X: ArrayLike) -> Any:
        """What the chosen model says of checked rows."""
        rows = self._check_input(X)
        return getattr(self.model_, method)(rows)

    def predict(self, X: ArrayLike) -> Any:
        """Predict for each row of ``X``."""
        return self._ask("predict", X)

    def predict_proba(self, X: ArrayLike) -> Array:
        """p(k | x), shape (n, K)."""
        return self._ask("predict_proba", X)

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log p(k | x), shape (n, K)."""
        return self._ask("predict_log_proba", X)

    def decision_function(self, X: ArrayLike) -> Array:
        """Discriminants (n, K); for two classes the log-odds of ``classes_[1]``, (n,)."""
        return self._ask("decision_function", X)

    def discriminants(self, X: ArrayLike) -> Array:
        """delta_k(x), shape (n, K)."""
        return self._ask("discriminants", X)

    def mahalanobis(self, X: ArrayLike) -> Array:
        """Squared Mahalanobis distance to each class mean, shape (n, K)."""
        return self._ask("mahalanobis", X)

    def score_samples(self, X: ArrayLike) -> Array:
        """log p(x), shape (n,)."""
        return self._ask("score_samples", X)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> tuple[Array, Any]:
        """Draw (X, y) from the chosen model."""
        check_is_fitted(self)
        return self.model_.sample(n_samples, random_state)

    @property
    def means_(self) -> Array:
        return self._of_model("means_")

    @property
    def priors_(self) -> Array:
        return self._of_model("priors_")

    @property
    def covariance_(self) -> list[Array]:
        return self._of_model("covariance_")

    def _of_model(self, name: str) -> Any:
        if "model_" not in vars(self):
            raise AttributeError(f"{name} exists after fit only")
        return getattr(self.model_, name)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        inner = self.model_.card()
        A, G, F = self.scores_.shape
        chosen = self.alphas_.tolist().index(self.alpha_), self.gammas_.tolist().index(self.gamma_)
        score = float(self.scores_[chosen].mean())
        return inner._replace(
            optimisation=f"{A} x {G} pairs (alpha, gamma) judged by accuracy on {F} folds from "
            f"merged moments, rule {self.rule!r}; then in closed form",
            numbers={**inner.numbers, "cv accuracy": score},
        )
