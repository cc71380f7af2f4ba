r"""A chain of classifiers: each label is a feature of the labels after it.

    p(y | x) = prod_k p(y_k | x, y_1 .. y_{k-1})        exact, in any order

fit       link k learns label order_[k] from [x, earlier labels]: the true ones, or with ``cv``
          out-of-fold predictions, which are as uncertain as those that prediction will use
predict   greedy: link k reads the answers of the earlier links (``chain_method``: their labels,
          probabilities or scores), never all 2^L label vectors

``predict_proba`` gives P(y_k = 1 | x, answers of the earlier links): conditional on the greedy
answers, not the marginal. (Marginals: LabelPowersetClassifier, or the mean over several orders.)

References: Read et al. (2009).
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, hstack, issparse, isspmatrix
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils import check_random_state
from sklearn.utils._user_interface import _print_elapsed_time
from sklearn.utils.validation import _num_samples, check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, IntArray, Matrix, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import fitted
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.ensemble.committees.constant import ConstantClassifier
from pellucid.ensemble.labels.label_matrix import (
    check_ranked,
    open_label_matrix,
    top_labels,
    warn_constant,
)
from pellucid.ensemble.labels.meta_classifier import MetaClassifier
from pellucid.ensemble.labels.multi_output import multi_label_tags
from pellucid.ensemble.labels.one_vs_rest import inner_has

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


class Augmented:
    """X with columns added to its right one after the other, whatever kind of table X is."""

    def __init__(self, X: np.ndarray, n_columns: int) -> None:
        self.X, self.n_columns, self.filled = X, n_columns, 0
        self.p = X.shape[1]
        if isinstance(X, np.ndarray):
            dtype = X.dtype if X.dtype.kind in "fO" else np.float64
            self.X = np.empty((len(X), self.p + n_columns), dtype=dtype)
            self.X[:, : self.p] = X

    def table(self) -> Any:
        """X and the columns added so far."""
        return self.X[:, : self.p + self.filled] if isinstance(self.X, np.ndarray) else self.X

    def add(self, column: ArrayLike) -> None:
        values = np.asarray(column, dtype=np.float64)
        if isinstance(self.X, np.ndarray):
            self.X[:, self.p + self.filled] = values
        elif issparse(self.X):
            kind = csr_matrix if isspmatrix(self.X) else csr_array
            self.X = hstack([self.X, kind(values[:, None])], format="csr")
        else:
            self.X = with_column(self.X, self.filled, values)
        self.filled += 1


def with_column(frame: Any, link: int, values: Array) -> Any:
    """A frame with one more column, named after its link; a number where names are no text.

    A name that is taken gets an underscore, a number goes up: names of two kinds are refused.
    """
    import narwhals.stable.v1 as nw

    table = nw.from_native(frame, eager_only=True)
    columns = list(table.columns)
    text = all(isinstance(column, str) for column in columns)
    name: Any = f"chain_{link}" if text else len(columns)
    while name in columns:
        name += "_" if text else 1
    index = nw.maybe_get_index(table)
    series = nw.new_series(name, values, backend=table.implementation)
    series = series if index is None else nw.maybe_set_index(series, index=index)
    return nw.to_native(table.with_columns(series))


def chain_order(order: ArrayLike | None, L: int, random_state: Seed) -> IntArray:
    """The places of the links: as given, in turn, or drawn.

    >>> chain_order([2, 0, 1], 3, None)
    array([2, 0, 1])
    """
    if order is None:
        return np.arange(L)
    if isinstance(order, str):
        check.one_of(("random",), order=order)
        if random_state is None or isinstance(random_state, np.random.Generator):
            return generator(random_state).permutation(L)
        return check_random_state(random_state).permutation(L)
    given = np.asarray(order)
    if given.shape != (L,) or sorted(given.tolist()) != list(range(L)):
        raise ValueError(f"invalid order: it must name each of 0..{L - 1} once, got {given}")
    return given.astype(np.intp)


def answer(model: BaseEstimator, X: ArrayLike, method: str) -> Any:
    """One value per row: the label, or the probability or score of ``classes_[1]``."""
    if method != "predict" and len(model.classes_) > 2:
        given = model.classes_.tolist()
        raise ValueError(f"{method} in a chain needs labels of two classes, got {given}")
    if isinstance(model, ConstantClassifier) and method == "predict_log_proba":
        return np.log(np.maximum(model.predict_proba(X)[:, -1], 1e-300))
    values = np.asarray(getattr(model, method)(X))
    return values if values.ndim == 1 else values[:, -1]


class ClassifierChain(MetaClassifier):
    """Several labels, each predicted with the help of those before it.

    Parameters
    ----------
    estimator : classifier
        Cloned for each label.
    order : array-like of shape (L,), "random" or None, default=None
        The order of the labels in the chain; None: as the columns of y.
    cv : int, splitter, iterable or None, default=None
        None: links learn from the true earlier labels. Else from out-of-fold predictions.
    chain_method : str or list of str, default="predict"
        What a link tells the later ones: "predict", "predict_proba", "predict_log_proba" or
        "decision_function"; of a list the first that the estimator has.
    random_state : int, RandomState or None, default=None
        For ``order="random"``.
    verbose : bool, default=False
        Print the time of each link.

    Attributes
    ----------
    estimators_ : list of fitted estimators
        In the order of the chain; a label that never varies gets a constant, with a warning.
    order_ : ndarray of shape (L,)
    classes_ : list of ndarray
        The classes of each link, in the order of the chain.
    chain_method_ : str

    Examples
    --------
    >>> from pellucid import ClassifierChain, GaussianNB
    >>> X, Y = [[0.0], [0.4], [3.0], [3.5], [7.0], [8.0]], [[0, 0], [0, 0], [1, 1], [1, 1],
    ...                                                      [1, 0], [1, 0]]
    >>> model = ClassifierChain(GaussianNB(var_smoothing=1e-3)).fit(X, Y)
    >>> model.predict([[0.1], [3.2], [7.5]]).tolist()
    [[0, 0], [1, 1], [1, 0]]
    """

    _tells_itself = True  # about each link

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        order: ArrayLike | Literal["random"] | None = None,
        cv: Folds = None,
        chain_method: str | Sequence[str] = "predict",
        random_state: Seed = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.cv = cv
        self.chain_method = chain_method
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, Y: Matrix, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit one link per label, in the order of the chain; ``fit_params`` go to the links."""
        check.boolean(verbose=self.verbose)
        X = self._open(X)
        self.chain_method_ = self._method()
        context = FitContext(self, X=X, y=Y, sample_weight=sample_weight)
        n = _num_samples(X)
        params = self._route("fit", sample_weight, fit_params, n)
        Y = open_label_matrix(self, Y, n)
        if self.cv is not None:
            self._refuse_cells(X)
        self.order_ = chain_order(self.order, Y.shape[1], self.random_state)
        self.estimators_, self.n_rows_ = [], n
        table = Augmented(X, Y.shape[1])
        for link, j in enumerate(self.order_):
            y = np.ascontiguousarray(Y[:, j])
            message = f"({link + 1} of {Y.shape[1]}) Processing order {j}"
            with _print_elapsed_time("Chain", message if self.verbose else None):
                model = self._fit_link(table.table(), y, params, int(j))
                if link + 1 < Y.shape[1]:
                    table.add(self._link_feature(model, table.table(), y, params))
            self.estimators_.append(model)
        self.classes_ = [model.classes_ for model in self.estimators_]
        context.end()
        return self

    def _method(self) -> str:
        given = self.chain_method
        names = [given] if isinstance(given, str) else list(given)
        for name in names:
            check.one_of(METHODS, chain_method=name)
        found = [name for name in names if hasattr(self.estimator, name)]
        if not found:
            who, asked = type(self.estimator).__name__, ", ".join(names)
            raise AttributeError(f"{who} has none of the following attributes: {asked}.")
        return found[0]

    def _fit_link(self, X: np.ndarray, y: np.ndarray, params: dict[str, Any], label: int) -> Any:
        if (y == y[0]).all():
            warn_constant(self, label, y[0])
            return ConstantClassifier().fit(X, y)
        return fitted(clone(self.estimator), X, y, **params)

    def _link_feature(
        self, model: BaseEstimator, X: ArrayLike, y: ArrayLike, params: dict[str, Any]
    ) -> Any:
        """What the later links learn from: the true label, or out-of-fold answers."""
        if self.cv is None:
            return _as_number(y, model.classes_)
        if isinstance(model, ConstantClassifier):
            return _as_number(answer(model, X, self.chain_method_), model.classes_)
        values = cross_val_predict(
            self.estimator, X, y, cv=self.cv, method=self.chain_method_, params=params or None
        )
        return _as_number(values if values.ndim == 1 else values[:, -1], model.classes_)

    def _answers(self, X: np.ndarray, method: str) -> list[Any]:
        """The answers of all links, in the order of the columns of y."""
        X = self._open(X, reset=False)
        table = Augmented(X, len(self.estimators_))
        answers: list[Any] = [None] * len(self.estimators_)
        for model, j in zip(self.estimators_, self.order_, strict=True):
            now = table.table()
            answers[j] = answer(model, now, method)
            told = answers[j]
            if method != self.chain_method_:
                told = answer(model, now, self.chain_method_)
            table.add(_as_number(told, model.classes_))
        return answers

    def predict(self, X: Any) -> Any:
        """The labels of each row, (n, L)."""
        return np.column_stack(self._answers(X, "predict"))

    @inner_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        """P(label = 1 | x, answers of the earlier links), (n, L)."""
        return np.column_stack(self._answers(X, "predict_proba"))

    @inner_has("predict_proba")
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log of ``predict_proba``, (n, L); -inf where it is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @inner_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        """The score of each link given the answers of the earlier ones, (n, L)."""
        return np.column_stack(self._answers(X, "decision_function"))

    def predict_top(self, X: Any, m: int) -> Any:
        """0/1 rows with exactly m labels: those of the greatest probability in the chain."""
        check_is_fitted(self)
        check_ranked([self.classes_[k] for k in np.argsort(self.order_)])
        has = all(hasattr(model, "predict_proba") for model in self.estimators_)
        method = "predict_proba" if has else "decision_function"
        return top_labels(np.column_stack(self._answers(X, method)), m)

    def __sklearn_tags__(self) -> Any:
        return multi_label_tags(super().__sklearn_tags__())

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        L = len(self.estimators_)
        source = "true labels" if self.cv is None else "out-of-fold answers"
        p = self.n_features_in_
        return Card(
            representation=f"one {type(self.estimator).__name__} per label, reading x and the "
            f"{self.chain_method_} answers of the earlier labels",
            evaluation=f"that of the inner estimator, given the {source} of the earlier labels",
            optimisation=f"{L} fits of all {self.n_rows_} rows with {p} to {p + L - 1} columns, "
            "one after the other; prediction is greedy",
            numbers={"labels": L, "fits": L, "rows per fit": self.n_rows_},
        )


def _as_number(values: ArrayLike, classes: NDArray[Any]) -> Array:
    """Labels as a column of numbers: themselves, or their places among the classes."""
    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.searchsorted(classes, values).astype(np.float64)
