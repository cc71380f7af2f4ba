r"""Too rigid, too flexible, or nothing to learn: a verdict from fold scores.

The first that holds, with one-sided paired t-tests at level alpha over the folds (scores of losses
are turned round first):

    uninformative   neither train nor test is better than the baseline (p >= alpha): guessing is
                    measured on the rows held out, beside which the other scores of training rows
                    vary by the luck of the fold
    overfit         train - test > 0, and the mean gap exceeds 10 % of (train - baseline), or 5 % of
                    |train| without a baseline
    underfit        a richer model is better on the test rows
    good            none of these
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.figures import figures
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.evaluation.hypotheses.significance import score_vector
from pellucid.evaluation.hypotheses.t_tests import paired_t_test

GAP_OF_GAIN, GAP_OF_TRAIN = 0.10, 0.05
REMEDIES = {
    "uninformative": ("look for other inputs",),
    "overfit": ("regularise more", "use fewer features", "collect more data", "use an ensemble"),
    "underfit": ("add basis functions", "use a richer model class", "penalise less"),
    "good": (),
}


@readable
class Diagnosis(NamedTuple):
    """What is wrong with a fit, by how much, and what to do.

    >>> print(diagnose_fit([0.99, 0.98, 0.99], [0.71, 0.74, 0.70]))
    overfit: the score on training rows is better by 0.27 than on new rows, more than chance; try:
      regularise more, use fewer features, collect more data, use an ensemble
    """

    kind: str  # uninformative, overfit, underfit or good
    gap: float  # how much better the score on training rows is
    sentence: str  # the reason in words
    remedies: tuple[str, ...]  # what to try

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        advice = f"; try:\n  {', '.join(self.remedies)}" if self.remedies else ""
        return f"{self.kind}: {self.sentence}{advice}"


def diagnose_fit(
    train: ArrayLike,
    test: ArrayLike,
    *,
    baseline: ArrayLike | None = None,
    richer: ArrayLike | None = None,
    greater_is_better: bool = True,
    alpha: float = 0.05,
) -> Diagnosis:
    """Say whether a model learns nothing, too much, too little, or enough.

    ``train`` and ``test`` are the scores on the training rows and on the rows held out, fold by
    fold; ``baseline`` those of guessing (one number will do), ``richer`` the test scores of a more
    flexible model. ``greater_is_better`` is False for losses; ``alpha`` is the level of the tests.

    >>> diagnose_fit([0.71, 0.70, 0.72], [0.70, 0.71, 0.69], richer=[0.90, 0.91, 0.88]).kind
    'underfit'
    """
    check.boolean(greater_is_better=greater_is_better)
    check.fraction(alpha=alpha)
    sign = 1.0 if greater_is_better else -1.0
    inside, outside = sign * score_vector(train, "train"), sign * score_vector(test, "test")
    base = _like(baseline, inside, sign, "baseline")
    more = _like(richer, inside, sign, "richer")
    gap = float(inside.mean() - outside.mean())

    def better(a: Array, b: Array) -> bool:
        return paired_t_test(a, b, alternative="greater", alpha=alpha).p_value < alpha

    room = GAP_OF_TRAIN * abs(float(inside.mean()))
    if base is not None:
        room = GAP_OF_GAIN * float(inside.mean() - base.mean())
    if base is not None and not better(inside, base) and not better(outside, base):
        kind = "uninformative"
        sentence = "even on its training rows it is not shown to be better than guessing"
    elif better(inside, outside) and gap > room:
        kind, by = "overfit", f"the score on training rows is better by {_amount(gap)}"
        sentence = f"{by} than on new rows, more than chance"
    elif more is not None and better(more, outside):
        kind = "underfit"
        gain = float(more.mean() - outside.mean())
        sentence = f"a richer model is better by {_amount(gain)} on new rows, more than chance"
    else:
        kind, sentence = "good", f"training and new rows differ by {_amount(gap)}, which is little"
        if gap > room:
            sentence = f"training and new rows differ by {_amount(gap)}, which may be chance"
    return Diagnosis(kind, gap, sentence, REMEDIES[kind])


def _amount(x: float) -> str:
    """Three figures, and no power of ten.

    >>> _amount(1160.4), _amount(0.0125)
    ('1160', '0.0125')
    """
    return figures(x, 3, plain=True, commas=1e4)


def _like(values: ArrayLike | None, train: Array, sign: float, name: str) -> Array | None:
    """Fold scores of another model; one number stands for all folds."""
    if values is None:
        return None
    if np.ndim(values) == 0:
        values = np.full(len(train), float(np.asarray(values)))
    return sign * score_vector(values, name)
