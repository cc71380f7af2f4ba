"""Base of the filters: every column is scored alone, and the best stay.

The scores are those of ``scores.py`` (or any function of X and y). A filter looks at one
column at a time: it is cheap, and blind to columns that only tell something together. Scores that
follow from sums over the rows are found for blocks too, with the bits of arrays.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_blocks, map_of, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.features.selection.scores import SUMMED, Summed, f_classif
from pellucid.features.selection.selector import Selector
from pellucid.features.selection.supervised import INSIDE, check_any_target


class ScoreFilter(Selector):
    """Base of the filters; a leaf says which scores are good enough."""

    score_func: Callable[..., Any]
    _accepts_sparse = True
    _sums_sparse = True
    _check_target = check_any_target

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.score_func is f_classif
        return tags

    @abstractmethod
    def _check_parameters(self, p: int | None) -> None:
        """Refuse bad parameters; ``p`` columns, None before they are known."""

    @abstractmethod
    def _best(self, scores: Array) -> Any:
        """Which columns are kept, (n_features,) of bool; a score that is NaN is the lowest."""

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Score every column of X."""
        self._check_score()
        self._check_parameters(None)
        rows = self._check_training(X, y)
        context = FitContext(self, X=rows.X, y=rows.y)
        self._check_parameters(self.n_features_in_)
        self._keep(self.score_func(rows.X, rows.y) if y is not None else self.score_func(rows.X))
        context.end()
        return self

    def fit_blocks(self, blocks: Any, *, backend: Any = None) -> Self:
        """Fit on ``pellucid.data.blocks(...)``: files larger than memory, on any backend.

        The scores have the bits of ``fit`` for any block size and backend. They count every row
        once, as ``fit`` does: weights of the blocks are for the models behind the filter.
        """
        self._check_score()
        self._check_parameters(None)
        summed, name = self._summed(), type(self).__name__
        if summed is None:
            known = "f_classif, f_regression or r_regression of pellucid.features"
            got = f"got {self.score_func!r}; use fit"
            raise ValueError(f"fit_blocks needs a score_func that is a sum, {known}, {got}")
        if isinstance(target := getattr(blocks, "target", None), tuple):
            needs = f"{name} needs one target: blocks(..., target='column')"
            raise ValueError(f"{needs}, got {len(target)} columns")
        with map_of(backend) as map_:
            source = check_blocks(self, blocks, map_)
            self._check_parameters(self.n_features_in_)
            self._keep(summed.score(source, map_))
        return self

    def _check_score(self) -> None:
        if not callable(self.score_func):
            raise ValueError(f"score_func must be a function of (X, y), got {self.score_func!r}")

    def _summed(self) -> Summed | None:
        """How the score is found from sums; None where it is not."""
        return next((one for one in SUMMED if one.function is self.score_func), None)

    @property
    def _target_kind(self) -> str:  # type: ignore[override]
        summed = self._summed()
        return "none" if summed is None else summed.target

    def _keep(self, found: Any) -> None:
        """Set the scores, and the p-values where there are some."""
        scores, p_values = found if isinstance(found, tuple) else (found, None)
        self.scores_ = np.asarray(scores, dtype=np.float64)
        self.pvalues_ = None if p_values is None else np.asarray(p_values, dtype=np.float64)
        p = self.n_features_in_
        if self.scores_.shape != (p,):
            raise ValueError(f"score_func must give {p} scores, got shape {self.scores_.shape}")

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        lowest = np.finfo(np.float64).min  # a column without score comes last
        return self._best(np.where(np.isnan(self.scores_), lowest, self.scores_))

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"scores_": (self.n_features_in_,)}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        name = getattr(self.score_func, "__name__", type(self.score_func).__name__)
        kept = self.get_support(indices=True)
        best = [self._feature_names()[j] for j in kept[np.argsort(-self.scores_[kept])][:5]]
        alone = "one at a time: blind to columns that only tell something together"
        return Card(
            f"{len(kept)} of {self.n_features_in_} columns, as they are",
            f"{name} of each column with the target, {alone}",
            "one score per column; the highest are kept",
            {"kept": len(kept), "of": self.n_features_in_, "best": ", ".join(best)},
            warnings=(INSIDE,),
        )
