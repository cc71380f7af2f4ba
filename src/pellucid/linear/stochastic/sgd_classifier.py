r"""Linear classification by stochastic gradient descent, one row at a time.

    minimises    mean l(y, b + x'w) + alpha (r sum |w| + (1 - r)/2 sum w^2),   y = -1 or +1
    losses       hinge max(0, 1 - y f) (a support vector machine), squared_hinge, perceptron
                 max(0, -y f), log_loss log(1 + exp(-y f)), modified_huber, and the losses of
                 regression on the signs
    one visit    w <- max(0, 1 - eta alpha (1 - r)) w - eta l'(y, f) x,   b <- b - eta l'(y, f)
    K classes    one rule for each class against the rest; the largest score wins

With ``solver=GradientDescent(batch_size=1, learning_rate=InverseScaling(1/alpha, 1.0))`` the rate
is 1/(alpha t) and a step of the hinge loss is -eta (alpha w - [y w.x < 1] y x): Pegasos, the
large-scale support vector machine (with ``fit_intercept=False``).

The order of the visits, weights as repetitions, rates, stopping and averaging: ``sgd.py``.
Classes descend side by side in threads; rows in CSR form are never made dense.

Cost: O(p) per visit and rule, or the numbers stored in a sparse row; the epochs are compiled.

References: Bottou (2012), Stochastic gradient descent tricks; Shalev-Shwartz, Singer & Srebro
(2007), Pegasos; Zhang (2004) for the probabilities of modified_huber; Zadrozny & Elkan (2002).
"""

from typing import Any, Self

import numpy as np
from scipy.special import log_expit, logsumexp
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_labels, check_weights, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, ClassWeight, IntArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.inference.decisions.linear_rule import LinearClassifier, class_weights, encode_known
from pellucid.linear.stochastic.sgd_model import StochasticModel, Targets, canonical, loss_words

SAME_NAME = ("hinge", "squared_hinge", "perceptron", "modified_huber", "huber")
INSENSITIVE = ("epsilon_insensitive", "squared_epsilon_insensitive")
LOSSES = {name: (name, 1.0) for name in SAME_NAME + INSENSITIVE}  # our name, and the factor
LOSSES |= {"log_loss": ("logistic", 1.0), "squared_error": ("squared", 0.5)}
BOUNDED = frozenset(LOSSES) - {"squared_hinge", "squared_error", "squared_epsilon_insensitive"}


def class_targets(codes: IntArray, K: int, low: float, weights: Array) -> Targets:
    """A column of 1 and ``low`` for each rule, and the class weights of its rows.

    Two classes have one rule; of several each counts its own class by its weight, the rest by 1.

    >>> class_targets(np.array([0, 1, 2]), 3, -1.0, np.ones(3)).columns[0]
    array([ 1., -1., -1.])
    """
    rules = range(K) if K > 2 else (1,)
    columns = [np.where(codes == k, 1.0, low) for k in rules]
    if (weights == 1).all():
        return Targets(columns, [np.empty(0)] * len(columns), codes)
    if K == 2:
        return Targets(columns, [weights[codes]], codes)
    return Targets(columns, [np.where(codes == k, weights[k], 1.0) for k in rules], codes)


def fit_classes(
    model: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike,
    init: tuple[Any, Any],
) -> None:
    """Fit a stochastic model to labels: SGDClassifier and Perceptron."""
    model._check_parameters()
    rows = model._check_training(X, y, sample_weight)
    rows = rows._replace(X=canonical(rows.X))
    model._need_two_classes(rows.n_rows)
    K = len(model.classes_)
    start = model._start(K if K > 2 else 1, rows.X.shape[1], *init)
    context = FitContext.of_rows(model, rows, sample_weight, model._limit(), model._attributes)
    totals = np.bincount(rows.y, weights=rows.w, minlength=K).astype(np.float64)
    model._descend(rows, targets_of(model, rows.y, totals), start, context)


