"""The posterior of two coefficients: ellipses that hold a given probability, and draws."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Columns, Model, Seed
from pellucid.plots.panels.drawing import ellipse
from pellucid.plots.panels.inputs import two_columns
from pellucid.plots.panels.posteriors import parameter_label, posterior_of
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, legend


class CoefficientPosterior(Panel, size=(5.6, 4.4)):
    mean: Array  # (2,)
    covariance: Array  # (2, 2), the scale matrix of a Student-t
    levels: tuple[float, ...]
    ellipses: tuple[Array, ...]  # each (k, 2)
    draws: Array  # (n, 2)
    inside: tuple[float, ...]  # share of the draws inside each
    correlation: float
    names: tuple[str, str]

    def _draw(self, ax: Axes) -> None:
        ax.plot(*self.draws.T, ".", color=colour(5), ms=4, alpha=0.7, label="draws")
        styles = ("-", "--", ":")
        for i, (level, curve) in enumerate(zip(self.levels, self.ellipses, strict=True)):
            label = f"{level:.0%} ({self.inside[i]:.0%} of the draws)"
            ax.plot(*curve.T, styles[i % 3], color=colour(0), lw=1.8, label=label)
        look: Any = {"ms": 9, "color": colour(1), "mec": "white", "mew": 0.5}
        ax.plot(*self.mean, "P", label="posterior mean", **look)
        for value, line in zip((0, 0), (ax.axvline, ax.axhline), strict=True):
            line(value, color=GREY, lw=0.8)
        points = np.vstack([*self.ellipses, self.draws])
        low, high = points.min(axis=0), points.max(axis=0)
        room = 0.06 * np.where(high > low, high - low, 1.0)
        ax.set(xlim=(low[0] - room[0], high[0] + room[0]))
        ax.set(ylim=(low[1] - room[1], high[1] + room[1]))
        ax.set(xlabel=parameter_label(self.names[0]), ylabel=parameter_label(self.names[1]))
        ax.set_title(f"Posterior, correlation {self.correlation:.2f}")
        legend(ax)


def coefficient_posterior(
    E: Model,
    columns: Columns | None = None,
    *,
    levels: Any = (0.5, 0.95),
    draws: int = 300,
    random_state: Seed = 0,
) -> CoefficientPosterior:
    """Posterior ellipses of two coefficients, with draws.

    ``E``: fitted BayesianLinearRegression, BayesianRidge or ARDRegression, or a pipeline ending in
    one; ``levels``: probabilities of the ellipses; ``draws``: how many draws are shown, 300 by
    default; ``random_state``: seed of the random draws, 0 by default.

    Parameters
    ----------
    columns : two names or numbers, optional
        Of the parameters, "intercept" (number 0 where there is one) among them; default: the
        first two.

    Examples
    --------
    >>> from pellucid import BayesianLinearRegression
    >>> x, y = [[1.0], [2.0], [3.0], [4.0], [4.5]], [3.0, 5.0, 7.0, 9.0, 10.0]
    >>> model = BayesianLinearRegression(prior_covariance=1e6, noise_variance=1.0).fit(x, y)
    >>> picture = coefficient_posterior(model)
    >>> picture.names, picture.covariance.round(4)
    (('intercept', 'x0'), array([[ 1.2256, -0.3537],
           [-0.3537,  0.122 ]]))
    """
    check.whole(draws=draws)
    levels = tuple(float(v) for v in np.atleast_1d(levels))
    for level in levels:
        check.fraction(levels=level)
    post = posterior_of(E)
    if len(post.names) < 2:
        raise ValueError("coefficient_posterior needs two parameters, the fit has one")
    j, k = two_columns((0, 1) if columns is None else columns, post.names)
    mean, S = post.mean[[j, k]], post.scale[np.ix_([j, k], [j, k])]
    points = post.draw(draws, random_state)[:, [j, k]]
    curves = tuple(ellipse(mean, S, post.radius(level)) for level in levels)
    size = np.sqrt(np.outer(np.diag(S), np.diag(S)))
    correlation = float(S[0, 1] / size[0, 1]) if size[0, 1] > 0 else 0.0
    distance = np.einsum("ni,ij,nj->n", points - mean, np.linalg.pinv(S), points - mean)
    inside = tuple(float((distance <= post.radius(v) ** 2).mean()) for v in levels)
    names = (post.names[j], post.names[k])
    alt = (
        f"Posterior of {names[0]} and {names[1]}: mean ({mean[0]:.4g}, {mean[1]:.4g}), "
        f"{'standard deviations' if np.isinf(post.freedom) else 'scales'} {np.sqrt(S[0, 0]):.4g} "
        f"and {np.sqrt(S[1, 1]):.4g}, correlation {correlation:.2f}."
    )
    return CoefficientPosterior(alt, mean, S, levels, curves, points, inside, correlation, names)
