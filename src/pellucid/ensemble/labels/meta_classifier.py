"""Base of the models made of copies of one model: routing, tags and input checks."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _num_samples, check_is_fitted

from pellucid import base
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import ArrayLike, IntArray, MaybeArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import check_inner, fitted, read_table, route
from pellucid.core.runtime.warn import warn
from pellucid.ensemble.committees.constant import ConstantClassifier


class Copies(MetaEstimatorMixin):
    """What every model that fits several copies of ``estimator`` does with tables and keywords."""

    estimator: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.pairwise = inner.pairwise
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    def get_metadata_routing(self) -> Any:
        """What is passed on to the fits of the inner estimator."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        if hasattr(type(self), "partial_fit"):
            mapping.add(caller="partial_fit", callee="partial_fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def _open(self, X: ArrayLike, *, reset: bool = True) -> Any:
        """The table for the inner estimators."""
        if reset:
            check_inner(self, self.estimator, "fit")
        else:
            check_is_fitted(self)
        return read_table(self, X, self.estimator, reset=reset)

    def _begin(
        self, X: ArrayLike, y: Any, sample_weight: MaybeArray, params: dict[str, Any], **door: bool
    ) -> tuple[Any, int, dict[str, Any], FitContext]:
        """The table, its number of rows, the keywords of the inner fits, and the context."""
        X = self._open(X)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight)
        n = _num_samples(X)
        return X, n, self._route("fit", sample_weight, params, n, **door), context

    def _route(
        self, method: str, sample_weight: MaybeArray, params: dict[str, Any], n: int, **door: bool
    ) -> dict[str, Any]:
        """The keywords of the inner fits; weights are checked here, where rows have their place."""
        if sample_weight is not None:
            sample_weight = base.check_weights(sample_weight, np.empty(n))
        return route(self, method, sample_weight, params, **door)

    def _refuse_cells(self, X: ArrayLike) -> None:
        refuse_cells(self, self.estimator, X)


class MetaClassifier(Copies, base.Classifier):
    """Base of the classifiers that fit several copies of ``estimator``."""

    def _open_labels(self, X: ArrayLike, y: ArrayLike) -> IntArray:
        """Codes of the labels of a vector; at least two classes."""
        n = _num_samples(X)
        self.classes_, codes = base.encode_labels(base.check_labels(y, n, self))
        if len(self.classes_) < 2:
            name = type(self).__name__
            raise ValueError(f"{name} needs at least 2 classes, got 1 class, n_samples={n}")
        return codes

    def _known_codes(self, y: ArrayLike, n: int) -> IntArray:
        """Codes of the labels of a batch, all of which must be known."""
        labels = base.check_labels(y, n, self)
        unknown = np.setdiff1d(labels, self.classes_).tolist()
        if unknown:
            known = self.classes_.tolist()
            raise ValueError(
                f"Mini-batch contains {unknown} while classes must be subset of {known}"
            )
        return np.searchsorted(self.classes_, labels)


def refuse_cells(owner: base.Estimator, estimator: BaseEstimator, X: ArrayLike) -> None:
    """Name a bad cell by its row in X: the inner estimators will see only some of the rows."""
    if isinstance(estimator, base.Estimator):  # of others it is not known what they accept
        allow_nan = bool(get_tags(estimator).input_tags.allow_nan)
        refuse_nonfinite(owner, X, allow_nan, type(estimator).__name__)


def refuse_nonfinite(owner: base.Estimator, X: ArrayLike, allow_nan: bool, who: str) -> None:
    """Raise ValueError for the first cell of a table of numbers that ``who`` does not accept."""
    if is_frame(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "fiu"):
        for j, column in _float_columns(X):
            found = base.find_nonfinite(column[:, None], allow_nan=allow_nan)
            if found is not None:
                what = "NaN" if np.isnan(column[found[0]]) else "infinity (inf)"
                where = f"{owner._column_name(j)}, row {found[0]}"
                raise ValueError(f"X contains {what} in {where}; {who} does not accept it")


def _float_columns(X: ArrayLike) -> list[tuple[int, Any]]:
    if isinstance(X, np.ndarray):
        if X.dtype.kind != "f" or np.isfinite(X.sum()):
            return []
        return [(j, X[:, j].astype(np.float64)) for j in range(X.shape[1])]
    import narwhals.stable.v1 as nw

    table = nw.from_native(X, eager_only=True)
    return [
        (j, np.asarray(column.to_numpy(), dtype=np.float64))
        for j, column in enumerate(table.iter_columns())
        if column.dtype.is_float()
    ]


n_classes = property(lambda self: len(self.classes_), doc="Number of classes.")
n_classifiers = property(lambda self: len(self.estimators_), doc="Number of fits.")


def fit_binary(
    estimator: BaseEstimator, X: Any, y: IntArray, params: dict[str, Any], names: tuple[str, str]
) -> Any:
    """A copy fitted to 0/1 targets; a constant where only one of them occurs."""
    low, high = int(y.min()), int(y.max())
    if low == high:
        warn(f"Label {names[low]} is present in all training examples: it is predicted always")
        return ConstantClassifier().fit(X, y)
    return fitted(clone(estimator), X, y, **params)


def take_rows(X: ArrayLike, indices: IntArray) -> Any:
    """Rows of a table of any kind."""
    return _safe_indexing(X, indices)
