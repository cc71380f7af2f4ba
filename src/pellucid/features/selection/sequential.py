r"""Sequential selection: add or drop the column (or group) that helps the score most.

    forward    start empty; each step adds the best column
    backward   start with all; each step drops the column that is missed least
    both       start empty; each step takes the best of all additions and removals, while it gains

Every candidate is judged on the same folds, so that scores differ by the columns alone. The folds
are cut once; candidates run in parallel and give the same numbers for any ``n_jobs``.

References: Whitney (1971); Pudil, Novovicova & Kittler (1994) for the floating variant.
"""

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    process_routing,
)

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import BoolArray, Folds, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import rows_of
from pellucid.core.records import Card
from pellucid.features.selection.supervised import ModelSelector


class SelectionStep(NamedTuple):
    """One move: "add" or "drop" of some columns, the columns after it and their score."""

    move: str
    features: tuple[int, ...]
    support: tuple[int, ...]
    score: float


class Fold(NamedTuple):
    """Training and test rows, cut once."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    fit: dict[str, Any]  # what the caller sent to the estimator's fit
    score: dict[str, Any]  # and to the scorer


def folds_of(
    X: np.ndarray, y: np.ndarray, splits: Iterable[tuple[IntArray, IntArray]], routed: Any
) -> list[Fold]:
    """The rows of every fold, with what was routed to the estimator and to the scorer."""
    take = (lambda v, rows: None) if y is None else (lambda v, rows: v[rows])
    fit, score = routed.estimator.fit, routed.scorer.score
    return [
        Fold(X[a], take(y, a), X[b], take(y, b), rows_of(fit, X, a), rows_of(score, X, b))
        for a, b in splits
    ]


def score_columns(
    estimator: BaseEstimator, folds: list[Fold], columns: IntArray, scorer: Callable[..., float]
) -> float:
    """Mean score over the folds of the estimator on these columns."""
    scores = []
    for fold in folds:
        args = () if fold.y is None else (fold.y,)
        model = clone(estimator)
        model.fit(fold.X[:, columns], *args, **fold.fit)
        test = () if fold.y_test is None else (fold.y_test,)
        scores.append(scorer(model, fold.X_test[:, columns], *test, **fold.score))
    return float(np.mean(scores))


class SequentialFeatureSelector(MetaEstimatorMixin, ModelSelector):
    """Greedy selection of columns by cross-validated score.

    Parameters
    ----------
    estimator : estimator
        Unfitted; cloned for every candidate.
    n_features_to_select : "auto", int or float, default="auto"
        How many columns (groups, if ``feature_groups`` is given), or a share. "auto": half of
        them, or, with ``tol`` or direction "both", as many as go on helping.
    tol : float or None
        With "auto": stop when a step gains less.
    direction : {"forward", "backward", "both"}, default="forward"
        Add columns, drop columns, or whichever helps more.
    scoring : str, callable or None
        As for scikit-learn; None is the score of the estimator.
    cv : int, splitter or iterable, default=5
        The folds on which every candidate is judged.
    n_jobs : int or None
        Candidates in parallel, by joblib.
    feature_groups : list of lists of positions or names, optional
        Columns that move together; each column in one group.

    Attributes
    ----------
    support_ : mask of the chosen columns
    n_features_to_select_ : their number
    steps_ : list of SelectionStep(move, features, support, score)

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression
    >>> from pellucid.features import SequentialFeatureSelector
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y = X[:, 2] - X[:, 0]
    >>> model = SequentialFeatureSelector(LinearRegression(), n_features_to_select=2).fit(X, y)
    >>> [step.features for step in model.steps_]
    [(2,), (0,)]
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        n_features_to_select: str | float = "auto",
        tol: float | None = None,
        direction: str = "forward",
        scoring: str | Callable[..., float] | None = None,
        cv: Folds = 5,
        n_jobs: int | None = None,
        feature_groups: Sequence[Sequence[int | str]] | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.tol = tol
        self.direction = direction
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.feature_groups = feature_groups

    @with_callbacks
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search for the columns that score best; routing sends ``params`` on, such as groups."""
        _raise_for_params(params, self, "fit")
        check.one_of(("forward", "backward", "both"), direction=self.direction)
        if isinstance(self.cv, Real):
            check.whole(at_least=2, cv=self.cv)
        rows = self._check_training(X, y)
        X, y, p = rows.X, rows.y, self.n_features_in_
        if p < 2:
            raise ValueError(f"Found array with 1 feature(s) (shape={X.shape}); at least 2 needed")
        groups = self._groups()
        goal = self._goal(len(groups))
        scorer = check_scoring(self.estimator, scoring=self.scoring)
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        routed = process_routing(self, "fit", **params)
        folds = folds_of(X, y, cv.split(X, y, **routed.splitter.split), routed)
        context = FitContext(self, X=X, y=y, max_steps=len(groups), attributes=self._attributes)
        self._search(groups, goal, folds, scorer, context)
        context.end(self.support_)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """What ``fit`` passes on to the estimator, the folds and the scorer."""

        def sends(callee: str) -> MethodMapping:
            return MethodMapping().add(caller="fit", callee=callee)

        cv = check_cv(self.cv, classifier=is_classifier(self.estimator))
        scorer = check_scoring(self.estimator, scoring=self.scoring)
        return (
            MetadataRouter(owner=self)
            .add(estimator=self.estimator, method_mapping=sends("fit"))
            .add(splitter=cv, method_mapping=sends("split"))
            .add(scorer=scorer, method_mapping=sends("score"))
        )

    def _groups(self) -> list[IntArray]:
        p, names = self.n_features_in_, self._feature_names()
        if self.feature_groups is None:
            return [np.array([j]) for j in range(p)]
        groups = [
            np.array([names.index(c) if isinstance(c, str) and c in names else c for c in group])
            for group in self.feature_groups
        ]
        flat = [c for group in groups for c in group.tolist()]
        if sorted(map(str, flat)) != sorted(map(str, range(p))):
            need = f"each of the {p} columns once, by position or name"
            raise ValueError(f"feature_groups must hold {need}")
        return groups

    def _goal(self, n: int) -> int | None:
        """How many groups to end with; None: as many as help."""
        wanted = self.n_features_to_select
        if self.tol is not None:
            if not isinstance(self.tol, Real) or self.tol != self.tol:
                raise ValueError(f"tol must be a number or None, got {self.tol!r}")
            if self.tol < 0 and self.direction != "backward":
                need = "tol must be strictly positive when doing forward selection"
                raise ValueError(f"{need}, got {self.tol!r} with direction={self.direction!r}")
        if isinstance(wanted, str):
            check.one_of(("auto",), n_features_to_select=wanted)
            return None if self.tol is not None or self.direction == "both" else n // 2
        if isinstance(wanted, Integral) and not isinstance(wanted, bool):
            check.whole(n_features_to_select=wanted)
            if int(wanted) >= n:
                raise ValueError(f"n_features_to_select must be < n_features = {n}, got {wanted}")
            return int(wanted)
        check.positive(n_features_to_select=wanted)
        if wanted > 1:
            raise ValueError(f"n_features_to_select as a share must be <= 1, got {wanted!r}")
        return int(n * wanted)

    def _search(
        self,
        groups: list[IntArray],
        goal: int | None,
        folds: list[Fold],
        scorer: Callable[..., float],
        context: FitContext,
    ) -> None:
        chosen = np.full(len(groups), self.direction == "backward")
        self.steps_: list[SelectionStep] = []
        last, tol = -np.inf, self.tol if self.tol is not None else 0.0
        while not self._done(chosen, goal):
            moves = self._moves(chosen, goal)
            columns = [columns_of(groups, chosen ^ (np.arange(len(groups)) == g)) for g in moves]
            jobs = (delayed(score_columns)(self.estimator, folds, c, scorer) for c in columns)
            scores = np.array(Parallel(n_jobs=self.n_jobs)(jobs))
            if np.isnan(scores).all():
                raise ValueError("every candidate has score NaN: the estimator cannot be judged")
            best = int(np.nanargmax(scores))
            floating = goal is None or self.direction == "both"
            if floating and self.steps_ and not self._gains(scores[best] - last, tol):
                break
            g = moves[best]
            last = float(scores[best])
            chosen[g] = not chosen[g]
            moved, left = tuple(groups[g].tolist()), tuple(columns[best].tolist())
            step = SelectionStep("add" if chosen[g] else "drop", moved, left, last)
            self.steps_.append(step)
            if context.step(len(self.steps_), self._mask(groups, chosen)):
                break
        self.support_ = self._mask(groups, chosen)
        self.n_features_to_select_ = int(self.support_.sum())

    def _gains(self, gain: float, tol: float) -> bool:
        return gain > 0 if self.direction == "both" and gain >= tol else gain >= tol

    def _done(self, chosen: BoolArray, goal: int | None) -> bool:
        k, n = int(chosen.sum()), len(chosen)
        if self.direction == "both":
            return False
        if self.direction == "forward":
            return k >= (n - 1 if goal is None else goal)
        return k <= (1 if goal is None else goal)

    def _moves(self, chosen: BoolArray, goal: int | None) -> IntArray:
        if self.direction == "forward":
            return np.flatnonzero(~chosen)
        if self.direction == "backward":
            return np.flatnonzero(chosen)
        k = int(chosen.sum())
        full = goal is not None and k >= goal
        return np.flatnonzero(chosen if full else (np.ones_like(chosen) if k > 1 else ~chosen))

    def _mask(self, groups: list[IntArray], chosen: BoolArray) -> BoolArray:
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[columns_of(groups, chosen)] = True
        return mask

    def _attributes(self, support: BoolArray) -> dict[str, Any]:
        return {"support_": support, "n_features_to_select_": int(support.sum())}

    def _get_support_mask(self) -> Any:
        return self.support_

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        names = self._feature_names()
        moved = [(s.move, " ".join(names[j] for j in s.features)) for s in self.steps_[:8]]
        path = ", ".join(f"{'+' if move == 'add' else '-'}{some}" for move, some in moved)
        search = f"greedy, {self.direction}: {len(self.steps_)} steps ({path})"
        score = self.steps_[-1].score if self.steps_ else None
        kept, p, model = self.n_features_to_select_, self.n_features_in_, type(self.estimator)
        return Card(
            f"{kept} of {p} columns",
            f"cross-validated score of {model.__name__}, the same folds for every candidate",
            f"{search}; the best set of this size may be another",
            {"columns": kept, "of": p, "score": score},
            warnings=("chosen with the target: the score of the last step is optimistic",),
        )


def columns_of(groups: list[IntArray], chosen: BoolArray) -> IntArray:
    """The columns of the chosen groups, in order."""
    picked = [groups[g] for g in np.flatnonzero(chosen)]
    return np.sort(np.concatenate(picked)) if picked else np.zeros(0, dtype=np.intp)
