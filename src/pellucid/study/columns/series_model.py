"""A model with lags that is saved: what it says of rows further ahead than its lags reach.

One step ahead of what is known the lags are right. Further ahead the last value known stands for
those that are not, and the model gets worse with every step; from some step on the best model
without lags is better (``judging.reach`` measures which). That one is kept beside it, as ``far``,
and predicts the rows beyond ``reach``.
"""

from typing import Any, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.core.runtime.warn import warn
from pellucid.data import DataWarning, load


class SeriesModel(Pipeline):
    """Features with lags and a model; rows beyond ``reach`` steps ahead are left to ``far``.

    ``steps`` are those of a pipeline, the first of them ``LaggedFeatures``; ``far`` is a pipeline
    without lags (None: the steps predict every row), ``far_`` the same, fitted.
    """

    def __init__(
        self,
        steps: list[tuple[str, Any]],
        *,
        far: BaseEstimator | None = None,
        reach: int = 1,
        transform_input: list[str] | None = None,
        memory: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(steps, transform_input=transform_input, memory=memory, verbose=verbose)
        self.far = far
        self.reach = reach

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit both on the same rows; ``params`` are for the steps."""
        super().fit(X, y, **params)
        if self.far is not None:
            self.far_: Any = clone(self.far).fit(X, y)
        return self

    def placed(self, X: Any) -> tuple[Any, BoolArray, Array]:
        """The rows with their lags, which of them are beyond the reach, and the steps they are
        ahead of the last target known; says how many."""
        if not is_frame(X):
            return X, np.zeros(len(X), dtype=bool), np.ones(len(X))
        frame, ahead = self.steps[0][1].placed(load(X))
        beyond = (ahead > self.reach) & (self.far is not None)
        self._tell(int(((ahead > 1) & ~beyond).sum()), int(beyond.sum()))
        return frame, beyond, ahead

    def _tell(self, guessed: int, left: int) -> None:
        target = self.steps[0][1].lags.target
        if guessed:
            one = "1 row is" if guessed == 1 else f"{guessed} rows are"
            warn(
                f"{one} predicted without the {target} of the moment before: the last "
                "one known, or a typical one where none is, stands for it, and the error is "
                "larger than the study's",
                DataWarning,
            )
        if left:
            one, it = ("1 row is", "it") if left == 1 else (f"{left} rows are", "them")
            name = (getattr(self.far_, "study_", None) or {}).get("name", "a model without lags")
            step = "1 step" if self.reach == 1 else f"{self.reach} steps"
            warn(
                f"{one} more than {step} ahead of the last {target} known: "
                f"{name}, which does not need it, predicts {it}",
                DataWarning,
            )

    def predict(self, X: Any, **params: Any) -> Any:
        """What the steps say, and ``far_`` of the rows beyond the reach."""
        frame, beyond, _ = self.placed(X)
        return self._joined(super().predict(frame, **params), frame, beyond, "predict")

    @available_if(lambda self: hasattr(self.steps[-1][1], "predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> Array:
        """The probabilities of both, row by row as in ``predict``."""
        frame, beyond, _ = self.placed(X)
        return self._joined(super().predict_proba(frame, **params), frame, beyond, "predict_proba")

    def _joined(self, near: Any, frame: pl.DataFrame, beyond: BoolArray, method: str) -> Any:
        if not beyond.any():
            return near
        far = np.zeros(near.shape, dtype=near.dtype)
        far[beyond] = getattr(self.far_, method)(frame.filter(pl.Series(beyond)))
        return np.where(beyond if near.ndim == 1 else beyond[:, None], far, near)
