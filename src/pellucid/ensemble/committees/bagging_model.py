"""Base of both bagging classes: draws of rows and features, members, out-of-bag answers."""

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from pellucid.base import Estimator
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.meta import check_inner, fitted, takes_gaps
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator, stream
from pellucid.core.runtime.warn import warn
from pellucid.ensemble.committees.bootstrap import (
    Bootstrap,
    Sampler,
    make_sampler,
    own_order,
    refuse_fewer,
)
from pellucid.ensemble.forest.forest_model import FEW, jobs
from pellucid.ensemble.forest.growing import Plan, grow_forest, redraw
from pellucid.ensemble.members import count, member, members
from pellucid.tree.cart import column_count
from pellucid.tree.growing import Classes

FEATURES, MEMBER = 11, 12  # purposes of random streams


def feature_count(value: float, d: int) -> int:
    """How many columns a member sees.

    >>> feature_count(0.5, 10), feature_count(3, 10)
    (5, 3)
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= d:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, bool | Integral):
        share = float(value)
        if 0 < share <= 1:
            return max(1, int(share * d))
    accepted = f"a whole number in 1..{d} or a share in (0, 1]"
    raise ValueError(f"max_features must be {accepted}, got {value!r}")


def seeded(estimator: BaseEstimator, seed: int, b: int) -> Any:
    """A copy whose random_state parameters, its own and those inside it, come from (seed, b)."""
    model = clone(estimator)
    names = [n for n in sorted(model.get_params()) if n.split("__")[-1] == "random_state"]
    rng = stream(seed, b, MEMBER)
    return model.set_params(**{name: int(rng.integers(2**31)) for name in names})


def take_columns(X: np.ndarray, features: IntArray) -> Any:
    """Some columns of X; X itself where they are all, in order."""
    if len(features) == X.shape[1] and (features == np.arange(X.shape[1])).all():
        return X
    return X[:, features]


class Bagging(Estimator):
    """Members on resampled rows and hidden features; a leaf class joins their answers."""

    __len__, __getitem__, __iter__ = count, member, members

    @abstractmethod
    def _default(self) -> Any:
        """The base estimator where none is given."""

    def _fit_member(
        self, model: BaseEstimator, X: np.ndarray, answers: NDArray[Any], params: dict[str, Any]
    ) -> Any:
        """Fit one member."""
        return fitted(model, X, answers, **params)

    @abstractmethod
    def _fast(self, y: ArrayLike) -> Any:
        """The target of the forest's grower, or None where this y has no place there."""

    def _estimators(self) -> list[Any]:
        if self.estimator is None:
            return [self._default()]
        several = isinstance(self.estimator, list | tuple)
        found = list(self.estimator) if several else [self.estimator]
        if not found:
            raise ValueError("estimator must be one estimator or a list of at least one, got []")
        for one in found:
            check_inner(self, one, "fit", "predict")
        return found

    def _all_inner(self, tag: str) -> bool:
        return all(getattr(get_tags(one).input_tags, tag) for one in self._estimators())

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return all(takes_gaps(one) is not False for one in self._estimators())

    def _refuse_nonfinite(self, X: Any) -> None:
        """By column and row; a model that nothing is known of refuses for itself."""
        if all(takes_gaps(one) is not None for one in self._estimators()):
            super()._refuse_nonfinite(X)

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return self._all_inner("sparse")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._all_inner("allow_nan")
        if tags.regressor_tags is not None:
            inner = [get_tags(one) for one in self._estimators()]
            tags.target_tags.multi_output = all(t.target_tags.multi_output for t in inner)
        return tags

    def _sampling(self) -> Any:
        check.boolean(bootstrap=self.bootstrap, bootstrap_features=self.bootstrap_features)
        if isinstance(self.sampling, str):
            check.one_of(("bootstrap",), sampling=self.sampling)
            everything = self.max_samples is None or self.max_samples == 1.0
            if not self.bootstrap and everything and not isinstance(self.max_samples, Integral):
                return None
            return Bootstrap(self.max_samples, replace=bool(self.bootstrap))
        return self.sampling

    def _grow(self, X: Any, y: Any, codes: IntArray | None, w: Array) -> None:
        """Fit the members that are missing."""
        check.whole(n_estimators=self.n_estimators)
        check.boolean(warm_start=self.warm_start, oob_score=self.oob_score)
        sampling, templates = self._sampling(), self._estimators()
        drawn = sampling is not None and (self.bootstrap or self.sampling != "bootstrap")
        if self.oob_score and not drawn:
            raise ValueError("Out of bag estimation only available if bootstrap=True")
        keep = self.warm_start and hasattr(self, "estimators_")
        old: list[Any] = vars(self)["estimators_"] if keep else []
        old_features: list[Any] = vars(self)["estimators_features_"] if keep else []
        refuse_fewer(self.n_estimators, len(old), "members")
        seed = self.sampler_.seed if keep else int(generator(self.random_state).integers(2**62))
        dense = to_dense(X)
        answers = y if codes is None else codes
        order = own_order(dense, answers)
        self.sampler_: Sampler = make_sampler(sampling, seed, w, self.n_estimators, order, codes)
        d = X.shape[1]
        width = feature_count(self.max_features, d)
        numbers = range(len(old), self.n_estimators)
        features = [self._features(seed, b, d, width) for b in numbers]
        whole = width == d and not self.bootstrap_features
        self.estimator_ = clone(templates[0])
        if keep and not len(numbers):
            more = "Warm-start fitting without increasing n_estimators does not fit new members"
            warn(f"{more}: there are {len(old)} already")
        target = self._fast(answers) if whole and self._is_tree(templates) else None
        with jobs(self.n_jobs):
            if target is not None and len(numbers):
                new = self._plant(templates[0], dense, target, w, numbers)
            else:
                fit = self._member_fitter(templates, X, y, w)
                new = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                    delayed(fit)(b, f) for b, f in zip(numbers, features, strict=True)
                )
        self.estimators_ = [*old, *new]
        self.estimators_features_ = [*old_features, *features]

    def _features(self, seed: int, b: int, d: int, width: int) -> Any:
        if width == d and not self.bootstrap_features:
            return np.arange(d)
        rng = stream(seed, b, FEATURES)
        if self.bootstrap_features:
            return rng.integers(0, d, width)
        return np.sort(rng.choice(d, width, replace=False))

    def _is_tree(self, templates: list[Any]) -> bool:
        """Whether the forest's grower does the same, on columns that are prepared only once."""
        one = templates[0]
        if len(templates) > 1 or type(one) is not type(self._default()):
            return False
        asked, weighted = one.categorical_features, getattr(one, "class_weight", None) is not None
        plain = asked is None or isinstance(asked, str)
        return one.criterion != "poisson" and plain and not weighted

    def _plant(
        self, template: Any, X: Array, target: Classes | Array, w: Array, numbers: range
    ) -> list[Any]:
        """Trees by the forest's grower."""
        model = clone(template)
        for name in ("n_features_in_", "n_outputs_", "classes_", "n_classes_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        model.max_features_ = column_count(template.max_features, X.shape[1])
        sampler = self.sampler_
        total = float(w.sum()) if sampler.kind == "all" else float(sampler.draws)
        growth = model._growth(len(X), total)
        plan = Plan(growth, template.ccp_alpha, self._row_factor(target, w))
        grown = grow_forest(X, target, w, plan, sampler, numbers)
        found = []
        for t, b in enumerate(numbers):
            tree = seeded(template, sampler.seed, b)
            for name, value in vars(model).items():
                if name.endswith("_"):
                    setattr(tree, name, value)
            tree.tree_ = grown.forest.tree(t)
            found.append(tree)
        return found

    def _row_factor(self, target: Classes | Array | None, w: Array) -> Any:
        return None

    def _member_fitter(
        self, templates: list[Any], X: np.ndarray, y: np.ndarray, w: Array
    ) -> Callable[..., Any]:
        """``fit(b, features)``: member b, by weights where its estimator takes them."""
        sampler = self.sampler_
        factor = self._row_factor(None, w)

        def fit(b: int, features: IntArray) -> Any:
            template = templates[b % len(templates)]
            model = seeded(template, sampler.seed, b)
            counts = sampler.counts(b)
            answers = redraw(y, sampler, b) if sampler.label_noise > 0 else y
            weights = counts if factor is None else counts * factor(counts)
            if has_fit_parameter(model, "sample_weight"):
                rows = np.flatnonzero(weights > 0)
                alike = weights[rows]
                params = {} if (alike == 1).all() else {"sample_weight": alike}
            else:
                if factor is not None:
                    name, cure = type(model).__name__, "balance= draws the classes instead"
                    raise ValueError(f"{name} takes no sample weights for class_weight; {cure}")
                rows, params = sampler.rows(b), {}
            return self._fit_member(model, take_columns(X[rows], features), answers[rows], params)

        return fit

    def _out_of_bag(self, b: int, w: Array) -> Any:
        return np.flatnonzero((self.sampler_.counts(b) == 0) & (w > 0))

    def _warn_never(self, never: int) -> None:
        if self.oob_score and never > FEW * self.sampler_.n:
            warn(
                "Some inputs do not have OOB scores. This probably means too few estimators were "
                f"used to compute any reliable oob estimates. {never} rows were in the bag of "
                "every member: their answers are NaN and left out of the score"
            )

    @property
    def estimators_samples_(self) -> list[Any]:
        """The rows that each member saw, with repetition."""
        check_is_fitted(self)
        return [self.sampler_.rows(b) for b in range(len(self.estimators_))]

    def _members(self) -> Any:
        return zip(self.estimators_, self.estimators_features_, strict=True)

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "estimators_"):
            self.sampler_.check()
            d = self.n_features_in_
            for model, features in self._members():
                if getattr(model, "n_features_in_", len(features)) != len(features):
                    raise ValueError("estimators_ and estimators_features_ do not fit together")
                if features.dtype.kind != "i" or features.min() < 0 or features.max() >= d:
                    raise ValueError(f"estimators_features_ must be column numbers below {d}")

    def _card(self, how: str, what: str) -> Card:
        judged = "the committee is judged out of bag"
        if self.sampler_.kind == "all":
            judged = "every member has seen all rows: judge the committee on others"
        return Card(
            representation=f"the {how} of {len(self.estimators_)} {what}",
            evaluation=f"whatever the base learner minimises on its sample; {judged}",
            optimisation=self._optimisation(),
            numbers=self._numbers(),
        )

    def _numbers(self) -> dict[str, Any]:
        scores = self.oob_member_scores_
        known = scores[~np.isnan(scores)]
        return {
            "rows": self.sampler_.n,
            "members": len(self.estimators_),
            "rows drawn": self.sampler_.draws,
            "features per member": len(self.estimators_features_[0]),
            "out-of-bag score": self.oob_score_,
            "mean score of a member": float(known.mean()) if len(known) else float("nan"),
        }

    def _optimisation(self) -> str:
        kind = type(self.estimators_[0]).__name__
        seen = {"all": "all rows", "disjoint": "a part of the rows of its own"}.get(
            self.sampler_.kind, f"{self.sampler_.draws} rows drawn at random"
        )
        return f"{len(self.estimators_)} fits of {kind}, each on {seen}, independent of each other"
