r"""Naive Bayes for columns of different kinds.

Model        k ~ pi,   x_j | k ~ f_jk, independent over j, each column with a density of its own
             kind (naive_bayes.densities)
Estimator    maximum likelihood per column and class; tables with pseudo-counts alpha, Gaussian
             variances with epsilon = var_smoothing max_j var(x_j) over the gaussian columns
Joint        log p(x, k) = log pi_k + sum_j log f_jk(x_j)
Algorithm    one pass for the moments of the number columns (compiled.moments: they hold all that
             gaussian, bernoulli, poisson and exponential columns need) and the counts of the
             categorical ones.    O(n p)

Independence is what makes this easy: columns are fitted one by one, a missing cell is a factor
left out, and the discretised route (histogram), the smooth one (kde) and the parametric ones may
stand side by side in one product.

Reference: John & Langley (1995), Estimating continuous distributions in Bayesian classifiers.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from pellucid.base import check_weights, fit_blocks, with_callbacks
from pellucid.compiled.counts.moments import ClassMoments, class_moments, merge_class_moments
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Map, Rng
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.features.encoding.categories import Found, find_values, look_up
from pellucid.naive_bayes import densities
from pellucid.naive_bayes.categorical import (
    CategoryCounts,
    category_counts,
    fit_categorical,
    is_absent,
    merge_categories,
)
from pellucid.naive_bayes.count_kernels import score_categories
from pellucid.naive_bayes.counts import (
    ZeroCountWarning,
    class_prior,
    log_class_prior,
    log_shares,
    zero_count,
)
from pellucid.naive_bayes.gaussian import (
    TINY,
    UnseenFeatureWarning,
    ZeroVarianceWarning,
    fit_gaussian_nb,
    joint_log_density,
    too_large,
)
from pellucid.naive_bayes.gaussian import log_density as gaussian_constants
from pellucid.naive_bayes.kinds import (
    ESTIMATOR,
    FAMILY,
    NUMBERS,
    Kind,
    as_numbers,
    places,
    refuse_outside,
    resolve,
)
from pellucid.naive_bayes.naive_bayes import NaiveBayes

PLAIN = (densities.GaussianColumn, densities.PoissonColumn, densities.ExponentialColumn)


class MixedCounts(NamedTuple):
    """The statistic of the number and the categorical columns."""

    moments: ClassMoments  # of the number columns, in their order
    categories: CategoryCounts  # of the categorical columns


class Parts(NamedTuple):
    """The columns of a frame by what is done to them; a matrix as far as lengths go."""

    numbers: Array  # (n, q)
    found: Found | None
    kept: dict[int, Array]
    shape: tuple[int, int]


def is_matrix(X: ArrayLike) -> bool:
    """Whether X is a plain matrix of numbers, which is best taken by rows."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"


def merge_mixed(a: MixedCounts, b: MixedCounts) -> MixedCounts:
    """The statistic of two disjoint sets of rows taken together."""
    moments = merge_class_moments(a.moments, b.moments)
    return MixedCounts(moments, merge_categories(a.categories, b.categories))


def count_found(found: Found | None, c: IntArray, w: Array, n_classes: int) -> CategoryCounts:
    """Counts of the categorical columns, of which there may be none."""
    if found is None:
        return CategoryCounts(np.bincount(c, w, n_classes).astype(np.float64), [], [])
    return category_counts(found, c, w, n_classes)


def leaf_mixed(rows: Rows, kinds: list[str], names: list[str], n_classes: int) -> MixedCounts:
    """The statistic of a leaf of numbers."""
    numbers = [j for j, kind in enumerate(kinds) if kind in NUMBERS]
    others = [j for j, kind in enumerate(kinds) if kind == "categorical"]
    for j in numbers:
        refuse_outside(rows.X[:, j], kinds[j], names[j])
    found = find_values([rows.X[:, j] for j in others]) if others else None
    whole = len(numbers) == rows.X.shape[1]
    part = Rows(rows.X if whole else rows.X.take(numbers, axis=1), rows.y, rows.w)
    counts = count_found(found, rows.y, rows.w, n_classes)
    return MixedCounts(class_moments(part, n_classes), counts)


