r"""AdaBoost.R2: regressors in turn, each on the rows that those before it got most wrong.

Start        d_i = 1/N  (or sample_weight, normalised)
Round        f_t = regressor fitted to N rows drawn by d;   E_i = |y_i - f_t(x_i)|
             L_i = E_i / max E   ("square": its square, "exponential": 1 - exp(-L_i))
             e = sum d_i L_i;   beta = e / (1 - e);   d_i <- d_i beta^(rate (1 - L_i)) / Z
             A row that was met well loses weight, the worst one keeps it
Answer       the weighted median of the f_t(x), weights rate ln(1/beta)
End          n_estimators rounds; a member with e >= 1/2 is dropped, and one that errs only where
             no weight is left to rounding; one without error decides alone

A row of whole weight w stands w times in the list that is drawn from, in an order made of its cells
and not of its place: weight 2 is a row written twice, and the order of the rows does not matter.
Cost         a fit and a prediction of N rows each round; a sort of T numbers per row to predict.

References: Drucker (1997), Improving regressors using boosting techniques.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from pellucid.base import Regressor, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.quantiles import median_ends
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.meta import check_inner
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator, stream
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.ensemble.committees.bagging_model import seeded
from pellucid.ensemble.committees.bootstrap import MOST_DRAWS, is_whole, own_order
from pellucid.ensemble.members import WeightedMembers
from pellucid.tree.regressor import DecisionTreeRegressor

LOSSES = ("linear", "square", "exponential")
DRAW = 3  # purpose of a random stream
CELLS = 1 << 24  # of a sparse table that are written out to order its rows


class Round(NamedTuple):
    """A member, its mean loss, its weight in the median, and its largest error."""

    model: Any
    error: float
    weight: float
    largest: float


def losses(E: Array, kind: str) -> Array:
    """Errors as shares of the largest, then by the kind of loss: between 0 and 1.

    >>> losses(np.array([0.0, 1.0, 2.0]), "square").tolist()
    [0.0, 0.25, 1.0]
    """
    L = E / E.max() if E.max() > 0 else E
    if kind == "square":
        return L**2
    return -np.expm1(-L) if kind == "exponential" else L


def row_order(X: Any, y: Array) -> IntArray:
    """An order made of the cells; of a large sparse table the order of the rows."""
    if issparse(X) and X.shape[0] * X.shape[1] > CELLS:
        return np.arange(len(y))
    return own_order(to_dense(X), y)


class Rounds:
    """The rows in an order of their own, their chances, and the members so far."""

    def __init__(self, X: Any, y: Array, w: Array, template: BaseEstimator, seed: int) -> None:
        self.X, self.y, self.w, self.template, self.seed = X, y, w, template, seed
        self.order = row_order(X, y)
        self.draws = min(int(w.sum()) if is_whole(w) else len(y), MOST_DRAWS)
        self.log_f = np.zeros(len(y))  # a large rate underflows the products themselves
        self.f = np.ones(len(y))
        self.takes_weights = has_fit_parameter(template, "sample_weight")
        self.done: list[Round] = []
        self.ending = ""

    def drawn(self, t: int) -> IntArray:
        """How often each row is drawn in round t."""
        chance = (self.w * self.f)[self.order]
        ends = np.cumsum(chance)
        u = stream(self.seed, t, DRAW).random(self.draws) * ends[-1]
        place = np.minimum(np.searchsorted(ends, u, side="right"), len(ends) - 1)
        counts = np.zeros(len(ends), dtype=np.int64)
        counts[self.order] = np.bincount(place, minlength=len(ends))
        return counts

    def learn(self, t: int) -> Any:
        """The member of round t."""
        model, counts = seeded(self.template, self.seed, t), self.drawn(t)
        if self.takes_weights:
            seen = np.flatnonzero(counts)
            model.fit(self.X[seen], self.y[seen], sample_weight=counts[seen].astype(np.float64))
        else:
            many = np.repeat(self.order, counts[self.order])
            model.fit(self.X[many], self.y[many])
        return model

    def step(self, kind: str, rate: float) -> float:
        """One round; returns the mean loss of its member."""
        model = self.learn(len(self.done))
        E = np.abs(np.asarray(model.predict(self.X), dtype=np.float64) - self.y)
        L, d = losses(E, kind), self.w * self.f
        error = float(d @ L / d.sum())
        if error <= 0.0 and E.max() > 0:  # the rows that it misses have lost their weight
            self.ending = "collapse"
            return error
        if error <= 0.0:  # no error at all: it decides alone
            weight = 1.0 + sum(done.weight for done in self.done)
            self.ending = "perfect"
        elif error >= 0.5:
            self.ending = "chance"
            if self.done:
                return error
            weight = 1.0
        else:
            log_beta = math.log(error / (1 - error))
            weight = -rate * log_beta
            self.log_f += rate * (1 - L) * log_beta
            self.log_f -= self.log_f.max()
            self.f = np.exp(self.log_f)
        self.done.append(Round(model, error, weight, float(E.max())))
        return error

    def record(self) -> dict[str, Any]:
        """The row of the history."""
        if not self.done:
            return {"objective": None}
        last = self.done[-1]
        parts = {"objective": last.error, "error": last.error, "weight": last.weight}
        return {**parts, "largest_error": last.largest}

    def attributes(self) -> dict[str, Any]:
        """The fitted attributes so far."""
        return {
            "estimators_": [done.model for done in self.done],
            "estimator_weights_": np.array([done.weight for done in self.done]),
            "estimator_errors_": np.array([done.error for done in self.done]),
        }


class AdaBoostRegressor(WeightedMembers, Regressor):
    """Regressors in turn, each on the rows that those before it got most wrong (AdaBoost.R2).

    ``sample_weight`` equals repetition. A member without error is kept, decides alone and ends the
    rounds; one whose mean loss is 1/2 or more is dropped and ends them with a warning (the first is
    kept, alone).

    Parameters
    ----------
    estimator : regressor or None, default=None
        The member; None: ``DecisionTreeRegressor(max_depth=3)``.
    n_estimators : int, default=50
        Rounds at most.
    learning_rate : float, default=1.0
        Multiplies the weight of every member and slows the change of the rows' weights.
    loss : {"linear", "square", "exponential"}, default="linear"
        Of the error as a share of the largest.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of the members.

    Attributes
    ----------
    estimators_ : list
        The members.
    estimator_weights_, estimator_errors_ : ndarray of shape (members,)
        Weights in the median, and mean losses.
    history_ : History
        error (also ``objective``), weight and largest error of every round.
    feature_importances_ : ndarray of shape (n_features,)
        Weighted mean of those of the members.
    estimator_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import AdaBoostRegressor
    >>> x = np.linspace(0, 6, 60)[:, None]
    >>> model = AdaBoostRegressor(n_estimators=20, random_state=0).fit(x, np.sin(x[:, 0]))
    >>> len(model), bool(model.score(x, np.sin(x[:, 0])) > 0.95)
    (20, True)
    """

    _multi_output = False

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state

    def _template(self) -> Any:
        return DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit members round by round."""
        check.whole(n_estimators=self.n_estimators)
        check.positive(learning_rate=self.learning_rate)
        check.one_of(LOSSES, loss=self.loss)
        check_inner(self, self._template(), "fit", "predict")
        rows = self._check_training(X, y, sample_weight)
        kept = np.flatnonzero(rows.w > 0)
        table = rows.X if len(kept) == len(rows.w) else rows.X[kept]
        seed = int(generator(self.random_state).integers(2**62))
        self.estimator_ = self._template()
        rounds = Rounds(table, rows.y[kept], np.asarray(rows.w)[kept], self.estimator_, seed)
        last, given = self.n_estimators, {"X": X, "y": y, "sample_weight": sample_weight}
        context = FitContext(self, **given, max_steps=last, attributes=Rounds.attributes)
        rate = float(self.learning_rate)

        def step(state: Rounds) -> tuple[Rounds, float]:
            return state, state.step(self.loss, rate)

        def stop(_: object) -> bool:
            return bool(rounds.ending)

        loop: dict[str, Any] = {"record": Rounds.record, "context": context, "stop": stop}
        self._iterate(step, rounds, max_iter=last, tol=None, start_row=False, **loop)
        self.n_iter_ = len(rounds.done)
        for name, value in rounds.attributes().items():
            setattr(self, name, value)
        self._say(rounds)
        return self

    def _say(self, rounds: Rounds) -> None:
        self._ending = rounds.ending
        if rounds.ending == "chance":
            several = len(rounds.done) > 1 or rounds.done[0].error < 0.5
            which = "the next member" if several else "the first member, which is kept alone,"
            warn(
                f"AdaBoostRegressor stopped after {len(rounds.done)} rounds: {which} has a mean "
                "loss of at least half the largest error, so that its weight would not be positive"
            )
        elif rounds.ending == "collapse":
            said = f"AdaBoostRegressor stopped after {len(rounds.done)} rounds: {self._collapse()}"
            warn(said, ConvergenceWarning)

    def _collapse(self) -> str:
        return (
            "the next member misses rows, and all of them have lost their weight; lower "
            f"learning_rate={self.learning_rate:g}"
        )

    def _predictions(self, X: Any) -> Array:
        """What every member says, (n, T)."""
        return np.column_stack([np.asarray(model.predict(X)) for model in self.estimators_])

    def _median(self, V: Array, w: Array) -> Array:
        def leaf(start: int) -> Array:
            part = V[start : start + LEAF_ROWS]
            return median_ends(part, np.broadcast_to(w, part.shape), axis=1)[0]

        return np.concatenate(list(map_threads(leaf, range(0, len(V), LEAF_ROWS))))

    def predict(self, X: ArrayLike) -> Array:
        """The weighted median of what the members say."""
        rows = self._check_input(X)
        return self._median(self._predictions(rows), self.estimator_weights_)

    def staged_predict(self, X: ArrayLike) -> Iterator[Array]:
        """``predict`` after every round."""
        V = self._predictions(self._check_input(X))
        for t in range(1, len(self.estimators_) + 1):
            yield self._median(V[:, :t], self.estimator_weights_[:t])

    def staged_score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Iterator[float]:
        """R^2 after every round."""
        for said in self.staged_predict(X):
            yield float(r2_score(y, said, sample_weight=sample_weight))

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        kind, T = type(self.estimator_).__name__, len(self.estimators_)
        ends = {
            "perfect": "the last member fits every row and decides alone",
            "chance": "ended early: the next member was no better than half the largest error",
            "collapse": f"ended early: {self._collapse()}",
        }
        return Card(
            representation=f"the weighted median of {T} {kind}",
            evaluation=f"{self.loss} loss of the error as a share of the largest",
            optimisation="each round fits a member to rows drawn by their weights; rows that it "
            "meets well lose weight by beta^(1 - loss), beta = e/(1 - e)",
            numbers={
                "rounds": T,
                "mean loss of the first": float(self.estimator_errors_[0]),
                "mean loss of the last": float(self.estimator_errors_[-1]),
            },
            warnings=(ends[self._ending],) if self._ending else (),
        )
