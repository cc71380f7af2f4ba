r"""Is a score better than chance? Shuffle the target and score again.

If y had nothing to do with X, every order of y would be as likely, and the score of the true order
one like all others. With B shuffled scores s_b and the true one s

    p = (1 + number of s_b >= s) / (1 + B)

which is exact for any model and metric: the true order is counted among the others, so p is never
0. With groups y is shuffled within each of them.

References: Ojala & Garriga (2010); Phipson & Smyth (2010).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv, cross_val_score
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed

from pellucid.core.arrays import check
from pellucid.core.arrays.reading import row_table
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, Matrix, Rng, Seed
from pellucid.core.readable import readable
from pellucid.core.records import plain, show
from pellucid.core.runtime.random import generator


@readable
class PermutationScores(NamedTuple):
    """A score, those of shuffled targets, and the share that is as good; unpacks as three.

    >>> print(PermutationScores(0.9, np.array([0.5, 0.6, 0.4]), 0.25))
    score 0.9; 3 shuffled targets 0.4 to 0.6; p = 0.25
    """

    score: float  # of the true target
    permutation_scores: Array  # (B,) of shuffled targets
    pvalue: float  # (1 + as good) / (1 + B)

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        s = self.permutation_scores
        spread = f"{len(s)} shuffled targets {show(float(s.min()))} to {show(float(s.max()))}"
        return f"score {show(self.score)}; {spread}; p = {show(self.pvalue)}"


def permutation_test_score(
    estimator: BaseEstimator,
    X: Matrix,
    y: Sequence[Any] | Array,
    *,
    groups: ArrayLike | None = None,
    cv: Folds = None,
    n_permutations: int = 100,
    n_jobs: int | None = None,
    random_state: Seed = 0,
    scoring: str | Callable[..., float] | None = None,
) -> PermutationScores:
    """Test that a cross-validated score is no better than with a shuffled target.

    ``estimator`` is cloned for every fit to rows of ``X`` with the target ``y``; ``cv`` and
    ``scoring`` are scikit-learn's. ``groups`` are kept: y is shuffled within each of them.
    ``n_permutations`` shuffled targets are scored, in ``n_jobs`` processes at a time;
    ``random_state`` draws them, the same as scikit-learn's function of this name.

    >>> import numpy as np
    >>> from pellucid import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.normal(size=(40, 2)) + y[:, None]
    >>> score, _, p = permutation_test_score(GaussianNB(), X, y, n_permutations=19)
    >>> round(score, 3), p
    (0.825, 0.05)
    """
    check.whole(n_permutations=n_permutations)
    X, y, groups = indexable(row_table(X), y, groups)
    folds = check_cv(cv, y, classifier=is_classifier(estimator))
    scorer = check_scoring(estimator, scoring=scoring)

    def scored(target: ArrayLike) -> float:
        model = clone(estimator)
        found = cross_val_score(model, X, target, groups=groups, cv=folds, scoring=scorer)
        return float(np.mean(found))

    if isinstance(random_state, np.random.Generator) or random_state is None:
        rng: Any = generator(random_state)
    else:
        rng = check_random_state(random_state)
    orders = [shuffled(len(y), groups, rng) for _ in range(n_permutations)]
    asked = (delayed(scored)(_safe_indexing(y, order)) for order in orders)
    true = scored(y)
    scores = np.array(Parallel(n_jobs=n_jobs)(asked))
    as_good = float((scores >= true).sum())
    return PermutationScores(true, scores, (1 + as_good) / (1 + n_permutations))


def shuffled(n: int, groups: ArrayLike | None, rng: Rng | np.random.RandomState) -> Any:
    """A random order of n rows, within groups where they are given."""
    if groups is None:
        return rng.permutation(n)
    order, groups = np.arange(n), np.asarray(groups)
    for group in np.unique(groups):
        mask = groups == group
        order[mask] = rng.permutation(order[mask])
    return order
