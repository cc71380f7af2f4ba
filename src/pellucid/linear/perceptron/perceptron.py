r"""The perceptron and its relatives.

Rule         sign(w.x + w0); y = -1 or +1
Criterion    D(w) = - sum over wrong rows of y (w.x + w0)
online       for each wrong row in turn: w += eta y x, w0 += eta y
batch        w += eta sum over the wrong rows of y x: gradient descent on D
pocket       online; keeps the weights with the fewest errors on the training rows
averaged     online; the average of the weights after every visit
Wrong        y f <= 0 (``at_zero="mistake"``), or sign(f) != y with sign(0) = -1 ("negative")

Separable rows: with R the length of the longest row (1, x) and gamma the largest margin that a
hyperplane through the origin of these rows can have, the online rule makes at most (R/gamma)^2
mistakes whatever the order (``mistake_bound_``). Other rows make it cycle for ever.

gamma is the distance of the origin from the convex hull of the rows y (1, x): a least-distance
problem, solved by non-negative least squares on the rows that matter.

Cost: O(p) per visit; the epochs are compiled, classes run in threads.

References: Rosenblatt (1958); Novikoff (1962); Gallant (1990); Freund & Schapire (1999); Lawson &
Hanson (1974), ch. 23, for the least-distance problem.
"""

from typing import Any, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
from scipy.optimize import nnls
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, ClassWeight, IntArray, Seed
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.inference.decisions.linear_rule import LinearClassifier
from pellucid.linear.perceptron.kernels import perceptron_epoch, pocket_epoch
from pellucid.linear.perceptron.separability import Rule, find_rule, in_units, make_design
from pellucid.linear.stochastic import epochs, sgd_classifier
from pellucid.linear.stochastic.epochs import Order, Problem, SGDState
from pellucid.linear.stochastic.sgd_model import States, StochasticModel, Targets

RULES = ("online", "batch", "pocket", "averaged")
PROOF = 4  # rows per column that are to prove that no hyperplane separates
SAMPLE = 16  # times as many are looked at to find them
FIRST_ROWS = 500  # of the least-distance problem, which grows by the rows it gets wrong
ROUNDING = 1e-9  # of a margin that should be 1


def in_order(problem: Problem) -> bool:
    """Whether an epoch visits every row once, as the table has them."""
    rows, n = problem.visits.rows, len(problem.y)
    return not problem.shuffle and len(rows) == n and bool((rows == np.arange(n)).all())


