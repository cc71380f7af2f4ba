r"""What every linear classification rule shares: scores, the boundary, and the split of a score.

two classes     f(x) = w.x + w0, classes_[1] where f > 0
K classes       f_k(x) = w_k.x + w0_k, the class with the largest score
boundary k, l   f_k(x) = f_l(x), a hyperplane with normal w_k - w_l
split           f(x) = w0 + sum_j w_j x_j, one term for each feature
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier
from pellucid.core.algebra.hyperplane import Hyperplane
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.tensors import labels_like, like, namespace
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime.threads import map_threads


class Explanation(NamedTuple):
    """The score of each row as a sum: ``base`` plus one contribution for each feature.

    >>> parts = np.array([[[1.0, -2.0]]])
    >>> split = Explanation(("a", "b"), np.array([0.5]), parts, np.array([[-0.5]]))
    >>> split.names, float(split.base[0] + split.contributions[0, 0].sum())
    (('a', 'b'), -0.5)
    """

    names: tuple[str, ...]  # of the features
    base: Array  # (m,) the score of a row of zeros; m = 1 for two classes, else K
    contributions: Array  # (n, m, p)
    scores: Array  # (n, m) = base + the sum of the contributions


class LinearClassifier(Classifier):
    """A leaf fits ``coef_`` (m, p) and ``intercept_`` (m,); m = 1 for two classes, else K."""

    coef_: Array
    intercept_: Array
    _zero_is_positive = False  # where a score of exactly 0 goes; False: as scikit-learn

    def _planes(self) -> tuple[Array, Array]:
        """Coefficients (m, p) and intercepts (m,), also where a leaf keeps (p,) or one number."""
        coef = np.atleast_2d(self.coef_)
        return coef, np.broadcast_to(self.intercept_, (len(coef),))

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores: (n,) for two classes, positive for ``classes_[1]``; else (n, K)."""
        scores = self._scores(self._check_input(X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike) -> Any:
        """The class of the largest score."""
        codes = self._codes(self._scores(self._check_input(X)))
        return self.classes_[codes]

    def _tensor_scores(self, X: Any) -> Any:
        coef, intercept = self._planes()
        return X @ like(np.ascontiguousarray(coef.T), X) + like(intercept, X)

    def _decision_function_tensor(self, X: Any) -> Any:
        scores = self._tensor_scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _predict_tensor(self, X: Any) -> Any:
        xp, scores = namespace(X), self._tensor_scores(X)
        if scores.shape[1] > 1:
            return labels_like(self.classes_, xp.argmax(scores, axis=1))
        positive = scores[:, 0] >= 0 if self._zero_is_positive else scores[:, 0] > 0
        return labels_like(self.classes_, xp.astype(positive, xp.int64))

    def _scores(self, X: np.ndarray) -> Array:
        """w.x + w0 leaf by leaf: the same bits for any number of threads."""
        coef, intercept = self._planes()

        def leaf(start: int) -> Array:
            return X[start : start + LEAF_ROWS] @ coef.T + intercept

        return np.concatenate(list(map_threads(leaf, range(0, X.shape[0], LEAF_ROWS))))

    def _codes(self, scores: Array) -> IntArray:
        if scores.shape[1] > 1:
            return scores.argmax(axis=1)
        positive = scores[:, 0] >= 0 if self._zero_is_positive else scores[:, 0] > 0
        return positive.astype(np.intp)

    def boundary(self, k: Hashable = None, l: Hashable = None) -> Hyperplane:  # noqa: E741
        """The hyperplane between the labels k and l, positive on the side of k.

        Two classes need no arguments; the positive side is then that of ``classes_[1]``.
        """
        check_is_fitted(self)
        two = len(self.classes_) == 2
        if two and k is None and l is None:
            k, l = self.classes_[1], self.classes_[0]  # noqa: E741
        if k is None or l is None:
            raise ValueError("boundary needs two of the classes, k and l")
        a, b = self._code(k), self._code(l)
        if a == b:
            raise ValueError(f"boundary needs two different classes, got {k!r} twice")
        coef, intercept = self._planes()
        if two:
            sign = 1.0 if a == 1 else -1.0
            return Hyperplane(sign * coef[0], sign * intercept[0])
        return Hyperplane(coef[a] - coef[b], intercept[a] - intercept[b])

    def explain(self, X: ArrayLike) -> Explanation:
        """The score of each row split by feature; the parts and ``base`` sum to the score."""
        rows = self._check_input(X)
        rows = to_dense(rows)
        coef, intercept = self._planes()
        parts = rows[:, None, :] * coef  # (n, m, p)
        scores = parts.sum(axis=2) + intercept
        return Explanation(self._feature_names(), intercept.copy(), parts, scores)

    def _code(self, label: Hashable) -> int:
        found = np.flatnonzero(self.classes_ == label)
        if len(found) == 0:
            raise ValueError(f"{label!r} is no class; the classes are {self.classes_.tolist()}")
        return int(found[0])

    def _need_two_classes(self, n_rows: int) -> None:
        if len(self.classes_) < 2:
            name, got = type(self).__name__, f"1 class in {n_rows} samples (n_samples={n_rows})"
            raise ValueError(f"{name} needs at least 2 classes, got {got}")

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        m = 1 if len(self.classes_) == 2 else len(self.classes_)
        return {"coef_": (m, self.n_features_in_), "intercept_": (m,)}


def class_weights(class_weight: Any, classes: np.ndarray, totals: Array) -> Array:
    """What a row of each class counts: 1, W/(K W_k) for "balanced", or as the dict says.

    ``totals`` are the weights W_k of the classes.

    >>> class_weights("balanced", np.array([0, 1]), np.array([3.0, 1.0]))
    array([0.66666667, 2.        ])
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        present = totals > 0
        shares = totals.sum() / (present.sum() * np.where(present, totals, 1.0))
        return np.where(present, shares, 0.0)
    if not isinstance(class_weight, dict):
        need = "None, 'balanced' or a dict of a weight for each class"
        raise ValueError(f"class_weight must be {need}, got {class_weight!r}")
    unknown = [label for label in class_weight if label not in classes.tolist()]
    if unknown:
        raise ValueError(f"class_weight names {unknown}, not in the classes {classes.tolist()}")
    weights = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=float)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(f"class_weight must be finite numbers >= 0, got {class_weight!r}")
    return weights


def all_classes(model: Classifier, classes: ArrayLike | None, first: bool) -> Any:
    """The labels of all calls of ``partial_fit``: given in the first one, the same afterwards."""
    if classes is None:
        if first:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return model.classes_
    labels = np.unique(np.asarray(classes))
    if not first and not np.array_equal(labels, model.classes_):
        raise ValueError(
            f"classes={labels.tolist()} is not the same as on last call to partial_fit, "
            f"was: {model.classes_.tolist()}"
        )
    return labels


def encode_known(y: np.ndarray, classes: np.ndarray) -> IntArray:
    """The code of each label in sorted ``classes``; an unknown label is refused.

    >>> encode_known(np.array([5, 3]), np.array([3, 5]))
    array([1, 0])
    """
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = classes[codes] != y
    if unknown.any():
        labels = np.unique(y[unknown]).tolist()
        known = f"do not exist in the initial classes {classes.tolist()}"
        raise ValueError(f"The target label(s) {labels} in y {known}")
    return codes.astype(np.intp)