def targets_of(model: BaseEstimator, codes: IntArray, totals: Array) -> Targets:
    """The columns of the rules, with the weights of the classes."""
    low = 0.0 if model.loss == "log_loss" else -1.0
    weights = class_weights(model.class_weight, model.classes_, totals)
    return class_targets(codes, len(model.classes_), low, weights)


def partial_fit(
    self: Any,
    X: np.ndarray,
    y: np.ndarray,
    classes: ArrayLike | None = None,
    sample_weight: np.ndarray | None = None,
) -> Any:
    """One epoch (one iteration of ``solver``) over these rows, from where the last ended.

    ``classes`` lists all labels; the first call needs it.
    """
    first = not hasattr(self, "_states")
    self._check_parameters()
    check_online(self, classes, first)
    matrix = canonical(self._check_matrix(X, reset=first, finite=True))
    labels = self.classes_ if classes is None else np.unique(np.asarray(classes))
    codes = encode_known(check_labels(y, matrix.shape[0], self), labels)
    rows = Rows(matrix, codes, check_weights(sample_weight, matrix))
    self.classes_ = labels
    self._need_two_classes(rows.n_rows)
    K = len(labels)
    start = self._start(K if K > 2 else 1, matrix.shape[1]) if first else self._resume()
    self._descend(rows, targets_of(self, codes, np.ones(K)), start, None)
    return self


def check_online(model: BaseEstimator, classes: ArrayLike | None, first: bool) -> None:
    """Raise ValueError for settings that need all rows at once."""
    if model.early_stopping:
        raise ValueError("early_stopping should be False with partial_fit")
    if isinstance(model.class_weight, str) and model.class_weight == "balanced":
        unseen = "for partial_fit, which does not see all rows"
        remedy = "give a dict (sklearn.utils.class_weight.compute_class_weight makes one)"
        raise ValueError(f"class_weight 'balanced' is not supported {unseen}: {remedy}")
    if first and classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit.")
    if not first and classes is not None:
        labels = np.unique(np.asarray(classes))
        if not np.array_equal(labels, model.classes_):
            now, before = f"classes={labels.tolist()}", model.classes_.tolist()
            last = f"on last call to partial_fit, was: {before}"
            raise ValueError(f"{now} is not the same as {last}")


def rules_found(self: Any, coef: Array, intercept: Array) -> dict[str, Any]:
    """The fitted attributes: a row of coefficients and an intercept for each rule."""
    return {"coef_": coef, "intercept_": intercept}


def _has_probabilities(model: BaseEstimator) -> bool:
    if model.loss not in ("log_loss", "modified_huber"):
        what = f"probability estimates are not available for loss={model.loss!r}"
        remedy = "use 'log_loss' or 'modified_huber', or CalibratedClassifierCV"
        raise AttributeError(f"{what}; {remedy}")
    return True


def log_probabilities(scores: Array) -> Array:
    """Logs of sigmoids of the scores (n, m), made to sum to 1 over the classes.

    >>> np.exp(log_probabilities(np.array([[0.0]]))).round(2)
    array([[0.5, 0.5]])
    """
    if scores.shape[1] == 1:
        return log_expit(np.hstack([-scores, scores]))
    logs = log_expit(scores)
    return logs - logsumexp(logs, axis=1, keepdims=True)


def clipped_probabilities(scores: Array) -> Array:
    """(1 + f clipped to [-1, 1])/2, made to sum to 1; equal where every class says 0.

    >>> clipped_probabilities(np.array([[-2.0], [0.5]]))
    array([[1.  , 0.  ],
           [0.25, 0.75]])
    """
    p = (np.clip(scores, -1, 1) + 1) / 2
    if scores.shape[1] == 1:
        return np.hstack([1 - p, p])
    p[p.sum(axis=1) == 0] = 1.0
    return p / p.sum(axis=1, keepdims=True)


