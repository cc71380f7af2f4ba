r"""Stacking: how much each candidate counts is learned from what all say of rows held out.

    numbers    f(x) = b + sum_m w_m f_m(x),                     w_m >= 0
    classes    P(k | x)  proportional to  b_k + sum_m w_m P_m(k | x),  cut at 0.001

The average of ``blend`` has weights that sum to 1; here their sum is free, so a stack can stretch
what all members shrink, correct a level, and sharpen or soften probabilities. Of classes the
indicators are predicted by least squares, the weights the same for all. It is a maximum of the
posterior: normal errors with the variance of the best member, w ~ N(1 / M, 1/4), a flat prior for
b. Few rows therefore give the plain mean. In each fold it is scored with the combination that the
other folds learned.

References: Wolpert (1992); Breiman (1996), Stacked regressions; Ting & Witten (1999).
"""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, Regressor
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.records import Card
from pellucid.study.candidates.blend import MOST, Said, eligible, member_of, said_of
from pellucid.study.candidates.candidates import Tried
from pellucid.study.candidates.training import Outcome, Workshop
from pellucid.study.records import Candidate

KEY = "stack"
SPREAD = 0.5  # of a weight about 1 / M
COMPLEXITY = 6
FLOOR = 1e-3  # of a probability


class Pool(NamedTuple):
    """Weights of the members, and the level of a number or of every class."""

    weights: Array  # (M,)
    level: Array  # (K,); one number where numbers are said

    def answer(self, answers: Array) -> Array:
        """What is said when the members say ``answers`` (M, n, K)."""
        said = np.einsum("m,mnk->nk", self.weights, answers) + self.level
        if answers.shape[2] == 1:
            return np.asarray(said)
        P = np.maximum(said, FLOOR)
        return np.asarray(P / P.sum(axis=1, keepdims=True))


def learn_pool(said: list[Said]) -> Pool:
    """The combination that suits these rows.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=(400, 1))
    >>> half = Said(np.array([y / 2, rng.normal(size=(400, 1))]), y)
    >>> bool(learn_pool([half]).weights[0] > 1.5 > 0.1 > learn_pool([half]).weights[1])
    True
    """
    from scipy.optimize import nnls

    answers = np.concatenate([one.answers for one in said], axis=1)  # (M, n, K)
    truth = np.vstack([one.truth for one in said])
    M = len(answers)
    centre, level = answers.mean(axis=1), truth.mean(axis=0)  # (M, K), (K,)
    noise = float(((answers - truth) ** 2).mean(axis=(1, 2)).min()) or 1.0
    stiff = np.sqrt(noise) / SPREAD
    A = np.vstack([(answers - centre[:, None]).reshape(M, -1).T, stiff * np.eye(M)])
    w = nnls(A, np.concatenate([(truth - level).ravel(), np.full(M, stiff / M)]))[0]
    return Pool(w, level - w @ centre)


