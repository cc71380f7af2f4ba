"""Base of both classes of exact gradient boosting."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from pellucid.base import Estimator, check_weights, with_callbacks
from pellucid.compiled.trees.presort import presort
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray
from pellucid.core.loops.early_stopping import EarlyStopping
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import check_inner, fitted
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator, stream
from pellucid.core.runtime.stand_ins import both, instance_class
from pellucid.core.runtime.warn import warn
from pellucid.ensemble.boosting.gradient_losses import GradientLoss, Leaves
from pellucid.ensemble.committees.bootstrap import refuse_fewer
from pellucid.ensemble.forest.forest_model import check_fitted_forest
from pellucid.ensemble.forest.record import Forest, join_forests, join_trees
from pellucid.ensemble.members import count, member, members
from pellucid.tree.cart import column_count
from pellucid.tree.growing import Growth, grow_tree
from pellucid.tree.pruning import prune_at
from pellucid.tree.record import Tree
from pellucid.tree.regressor import DecisionTreeRegressor

SUBSAMPLE, TREE = 1, 2  # purposes of random streams


class Part(NamedTuple):
    """Rows, their targets, weights and scores F (K, n)."""

    X: Array
    y: Array
    w: Array
    F: Array


class Plan(NamedTuple):
    """What every round is asked to do."""

    loss: GradientLoss
    growth: Growth
    rate: float
    subsample: float
    least_share: float  # of the weight, in a leaf
    ccp_alpha: float
    seed: int
    first: int  # number of the first round: more than 0 after a warm start


class Rounds:
    """The scores of the rows and the trees that led to them; ``held`` are rows kept aside."""

    def __init__(self, rows: Part, held: Part | None, plan: Plan) -> None:
        self.rows, self.held, self.plan = rows, held, plan
        self.data = presort(rows.X)
        self.trees: list[Tree] = []
        self.train: list[float] = []
        self.validation: list[float] = []
        self.oob: list[float] = []
        self.improvement: list[float] = []
        self.objective = self._mean(rows)

    def _mean(self, part: Part, seen: slice | BoolArray = slice(None)) -> float:
        return self.plan.loss.mean(part.y[seen], part.F[:, seen], part.w[seen])

    def whole(self) -> float:
        """The mean loss of all rows, in the bag or not."""
        return self._mean(self.rows)

    def step(self, before: float | None) -> float:
        """One tree per score; ``before`` is the out-of-bag loss of the round before."""
        rows, plan = self.rows, self.plan
        number = plan.first + len(self.train)
        bag, out = self._draw(number)
        if out is not None and before is None:
            before = self._mean(rows, out)
        w = rows.w if out is None else np.where(bag, rows.w, 0.0)
        R = plan.loss.residual(rows.y, rows.F, rows.w)
        start = rows.F.copy() if len(R) > 1 else rows.F
        for k, r in enumerate(R):
            tree = self._grow(r, w, number * len(R) + k)
            node = tree.apply(rows.X)
            leaves = Leaves(node, w, tree.node_count)
            value = plan.loss.values(rows.y, start, r, leaves, k)
            if value is not None:
                value = np.where(tree.feature < 0, value, tree.value[:, 0, 0])
                tree = tree._replace(value=value[:, None, None].copy())
            rows.F[k] += plan.rate * tree.value[node, 0, 0]
            if self.held is not None:
                held = tree.apply(self.held.X)
                self.held.F[k] += plan.rate * tree.value[held, 0, 0]
            self.trees.append(tree)
        return self._judge(bag, out, before)

    def _draw(self, number: int) -> tuple[Any, Any]:
        """The rows in the bag and out of it, as masks; (all, None) without subsampling."""
        n = len(self.rows.y)
        if self.plan.subsample >= 1.0:
            return slice(None), None
        bag = np.zeros(n, bool)
        size = max(1, int(self.plan.subsample * n))
        bag[stream(self.plan.seed, number, SUBSAMPLE).permutation(n)[:size]] = True
        return bag, ~bag

    def _grow(self, r: Array, w: Array, number: int) -> Tree:
        plan = self.plan
        growth = plan.growth
        if plan.least_share > 0:
            growth = growth._replace(min_weight_leaf=plan.least_share * float(w.sum()))
        seed = int(stream(plan.seed, number, TREE).integers(2**62)) if growth.max_features else 0
        tree = grow_tree(self.data, r[:, None], w, growth, seed)
        return prune_at(tree, plan.ccp_alpha) if plan.ccp_alpha > 0 else tree

    def _judge(self, bag: slice | BoolArray, out: BoolArray | None, before: float | None) -> float:
        """Losses after a round; returns the last one out of bag."""
        self.objective = self._mean(self.rows, bag)
        self.train.append(self.objective)
        if self.held is not None:
            self.validation.append(self._mean(self.held))
        if out is None or before is None:
            return 0.0
        now = self._mean(self.rows, out)
        self.oob.append(now)
        self.improvement.append(before - now)
        return now

    def record(self) -> dict[str, float]:
        """The row of the history."""
        row = {"objective": self.objective}
        if self.validation:
            row["validation"] = self.validation[-1]
        if self.improvement:
            row["oob_improvement"] = self.improvement[-1]
        return row


TREE_PARAMETERS: tuple[str, ...] = ("max_depth", "min_samples_split", "min_samples_leaf")
TREE_PARAMETERS += ("min_weight_fraction_leaf", "max_features", "max_leaf_nodes")
TREE_PARAMETERS += ("min_impurity_decrease", "ccp_alpha")


class StartScores(NamedTuple):
    """The one field of ``BestConstant``."""

    scores: Array


class BestConstant(StartScores):
    """The scores (K,) from which boosting starts."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """scikit-learn's constant models for whoever asks."""
        pair = [
            instance_class(BestConstant, "sklearn.dummy", f"Dummy{kind}")
            for kind in ("Classifier", "Regressor")
        ]
        return BestConstant if BestConstant in pair else both(*pair)

    def __reduce__(self) -> tuple[Any, ...]:  # pickle would hold ``__class__`` against the type
        return BestConstant, tuple(self)

    @property
    def constant_(self) -> Array:
        """The scores as ``DummyRegressor`` keeps them, (1, K)."""
        return self.scores[None]

    @property
    def class_prior_(self) -> Array:
        """The shares of the classes whose log-odds the scores are."""
        if len(self.scores) > 1:
            return softmax(self.scores)
        return expit(np.array([-self.scores[0], self.scores[0]]))

    def raw(self, n: int) -> Array:
        """Scores (K, n)."""
        return np.repeat(self.scores[:, None], n, axis=1)


