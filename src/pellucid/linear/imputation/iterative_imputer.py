r"""Filling missing cells column by column, each predicted from all the others.

Start        every gap holds one value of its column (its mean, say)
Round        for every column j: fit x_j on the other columns with the rows that have it, and
             predict it in the rows that do not
Stop         when no row changes by more than ``tol`` times the largest cell
Posterior    with ``sample_posterior`` a gap is drawn from N(prediction, std^2) instead, cut to the
             given range: several fits with different seeds show what the gaps leave open

The chain of regressions is kept, and later rows go through the same chain. With linear models and
normal columns this is close to the EM algorithm for a joint normal distribution.
Cost: one regression per column and round.

References: Buck (1960); van Buuren & Groothuis-Oudshoorn (2011), MICE.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.stats import truncnorm
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import (
    Array,
    ArrayLike,
    BoolArray,
    IntArray,
    Matrix,
    MaybeArray,
    Rng,
    Seed,
)
from pellucid.core.loops.iterate import FitContext, History, strictly_below
from pellucid.core.meta import fitted
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.features.encoding.categories import is_missing
from pellucid.features.missing.imputer import STRATEGY, SimpleImputer
from pellucid.features.missing.missing_indicator import check_marker, indicator_of, missing_cells
from pellucid.linear.bayes.bayesian_ridge import BayesianRidge

ORDERS = ("ascending", "descending", "roman", "arabic", "random")
LEAST = 1e-6  # correlation: every column can be drawn as a neighbour


class ImputationStep(NamedTuple):
    """One regression of the chain: the column it fills, the columns it uses, the fitted model."""

    feat_idx: int
    neighbor_feat_idx: IntArray
    estimator: Any


class Filled(NamedTuple):
    """The table so far, the regressions that made it, and how far the last round moved it."""

    X: Array  # (n, p)
    chain: tuple[ImputationStep, ...]
    change: float


def column_order(gaps: BoolArray, order: str, skip_complete: bool, rng: Rng) -> IntArray:
    """The columns in the order in which a round visits them."""
    share = gaps.mean(axis=0)
    if order in ("ascending", "descending"):
        columns = np.argsort(share, kind="stable")
        columns = columns[share[columns] > 0] if skip_complete else columns
        return columns if order == "ascending" else columns[::-1]
    columns = np.flatnonzero(share) if skip_complete else np.arange(len(share))
    if order == "random":
        return rng.permutation(columns)
    return columns if order == "roman" else columns[::-1]


def correlation_shares(X: Array) -> Array:
    """(p, p): column j holds the chances with which the others are drawn to predict it."""
    with np.errstate(invalid="ignore", divide="ignore"):  # a constant column has none
        R = np.abs(np.corrcoef(X.T))
    R = np.maximum(np.nan_to_num(R, nan=LEAST), LEAST)
    np.fill_diagonal(R, 0.0)
    return np.asarray(R / R.sum(axis=0))


def drawn_between(mean: Array, std: Array, low: float, high: float, rng: Rng) -> Array:
    """Draws from normal distributions cut to [low, high]; a mean outside stays at the end."""
    out = np.clip(mean, low, high)
    free = (std > 0) & (mean >= low) & (mean <= high)
    m, s = mean[free], std[free]
    if len(m):
        cut = truncnorm(a=(low - m) / s, b=(high - m) / s, loc=m, scale=s)
        out[free] = cut.rvs(random_state=rng)
    return np.asarray(out)


class IterativeImputer(Transformer):
    """Fill missing cells by regressions of every column on the others, in turn.

    Parameters
    ----------
    estimator : regressor or None, default=None
        Predicts a column; None is ``BayesianRidge()``.
    missing_values : number or NaN, default=NaN
        What marks a missing cell.
    sample_posterior : bool, default=False
        Draw a gap from the predictive distribution; the estimator needs ``return_std``.
    max_iter : int, default=10
        Rounds at most; 0 leaves the first filling.
    tol : float, default=1e-3
        Stop when a round changes less than this share of the largest cell.
    n_nearest_features : int or None, default=None
        Columns drawn to predict another, by their correlation with it; None takes all.
    initial_strategy : {"mean", "median", "most_frequent", "constant"}, default="mean"
        The first filling, as in ``SimpleImputer``.
    fill_value : number or None, default=None
        For ``initial_strategy="constant"``.
    imputation_order : {"ascending", "descending", "roman", "arabic", "random"}, default="ascending"
        Columns with few gaps first, with many first, left to right, right to left, or at random.
    skip_complete : bool, default=False
        Columns without gaps in ``fit`` get no regression; gaps found there later keep the first
        filling.
    min_value, max_value : float or array of shape (n_features,), default=-inf, inf
        The range of the filled cells.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    random_state : int, RandomState, Generator or None, default=None
        For draws of values, columns and orders.
    add_indicator : bool, default=False
        Append the columns of a MissingIndicator.
    keep_empty_features : bool, default=False
        Columns with no cell at all in ``fit`` are filled with 0 instead of dropped.

    Attributes
    ----------
    initial_imputer_ : SimpleImputer
    imputation_sequence_ : list of ImputationStep(feat_idx, neighbor_feat_idx, estimator)
    n_iter_ : int
        Rounds done.
    n_features_with_missing_ : int
        Columns that a round visits.
    indicator_ : MissingIndicator or None
    random_state_ : Generator
    history_ : History
        ``objective``, the largest change of a row by the largest cell, of every round.
    n_features_in_, feature_names_in_ : the training table's columns

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import IterativeImputer
    >>> X = [[1.0, 2.0], [3.0, 6.0], [4.0, 8.0], [np.nan, 3.0], [7.0, np.nan]]
    >>> IterativeImputer(random_state=0).fit_transform(X)[3:].round(2)
    array([[ 1.5,  3. ],
           [ 7. , 14. ]])
    """

    _squares_x = True

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        missing_values: float = np.nan,
        sample_posterior: bool = False,
        max_iter: int = 10,
        tol: float = 1e-3,
        n_nearest_features: int | None = None,
        initial_strategy: str = "mean",
        fill_value: float | None = None,
        imputation_order: str = "ascending",
        skip_complete: bool = False,
        min_value: float | ArrayLike = -np.inf,
        max_value: float | ArrayLike = np.inf,
        verbose: int = 0,
        random_state: Seed = None,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
    ) -> None:
        self.estimator = estimator
        self.missing_values = missing_values
        self.sample_posterior = sample_posterior
        self.max_iter = max_iter
        self.tol = tol
        self.n_nearest_features = n_nearest_features
        self.initial_strategy = initial_strategy
        self.fill_value = fill_value
        self.imputation_order = imputation_order
        self.skip_complete = skip_complete
        self.min_value = min_value
        self.max_value = max_value
        self.verbose = verbose
        self.random_state = random_state
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return is_missing(self.missing_values)

    @property
    def random_state_(self) -> Rng:
        """The source of the draws: anew from ``random_state``, so that answers repeat."""
        return generator(self.random_state)

    def _check_parameters(self) -> None:
        check.whole(at_least=0, max_iter=self.max_iter)
        check.non_negative(tol=self.tol)
        check.one_of(STRATEGY, initial_strategy=self.initial_strategy)
        check.one_of(ORDERS, imputation_order=self.imputation_order)
        check.boolean(sample_posterior=self.sample_posterior, skip_complete=self.skip_complete)
        empty = {"keep_empty_features": self.keep_empty_features}
        check.boolean(add_indicator=self.add_indicator, **empty)
        if self.n_nearest_features is not None:
            check.whole(n_nearest_features=self.n_nearest_features)

    def fit(self, X: Matrix, y: MaybeArray = None, **fit_params: Any) -> Self:
        """Find the chain of regressions; routing sends ``fit_params`` to the estimator."""
        self._learn(X, fit_params)
        return self

    def fit_transform(self, X: Matrix, y: MaybeArray = None, **params: Any) -> Any:
        """Fit, and return the table as the last round left it."""
        return self._learn(X, params)

    def _open(self, X: Matrix, *, reset: bool) -> tuple[Array, BoolArray]:
        """The table in float64 with NaN for its gaps, and where they are."""
        X = self._check_cells(X, reset=reset, text=False)
        check_marker(X, self.missing_values, self)
        mask = missing_cells(X, self.missing_values)
        return np.where(mask, np.nan, X.astype(np.float64)), mask

    @with_callbacks
    def _learn(self, X: Matrix, params: dict[str, Any]) -> Any:
        self._check_parameters()
        _raise_for_params(params, self, "fit")
        sent = process_routing(self, "fit", **params).estimator.fit if _routing_enabled() else {}
        given, mask = self._open(X, reset=True)
        rng = self.random_state_
        context = FitContext(self, X=given, max_steps=self.max_iter, attributes=self._attributes)
        start: dict[str, Any] = {
            "fill_value": self.fill_value,
            "keep_empty_features": self.keep_empty_features,
        }
        self.initial_imputer_ = SimpleImputer(strategy=self.initial_strategy, **start)
        filled = self.initial_imputer_.fit(given).transform(given)
        self._empty = mask.all(axis=0)
        self.indicator_ = indicator_of(mask, self.missing_values) if self.add_indicator else None
        known, gaps = self._aligned(given, filled, mask)
        self._limits = self._check_limits(filled.shape[1])
        order = column_order(gaps, self.imputation_order, self.skip_complete, rng)
        self.n_features_with_missing_ = len(order)
        self.imputation_sequence_: list[ImputationStep] = []
        if self.max_iter == 0 or gaps.all() or filled.shape[1] == 1:
            self.n_iter_, self.history_ = 0, History()
            context.end()
            return self._marked(filled, mask)
        seen = np.abs(known[~gaps]).max(initial=0.0)
        unit = seen if seen > 0 else 1.0
        wanted = self.n_nearest_features
        few = wanted is not None and wanted < filled.shape[1]
        shares = correlation_shares(filled) if few else None
        model = BayesianRidge() if self.estimator is None else self.estimator

        def step(state: Filled) -> tuple[Filled, float]:
            Z, chain = state.X.copy(), list(state.chain)
            visits = order
            if self.imputation_order == "random" and chain:
                visits = column_order(gaps, "random", self.skip_complete, rng)
            for j in visits:
                others = self._others(int(j), Z.shape[1], shares, rng)
                rows = ~gaps[:, j]
                inner = fitted(clone(model), Z[np.ix_(rows, others)], Z[rows, j], **sent)
                chain.append(ImputationStep(int(j), others, inner))
                self._predict_into(Z, gaps, chain[-1], rng)
            change = float(np.abs(Z - state.X).sum(axis=1).max() / unit)
            return Filled(Z, tuple(chain), change), change

        run = self._iterate(
            step,
            Filled(filled, (), np.inf),
            max_iter=self.max_iter,
            tol=None if self.sample_posterior else strictly_below(self.tol),
            record=lambda state: {"objective": state.change},
            start_row=False,
            context=context,
        )
        self.imputation_sequence_ = list(run.state.chain)
        return self._marked(np.where(gaps, run.state.X, known), mask)

    def _attributes(self, state: Filled) -> dict[str, Any]:
        return {"imputation_sequence_": list(state.chain), "n_iter_": 1}

    def _aligned(self, X: Array, filled: Array, mask: BoolArray) -> tuple[Array, BoolArray]:
        """The given cells and their gaps in the columns that are kept."""
        if self.keep_empty_features:
            return np.where(self._empty, filled, X), mask & ~self._empty
        return X[:, ~self._empty], mask[:, ~self._empty]

    def _others(self, j: int, p: int, shares: Array | None, rng: Rng) -> IntArray:
        if shares is None:
            return np.delete(np.arange(p), j)
        return rng.choice(p, self.n_nearest_features, replace=False, p=shares[:, j])

    def _predict_into(self, Z: Array, gaps: BoolArray, step: ImputationStep, rng: Rng) -> None:
        """Fill the gaps of one column of Z."""
        j, rows = step.feat_idx, gaps[:, step.feat_idx]
        if not rows.any():
            return
        low, high = self._limits[:, j]
        inputs = Z[np.ix_(rows, step.neighbor_feat_idx)]
        if self.sample_posterior:
            mean, std = step.estimator.predict(inputs, return_std=True)
            Z[rows, j] = drawn_between(mean, std, low, high, rng)
        else:
            Z[rows, j] = np.clip(step.estimator.predict(inputs), low, high)

    def _check_limits(self, p: int) -> Array:
        """(2, p): the least and the largest value of a filled cell in the kept columns."""
        found = np.empty((2, p))
        ends = (("min_value", self.min_value, -np.inf), ("max_value", self.max_value, np.inf))
        for row, (name, limit, free) in zip(found, ends, strict=True):
            try:
                values = np.asarray(free if limit is None else limit, dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError(f"{name} must be a number or an array, got {limit!r}") from None
            if values.ndim and values.shape != (self.n_features_in_,):
                need = f"({self.n_features_in_},)"
                raise ValueError(
                    f"'{name}' should be of shape {need} when an array-like is provided. "
                    f"Got {len(values)}, instead."
                )
            if np.isnan(values).any():
                raise ValueError(f"{name} must not be NaN")
            dropped = values.ndim and not self.keep_empty_features
            row[:] = values[~self._empty] if dropped else values
        if not (found[1] > found[0]).all():
            raise ValueError("One (or more) features have min_value >= max_value.")
        return found

    def _marked(self, Z: Array, mask: BoolArray) -> Any:
        if self.indicator_ is None:
            return Z
        return np.hstack([Z, self.indicator_._pick(mask)])

    def transform(self, X: Matrix) -> Any:
        """X with its missing cells filled by the chain of the fit."""
        check_is_fitted(self)
        given, mask = self._open(X, reset=False)
        Z = self.initial_imputer_.transform(given)
        known, gaps = self._aligned(given, Z, mask)
        rng = self.random_state_
        rows = gaps.any(axis=1)
        if rows.any() and not gaps.all():
            part = np.ascontiguousarray(Z[rows])
            for step in self.imputation_sequence_:
                self._predict_into(part, gaps[rows], step, rng)
            Z[rows] = np.where(gaps[rows], part, known[rows])
        return self._marked(Z, mask)

    def _check_state(self) -> None:
        if not hasattr(self, "n_features_in_"):
            return
        p = self.n_features_in_ if self.keep_empty_features else int((~self._empty).sum())
        if self._empty.shape != (self.n_features_in_,) or self._limits.shape != (2, p):
            raise ValueError("_empty and _limits do not belong to the columns of the table")
        for step in self.imputation_sequence_:
            places = np.append(np.asarray(step.neighbor_feat_idx), step.feat_idx)
            if not ((places >= 0) & (places < p)).all():
                raise ValueError(f"a regression of the chain names a column outside 0..{p - 1}")

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The names of the columns that are kept, then those of the indicators."""
        names = self._names_in(input_features)
        kept = names if self.keep_empty_features else names[~self._empty]
        if self.indicator_ is None:
            return kept
        return np.concatenate([kept, self.indicator_.get_feature_names_out(names)])

    def get_metadata_routing(self) -> MetadataRouter:
        """What ``fit`` passes on to the estimator."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        model = "BayesianRidge" if self.estimator is None else type(self.estimator).__name__
        filled = "drawn from" if self.sample_posterior else "the mean of"
        last = float(self.history_[-1]["objective"]) if len(self.history_) else 0.0
        return Card(
            f"a gap of column j is {filled} the prediction of {model} from the other columns",
            "each regression has its own loss; there is no common one",
            f"{self.n_iter_} rounds over the columns, until nothing moves by more than "
            f"{self.tol:g} of the largest cell",
            {
                "columns": self.n_features_in_,
                "regressions": len(self.imputation_sequence_),
                "rounds": self.n_iter_,
                "last change": last,
            },
            warnings=(
                "filled cells are treated as measured afterwards: variances come out too small",
            ),
        )