class StackedRegressor(MetaEstimatorMixin, Regressor):
    """``level`` and what the members say, each times its weight.

    >>> from pellucid import LinearRegression
    >>> model = StackedRegressor([("line", LinearRegression())], [2.0], 1.0)
    >>> model.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).predict([[3.0]])
    array([7.])
    """

    def __init__(
        self, estimators: Sequence[tuple[str, BaseEstimator]], weights: ArrayLike, level: float
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.level = level

    def fit(self, X: Any, y: Any) -> Self:
        """Fit every member to all rows."""
        self.estimators_: list[Any] = [clone(one).fit(X, y) for _, one in self.estimators]
        self.n_features_in_ = np.shape(X)[1]
        return self

    def _member_weights(self) -> Array:
        return np.asarray(self.weights, dtype=np.float64)

    def predict(self, X: Any) -> Array:
        """The weighted sum, and the level."""
        check_is_fitted(self)
        said = np.array([np.asarray(m.predict(X))[:, None] for m in self.estimators_])
        return Pool(self._member_weights(), np.array([self.level])).answer(said)[:, 0]

    def card(self) -> Card:
        """Which members there are, and how much each counts."""
        return _card(self, "a level and the weighted sum of what the members say", "squared error")


class StackedClassifier(MetaEstimatorMixin, Classifier):
    """Classes by a level of each and what the members say of it, each times its weight.

    >>> from pellucid import GaussianNB
    >>> model = StackedClassifier([("bayes", GaussianNB())], [1.0], [0.0, 0.0])
    >>> model.fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]).predict([[0.5], [4.5]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self, estimators: Sequence[tuple[str, BaseEstimator]], weights: ArrayLike, level: ArrayLike
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.level = level

    def fit(self, X: Any, y: Any) -> Self:
        """Fit every member to all rows."""
        self.estimators_: list[Any] = [clone(one).fit(X, y) for _, one in self.estimators]
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        if len(np.atleast_1d(self.level)) != len(self.classes_):
            raise ValueError(
                f"level needs one number for each of the {len(self.classes_)} classes, got "
                f"{len(np.atleast_1d(self.level))}"
            )
        return self

    def _member_weights(self) -> Array:
        return np.asarray(self.weights, dtype=np.float64)

    def predict_proba(self, X: Any) -> Array:
        """The weighted sums and the levels, as probabilities."""
        check_is_fitted(self)
        said = np.array([m.predict_proba(X) for m in self.estimators_])
        return Pool(self._member_weights(), np.asarray(self.level, dtype=np.float64)).answer(said)

    def predict(self, X: Any) -> Any:
        """The likeliest class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def card(self) -> Card:
        """Which members there are, and how much each counts."""
        return _card(
            self, "levels and the weighted sum of the members' probabilities", "squared error"
        )


def _card(model: Any, what: str, loss: str) -> Card:
    check_is_fitted(model)
    names = [name for name, _ in model.estimators]
    weights = {f"weight of {n}": float(w) for n, w in zip(names, model.weights, strict=True)}
    judged = f"{loss} of rows held out, with a prior"
    return Card(what, judged, "weights, then the members", weights)


class FoldStack:
    """The models of one fold under a combination."""

    def __init__(self, models: list[Any], pool: Pool) -> None:
        self.models, self.pool = models, pool
        if hasattr(models[0], "classes_"):
            self.classes_ = models[0].classes_
            self.predict_proba = self._said

    def _said(self, Z: Array) -> Array:
        if hasattr(self, "classes_"):
            return self.pool.answer(np.array([m.predict_proba(Z) for m in self.models]))
        return self.pool.answer(np.array([np.asarray(m.predict(Z))[:, None] for m in self.models]))

    def predict(self, Z: Array) -> Any:
        said = self._said(Z)
        return self.classes_[said.argmax(axis=1)] if hasattr(self, "classes_") else said[:, 0]


def stack(shop: Workshop, outcomes: list[Outcome]) -> Outcome | None:
    """The stack as a candidate of its own; None where there is nothing to combine."""
    began = time.perf_counter()
    members = eligible(shop, [one for one in outcomes if one.complexity < COMPLEXITY])[:MOST]
    if len(members) < 2 or len(shop.judged_places()) < 2:
        return None
    said = said_of(shop, members)
    scores, inside = [], []
    models: list[Any] = []
    for j, (i, at) in enumerate(shop.judged_places()):
        part = shop.outer_part(i, {})
        pool = learn_pool([one for k, one in enumerate(said) if k != j])
        one = FoldStack([member.models[i] for member in members], pool)
        scores.append(shop.score(one, part.Z_judge[at], part.judge[at]))
        inside.append(shop.score(one, part.Z_learn, part.learn))
        models.append(one)
    pool = learn_pool(said)
    if len(shop.folds) == 1:
        models = [FoldStack([member.models[0] for member in members], pool)]
    return Outcome(
        _tried(shop, members, pool),
        np.array(scores),
        np.array(inside),
        [{}] * len(shop.folds),
        models,
        time.perf_counter() - began + sum(one.seconds for one in members),
        0,
        max(one.sampled for one in members),
    )


def _tried(shop: Workshop, members: list[Outcome], pool: Pool) -> Tried:
    """The stack as a model that can be fitted anew; a member without weight is left out."""
    at = [m for m in np.argsort(-pool.weights, kind="stable") if pool.weights[m] > 0]
    fitted = [(members[m].key, member_of(members[m])) for m in at]
    weights = [float(pool.weights[m]) for m in at]
    estimator: Any
    if shop.scorer.task.kind == "regression":
        estimator = StackedRegressor(fitted, weights, float(pool.level[0]))
    else:
        estimator = StackedClassifier(fitted, weights, pool.level.tolist())
    names = [members[m].name for m in at]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    told = ", ".join(f"{name} {w:.2f}" for name, w in zip(names, weights, strict=True))
    reason = f"what several models say, combined as rows held out teach: {told}"
    candidate = Candidate(f"stack of {listed}", KEY, estimator, {}, COMPLEXITY, reason, True)
    return Tried(candidate, {})
