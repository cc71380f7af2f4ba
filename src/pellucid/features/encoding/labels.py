"""Encoders of the target: labels as codes 0..K-1, or as one column per class.

    LabelEncoder      y_i = c_k  ->  k
    LabelBinarizer    y_i = c_k  ->  row with pos_label in column k and neg_label elsewhere;
                      two classes need one column (0/1, or -1/+1)

Both take y alone. For columns of X use OrdinalEncoder and OneHotEncoder.
"""

from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import column_or_1d
from sklearn.utils._sparse import _align_api_if_sparse
from sklearn.utils.multiclass import type_of_target, unique_labels
from sklearn.utils.validation import _num_samples, check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array, check_form
from pellucid.core.arrays.typing import ArrayLike, Matrix
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.features.encoding.categories import Found, find_values, look_up, sorted_values


class LabelTransformer(Transformer, auto_wrap_output_keys=None):
    """Base of the encoders of y: no table goes in, so none comes out."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.one_d_labels = True
        return tags


def find_labels(y: ArrayLike) -> Found:
    """The distinct labels of a vector and the code of each row."""
    return find_values([np.asarray(y)])


def kind_of_labels(y: ArrayLike) -> tuple[str, Found | None]:
    """What scikit-learn's ``type_of_target`` says; of plain labels their codes come with it."""
    check_form(y, "y")
    try:
        plain = np.asarray(y) if isinstance(y, list | np.ndarray) and len(y) else None
    except ValueError:  # rows of several lengths: scikit-learn has the sentence
        plain = None
    if plain is None or plain.ndim != 1 or plain.dtype.kind not in "USbiuO":
        return type_of_target(y, input_name="y"), None
    if plain.dtype.kind == "O" and not isinstance(plain[0], str):
        return type_of_target(y, input_name="y"), None
    found = find_labels(plain)
    return ("multiclass" if len(found.values[0]) > 2 else "binary"), found


class LabelEncoder(LabelTransformer, auto_wrap_output_keys=None):
    """Labels as whole numbers 0..K-1 in the order of the sorted classes.

    It has no parameters.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The sorted distinct labels.

    Examples
    --------
    >>> from pellucid import LabelEncoder
    >>> encoder = LabelEncoder().fit(["paris", "oslo", "rome", "oslo"])
    >>> encoder.transform(["rome", "oslo"])
    array([2, 0])
    >>> encoder.inverse_transform([1]).tolist()
    ['paris']
    """

    @with_callbacks
    def fit(self, y: ArrayLike) -> Self:
        """Learn the sorted distinct labels of y."""
        self._learn(y)
        return self

    @with_callbacks
    def fit_transform(self, y: ArrayLike) -> Any:
        """Fit and transform; y is read once."""
        return self._codes(self._learn(y))

    def _learn(self, y: ArrayLike) -> Found:
        y = column_or_1d(y, warn=True)
        context = FitContext(self, y=y)
        found = find_labels(y)
        self.classes_ = sorted_values(found.values[0])
        context.end()
        return found

    def transform(self, y: Any) -> Any:
        """The code of every label of y."""
        check_is_fitted(self)
        y = column_or_1d(y, dtype=self.classes_.dtype, warn=True)
        return np.array([]) if len(y) == 0 else self._codes(find_labels(y))

    def _codes(self, found: Found) -> Any:
        places = look_up(found.values[0], self.classes_)
        if (places < 0).any():
            unseen = found.values[0][places < 0].tolist()
            raise ValueError(f"y contains previously unseen labels: {unseen[:5]}")
        return places.astype(np.int64)[found.codes[0]]

    def inverse_transform(self, y: Any) -> Any:
        """The labels of codes."""
        check_is_fitted(self)
        y = column_or_1d(y, warn=True)
        if len(y) == 0:
            return np.array([])
        bad = np.setdiff1d(y, np.arange(len(self.classes_)))
        if len(bad):
            raise ValueError(f"y contains previously unseen labels: {bad[:5].tolist()}")
        return self.classes_[np.asarray(y).astype(np.intp)]

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        return Card(
            "a label is replaced by its place among the sorted labels",
            "none: nothing is estimated",
            "the distinct labels, by hashing, then sorted",
            {"classes": len(self.classes_)},
        )


