r"""Which model the data speak for.

    P(M | data) = p(M) p(data | M) / sum,    log B_ij = log p(data | M_i) - log p(data | M_j)

Grades of 2 log B after Kass & Raftery (1995): 0-2 not worth more than a bare mention, 2-6 positive,
6-10 strong, above 10 very strong. An improper prior has no evidence: such a model cannot be
compared and is left out with a warning.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable
from pellucid.core.runtime.warn import warn
from pellucid.inference.distributions.category_counts import on_simplex

GRADES = (
    (2.0, "not worth more than a bare mention"),
    (6.0, "positive"),
    (10.0, "strong"),
    (math.inf, "very strong"),
)


@readable
@dataclass(frozen=True, eq=False)
class ModelComparison:
    """Posterior probabilities of models and the logarithms of their Bayes factors.

    >>> print(compare_models({"line": -10.0, "curve": -13.0}))
    line: probability 0.9526
    curve: probability 0.04743
    The evidence for line against curve is positive: Bayes factor 20.1.
    """

    probability: dict[str, float]  # by model, the largest first
    log_bayes_factor: Array  # [i, j] of i over j, in the order of probability
    best: str  # the most probable model

    def grade(self, a: str, b: str) -> str:
        """The strength of the evidence for a against b in words."""
        names = list(self.probability)
        value = 2 * self.log_bayes_factor[names.index(a), names.index(b)]
        return next(word for limit, word in GRADES if abs(value) <= limit)

    def __str__(self) -> str:
        lines = [f"{name}: probability {p:.4g}" for name, p in self.probability.items()]
        names, best = list(self.probability), self.best
        for other, factor in zip(names, self.log_bayes_factor[names.index(best)], strict=True):
            if other != best:
                shown = f"{math.exp(factor):.3g}" if factor < 14 else f"exp({factor:.4g})"
                strength = f"is {self.grade(best, other)}: Bayes factor {shown}."
                lines.append(f"The evidence for {best} against {other} {strength}")
        return "\n".join(lines)


def _usable(value: Any) -> bool:
    return value is not None and not math.isnan(value) and value != math.inf


def compare_models(log_evidence: Mapping[str, Any], prior: Any = None) -> ModelComparison:
    """Posterior probabilities of models from their log evidence.

    ``log_evidence`` is a dict of names to log p(data | model); None, NaN or infinity stands for a
    model of improper prior, which is left out with a warning. ``prior`` are probabilities of the
    models, a dict or in the order of the dict; None: equal.

    >>> from pellucid.inference import compare_models
    >>> found = compare_models({"fair": -6.93, "bent": -6.24})
    >>> found.best, round(found.probability["bent"], 3), found.grade("bent", "fair")
    ('bent', 0.666, 'not worth more than a bare mention')
    """
    names = list(log_evidence)
    if not names:
        raise ValueError("log_evidence must name one model or more, got none")
    if prior is None:
        prior = np.full(len(names), 1 / len(names))
    given = [prior[name] for name in names] if isinstance(prior, Mapping) else prior
    weights = on_simplex(given, "prior")
    if len(weights) != len(names):
        raise ValueError(f"prior must have {len(names)} probabilities, got {len(weights)}")
    kept = [i for i, name in enumerate(names) if _usable(log_evidence[name])]
    left_out = [name for i, name in enumerate(names) if i not in kept]
    if left_out:
        warn(f"{', '.join(left_out)}: no finite evidence (an improper prior has none); left out")
    value = np.array([float(log_evidence[names[i]]) for i in kept])
    with np.errstate(divide="ignore"):
        joint = value + np.log(weights[kept])
    if not len(kept) or not np.isfinite(joint).any():
        raise ValueError("no model has both a finite log evidence and a positive prior")
    p = np.exp(joint - logsumexp(joint))
    with np.errstate(invalid="ignore"):
        gaps = value[:, None] - value[None, :]
    factors = np.nan_to_num(gaps, nan=0.0, posinf=np.inf, neginf=-np.inf)
    probability = {names[i]: float(q) for i, q in zip(kept, p, strict=True)}
    return ModelComparison(probability, factors, names[kept[int(np.argmax(p))]])
