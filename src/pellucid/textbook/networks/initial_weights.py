r"""Initial weights: random numbers of the right size, so that signals neither die nor explode.

Given       a layer z = xW with n_in inputs and n_out outputs
Solve       the variance v of independent weights for which var z = var x
Step        var z = n_in v E[x^2], so v = 1 / n_in for units that keep the size (tanh near 0), and
            2 / n_in for relu, which throws half of the square away (He). Backwards the same with
            n_out; 2 / (n_in + n_out) is the compromise (Glorot). Equal weights would stay equal:
            all units of a layer would learn the same.
Cost        n_in n_out draws.
The fast version also draws uniformly, and corrects for leaky units.
"""

import numpy as np


def initial_weights(n_in: int, n_out: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Normal weights (n_in, n_out) for ``kind`` glorot or he."""
    v = 2 / (n_in + n_out) if kind == "glorot" else 2 / n_in
    return rng.normal(0, np.sqrt(v), size=(n_in, n_out))
