r"""How much of each principal direction a fit keeps, against its spread.

    ridge                      d^2/(d^2 + lambda): half is kept at d = sqrt(lambda)
    principal components       1 for the first M directions, 0 for the others
    least squares              1

d are the singular values of the centred X (after scaling, where the model scales).
"""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, Model
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend


class Shrinkage(Panel, size=(7.2, 3.8)):
    """Directions, the widest first."""

    singular: Array  # (r,)
    factors: Array  # (r,)
    penalty: float | None  # lambda of a ridge fit
    df: float  # sum of the factors

    def _draw(self, ax: Axes) -> None:
        live = self.singular > 0
        top = float(self.singular.max(initial=0.0)) or 1.0
        low = float(self.singular[live].min()) if live.any() else top
        log = low < top / 20
        if self.penalty is not None:
            root = float(np.sqrt(self.penalty))
            ends = (min(low, root) / 1.5 if log else 0.0, max(top, min(root, 10 * top)) * 1.1)
            d = np.geomspace(*ends, 200) if log and ends[0] > 0 else np.linspace(*ends, 200)
            curve = d**2 / np.maximum(d**2 + self.penalty, 1e-300)
            ax.plot(d, curve, color=colour(5), lw=1.8, label="d²/(d² + λ)", zorder=1)
            if 0 < root <= ends[1]:
                ax.axvline(root, color=GREY, ls="--", lw=1, label=f"√λ = {root:.3g}: half is kept")
        ax.vlines(self.singular[live], 0, self.factors[live], color=colour(0), linewidth=1)
        x = self.singular[live]
        ax.scatter(x, self.factors[live], s=30, color=colour(0), zorder=3, label="directions of X")
        if log:
            from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

            ax.set_xscale("log")
            ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
            ax.xaxis.set_minor_formatter(NullFormatter())
        xlabel = "singular value d of the centred columns"
        ax.set(ylim=(-0.03, 1.05), xlabel=xlabel, ylabel="share that is kept")
        heading(ax, self.title)
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))


def shrinkage(E: Model, *, target: int = 0) -> Shrinkage:
    """The factors by which a fit shrinks y along the principal directions of X.

    ``E``: fitted Ridge, RidgeCV, PrincipalComponentRegression or LinearRegression; ``target``:
    which of several targets, where each has its own penalty.

    Examples
    --------
    >>> from pellucid import Ridge
    >>> from pellucid.plots import shrinkage
    >>> X = [[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    >>> shrinkage(Ridge(alpha=2.0).fit(X, [1.0, -1.0, 2.0, -2.0])).factors
    array([0.9, 0.5])
    """
    check_is_fitted(E)
    what = type(E).__name__
    if not hasattr(E, "singular_"):
        raise ValueError(f"shrinkage needs a model with singular_ (Ridge, RidgeCV), got {what}")
    d = np.asarray(E.singular_, dtype=np.float64)
    penalty: float | None = None
    if hasattr(E, "n_components_"):
        factors = (np.arange(len(d)) < E.n_components_).astype(np.float64)
        note = f"{E.n_components_} of {len(d)} directions are kept whole"
    elif hasattr(E, "alpha_"):
        alphas = np.atleast_1d(E.alpha_)
        if not 0 <= target < max(len(alphas), 1):
            raise ValueError(f"target must be a position below {len(alphas)}, got {target!r}")
        penalty = float(alphas[target])
        factors = np.divide(d**2, d**2 + penalty, out=np.zeros(len(d)), where=d > 0)
        note = f"λ = {penalty:.4g}"
    else:
        factors, note = (d > 0).astype(np.float64), "least squares shrinks nothing"
    df = float(factors.sum())
    alt = (
        f"Share kept of each of {len(d)} directions of X by {what} ({note}), against their "
        f"singular values; the shares add up to {df:.3g} degrees of freedom."
    )
    title = f"{what}, {note}: {df:.3g} degrees of freedom for {len(d)} directions"
    return Shrinkage(alt, d, factors, penalty, df, title=title)