def pooled_mean(weight: Array, mean: Array) -> Array:
    """Means within the classes; that of all classes where a class saw nothing, NaN if none did."""
    total = weight.sum()
    everywhere = (weight @ mean) / total if total > 0 else np.nan
    return np.where(weight > 0, mean, everywhere)


def fit_density(model: BaseEstimator, x: Array, w: Array) -> Any:
    """A copy of a density estimator fitted to the cells of a class; None where there are none."""
    weights = {} if (w == 1.0).all() else {"sample_weight": w}
    return clone(model).fit(x[:, None], **weights) if len(x) else None


class MixedNB(NaiveBayes):
    """Naive Bayes in which every column has the density that suits it.

    Missing cells (NaN, None) are left out in fit and prediction. ``sample_weight`` equals
    repetition. ``partial_fit`` and ``fit_blocks`` are exact and serve gaussian, categorical,
    bernoulli, poisson and exponential columns; kde, histogram, families and estimators need all
    rows at once and are refused there. A category not seen in the fit is left out with a warning;
    a number outside the support (a negative count) has density 0.

    Parameters
    ----------
    distributions : "auto", a kind, or dict, default="auto"
        Column (name or index) -> "gaussian", "categorical", "bernoulli" (0 and 1), "poisson",
        "exponential", "kde", "histogram" (quantile bins), a continuous family of scipy.stats
        (the object or its name; fitted by maximum likelihood in each class) or a density estimator
        with ``fit`` and ``score_samples``. Columns not named, and all with "auto", go by dtype:
        truth values bernoulli, text and categories categorical, numbers gaussian. One kind stands
        for all columns.
    alpha : float, default=1.0
        Pseudo-counts of categorical, bernoulli and histogram columns, ``>= 0``.
    var_smoothing : float, default=1e-9
        This share of the largest variance of the gaussian columns is added to their variances.
    fit_prior : bool, default=True
        Whether the prior is the shares of the classes; False: all equal.
    class_prior : array of shape (n_classes,), default=None
        Class probabilities that replace both.
    prior_alpha : float, default=0.0
        Pseudo-rows of each class in the prior: (n_k + a) / (n + a K).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    distributions_ : list of str
        The kind of every column.
    densities_ : list of records
        The parameters of every column, one entry per class.
    epsilon_ : float
        What was added to the variances of the gaussian columns.
    moments_ : ndarray of shape (3, n_classes, n_number_columns)
        Weight, mean and centred sum of squares of gaussian, bernoulli, poisson and exponential
        columns; what ``partial_fit`` adds to, with the next two.
    categories_, category_count_ : list of arrays
        Values of the categorical columns, and their weight in each class.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import polars as pl
    >>> from pellucid import MixedNB
    >>> X = pl.DataFrame({"height": [1.6, 1.7, 1.8, 1.9], "team": ["a", "a", "b", "b"]})
    >>> model = MixedNB().fit(X, [0, 0, 1, 1])
    >>> model.distributions_, model.predict(X)
    (['gaussian', 'categorical'], array([0, 0, 1, 1]))
    >>> visits = MixedNB({0: "poisson"}).fit([[0], [1], [4], [6]], [0, 0, 1, 1])
    >>> visits.densities_[0].rate
    array([0.5, 5. ])
    """

    _answers_nonfinite = True  # log 0 of a row that cannot be

    fit_blocks = fit_blocks

    def __init__(
        self,
        distributions: str | Mapping[Any, str] = "auto",
        *,
        alpha: float = 1.0,
        var_smoothing: float = 1e-9,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        prior_alpha: float = 0.0,
    ) -> None:
        self.distributions = distributions
        self.alpha = alpha
        self.var_smoothing = var_smoothing
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.prior_alpha = prior_alpha

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # --- fit -------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        table, kinds = self._open(X, first=True)
        c = self._check_target(y, table.shape[0])
        rows = Rows(table, c, check_weights(sample_weight, table))
        context = FitContext.of_one_step(self, X, y, sample_weight)
        self._solve(kinds, self._counts(rows, kinds), rows)
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        floats = [np.empty(0)] * self.n_features_in_
        kinds = resolve(self.distributions, floats, getattr(self, "feature_names_in_", None))
        self._refuse_kept(kinds, "fit_blocks")
        self._solve(kinds, self._reduce(rows, kinds, map_), None)

    def _reduce(self, rows: Source, kinds: list[Kind], map_: Map) -> MixedCounts:
        """The statistic of rows of numbers, leaf by leaf."""
        names = [self._column_name(j) for j in range(len(kinds))]
        words, K = [kind.name for kind in kinds], len(self.classes_)
        summarise = partial(leaf_mixed, kinds=words, names=names, n_classes=K)
        return reduce_rows(Statistic(summarise, merge_mixed), rows, map_)

    def _open(self, X: Any, *, first: bool) -> tuple[Any, list[Kind]]:
        """A matrix of numbers as it is, any other table in parts; and the kinds of its columns."""
        matrix = is_matrix(X)
        if matrix:
            table: Any = super()._check_matrix(X, reset=first, finite=True)
            columns = [np.empty(0, X.dtype)] * table.shape[1]
        else:
            columns = self._check_columns(X, reset=first)
        if first:
            kinds = resolve(self.distributions, columns, getattr(self, "feature_names_in_", None))
        else:
            kinds = [Kind(name) for name in self.distributions_]
        return (table if matrix else self._split(columns, kinds)), kinds

    def _check_batch(self, X: ArrayLike, first: bool) -> Any:
        table, kinds = self._open(X, first=first)
        self._refuse_kept(kinds, "partial_fit")
        self.distributions_ = [kind.name for kind in kinds]
        return table

    def _update(self, rows: Rows, *, first: bool) -> None:
        kinds = [Kind(name) for name in self.distributions_]
        counts = self._counts(rows, kinds)
        counts = counts if first else merge_mixed(self._stored(), counts)
        self._solve(kinds, counts, rows)

    def _stored(self) -> MixedCounts:
        """The statistic that ``partial_fit`` adds to."""
        moments = ClassMoments(self.class_count_, *self.moments_)
        counts = CategoryCounts(self.class_count_, self.categories_, self.category_count_)
        return MixedCounts(moments, counts)

    def _refuse_kept(self, kinds: list[Kind], what: str) -> None:
        for j, kind in enumerate(kinds):
            if kind.is_kept:
                why = f"{kind.name} needs all rows at once; use fit, or another kind"
                raise ValueError(f"{what} cannot serve {self._column_name(j)}: {why}")

    def _split(self, columns: Sequence[Any], kinds: list[Kind]) -> Parts:
        """Numbers as one matrix, categories with their codes, the others one by one."""
        numbers, others, kept = [], [], {}
        for j, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
            if kind.name == "categorical":
                others.append(column)
                continue
            x = as_numbers(column, kind.name, self._column_name(j))
            refuse_outside(x, kind.name, self._column_name(j))
            if kind.is_number:
                numbers.append(x)
            else:
                kept[j] = x
        found = find_values(others) if others else None
        first = numbers[0] if numbers else next(iter(kept.values()), None)
        n = len(first) if first is not None else found.n_rows  # type: ignore[union-attr]
        matrix = np.column_stack(numbers) if numbers else np.empty((n, 0))
        return Parts(matrix, found, kept, (n, len(columns)))

    def _counts(self, rows: Rows, kinds: list[Kind]) -> MixedCounts:
        """The statistic of a table in memory."""
        K, table = len(self.classes_), rows.X
        if isinstance(table, np.ndarray):
            return self._reduce(rows, kinds, map_threads)
        summarise = partial(class_moments, n_classes=K)
        numbers = Rows(table.numbers, rows.y, rows.w)
        moments = reduce_rows(Statistic(summarise, merge_class_moments), numbers, map_threads)
        return MixedCounts(moments, count_found(table.found, rows.y, rows.w, K))

    def _solve(self, kinds: list[Kind], counts: MixedCounts, rows: Rows | None) -> None:
        check.non_negative(alpha=self.alpha, var_smoothing=self.var_smoothing)
        total = counts.categories.total
        log_prior = log_class_prior(total, self.fit_prior, self.class_prior, self.prior_alpha)
        self._refuse_large(kinds, counts.moments)
        self.distributions_ = [kind.name for kind in kinds]
        self.class_count_, self.class_log_prior_ = total, log_prior
        self.moments_ = np.stack(counts.moments[1:])
        _, self.categories_, self.category_count_ = counts.categories
        self.epsilon_, self.densities_ = self._densities(kinds, counts, rows)
        for j, (kind, column) in enumerate(zip(kinds, self.densities_, strict=True)):
            self._warn_corners(j, kind.name, column)

    def _refuse_large(self, kinds: list[Kind], moments: ClassMoments) -> None:
        unsound = ~np.isfinite(moments.scatter).all(axis=0)
        if unsound.any():
            places = [j for j, kind in enumerate(kinds) if kind.is_number]
            raise ValueError(too_large(self._column_name(places[int(np.argmax(unsound))])))

    def _densities(
        self, kinds: list[Kind], counts: MixedCounts, rows: Rows | None
    ) -> tuple[float, list[Any]]:
        """epsilon and the record of every column."""
        _, W, m, S = counts.moments
        numbers = [j for j, kind in enumerate(kinds) if kind.is_number]
        normal = [q for q, j in enumerate(numbers) if kinds[j].name == "gaussian"]
        moments = ClassMoments(counts.moments.total, W[:, normal], m[:, normal], S[:, normal])
        gaussian = fit_gaussian_nb(moments, None, self.var_smoothing, False)
        tables = iter(zip(counts.categories.values, counts.categories.tables, strict=True))
        found: list[Any] = []
        for j, kind in enumerate(kinds):
            if kind.name == "gaussian":
                i = normal.index(numbers.index(j))
                found.append(densities.GaussianColumn(gaussian.theta[:, i], gaussian.var[:, i]))
            elif kind.is_number:
                q = numbers.index(j)
                found.append(self._number_column(kind.name, W[:, q], m[:, q]))
            elif kind.name == "categorical":
                values, table = next(tables)
                found.append(
                    densities.TableColumn(values, fit_categorical(table, self.alpha, "data"))
                )
            else:
                assert rows is not None  # blocks and batches refuse these kinds
                found.append(self._kept_column(j, kind, rows))
        return gaussian.epsilon, found

    def _number_column(self, kind: str, W: Array, m: Array) -> Any:
        if kind == "bernoulli":
            ones = W * m
            N = np.column_stack([np.maximum(W - ones, 0.0), ones])
            total = W[:, None] + 2 * self.alpha
            return densities.TableColumn(np.array([0.0, 1.0]), log_shares(N + self.alpha, total, 2))
        mean = pooled_mean(W, m)
        if kind == "poisson":
            return densities.PoissonColumn(mean)
        return densities.ExponentialColumn(np.where(mean == 0, TINY, mean))

    def _kept_column(self, j: int, kind: Kind, rows: Rows) -> Any:
        table, K = rows.X, len(self.classes_)
        x = table[:, j].copy() if isinstance(table, np.ndarray) else table.kept[j]
        cells = densities.class_cells(x, rows.y, rows.w, K)
        seen = np.bincount(rows.y, np.where(np.isnan(x), 0.0, rows.w), K).astype(np.float64)
        self._warn_unseen(j, seen, self.class_count_ > 0)
        if kind.name == "histogram":
            return densities.fit_histogram(cells, self.class_count_, self.alpha)
        if kind.name.startswith(FAMILY):
            return densities.fit_family(kind.name.removeprefix(FAMILY), cells, self._column_name(j))
        if kind.name == ESTIMATOR:
            pairs = zip(*cells[:2], strict=True)
            return densities.EstimatorColumn([fit_density(kind.model, x, w) for x, w in pairs])
        column, flat = densities.fit_kernels(cells)
        self._warn_flat(j, flat & (seen > 0))
        return column

    # --- corners ---------------------------------------------------------------------------

    def _warn_corners(self, j: int, kind: str, column: Array) -> None:
        """Say what the data do not: point masses, unseen columns, probabilities of 0."""
        present = self.class_count_ > 0
        if isinstance(column, densities.TableColumn | densities.HistogramColumn):
            self._warn_zeros(j, column, present)
        elif isinstance(column, densities.PoissonColumn):
            self._warn_zero_rate(j, (column.rate == 0) & present)
        elif isinstance(column, densities.ExponentialColumn):
            self._warn_flat(j, (column.scale == TINY) & present)
        if kind in ("gaussian", "poisson", "exponential"):
            q = sum(Kind(name).is_number for name in self.distributions_[:j])
            W, _, S = self.moments_
            if kind == "gaussian":
                constant = (W[:, q] > 0) & (S[:, q] == 0) & (self.epsilon_ < TINY)
                self._warn_flat(j, constant & present)
            self._warn_unseen(j, W[:, q], present)

    def _label(self, marked: BoolArray) -> Any:
        """The first class that is marked."""
        return self.classes_[marked].tolist()[0]

    def _warn_unseen(self, j: int, weight: Array, present: BoolArray) -> None:
        unseen, name = (weight == 0) & present, self._column_name(j)
        if not (weight > 0).any():
            warn(f"{name} has no value at all: it is left out", UnseenFeatureWarning)
        elif unseen.any():
            where = f"{name} has no value in class {self._label(unseen)!r}"
            warn(f"{where}: its density over all classes stands in", UnseenFeatureWarning)

    def _warn_flat(self, j: int, flat: BoolArray) -> None:
        if flat.any():
            where = f"{self._column_name(j)} is constant in class {self._label(flat)!r}"
            what = "a point mass: other values there nearly rule the class out"
            warn(f"{where}, {what}", ZeroVarianceWarning)

    def _warn_zeros(self, j: int, column: Any, present: BoolArray) -> None:
        table = isinstance(column, densities.TableColumn)
        zeros = (column.log_prob if table else column.log_height) == -np.inf
        zeros &= present[:, None]
        if not zeros.any():
            return
        v = np.argwhere(zeros)[0][1]
        if table:
            what = f"= {column.values[v : v + 1].tolist()[0]!r}"
        else:
            what = f"in [{column.edges[v]:g}, {column.edges[v + 1]:g}]"
        cell = f"class {self._label(zeros.any(axis=1))!r} gives {self._column_name(j)} {what}"
        pairs = f"{int(zeros.sum())} such pairs of class and value"
        warn(zero_count(cell, pairs), ZeroCountWarning)

    def _warn_zero_rate(self, j: int, zero: BoolArray) -> None:
        if zero.any():
            cell = f"class {self._label(zero)!r} gives {self._column_name(j)} = 1"
            why = "only zeros were counted there, so the rate is 0 and any count rules it out"
            warn(f"{cell} the probability 0: {why}", ZeroCountWarning)

    # --- prediction ------------------------------------------------------------------------

    def _check_matrix(self, X: ArrayLike, *, reset: bool, finite: bool) -> Array:
        """Rows to predict as numbers (n, p): categories as their places; NaN is left out."""
        coded = [j for j, kind in enumerate(self.distributions_) if kind == "categorical"]
        known = [self.densities_[j].values for j in coded]
        if is_matrix(X) and all(values.dtype.kind in "biuf" for values in known):
            return self._number_matrix(X, coded, known, reset)
        columns = self._check_columns(X, reset=reset)
        found = find_values([columns[j] for j in coded]) if coded else None
        order = dict(zip(coded, range(len(coded)), strict=True))
        out: Any = None
        for j, (column, kind) in enumerate(zip(columns, self.distributions_, strict=True)):
            if j in order:
                x = self._places(j, found, order[j])
            else:
                x = as_numbers(column, kind, self._column_name(j))
                if kind == "bernoulli":
                    refuse_outside(x, kind, self._column_name(j))
            if out is None:
                out = np.empty((len(x), len(columns)))
            out[:, j] = x
        return out

    def _number_matrix(
        self, X: ArrayLike, coded: list[int], known: list[Any], reset: bool
    ) -> Array:
        """The same for a matrix of numbers, by rows."""
        out = super()._check_matrix(X, reset=reset, finite=True)
        for j, kind in enumerate(self.distributions_):
            if kind == "bernoulli":
                refuse_outside(out[:, j], kind, self._column_name(j))
        if coded:
            out, unseen = places(out, coded, known)
            for j, value in zip(coded, unseen.tolist(), strict=True):
                if not np.isnan(value):
                    self._warn_unknown(j, value)
        return out

    def _places(self, j: int, found: Any, i: int) -> Array:
        """The places of the cells of a categorical column among its values; NaN if not there."""
        values, known = found.values[i], self.densities_[j].values
        place = look_up(values, known) if len(known) else np.full(len(values), -1)
        unseen = (place < 0) & ~is_absent(values)
        if unseen.any():
            self._warn_unknown(j, values[unseen].tolist()[0])
        return np.where(place < 0, np.nan, place)[found.codes[i]]

    def _warn_unknown(self, j: int, value: Any) -> None:
        what = f"{self._column_name(j)} holds {value!r}"
        warn(f"{what}, which the fit never saw: its factor is left out")

    def _joint_log_likelihood(self) -> Callable[[Array], Array]:
        """Gaussian columns and tables by compiled sweeps, the others one by one."""
        log_prior = self._log_prior()
        kinds = list(map(type, self.densities_))
        normal = [j for j, kind in enumerate(kinds) if kind is densities.GaussianColumn]
        tables = [j for j, kind in enumerate(kinds) if kind is densities.TableColumn]
        others = [j for j in range(len(kinds)) if j not in normal and j not in tables]
        constants = None
        if normal:
            theta, var = (np.stack([self.densities_[j][i] for j in normal], 1) for i in range(2))
            constants = gaussian_constants(np.exp(log_prior), theta, var)
        logs = [self.densities_[j].log_prob.T for j in tables]
        table = np.ascontiguousarray(np.concatenate(logs)) if logs else None
        starts = np.cumsum([0, *(len(part) for part in logs)])[:-1].astype(np.int64)

        def joint(X: Array) -> Array:
            if constants is None:
                out = np.tile(log_prior, (len(X), 1))
            else:
                out = joint_log_density(constants, X if not (tables or others) else X[:, normal])
            if table is not None:
                X_codes = X[:, tables]
                codes = np.where(np.isnan(X_codes), -1, X_codes).astype(np.int32)
                part = np.empty_like(out)
                score_categories(codes, table, starts, np.zeros(len(log_prior)), part)
                out += part
            for j in others:
                out += densities.log_density(self.densities_[j], X[:, j])
            return out

        return joint

    def _contributions(self, X: Array) -> Array:
        parts = [densities.log_density(column, X[:, j]) for j, column in enumerate(self.densities_)]
        return np.stack(parts, axis=-1)

    def _draw(self, codes: IntArray, rng: Rng) -> Any:
        drawn = [column.draw(codes, rng) for column in self.densities_]
        numbers = all(np.asarray(x).dtype.kind in "biuf" for x in drawn)
        out = np.empty((len(codes), len(drawn)), np.float64 if numbers else object)
        for j, x in enumerate(drawn):
            out[:, j] = x
        return out

    class_prior_ = class_prior

    def _check_state(self) -> None:
        super()._check_state()
        if not hasattr(self, "n_features_in_"):
            return
        K, p = len(self.classes_), self.n_features_in_
        if len(self.densities_) != p or len(self.distributions_) != p:
            raise ValueError(f"densities_ and distributions_ must have {p} entries each")
        for column in self.densities_:
            if isinstance(column, densities.TableColumn):
                fits = column.log_prob.shape == (K, len(column.values))
            elif isinstance(column, densities.HistogramColumn):
                fits = column.log_height.shape == (K, len(column.edges) - 1)
            else:  # one entry per class
                fits = len(column[-1]) == K
                if isinstance(column, PLAIN):
                    fits = all(np.shape(part) == (K,) for part in column)
            if not fits:
                raise ValueError(f"{type(column).__name__} does not fit {K} classes")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> MixedNB().fit([[1.0], [2.0], [6.0], [7.0]], [0, 0, 1, 1]).card().numbers["parameters"]
        5
        """
        numbers = self._numbers()
        kinds = sorted(set(self.distributions_))
        counts = ", ".join(f"{self.distributions_.count(kind)} {kind}" for kind in kinds)
        free = sum(column.n_parameters() for column in self.densities_)
        return Card(
            representation=f"p(x, k) = pi_k prod_j f_jk(x_j) with columns: {counts}",
            evaluation="maximise the likelihood of each column within each class, missing cells "
            f"left out; pseudo-counts alpha = {self.alpha:g}; epsilon = {self.var_smoothing:g} "
            f"max_j var(x_j) = {self.epsilon_:.6g} added to the gaussian variances",
            optimisation="one pass over the rows, closed forms (families of scipy.stats: its "
            "search; estimators: their own fit)",
            numbers=numbers | {"parameters": len(self.classes_) - 1 + free},
        )
