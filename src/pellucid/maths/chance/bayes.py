r"""Bayes' rule for finitely many hypotheses.

    P(H_j | E) = P(E | H_j) P(H_j) / P(E),        P(E) = sum_j P(E | H_j) P(H_j)
    support of E for H_j = P(E | H_j) / P(E)      (> 1: E speaks for H_j)
    odds of H_j = P(H_j | E) / (1 - P(H_j | E))

Pieces of evidence that are independent given the hypothesis multiply; their logs are summed, so a
thousand of them do not underflow.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.maths.inputs import vector
from pellucid.maths.wording import folded, number, one_line

SUMS_TO_ONE = 1e-8


@readable
class BayesResult(NamedTuple):
    """What the evidence leaves of each hypothesis.

    ``evidence`` is P(E), 0 where it underflows; ``log_evidence`` is its logarithm.

    >>> bayes_rule([0.5, 0.5], [0.8, 0.4]).odds.round(6)
    array([2. , 0.5])
    """

    posterior: Array  # (k,)
    evidence: float
    support: Array  # (k,) P(E | H) / P(E)
    odds: Array  # (k,); inf for a certain hypothesis
    best: int  # index of the most probable hypothesis
    labels: tuple[str, ...]  # names of the hypotheses
    log_evidence: float

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        best = self.labels[self.best]
        factor = self.support[self.best]
        way = "speaks for" if factor > 1 else "speaks against" if factor < 1 else "leaves alone"
        pairs = zip(self.labels, self.posterior, strict=True)
        all_ = ", ".join(f"{name} {number(p)}" for name, p in pairs)
        return folded(
            f"Posterior: {all_}. The most probable hypothesis is {best}; the evidence {way} it "
            f"(its probability is {number(factor)} times the prior's)."
        )


def bayes_rule(
    prior: ArrayLike, likelihood: ArrayLike, labels: Sequence[str] | None = None
) -> BayesResult:
    """Posterior probabilities of hypotheses after some evidence.

    ``prior`` is P(H_j), sum 1; one number p stands for (p, 1 - p). ``likelihood`` is P(E | H_j) or
    densities, (k,) or (k, m): m columns are successive independent pieces of evidence. ``labels``
    are the k names of the hypotheses.

    >>> from pellucid.maths import bayes_rule
    >>> test = bayes_rule(0.01, [0.99, 0.05], labels=["ill", "well"])
    >>> test.posterior.round(6)
    array([0.166667, 0.833333])
    >>> print(test)
    Posterior: ill 0.166667, well 0.833333. The most probable hypothesis is well; the evidence
    speaks against it (its probability is 0.841751 times the prior's).
    """
    p = _prior(prior)
    L = np.asarray(likelihood, dtype=np.float64)
    L = L.reshape(-1, 1) if L.ndim == 1 else L
    if L.ndim != 2 or L.shape[0] != len(p) or L.shape[1] == 0:
        raise ValueError(f"likelihood needs one row per hypothesis ({len(p)}), got {L.shape}")
    if not (np.isfinite(L).all() and (L >= 0).all()):
        raise ValueError("likelihood must hold finite numbers >= 0")
    names = tuple(f"H{j}" for j in range(len(p))) if labels is None else tuple(map(str, labels))
    if len(names) != len(p):
        raise ValueError(f"labels must have {len(p)} names, got {len(names)}")
    with np.errstate(divide="ignore"):  # log 0 = -inf is meant
        log_prior, log_likelihood = np.log(p), np.log(L).sum(axis=1)
    log_joint = log_prior + log_likelihood
    if np.isneginf(log_joint).all():
        raise ValueError("the evidence has probability 0 under every hypothesis with a prior > 0")
    log_evidence = float(logsumexp(log_joint))
    posterior = np.exp(log_joint - log_evidence)
    posterior /= posterior.sum()
    others = np.array([np.delete(posterior, j).sum() for j in range(len(p))])  # 1 - P, no rounding
    odds = np.divide(posterior, others, out=np.full(len(p), np.inf), where=others > 0)
    support = np.exp(log_likelihood - log_evidence)
    best = int(np.argmax(posterior))
    evidence = float(np.exp(log_evidence))
    return BayesResult(posterior, evidence, support, odds, best, names, log_evidence)


def _prior(prior: ArrayLike) -> Array:
    p = vector(prior, "prior")
    if len(p) == 1 and np.ndim(prior) == 0:
        p = np.array([p[0], 1 - p[0]])
    if (p < 0).any() or abs(p.sum() - 1) > SUMS_TO_ONE:
        raise ValueError(f"prior must hold probabilities >= 0 that sum to 1, got sum {p.sum():.6g}")
    return p / p.sum()
