"""Bias, variance and mean squared error of an estimator against the size of the sample."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend, marker


class EstimatorError(Panel, size=(6.2, 4.2)):
    """The parts of the error at every size, and the Cramer-Rao bound where it is known."""

    n: IntArray  # (m,)
    squared_bias: Array
    variance: Array
    mse: Array
    bound: Array | None

    def _draw(self, ax: Axes) -> None:
        rows = (
            ("bias²", self.squared_bias, "-."),
            ("variance", self.variance, "--"),
            ("mean squared error", self.mse, "-"),
        )
        for k, (name, values, line) in enumerate(rows):
            shown = np.where(values > 0, values, np.nan)
            ax.plot(self.n, shown, color=colour(k), marker=marker(k), ls=line, lw=1.7, label=name)
        if self.bound is not None:
            ax.plot(self.n, self.bound, color="black", lw=1.3, ls=":", label="Cramér-Rao bound")
        ax.set(xscale="log", yscale="log", xlabel="size of the sample", ylabel="squared error")
        heading(ax, "Error of the estimator", self.note)
        legend(ax)


def estimator_error(study: Any) -> EstimatorError:
    """Error of an estimator by sample size.

    ``study``: EstimatorStudy of ``pellucid.inference.study_estimator``. With ``bound=`` the
    Cramer-Rao line is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.inference import Normal, study_estimator
    >>> from pellucid.plots import estimator_error
    >>> study = study_estimator(np.mean, Normal(0.0, 2.0), 0.0, n=(4, 16), bound="mean",
    ...                         random_state=0)
    >>> estimator_error(study).bound
    array([1.  , 0.25])
    """
    if not hasattr(study, "mse") or not hasattr(study, "unbiased"):
        raise TypeError(f"study must be the result of study_estimator, got {type(study).__name__}")
    bound = None
    if study.efficiency is not None:
        bound = np.asarray(study.efficiency * study.variance)
    parts = ["no bias found" if study.unbiased.all() else "biased"]
    if study.consistent is not None:
        parts.append("consistent" if study.consistent else "not consistent")
    note = ", ".join(parts)
    alt = (
        f"Bias, variance and mean squared error of an estimator for samples of {study.n[0]} to "
        f"{study.n[-1]}: {note}; the error falls from {study.mse[0]:.4g} to {study.mse[-1]:.4g}."
    )
    bias2 = np.asarray(study.bias**2)
    return EstimatorError(alt, study.n, bias2, study.variance, study.mse, bound, note=note)
