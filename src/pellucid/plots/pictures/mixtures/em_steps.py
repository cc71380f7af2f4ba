"""EM at chosen rounds, from the start on, against the true density where it is known."""

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Model
from pellucid.plots.panels.inputs import read_table
from pellucid.plots.panels.marks import words
from pellucid.plots.panels.mixtures import is_mixture
from pellucid.plots.panels.planes import view_of
from pellucid.plots.panels.replay import chosen_rounds, em_rounds
from pellucid.plots.panels.steps import Steps
from pellucid.plots.pictures.mixtures.mixture_contours import MixtureContours, mixture_contours
from pellucid.plots.pictures.mixtures.mixture_density import MixtureDensity, mixture_density


class EmSteps(Steps):
    """One picture per round, with the log-likelihoods."""

    rounds: IntArray  # (m,)
    log_likelihood: Array  # (m,) of all rows


def em_steps(
    E: Model, X: ArrayLike, at: Any = (0, 3, 6), *, truth: Any = None, columns: Any = None
) -> EmSteps:
    """The mixture at chosen rounds of its fit: 0 is the start, -1 the last.

    The rounds are seen by fitting a clone again, so the mixture needs a fixed ``random_state``.

    ``E``: fitted mixture; ``X``: the rows it was fitted on; ``columns``: the one or two columns to
    show, names or positions. ``at``: rounds; those beyond the end of the fit are drawn as the last.
    ``truth``: mixture; the one that the rows came from: its density (one column) or its ellipses
    (dashed).

    Examples
    --------
    >>> from pellucid import GaussianMixture
    >>> from pellucid.plots import em_steps
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> model = GaussianMixture(2, init_params="random", random_state=0, tol=1e-9).fit(X)
    >>> picture = em_steps(model, X, at=(0, 1, -1))
    >>> picture.rounds[:2], bool((np.diff(picture.log_likelihood) > 0).all())
    (array([0, 1]), True)
    """
    table = read_table(X, is_mixture(E))
    models = em_rounds(E, table.given)
    last = len(models) - 1
    chosen = chosen_rounds(at, last)
    view = view_of(table.X, table.names, columns)
    pictures, titles, values = [], [], []
    for i in chosen:
        value = float(models[i].log_likelihood(table.given))
        name = "start" if i == 0 else f"round {i}" + (" (last)" if i == last else "")
        titles.append(f"{name}: log-likelihood {value:.5g}")
        values.append(value)
        pictures.append(_one(models[i], table, view, columns, titles[-1], truth))
    alt = f"The fit of {type(E).__name__} on {len(table.X)} rows: {words(titles)}."
    return EmSteps(alt, tuple(pictures), tuple(titles), np.array(chosen), np.array(values))


def _one(model: Model, table: Any, view: Any, columns: Any, title: str, truth: Any) -> Any:
    picture: MixtureDensity | MixtureContours
    if len(view.names) == 1:
        column = table.names.index(view.names[0])
        picture = mixture_density(model, table.given, column=column, truth=truth)
    else:
        picture = mixture_contours(model, table.given, columns=columns, truth=truth)
    return replace(picture, title=title)
