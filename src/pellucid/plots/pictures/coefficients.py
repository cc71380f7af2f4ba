"""Coefficients of a linear model with their intervals, or with the reason why there are none."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core import check
from pellucid.core.typing import Array
from pellucid.plots.inputs import model_names, one_target
from pellucid.plots.style import GREY, axes, colour, heading, legend

MOST = 30  # coefficients drawn; of more, the largest


@dataclass(frozen=True)
class Coefficients:
    """One row per coefficient, in the order of the columns."""

    names: tuple[str, ...]
    estimate: Array  # (m,)
    low: Array  # (m,) NaN where there is no interval
    high: Array  # (m,)
    confidence: float
    valid: bool  # whether the intervals hold as confidence (or posterior) intervals of the model
    reason: str  # why not
    title: str
    alt: str

    def plot(self, ax: Any = None) -> Any:
        ax = axes(ax, figsize=(6.0, 1.6 + 0.28 * len(self.names)))
        at = np.arange(len(self.names))
        ax.axvline(0, color=GREY, linewidth=1)
        known = np.isfinite(self.low) & np.isfinite(self.high)
        share = f"{100 * self.confidence:g} % interval"
        if known.any():
            style = "-" if self.valid else (0, (2, 1.5))
            word = share if self.valid else f"{share}, see above"
            ax.hlines(at[known], self.low[known], self.high[known], color=colour(0), linewidth=2,
                      linestyle=style, label=word)  # fmt: skip
        clear = known & self.valid & ((self.low > 0) | (self.high < 0))
        tested = self.valid and known.any()
        hollow = ~clear if tested else ~known & (self.estimate == 0)
        words = ("interval without 0", "interval holds 0") if tested else ("not 0", "exactly 0")
        ax.scatter(self.estimate[~hollow], at[~hollow], s=34, color=colour(0), zorder=3,
                   label=words[0] if hollow.any() else "estimate")  # fmt: skip
        if hollow.any():
            ax.scatter(self.estimate[hollow], at[hollow], s=34, facecolors="white", zorder=3,
                       edgecolors=colour(0), label=words[1])  # fmt: skip
        ax.set_yticks(at, self.names)
        ax.set(
            ylim=(len(at) - 0.4, -0.6), xlabel="coefficient (target units per unit of the column)"
        )
        heading(ax, self.title, self.reason)
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return ax


def coefficients(
    E: Any, *, confidence: float = 0.95, intercept: bool = False, target: int = 0
) -> Coefficients:
    """Estimates with the intervals of ``E.summary()``.

    Parameters
    ----------
    E : fitted linear model with ``coef_``
        Without ``summary()``, or where that says its inference is not valid, the picture gives the
        reason.
    confidence : float, default=0.95
    intercept : bool, default=False
        Show the intercept too (its size is often another).
    target : int, default=0
        Which of several targets.

    Examples
    --------
    >>> from pellucid import LinearRegression
    >>> from pellucid.plots import coefficients
    >>> picture = coefficients(LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]))
    >>> picture.names, picture.estimate, picture.low.round(2), picture.valid
    (('x0',), array([1.5]), array([-2.17]), True)
    """
    check.fraction(confidence=confidence)
    check.boolean(intercept=intercept)
    names = model_names(E)
    if not hasattr(E, "coef_"):
        raise ValueError(f"coefficients needs a linear model with coef_, got {type(E).__name__}")
    if hasattr(E, "summary"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the picture gives the reason itself
            found = E.summary(confidence=confidence)
        rows, valid, reason = tuple(found.names), bool(found.valid), found.reason
        columns = (found.arrays[key] for key in ("estimate", "low", "high"))
        estimate, low, high = (one_target(values, target, 1) for values in columns)
        if rows[0] == "intercept" and len(rows) == len(names) + 1 and not intercept:
            rows, estimate, low, high = rows[1:], estimate[1:], low[1:], high[1:]
    else:
        estimate, rows, valid = one_target(E.coef_, target, 1), names, False
        if intercept:
            b = np.atleast_1d(E.intercept_)
            estimate = np.append(b[target] if len(b) > 1 else b[0], estimate)
            rows = ("intercept", *names)
        low = high = np.full(len(estimate), np.nan)
        reason = f"{type(E).__name__} gives no standard errors: estimates only"
    return _record(type(E).__name__, rows, (estimate, low, high), confidence, valid, reason)


def _record(
    what: str, rows: tuple[str, ...], columns: tuple[Array, Array, Array], confidence: float,
    valid: bool, reason: str,
) -> Coefficients:  # fmt: skip
    estimate, low, high = columns
    kept = np.sort(np.argsort(-np.abs(estimate), kind="stable")[:MOST])
    title = f"{what}: coefficients"
    if len(kept) < len(estimate):
        title += f", the {MOST} largest of {len(estimate)}"
    zero = int((estimate == 0).sum())
    top = int(np.argmax(np.abs(estimate)))
    alt = f"{len(estimate)} coefficients of {what}; the largest is {rows[top]} at "
    alt += f"{estimate[top]:.4g}" + (f"; {zero} are exactly 0" if zero else "")
    alt += "." if valid else f". {reason[:1].upper()}{reason[1:]}."
    names = tuple(rows[j] for j in kept)
    return Coefficients(
        names, estimate[kept], low[kept], high[kept], confidence, valid, reason, title, alt
    )