class LabelBinarizer(LabelTransformer, auto_wrap_output_keys=None):
    """One column per class: the indicator matrix of a target.

    Parameters
    ----------
    neg_label : int, default=0
        The value of the other classes.
    pos_label : int, default=1
        The value of a row's own class; -1/+1 is ``neg_label=-1``.
    sparse_output : bool, default=False
        A CSR matrix (with ``neg_label=0``), or a dense array.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    y_type_ : str
        What scikit-learn's ``type_of_target`` says of y.
    sparse_input_ : bool
        Whether y was sparse.

    Examples
    --------
    >>> from pellucid import LabelBinarizer
    >>> LabelBinarizer(neg_label=-1).fit_transform(["a", "b", "c"])
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]])
    >>> LabelBinarizer().fit_transform(["no", "yes"]).ravel()
    array([0, 1])
    """

    def __init__(
        self, *, neg_label: int = 0, pos_label: int = 1, sparse_output: bool = False
    ) -> None:
        self.neg_label = neg_label
        self.pos_label = pos_label
        self.sparse_output = sparse_output

    def _check_parameters(self) -> None:
        check.boolean(sparse_output=self.sparse_output)
        low, high = self.neg_label, self.pos_label
        for name, value in (("neg_label", low), ("pos_label", high)):
            if not isinstance(value, Integral):
                raise ValueError(f"{name} must be a whole number, got {value!r}")
        if low >= high:
            raise ValueError(f"neg_label={low} must be strictly less than pos_label={high}.")
        if self.sparse_output and (high == 0 or low != 0):
            need = "non zero pos_label and zero neg_label"
            given = f"got pos_label={high} and neg_label={low}"
            raise ValueError(f"Sparse binarization is only supported with {need}, {given}")

    @with_callbacks
    def fit(self, y: ArrayLike) -> Self:
        """Learn the sorted distinct labels of y."""
        self._check_parameters()
        context = FitContext(self, y=y)
        if y is None:
            raise ValueError("LabelBinarizer requires y to be passed, but the target y is None")
        if _num_samples(y) == 0:
            raise ValueError(f"y has 0 samples: {y!r}")
        self.y_type_, found = kind_of_labels(y)
        _refuse_kind(self.y_type_)
        self.sparse_input_ = issparse(y)
        if self.y_type_ in ("binary", "multiclass"):
            found = find_labels(column_or_1d(y)) if found is None else found
            self.classes_ = sorted_values(found.values[0])
        else:
            self.classes_ = unique_labels(y)
        context.end()
        return self

    def fit_transform(self, y: ArrayLike) -> Any:
        """The indicator matrix of y."""
        return self.fit(y).transform(y)

    def transform(self, y: ArrayLike) -> Any:
        """One column per class for every label of y (one in all for two classes)."""
        check_is_fitted(self)
        if not isinstance(y, list):
            y = check_array(y, input_name="y", accept_sparse="csr", ensure_2d=False, dtype=None)
        elif not y:
            raise ValueError("y has 0 samples: []")
        kind, found = kind_of_labels(y)
        _refuse_kind(kind)
        if kind.startswith("multilabel"):
            if not self.y_type_.startswith("multilabel"):
                raise ValueError("LabelBinarizer was fitted on labels, got a multilabel matrix")
            return self._from_indicator(y)
        y = column_or_1d(y)
        return self._from_labels(y, kind, find_labels(y) if found is None else found)

    def _from_labels(self, y: Any, kind: str, found: Found) -> Any:
        places = look_up(found.values[0], self.classes_)[found.codes[0]]
        k = len(self.classes_)
        if kind == "binary" and k == 1:
            places[:] = -1
        elif kind == "binary" and k == 2:  # one column says it all
            places, k = np.where(places == 1, 0, -1), 1
        inside = np.flatnonzero(places >= 0)
        whole = y.dtype if y.dtype.kind == "i" else np.dtype(int)
        if self.sparse_output:
            indptr = np.concatenate([[0], np.cumsum(places >= 0)])
            data = np.full(len(inside), self.pos_label)
            out = csr_array((data, places[inside], indptr), shape=(len(y), k))
            return _align_api_if_sparse(out)
        dense = np.full((len(y), k), self.neg_label, dtype=whole)
        dense[inside, places[inside]] = self.pos_label
        return dense

    def _from_indicator(self, y: Any) -> Any:
        width = y.shape[1] if hasattr(y, "shape") else len(y[0])
        if width != len(self.classes_):
            raise ValueError(f"y has {width} classes, LabelBinarizer saw {len(self.classes_)}")
        if self.sparse_output:
            sparse = csr_array(y)
            data = np.full(len(sparse.data), self.pos_label, dtype=int)
            out = csr_array((data, sparse.indices, sparse.indptr), shape=sparse.shape)
            return _align_api_if_sparse(out)
        on = (y.toarray() if issparse(y) else np.asarray(y)) != 0
        return np.where(on, self.pos_label, self.neg_label)

    def inverse_transform(self, Y: Matrix, threshold: float | None = None) -> Any:
        """Labels of rows: the largest column, or the ``threshold`` where classes are two or many.

        ``threshold=None`` is half way between ``neg_label`` and ``pos_label``.
        """
        check_is_fitted(self)
        if threshold is None:
            threshold = (self.pos_label + self.neg_label) / 2.0
        Y = Y.toarray() if issparse(Y) else np.asarray(Y)
        k = len(self.classes_)
        if self.y_type_ == "multiclass":
            labels = self.classes_[np.clip(Y.argmax(axis=1), 0, k - 1)]
        elif self.y_type_ == "binary":
            if Y.ndim == 2 and Y.shape[1] > 2:
                raise ValueError(f"two classes need one or two columns, got shape {Y.shape}")
            score = Y[:, 1] if Y.ndim == 2 and Y.shape[1] == 2 else Y.ravel()
            above = (score > threshold).astype(np.intp)
            labels = np.repeat(self.classes_[0], len(above)) if k == 1 else self.classes_[above]
        else:
            if Y.shape[1] != k:
                raise ValueError(f"Y needs one column for each of {k} classes, got {Y.shape[1]}")
            labels = np.greater(Y, threshold).astype(int)
        return _align_api_if_sparse(csr_array(labels)) if self.sparse_input_ else labels

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        return Card(
            "one column per class: pos_label for a row's own class, neg_label elsewhere",
            "none: nothing is estimated",
            "the distinct labels, by hashing, then sorted",
            {"classes": len(self.classes_)},
        )


def _refuse_kind(kind: str) -> None:
    if "multioutput" in kind:
        raise ValueError("Multioutput target data is not supported with label binarization")
    if kind not in ("binary", "multiclass", "multilabel-indicator"):
        raise ValueError(f"{kind} target data is not supported with label binarization")
