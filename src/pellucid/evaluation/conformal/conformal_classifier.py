r"""Label sets that hold the truth as often as they state, around any probabilistic classifier.

See ``conformal_scores`` for the scores. Which method:

    lac     {k : p(k|x) >= 1 - q}: the smallest sets on average; may be empty for odd rows
    aps     likeliest labels until their mass passes q: larger sets where the model is unsure,
            never empty
    class   lac with a limit of its own for every class: every class is covered, rare ones too
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if

from pellucid.base import Classifier, check_labels, encode_labels, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Rng, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.evaluation.conformal import conformal_scores as scoring
from pellucid.evaluation.conformal.conformal_model import ConformalModel
from pellucid.evaluation.conformal.conformal_scores import conformal_quantile, label_scores
from pellucid.evaluation.splits.folds import fit_on

HOW = {
    "lac": "the quantile of 1 - p(y|x) on rows kept apart",
    "aps": "the quantile of the mass of labels at least as likely as y, on rows kept apart",
    "class": "for every class the quantile of 1 - p(y|x) on its rows kept apart",
}
METHODS = tuple(HOW)


def split_labels(codes: IntArray, calibration_size: float, rng: Rng) -> tuple[IntArray, IntArray]:
    """A random split in which every class can be learnt: its last row is not kept apart."""
    train, kept = scoring.split_rows(len(codes), calibration_size, rng)
    absent = np.setdiff1d(np.unique(codes), codes[train])
    back = np.array([kept[np.argmax(codes[kept] == k)] for k in absent], dtype=np.intp)
    kept = np.setdiff1d(kept, back)
    if not len(kept):
        size = f"calibration_size={calibration_size!r} of n_samples={len(codes)} rows"
        raise ValueError(f"{size} leaves none to calibrate once every class has a row to fit")
    return np.sort(np.append(train, back)), kept


class ConformalClassifier(ConformalModel, Classifier):
    """Label sets around any classifier that hold the true label with the confidence they state.

    The guarantee needs only that calibration rows and new rows are exchangeable; the probabilities
    may be wrong, the sets are then larger.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        Any scikit-learn-compatible one; it is cloned.
    method : {"lac", "aps", "class"}, default="lac"
        Smallest sets; adaptive sets; sets that cover every class.
    confidence : float, default=0.95
        Of ``predict_set`` where it is not given another.
    calibration_size : float or int, default=0.25
        Share or number of rows kept to calibrate.
    random_state : int, Generator or None, default=None
        Chooses the calibration rows.

    Attributes
    ----------
    estimator_ : the fitted model that ``predict`` uses
    classes_ : ndarray of shape (K,)
        The labels, in the order of the columns of a set.
    scores_ : ndarray of shape (n_calibration_,)
        Conformity scores of the calibration rows.
    labels_ : ndarray
        Their classes, as places in ``classes_``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import ConformalClassifier, GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["a", "b"], 100)
    >>> X = rng.normal(size=(200, 1)) + 2.0 * (y == "b")[:, None]
    >>> model = ConformalClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> model.predict_set([[-1.0], [1.0], [3.0]])
    array([[ True, False],
           [ True,  True],
           [False,  True]])
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        method: str = "lac",
        confidence: float = 0.95,
        calibration_size: float = 0.25,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.confidence = confidence
        self.calibration_size = calibration_size
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier and calibrate its sets on rows kept apart."""
        self._check_options(METHODS)
        if not hasattr(self.estimator, "predict_proba"):
            name = type(self.estimator).__name__
            raise ValueError(f"ConformalClassifier needs predict_proba, {name} has none")
        X = self._open(X, reset=True)
        y = check_labels(y, X.shape[0], self)
        context = FitContext(self, X=X, y=y)
        self.classes_, codes = encode_labels(y)
        if len(self.classes_) < 2:
            one = f"got one class: {self.classes_[0]}"
            raise ValueError(f"ConformalClassifier needs at least two classes, {one}")
        train, kept = split_labels(codes, self.calibration_size, generator(self.random_state))
        self.estimator_ = fit_on(self.estimator, X, y, train)
        P = self._probabilities(_safe_indexing(X, kept))
        self.labels_ = codes[kept]
        self.scores_ = label_scores(P, self.method)[np.arange(len(kept)), self.labels_]
        self.n_calibration_ = len(kept)
        context.end()
        return self

    def _probabilities(self, X: ArrayLike) -> Array:
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of the fitted classifier, not calibrated."""
        return self._probabilities(self._open(X, reset=False))

    def predict_set(self, X: ArrayLike, confidence: float | None = None) -> BoolArray:
        """Which labels cannot be ruled out: True and False, (n, K), columns as ``classes_``.

        None is the ``confidence`` of the constructor.
        """
        P = self.predict_proba(X)
        limits = self._limits(self._level(confidence))
        return scoring.label_sets(label_scores(P, self.method), limits, P, self.method)

    def _limits(self, level: float) -> Any:
        if self.method != "class":
            return conformal_quantile(self.scores_, level)
        parts = [self.scores_[self.labels_ == k] for k in range(len(self.classes_))]
        few = [k for k, part in enumerate(parts) if scoring.rank_of(len(part), level) > len(part)]
        if few:
            scoring.warn_few(len(parts[few[0]]), level, f" of class {self.classes_[few[0]]}")
        limits = (np.inf if k in few else conformal_quantile(p, level) for k, p in enumerate(parts))
        return np.array(list(limits))

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        whom = "a new row of every class" if self.method == "class" else "a new row"
        promise = f"holds the label of {whom} with probability at least {self.confidence:g}"
        numbers = {"confidence": self.confidence, "classes": len(self.classes_)}
        return Card(
            f"{type(self.estimator_).__name__} with a set of labels C(x) ({self.method})",
            f"C(x) {promise}, for any law, if the rows are exchangeable",
            f"one fit; {HOW[self.method]}",
            {**numbers, "calibration rows": self.n_calibration_},
        )
