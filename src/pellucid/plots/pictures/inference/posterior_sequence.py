"""From the prior to the posterior, batch by batch: each posterior is the next prior."""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Columns, Model, Seed
from pellucid.linear import BayesianLinearRegression, InverseGamma
from pellucid.plots.panels import posteriors
from pellucid.plots.panels.drawing import ellipse
from pellucid.plots.panels.inputs import read_table, response, two_columns
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.style import GREY, Axes, Picture, colour, new_figure, quiet

DRAWS = 8


class Stage(NamedTuple):
    """What is believed after some rows."""

    rows: int  # seen so far
    mean: Array  # (2,)
    covariance: Array  # (2, 2), the scale matrix of a Student-t
    curve: Array  # (k, 2) the ellipse that holds 95 %
    lines: Array  # (draws, g)


class PosteriorSequence(Picture):
    """One stage per batch, the prior first where it is proper."""

    stages: tuple[Stage, ...]
    grid: Array  # (g,)
    x: Array  # (n,) the input of the lines, in the order of the rows
    y: Array  # (n,)
    names: tuple[str, str]  # of the two parameters
    axes_names: tuple[str, str]  # of the input and the target

    def plot(self, ax: Axes | None = None) -> Any:
        """A figure: above the ellipses, below lines drawn from them with the rows seen so far."""
        if ax is not None:
            raise ValueError("posterior_sequence draws panels of its own; call plot() alone")
        k = len(self.stages)
        figure = new_figure((2.9 * max(k, 2), 5.4))
        grid = figure.subplots(2, k, squeeze=False, sharey="row", sharex="row")
        spread = np.vstack([stage.curve for stage in self.stages])
        low, high = self.y.min(), self.y.max()
        room = 0.5 * (high - low or 1.0)
        for i, stage in enumerate(self.stages):
            top, bottom = quiet(grid[0, i]), quiet(grid[1, i])
            top.fill(*stage.curve.T, color=colour(0), alpha=0.25, lw=0)
            top.plot(*stage.curve.T, color=colour(0), lw=1.6)
            top.plot(*stage.mean, "P", ms=8, color=colour(1), mec="white", mew=0.5)
            name = "prior" if stage.rows == 0 else f"after {stage.rows} row{'s'[: stage.rows > 1]}"
            top.set(title=name, xlabel=posteriors.parameter_label(self.names[0]))
            bottom.plot(self.grid, stage.lines.T, color=colour(0), lw=0.8, alpha=0.7)
            kept = thinned(stage.rows)
            bottom.plot(self.x[kept], self.y[kept], "o", ms=4, color=GREY)
            bottom.set(xlabel=self.axes_names[0], ylim=(low - room, high + room))
        pad = 0.05 * np.maximum(np.ptp(spread, axis=0), 1e-12)
        grid[0, 0].set(xlim=(spread[:, 0].min() - pad[0], spread[:, 0].max() + pad[0]))
        grid[0, 0].set(ylim=(spread[:, 1].min() - pad[1], spread[:, 1].max() + pad[1]))
        grid[0, 0].set_ylabel(posteriors.parameter_label(self.names[1]))
        grid[1, 0].set_ylabel(self.axes_names[1])
        figure.suptitle(self.note)
        return figure


