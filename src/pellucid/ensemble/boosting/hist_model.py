"""Base of both classes of histogram boosting; the mathematics is in ``hist_boosting.py``."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, check_weights, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, Rng
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import gang
from pellucid.ensemble.bins import Bins, encode, find_bins
from pellucid.ensemble.blocks.table import Opened, fit_blocks
from pellucid.ensemble.boosting import hist_losses
from pellucid.ensemble.boosting.block_fit import block_rounds
from pellucid.ensemble.boosting.boosted_trees import (
    MAX_LEAVES,
    Grower,
    Trees,
    add_scores,
    check_trees,
    extend,
    join,
    part_of,
)
from pellucid.ensemble.boosting.growth_limits import Growth, Limits, check_growth, monotone_signs
from pellucid.ensemble.boosting.hist_losses import total_of
from pellucid.ensemble.boosting.hist_nodes import predictors
from pellucid.ensemble.boosting.hist_table import open_table
from pellucid.ensemble.boosting.kernels import derivatives as boosting
from pellucid.ensemble.boosting.kernels.leafwise import Grown, Table
from pellucid.tree.path_states import path_states


class Sample(NamedTuple):
    """Rows to learn from, or kept aside: a row of weight w is w rows with the loss times c."""

    X: Array
    y: Array
    w: Array
    c: Array

    def take(self, rows: IntArray) -> "Sample":
        return Sample(*(part[rows] for part in self))


class Start(NamedTuple):
    """What the rounds go on from."""

    bins: Bins
    baseline: Array
    trees: Trees
    seed: int


class Rounds:
    """The scores of all rows, and the trees that led to them."""

    def __init__(
        self, rows: Sample, held: Sample | None, rules: tuple[Any, Limits, float], start: Start
    ) -> None:
        bins, baseline, self.old, self.seed = start
        loss, limits, rate = rules
        codes = encode(rows.X, bins, by_row=True)
        table = Table(codes.by_row, codes.by_column, bins.n_bins, bins.categorical)
        self.rows, self.held, self.loss, self.limits, self.rate = rows, held, loss, limits, rate
        flat = hist_losses.is_flat(loss, rows.y, rows.c, baseline)
        moves = loss.code == boosting.SQUARED
        self.grower = Grower(table, rows.w, limits, flat=flat, moves=moves, rate=rate)
        self.new: list[Grown] = []
        self.K = len(baseline)
        self.run: Any = None  # a gang of threads, when at work
        self.F = self._start(codes.by_column, baseline)
        self.held_codes = None if held is None else encode(held.X, bins, by_row=False).by_column
        self.F_held: Any = None if held is None else self._start(self.held_codes, baseline)

    def _start(self, codes: Any, baseline: Array) -> Array:
        F = np.repeat(baseline[:, None], codes.shape[1], axis=1)
        add_scores(self.old, codes, F)
        return F

    @contextmanager
    def working(self) -> Iterator[None]:
        """Threads that wait for the next tree."""
        with gang(self.grower.n_threads) as self.run:
            yield

    @property
    def held_loss(self) -> float:
        """The mean loss of the rows kept aside."""
        held = self.held
        if held is None:
            return np.nan
        return hist_losses.mean_loss(self.loss, held.y, self.F_held, held.w * held.c)

    def begin(self) -> hist_losses.Derivatives:
        rows = self.rows
        return hist_losses.derivatives(self.loss, rows.y, self.F, rows.w, rows.c, None)

    def step(self, state: hist_losses.Derivatives) -> hist_losses.Derivatives:
        """One tree per class, and the derivatives after it."""
        K = len(self.F)
        for k in range(K):
            number = len(self.new) + len(self.old.node_start) - 1
            sum_g, sum_h = state.sums[k]
            seed = self.seed + number
            tree = self.grower.grow(self.run, state.g[k], state.h[k], sum_g, sum_h, seed)
            tree = Grown(*tree[:5], self.rate * self._values(tree, k), tree.weight)
            self.new.append(tree)
            if K > 1:
                hist_losses.add_tree(self.F[k], self.grower.work.leaf, tree.value)
        if self.held is not None:
            add_scores(join(self.new[-K:]), self.held_codes, self.F_held)
        rows = self.rows
        last = (self.grower.work.leaf, tree.value) if K == 1 else None
        return hist_losses.derivatives(self.loss, rows.y, self.F, rows.w, rows.c, state, last)

    def _values(self, tree: Grown, k: int) -> Array:
        if not self.loss.by_quantile:
            return tree.value
        residual, leaf, v = self.rows.y - self.F[k], self.grower.work.leaf, self.rows.w
        monotone, level = self.limits.monotone, self.loss.level
        if monotone.any():
            return hist_losses.bounded_quantiles(residual, v, leaf, tree, monotone, level)
        return hist_losses.leaf_quantiles(residual, v, leaf, len(tree.value), level)

    def trees(self, n_rounds: int | None = None) -> Trees:
        """All trees, or those of the first ``n_rounds`` new rounds."""
        last = None if n_rounds is None else n_rounds * len(self.F)
        return extend(self.old, self.new[:last])


class Scores:
    """Scores per round on training and held rows, greater is better, as scikit-learn keeps them."""

    def __init__(self, model: BaseEstimator, rounds: Any, weighted: bool) -> None:
        self.model, self.rounds, self.weighted = model, rounds, weighted
        self.train: list[float] = list(model.train_score_)
        self.validation: list[float] = list(model.validation_score_)
        by_name = not (isinstance(model.scoring, str) and model.scoring == "loss")
        self.scorer: Any = None
        if by_name:
            from sklearn.metrics import check_scoring  # heavy, and not used to predict

            self.scorer = check_scoring(model, model.scoring)

    @property
    def watched(self) -> list[float]:
        """Those that decide when to stop."""
        return self.validation if self.rounds.held else self.train

    def add(self, state: hist_losses.Derivatives) -> None:
        rounds, held = self.rounds, self.rounds.held
        if self.scorer is None:
            self.train.append(-state.loss)
        else:
            self.train.append(self._named(rounds.rows, rounds.F))
        if not held:
            return
        if self.scorer is None:
            self.validation.append(-rounds.held_loss)
        else:
            self.validation.append(self._named(held, rounds.F_held))

    def _named(self, rows: Sample, F: Array) -> float:
        """A score by its name: the model need not work out again what it says of these rows."""
        weights = {"sample_weight": rows.w} if self.weighted else {}
        self.model._known = (rows.X, F)
        try:
            return float(self.scorer(self.model, rows.X, self.model._words(rows.y), **weights))
        finally:
            del self.model._known

    def record(self) -> dict[str, float]:
        """What the history says of the held rows."""
        if not self.validation:
            return {}
        if self.scorer is None:
            return {"validation": -self.validation[-1]}
        return {"validation_score": self.validation[-1]}

    def stalled(self, patience: int, tol: float) -> bool:
        """No round of the last ``patience`` was better than the one before them by ``tol``."""
        v = self.watched
        return len(v) > patience and max(v[-patience:]) <= v[-patience - 1] + tol


def leaf_limit(max_leaf_nodes: int | None, total: float, min_leaf: int, n: int, most: int) -> int:
    """The leaves that a tree can have at all.

    >>> leaf_limit(31, 275.0, 20, 275, 65_535)
    13
    """
    asked = most if max_leaf_nodes is None else max_leaf_nodes
    return max(2, min(asked, math.floor(total / min_leaf), n, most))


AUTO_STOP = 10_000  # rows from which early_stopping="auto" keeps rows aside


class HistGradientBoosting(Estimator):
    """What the regressor and the classifier share: everything but the meaning of y."""

    _accepts_nan = True
    _max_iter_is_size = True
    _rate_name = "learning_rate"

    @abstractmethod
    def _loss(self) -> hist_losses.Loss:
        """The loss that ``loss`` names."""

    @abstractmethod
    def _targets(self, y: ArrayLike, n: int) -> Array:
        """y as numbers; sets the classes."""

    @abstractmethod
    def _known_targets(self, y: ArrayLike, n: int) -> Array:
        """y of rows kept aside as numbers."""

    @abstractmethod
    def _present(self, y: Array) -> Array:
        """y of the rows that have weight: a class without any is absent."""

    @abstractmethod
    def _factor(self, y: Array, w: Array) -> Array:
        """What the loss of each row is multiplied by."""

    @abstractmethod
    def _class_factors(self, totals: Array) -> Array:
        """The same for each class of the weight ``totals``; (0,) where it is 1 for all rows."""

    @abstractmethod
    def _check_range(self, low: float, high: float) -> None:
        """Refuse targets from ``low`` to ``high`` that the loss has no meaning for."""

    @abstractmethod
    def _words(self, y: Array) -> Any:
        """Numbers back to the targets that a scorer compares."""

    @abstractmethod
    def _n_scores(self) -> int:
        """Trees per round."""

    def _check_parameters(self) -> Growth:
        check.positive(learning_rate=self.learning_rate)
        check.non_negative(l2_regularization=self.l2_regularization, tol=self.tol)
        check.boolean(warm_start=self.warm_start)
        check.whole(max_iter=self.max_iter, n_iter_no_change=self.n_iter_no_change)
        if self.max_leaf_nodes is not None:
            check.whole(at_least=2, max_leaf_nodes=self.max_leaf_nodes)
        if self.validation_fraction is not None and not isinstance(self.validation_fraction, int):
            check.fraction(validation_fraction=self.validation_fraction)
        elif self.validation_fraction is not None:
            check.whole(validation_fraction=self.validation_fraction)
        if isinstance(self.early_stopping, str):
            check.one_of(("auto",), early_stopping=self.early_stopping)
        limits = self.max_depth, self.min_samples_leaf, self.max_features, self.max_bins
        growth = Growth(*limits, 0.0, self.monotonic_cst) if self.growth is None else self.growth
        check_growth(growth)
        return growth

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Boost; ``X_val, y_val`` are one's own rows for early stopping."""
        growth = self._check_parameters()
        again = bool(self.warm_start) and hasattr(self, "trees_")
        rows, mask = self._open(X, y, sample_weight, again)
        held = self._given_rows(X_val, y_val, sample_weight_val)
        rng = self._begin(mask, len(rows.y), again)
        if held is not None:
            self.do_early_stopping_ = True
        if self.do_early_stopping_ and held is None and self.validation_fraction is not None:
            rows, held = self._set_aside(rows, rng)
        if not again:
            weight = None if (rows.w == 1).all() else rows.w
            self._bins = find_bins(rows.X, weight, mask, growth.max_bins, rng)
            self._check_categories()
        self._boost(rows, held, growth, again, sample_weight is not None)
        return self

    def _begin(self, mask: Array, n: int, again: bool) -> Rng:
        """The seed of the fit, and whether it may stop early."""
        if not again:
            self._seed = int(generator(self.random_state).integers(2**62))
            self.is_categorical_ = mask if mask.any() else None
        many, asked = n > AUTO_STOP, self.early_stopping
        self.do_early_stopping_ = many if asked == "auto" else bool(asked)
        return np.random.default_rng(self._seed)

    fit_blocks = fit_blocks

    def _fit_opened(self, opened: Opened, map_: Map) -> None:
        """The same on blocks: see ``block_rounds.py``."""
        rounds = block_rounds(self, opened, map_)
        self._loop(rounds, Scores(self, rounds, False) if self.do_early_stopping_ else None)

    def _open(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, again: bool
    ) -> tuple[Sample, Array]:
        """The training rows that have weight, and which columns are categories."""
        before = getattr(self, "classes_", None) if again else None
        X, mask = open_table(self, X, reset=not again)
        y = self._targets(y, len(X))
        w = check_weights(sample_weight, X)
        if not (w > 0).all():
            X, y, w = X[w > 0], y[w > 0], w[w > 0]
        y = self._present(y)
        if before is not None and not np.array_equal(before, self.classes_):
            grown = f"the trees were grown for the classes {before}"
            raise ValueError(f"warm_start: {grown}, y has {self.classes_}")
        return Sample(X, y, w, self._factor(y, w)), mask

    def _given_rows(self, X: Any, y: Any, weights: ArrayLike | None) -> Sample | None:
        """The caller's own rows for early stopping."""
        if X is None and y is None:
            return None
        if X is None or y is None:
            raise ValueError("X_val and y_val go together: one of them was not given")
        if self.early_stopping is False:
            raise ValueError("X_val and y_val are for early stopping, but early_stopping=False")
        X, _ = open_table(self, X, reset=False)
        y, w = self._known_targets(y, len(X)), check_weights(weights, X)
        return Sample(X, y, w, self._factor(y, w))

    def _set_aside(self, rows: Sample, rng: Rng) -> tuple[Sample, Sample]:
        """Training and validation rows; classes keep their shares."""
        strata = rows.y if hasattr(self, "classes_") else None
        parts = {"test_size": self.validation_fraction, "random_state": int(rng.integers(2**31))}
        from sklearn.model_selection import train_test_split  # heavy, and not used to predict

        train, held = train_test_split(np.arange(len(rows.y)), stratify=strata, **parts)
        return rows.take(train), rows.take(held)

    def _check_categories(self) -> None:
        many = self._bins.n_bins > 255
        if many.any():
            j = int(np.argmax(many))
            what = f"{self._column_name(j)} has {self._bins.n_bins[j]} categories"
            raise ValueError(f"{what}; at most 255 fit")

    def _limits(self, n: int, total: float, growth: Growth) -> Limits:
        """What a tree may be on n rows with the weight ``total``."""
        p = self.n_features_in_
        names = getattr(self, "feature_names_in_", None)
        signs = monotone_signs(growth.monotonic_cst, names, self.is_categorical_, p)
        if signs.any() and self._n_scores() > 1:
            raise ValueError("monotonic_cst needs two classes: the scores of more have no order")
        least = growth.min_samples_leaf
        leaves = leaf_limit(self.max_leaf_nodes, total, least, n, MAX_LEAVES)
        depth = 2**31 if growth.max_depth is None else growth.max_depth
        penalties = float(self.l2_regularization), float(growth.min_gain)
        columns = (
            max(1, round(growth.max_features * p)),
            signs,
            path_states(self.interaction_cst, p),
        )
        return Limits(leaves, depth, float(least), *penalties, *columns)

    def _boost(
        self, rows: Sample, held: Sample | None, growth: Growth, again: bool, weighted: bool
    ) -> None:
        loss, K = self._loss(), self._n_scores()
        limits = self._limits(len(rows.y), total_of(rows.w), growth)
        if not again:
            self._baseline = hist_losses.best_constant(loss, rows.y, rows.w * rows.c, K)
        unit, limits = self._ready(loss, limits, again)
        if unit != 1.0:
            rows = rows._replace(c=rows.c / unit)
        start = Start(self._bins, self._baseline, self.trees_, self._seed)
        rounds = Rounds(rows, held, (loss, limits, self.learning_rate), start)
        scores = Scores(self, rounds, weighted) if self.do_early_stopping_ else None
        self._loop(rounds, scores)

    def _ready(self, loss: hist_losses.Loss, limits: Limits, again: bool) -> tuple[float, Limits]:
        """No trees yet, or those of before; the unit of the curvature, and the limits in it."""
        if not again:
            self.trees_, self.n_iter_ = join([]), 0
            self.train_score_ = self.validation_score_ = np.array([])
        if self.n_iter_ > self.max_iter:
            done = f"there are {self.n_iter_} rounds already"
            raise ValueError(f"warm_start: {done}, more than max_iter={self.max_iter}")
        unit = hist_losses.curvature_unit(loss, self._baseline)
        if unit != 1.0:
            limits = limits._replace(l2=limits.l2 / unit, min_gain=limits.min_gain / unit)
        return unit, limits

    def _loop(self, rounds: Any, scores: Scores | None) -> None:
        """Rounds until ``max_iter``, or until the scores gain no more."""
        K, done = rounds.K, self.n_iter_

        def step(state: hist_losses.Derivatives) -> tuple[hist_losses.Derivatives, float]:
            was = state.loss
            with np.errstate(over="ignore", invalid="ignore"):  # the loop looks at the loss
                state = rounds.step(state)
            if scores is not None and math.isfinite(state.loss):
                scores.add(state)
            return state, abs(was - state.loss)

        def record(state: hist_losses.Derivatives) -> dict[str, Any]:
            return {"objective": state.loss} | ({} if scores is None else scores.record())

        def attributes(state: hist_losses.Derivatives) -> dict[str, Any]:
            trees = rounds.trees()
            n_iter = (len(trees.node_start) - 1) // K
            return {"trees_": trees, "n_iter_": n_iter, "n_trees_per_iteration_": K}

        state = rounds.begin()
        if scores is not None and not scores.train:
            scores.add(state)
        left = self.max_iter - done
        context = FitContext.of_rows(self, rounds.rows, max_steps=left, attributes=attributes)

        def stop(_: object) -> bool:
            return scores is not None and scores.stalled(self.n_iter_no_change, self.tol)

        def explain(_: object) -> str:
            kept = "the loss left the finite numbers; the rounds before it are kept"
            return f"{kept}; {self._cure_of_a_rise()}"

        loop: dict[str, Any] = {"tol": None, "record": record, "context": context, "stop": stop}
        loop["explain"] = explain
        with rounds.working():
            run = self._iterate(step, state, max_iter=left, **loop)
        self.trees_, self.n_iter_ = rounds.trees(run.n_iter), done + run.n_iter
        self.n_trees_per_iteration_ = K
        self.train_score_ = np.array([] if scores is None else scores.train)
        self.validation_score_ = np.array([] if scores is None else scores.validation)

    def _raw(self, X: ArrayLike) -> Array:
        """Scores (K, n)."""
        known = self.__dict__.get("_known")
        if known is not None and known[0] is X:  # a scorer's question in the middle of a fit
            return known[1]
        codes, F = self._start(X)
        add_scores(self.trees_, codes, F)
        return F

    def _start(self, X: ArrayLike) -> tuple[Any, Array]:
        """The codes of the rows, and their scores (K, n) before the first tree."""
        check_is_fitted(self)
        X, _ = open_table(self, X, reset=False)
        codes = encode(X, self._bins, by_row=False).by_column
        return codes, np.repeat(self._baseline[:, None], len(X), axis=1)

    @property
    def _predictors(self) -> Any:
        """The trees as scikit-learn lays them out."""
        check_is_fitted(self, "trees_")
        return predictors(self.trees_, self._bins, self.n_trees_per_iteration_)

    @property
    def _baseline_prediction(self) -> Array:
        """The scores before the first tree, (1, K)."""
        return np.asarray(self._baseline, np.float64)[None]

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> Array:
        """What ``sklearn.inspection.partial_dependence`` asks for: (K, n), without the start."""
        found = np.zeros((self.n_trees_per_iteration_, len(grid)))
        for row in self._predictors:
            for k, tree in enumerate(row):
                found[k] += tree.means(np.asarray(grid, np.float64), target_features)
        return found

    def _staged(self, X: ArrayLike) -> Any:
        """Scores (K, n) after every round."""
        codes, F = self._start(X)
        K = len(F)
        for r in range(self.n_iter_):
            add_scores(part_of(self.trees_, r * K, (r + 1) * K), codes, F)
            yield F.copy()

    @property
    def feature_importances_(self) -> Array:
        """Each column's share of the gains of all splits."""
        check_is_fitted(self)
        total = np.bincount(self.trees_.feature, self.trees_.gain, self.n_features_in_)
        return total / max(float(total.sum()), np.finfo(float).tiny)

    def _check_state(self) -> None:
        """A model from a file: compiled code must not be led outside its arrays."""
        super()._check_state()
        if not hasattr(self, "trees_"):
            return
        p, K, bins = self.n_features_in_, self._n_scores(), self._bins
        ok = isinstance(bins, Bins) and bins.edges.shape == (p, 256)
        ok = ok and bins.categorical.shape == (p,) and self._baseline.shape == (K,)
        ok = ok and check_trees(self.trees_, p)
        if not (ok and len(self.trees_.node_start) - 1 == K * self.n_iter_):
            raise ValueError("the trees of the model do not fit together")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        n_trees = len(self.trees_.node_start) - 1
        leaves = len(self.trees_.value) / max(n_trees, 1)
        return Card(
            representation=f"sum of {n_trees} trees with {leaves:.1f} leaves on average, each "
            f"times {self.learning_rate:g}, on columns in bins",
            evaluation=f"mean {self.loss} and {self.l2_regularization:g}/2 per squared leaf value",
            optimisation="a Newton step in every leaf, round by round; the leaf with the greatest "
            "gain is split first",
            numbers={"rounds": self.n_iter_, "objective": self.history_[-1]["objective"]},
        )