def nearest(margins: Array, count: int) -> IntArray:
    """The rows nearest to the boundary, half of them wrong if so many are.

    >>> nearest(np.array([3.0, -2.0, 0.5, -0.1]), 2)
    array([2, 3])
    """
    distance = np.abs(margins)
    wrong = np.flatnonzero(margins <= 0)
    if len(wrong) > count // 2:
        wrong = wrong[np.argpartition(distance[wrong], count // 2)[: count // 2]]
    distance[margins <= 0] = np.inf
    right = np.argpartition(distance, min(count, len(margins) - 1))[: count - len(wrong)]
    return np.union1d(wrong, right)


def overlap_proved(X: Array, signs: Array, start: Rule, *, intercept: bool) -> bool:
    """Whether a few rows about the boundary of ``start`` prove that no hyperplane separates.

    The proof (Gordan): weights u >= 0 of sum 1 with sum_i u_i y_i d_i = 0.
    """
    n, count = len(signs), PROOF * (X.shape[1] + 1)
    few = np.unique(np.linspace(0, n - 1, min(SAMPLE * count, n)).astype(np.intp))
    margins = signs[few] * (X[few] @ start.coef[0] + start.intercept[0])
    few = few[nearest(margins, min(count, len(few)))]
    D = make_design(X[few], (signs[few] > 0).astype(np.intp), 2, intercept=intercept).D
    Z = signs[few, None] * D / max(float(np.sqrt((D**2).sum(axis=1).max())), 1e-300)
    return weights_to_zero(Z)[1] < ROUNDING


def inseparable(X: Any, positive: BoolArray, start: Rule, *, intercept: bool) -> bool:
    """Whether no hyperplane separates the rows.

    A few rows about the boundary of ``start`` may prove it; if not, a linear programme finds a
    rule for them, and the rows about its boundary join.
    """
    signs, count, rule = np.where(positive, 1.0, -1.0), PROOF * (X.shape[1] + 1), start
    if not issparse(X) and overlap_proved(X, signs, start, intercept=intercept):
        return True
    active = np.empty(0, np.intp)
    while True:
        margins = signs * (X @ rule.coef[0] + rule.intercept[0])
        if (margins > 0).all():
            return False
        grown = np.union1d(active, nearest(margins, min(max(count, len(active)), len(signs))))
        active = grown if len(grown) > len(active) else np.arange(len(signs))
        codes = positive[active].astype(np.intp)
        design = make_design(X[active], codes, 2, intercept=intercept)
        t = find_rule(design, strict=True)
        if t is None or len(active) == len(signs):
            return t is None
        rule = in_units(design, t)


def perceptron_step(
    problem: Problem, state: SGDState, order: Order, rates: Array, how: tuple[str, bool, bool]
) -> tuple[SGDState, float]:
    """One epoch of a rule; the gap is 0 after an epoch without a mistake.

    ``how`` is the rule, whether a score of 0 is negative, and the answer of ``in_order``. ``mean``
    of the state is the average of the iterates, or the best weights so far (pocket).
    """
    rule, negative, ordered = how
    rows = problem.visits.rows[order]
    share = problem.visits.share[order] if len(problem.visits.share) else problem.visits.share
    steps = share
    if len(problem.row_weight):
        steps = problem.row_weight[rows] * (share if len(share) else 1.0)
    coef, mean, T = state.coef.copy(), state.mean.copy(), state.t - 1
    scalars = np.array([state.intercept, state.mean_intercept, 0, state.t, 0, 0, rule == "batch"])
    where, step = (problem.X, problem.y, rows), (float(rates[0]), negative, problem.intercept)
    if rule == "pocket":
        pocket_epoch(*where, share, steps, *step, coef, mean, scalars)
        mean_intercept = scalars[1]
    else:
        into = np.zeros(len(coef)) if rule == "batch" else coef
        drift = T * (coef - mean) if rule == "averaged" else np.empty(0)
        scalars[2] = T * (state.intercept - state.mean_intercept)
        perceptron_epoch(*where, steps, *step, ordered, coef, into, drift, scalars)
        mean_intercept = 0.0
        if rule == "batch":
            coef += into
            scalars[0] += scalars[1]
        if rule == "averaged":
            T += len(rows)
            mean, mean_intercept = coef - drift / T, scalars[0] - scalars[2] / T
    if not (np.isfinite(coef).all() and np.isfinite(scalars[0])):
        return state, np.inf
    wrong, value = int(scalars[4]), scalars[5] / len(rows)
    waited, gap = epochs.patience_left(problem, state, value)
    b, mean_b, t = float(scalars[0]), float(mean_intercept), int(scalars[3])
    best, rate = min(state.best, value), float(rates[0])
    new = SGDState(coef, b, mean, mean_b, t, 1.0, waited, best, float(value), np.nan, rate, wrong)
    return new, max(gap, 0.0) if wrong else 0.0


def weights_to_zero(Z: Array) -> tuple[Array, float]:
    """f - E u and its length, for the u >= 0 that brings E u = (Z'u, sum u) nearest f = (0, 1).

    >>> weights_to_zero(np.array([[1.0], [-1.0]]))[1] < 1e-12
    True
    """
    E = np.vstack([Z.T, np.ones(len(Z))])
    f = np.append(np.zeros(Z.shape[1]), 1.0)
    u, _ = nnls(E, f, maxiter=30 * sum(E.shape))
    r = f - E @ u
    return r, float(np.linalg.norm(r))


def least_distance(Z: Array) -> Array | None:
    """The shortest w with Z w >= 1, or None where there is none.

    >>> least_distance(np.array([[2.0], [4.0]])), least_distance(np.array([[2.0], [-1.0]]))
    (array([0.5]), None)
    """
    r, size = weights_to_zero(Z)
    if size < ROUNDING or r[-1] < ROUNDING**2:
        return None
    w = -r[:-1] / r[-1]
    return w if (Z @ w).min() > 0 else None


def novikoff_bound(X: Array, signs: Array, *, intercept: bool) -> float:
    """(R/gamma)^2: most mistakes of an online perceptron that starts at 0; inf if inseparable.

    >>> novikoff_bound(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), intercept=False)
    1.0
    """
    D = np.column_stack([np.ones(len(X)), X]) if intercept else X
    R = float(np.sqrt((D**2).sum(axis=1).max()))
    if R == 0:
        return np.inf
    Z = signs[:, None] * D / R
    active = np.unique(np.linspace(0, len(Z) - 1, min(FIRST_ROWS, len(Z))).astype(np.intp))
    while True:
        w = least_distance(Z[active])
        if w is None:
            return np.inf
        margins = Z @ w
        if margins.min() >= 1 - ROUNDING or len(active) == len(Z):
            return float((w @ w) / margins.min() ** 2) if margins.min() > 0 else np.inf
        grown = np.union1d(active, np.argsort(margins)[:FIRST_ROWS])
        active = grown if len(grown) > len(active) else np.arange(len(Z))


class Training(NamedTuple):
    """The rows that a model was fitted to, for what is computed when it is asked for."""

    rows: Rows
    columns: list[Array]


_TRAINING: "WeakKeyDictionary[Any, Training]" = WeakKeyDictionary()  # dies with the model


class Perceptron(LinearClassifier, StochasticModel):
    """Rosenblatt's perceptron: online, batch, pocket or averaged.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default=None
        With a penalty the fit is ``SGDClassifier(loss="perceptron", learning_rate="constant")``.
    alpha : float, default=0.0001
        Strength of the penalty.
    l1_ratio : float, default=0.15
        Share of L1 in "elasticnet".
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=1000
        Largest number of epochs.
    tol : float or None, default=1e-3
        Progress of the mean criterion that an epoch must make; ``n_iter_no_change`` epochs without
        it end the fit, as does an epoch without a mistake. None: only the latter.
    shuffle : bool, default=True
        A new order of the rows in every epoch; False: the order of the table.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    eta0 : float, default=1.0
        The rate.
    n_jobs : int or None
        Accepted for scikit-learn's sake; the classes always run in threads.
    random_state : None, int, RandomState or Generator, default=0
        Shuffles the rows and draws those held out.
    early_stopping : bool, default=False
        Judge progress by the accuracy on rows held out.
    validation_fraction : float, default=0.1
        How many to hold out.
    n_iter_no_change : int, default=5
        Epochs without progress after which to stop.
    class_weight : None, "balanced" or dict, default=None
        What multiplies the steps of a class.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    rule : {"online", "batch", "pocket", "averaged"}, default="online"
        "pocket" keeps the best weights met so far. It judges every weight vector on up to 4096
        rows; with more rows, those that classify a longer run of visits than the kept ones did.
    at_zero : {"mistake", "negative"}, default="mistake"
        A score of 0 is always wrong, or means class -1.

    Attributes
    ----------
    coef_, intercept_ : arrays (1, p) and (1,) for two classes, else (K, p) and (K,)
    n_iter_ : epochs, the one without a mistake included
    n_updates_ : changes of the weights, over all classes
    converged_ : whether the last epoch had no mistake
    mistake_bound_ : (R/gamma)^2, one for each of several classes; inf where no hyperplane separates
    history_ : a row per epoch: mistakes, objective (the sum of -y f over the mistakes met),
        updates, parameters

    Examples
    --------
    >>> from pellucid import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> model = Perceptron(shuffle=False).fit(X, y)
    >>> model.coef_, model.intercept_, model.n_iter_
    (array([[3., 2.]]), array([-4.]), 9)
    >>> model.converged_, model.n_updates_, round(model.mistake_bound_)
    (True, 18, 51)
    """

    loss, learning_rate = "perceptron", "constant"
    _rate_name = ""  # from 0, its length changes no answer
    epsilon, power_t = 0.1, 0.5
    solver = None
    _losses, _bounded = sgd_classifier.LOSSES, sgd_classifier.BOUNDED
    _passive_aggressive = "hinge"
    _set = sgd_classifier.rules_found
    partial_fit = sgd_classifier.partial_fit

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Seed = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: ClassWeight = None,
        warm_start: bool = False,
        rule: str = "online",
        at_zero: str = "mistake",
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.rule = rule
        self.at_zero = at_zero

    @property
    def average(self) -> bool:
        return self.rule == "averaged"

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Pass over the rows until no row is misclassified, or ``max_iter`` is reached."""
        self.n_updates_ = 0
        sgd_classifier.fit_classes(self, X, y, sample_weight, (coef_init, intercept_init))
        return self

    def _check_parameters(self) -> None:
        check.one_of(RULES, rule=self.rule)
        check.one_of(("mistake", "negative"), at_zero=self.at_zero)
        super()._check_parameters()
        special = self.rule in ("batch", "pocket") or self.at_zero == "negative"
        if special and (self.penalty is not None or self.early_stopping):
            what = f"rule={self.rule!r} with at_zero={self.at_zero!r}"
            does = "rule 'online' or 'averaged' with at_zero='mistake' does"
            raise ValueError(f"{what} takes no penalty and no early stopping; {does}")

    def _start(self, m: int, p: int, coef_init: Any = None, intercept_init: Any = None) -> States:
        start = super()._start(m, p, coef_init, intercept_init)
        if self.rule != "pocket":
            return start
        return tuple(s._replace(mean=s.coef.copy(), mean_intercept=s.intercept) for s in start)

    def _fit_epochs(
        self, rows: Rows, targets: Targets, start: States, max_iter: int, context: FitContext | None
    ) -> None:
        if issparse(rows.X) and (self.rule in ("batch", "pocket") or self.at_zero == "negative"):
            rows = rows._replace(X=to_dense(rows.X))
        super()._fit_epochs(rows, targets, start, max_iter, context)
        self.n_updates_ = getattr(self, "n_updates_", 0) + int(self.history_["updates"].sum())
        self.converged_ = all(state.steps == 0 for state in self._states)
        self.__dict__.pop("_mistake_bound", None)
        _TRAINING.pop(self, None)
        if context is not None:
            _TRAINING[self] = Training(rows, targets.columns)

    def _can_end(self) -> bool:
        return self.penalty is None or self.tol is not None  # an epoch without a mistake ends it

    def _advance(self, problems: list[Problem], cuts: list[Array], limit: float) -> epochs.Advance:
        how = self.rule, self.at_zero == "negative", in_order(problems[0])
        dense = not issparse(problems[0].X)
        plain = self.penalty is None and not self.early_stopping and dense  # its own epochs serve

        def advance(k: int, state: SGDState, order: Order, rates: Array) -> tuple[SGDState, float]:
            if plain:
                return perceptron_step(problems[k], state, order, rates, how)
            new, gap = epochs.sgd_step(problems[k], state, order, rates, cuts[k], limit)
            return new, 0.0 if new.steps == 0 and self.penalty is None else gap

        return advance

    def _record(self, joint: epochs.Joint) -> dict[str, Any]:
        row = epochs.record_row(joint)
        now = max(state.t for state in joint.states)
        wrong = [state.steps for state in joint.states if state.t == now]
        updates = sum(w > 0 for w in wrong) if self.rule == "batch" else sum(wrong)
        found = {"objective": row["objective"] * self._visits, "mistakes": sum(wrong)}
        found |= {"updates": int(updates), "parameters": row["parameters"]}
        return {**found, "validation_score": row["validation_score"]}

    def _problems(self, rows: Rows, targets: Targets, schedule: Any) -> list[Problem]:
        problems = super()._problems(rows, targets, schedule)
        self._visits = len(problems[0].visits.rows)
        return problems

    def _chosen(self, state: SGDState) -> tuple[Array, float]:
        if self.rule == "pocket":
            return state.mean, state.mean_intercept
        return super()._chosen(state)

    def _warn_limit(self, rows: Rows, targets: Targets, max_iter: int) -> None:
        if self.penalty is not None:
            super()._warn_limit(rows, targets, max_iter)
            return
        live = rows.w > 0
        X = rows.X if live.all() else rows.X[live]
        stuck = [(k, state) for k, state in enumerate(self._states) if state.steps > 0]
        stuck.sort(key=lambda pair: -pair[1].steps)  # the most mistakes, the easiest proof
        rules = [(targets.columns[k], s.coef[None], np.array([s.intercept])) for k, s in stuck]
        how = {"intercept": self.fit_intercept}
        mixed = any(inseparable(X, y[live] > 0, Rule(*rule), **how) for y, *rule in rules)
        why = "the rows are linearly separable, raise max_iter"
        if mixed:
            why = "the rows are not linearly separable, it will cycle"
            if self.rule in ("online", "batch"):
                why += " (rule='pocket', rule='averaged' or LogisticRegression give an answer)"
        text = f"Perceptron: mistakes in every one of max_iter={max_iter} epochs"
        warn(f"{text}: {why}", ConvergenceWarning)

    @property
    def mistake_bound_(self) -> Any:
        """(R/gamma)^2 of the training rows, computed when first asked for."""
        check_is_fitted(self)
        if "_mistake_bound" in self.__dict__:
            return self.__dict__["_mistake_bound"]
        if self not in _TRAINING:
            gone = "which this model no longer has (partial_fit or a copy)"
            see = "see pellucid.linear.linear_separability"
            raise AttributeError(f"mistake_bound_ is computed from the rows of fit, {gone}; {see}")
        rows, columns = _TRAINING.pop(self)
        live = rows.w > 0
        X = rows.X[live]
        X = to_dense(X)
        bounds = [novikoff_bound(X, y[live], intercept=self.fit_intercept) for y in columns]
        self._mistake_bound: Any = bounds[0] if len(bounds) == 1 else np.array(bounds)
        return self._mistake_bound

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        K = len(self.classes_)
        several = f", one for each of {K} classes against the rest, the largest wins"
        how = {
            "online": "every wrong row in turn moves the weights",
            "batch": "the sum over the wrong rows moves the weights",
            "pocket": "every wrong row in turn; the weights with the fewest errors are kept",
            "averaged": "every wrong row in turn; the average of the weights is kept",
        }[self.rule]
        end = "the last without a mistake" if self.converged_ else "mistakes in the last"
        penalty = "".join(f" + {term}" for term in self._terms())
        mistakes = int(self.history_[-1]["mistakes"])
        return Card(
            representation="sign(w.x + w0)" + (several if K > 2 else ", one hyperplane"),
            evaluation=f"- sum over wrong rows of y (w.x + w0){penalty}",
            optimisation=f"{how} by {self.eta0:g} y x: {self.n_iter_} epochs, {end}",
            numbers={"n_iter": self.n_iter_, "updates": self.n_updates_, "mistakes": mistakes},
        )