def posterior_sequence(
    E: Model,
    X: ArrayLike,
    y: ArrayLike,
    batches: Any = 3,
    *,
    columns: Columns | None = None,
    column: Any = None,
    random_state: Seed = 0,
) -> PosteriorSequence:
    """Prior to posterior, batch by batch, through ``partial_fit``.

    ``E``: BayesianLinearRegression; a clone learns, E is left alone; ``X``, ``y``: the data, in the
    order in which they arrive.

    Parameters
    ----------
    batches : int or sequence of int, default=3
        Number of batches of about equal size, or the sizes of the batches.
    columns : two names or numbers, optional
        Parameters of the ellipses ("intercept" is one), the first two by default.
    column : name or number, optional
        The input of the lines where there are several; the others stay at their median.
    random_state : None, int, RandomState or Generator, default=0
        Of the lines.

    Examples
    --------
    >>> from pellucid import BayesianLinearRegression
    >>> x, y = [[1.0], [2.0], [3.0], [4.0], [4.5]], [3.0, 5.0, 7.0, 9.0, 10.0]
    >>> model = BayesianLinearRegression(prior_covariance=4.0, noise_variance=1.0)
    >>> picture = posterior_sequence(model, x, y, [1, 4])
    >>> [(stage.rows, stage.mean.round(3)) for stage in picture.stages]
    [(0, array([0., 0.])), (1, array([1.333, 1.333])), (5, array([0.902, 2.018]))]
    """
    if not isinstance(E, BayesianLinearRegression):
        raise ValueError(
            f"posterior_sequence needs a BayesianLinearRegression, got {type(E).__name__}"
        )
    table = read_table(X)
    target, name = response(y, len(table.X))
    sizes = batch_sizes(batches, len(target))
    names = ("intercept", *table.names) if E.fit_intercept else table.names
    if len(names) < 2:
        raise ValueError("posterior_sequence needs two parameters, the model has one")
    pair = list(two_columns((0, 1) if columns is None else columns, names))
    sweep = table.sweep(column, widen=0.2)
    model = clone(E)
    start = prior_of(E, names)
    beliefs = [] if start is None else [(0, start)]
    seen = 0
    for size in sizes:
        rows = slice(seen, seen + size)
        model.partial_fit(table.like(table.X[rows]), target[rows])
        seen += size
        beliefs.append((seen, posteriors.posterior_of(model)))
    stages = tuple(
        Stage(
            k,
            b.mean[pair],
            b.scale[np.ix_(pair, pair)],
            ellipse(b.mean[pair], b.scale[np.ix_(pair, pair)], b.radius(0.95)),
            posteriors.lines_of(
                b.draw(DRAWS, random_state), sweep.rows, intercept=bool(E.fit_intercept)
            ),
        )
        for k, b in beliefs
    )
    note = "95 % of the belief above, lines drawn from it below"
    note += "" if start is not None else " (the prior has no density to draw)"
    note += f"\n({sweep.note})" if sweep.note else ""
    sds = [f"{s.rows} rows: sd {np.sqrt(s.covariance[1, 1]):.3g}" for s in stages]
    alt = (
        f"Belief about {names[pair[0]]} and {names[pair[1]]}; of the latter after {', '.join(sds)}."
    )
    x, axes_names = table.X[:, sweep.column], (sweep.name, name)
    return PosteriorSequence(
        alt, stages, sweep.grid, x, target, (names[pair[0]], names[pair[1]]), axes_names, note=note
    )


def batch_sizes(batches: Any, n: int) -> list[int]:
    """The sizes of the batches, which add up to at most n.

    >>> batch_sizes(3, 10), batch_sizes([1, 4], 10)
    ([4, 3, 3], [1, 4])
    """
    if np.ndim(batches) == 0:
        check.whole(batches=batches)
        if batches > n:
            raise ValueError(f"{n} rows do not make {batches} batches")
        return [len(part) for part in np.array_split(np.arange(n), int(batches))]
    sizes = list(batches)
    for size in sizes:
        check.whole(batches=size)
    if not sizes or sum(sizes) > n:
        raise ValueError(f"the sizes of the batches must add up to at most {n}, got {sizes}")
    return [int(size) for size in sizes]


def prior_of(E: Model, names: tuple[str, ...]) -> posteriors.Posterior | None:
    """The prior where it is a proper distribution that is given, else None."""
    V = E.prior_covariance
    if isinstance(V, str) or not (isinstance(E.noise_variance, Real | InverseGamma)):
        return None
    V = np.asarray(V, dtype=np.float64)
    q = len(names)
    V = np.diag(np.broadcast_to(V, q)) if V.ndim < 2 else V
    if not np.isfinite(V).all():
        return None
    mean = np.broadcast_to(np.asarray(E.prior_mean, dtype=np.float64), q).copy()
    noise = E.noise_variance
    if isinstance(noise, InverseGamma):
        return posteriors.make_posterior(names, mean, V * noise.b / noise.a, 2 * noise.a)
    return posteriors.make_posterior(names, mean, V, np.inf)
