r"""Multi-layer perceptron for classes.

    p(c | x) = softmax(z)_c      (two classes and labels: logistic)
    z = a_L W + b,  a_l = g(a_(l-1) W_l + b_l),  a_0 = x

minimises the mean cross-entropy plus alpha/2 sum |W|^2 / rows of a batch. The derivative of the
cross-entropy by z is p - t; the chain rule carries it back through the layers.

References: Rumelhart, Hinton & Williams (1986); Kingma & Ba (2015) for Adam.
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if

from pellucid.base import (
    Classifier,
    check_labels,
    check_weights,
    encode_labels,
    kind_of_target,
    with_callbacks,
)
from pellucid.core.arrays.sparse import check_places
from pellucid.core.arrays.typing import Array, ArrayLike, ClassWeight, IntArray, MaybeArray, Seed
from pellucid.core.functions.penalties import L1L2
from pellucid.core.loops.early_stopping import EarlyStopping
from pellucid.core.loops.statistics import Rows
from pellucid.neural.layers.activations import Activation
from pellucid.neural.layers.layer import Layer
from pellucid.neural.mlp_model import MultilayerPerceptron
from pellucid.neural.network import Network
from pellucid.neural.training.backprop import Labels
from pellucid.neural.training.objectives import Head, output_head
from pellucid.solvers.gradient_descent import GradientDescent


def descends(model: BaseEstimator) -> bool:
    """partial_fit needs a solver that goes epoch by epoch."""
    if model.solver == "lbfgs":
        raise AttributeError("partial_fit needs solver 'adam', 'sgd' or a GradientDescent")
    return True


class MLPClassifier(Classifier, MultilayerPerceptron):
    """Neural network for classes; several labels per row where y has several columns.

    Parameters
    ----------
    hidden_layer_sizes : int, sequence of int, list of layers, or Network, default=(100,)
        Units of the hidden layers; layers of ``pellucid.neural``; or a network whose weights are
        the start. ``()``: softmax regression.
    activation : str, Activation or list, default="relu"
        identity, logistic, tanh, relu, leaky_relu, gelu; a list has one for each hidden layer.
    solver : {"adam", "sgd", "lbfgs"} or GradientDescent, default="adam"
        An object brings its own batch size, rate, epochs and stopping. "adam" and "sgd" compute
        the gradients of large problems in float32 (the weights stay float64); an object never.
    alpha : float, L1 or L2, default=1e-4
        A number: alpha/2 sum |W|^2 / rows of a batch; an object is added to the loss as it is.
    batch_size : int or "auto", default="auto"
        "auto": min(200, n).
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        For "sgd".
    learning_rate_init, power_t : float, default=0.001, 0.5
        First rate of "sgd" and "adam"; exponent of "invscaling".
    max_iter : int, default=200
        Epochs.
    shuffle : bool, default=True
        Whether every epoch visits the rows in a new order.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.
    tol : float, default=1e-4
        Progress that counts; ``n_iter_no_change`` epochs without it end the fit.
    verbose : bool, default=False
        Print the loss (and the validation score) of every epoch; ``history_`` keeps them.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    momentum, nesterovs_momentum : float, bool, default=0.9, True
        For "sgd".
    early_stopping : bool or EarlyStopping, default=False
        Judge progress by the accuracy on rows held out, and keep the best weights.
    validation_fraction : float, default=0.1
        Share of rows held out by ``early_stopping``.
    beta_1, beta_2, epsilon : float, default=0.9, 0.999, 1e-8
        For "adam".
    n_iter_no_change : int, default=10
        Epochs without progress that end the fit.
    max_fun : int, default=15000
        Evaluations of the loss by "lbfgs".
    class_weight : None, "balanced" or dict, default=None
        Factors of the sample weights, by class.

    Attributes
    ----------
    classes_, n_outputs_, n_layers_, out_activation_
    coefs_, intercepts_ : lists of arrays; weights have shape (inputs, units)
    network_ : Network
    loss_, best_loss_, loss_curve_, n_iter_, t_
    history_ : a row per epoch: objective, learning_rate, gradient_norms, validation_score, and
        accuracy: the share of training rows that got their label in the pass that computed the
        objective. With mini-batches the weights move during that pass, so it is the accuracy
        during the epoch (``score`` gives the one after it); "lbfgs" has it at the end of a step.
        Several labels per row: all must be right.
    validation_scores_, best_validation_score_ : accuracies per epoch, where rows judge

    Examples
    --------
    >>> from pellucid import MLPClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> MLPClassifier((8,), "tanh", solver="lbfgs", random_state=0).fit(X, y).predict(X)
    array([0, 1, 1, 0])
    """

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] | Sequence[Layer] | Network = (100,),
        activation: str | Activation | Sequence[str | Activation] = "relu",
        *,
        solver: Literal["adam", "sgd", "lbfgs"] | GradientDescent = "adam",
        alpha: float | L1L2 = 0.0001,
        batch_size: int | Literal["auto"] = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Seed = None,
        tol: float = 1e-4,
        verbose: bool = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool | EarlyStopping = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: float = 10,
        max_fun: int = 15000,
        class_weight: ClassWeight = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.class_weight = class_weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: MaybeArray = None,
        *,
        X_val: MaybeArray = None,
        y_val: MaybeArray = None,
    ) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        self._check_all()
        before = getattr(self, "classes_", None) if self.warm_start else None
        rows = self._check_training(X, y, sample_weight)
        if before is not None and not np.array_equal(before, self.classes_):
            after, self.classes_ = self.classes_, before
            raise ValueError(f"warm_start needs the same classes: {before} before, {after} now")
        held = None if X_val is None else (X_val, y_val)
        self._train_labels(rows, held, sample_weight)
        return self

    @available_if(descends)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: MaybeArray = None,
        classes: MaybeArray = None,
    ) -> Self:
        """One epoch over these rows; the first call names all ``classes``."""
        self._check_all(partial=True)
        first = not hasattr(self, "vector_")
        matrix = self._check_matrix(X, reset=first, finite=True)
        if first and classes is None and not is_multilabel(y):
            raise ValueError("classes must be passed on the first call to partial_fit")
        known = None if first else self.classes_
        if known is not None and classes is not None:
            same_classes(classes, known)
        target = self._check_target(y, matrix.shape[0])
        if known is None and classes is not None and target.ndim == 1:
            known = np.unique(classes)
        if known is not None and target.ndim == 1:
            labels, self.classes_ = self.classes_[target], known  # kept when y is refused
            target = recoded(labels, known)
        weights = check_weights(sample_weight, matrix)
        self._train_labels(Rows(matrix, target, weights), None, sample_weight, once=True)
        return self

    def _check_target(self, y: Any, n: int) -> Any:
        """Codes (n,), or 0/1 columns (n, k) of several labels."""
        check_places(y, "y")
        if not is_multilabel(y):
            return super()._check_target(y, n)
        labels = y.toarray() if issparse(y) else np.asarray(y)
        if len(labels) != n:
            raise ValueError(f"X and y need the same number of rows, got {n} and {len(labels)}")
        self.classes_ = np.arange(labels.shape[1])
        return np.ascontiguousarray(labels, dtype=np.float64)

    def _train_labels(self, rows: Rows, held: Any, weight: Any, *, once: bool = False) -> None:
        T, labels = rows.y, None
        self._several = T.ndim == 2
        if not self._several:
            labels = rows.y
            T = one_hot(labels, len(self.classes_))
            if self.class_weight is not None:
                rows = rows._replace(w=rows.w * self._factors(labels)[labels])
        elif self.class_weight is not None:
            raise ValueError("class_weight is for one label per row, got several columns")
        self._train(rows, T, labels, held, weight, rows.y, once=once)

    def _factors(self, labels: Array) -> Array:
        given = self.class_weight
        if isinstance(given, dict):
            codes = {c: i for i, c in enumerate(self.classes_.tolist())}
            if unknown := [c for c in given if c not in codes]:
                raise ValueError(f"class_weight names {unknown[0]!r}, which is not in y")
            given = {codes[c]: float(f) for c, f in given.items()}
        elif given != "balanced":
            raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {given!r}")
        if isinstance(given, dict):
            return np.array([given.get(c, 1.0) for c in range(len(self.classes_))])
        present = np.unique(labels)
        factors = np.ones(len(self.classes_))
        factors[present] = compute_class_weight("balanced", classes=present, y=labels)
        return factors

    def _head(self) -> Head:
        if self._several:
            return output_head("multilabel")
        return output_head("multiclass" if len(self.classes_) > 2 else "binary")

    def _encode_validation(self, y: ArrayLike, n: int) -> Array:
        if self._several:
            return np.asarray(y, dtype=np.float64)
        labels = check_labels(y, n, self)
        return one_hot(recoded(labels, self.classes_), len(self.classes_))

    def _labels(self) -> Labels:
        return "halves" if self._several or len(self.classes_) <= 2 else "largest"

    def _score_outputs(self, out: Array, T: Array, w: Array) -> float:
        if not np.isfinite(out).all():
            return -np.inf
        if self._labels() == "halves":
            right = ((out > 0.5) == (T > 0.5)).all(axis=1)
        else:
            right = out.argmax(axis=1) == T.argmax(axis=1)
        return float(np.average(right, weights=w))

    def predict_proba(self, X: ArrayLike) -> Array:
        """p(class | x), (n, classes); p(label | x) for several labels."""
        out = self._outputs(X)
        if self._several:
            return out
        if len(self.classes_) == 1:
            return np.ones((len(out), 1))
        return np.column_stack([1 - out, out]) if out.shape[1] == 1 else out

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log p(class | x)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: ArrayLike) -> Any:
        """Predict for each row of ``X``."""
        p = self.predict_proba(X)
        if self._several:
            return (p > 0.5).astype(int)
        return self.classes_[p.argmax(axis=1)]


def is_multilabel(y: ArrayLike) -> bool:
    """Whether y has 0/1 columns for several labels."""
    if y is None:
        return False
    if issparse(y):
        return True
    y = np.asarray(y)
    if y.ndim != 2 or y.shape[1] < 2:
        return False
    kind = kind_of_target(y)
    if kind != "multilabel-indicator":
        raise ValueError(f"y must be labels or 0/1 columns, got a {kind} target of shape {y.shape}")
    return True


def one_hot(codes: IntArray, k: int) -> Array:
    """(n, k) columns; one column for two classes.

    >>> one_hot(np.array([0, 1]), 2)
    array([[0.],
           [1.]])
    """
    return codes[:, None].astype(np.float64) if k <= 2 else np.eye(k)[codes]


def same_classes(classes: ArrayLike, known: Any) -> None:
    """Refuse classes that are not those of the first call to partial_fit."""
    if not np.array_equal(np.unique(classes), known):
        given, before = np.unique(classes).tolist(), known.tolist()
        raise ValueError(f"classes must be those of the first call, {before}, got {given}")


def recoded(labels: np.ndarray, classes: np.ndarray) -> Any:
    """The code of each label among the known classes."""
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        found = labels[unknown].tolist()[0]
        raise ValueError(f"y holds the class {found!r}, which is not one of {classes.tolist()}")
    here, codes = encode_labels(np.asarray(labels))
    return np.searchsorted(classes, here)[codes]
