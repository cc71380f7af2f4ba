"""Base of voting and stacking: named members of different kinds, fitted to the same rows."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier, is_regressor
from sklearn.utils import Bunch, get_tags
from sklearn.utils._metadata_requests import _routing_enabled
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    process_routing,
)
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from pellucid.base import Estimator, check_weights
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray
from pellucid.core.meta import fitted, read_table
from pellucid.ensemble.labels.meta_classifier import refuse_nonfinite

INVALID = (
    "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of "
    "(string, estimator) tuples"
)


class Committee(TransformerMixin, _BaseComposition, Estimator):
    """Named members whose answers are columns too; "drop" in the place of one leaves it out."""

    def get_params(self, deep: bool = True) -> Any:
        """The parameters, with those of the members."""
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> Any:
        """Set parameters, those of a member (``name__parameter``) or a whole member (``name``)."""
        self._set_params("estimators", **params)
        return self

    @property
    def named_estimators(self) -> Bunch:
        """The members before the fit, by name."""
        return Bunch(**dict(self.estimators))

    def _members(self) -> list[tuple[str, Any]]:
        """The members that are not dropped, checked."""
        pairs = self.estimators
        if not isinstance(pairs, list | tuple) or not all(
            isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str)
            for item in pairs
        ):
            raise ValueError(f"{INVALID}, got {pairs!r}")
        if len(pairs) == 0:
            raise ValueError(f"{INVALID}, got []")
        self._validate_names([name for name, _ in pairs])
        kept = [(name, one) for name, one in pairs if not isinstance(one, str)]
        for name, one in pairs:
            if isinstance(one, str) and one != "drop":
                raise ValueError(f"the estimator {name!r} must be an estimator or 'drop'")
        if not kept:
            raise ValueError(
                "All estimators are dropped. At least one is required to be an estimator"
            )
        for name, one in kept:
            self._check_member(name, one)
        return kept

    def _kind(self) -> tuple[Callable[[Any], bool], str]:
        """How to tell an estimator of the committee's own kind, and the word for it."""
        classes = is_classifier(self)
        return (is_classifier, "classifier") if classes else (is_regressor, "regressor")

    def _check_member(self, name: str, one: object) -> None:
        wanted, kind = self._kind()
        if not hasattr(one, "fit") or not wanted(one):
            raise ValueError(f"the estimator {name!r} ({type(one).__name__}) should be a {kind}")

    def _given(self) -> list[tuple[str, Any]]:
        """The members that are not dropped, unchecked."""
        given = self.estimators if isinstance(self.estimators, list | tuple) else ()
        pairs = [item for item in given if isinstance(item, list | tuple) and len(item) == 2]
        return [(name, one) for name, one in pairs if not isinstance(one, str)]

    def _all_members(self, tag: str) -> bool:
        return all(getattr(get_tags(one).input_tags, tag) for _, one in self._given())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._all_members("allow_nan")
        tags.input_tags.sparse = self._all_members("sparse")
        tags.transformer_tags.preserves_dtype = []
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Which member asks for which metadata."""
        router = MetadataRouter(owner=self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for name, one in self._given():
            router.add(**{name: one}, method_mapping=mapping)
        return router

    def _open(self, X: ArrayLike, *, reset: bool) -> Any:
        """X of the kind it came in; bad cells are named by their place in it."""
        if not reset:
            check_is_fitted(self)
        X = read_table(self, X, self._given()[0][1], reset=reset)
        if any(isinstance(one, Estimator) for _, one in self.estimators):
            allowed, who = self._all_members("allow_nan"), f"a member of {type(self).__name__}"
            refuse_nonfinite(self, X, allowed, who)
        return X

    def _routed(
        self, names: list[str], X: ArrayLike, sample_weight: MaybeArray, params: dict[str, Any]
    ) -> dict[str, dict[str, Any]]:
        """The keywords of every member's ``fit``."""
        _raise_for_params(params, self, "fit")
        if sample_weight is not None:
            weights = check_weights(sample_weight, np.empty(_num_samples(X)))
            params = {**params, "sample_weight": weights}
        if _routing_enabled():
            routed = process_routing(self, "fit", **params)
            return {name: dict(routed[name]["fit"]) for name in names}
        if sample_weight is not None:
            for name, one in self.estimators:
                if name in names and not has_fit_parameter(one, "sample_weight"):
                    kind = type(one).__name__
                    raise TypeError(f"Underlying estimator {kind} does not support sample weights.")
        return {name: dict(params) for name in names}

    def _all_fits(self, jobs: Iterable[tuple[Callable[..., Any], tuple[Any, ...]]]) -> list[Any]:
        """Run independent fits, ``n_jobs`` at a time."""
        run = Parallel(n_jobs=self.n_jobs, prefer="threads")
        return list(run(delayed(function)(*arguments) for function, arguments in jobs))

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted members by name; "drop" for those left out."""
        check_is_fitted(self)
        fitted = iter(self.estimators_)
        given = dict(self.estimators).items()
        return Bunch(**{name: v if isinstance(v, str) else next(fitted) for name, v in given})


def fit_member(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, params: dict[str, Any]) -> Any:
    """A fitted copy."""
    return fitted(clone(estimator), X, y, **params)


def class_columns(model: BaseEstimator, found: Array, K: int) -> Array:
    """Columns of the classes 0..K-1: a member that saw fewer says nothing of the others."""
    if found.ndim == 1 or found.shape[1] == K:
        return found
    whole = np.zeros((len(found), K))
    whole[:, np.asarray(model.classes_, dtype=np.intp)] = found
    return whole
