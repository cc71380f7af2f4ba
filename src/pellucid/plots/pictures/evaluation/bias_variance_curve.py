"""Bias², variance, noise and total error against complexity; the least total marked."""

from numbers import Real
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.evaluation.validation.bias_variance_parts import BiasVariance
from pellucid.plots.panels.marks import spot
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend


class BiasVarianceCurve(Panel, size=(6.2, 4.4)):
    parameter: str
    values: tuple[Any, ...]
    bias2: Array  # (m,)
    variance: Array  # (m,)
    noise: Any  # (m,) or None
    total: Array  # (m,)
    best: int  # place of the least total
    loss: str
    notes: tuple[str, ...]

    def _draw(self, ax: Axes) -> None:
        numeric = all(isinstance(v, Real) for v in self.values)
        x = np.array(self.values, dtype=float) if numeric else np.arange(len(self.values))
        if numeric and x.min() > 0 and x.max() / x.min() >= 100:
            ax.set_xscale("log")
        elif not numeric or len(x) <= 12:
            ax.set_xticks(x, [str(v) for v in self.values])
        word = "bias²" if self.loss == "squared" else "bias"
        lines = [(word, self.bias2, "s--"), ("variance", self.variance, "^-.")]
        if self.noise is not None:
            lines.append(("noise", self.noise, "d:"))
        for i, (label, values, style) in enumerate(lines):
            ax.plot(x, values, style, color=colour(i), lw=1.8, ms=5, label=label)
        ax.plot(x, self.total, "o-", color="black", lw=2.2, ms=5, label="total")
        at = x[self.best]
        y = self.total[self.best]
        spot(ax, at, y, "*", colour(4), size=16, ls="none", zorder=5, label="least total")
        error = f"{self.loss.replace('_', '-')} error"
        ax.set(xlabel=self.parameter, ylabel=error, ylim=self._ends())
        title = f"least total {self.total[self.best]:.4g} at {self.values[self.best]}"
        heading(ax, title, "; ".join(self.notes))
        legend(ax)

    def _ends(self) -> tuple[float, float]:
        """From 0 to well above the least total: an exploding variance may leave the picture."""
        top = min(float(self.total.max()), 8 * float(self.total[self.best]) or 1.0)
        return -0.03 * top, 1.08 * top or 1.0


def bias_variance_curve(
    results: Any, *, values: Any = None, parameter: str = "complexity"
) -> BiasVarianceCurve:
    """The parts of the expected error of several models, simplest first.

    Parameters
    ----------
    results : dictionary of value -> BiasVariance, or list of them with ``values``
        Of ``evaluation.bias_variance``, all with the same loss.
    values : sequence, optional
        The value of the parameter of every result of a list; default 1, 2, ...
    parameter : str, default="complexity"
        Name of the horizontal axis.

    Examples
    --------
    >>> from pellucid.evaluation import decompose_squared
    >>> line = decompose_squared([[1.0, 2.0], [1.2, 2.2]], truth=[2.0, 1.0])
    >>> cubic = decompose_squared([[1.8, 1.2], [2.3, 0.9]], truth=[2.0, 1.0])
    >>> picture = bias_variance_curve({1: line, 3: cubic}, parameter="degree")
    >>> picture.values[picture.best], picture.bias2.round(4)
    (3, array([1.01  , 0.0025]))
    """
    if isinstance(results, dict):
        if values is not None:
            raise ValueError("values are the keys of the dictionary: pass one of them")
        values, results = list(results), list(results.values())
    results = list(results)
    values = list(range(1, len(results) + 1)) if values is None else list(values)
    if not results or len(values) != len(results):
        raise ValueError(f"one value per result is needed, got {len(values)} and {len(results)}")
    wrong = [r for r in results if not isinstance(r, BiasVariance)]
    if wrong:
        raise ValueError(f"results must be BiasVariance records, got {type(wrong[0]).__name__}")
    if len({r.loss for r in results}) > 1:
        raise ValueError("results must share one loss, got squared and zero_one")
    noise = [r.noise for r in results]
    known = all(part is not None for part in noise)
    total = np.array([r.total for r in results])
    best = int(np.argmin(total))
    bias2, variance = (np.array([getattr(r, k) for r in results]) for k in ("bias2", "variance"))
    notes = tuple(dict.fromkeys(note for r in results for note in r.notes))
    alt = (
        f"Parts of the {results[0].loss.replace('_', '-')} error against {parameter} from "
        f"{values[0]} to {values[-1]}: bias goes from {bias2[0]:.3g} to {bias2[-1]:.3g}, variance "
        f"from {variance[0]:.3g} to {variance[-1]:.3g}; the total is least at {values[best]} "
        f"({total[best]:.3g})."
    )
    shown_noise = np.array(noise, dtype=np.float64) if known else None
    loss = results[0].loss
    return BiasVarianceCurve(
        alt, parameter, tuple(values), bias2, variance, shown_noise, total, best, loss, notes
    )