class SGDClassifier(LinearClassifier, StochasticModel):
    """Linear classification by stochastic gradient descent.

    Parameters
    ----------
    loss : str, default="hinge"
        hinge (support vector machine), squared_hinge, log_loss (logistic regression), perceptron,
        modified_huber, or squared_error, huber, epsilon_insensitive, squared_epsilon_insensitive
        on the signs of the classes.
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
        sum w^2/2, sum |w|, a mixture by ``l1_ratio``, or none.
    alpha : float, default=0.0001
        Strength of the penalty, alpha/2 |w|^2 beside the mean loss.
    l1_ratio : float, default=0.15
        Share of L1 in "elasticnet".
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=1000
        Largest number of epochs.
    tol : float or None, default=1e-3
        Progress an epoch must make; ``n_iter_no_change`` epochs without it end the fit.
    shuffle : bool, default=True
        A new order of the rows in every epoch.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    epsilon : float, default=0.1
        The e of huber and the epsilon-insensitive losses.
    n_jobs : int or None
        Accepted for scikit-learn's sake; the classes always run in threads.
    random_state : None, int, RandomState or Generator
        Shuffles the rows and draws those held out.
    learning_rate : str, default="optimal"
        optimal (1/(alpha (t0 + t))), constant, invscaling (eta0 / t^power_t), adaptive (eta0,
        divided by 5 when there is no progress), pa1 or pa2 (passive-aggressive, for hinge).
    eta0, power_t : float, default=0.01, 0.5
        First rate, and the exponent of invscaling.
    early_stopping : bool, default=False
        Judge progress by the accuracy on rows held out, the same share of every class.
    validation_fraction : float, default=0.1
        How many to hold out.
    n_iter_no_change : int, default=5
        Epochs without progress after which to stop.
    class_weight : None, "balanced" or dict, default=None
        What multiplies the steps of a class.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    average : bool or int, default=False
        Return the average of the iterates, from that visit on.
    solver : solver object or None, default=None
        A solver of ``pellucid.solvers`` in the place of all keywords about rates, stopping and
        averaging.

    Attributes
    ----------
    coef_, intercept_ : arrays (1, p) and (1,) for two classes, else (K, p) and (K,)
    average_coef_, average_intercept_ : the averages, where ``average`` asks for them
    n_iter_, t_ : epochs, visits + 1
    history_ : a row per epoch: objective, parameters, learning_rate, validation_score

    Examples
    --------
    >>> from pellucid import SGDClassifier
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0], [3.0, 2.0], [3.0, 3.0]]
    >>> y = ["no", "no", "no", "yes", "yes", "yes"]
    >>> model = SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    >>> model.predict([[0.5, 0.5], [3.0, 2.5]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.predict_proba([[3.0, 2.5]]).round(2)
    array([[0., 1.]])
    """

    _losses, _bounded, _passive_aggressive = LOSSES, BOUNDED, "hinge"
    _set = rules_found
    partial_fit = partial_fit

    def __init__(
        self,
        loss: str = "hinge",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        n_jobs: int | None = None,
        random_state: Seed = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: ClassWeight = None,
        warm_start: bool = False,
        average: bool | int = False,
        solver: BaseEstimator | None = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.solver = solver

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Run epochs of stochastic gradient steps."""
        fit_classes(self, X, y, sample_weight, (coef_init, intercept_init))
        return self

    @available_if(_has_probabilities)
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities (n, K), for log_loss and modified_huber; K > 2: one against the rest."""
        scores = self._scores(self._check_input(X))
        if self.loss == "log_loss":
            return np.exp(log_probabilities(scores))
        return clipped_probabilities(scores)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logs of the probabilities; modified_huber may give -inf."""
        scores = self._scores(self._check_input(X))
        if self.loss == "log_loss":
            return log_probabilities(scores)
        with np.errstate(divide="ignore"):
            return np.log(clipped_probabilities(scores))

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        K = len(self.classes_)
        rule = "f(x) = b + x'w" if self.fit_intercept else "f(x) = x'w"
        several = f", one for each of {K} classes against the rest, the largest wins"
        return Card(
            representation=rule + (several if K > 2 else ", the sign decides"),
            evaluation=" + ".join([loss_words(self.loss), *self._terms()]),
            optimisation=self._how(),
            numbers=self._numbers(),
        )
