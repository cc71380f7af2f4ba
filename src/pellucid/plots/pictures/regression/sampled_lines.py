"""Lines drawn from the posterior: what the data leave possible."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Model, Seed
from pellucid.plots.panels.inputs import features_of, predicted, read_table, response, with_note
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.posteriors import lines_of, posterior_of
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, legend


class SampledLines(Panel):
    grid: Array  # (g,)
    lines: Array  # (n, g)
    mean: Array  # (g,)
    points: Array  # (rows, 2)
    names: tuple[str, str]

    def _draw(self, ax: Axes) -> None:
        for i, line in enumerate(self.lines):
            label = f"{len(self.lines)} draws" if i == 0 else None
            ax.plot(self.grid, line, color=colour(0), lw=0.8, alpha=0.5, label=label)
        ax.plot(self.grid, self.mean, color=colour(1), lw=2.2, label="posterior mean")
        ax.plot(*self.points.T, "o", color=GREY, ms=3.5)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title=self.title)
        legend(ax)


def sampled_lines(
    E: Model,
    X: ArrayLike,
    y: ArrayLike,
    n: int = 20,
    *,
    column: Any = None,
    widen: float = 0.2,
    random_state: Seed = 0,
) -> SampledLines:
    """Lines (curves, behind a basis) sampled from the posterior of a Bayesian linear model.

    ``E``: fitted BayesianLinearRegression, BayesianRidge or ARDRegression, or a pipeline ending in
    one; ``X``, ``y``: the data; ``random_state``: seed of the random draws, 0 by default.

    Parameters
    ----------
    n : int, default=20
        Number of lines.
    column : name or number, optional
        The input to move where there are several; the others stay at their median.
    widen : float, default=0.2
        How far beyond the data to look, as a share of their range.

    Examples
    --------
    >>> from pellucid import BayesianLinearRegression
    >>> x, y = [[1.0], [2.0], [3.0], [4.0], [4.5]], [3.0, 5.0, 7.0, 9.0, 10.0]
    >>> model = BayesianLinearRegression(prior_covariance=1e6, noise_variance=1.0).fit(x, y)
    >>> picture = sampled_lines(model, x, y, 5)
    >>> picture.lines.shape, picture.mean[[0, -1]].round(3)
    ((5, 201), array([ 1.6, 11.4]))
    """
    check.whole(n=n)
    check.non_negative(widen=widen)
    post = posterior_of(E)
    table = read_table(X, E)
    target, name = response(y, len(table.X))
    sweep = table.sweep(column, widen=widen)
    rows = table.like(sweep.rows)
    Z = features_of(E, rows)
    intercept = post.names[0] == "intercept" and len(post.names) == Z.shape[1] + 1
    lines = lines_of(post.draw(n, random_state), Z, intercept=intercept)
    kept = thinned(len(target))
    mean = predicted(E, rows)
    spread = lines.std(axis=0)
    alt = (
        f"{n} lines of {name} along {sweep.name} from the posterior; their standard deviation is "
        f"{spread.min():.4g} at its least and {spread.max():.4g} at its most."
    )
    points = np.column_stack([table.X[kept, sweep.column], target[kept]])
    title = with_note("What the posterior thinks possible", sweep.note)
    return SampledLines(alt, sweep.grid, lines, mean, points, (sweep.name, name), title=title)
