"""What a ridge path costs and gains: RSS, leave-one-out and gcv errors, degrees of freedom."""

from pathlib import Path
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.inputs import one_target
from pellucid.plots.panels.style import Picture, colour, heading, legend, marker, panels, quiet


class RidgeCurves(Picture):
    """One number per lambda, from the strongest penalty to the weakest."""

    lambdas: Array  # (A,) falling
    rss: Array
    loocv: Array
    gcv: Array
    df: Array
    best_loocv: float  # lambda
    best_gcv: float

    def plot(self, ax: Any = None) -> Any:
        """Draw on a new figure, or on three given axes; returns the figure."""
        three = panels(3, size=(3.8, 3.1)) if ax is None else [quiet(a) for a in ax]
        if len(three) != 3:
            raise ValueError(f"the picture needs three axes, got {len(three)}")
        left, middle, right = three
        left.plot(self.lambdas, self.rss, color=colour(0), lw=2)
        heading(left, "RSS rises with the penalty")
        left.set(ylabel="residual sum of squares")
        curves = (("leave-one-out", self.loocv, self.best_loocv), ("gcv", self.gcv, self.best_gcv))
        for i, (name, values, best) in enumerate(curves):
            middle.plot(self.lambdas, values, color=colour(i), lw=2, label=name, ls=("-", "--")[i])
            at = int(np.argmin(values))
            ring = {"marker": marker(i), "markersize": (11, 7)[i], "markeredgewidth": 2}
            y, label = values[at], f"least at λ = {best:.3g}"
            middle.plot(best, y, color=colour(i), fillstyle="none", ls="none", label=label, **ring)
        heading(middle, "Error on rows left out")
        middle.set(ylabel="mean squared error")
        legend(middle)
        right.plot(self.lambdas, self.df, color=colour(2), lw=2)
        heading(right, "Degrees of freedom fall")
        right.set(ylabel="tr H")
        for a in three:
            a.set(xlabel="λ (penalty)")
            if self.lambdas.min() > 0:
                a.set_xscale("log")
        return left.figure


def ridge_curves(path: Path, *, target: int = 0) -> RidgeCurves:
    """RSS, leave-one-out, gcv and degrees of freedom against lambda.

    ``path``: what ``pellucid.linear.ridge_path(X, y)`` returns; ``target``: which of several
    targets.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.linear import ridge_path
    >>> from pellucid.plots import ridge_curves
    >>> x = np.linspace(1, 5, 15)[:, None]
    >>> picture = ridge_curves(ridge_path(x, np.exp(x[:, 0]), alphas=[10.0, 1.0, 0.1, 0.01]))
    >>> float(picture.best_loocv), picture.df.round(2)
    (0.1, array([1.7 , 1.96, 2.  , 2.  ]))
    """
    fields = ("alphas", "rss", "loocv", "gcv", "df")
    if not all(hasattr(path, name) for name in fields):
        raise ValueError(
            f"ridge_curves needs what ridge_path returns, got {type(path).__name__}; for example "
            "ridge_curves(ridge_path(X, y))"
        )
    alphas, *rest = (one_target(getattr(path, name), target, 1) for name in fields)
    order = np.argsort(-alphas, kind="stable")
    alphas, rss, loocv, gcv, df = (values[order] for values in (alphas, *rest))
    loo, gen = (float(alphas[np.argmin(values)]) for values in (loocv, gcv))
    alt = (
        f"Three panels over {len(alphas)} penalties: RSS from {rss[-1]:.4g} to {rss[0]:.4g}; "
        f"leave-one-out error least at lambda {loo:.3g}, gcv at {gen:.3g}; degrees of freedom from "
        f"{df[-1]:.3g} down to {df[0]:.3g}."
    )
    return RidgeCurves(alt, alphas, rss, loocv, gcv, df, loo, gen)
