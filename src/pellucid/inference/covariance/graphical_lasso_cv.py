r"""Graphical lasso whose penalty is chosen by cross-validation.

For every fold S of the training rows is solved for a grid of alphas, from large to small, each
begun at the last; the score is the mean log density of the rows left out. The grid is then drawn
closer around the best alpha, ``n_refinements`` times. All scores stay in ``cv_results_``.

The covariances of a number of folds come from one pass: those of the rows left out are the sums of
the fold, those of the training rows the sums of all other folds merged.

Reference: Friedman, Hastie & Tibshirani (2008).
"""

from functools import partial, reduce
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from scipy.linalg import pinvh
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from pellucid.base import fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, Map, MaybeArray
from pellucid.core.loops.iterate import FitContext, iterate
from pellucid.core.loops.numbered import fold_records, others
from pellucid.core.loops.statistics import Moments, Rows, Source, merge_moments, reduce_rows
from pellucid.core.runtime.threads import map_threads
from pellucid.inference.covariance.covariance_model import (
    CENTRED,
    mean_log_density,
    squares_about,
)
from pellucid.inference.covariance.graphical_lasso import (
    EPS,
    GraphicalModel,
    alpha_max,
    refuse_few,
    start_of,
    sweep,
)

FINEST = 1e-2  # share of the largest alpha at which the first grid ends


class FoldCovariances(NamedTuple):
    """S of the training rows, of the others about their own centre, and about the training's."""

    train: Array
    test: Array
    moved: Array


class FoldSums(NamedTuple):
    """Weight, mean and scatter of the rows that train, and of the others."""

    train: Moments
    test: Moments


def row_sums(rows: Rows, train: Any, test: Any) -> FoldSums:
    """The sums of one split of rows in memory."""
    parts = (Rows(np.ascontiguousarray(rows.X[i]), None, rows.w[i]) for i in (train, test))
    return FoldSums(*(reduce_rows(CENTRED, part, map_threads) for part in parts))


def covariances_of(fold: FoldSums, centered: bool) -> FoldCovariances:
    """The covariances of one fold."""
    a, b = fold
    if not min(a.weight, b.weight) > 0:
        raise ValueError("every fold of the cross-validation needs rows of positive weight")
    zero = np.zeros(len(a.mean))
    at, there = (zero, zero) if centered else (a.mean, b.mean)
    return FoldCovariances(squares_about(a, at), squares_about(b, there), squares_about(b, at))


def path_scores(fold: FoldCovariances, alphas: Array, tol: float, max_iter: int) -> list[float]:
    """The score of the rows left out for every alpha, from large to small."""
    S, scores = fold.train, []
    W: Array | None = None
    inner = 1e-2 * (tol if tol > 0 else EPS)
    for alpha in alphas:
        start = start_of(S, alpha, W)
        step = partial(sweep, S, float(alpha), inner)
        run = iterate(step, start, max_iter=max_iter, tol=tol, warn=False)
        state = run.state
        sound = np.isfinite(state.objective) and bool(np.isfinite(state.covariance).all())
        scores.append(mean_log_density(fold.test, state.precision) if sound else -np.inf)
        W = state.covariance if sound else None  # one that was lost is no start for the next
    return scores


