r"""Why a network does not learn: vanishing or exploding gradients, dead units; where it errs.

    ratio = rms delta of the first hidden layer / rms delta of the last hidden layer

below 1e-3 the gradients vanish on their way back, above 1e3 they explode. A relu unit that is 0 for
every row gets no gradient any more: it is dead.

References: Hochreiter (1991); Glorot & Bengio (2010).
"""

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.neural.network import Network

VANISHING, EXPLODING, MANY_DEAD = 1e-3, 1e3, 0.5
CURES = {
    "vanishing": "use relu, He or Glorot initial weights, batch normalisation or fewer layers",
    "exploding": "use smaller initial weights, batch normalisation, a smaller rate or fewer layers",
    "healthy": "nothing to do",
}


class GradientFlow(NamedTuple):
    """How large the gradients are in each layer, and what that means."""

    rms_deltas: Array  # of each dense layer
    ratio: float  # first over last hidden layer
    dead_fraction: Array  # of the units of each hidden layer
    verdict: str  # healthy, vanishing or exploding

    @property
    def advice(self) -> str:
        """What to do about it."""
        if self.verdict == "healthy" and (self.dead_fraction > MANY_DEAD).any():
            return "many units are dead: standardise the inputs, a smaller rate, leaky_relu"
        return CURES[self.verdict]


def gradient_flow(network: Network, X: ArrayLike, y: ArrayLike) -> GradientFlow:
    """The sizes of the gradients that come back through ``network`` on the rows ``X``, ``y``.

    Parameters
    ----------
    network : Network
    X, y : arrays

    Examples
    --------
    >>> from pellucid.neural import Dense, Network
    >>> deep = Network([*[Dense(5, "logistic") for _ in range(12)], Dense(1, "identity")],
    ...                n_inputs=2, random_state=0)
    >>> flow = gradient_flow(deep, [[0.0, 1.0], [1.0, 0.0]], [0.0, 1.0])
    >>> flow.verdict, flow.advice.split(",")[0]
    ('vanishing', 'use relu')
    """
    deltas = network.gradients(X, y).deltas
    rms = np.array([float(np.sqrt((d**2).mean())) for d in deltas])
    hidden = rms[:-1]
    ratio = 1.0
    if len(hidden) > 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = float(hidden[0] / hidden[-1])
        ratio = 0.0 if np.isnan(ratio) else ratio  # no gradient anywhere
    dead = np.array([float((~(d != 0).any(axis=0)).mean()) for d in deltas[:-1]])
    verdict = "vanishing" if ratio < VANISHING else "exploding" if ratio > EXPLODING else "healthy"
    return GradientFlow(rms, ratio, dead, verdict)


def next_error(model: BaseEstimator, X: ArrayLike, y: ArrayLike, *, start: int = 0) -> int | None:
    """The index of the next row of ``X`` from ``start`` on where ``model`` does not predict ``y``,
    or None.

    >>> from pellucid.naive_bayes import GaussianNB
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [0.1]], [0, 0, 1, 1, 1]
    >>> next_error(GaussianNB().fit(X, y), X, y)
    4
    """
    truth = np.asarray(y)
    if start < 0:
        raise ValueError(f"start must be >= 0, got {start!r}")
    if start >= len(truth):
        return None
    wrong = np.asarray(model.predict(np.asarray(X)[start:])) != truth[start:]
    wrong = wrong.reshape(len(wrong), -1).any(axis=1)
    return start + int(np.argmax(wrong)) if wrong.any() else None
