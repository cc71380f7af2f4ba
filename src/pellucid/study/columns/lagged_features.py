"""Features of rows in time, of which the saved model makes the lags itself.

Inside a study the lags are columns of the table already; a table of new rows has none, and they are
made from the end of the training series and from the new rows before each row (``lags``).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import Array
from pellucid.data import load
from pellucid.study.columns.lags import Lags, Tail, new_lags
from pellucid.study.columns.table_features import TableFeatures


class LaggedFeatures(TableFeatures):
    """``TableFeatures`` of the columns named, some of which may be lags.

    ``lags`` and ``tail`` (None: no lags are used) say how lags are made of new rows; the other
    parameters are those of ``TableFeatures``. ``needs_`` are the columns that new rows must have;
    the target of earlier rows is taken where a table has it.
    """

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        *,
        columns: Sequence[str],
        lags: Lags | None = None,
        tail: Tail | None = None,
        scale: bool = True,
        rare: float = 0.01,
        max_one_hot: int = 30,
        max_words: int = 200,
        words: str = "tfidf",
        reference: bool = False,
        knots: int = 0,
        forms: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            kinds,
            scale=scale,
            rare=rare,
            max_one_hot=max_one_hot,
            max_words=max_words,
            words=words,
            reference=reference,
            columns=columns,
            knots=knots,
            forms=forms,
        )
        self.lags = lags
        self.tail = tail

    @property
    def needs_(self) -> list[str]:
        """The columns that new rows must have."""
        made = [] if self.lags is None else self.lags.names()
        own = [name for name in self.columns or () if name not in made]
        if self.lags is not None:
            own += [n for n in (*self.lags.sources, self.lags.time) if n not in own]
        return own

    @property
    def takes_(self) -> list[str]:
        """Columns taken where a table has them: the target of earlier rows, or the lags made."""
        return [] if self.lags is None else [self.lags.target, *self.lags.names()]

    def _check_columns(self, X: Any, *, reset: bool) -> list[Any]:
        """The columns named, with the lags of rows that have none yet."""
        wanted = list(self.columns or ())
        if is_frame(X):
            X = self.with_lags(load(X))
            X = X.select(wanted) if set(wanted) <= set(X.columns) else X
        return super()._check_columns(X, reset=reset)

    def with_lags(self, X: pl.DataFrame) -> pl.DataFrame:
        """The table with the lags of its rows; as it is where it has them or none are used."""
        return self.placed(X)[0]

    def placed(self, X: pl.DataFrame) -> tuple[pl.DataFrame, Array]:
        """The table with its lags, and how many steps a row is ahead of the last known target."""
        if self.lags is None or set(self.lags.names()) <= set(X.columns):
            return X, np.ones(X.height)
        assert self.tail is not None
        found, ahead = new_lags(self.lags, self.tail, X)
        return pl.concat([found, X.drop(found.columns, strict=False)], how="horizontal"), ahead
