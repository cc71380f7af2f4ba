"""Base of the conformal estimators: the data as the inner estimator wants them."""

from typing import Any

import narwhals.stable.v1 as nw
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, check_rows_and_columns
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import frame_matrix, indexable_frame, is_frame
from pellucid.core.arrays.reading import validate_data
from pellucid.core.arrays.typing import ArrayLike
from pellucid.evaluation.conformal.conformal_scores import check_calibration_size


class ConformalModel(MetaEstimatorMixin, Estimator):
    """A model behind a guarantee: predictions are the inner estimator's own.

    Frames are passed on as they are, so that a pipeline can choose columns by name; a table of
    numbers is checked at the door, text is left to the inner estimator.
    """

    estimator: Any
    method: str
    confidence: float
    calibration_size: Any

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return bool(get_tags(self.estimator).input_tags.allow_nan)

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return bool(get_tags(self.estimator).input_tags.sparse)

    def _check_options(self, methods: tuple[str, ...]) -> None:
        check.one_of(methods, method=self.method)
        check.fraction(confidence=self.confidence)
        check_calibration_size(self.calibration_size)

    def _level(self, confidence: float | None) -> float:
        if confidence is None:
            return self.confidence
        check.fraction(confidence=confidence)
        return confidence

    def _open(self, X: ArrayLike, *, reset: bool) -> Any:
        """Rows that can be indexed and handed to the inner estimator."""
        if not reset:
            check_is_fitted(self)
        if not is_frame(X):
            return self._check_matrix(X, reset=reset, finite=True)
        validate_data(self, X, reset=reset, skip_check_array=True)
        table = nw.from_native(X, eager_only=True)
        check_rows_and_columns(table.shape, self)
        if all(dtype.is_numeric() or dtype == nw.Boolean for dtype in table.schema.values()):
            self._refuse_nonfinite(frame_matrix(X))
        return indexable_frame(X)

    def predict(self, X: ArrayLike) -> Any:
        """What the fitted estimator predicts."""
        rows = self._open(X, reset=False)
        return self.estimator_.predict(rows)
