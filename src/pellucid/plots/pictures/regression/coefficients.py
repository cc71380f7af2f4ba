"""Coefficients of a linear model with their intervals, or with the reason why there are none."""

import warnings
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Model
from pellucid.plots.panels.inputs import model_names, one_target
from pellucid.plots.panels.style import GREY, Axes, Picture, axes, colour, heading, legend

MOST = 30  # coefficients drawn; of more, the largest


class Coefficients(Picture):
    """One row per coefficient, in the order of the columns."""

    names: tuple[str, ...]
    estimate: Array  # (m,)
    low: Array  # (m,) NaN where there is no interval
    high: Array  # (m,)
    confidence: float
    valid: bool  # whether the intervals hold as confidence (or posterior) intervals of the model
    reason: str  # why not
    odds: bool = False  # odds ratios exp(coefficient), on a logarithmic axis

    def plot(self, ax: Axes | None = None) -> Any:
        ax = axes(ax, figsize=(6.0, 1.6 + 0.28 * len(self.names)))
        at = np.arange(len(self.names))
        nothing = 1.0 if self.odds else 0.0  # what no effect looks like
        ax.axvline(nothing, color=GREY, lw=1)
        known = np.isfinite(self.low) & np.isfinite(self.high)
        share = f"{100 * self.confidence:g} % interval"
        if known.any():
            style = "-" if self.valid else (0, (2, 1.5))
            word = share if self.valid else f"{share}, see above"
            low, high, tint = self.low[known], self.high[known], colour(0)
            ax.hlines(at[known], low, high, color=tint, linewidth=2, linestyle=style, label=word)
        clear = known & self.valid & ((self.low > nothing) | (self.high < nothing))
        tested = self.valid and known.any()
        hollow = ~clear if tested else ~known & (self.estimate == nothing)
        words = (f"not {nothing:g}", f"exactly {nothing:g}")
        if tested:
            words = (f"interval without {nothing:g}", f"interval holds {nothing:g}")
        said = words[0] if hollow.any() else "estimate"
        ax.scatter(self.estimate[~hollow], at[~hollow], s=34, color=colour(0), zorder=3, label=said)
        if hollow.any():
            x, y, said = self.estimate[hollow], at[hollow], words[1]
            ax.scatter(x, y, s=34, facecolors="white", zorder=3, edgecolors=colour(0), label=said)
        ax.set_yticks(at, self.names)
        label = "coefficient (target units per unit of the column)"
        if self.odds:
            odds_axis(ax)
            label = "odds ratio (factor of the odds per unit of the column), log scale"
        ax.set(ylim=(len(at) - 0.4, -0.6), xlabel=label)
        heading(ax, self.title, self.reason)
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return ax


def odds_axis(ax: Axes) -> None:
    """A logarithmic axis with plain numbers at 1, 2, 5; at powers of ten where it is long."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    short = np.log10(high / low) < 2.5
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,), numticks=6))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def coefficients(
    E: Model,
    *,
    confidence: float = 0.95,
    intercept: bool = False,
    target: int = 0,
    odds: bool | None = None,
) -> Coefficients:
    """Estimates with the intervals of ``E.summary()``.

    ``confidence``: share that the interval or region holds, 0.95 by default.

    Parameters
    ----------
    E : fitted linear model with ``coef_``
        Without ``summary()``, or where that says its inference is not valid, the picture gives the
        reason.
    intercept : bool, default=False
        Show the intercept too (its size is often another).
    target : int, default=0
        Which of several targets.
    odds : bool, optional
        Odds ratios exp(coefficient) on a logarithmic axis. Default: where ``summary()`` has them
        (logistic regression).

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
    found = None
    if hasattr(E, "summary"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the picture gives the reason itself
            found = E.summary(confidence=confidence)
    if found is not None and found.arrays:
        rows, valid, reason = tuple(found.names), bool(found.valid), found.reason
        odds = "odds_ratio" in found.arrays if odds is None else odds
        keys = ("estimate", "low", "high")
        estimate, low, high = (one_target(found.arrays[key], target, 1) for key in keys)
        if not intercept:
            kept = [i for i, row in enumerate(rows) if not is_intercept(row, rows, names)]
            rows = tuple(rows[i] for i in kept)
            estimate, low, high = estimate[kept], low[kept], high[kept]
    else:
        estimate, rows, valid = one_target(E.coef_, target, 1), names, False
        if intercept:
            b = np.atleast_1d(E.intercept_)
            estimate = np.append(b[target] if len(b) > 1 else b[0], estimate)
            rows = ("intercept", *names)
        low = high = np.full(len(estimate), np.nan)
        reason = f"{type(E).__name__} gives no standard errors: estimates only"
    columns = (estimate, low, high)
    return _record(type(E).__name__, rows, columns, confidence, valid, reason, bool(odds))


def is_intercept(row: str, rows: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Whether a row is the intercept, of one rule or of one class of several.

    >>> is_intercept("b: intercept", ("b: intercept", "b: x0"), ("x0",))
    True
    """
    per_rule = len(rows) % (len(names) + 1) == 0
    return per_rule and (row == "intercept" or row.endswith(": intercept"))


def _record(
    what: str,
    rows: tuple[str, ...],
    columns: tuple[Array, ...],
    confidence: float,
    valid: bool,
    reason: str,
    odds: bool,
) -> Coefficients:
    estimate, low, high = columns
    kept = np.sort(np.argsort(-np.abs(estimate), kind="stable")[:MOST])
    title = f"{what}: {'odds ratios' if odds else 'coefficients'}"
    if len(kept) < len(estimate):
        title += f", the {MOST} largest of {len(estimate)}"
    zero = int((estimate == 0).sum())
    top = int(np.argmax(np.abs(estimate)))
    alt = f"{len(estimate)} coefficients of {what}; the largest is {rows[top]} at "
    alt += f"{estimate[top]:.4g}" + (f"; {zero} are exactly 0" if zero else "")
    alt += "." if valid else f". {reason[:1].upper()}{reason[1:]}."
    names = tuple(rows[j] for j in kept)
    if odds:  # beyond exp(+-700) the numbers end
        estimate, low, high = (np.exp(np.clip(v, -700, 700)) for v in columns)
        alt = f"{len(estimate)} odds ratios of {what}; farthest from 1 is {rows[top]} at "
        alt += f"{estimate[top]:.4g}" + ("." if valid else f". {reason[:1].upper()}{reason[1:]}.")
    limits = (estimate[kept], low[kept], high[kept])
    return Coefficients(alt, names, *limits, confidence, valid, reason, odds, title=title)
