r"""Voting: different models for the same rows, joined by a vote or a mean.

hard     argmax_k sum_m w_m [member m says k]              ties: the lowest label
soft     argmax_k sum_m w_m p_m(k | x) / sum_m w_m
numbers  mean or median of the members' answers, by their weights

References: Kuncheva (2004), Combining pattern classifiers, chapters 4 and 5.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import _raise_for_params
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, _num_samples, check_is_fitted

from pellucid.base import Classifier, Regressor, check_labels, check_number_target, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.quantiles import weighted_median
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.ensemble.committees.committee import Committee, class_columns, fit_member
from pellucid.features.encoding.labels import LabelEncoder


class Voting(Committee):
    """Members fitted to all rows; a leaf class joins what they say."""

    def _member_weights(self) -> Array:
        """Weights of the members that are not dropped."""
        n = len(self.estimators)
        w = np.ones(n) if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        if w.shape != (n,):
            need = "Number of `estimators` and weights must be equal"
            raise ValueError(f"{need}: weights of shape {w.shape}, {n} estimators")
        if not (np.isfinite(w).all() and (w >= 0).all()):
            raise ValueError(f"weights must be finite and >= 0, got {w.tolist()}")
        kept = w[[not isinstance(one, str) for _, one in self.estimators]]
        if not kept.any():
            raise ValueError("weights must be positive for at least one estimator")
        return kept

    def _open_training(self, X: ArrayLike) -> Any:
        self._members()
        self._member_weights()
        return self._open(X, reset=True)

    def _fit_members(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, params: dict[str, Any]
    ) -> None:
        members = self._members()
        routed = self._routed([name for name, _ in members], X, sample_weight, params)
        jobs: list[Any] = [(fit_member, (one, X, y, routed[name])) for name, one in members]
        self.estimators_ = self._all_fits(jobs)

    def _names_out(self, input_features: ArrayLike | None, suffixes: list[str]) -> Any:
        check_is_fitted(self, "n_features_in_")
        _check_feature_names_in(self, input_features, generate_names=False)
        own = type(self).__name__.lower()
        names = [f"{own}_{name}{s}" for name, _ in self._given() for s in suffixes]
        return np.asarray(names, dtype=object)

    def _optimisation(self) -> str:
        kinds = ", ".join(type(model).__name__ for model in self.estimators_)
        return f"{len(self.estimators_)} independent fits ({kinds}) to all rows; nothing joint"


def _is_soft(self: Any) -> bool:
    if self.voting == "hard":
        raise AttributeError(f"predict_proba is not available when voting={self.voting!r}")
    return True


class VotingClassifier(Voting, Classifier):
    """Different classifiers joined by majority or mean probability.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; ``set_params(name="drop")`` leaves one out.
    voting : {"hard", "soft"}, default="hard"
        Majority of the labels, or mean of the probabilities.
    weights : array-like of shape (members,) or None, default=None
        How much each member counts; None: all alike.
    n_jobs : int or None, default=None
        Members fitted at a time, in threads.
    flatten_transform : bool, default=True
        With soft voting ``transform`` gives (n, members * K); False: (members, n, K).
    verbose : bool, default=False
        Above 0 prints the steps and the time of the fit.

    Attributes
    ----------
    estimators_, named_estimators_
        The fitted members.
    le_ : LabelEncoder
        The members are fitted to the codes 0..K-1 of the labels.
    classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import DecisionTreeClassifier, GaussianNB, VotingClassifier
    >>> X, y = [[0], [1], [2], [3]], ["a", "a", "b", "b"]
    >>> model = VotingClassifier([("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())])
    >>> model.fit(X, y).predict([[0.2], [2.8]]).tolist(), model.agreement([[0.2]]).tolist()
    (['a', 'b'], [1.0])
    """

    def __init__(
        self,
        estimators: Sequence[tuple[str, BaseEstimator]],
        *,
        voting: str = "hard",
        weights: ArrayLike | None = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the members to all rows; ``params`` go to them."""
        _raise_for_params(params, self, "fit")
        check.one_of(("hard", "soft"), voting=self.voting)
        check.boolean(flatten_transform=self.flatten_transform)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight)
        X = self._open_training(X)
        if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1:
            raise NotImplementedError("multilabel and multi-output targets are not supported")
        labels = check_labels(y, _num_samples(X), self)
        self.le_ = LabelEncoder().fit(labels)
        self.classes_ = self.le_.classes_
        self._fit_members(X, self.le_.transform(labels), sample_weight, params)
        context.end()
        return self

    def _codes(self, X: ArrayLike) -> Any:
        """What the members say, (n, members)."""
        X = self._open(X, reset=False)
        return np.stack([np.asarray(m.predict(X)).astype(np.intp) for m in self.estimators_], 1)

    def _probabilities(self, X: ArrayLike) -> Array:
        """(members, n, K)."""
        X, K = self._open(X, reset=False), len(self.classes_)
        return np.stack([class_columns(m, m.predict_proba(X), K) for m in self.estimators_])

    def _shares(self, X: ArrayLike) -> Array:
        """The weighted share of votes for every class, (n, K)."""
        codes, w = self._codes(X), self._member_weights()
        votes = np.zeros((len(codes), len(self.classes_)))
        for m, weight in enumerate(w):
            votes[np.arange(len(codes)), codes[:, m]] += weight
        return votes / w.sum()

    def _mean_probabilities(self, X: ArrayLike) -> Array:
        return np.average(self._probabilities(X), axis=0, weights=self._member_weights())

    @available_if(_is_soft)
    def predict_proba(self, X: ArrayLike) -> Array:
        """Mean probabilities of the members, by their weights."""
        return self._mean_probabilities(X)

    @available_if(_is_soft)
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self._mean_probabilities(X))

    def predict(self, X: ArrayLike) -> Any:
        """The class of most votes, or of the largest mean probability; the first of equals."""
        found = self._shares(X) if self.voting == "hard" else self._mean_probabilities(X)
        return self.classes_[found.argmax(axis=1)]

    def agreement(self, X: ArrayLike) -> Array:
        """The weighted share of members that say what the committee says, (n,)."""
        shares = self._shares(X)
        winner = shares if self.voting == "hard" else self._mean_probabilities(X)
        return shares[np.arange(len(shares)), winner.argmax(axis=1)]

    def transform(self, X: ArrayLike) -> Any:
        """Codes that the members say (n, members); soft: their probabilities."""
        if self.voting == "hard":
            return self._codes(X)
        found = self._probabilities(X)
        return np.hstack(list(found)) if self.flatten_transform else found

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """Names of the columns of ``transform``."""
        if self.voting == "soft" and not self.flatten_transform:
            what = "get_feature_names_out is not supported"
            raise ValueError(f"{what} when `voting='soft'` and `flatten_transform=False`")
        check_is_fitted(self)
        suffixes = [""] if self.voting == "hard" else [str(k) for k in range(len(self.classes_))]
        return self._names_out(input_features, suffixes)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        how = "majority" if self.voting == "hard" else "mean probability"
        return Card(
            representation=f"the {how} of {len(self.estimators_)} classifiers",
            evaluation="whatever each member minimises; the vote itself is not fitted",
            optimisation=self._optimisation(),
            numbers={"members": len(self.estimators_), "classes": len(self.classes_)},
        )


class VotingRegressor(Voting, Regressor):
    """Different regressors joined by their mean or median.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; ``set_params(name="drop")`` leaves one out.
    weights : array-like of shape (members,) or None, default=None
        How much each member counts; None: all alike.
    n_jobs : int or None, default=None
        Members fitted at a time, in threads.
    verbose : bool, default=False
        Above 0 prints the steps and the time of the fit.
    combine : {"mean", "median"}, default="mean"
        The weighted median is the least answer up to which half of the weight lies (the middle
        of two where it is exactly half).

    Attributes
    ----------
    estimators_, named_estimators_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import DecisionTreeRegressor, Ridge, VotingRegressor
    >>> X, y = [[0], [1], [2], [3]], [0, 1, 2, 3]
    >>> model = VotingRegressor([("line", Ridge(1e-9)), ("tree", DecisionTreeRegressor())])
    >>> model.fit(X, y).predict([[5]]).round(6)
    array([4.])
    """

    _multi_output = False

    def __init__(
        self,
        estimators: Sequence[tuple[str, BaseEstimator]],
        *,
        weights: ArrayLike | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        combine: str = "mean",
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.combine = combine

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Fit the members to all rows; ``params`` go to them."""
        _raise_for_params(params, self, "fit")
        check.one_of(("mean", "median"), combine=self.combine)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight)
        X = self._open_training(X)
        target = check_number_target(y, _num_samples(X), False, self)
        self._fit_members(X, target, sample_weight, params)
        context.end()
        return self

    def _answers(self, X: ArrayLike) -> Array:
        X = self._open(X, reset=False)
        return np.stack([np.asarray(m.predict(X), dtype=float) for m in self.estimators_], axis=1)

    def transform(self, X: ArrayLike) -> Array:
        """The answers of the members, (n, members)."""
        return self._answers(X)

    def predict(self, X: ArrayLike) -> Array:
        """The mean or median of the members' answers, by their weights."""
        found, w = self._answers(X), self._member_weights()
        mean = self.combine == "mean"
        return np.average(found, axis=1, weights=w) if mean else weighted_median(found.T, w)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """Names of the columns of ``transform``."""
        return self._names_out(input_features, [""])

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        return Card(
            representation=f"the {self.combine} of {len(self.estimators_)} regressors",
            evaluation="whatever each member minimises; the join itself is not fitted",
            optimisation=self._optimisation(),
            numbers={"members": len(self.estimators_)},
        )