class GradientBoosting(Estimator):
    """What the regressor and the classifier share: everything but the meaning of y."""

    __len__, __getitem__, __iter__ = count, member, members

    _accepts_sparse = True
    _rate_name = "learning_rate"
    criterion: str

    @abstractmethod
    def _make_loss(self) -> GradientLoss:
        """The loss that ``loss`` names, checked."""

    @abstractmethod
    def _rows(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Array, Array, Array]:
        """X, y as numbers and weights of the rows that have any."""

    @abstractmethod
    def _known_targets(self, y: ArrayLike, n: int) -> Array:
        """y of rows kept aside as numbers."""

    @abstractmethod
    def _init_scores(self, loss: GradientLoss, model: BaseEstimator, X: Array) -> Array:
        """Scores (K, n) of a fitted ``init``."""

    def __getstate__(self) -> dict[str, Any]:
        """The start as plain scores: what copies objects is not told that it is scikit-learn's."""
        state = super().__getstate__()
        if isinstance(state.get("init_"), BestConstant):
            state = {**state, "init_": StartScores(*state["init_"])}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("init_"), StartScores):
            state = {**state, "init_": BestConstant(*state["init_"])}
        super().__setstate__(state)

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> Array:
        """What ``sklearn.inspection.partial_dependence`` asks for: (K, n), without the start."""
        found = np.zeros((self.n_trees_per_iteration_, len(grid)))
        for row in self.estimators_:
            for k, tree in enumerate(row):
                tree.tree_.compute_partial_dependence(grid, target_features, found[k])
        return self.learning_rate * found

    def _check_matrix(self, X: Any, *, reset: bool, finite: bool) -> Any:
        """Sparse tables become dense: the columns are sorted anyway."""
        X = super()._check_matrix(X, reset=reset, finite=finite)
        return to_dense(X)

    def _check_parameters(self) -> EarlyStopping | None:
        if self.criterion != "deprecated":
            check.one_of(("friedman_mse", "squared_error"), criterion=self.criterion)
            warn("The parameter `criterion` is deprecated: both mean the same", FutureWarning)
        check.non_negative(learning_rate=self.learning_rate, tol=self.tol)
        check.whole(n_estimators=self.n_estimators)
        check.boolean(warm_start=self.warm_start)
        check.fraction(validation_fraction=self.validation_fraction)
        if isinstance(self.subsample, str) or not 0.0 < self.subsample <= 1.0:
            raise ValueError(f"subsample must be in (0, 1], got {self.subsample!r}")
        if isinstance(self.init, str) and self.init != "zero":
            raise ValueError(f"init must be an estimator, 'zero' or None, got {self.init!r}")
        given = self.early_stopping
        if given is not None:
            if not isinstance(given, EarlyStopping):
                raise ValueError(f"early_stopping must be EarlyStopping(...) or None, got {given}")
            given.check()
            return given
        if self.n_iter_no_change is None:
            return None
        check.whole(n_iter_no_change=self.n_iter_no_change)
        return EarlyStopping(self.validation_fraction, self.n_iter_no_change, self.tol, False)

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: Any = None,
        monitor: Callable[..., Any] | None = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Boost; ``X_val, y_val`` are one's own rows for early stopping.

        ``monitor(i, self, {"rounds": ...})`` is called after every round and may return True to
        stop, as in scikit-learn.
        """
        stopping = self._check_parameters()
        again = self.warm_start and hasattr(self, "forest_")
        table, target, w = self._rows(X, y, sample_weight)
        loss = self._make_loss()
        growth = self._growth(len(table), float(w.sum()))
        if not again:
            self._seed = int(generator(self.random_state).integers(2**62))
        held = self._given(X_val, y_val, sample_weight_val)
        stopping = EarlyStopping() if stopping is None and held is not None else stopping
        if stopping is not None and held is None:
            (table, target, w), held = self._set_aside(table, target, w, stopping)
        self.n_trees_per_iteration_ = loss.K
        if not again:
            self._fit_init(loss, table, target, w, sample_weight is not None)
        rows, kept = (self._part(loss, part, again) for part in ((table, target, w), held))
        done = self.forest_.n_trees // loss.K if again else 0
        refuse_fewer(self.n_estimators, done, "rounds")
        rates = self.learning_rate, self.subsample, self.min_weight_fraction_leaf, self.ccp_alpha
        plan = Plan(loss, growth, *rates, self._seed, done)
        self._run(Rounds(rows, kept, plan), stopping, again, monitor)
        return self

    def _growth(self, n: int, total: float) -> Growth:
        """The parameters of the trees, checked."""
        self.max_features_ = column_count(self.max_features, self.n_features_in_)
        growth = self._tree()._growth(n, total)
        everything = self.max_features_ >= self.n_features_in_
        return growth._replace(max_features=None) if everything else growth

    def _given(self, X: Any, y: Any, weights: ArrayLike | None) -> Any:
        """The caller's own rows for early stopping."""
        if X is None and y is None:
            return None
        if X is None or y is None:
            raise ValueError("X_val and y_val go together: one of them was not given")
        X = self._check_matrix(X, reset=False, finite=True)
        return X, self._known_targets(y, len(X)), check_weights(weights, X)

    def _set_aside(self, X: Array, y: Array, w: Array, stopping: EarlyStopping) -> Any:
        """Training and validation rows; classes keep their shares."""
        labels = hasattr(self, "classes_")
        seed = self.random_state
        if isinstance(seed, np.random.Generator) or seed is None:
            seed = int(self._seed % 2**31)
        share, strata = stopping.validation_fraction, y if labels else None
        parts = train_test_split(X, y, w, random_state=seed, test_size=share, stratify=strata)
        train, held = tuple(parts[::2]), tuple(parts[1::2])
        if labels and len(np.unique(train[1])) < len(self.classes_):
            lost = "The training data after the early stopping split is missing some classes"
            found, asked = len(np.unique(train[1])), len(self.classes_)
            raise ValueError(f"{lost}: it has {found} of {asked}")
        return train, held

    def _fit_init(self, loss: GradientLoss, X: Array, y: Array, w: Array, weighted: bool) -> None:
        if self.init is None:
            self.init_: Any = BestConstant(loss.start(y, w))
            return
        if isinstance(self.init, str):
            self.init_ = BestConstant(np.zeros(loss.K))
            return
        check_inner(self, self.init, "fit")
        params = {"sample_weight": w} if weighted else {}
        if weighted and not has_fit_parameter(self.init, "sample_weight"):
            name = type(self.init).__name__
            raise ValueError(f"The initial estimator {name} does not support sample weights")
        self.init_ = fitted(clone(self.init), X, y, **params)

    def _start(self, loss: GradientLoss, X: Array) -> Array:
        """Scores (K, n) before the first tree."""
        if isinstance(self.init_, BestConstant):
            return self.init_.raw(len(X))
        return np.array(self._init_scores(loss, self.init_, X), dtype=np.float64)

    def _part(
        self, loss: GradientLoss, rows: tuple[Array, Array, Array] | None, again: bool
    ) -> Any:
        if rows is None:
            return None
        X, y, w = rows
        return Part(X, y, w, self._raw(X) if again else self._start(loss, X))

    def _run(
        self, rounds: Rounds, stopping: EarlyStopping | None, again: bool, monitor: Any
    ) -> None:
        old = self._before() if again else None
        if old is not None:
            rounds.validation = list(self.validation_score_)
            rounds.train = []
        left = self.n_estimators - rounds.plan.first

        def fitted(_: object) -> dict[str, Any]:
            return self._attributes(rounds, old, None)

        context = FitContext.of_rows(self, rounds.rows, max_steps=left, attributes=fitted)
        last = old["oob_scores_"][-1] if old and len(old["oob_scores_"]) else None

        def step(before: float | None) -> tuple[float | None, float]:
            was = rounds.objective
            with np.errstate(over="ignore", invalid="ignore"):  # the loop looks at the loss
                now = rounds.step(before)
            return now, abs(was - rounds.objective)

        def stop(_: object) -> bool:
            done = stopping is not None and stopping.ends(rounds.validation)
            if monitor is not None:
                self._unpack(self._attributes(rounds, old, None))
                number = rounds.plan.first + len(rounds.train) - 1
                done = bool(monitor(number, self, {"rounds": rounds})) or done
            return done

        def record(_: object) -> dict[str, float]:
            return rounds.record()

        def explain(_: object) -> str:
            kept = "the loss left the finite numbers; the rounds before it are kept"
            return f"{kept}; {self._cure_of_a_rise()}"

        loop: dict[str, Any] = {"tol": None, "record": record, "context": context, "stop": stop}
        loop |= {"explain": explain, "end": rounds.whole if self.subsample < 1.0 else None}
        keep = self._iterate(step, last, max_iter=left, **loop).n_iter
        if stopping is not None and stopping.restore_best and rounds.validation:
            best = int(np.argmin(rounds.validation)) + 1
            keep = max(best - rounds.plan.first, 0 if old else 1)
        self._unpack(self._attributes(rounds, old, keep))

    def _unpack(self, found: dict[str, Any]) -> None:
        self.forest_: Forest = found["forest_"]
        self.n_estimators_: int = found["n_estimators_"]
        self.train_score_: Array = found["train_score_"]
        self.validation_score_: Array = found["validation_score_"]
        if self.subsample < 1.0:
            self.oob_improvement_: Array = found["oob_improvement_"]
            self.oob_scores_: Array = found["oob_scores_"]
            self.oob_score_ = float(self.oob_scores_[-1])

    def _before(self) -> dict[str, Any]:
        """What a warm start goes on from."""
        none = np.zeros(0)
        return {
            "forest_": self.forest_,
            "train_score_": self.train_score_,
            "oob_improvement_": getattr(self, "oob_improvement_", none),
            "oob_scores_": getattr(self, "oob_scores_", none),
        }

    def _attributes(
        self, rounds: Rounds, old: dict[str, Any] | None, keep: int | None
    ) -> dict[str, Any]:
        """The fitted attributes after ``keep`` of the new rounds (None: all)."""
        K = rounds.plan.loss.K
        keep = len(rounds.train) if keep is None else keep
        trees = rounds.trees[: keep * K]
        forest = join_trees(trees) if trees else None
        if old is not None:
            forest = old["forest_"] if forest is None else join_forests(old["forest_"], forest)
        names = "train_score_", "oob_improvement_", "oob_scores_"
        lists = rounds.train, rounds.improvement, rounds.oob
        found: dict[str, Any] = {
            name: np.array([*([] if old is None else old[name]), *values[:keep]])
            for name, values in zip(names, lists, strict=True)
        }
        found["validation_score_"] = np.array(rounds.validation)
        return found | {"forest_": forest, "n_estimators_": rounds.plan.first + keep}

    def _scaled(self) -> Forest:
        """The trees with values (nodes, K) in the column of their score, times the rate."""
        forest, K = self.forest_, self.n_trees_per_iteration_
        tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.start))
        value = np.zeros((len(tree), K))
        value[np.arange(len(tree)), tree % K] = self.learning_rate * forest.value[:, 0]
        return forest._replace(value=value)

    def _raw(self, X: Array) -> Array:
        """Scores (K, n)."""
        return self._start(self._make_loss(), X) + self._scaled().sum_values(X).T

    def _staged(self, X: ArrayLike) -> Iterator[Array]:
        """Scores (K, n) after every round."""
        rows = self._check_input(X)
        F, K = self._start(self._make_loss(), rows), self.n_trees_per_iteration_
        for i in range(self.n_estimators_):
            for k in range(K):
                tree = self.forest_.tree(i * K + k)
                F[k] += self.learning_rate * tree.value[tree.apply(rows), 0, 0]
            yield F.copy()

    @property
    def estimators_(self) -> Any:
        """The trees as regressors, (rounds, K), made on demand from ``forest_``."""
        check_is_fitted(self)
        out = np.empty((self.n_estimators_, self.n_trees_per_iteration_), dtype=object)
        for t in range(self.forest_.n_trees):
            model = self._tree()
            model.tree_ = self.forest_.tree(t)
            out[divmod(t, self.n_trees_per_iteration_)] = model
        return out

    def _tree(self) -> DecisionTreeRegressor:
        """A tree with the parameters and facts of this model."""
        model = DecisionTreeRegressor(**{name: getattr(self, name) for name in TREE_PARAMETERS})
        model.n_features_in_, model.n_outputs_ = self.n_features_in_, 1
        model.max_features_ = self.max_features_
        return model

    @property
    def feature_importances_(self) -> Array:
        """Each feature's share in the decrease of squared error, mean over the trees."""
        check_is_fitted(self)
        total = self.forest_.importances().sum(axis=0)
        return total / total.sum() if total.sum() > 0 else np.zeros(self.n_features_in_)

    def _leaves(self, X: ArrayLike) -> Any:
        """The leaf of every row in every tree, (n, rounds, K)."""
        rows = self._check_input(X)
        found = self.forest_.apply(rows).T
        return found.reshape(len(rows), self.n_estimators_, self.n_trees_per_iteration_)

    def _check_state(self) -> None:
        super()._check_state()
        if not hasattr(self, "forest_"):
            return
        K, forest = self.n_trees_per_iteration_, self.forest_
        check_fitted_forest(self)
        start = not isinstance(self.init_, BestConstant) or self.init_.scores.shape == (K,)
        if forest.value.shape[1] != 1 or forest.n_trees != K * self.n_estimators_ or not start:
            raise ValueError("the trees of the model do not fit together")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        leaves = int(np.count_nonzero(self.forest_.feature < 0)) / self.forest_.n_trees
        last = float(self.train_score_[-1]) if len(self.train_score_) else math.nan
        numbers = {"rounds": self.n_estimators_, "trees": self.forest_.n_trees, "train score": last}
        if len(self.validation_score_):
            numbers["validation score"] = float(self.validation_score_.min())
        return Card(
            representation=f"a start plus {self.forest_.n_trees} trees with {leaves:.1f} leaves on "
            f"average, each times {self.learning_rate:g}",
            evaluation=f"mean {self.loss} of the training rows",
            optimisation="gradient descent in the space of functions: each tree fits the negative "
            "gradient by least squares, then every leaf takes the best step of the loss",
            numbers=numbers,
        )
