r"""Least squares on chosen columns: what best subset and stepwise regression share at the end.

The errors of the chosen model are those of least squares as if the columns had been given. They
were chosen on the same data, so the estimates are too large and the errors too small:
``summary()`` shows them and says that they are not valid.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack
from sklearn.utils.validation import check_is_fitted

from pellucid.core.algebra.least_squares import Compact
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.records import Summary
from pellucid.linear.least_squares.inference import cut, estimate_table, tail
from pellucid.linear.linear_model import LinearModel

EXACT = 1e-12  # residuals below this share of y are rounding error: the fit is exact


class Chosen(NamedTuple):
    """Least squares on the columns ``support``."""

    coef: Array  # (p,), 0 outside
    root: Array  # (s, s): T T' = (X_S'X_S)^-1
    rss: float


def fit_chosen(small: Compact, support: IntArray) -> Chosen:
    """Fit independent columns of the compact rows by QR."""
    coef = np.zeros(small.A.shape[1])
    B, c = small.A[:, support], small.c[:, 0]
    if not len(support):
        return Chosen(coef, np.zeros((0, 0)), settle(float(small.tss[0]), small))
    scale = np.linalg.norm(B, axis=0)
    Q, R = np.linalg.qr(B / scale)
    root = lapack.dtrtri(R)[0] / scale[:, None]
    coef[support] = root @ (Q.T @ c)
    rss = float(((c - B @ coef[support]) ** 2).sum() + small.rest[0, 0])
    return Chosen(coef, root, settle(rss, small))


def settle(rss: float, small: Compact) -> float:
    """Residual squares, exactly 0 where they are rounding error."""
    return rss if rss > exact_limit(small) else 0.0


def exact_limit(small: Compact) -> float:
    """Residual squares up to this are rounding error of y."""
    return float(EXACT**2 * (small.tss[0] + small.weight * small.y_mean[0] ** 2))


def rank_of(A: Array, n_rows: int) -> tuple[int, float]:
    """Rank of the unit-norm columns (zero columns aside) and their condition."""
    scale = np.linalg.norm(A, axis=0)
    live = scale > 0
    if not live.any():
        return 0, 1.0
    d = np.linalg.svd(A[:, live] / scale[live], compute_uv=False)
    rank = int((d > max(n_rows, A.shape[1]) * EPS * d[0]).sum())
    return rank, float(d[0] / d[rank - 1]) if rank == live.sum() else np.inf


def full_sigma2(small: Compact, rank: int, intercept: bool) -> float:
    """The noise variance by the fit on all columns; NaN where they leave no room for it."""
    free = small.weight - rank - intercept
    if not free > 1e-9:
        return np.nan
    U, _, _ = np.linalg.svd(unit_columns(small.A), full_matrices=False)
    kept = U[:, :rank].T @ small.c[:, 0]
    rss = ((small.c[:, 0] - U[:, :rank] @ kept) ** 2).sum() + small.rest[0, 0]
    return settle(float(rss), small) / free


def unit_columns(A: Array) -> Array:
    """Columns of norm 1; a zero column stays."""
    scale = np.linalg.norm(A, axis=0)
    return A / np.where(scale > 0, scale, 1.0)


class SelectedRegression(LinearModel):
    """Base of the regressors that choose columns and fit least squares on them."""

    _multi_output = False

    def get_support(self, indices: bool = False) -> Any:
        """The mask of the chosen columns, or their positions."""
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_.copy()

    def _one_target(self, small: Compact) -> Compact:
        if small.c.shape[1] != 1:
            what = f"{type(self).__name__} chooses columns for one target, got {small.c.shape[1]}"
            raise ValueError(f"{what}; fit one model per target")
        return small

    def _set_chosen(self, small: Compact, support: IntArray) -> None:
        fit = fit_chosen(small, support)
        n, k = small.weight, len(support) + self.fit_intercept
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[support] = True
        self.coef_, self.intercept_ = fit.coef, self._offset(small, fit.coef)
        self.rss_, self.n_observations_, self.df_ = fit.rss, n, float(k)
        self.sigma2_ = fit.rss / (n - k) if n - k > 1e-9 else np.nan
        self.r2_ = 1 - fit.rss / float(small.tss[0]) if small.tss[0] > 0 else np.nan
        self._root, self._mean = fit.root, small.mean[support]
        self._constant = tuple(int(j) for j in np.flatnonzero(~small.A.any(axis=0)))

    def _errors(self) -> Array:
        """Standard errors as if the columns had been given; NaN outside the choice."""
        sigma = np.sqrt(self.sigma2_)
        error = np.full(self.n_features_in_, np.nan)
        error[self.support_] = sigma * np.linalg.norm(self._root, axis=1)
        if not self.fit_intercept:
            return error
        spread = 1 / self.n_observations_ + ((self._mean @ self._root) ** 2).sum()
        return np.append(sigma * np.sqrt(spread), error)

    def summary(self, confidence: float = 0.95) -> Summary:
        """The chosen model's estimates and errors as if its columns had been given beforehand."""
        check.fraction(confidence=confidence)
        check_is_fitted(self)
        b = np.append(self.intercept_, self.coef_) if self.fit_intercept else self.coef_
        error, free = self._errors(), self.n_observations_ - self.df_
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = b / error
        room = free > 1e-9
        half = cut(confidence, free, "t") * error if room else np.nan * error
        p = tail(statistic, free, "t") if room else np.nan * error
        names = (("intercept",) if self.fit_intercept else ()) + self._feature_names()
        scalars = {"n": self.n_observations_, "df_residual": free, "rss": self.rss_}
        return Summary(
            title="Least squares on chosen columns",
            names=names,
            arrays=estimate_table(b, error, statistic, p, half),
            scalars={**scalars, "sigma2": self.sigma2_, "r2": self.r2_},
            valid=False,
            reason="chosen on the same data: the estimates are too large and the errors too small; "
            "fit the chosen columns on new rows for a test",
        )

    def _notes(self) -> list[str]:
        notes = ["tests and intervals after the choice are not valid: chosen on the same data"]
        names = [self._feature_names()[j] for j in self._constant]
        return notes + ([f"constant columns are never chosen: {', '.join(names)}"] if names else [])
