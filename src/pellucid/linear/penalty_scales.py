r"""The same penalty in the scales of different books.

    source      minimises
    sklearn     l2: RSS + v P,   l1: RSS/(2n) + v P,   elastic net: RSS/(2n) + a1 P1 + a2 P2 with
                a1 = alpha r, a2 = alpha (1 - r)/2 and (alpha, l1_ratio = r)
    rss         RSS + v P
    half_rss    RSS/2 + (v/2) P
    mse         RSS/n + v P

with P = sum w^2 (l2), sum |w| (l1), or a sum w^2 + (1 - a) sum |w| for the mix a (elastic net).
Everything passes through ``rss``.
"""

from typing import Any, NamedTuple

from pellucid.core.arrays import check

SCALES = ("sklearn", "rss", "half_rss", "mse")
PENALTIES = ("l2", "l1", "elastic_net")


class ElasticNetPenalty(NamedTuple):
    """scikit-learn's pair for the elastic net."""

    alpha: float
    l1_ratio: float


class MixedPenalty(NamedTuple):
    """The course's pair for the elastic net: value (a sum w^2 + (1 - a) sum |w|), a the mix."""

    value: float
    mix: float


def convert_penalty(
    value: Any,
    *,
    penalty: str,
    n_samples: int,
    source: str = "sklearn",
    target: str = "sklearn",
    mix: float | None = None,
) -> Any:
    """Convert a penalty between the scales of scikit-learn and of the textbooks.

    Parameters
    ----------
    value : float, or (alpha, l1_ratio) for the elastic net in scikit-learn's scale
        The strength to convert.
    penalty : {"l2", "l1", "elastic_net"}
        Which penalty P it belongs to.
    n_samples : int
        Rows of the data (the sum of their weights).
    source, target : {"sklearn", "rss", "half_rss", "mse"}
        RSS + v P; RSS/2 + (v/2) P; RSS/n + v P; or what the estimator of that name minimises.
    mix : float, optional
        For the elastic net from another scale than scikit-learn's: the share a of sum w^2.

    Returns
    -------
    A number; for the elastic net the pair (alpha, l1_ratio) or, in other scales, (value, mix).

    Examples
    --------
    >>> from pellucid.linear import convert_penalty
    >>> round(convert_penalty(1, penalty="l1", n_samples=3, source="half_rss"), 6)
    0.166667
    >>> convert_penalty(1, penalty="elastic_net", n_samples=3, source="half_rss", mix=0.5)
    ElasticNetPenalty(alpha=0.25, l1_ratio=0.3333333333333333)
    """
    check.one_of(PENALTIES, penalty=penalty)
    check.one_of(SCALES, source=source, target=target)
    check.positive(n_samples=n_samples)
    n = float(n_samples)
    if penalty == "elastic_net":
        return _elastic(value, n, source, target, mix)
    if mix is not None:
        raise ValueError(f"mix belongs to penalty='elastic_net', got it with {penalty!r}")
    check.non_negative(value=value)
    factor = {"rss": 1.0, "half_rss": 1.0, "mse": n, "sklearn": 1.0 if penalty == "l2" else 2 * n}
    return float(value) * factor[source] / factor[target]


def _elastic(value: Any, n: float, source: str, target: str, mix: float | None) -> Any:
    """(share of |w|, share of w^2) in RSS + l1 sum |w| + l2 sum w^2, and back."""
    factor = {"rss": 1.0, "half_rss": 1.0, "mse": n}
    if source == "sklearn":
        if mix is not None:
            raise ValueError("scikit-learn's scale has l1_ratio in the pair, not mix")
        try:
            alpha, ratio = value
        except (TypeError, ValueError):
            pair = "the elastic net in scikit-learn's scale is (alpha, l1_ratio)"
            raise ValueError(f"{pair}, got {value!r}") from None
        check.non_negative(alpha=alpha)
        check_share(l1_ratio=ratio)
        l1, l2 = 2 * n * alpha * ratio, n * alpha * (1 - ratio)
    else:
        check.non_negative(value=value)
        if mix is None:
            raise ValueError("the elastic net in this scale needs mix, the share of sum w^2")
        check_share(mix=mix)
        l1, l2 = (float(value) * factor[source] * share for share in (1 - mix, mix))
    if target == "sklearn":
        alpha = (l1 + 2 * l2) / (2 * n)
        return ElasticNetPenalty(alpha, l1 / (2 * n * alpha) if alpha > 0 else 1.0)
    total = l1 + l2
    return MixedPenalty(total / factor[target], l2 / total if total > 0 else 0.0)


def check_share(**values: float) -> None:
    """Refuse anything outside the closed interval [0, 1]."""
    for name, value in values.items():
        check.non_negative(**{name: value})
        if value > 1:
            raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
