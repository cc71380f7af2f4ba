r"""Classification by ridge regression on targets of -1 and +1.

Model        f_k(x) = b_k + x'w_k, fitted to +1 in the rows of class k and -1 elsewhere
Estimator    argmin |Y - 1 b' - X W|^2 + alpha |W|^2, the intercepts free
Rule         two classes: classes_[1] where f > 0; K classes: the largest f_k; several labels:
             each where its f > 0
Algorithm    that of ``ridge.py``, all targets from one factorisation:  O(n p min(n, p) + n p K).
             The targets are made where the rows are read, so files larger than memory will do.

References: Rifkin, Yeo & Poggio (2003); ESL, section 4.2.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, Self, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, fit_blocks, kind_of_target, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, ClassWeight, Map, Numbers, Seed
from pellucid.core.figures import figures
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.inference.decisions.linear_rule import LinearClassifier, class_weights
from pellucid.linear.least_squares import large_sparse
from pellucid.linear.least_squares.indicator import IndicatorSource
from pellucid.linear.linear_model import warn_free_of_penalty
from pellucid.linear.logistic.sums import add, class_counts
from pellucid.linear.ridge.ridge import SOLVERS, Ridge
from pellucid.linear.ridge.ridge_model import RidgeFit, way

ClassWeights = ClassWeight | Sequence[dict[Any, float]]


class Found(NamedTuple):
    """The coefficients of all targets, whatever way they were found."""

    coef: Array  # (p, k)
    intercept: Array  # (k,)
    rss: float  # of all targets
    route: str
    n_iter: int
    dependent: tuple[int, ...] = ()


def of_ridge(fit: RidgeFit) -> Found:
    """An exact fit."""
    dependent = tuple(sorted({j for part in fit.parts for j in part.dependent}))
    return Found(fit.coef, fit.intercept, float(fit.rss.sum()), fit.parts[0].route, 1, dependent)


def label_weights(class_weight: ClassWeights, Y: Array, w: Array) -> Array:
    """What each row counts where it has several labels: the product over the labels.

    >>> label_weights("balanced", np.array([[1, -1], [1, 1], [-1, 1], [-1, 1.0]]), np.ones(4))
    array([2.        , 0.66666667, 0.66666667, 0.66666667])
    """
    each = class_weight if isinstance(class_weight, list | tuple) else [class_weight] * Y.shape[1]
    if len(each) != Y.shape[1]:
        raise ValueError(f"class_weight has {len(each)} entries for {Y.shape[1]} labels")
    product = np.ones(len(Y))
    for one, column in zip(each, Y.T, strict=True):
        codes = (column > 0).astype(np.intp)
        totals = np.asarray(np.bincount(codes, weights=w, minlength=2), dtype=np.float64)
        product *= class_weights(one, np.array([0, 1]), totals)[codes]
    return product


class SignedTargets(LinearClassifier):
    """What the two ridge classifiers share: targets of -1 and +1, several labels, the rule."""

    _accepts_sparse = True
    _keeps_columns = True
    class_weight: Any
    _multilabel: bool

    fit_blocks = fit_blocks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _check_target(self, y: Any, n: int) -> Any:
        """Codes of the classes, or a matrix of -1 and +1 for several labels."""
        self._multilabel = False
        if y is None or not kind_of_target(y).startswith("multilabel"):
            return Classifier._check_target(self, y, n)
        Y = check_array(y, accept_sparse="csr", input_name="y")
        Y = to_dense(Y) if issparse(Y) else Y
        if len(Y) != n:
            what = "Found input variables with inconsistent numbers of samples"
            raise ValueError(f"{what}: {[n, len(Y)]}")
        self._multilabel = True
        self.classes_ = np.arange(Y.shape[1])
        return np.where(Y > 0, 1.0, -1.0)

    def _targets(self, rows: Source, map_: Map) -> Source:
        """The rows with targets of -1 and +1 and the weights of their classes."""
        if getattr(self, "_multilabel", False):
            rows = cast("Rows", rows)
            if self.class_weight is None:
                return rows
            return rows._replace(w=rows.w * label_weights(self.class_weight, rows.y, rows.w))
        self._multilabel = False
        self._need_two_classes(rows.n_rows)
        K = len(self.classes_)
        codes = np.array([[-1.0], [1.0]]) if K == 2 else 2 * np.eye(K) - 1
        totals = np.ones(K)
        if isinstance(self.class_weight, str):
            totals = reduce_rows(Statistic(partial(class_counts, K), add), rows, map_)
        weights = class_weights(self.class_weight, self.classes_, totals)
        source = IndicatorSource(rows, codes, weights)
        if isinstance(rows, Rows) and (issparse(rows.X) or rows.n_rows <= rows.X.shape[1]):
            w = rows.w if (weights == 1).all() else rows.w * weights[rows.y]
            return Rows(rows.X, codes[rows.y], w)
        return source

    def _set(self, found: Found, n_rows: int) -> None:
        one = found.coef.shape[1] == 1 and not self._multilabel
        self.coef_ = found.coef[:, 0].copy() if one else np.ascontiguousarray(found.coef.T)
        self.intercept_ = found.intercept.copy() if self.fit_intercept else cast("Any", 0.0)
        self.rss_, self.solver_, self.n_iter_ = found.rss, found.route, found.n_iter
        self._dependent = found.dependent
        if found.dependent:
            warn_free_of_penalty(self, found.dependent, (n_rows, self.n_features_in_))

    def _codes(self, scores: Array) -> Any:
        return (scores > 0).astype(int) if self._multilabel else super()._codes(scores)

    def predict(self, X: ArrayLike) -> Any:
        """The class of the largest score; several labels: 0 or 1 for each, (n, L)."""
        codes = self._codes(self._scores(self._check_input(X)))
        return codes if self._multilabel else self.classes_[codes]

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores: (n,) for two classes, positive for ``classes_[1]``; else (n, K)."""
        scores = self._scores(self._check_input(X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        L = len(self.classes_)
        two = L == 2 and not self._multilabel
        p = self.n_features_in_
        shapes: dict[str, tuple[int, ...]] = {"coef_": (p,) if two else (L, p)}
        return {**shapes, "intercept_": (1 if two else L,)} if self.fit_intercept else shapes

    def _card(self, alpha: Numbers, how: str, numbers: dict[str, Any]) -> Card:
        K = len(self.classes_)
        kind = f"{K} classes, the largest wins"
        kind = f"{K} labels, each by the sign" if self._multilabel else kind
        two = K == 2 and not self._multilabel
        rule = "f(x) = b + x'w, the sign decides" if two else f"f_k(x) = b_k + x'w_k, {kind}"
        text = figures(alpha) if np.ndim(alpha) == 0 else "alpha_k"
        many = "dependent columns and alpha = 0: one of many minimisers"
        notes = (many,) if self._dependent else ()
        return Card(
            representation=rule,
            evaluation=f"sum (y - f)^2 + {text} |w|^2, y = -1 or +1",
            optimisation=how,
            numbers=numbers,
            warnings=notes,
        )


class RidgeClassifier(SignedTargets):
    """Ridge regression on the classes, coded -1 and +1.

    As fast as one least squares fit for any number of classes, and hard to break; the scores are
    no probabilities (``LogisticRegression`` has them). ``sample_weight`` equals repetition; ``fit``
    and ``fit_blocks`` give the same model.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        Penalty strength, >= 0; one per class (two classes have one target) if an array.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    copy_X : bool, default=True
        Accepted for scikit-learn's sake; X is never changed.
    max_iter : int or None, default=None
        Of the steps on a large sparse X (None: 10,000); every other solution is exact.
    tol : float, default=1e-4
        Of the steps on a large sparse X, which go to 1e-10 unless ``tol`` is smaller.
    class_weight : None, "balanced", dict or list of dict, default=None
        What a row of each class counts; "balanced" is N/(K n_k). A list: one for each label.
    solver : {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}
        "cholesky" and "svd" say how; every name gives the same exact solution.
    positive : bool, default=False
        Coefficients >= 0 (the intercept is free).
    random_state : ignored
        Accepted for scikit-learn's sake.

    Attributes
    ----------
    coef_, intercept_ : arrays (p,) and (1,) for two classes, else (K, p) and (K,); 0.0 without one
    classes_ : labels in order; for several labels their numbers
    rss_ : residual squares of all targets
    n_iter_, solver_ : steps (1 where solved directly), and the way taken

    Examples
    --------
    >>> from pellucid import RidgeClassifier
    >>> model = RidgeClassifier().fit([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    >>> model.predict([[2.0], [3.0]]), model.coef_.round(4)
    (array(['a', 'b'], dtype='<U1'), array([0.3789]))
    """

    def __init__(
        self,
        alpha: Numbers = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        class_weight: ClassWeights = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def _regression(self) -> Ridge:
        """The ridge regression that is fitted to the targets, its parameters checked."""
        check.one_of(SOLVERS, solver=self.solver)
        given = self.get_params(deep=False)
        inner = Ridge(**{name: value for name, value in given.items() if name != "class_weight"})
        inner._check_parameters()
        inner.n_features_in_ = self.n_features_in_
        return inner

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Regress the targets on X; y are labels, or 0 and 1 in a column for each label."""
        rows = self._check_training(X, y, sample_weight)
        inner = self._regression()
        steps = inner._steps() if inner._is_large(rows, None) else 0
        context = FitContext.of_rows(self, rows, sample_weight, steps)
        self._solve(rows, map_threads, inner, context)
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._solve(rows, map_, self._regression(), None)

    def _solve(self, rows: Source, map_: Map, inner: Ridge, context: FitContext | None) -> None:
        source = self._targets(rows, map_)
        self.__dict__.pop("history_", None)
        if inner._is_large(source, None):
            fit, _ = inner._large(cast("Rows", source), context)
            self.history_ = fit.history
            rss = float(np.trace(fit.rss))
            found = Found(fit.coef, fit.intercept, rss, large_sparse.ROUTE, fit.n_iter)
        else:
            found = of_ridge(inner._find(source, map_, None))
        self._set(found, rows.n_rows)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        large = self.solver_ == large_sparse.ROUTE
        route = large_sparse.REASON if large else way(self.solver_)
        how = f"all targets at once: {route}"
        how += "; w >= 0" if self.positive else ""
        numbers = {"classes": len(self.classes_), "alpha": self.alpha, "rss": self.rss_}
        return self._card(self.alpha, how, numbers)
