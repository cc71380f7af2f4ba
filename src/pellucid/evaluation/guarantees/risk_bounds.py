r"""Guarantees before the fact: how large can the true loss be, given what was measured?

Losses lie in [0, 1], rows are independent, and every bound holds with probability 1 - delta.

    validation     L <= L_V + sqrt(ln(N/delta) / (2 n_V))        all N candidates at once
    finite class   L <= ln(|F|/delta) / n                        consistent: training loss 0
                   L <= L_train + sqrt(ln(|F|/delta) / (2 n))    agnostic
    growth         L <= L_train + sqrt((8/n) (ln G(2n, d) + ln(4/delta)))
    norm class     L <= L_train + 2 l B R/sqrt(n) + sqrt(ln(1/delta) / (2 n))
    margin         L <= nu + sqrt((c/n) (R^2 Lambda^2 / rho^2 ln^2 n + ln(1/delta)))

G(n, d) = sum_{i <= d} C(n, i) counts labelings of n points by a class of VC dimension d, and nu is
the fraction of training rows with a margin below rho. Hoeffding's inequality with a union
bound is the engine of the first three (``pellucid.maths.hoeffding``); Vapnik and Chervonenkis put
the growth function in the place of |F|. A bound of 1 or more says nothing: it is vacuous.

References: Valiant (1984); Vapnik & Chervonenkis (1971); Bartlett & Shawe-Taylor (1999).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from pellucid.core.arrays import check
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.maths.chance.concentration import ROUNDING, hoeffding_count, hoeffding_deviation
from pellucid.maths.chance.concentration import hoeffding as hoeffding  # found here too

LOOSE = "loose; cross-validation usually selects better"


@readable
class RiskBound(NamedTuple):
    """An upper bound of the true loss; ``gap`` is what is added to the measured one.

    >>> print(validation_bound(0.10, 1000))
    the true loss is at most 0.139 (0.1 measured + 0.0387) with probability 0.95
    """

    value: float  # the bound
    gap: float
    delta: float  # probability with which it may fail
    vacuous: bool  # whether it is 1 or more
    sentence: str  # the bound in words

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())


def risk_bound(loss: float, gap: float, delta: float, note: str = "") -> RiskBound:
    """The record of loss + gap."""
    value = float(loss) + gap
    measured = f"({loss:.3g} measured + {gap:.3g}) with probability {1 - delta:.6g}"
    sentence = f"the true loss is at most {value:.3g} {measured}"
    if value >= 1:
        sentence = f"the bound {value:.3g} is not below 1: it says nothing (vacuous)"
    sentence = f"{sentence}; {note}" if note else sentence
    return RiskBound(value, gap, float(delta), value >= 1, sentence)


def validation_bound(
    loss: float, n_validation: int, *, n_models: int = 1, delta: float = 0.05
) -> RiskBound:
    """Bound the true loss of the model chosen among ``n_models`` on a validation set.

    ``loss`` in [0, 1] is its validation loss on ``n_validation`` rows, on which ``n_models``
    candidates were compared: the bound holds for all of them at once, but for a probability
    ``delta``.

    >>> round(validation_bound(0.1, 100, n_models=10).gap, 10)
    0.1627623631
    """
    check_loss(loss=loss)
    check.whole(n_validation=n_validation, n_models=n_models)
    check.fraction(delta=delta)
    gap = hoeffding_deviation(n_validation, math.log(n_models) - math.log(delta))
    return risk_bound(loss, gap, delta)


def validation_size(epsilon: float, *, n_models: int = 1, delta: float = 0.05) -> int:
    """Rows a validation set needs for a gap of at most ``epsilon`` over ``n_models`` candidates.

    The bound may fail with probability ``delta``.

    >>> validation_size(0.05, n_models=10)
    1060
    """
    check.positive(epsilon=epsilon)
    check.whole(n_models=n_models)
    check.fraction(delta=delta)
    return hoeffding_count(epsilon, math.log(n_models) - math.log(delta))


def finite_class_bound(
    train_loss: float, n: int, class_size: int, *, consistent: bool = False, delta: float = 0.05
) -> RiskBound:
    """Bound the true loss of any member of a finite class, from its training loss.

    ``train_loss`` in [0, 1] is that of ``n`` training rows, ``class_size`` the members of the
    class, fixed before the data were seen. A ``consistent`` learner always returns a member without
    training error (``train_loss`` is then 0): the gap shrinks like 1/n. The bound may fail with
    probability ``delta``.

    >>> round(finite_class_bound(0.0, 100, 1000, consistent=True).value, 10)
    0.0990348755
    >>> round(finite_class_bound(0.1, 100, 1000).gap, 10)
    0.2225251396
    """
    check_loss(train_loss=train_loss)
    check.whole(n=n)
    check.whole(most=None, class_size=class_size)  # 2^(2^n) functions are a class too
    check.boolean(consistent=consistent)
    check.fraction(delta=delta)
    log_odds = math.log(class_size) - math.log(delta)
    if not consistent:
        return risk_bound(train_loss, hoeffding_deviation(n, log_odds), delta)
    if train_loss != 0:
        raise ValueError(f"a consistent learner has train_loss 0, got {train_loss!r}")
    return risk_bound(0.0, log_odds / n, delta)


def finite_class_size(
    epsilon: float, class_size: int, *, consistent: bool = False, delta: float = 0.05
) -> int:
    """Training rows that make the gap of ``finite_class_bound`` at most ``epsilon``.

    ``class_size``, ``consistent`` and ``delta`` are as there.

    >>> finite_class_size(0.1, 1000, consistent=True), finite_class_size(0.1, 1000)
    (100, 496)
    """
    check.positive(epsilon=epsilon)
    check.whole(most=None, class_size=class_size)
    check.boolean(consistent=consistent)
    check.fraction(delta=delta)
    log_odds = math.log(class_size) - math.log(delta)
    if consistent:
        return max(1, math.ceil(log_odds / epsilon * (1 - ROUNDING)))
    return hoeffding_count(epsilon, log_odds)


def growth_function(n: int, vc_dimension: int) -> int:
    """Sauer's bound on the labelings of n points by a class of VC dimension d, exactly.

    Of ``n`` points, with ``vc_dimension`` for d.

    >>> growth_function(5, 2), growth_function(3, 3)
    (16, 8)
    """
    check.whole(n=n, at_least=0)
    check.whole(vc_dimension=vc_dimension, at_least=0)
    if vc_dimension >= n:
        return 2 ** int(n)
    term = total = 1
    for i in range(1, vc_dimension + 1):
        term = term * (n - i + 1) // i
        total += term
    return total


def log_growth(n: int, d: int) -> float:
    """ln of the growth function, for sizes at which the number itself would not fit.

    >>> round(math.exp(log_growth(5, 2)), 6)
    16.0
    """
    if d >= n:
        return n * math.log(2)
    i = np.arange(d + 1)
    return float(logsumexp(gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1)))


def vc_bound(train_loss: float, n: int, vc_dimension: int, *, delta: float = 0.05) -> RiskBound:
    """Bound the true loss of any member of a class of finite VC dimension.

    ``train_loss`` in [0, 1] is that of ``n`` training rows; ``vc_dimension`` is p + 1 for
    half-spaces in p dimensions. The bound may fail with probability ``delta``.

    >>> round(vc_bound(0.1, 10_000, 3).gap, 10)
    0.1607500665
    """
    check_loss(train_loss=train_loss)
    check.whole(n=n)
    check.whole(vc_dimension=vc_dimension, at_least=0)
    check.fraction(delta=delta)
    gap = math.sqrt(8 / n * (log_growth(2 * n, vc_dimension) + math.log(4 / delta)))
    return risk_bound(train_loss, gap, delta)


def margin_bound(
    margin_errors: float,
    n: int,
    *,
    margin: float,
    radius: float = 1.0,
    norm: float = 1.0,
    constant: float = 1.0,
    delta: float = 0.05,
) -> RiskBound:
    """Bound the true error of a large-margin classifier; the number of inputs plays no part.

    ``margin_errors`` is the FRACTION nu of ``n`` training rows whose margin is below ``margin``,
    rho > 0. All rows lie in a ball of ``radius`` R, ``norm`` Lambda is the largest norm of the
    weights allowed, ``constant`` is the c of the theorem, which only says that there is one. The
    bound may fail with probability ``delta``.

    >>> round(margin_bound(0.1, 1000, margin=1.0).value, 10)
    0.3251950605
    """
    check_loss(margin_errors=margin_errors)
    check.whole(n=n)
    check.positive(margin=margin, radius=radius, norm=norm, constant=constant)
    check.fraction(delta=delta)
    capacity = (radius * norm / margin * math.log(n)) ** 2
    gap = math.sqrt(constant / n * (capacity - math.log(delta)))
    return risk_bound(margin_errors, gap, delta, f"for the constant c = {constant:g}")


def norm_class_bound(
    train_loss: float,
    n: int,
    *,
    norm: float,
    radius: float = 1.0,
    lipschitz: float = 1.0,
    delta: float = 0.05,
) -> RiskBound:
    """Bound the true loss of linear functions of bounded norm; the number of inputs plays no part.

    The class is x -> w.x with |w| <= ``norm`` on rows with |x| <= ``radius``; its Rademacher
    complexity is at most norm radius / sqrt(n). ``train_loss`` is the mean over ``n`` rows of a
    loss in [0, 1] that changes at most ``lipschitz`` times as fast as w.x. The bound may fail with
    probability ``delta``.

    >>> round(norm_class_bound(0.1, 1000, norm=2.0).value, 10)
    0.265193382
    """
    check_loss(train_loss=train_loss)
    check.whole(n=n)
    check.positive(norm=norm, radius=radius, lipschitz=lipschitz)
    check.fraction(delta=delta)
    gap = 2 * lipschitz * norm * radius / math.sqrt(n) + math.sqrt(-math.log(delta) / (2 * n))
    return risk_bound(train_loss, gap, delta)


@readable
class BoundChoice(NamedTuple):
    """The candidate of the tightest bound.

    >>> print(BoundChoice("small", 0.2, LOOSE))
    small (bound 0.2): loose; cross-validation usually selects better
    """

    name: str  # of the candidate
    value: float  # its bound
    sentence: str  # what to think of it

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        return f"{self.name} (bound {self.value:.3g}): {self.sentence}"


def select_by_bound(bounds: dict[str, Any]) -> BoundChoice:
    """The name of the candidate whose bound is the smallest (the first of equals).

    ``bounds`` map names to RiskBounds or numbers.

    >>> choice = select_by_bound({"line": vc_bound(0.2, 5000, 2), "cubic": vc_bound(0.19, 5000, 4)})
    >>> choice.name, choice.sentence
    ('line', 'loose; cross-validation usually selects better')
    """
    if not bounds:
        raise ValueError("bounds must name at least one candidate, got none")
    values = {name: float(bound) for name, bound in bounds.items()}
    wrong = [name for name, value in values.items() if math.isnan(value)]
    if wrong:
        raise ValueError(f"the bound of {wrong[0]!r} is NaN")
    name = min(values, key=lambda key: values[key])
    return BoundChoice(name, values[name], LOOSE)


def check_loss(**values: float) -> None:
    for name, value in values.items():
        check.non_negative(**{name: value})
        if value > 1:
            raise ValueError(f"{name} must lie in [0, 1], got {value!r}")