class GraphicalLassoCV(GraphicalModel):
    """Sparse inverse covariance; cross-validation chooses the penalty.

    Parameters
    ----------
    alphas : int or array of shape (n_alphas,), default=4
        Penalties to try, > 0; a number: so many at a time, drawn closer around the best.
    n_refinements : int, default=4
        How often the grid is drawn closer; without effect where ``alphas`` are given.
    cv : int, splitter, iterable or None, default=None
        The folds; None is 5. ``fit_blocks`` takes a number.
    tol : float, default=1e-4
        Stop where neither the duality gap nor the last step of a cell of the covariance, in units
        of its columns' deviations, is larger.
    enet_tol : float, default=1e-4
        Exactness of the column problems; they are solved to a hundredth of it and of ``tol``.
    max_iter : int, default=100
        Sweeps at most.
    mode : {"cd", "lars"}, default="cd"
        Without effect: columns are solved by coordinate descent.
    n_jobs : int or None, default=None
        Folds at a time; the answer does not depend on it.
    verbose : bool, default=False
        True prints the steps and the time of the fit.
    eps : float, default=2.2e-16
        Without effect.
    assume_centered : bool, default=False
        The centre is 0 and not the mean.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    cv_results_ : dict of arrays
        ``alphas`` from large to small and 0, ``mean_test_score``, ``std_test_score`` and
        ``split0_test_score`` and so on.
    covariance_, precision_ : ndarray of shape (n_features, n_features)
    location_ : ndarray of shape (n_features,)
    n_iter_, costs_, dual_gap_, history_ : of the fit with the chosen penalty
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import GraphicalLassoCV
    >>> x = np.random.default_rng(0).normal(size=(100, 3))
    >>> X = np.column_stack([x[:, 0], x[:, 0] + x[:, 1], x[:, 2]])  # the third stands alone
    >>> model = GraphicalLassoCV().fit(X)
    >>> bool(abs(model.precision_[0, 1]) > 5 * abs(model.precision_[0, 2]))
    True
    """

    fit_blocks = fit_blocks

    def __init__(
        self,
        *,
        alphas: int | ArrayLike = 4,
        n_refinements: int = 4,
        cv: Folds = None,
        tol: float = 1e-4,
        enet_tol: float = 1e-4,
        max_iter: int = 100,
        mode: str = "cd",
        n_jobs: int | None = None,
        verbose: bool = False,
        eps: float = EPS,
        assume_centered: bool = False,
    ) -> None:
        self.alphas = alphas
        self.n_refinements = n_refinements
        self.cv = cv
        self.tol = tol
        self.enet_tol = enet_tol
        self.max_iter = max_iter
        self.mode = mode
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.eps = eps
        self.assume_centered = assume_centered

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: MaybeArray = None,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Choose the penalty, and fit to all rows; routing sends ``params`` to the folds."""
        _raise_for_params(params, self, "fit")
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        split = process_routing(self, "fit", **params).splitter.split if _routing_enabled() else {}
        given = {"X": rows.X, "sample_weight": sample_weight}
        if (k := self._fold_count()) is not None and not split:
            self._fit_folds(rows, map_threads, k, **given)
            return self
        refuse_few(rows.X.shape)
        cv = check_cv(self.cv, y, classifier=False)
        splits = cv.split(rows.X, y, **split)
        whole = reduce_rows(CENTRED, rows, map_threads)
        self._choose([row_sums(rows, *one) for one in splits], whole, **given)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        k = self._fold_count()
        if k is None:
            raise ValueError("fit_blocks needs cv as a number of folds, got a splitter")
        self._fit_folds(rows, map_, k)

    def _check_parameters(self) -> None:
        self._check_solver()
        check.whole(n_refinements=self.n_refinements, max_iter=self.max_iter)
        if isinstance(self.cv, Integral):
            check.whole(at_least=2, cv=self.cv)

    def _fold_count(self) -> int | None:
        if self.cv is None:
            return 5
        return int(self.cv) if isinstance(self.cv, Integral) else None

    def _fit_folds(self, rows: Source, map_: Map, k: int, **given: Any) -> None:
        """All folds of neighbouring rows from one pass."""
        refuse_few((rows.n_rows, self.n_features_in_))
        parts = fold_records(CENTRED, rows, map_, k)
        folds = [FoldSums(*pair) for pair in zip(others(merge_moments, parts), parts, strict=True)]
        self._choose(folds, reduce(merge_moments, parts), **given)

    def _choose(self, folds: list[FoldSums], whole: Moments, **given: Any) -> None:
        """Choose the penalty by the folds, and solve for the sums of all rows."""
        context = FitContext(self, max_steps=self.max_iter, attributes=self._as_stopped, **given)
        S = self._center(whole)
        self._refuse_constant(S)
        found = [covariances_of(fold, self.assume_centered) for fold in folds]
        self._search(found, *self._grid(S, found))
        self._solve(S, self.alpha_, context)

    def _grid(self, S: Array, folds: list[FoldCovariances]) -> tuple[Array, bool]:
        """The first alphas, from large to small, and whether they were given.

        Where no two columns of all rows are correlated the folds say how large an alpha may be.
        """
        if np.ndim(self.alphas):
            alphas = np.asarray(self.alphas)
            if alphas.dtype.kind not in "iuf":
                got = f"got {self.alphas!r}"
                raise TypeError(f"each of alphas must be an instance of float or int, {got}")
            if alphas.ndim != 1 or not len(alphas) or not (alphas > 0).all():
                raise ValueError(f"alphas must be > 0, one number or more, got {self.alphas!r}")
            alphas = alphas.astype(np.float64)
            return alphas, True
        count: Any = self.alphas
        check.whole(alphas=count)
        d = np.sqrt(np.diag(S))
        rounding = alpha_max(S / d / d[:, None]) <= 16 * EPS
        most = max(alpha_max(fold.train) for fold in folds) if rounding else alpha_max(S)
        if most == 0:
            raise ValueError("no two columns are correlated: there is no alpha to choose")
        ends = np.log10(FINEST * most), np.log10(most)
        return np.logspace(*ends, int(count))[::-1], False

    def _search(self, folds: list[FoldCovariances], alphas: Array, given: bool) -> None:
        """Sets ``alpha_`` and ``cv_results_``."""
        path: list[tuple[float, list[float]]] = []
        best = 0
        for _ in range(1 if given else self.n_refinements):
            order = np.argsort(-alphas, kind="stable")
            jobs = (
                delayed(path_scores)(fold, alphas[order], self.tol, self.max_iter) for fold in folds
            )
            found = np.array(Parallel(n_jobs=self.n_jobs)(jobs)).T  # (alphas, folds)
            path += [(float(a), row.tolist()) for a, row in zip(alphas[order], found, strict=True)]
            path.sort(key=lambda one: -one[0])
            means = np.array([np.mean(scores) for _, scores in path])
            if not np.isfinite(means).any():
                raise ValueError("no alpha gives a covariance that can be judged: scale columns")
            best = len(means) - 1 - int(np.argmax(means[::-1]))  # the smallest alpha of equals
            alphas = between(path, means, best, len(alphas))
        zero = [mean_log_density(fold.moved, pinvh(fold.train)) for fold in folds]
        scores = np.array([one for _, one in path] + [zero])
        mean, whole = scores.mean(axis=1), np.isfinite(scores).all(axis=1)
        spread = np.full(len(mean), np.inf)  # where the sweeps of a fold were lost
        spread[whole] = scores[whole].std(axis=1)
        self.alpha_ = path[best][0]
        self.cv_results_ = {
            "alphas": np.array([a for a, _ in path] + [0.0]),
            **{f"split{i}_test_score": column for i, column in enumerate(scores.T)},
            "mean_test_score": mean,
            "std_test_score": spread,
        }

    def get_metadata_routing(self) -> MetadataRouter:
        """What ``fit`` passes on to the folds."""
        mapping = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=check_cv(self.cv), method_mapping=mapping)


def between(path: list[tuple[float, list[float]]], means: Array, best: int, count: int) -> Array:
    """A closer grid around the best alpha, its neighbours left out."""
    last = int(np.flatnonzero(np.isfinite(means)).max())
    if best == len(path) - 1:
        ends = path[best][0], FINEST * path[best][0]
    elif best == 0 or best == last:
        ends = path[best][0], path[best + 1][0]
    else:
        ends = path[best - 1][0], path[best + 1][0]
    return np.logspace(np.log10(ends[0]), np.log10(ends[1]), count + 2)[1:-1]
