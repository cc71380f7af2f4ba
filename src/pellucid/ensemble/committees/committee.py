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

from pellucid.base import Estimator, check_weights, find_nonfinite
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.meta import read_table
from pellucid.ensemble.labels.meta_classifier import _float_columns


class Committee(TransformerMixin, _BaseComposition, Estimator):
    """Named members whose answers are columns too; "drop" in the place of one leaves it out."""

    estimators: Any
    n_jobs: Any
    estimators_: list[Any]

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
            raise ValueError(f"estimators must be a list of (name, estimator) pairs, got {pairs!r}")
        if len(pairs) == 0:
            raise ValueError("estimators must be a non-empty list of (name, estimator), got []")
        self._validate_names([name for name, _ in pairs])
        kept = [(name, one) for name, one in pairs if not isinstance(one, str)]
        for name, one in pairs:
            if isinstance(one, str) and one != "drop":
                raise ValueError(f"the estimator {name!r} must be an estimator or 'drop'")
        if not kept:
            raise ValueError("all estimators are dropped; at least one must stay")
        for name, one in kept:
            self._check_member(name, one)
        return kept

    def _check_member(self, name: str, one: object) -> None:
        wanted, kind = (
            (is_classifier, "classifier") if is_classifier(self) else (is_regressor, "regressor")
        )
        if not hasattr(one, "fit") or not wanted(one):
            raise ValueError(f"the estimator {name!r} ({type(one).__name__}) should be a {kind}")

    def _all_members(self, tag: str) -> bool:
        pairs = self.estimators if isinstance(self.estimators, list | tuple) else ()
        found = [one for _, one in pairs if not isinstance(one, str)]
        return all(getattr(get_tags(one).input_tags, tag) for one in found)

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
        pairs = self.estimators if isinstance(self.estimators, list | tuple) else ()
        for name, one in pairs:
            if not isinstance(one, str):
                router.add(**{name: one}, method_mapping=mapping)
        return router

    def _open(self, X: ArrayLike, *, reset: bool) -> Any:
        """X of the kind it came in; bad cells are named by their place in it."""
        if not reset:
            check_is_fitted(self)
        first = next(one for _, one in self.estimators if not isinstance(one, str))
        X = read_table(self, X, first, reset=reset)
        ours = [one for _, one in self.estimators if isinstance(one, Estimator)]
        if ours and (is_frame(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "fiu")):
            allowed = self._all_members("allow_nan")
            for j, column in _float_columns(X):
                found = find_nonfinite(column[:, None], allow_nan=allowed)
                if found is not None:
                    what = "NaN" if np.isnan(column[found[0]]) else "infinity (inf)"
                    raise ValueError(
                        f"X contains {what} in {self._column_name(j)}, row {found[0]}; "
                        f"a member of {type(self).__name__} does not accept it"
                    )
        return X

    def _routed(
        self,
        names: list[str],
        X: ArrayLike,
        sample_weight: ArrayLike | None,
        params: dict[str, Any],
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
        return list(
            Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(function)(*arguments) for function, arguments in jobs
            )
        )

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted members by name; "drop" for those left out."""
        check_is_fitted(self)
        fitted = iter(self.estimators_)
        pairs = (
            (name, one if isinstance(one, str) else next(fitted)) for name, one in self.estimators
        )
        return Bunch(**dict(pairs))


def fit_member(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, params: dict[str, Any]) -> Any:
    """A fitted copy."""
    return clone(estimator).fit(X, y, **params)


def class_columns(model: BaseEstimator, found: Array, K: int) -> Array:
    """Columns of the classes 0..K-1: a member that saw fewer says nothing of the others."""
    if found.ndim == 1 or found.shape[1] == K:
        return found
    whole = np.zeros((len(found), K))
    whole[:, np.asarray(model.classes_, dtype=np.intp)] = found
    return whole
