r"""Networks of linear-Gaussian variables.

Model        x_i | pa(i) ~ N(b_i + w_i . x_pa(i), v_i): together x ~ N(m, S) with
             m_i = b_i + w_i . m_pa(i),   S = (I - W)^-1 diag(v) (I - W)^-T
Query        x_q | x_e = N(m_q + S_qe S_ee^-1 (x_e - m_e), S_qq - S_qe S_ee^-1 S_eq)
Learning     least squares of each variable on its parents, v = residual sum of squares / n

References: Shachter & Kenley (1989); Koller & Friedman (2009), section 7.2.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from pellucid.core.arrays.typing import Array, Rng
from pellucid.graphical.network.names import Name, Names, names_of
from pellucid.graphical.network.tables import LinearGaussianCPD

LOG_2PI = float(np.log(2 * np.pi))


class GaussianAnswer(NamedTuple):
    """A normal distribution over named variables: names, mean, covariance.

    >>> GaussianAnswer(("x",), np.array([2.0]), np.array([[4.0]])).variance
    array([4.])
    """

    names: tuple[Name, ...]
    mean: Array
    covariance: Array

    @property
    def variance(self) -> Array:
        return np.diag(self.covariance)


def joint_normal(cpds: Mapping[Name, LinearGaussianCPD], order: Sequence[Name]) -> GaussianAnswer:
    """Mean and covariance of all variables, in the order given (parents first)."""
    place = {name: i for i, name in enumerate(order)}
    d = len(place)
    W, b, v = np.zeros((d, d)), np.empty(d), np.empty(d)
    for name, i in place.items():
        cpd = cpds[name]
        b[i], v[i] = cpd.intercept, cpd.variance
        W[i, [place[p] for p in cpd.parents]] = cpd.coefficients
    L = np.eye(d) - W  # lower triangular with ones
    mean = solve_triangular(L, b, lower=True, unit_diagonal=True)
    root = solve_triangular(L, np.diag(np.sqrt(v)), lower=True, unit_diagonal=True)
    return GaussianAnswer(tuple(order), mean, root @ root.T)


def condition_normal(
    joint: GaussianAnswer, variables: Names, evidence: Mapping[Name, float] | None
) -> GaussianAnswer:
    """The distribution of some variables given values of others."""
    known = {name: i for i, name in enumerate(joint.names)}
    names, seen = names_of(variables, known), dict(evidence or {})
    names_of(tuple(seen), known)
    for name, value in seen.items():
        if name in names:
            raise ValueError(f"variable {name!r} is asked for and observed at the same time")
        if not np.isfinite(value):
            raise ValueError(f"the evidence of {name!r} must be a finite number, got {value!r}")
    q, e = [known[name] for name in names], [known[name] for name in seen]
    mean, S = joint.mean[q], joint.covariance[np.ix_(q, q)]
    if e:
        factor = cho_factor(joint.covariance[np.ix_(e, e)])
        cross = joint.covariance[np.ix_(e, q)]
        gain = cho_solve(factor, cross)
        mean = mean + gain.T @ (np.array(list(seen.values()), dtype=np.float64) - joint.mean[e])
        S = S - cross.T @ gain
    return GaussianAnswer(names, mean, (S + S.T) / 2)


def log_densities_normal(
    cpds: Mapping[Name, LinearGaussianCPD], columns: Mapping[Name, Array]
) -> dict[Name, Array]:
    """log p(x_i | parents) of every row, by variable."""
    found = {}
    for name, cpd in cpds.items():
        gap = columns[name] - cpd.intercept
        for c, parent in zip(cpd.coefficients, cpd.parents, strict=True):
            gap = gap - c * columns[parent]
        found[name] = -0.5 * (LOG_2PI + np.log(cpd.variance) + gap * gap / cpd.variance)
    return found


def fit_gaussian(
    columns: Mapping[Name, Array], parents: Mapping[Name, Sequence[Name]], w: Array
) -> dict[Name, LinearGaussianCPD]:
    """Weighted least squares of each variable on its parents."""
    total = w.sum()
    found = {}
    for name, some in parents.items():
        y = columns[name]
        X = np.column_stack([columns[p] for p in some]) if some else np.empty((len(y), 0))
        x_mean, y_mean = w @ X / total, float(w @ y / total)
        root = np.sqrt(w)
        A, b = root[:, None] * (X - x_mean), root * (y - y_mean)
        slopes = np.linalg.lstsq(A, b, rcond=None)[0] if some else np.empty(0)
        residual = b - A @ slopes
        variance = float(residual @ residual / total)
        if not variance > 1e-14 * max(float(b @ b / total), np.finfo(float).tiny):
            raise ValueError(
                f"variable {name!r} is constant or an exact function of its parents {tuple(some)}: "
                "its variance would be 0; drop it, or a parent"
            )
        intercept = y_mean - float(x_mean @ slopes)
        found[name] = LinearGaussianCPD(name, intercept, slopes, variance, parents=some)
    return found


def sample_normal(law: GaussianAnswer, n_samples: int, rng: Rng) -> Array:
    """Draws (n, d)."""
    values, vectors = np.linalg.eigh(law.covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return law.mean + rng.standard_normal((n_samples, len(law.mean))) @ root.T
