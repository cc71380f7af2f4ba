"""Base of both classes of histogram boosting; the mathematics is in ``hist_boosting.py``."""

import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, check_weights, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import gang
from pellucid.ensemble.bins import Bins, encode, find_bins
from pellucid.ensemble.boosting.boosted_trees import (
    MAX_LEAVES,
    add_scores,
    check_trees,
    join,
    part_of,
)
from pellucid.ensemble.boosting.growth_limits import Growth, Limits, check_growth, monotone_signs
from pellucid.ensemble.boosting.hist_losses import Derivatives, Loss, best_constant
from pellucid.ensemble.boosting.hist_rounds import Rounds, Sample, Scores, depth_limit, leaf_limit
from pellucid.ensemble.boosting.hist_table import open_table
from pellucid.tree.path_states import path_states

AUTO_STOP = 10_000  # rows from which early_stopping="auto" keeps rows aside


class HistGradientBoosting(Estimator):
    """What the regressor and the classifier share: everything but the meaning of y."""

    _accepts_nan = True

    @abstractmethod
    def _loss(self) -> Loss:
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
    def _words(self, y: Array) -> Any:
        """Numbers back to the targets that a scorer compares."""

    @abstractmethod
    def _n_scores(self) -> int:
        """Trees per round."""

    def _check_parameters(self) -> Growth:
        check.positive(learning_rate=self.learning_rate)
        check.non_negative(l2_regularization=self.l2_regularization, tol=self.tol)
        check.whole(max_iter=self.max_iter, n_iter_no_change=self.n_iter_no_change)
        if self.max_leaf_nodes is not None:
            check.whole(at_least=2, max_leaf_nodes=self.max_leaf_nodes)
        if self.validation_fraction is not None and not isinstance(self.validation_fraction, int):
            check.fraction(validation_fraction=self.validation_fraction)
        elif self.validation_fraction is not None:
            check.whole(validation_fraction=self.validation_fraction)
        if isinstance(self.early_stopping, str) and self.early_stopping != "auto":
            raise ValueError(
                f"early_stopping must be 'auto', True or False, got {self.early_stopping!r}"
            )
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
        if not again:
            self._seed = int(generator(self.random_state).integers(2**62))
            self.is_categorical_ = mask if mask.any() else None
        rng = np.random.default_rng(self._seed)
        self.do_early_stopping_ = held is not None or self._stops_early(len(rows.y))
        if self.do_early_stopping_ and held is None and self.validation_fraction is not None:
            rows, held = self._set_aside(rows, rng)
        if not again:
            weight = None if (rows.w == 1).all() else rows.w
            self._bins = find_bins(rows.X, weight, mask, growth.max_bins, rng)
            self._check_categories()
        self._boost(rows, held, growth, again, sample_weight is not None)
        return self

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
            raise ValueError(
                f"warm_start: the trees were grown for the classes {before}, y has {self.classes_}"
            )
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
        train, held = train_test_split(
            np.arange(len(rows.y)),
            test_size=self.validation_fraction,
            stratify=rows.y if hasattr(self, "classes_") else None,
            random_state=int(rng.integers(2**31)),
        )
        return rows.take(train), rows.take(held)

    def _stops_early(self, n: int) -> bool:
        return n > AUTO_STOP if self.early_stopping == "auto" else bool(self.early_stopping)

    def _check_categories(self) -> None:
        many = self._bins.n_bins > 255
        if many.any():
            j = int(np.argmax(many))
            raise ValueError(
                f"{self._column_name(j)} has {self._bins.n_bins[j]} categories; at most 255 fit"
            )

    def _limits(self, rows: Sample, growth: Growth) -> Limits:
        n, p = rows.X.shape
        names = getattr(self, "feature_names_in_", None)
        total = float(rows.w.sum())
        signs = monotone_signs(growth.monotonic_cst, names, self.is_categorical_, p)
        if signs.any() and self._n_scores() > 1:
            raise ValueError("monotonic_cst needs two classes: the scores of more have no order")
        return Limits(
            leaf_limit(self.max_leaf_nodes, total, growth.min_samples_leaf, n, MAX_LEAVES),
            depth_limit(growth.max_depth),
            float(growth.min_samples_leaf),
            float(self.l2_regularization),
            float(growth.min_gain),
            max(1, round(growth.max_features * p)),
            signs,
            path_states(self.interaction_cst, p),
        )

    def _boost(
        self, rows: Sample, held: Sample | None, growth: Growth, again: bool, weighted: bool
    ) -> None:
        loss, K = self._loss(), self._n_scores()
        limits = self._limits(rows, growth)
        if not again:
            self._baseline = best_constant(loss, rows.y, rows.w * rows.c, K)
            self.trees_, self.n_iter_ = join([]), 0
            self.train_score_ = self.validation_score_ = np.array([])
        if self.n_iter_ > self.max_iter:
            raise ValueError(
                f"warm_start: there are {self.n_iter_} rounds already, more than "
                f"max_iter={self.max_iter}"
            )
        start = self._bins, self._baseline, self.trees_, self._seed
        rounds = Rounds(rows, held, loss, limits, self.learning_rate, *start)
        scores = None
        if self.do_early_stopping_:
            before = (self.train_score_, self.validation_score_)
            scores = Scores(self, rounds, weighted, before)
        self._loop(rounds, scores)

    def _loop(self, rounds: Rounds, scores: Scores | None) -> None:
        """Rounds until ``max_iter``, or until the scores gain no more."""
        K, done = len(rounds.F), self.n_iter_

        def step(state: Derivatives) -> tuple[Derivatives, float]:
            was = state.loss
            state = rounds.step(state)
            if scores is not None and math.isfinite(state.loss):
                scores.add(state)
            return state, abs(was - state.loss)

        def record(state: Derivatives) -> dict[str, Any]:
            return {"objective": state.loss} | ({} if scores is None else scores.record())

        def attributes(state: Derivatives) -> dict[str, Any]:
            trees = rounds.trees()
            return {
                "trees_": trees,
                "n_iter_": (len(trees.node_start) - 1) // K,
                "n_trees_per_iteration_": K,
            }

        state = rounds.begin()
        if scores is not None and not scores.train:
            scores.add(state)
        left = self.max_iter - done
        context = FitContext(
            self, X=rounds.rows.X, y=rounds.rows.y, max_steps=left, attributes=attributes
        )
        with gang(rounds.grower.n_threads) as rounds.run:
            run = self._iterate(
                step,
                state,
                max_iter=left,
                tol=None,
                record=record,
                context=context,
                stop=lambda history: (
                    scores is not None and scores.stalled(self.n_iter_no_change, self.tol)
                ),
            )
        self.trees_, self.n_iter_ = rounds.trees(run.n_iter), done + run.n_iter
        self.n_trees_per_iteration_ = K
        self.train_score_ = np.array([] if scores is None else scores.train)
        self.validation_score_ = np.array([] if scores is None else scores.validation)

    def _raw(self, X: ArrayLike) -> Array:
        """Scores (K, n)."""
        known = self.__dict__.get("_known")
        if known is not None and known[0] is X:  # a scorer's question in the middle of a fit
            return known[1]
        check_is_fitted(self)
        X, _ = open_table(self, X, reset=False)
        F = np.repeat(self._baseline[:, None], len(X), axis=1)
        add_scores(self.trees_, encode(X, self._bins, by_row=False).by_column, F)
        return F

    def _staged(self, X: ArrayLike) -> Any:
        """Scores (K, n) after every round."""
        check_is_fitted(self)
        X, _ = open_table(self, X, reset=False)
        codes = encode(X, self._bins, by_row=False).by_column
        F = np.repeat(self._baseline[:, None], len(X), axis=1)
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
