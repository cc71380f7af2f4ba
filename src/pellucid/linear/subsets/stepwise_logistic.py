r"""Stepwise logistic regression: one column in or out at a time.

Model        log-odds linear in a set S of columns (softmax for K > 2 classes), no penalty
Evaluation   AIC = 2 loss + 2 k,  BIC = 2 loss + k ln n  (k parameters), or the p-value of
             the likelihood ratio 2 (loss before - loss after) ~ chi^2 of the columns that move
Algorithm    at each step every column that may move is tried, and the move that lowers the
             criterion most is made. Dropping: one refit each. Adding: refits in the order of the
             score statistic, until no column left can gain more than the best found, by a bound:
             with x_j free of S in the metric h = v p(1 - p) and c its Newton step,
             t = v (p - y) - c h x_j is orthogonal to S and to j, so that
                 loss of S + j >= sum_i v_i H(y_i + t_i/v_i)       (H the entropy)
Interactions products of two chosen columns may enter too; while one is in, neither of its
             columns may leave (the principle of marginality)

Every accepted move rests on a fit to the optimum. AIC and BIC fall at every move; p-values cannot
cycle because alpha_in <= alpha_out.

References: Venables & Ripley (2002), stepAIC; Hosmer & Lemeshow (2000), ch. 4.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import chdtrc, xlogy
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.least_squares.inference import cut, estimate_table, tail
from pellucid.linear.logistic.newton import last_step, newton_step, solve_curvature, start_newton
from pellucid.linear.logistic.rule import LogisticRule, log_probabilities
from pellucid.linear.logistic.sums import class_counts, plain_problem, typical_row
from pellucid.linear.subsets.selected import unit_columns
from pellucid.solvers import SeparationWarning

DIRECTIONS = ("forward", "backward", "both")
CRITERIA = ("aic", "bic", "p")
TOL, NEWTON = 1e-9, 60  # of the refits
MOST_MOVES = 10_000  # never reached: the moves cannot cycle
SAME = 1e-9  # values closer than this are equal
DEPENDENT = 1e-12  # a column of which a smaller share of squares is left adds nothing

Term = tuple[int, ...]  # (j,) a column, (i, j) the product of two


class Step(NamedTuple):
    """One move; ``value`` is the criterion after it (for "p" the p-value of the move)."""

    move: str  # start, add or drop
    feature: Any  # a column, a pair of columns, or None for the start
    support: tuple[Any, ...]
    log_likelihood: float
    value: float
    statistic: float  # likelihood ratio of the move
    p_value: float


class Model(NamedTuple):
    """Maximum likelihood on some terms."""

    terms: tuple[Term, ...]
    theta: Array  # (k, q), intercept first, columns about the shift
    loss: float  # with the penalty, if there is one; 0 where the classes are separated
    likelihood: float  # its logarithm
    size: int  # parameters that the data determine
    separated: bool


class State(NamedTuple):
    """The model so far, and the move that comes next (None: stop)."""

    model: Model
    steps: tuple[Step, ...]
    pending: tuple[Step, Model] | None


class Search(NamedTuple):
    """The data and the rules of the search."""

    X: Array  # (n, p)
    codes: IntArray
    n_classes: int
    w: Array
    shift: Array
    direction: str
    criterion: str
    interactions: bool
    most: int
    alpha_in: float
    alpha_out: float
    intercept: bool
    ridge: float  # 1/C

    @property
    def total(self) -> float:
        return float(self.w.sum())

    def column(self, term: Term) -> Array:
        """A column about a typical row, or the product of two such."""
        Z = self.X[:, list(term)] - self.shift[list(term)]
        return Z[:, 0] if len(term) == 1 else Z[:, 0] * Z[:, 1]

    def design(self, terms: tuple[Term, ...]) -> Array:
        if not terms:
            return np.zeros((len(self.X), 0))
        return np.column_stack([self.column(term) for term in terms])

    def value(self, model: Model) -> float:
        each = 2.0 if self.criterion == "aic" else np.log(self.total)
        return 2 * model.loss + each * model.size


def fit_terms(search: Search, terms: tuple[Term, ...], start: Model | None = None) -> Model:
    """Newton to the optimum, from the weights of a neighbouring model."""
    D = search.design(terms)
    source = Rows(np.ascontiguousarray(D), search.codes, search.w)
    q = len(terms) + 1
    problem = plain_problem(source, search.n_classes, np.zeros(q - 1), search.intercept)
    problem = problem.shrunk(search.ridge / search.total)
    theta = np.zeros((problem.n_scores, q))
    if start is not None and not start.separated:
        theta[:, 0] = start.theta[:, 0]
        for a, term in enumerate(terms):
            if term in start.terms:
                theta[:, a + 1] = start.theta[:, start.terms.index(term) + 1]
    state = start_newton(problem, theta)
    for _ in range(NEWTON):
        if state.gap <= TOL or (state.point.wrong == 0 and search.ridge == 0):
            break
        state, _ = newton_step(problem, state)
    point, N = state.point, search.total
    A = np.column_stack([np.ones(len(D)), D]) if search.intercept else D
    size = int(np.linalg.matrix_rank(unit_columns(A))) * (search.n_classes - 1)
    if point.wrong == 0 and search.ridge == 0:
        return Model(terms, point.theta, 0.0, -point.loss, size, True)
    theta = last_step(state) if state.gap <= TOL else point.theta
    return Model(terms, theta, N * point.objective, -point.loss, size, False)


def candidates(search: Search, model: Model) -> list[Term]:
    """Terms that may enter: columns, and products of two columns that are in."""
    columns = [(j,) for j in range(search.X.shape[1]) if (j,) not in model.terms]
    if not search.interactions:
        return list(columns)
    inside = sorted(term[0] for term in model.terms if len(term) == 1)
    pairs = [(i, j) for a, i in enumerate(inside) for j in inside[a + 1 :]]
    return [*columns, *(pair for pair in pairs if pair not in model.terms)]


def bounds(search: Search, model: Model, terms: list[Term]) -> tuple[Array, Array]:
    """Score statistic of each term, and a lower bound of the loss with it (-inf: none)."""
    K = search.n_classes
    if K > 2:
        return np.zeros(len(terms)), np.full(len(terms), -np.inf)
    D, w = search.design(model.terms), search.w
    z = D @ model.theta[0, 1:] + model.theta[0, 0]
    P = np.exp(log_probabilities(z[:, None]))[:, 1]
    g, h = w * (P - search.codes), w * P * (1 - P)
    A = np.column_stack([np.ones(len(D)), D]) if search.intercept else D
    G = (A * h[:, None]).T @ A
    scores, low = np.zeros(len(terms)), np.full(len(terms), -np.inf)
    for a, term in enumerate(terms):
        x = search.column(term)
        if A.shape[1]:
            x = x + A @ solve_curvature(G, (A * h[:, None]).T @ x).step
        curve, slope = float(h @ x**2), float(g @ x)
        if not curve > DEPENDENT * float(h @ search.column(term) ** 2):
            scores[a], low[a] = -1.0, model.loss
            continue
        scores[a] = slope**2 / curve
        T = P - (slope / curve) * P * (1 - P) * x
        residue = A.T @ (w * (T - search.codes)) if A.shape[1] else np.zeros(0)
        if T.min() >= 0 and T.max() <= 1 and np.abs(residue).max(initial=0.0) < 1e-6 * w.sum():
            low[a] = float(-(w @ (xlogy(T, T) + xlogy(1 - T, 1 - T)))) - 1e-6
    return scores, low


def best_add(search: Search, model: Model) -> tuple[Step, Model] | None:
    """The term that lowers the loss most, found with as few refits as the bounds allow."""
    if len(model.terms) >= search.most or model.loss <= SAME * search.total:
        return None
    terms = candidates(search, model)
    scores, low = bounds(search, model, terms)
    live = [a for a in np.argsort(-scores, kind="stable") if scores[a] >= 0]
    best: Model | None = None
    for a in live:
        if best is not None and low[a] >= best.loss:
            continue
        found = fit_terms(search, (*model.terms, terms[a]), model)
        if found.size > model.size and (best is None or found.loss < best.loss - SAME):
            best = found
    return None if best is None else (_move(search, "add", best.terms[-1], model, best), best)


def best_drop(search: Search, model: Model) -> tuple[Step, Model] | None:
    """The term whose absence raises the loss least; no column of a product that is in."""
    held = {j for term in model.terms if len(term) == 2 for j in term}
    best: Model | None = None
    gone: Term = ()
    for term in (t for t in model.terms if len(t) == 2 or t[0] not in held):
        found = fit_terms(search, tuple(t for t in model.terms if t != term), model)
        if best is None or found.loss < best.loss - SAME:
            best, gone = found, term
    return None if best is None else (_move(search, "drop", gone, model, best), best)


def _move(search: Search, move: str, term: Term, old: Model, new: Model) -> Step:
    ratio = max(2 * abs(old.loss - new.loss), 0.0)
    df = abs(new.size - old.size)
    p = float(chdtrc(df, ratio)) if df else 1.0
    value = p if search.criterion == "p" else search.value(new)
    support = tuple(_name(t) for t in sorted(new.terms, key=lambda t: (len(t), t)))
    return Step(move, _name(term), support, new.likelihood, value, ratio, p)


def _name(term: Term) -> Any:
    return term[0] if len(term) == 1 else term


def next_move(search: Search, model: Model) -> tuple[Step, Model] | None:
    """The move that the rules ask for, or None."""
    drop = best_drop(search, model) if search.direction != "forward" else None
    if len(model.terms) > search.most:
        return drop if drop is not None else best_drop(search, model)
    if search.criterion == "p" and drop is not None and drop[0].p_value > search.alpha_out:
        return drop
    add = best_add(search, model) if search.direction != "backward" else None
    if search.criterion == "p":
        return add if add is not None and add[0].p_value < search.alpha_in else None
    now = search.value(model)
    better = [m for m in (drop, add) if m is not None and m[0].value < now - SAME]
    return min(better, key=lambda m: m[0].value) if better else None


def step_once(search: Search, state: State) -> tuple[State, float]:
    """Make the pending move and find the next one; gap 0 when there is none."""
    assert state.pending is not None
    step, model = state.pending
    with single_threaded_blas():
        pending = next_move(search, model)
    return State(model, (*state.steps, step), pending), float(pending is not None)


class StepwiseLogisticRegression(LogisticRule):
    """Logistic regression on columns that enter or leave one at a time.

    Parameters
    ----------
    direction : {"forward", "backward", "both"}, default="both"
        Only add, only drop (from all columns), or try every add and drop at each step.
    criterion : {"aic", "bic", "p"}, default="aic"
        "aic", "bic": the best move while the criterion falls. "p": drop the column with the
        largest likelihood-ratio p-value above ``alpha_out``, else add the one with the smallest
        below ``alpha_in``.
    interactions : bool, default=False
        Products of two chosen columns may enter too; their columns then stay.
    max_features : int or None, default=None
        Terms at most; a backward run goes on dropping until it has no more.
    alpha_in, alpha_out : float, default=0.05 and 0.10
        Of criterion "p"; alpha_in must not exceed alpha_out.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    C : float, default=inf
        Inverse strength of a ridge penalty sum w^2/(2C), for columns that separate the classes;
        it is then part of the criterion.

    Attributes
    ----------
    steps_ : list of Step(move, feature, support, log_likelihood, value, statistic, p_value)
    support_ : mask of the chosen columns
    interactions_ : list of the chosen pairs of columns
    coef_, intercept_ : for the columns, 0 outside the choice
    interaction_coef_ : (k, number of pairs), for the products of the raw columns
    log_likelihood_, aic_, bic_, history_ : of the chosen model, and the run step by step

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import StepwiseLogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = 2 * X[:, 1] - X[:, 3] + rng.logistic(size=200) > 0
    >>> model = StepwiseLogisticRegression(criterion="bic").fit(X, y)
    >>> [(step.move, step.feature) for step in model.steps_]
    [('start', None), ('add', 1), ('add', 3)]
    """

    def __init__(
        self,
        *,
        direction: str = "both",
        criterion: str = "aic",
        interactions: bool = False,
        max_features: int | None = None,
        alpha_in: float = 0.05,
        alpha_out: float = 0.10,
        fit_intercept: bool = True,
        C: float = np.inf,
    ) -> None:
        self.direction = direction
        self.criterion = criterion
        self.interactions = interactions
        self.max_features = max_features
        self.alpha_in = alpha_in
        self.alpha_out = alpha_out
        self.fit_intercept = fit_intercept
        self.C = C

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add and drop columns while the criterion improves."""
        self._check_parameters()
        rows = self._check_training(X, y, sample_weight)
        self._need_two_classes(rows.n_rows)
        K = len(self.classes_)
        counts = class_counts(K, rows)
        if (counts == 0).any():
            raise ValueError("every class needs rows of positive weight")
        search = self._search(rows)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight, max_steps=None)
        context.attributes = lambda s: self._fitted(search, s) if s else {}
        with single_threaded_blas():
            state = self._start(search)

        def record(s: State) -> dict[str, Any]:
            return {"objective": 2 * s.model.loss, "terms": len(s.model.terms)}

        def step(s: State) -> tuple[State, float]:
            return step_once(search, s) if moves else (s, 0.0)

        moves = MOST_MOVES if state.pending is not None else 0
        how: dict[str, Any] = {"max_iter": moves or 1, "tol": 0.5, "context": context}
        state = self._iterate(step, state, record=record, **how).state
        self.__dict__.update(self._fitted(search, state))
        if state.model.separated:
            why = "the maximum likelihood is not attained"
            kept = "the weights are those of the step that got every row right; give a finite C"
            text = f"the chosen columns separate the classes: {why}, and {kept}"
            warn(text, SeparationWarning)
        return self

    def _check_parameters(self) -> None:
        check.one_of(DIRECTIONS, direction=self.direction)
        check.one_of(CRITERIA, criterion=self.criterion)
        check.boolean(interactions=self.interactions, fit_intercept=self.fit_intercept)
        check.fraction(alpha_in=self.alpha_in, alpha_out=self.alpha_out)
        check.positive(C=self.C)
        if self.alpha_in > self.alpha_out:
            most = f"alpha_out={self.alpha_out!r}"
            raise ValueError(f"alpha_in must not exceed {most}, got {self.alpha_in!r}")
        if self.max_features is not None:
            check.whole(max_features=self.max_features, at_least=0)

    def _search(self, rows: Rows) -> Search:
        p = rows.X.shape[1]
        shift = typical_row(rows.X, rows.w) if self.fit_intercept else np.zeros(p)
        most = p * (p + 1) // 2 if self.max_features is None else self.max_features
        data = rows.X, rows.y, len(self.classes_), np.ascontiguousarray(rows.w), shift
        what = self.direction, self.criterion, self.interactions, int(most)
        levels = self.alpha_in, self.alpha_out
        return Search(*data, *what, *levels, self.fit_intercept, 1 / self.C)

    def _start(self, search: Search) -> State:
        p = search.X.shape[1]
        every = tuple((j,) for j in range(p)) if self.direction == "backward" else ()
        n = int((search.w > 0).sum())
        if every and not n > p + self.fit_intercept:
            needs = "direction='backward' needs more rows than columns, use 'forward'"
            raise ValueError(f"{needs}: got {n} rows of positive weight and {p} columns")
        model = fit_terms(search, every)
        value = np.nan if self.criterion == "p" else search.value(model)
        names = tuple(term[0] for term in model.terms)
        first = Step("start", None, names, model.likelihood, value, np.nan, np.nan)
        return State(model, (first,), next_move(search, model))

    def _fitted(self, search: Search, state: State) -> dict[str, Any]:
        """The fitted attributes of a state, in the units of X."""
        model, p = state.model, search.X.shape[1]
        k = len(model.theta)
        coef, b = np.zeros((k, p)), model.theta[:, 0].copy()
        pairs: list[Term] = sorted(term for term in model.terms if len(term) == 2)
        products = np.zeros((k, len(pairs)))
        for a, term in enumerate(model.terms):
            t, m = model.theta[:, a + 1], search.shift[list(term)]
            if len(term) == 1:
                coef[:, term[0]] += t
                b -= t * m[0]
            else:  # (x - m)(z - l) = xz - l x - m z + m l
                products[:, pairs.index(term)] = t
                coef[:, term[0]] -= t * m[1]
                coef[:, term[1]] -= t * m[0]
                b += t * m[0] * m[1]
        support = np.zeros(p, dtype=bool)
        support[[term[0] for term in model.terms if len(term) == 1]] = True
        n, deviance = search.total, -2 * model.likelihood
        found: dict[str, Any] = {"coef_": coef}
        found["intercept_"] = b if search.intercept else np.zeros(k)
        found |= {"interaction_coef_": products, "interactions_": pairs}
        found |= {"support_": support, "steps_": list(state.steps), "classes_": self.classes_}
        found |= {"log_likelihood_": model.likelihood, "aic_": deviance + 2 * model.size}
        found |= {"bic_": deviance + model.size * np.log(n), "n_observations_": n}
        covariance = raw_covariance(search, model, pairs)
        return {**found, "n_parameters_": model.size, "_covariance": covariance}

    def _scores(self, X: np.ndarray) -> Array:
        scores = super()._scores(X)
        if self.interactions_:
            left, right = np.array(self.interactions_).T
            scores = scores + (X[:, left] * X[:, right]) @ self.interaction_coef_.T
        return scores

    def boundary(self, k: Any = None, l: Any = None) -> Any:  # noqa: E741
        """The hyperplane between two labels; with products chosen there is none."""
        check_is_fitted(self)
        if self.interactions_:
            raise ValueError("products of columns were chosen: the boundary is not a hyperplane")
        return super().boundary(k, l)

    def explain(self, X: ArrayLike) -> Any:
        """The score of each row split by feature; with products chosen it does not split."""
        check_is_fitted(self)
        if self.interactions_:
            raise ValueError("products of columns were chosen: the score does not split by feature")
        return super().explain(X)

    def get_support(self, indices: bool = False) -> Any:
        """The mask of the chosen columns, or their positions."""
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_.copy()

    def summary(self, confidence: float = 0.95) -> Summary:
        """Estimates and Wald errors of the chosen terms as if they had been given beforehand.

        More than two classes: log-odds against the first.
        """
        check.fraction(confidence=confidence)
        check_is_fitted(self)
        names, b = self._chosen()
        error = np.sqrt(np.maximum(np.diag(self._covariance), 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            z = b / error
        half = cut(confidence, np.inf, "normal") * error
        scalars = {"n": self.n_observations_, "log_likelihood": self.log_likelihood_}
        return Summary(
            title="Logistic regression on chosen columns",
            names=names,
            arrays=estimate_table(b, error, z, tail(z, np.inf, "normal"), half),
            scalars={**scalars, "aic": self.aic_, "bic": self.bic_},
            valid=False,
            reason="selected on the same data: the estimates are too large and the errors too "
            "small; fit the chosen columns on new rows for a test",
        )

    def _chosen(self) -> tuple[tuple[str, ...], Array]:
        """Names and estimates of the chosen terms; K - 1 blocks against the first class."""
        label = self._feature_names()
        chosen = np.flatnonzero(self.support_)
        names = [*(["intercept"] if self.fit_intercept else []), *(label[j] for j in chosen)]
        names += [f"{label[i]}:{label[j]}" for i, j in self.interactions_]
        T = np.column_stack([self.intercept_, self.coef_[:, chosen], self.interaction_coef_])
        T = T if self.fit_intercept else T[:, 1:]
        if len(self.classes_) == 2:
            return tuple(names), T[0]
        T = T[1:] - T[:1]
        blocks = [f"{c}: {name}" for c in self.classes_[1:] for name in names]
        return tuple(blocks), T.ravel()

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        moves = [step.move for step in self.steps_]
        rule = {
            "aic": "AIC = 2 loss + 2 k",
            "bic": "BIC = 2 loss + k ln n",
            "p": f"likelihood-ratio p-values: in below {self.alpha_in:g}, out above "
            f"{self.alpha_out:g}",
        }[self.criterion]
        penalty = "" if np.isinf(self.C) else f" + {0.5 / self.C:.6g} sum w^2"
        kind = "log-odds linear in" if len(self.classes_) == 2 else "softmax of linear scores in"
        products = f" and {len(self.interactions_)} products" if self.interactions_ else ""
        columns = f"{int(self.support_.sum())} of {self.n_features_in_} columns"
        numbers = {"log-likelihood": self.log_likelihood_, "AIC": self.aic_, "BIC": self.bic_}
        note = "tests and intervals after the choice are not valid: chosen on the same data"
        return Card(
            representation=f"{kind} {columns}{products}",
            evaluation=f"log-loss{penalty}; the columns by {rule}",
            optimisation=f"{self.direction}: {moves.count('add')} added, {moves.count('drop')} "
            "dropped, each move refitted to the optimum by Newton's method",
            numbers={**numbers, "n": self.n_observations_, "parameters": self.n_parameters_},
            warnings=(note,),
        )


def raw_covariance(search: Search, model: Model, pairs: list[Term]) -> Array:
    """Inverse information of the chosen terms in the units of X; NaN where it is singular."""
    terms: list[Term] = [*sorted(t for t in model.terms if len(t) == 1), *pairs]
    n, K = len(search.X), search.n_classes
    parts = [np.ones(n)] if search.intercept else []
    parts += [search.X[:, list(t)].prod(axis=1) for t in terms]
    D = np.column_stack(parts) if parts else np.zeros((n, 0))
    Z = search.design(model.terms) @ model.theta[:, 1:].T + model.theta[:, 0] * search.intercept
    P = np.exp(log_probabilities(Z))
    q = D.shape[1]
    H = np.zeros(((K - 1) * q, (K - 1) * q))
    for a in range(1, K):
        for c in range(1, K):
            h = search.w * P[:, a] * ((a == c) - P[:, c])
            H[(a - 1) * q : a * q, (c - 1) * q : c * q] = (D * h[:, None]).T @ D
    scale = np.sqrt(np.maximum(np.diag(H), 0.0))
    if not (scale > 0).all():
        return np.full(H.shape, np.nan)
    U = H / np.outer(scale, scale)
    if not np.linalg.cond(U) < 1e12:
        return np.full(H.shape, np.nan)
    return np.linalg.inv(U) / np.outer(scale, scale)
