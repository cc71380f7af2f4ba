r"""What the multi-layer perceptrons share: a dense network behind scikit-learn's interface.

    a_0 = x,   a_l = g(a_(l-1) W_l + b_l),   answer = head(a_L)
    minimises  mean loss + alpha/2 sum |W|^2 / rows of the batch

A subclass gives its targets and its head; the network, the training and the diagnosis are here.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng
from pellucid.core.loops.admission import tell_rise
from pellucid.core.loops.early_stopping import EarlyStopping
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext, History
from pellucid.core.loops.statistics import LEAF_ROWS, Rows
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.neural.layers.layer import Layer
from pellucid.neural.network import Network, NetworkTrace, network_with
from pellucid.neural.training import settings as keywords
from pellucid.neural.training.backprop import Labels, infer
from pellucid.neural.training.batches import Data, dense, hold_out, plan_data
from pellucid.neural.training.objectives import Head
from pellucid.neural.training.quasi_newton import Limits, lbfgs_run
from pellucid.neural.training.train_state import Settings, TrainState
from pellucid.neural.training.trainer import JUDGED, Trainer, late_fall, warn_unfinished
from pellucid.solvers.gradient_descent import GradientDescent
from pellucid.solvers.rules import Memory, Rule
from pellucid.solvers.schedules import Constant

BEGUN = ("layers_", "out_activation_", "n_outputs_", "n_layers_")  # what is known by then
KNOWN = (*BEGUN, "classes_", "n_features_in_", "feature_names_in_")
UNSCALED = 100.0  # ratio of the spreads of two columns from which scaling is advised
LOOK = 1000  # rows by which a collapse is judged
FLAT = 1e-7  # spread of the answers, relative to their size, that counts as none


class CollapsedWarning(ConvergenceWarning):
    """The network gives the same answer for every row."""


class MultilayerPerceptron(Estimator):
    """Base of MLPClassifier and MLPRegressor."""

    _tells_itself = True  # about each epoch
    _rate_name = "learning_rate_init"

    _accepts_sparse = True
    solver: Any
    alpha: Any
    max_iter: int
    shuffle: bool
    random_state: Any
    early_stopping: Any
    validation_fraction: float
    n_iter_no_change: float
    tol: float
    warm_start: bool
    hidden_layer_sizes: Any
    max_fun: int
    verbose: Any
    layers_: list[Layer]
    vector_: Array
    states_: list[Any]
    n_outputs_: int
    out_activation_: str
    loss_curve_: list[float]
    best_validation_score_: float | None

    # --- what a subclass gives ---

    def _head(self) -> Head:
        raise NotImplementedError

    def _score_outputs(self, out: Array, T: Array, w: Array) -> float:
        """The estimator's score of network outputs for encoded targets."""
        raise NotImplementedError

    def _labels(self) -> Labels | None:
        """How the outputs name labels; None for numbers."""
        return None

    def _encode_validation(self, y: ArrayLike, n: int) -> Array:
        raise NotImplementedError

    def _check_all(self, *, partial: bool = False) -> None:
        keywords.check_keywords(self)
        keywords.check_descent_keywords(self)
        if partial and self.early_stopping:
            raise ValueError("partial_fit does not support early_stopping=True")

    def _train(
        self,
        rows: Rows,
        T: Array,
        labels: IntArray | None,
        held: tuple[Any, Any] | None,
        sample_weight: np.ndarray | None,
        context_y: Any,
        *,
        once: bool = False,
    ) -> None:
        rng = generator(self.random_state)
        again = hasattr(self, "vector_") and (once or self.warm_start)
        X = canonical(rows.X)
        self.n_outputs_ = T.shape[1]
        head = self._head()
        network = keywords.starting_network(self, head, X.shape[1], T.shape[1], rng)
        network.trainable()
        if again:
            network = self._continued(network)
        self.layers_, self.out_activation_ = list(network.layers), head.activation
        self.n_layers_ = sum(hasattr(layer, "units") for layer in network.layers) + 1
        data = plan_data(X, T, rows.w, self.shuffle, self._seed(rng))
        data, score = self._validation(data, labels, held, network)
        context = None
        if not once:
            given: dict[str, Any] = {"X": rows.X, "y": context_y, "sample_weight": sample_weight}
            limits: dict[str, Any] = {"max_steps": self._epochs(), "attributes": self._attributes}
            context = FitContext(self, **given, **limits)
        if self.solver != "lbfgs":
            self._descend(network, data, score, context, once, again)
        else:
            self._quasi_newton(network, data, context)
        self._look_for_collapse(data)

    def _epochs(self) -> int:
        own = isinstance(self.solver, GradientDescent)
        return self.solver.max_iter if own else self.max_iter

    def _seed(self, rng: Rng) -> int:
        own = getattr(self.solver, "random_state", None)
        return int((rng if own is None else generator(own)).integers(1 << 62))

    def _continued(self, network: Network) -> Network:
        if network.plan.size != len(self.vector_):
            sizes = f"the last fit has {len(self.vector_)} parameters, this {network.plan.size}"
            raise ValueError(f"{sizes}: warm_start needs the same layers and columns")
        return network.with_vector(self.vector_, self.states_)

    def _early(self) -> EarlyStopping | None:
        if isinstance(self.early_stopping, EarlyStopping):
            return self.early_stopping
        if not self.early_stopping:
            return None
        return EarlyStopping(self.validation_fraction or 0.1, 1, self.tol)

    def _validation(
        self, data: Data, labels: IntArray | None, held: Any, network: Network
    ) -> tuple[Data, Any]:
        """Training rows, and the score of the rows that judge (or None)."""
        early = self._early()
        if held is not None:
            X_val = self._check_matrix(held[0], reset=False, finite=True)
            T_val = self._encode_validation(held[1], X_val.shape[0])
            X_val, w_val = dense(X_val), np.ones(len(T_val))
        elif early is not None:
            data, kept = hold_out(data, early.validation_fraction, labels)
            X_val, T_val, w_val = kept.take(np.arange(kept.n))
        else:
            return data, None
        plan = network.plan

        def score(vector: Array, states: tuple[Any, ...]) -> float:
            return self._score_outputs(infer(plan, vector, states, X_val), T_val, w_val)

        return data, score

    def _descend(
        self,
        network: Network,
        data: Data,
        score: Any,
        context: FitContext | None,
        once: bool,
        again: bool,
    ) -> None:
        settings = keywords.training_settings(self, data.n)
        if once:
            settings = settings._replace(max_iter=1)
        early = self._early()
        if isinstance(self.early_stopping, EarlyStopping):
            settings = settings._replace(patience=self.early_stopping.n_iter_no_change - 1)
        judge = {"validation": score, "early_tol": None if early is None else early.tol}
        penalty, verbose = keywords.get_alpha(self.alpha), bool(self.verbose)
        plan = network.plan._replace(labels=self._labels())
        trainer = Trainer(plan, data, settings, penalty, **judge, verbose=verbose)
        self._trainer = trainer
        memory = getattr(self, "_memory", None) if once and again else None
        if memory is not None:
            memory = Memory(memory.m.copy(), memory.r.copy(), memory.t)
        seen = self.t_ if again else 0
        vector = network.vector
        if memory is not None and settings.ahead:
            vector = 2 * vector - trainer.looked(vector, memory)  # back from the point ahead
        state = trainer.start(vector, network.states, memory, seen)
        if once and again:
            state = state._replace(epoch=len(self.loss_curve_))
        run = trainer.run(state, name=type(self).__name__, context=context)
        del self._trainer
        self._keep(trainer, run, again, once)
        if context is not None:
            context.end(run.state)
            tell_rise(self, run, **trainer.ends(run))
            if run.reason == "max_iter" and not self._risen and trainer.limit() is not None:
                warn_unfinished(type(self).__name__, run)

    def _keep(self, trainer: Trainer, run: Any, again: bool, once: bool) -> None:
        last: TrainState = run.state
        self.history_, self.n_iter_ = run.history, max(run.n_iter, 1)
        self._ended = run.reason
        early = self._early()
        restored = early is not None and early.restore_best and last.best_score > -np.inf
        self.vector_ = last.best_vector if restored else trainer.answer(last).copy()
        self.states_ = list(last.best_states if restored else last.states)
        self.t_ = last.rows_seen
        curve = [float(v) for v in run.history["objective"][1:]]
        before = self.loss_curve_ if again else []
        self.loss_curve_ = [*before, *curve]
        self.loss_ = float(last.objective)
        self.best_loss_ = None if trainer.early_tol is not None else min([last.best, *before])
        self.validation_scores_ = self.best_validation_score_ = None
        if trainer.validation is not None:
            self.validation_scores_ = [float(v) for v in run.history["validation_score"][1:]]
            self.best_validation_score_ = float(last.best_score)
        if once:
            self._memory = last.memory
        else:
            self.__dict__.pop("_memory", None)

    def _quasi_newton(self, network: Network, data: Data, context: FitContext | None) -> None:
        settings = Settings(Rule(), Constant(1.0), None, self.max_iter, self.tol, None)
        plan = network.plan._replace(labels=self._labels())
        trainer = Trainer(plan, data, settings, keywords.get_alpha(self.alpha))
        self._trainer = trainer
        limits = Limits(self.max_iter, self.tol, self.max_fun)
        found = lbfgs_run(trainer, network.vector, limits, context, bool(self.verbose))
        del self._trainer
        self.vector_, self.states_ = found.x, list(network.states)
        self.history_, self.n_iter_ = found.history, max(found.n_iter, 1)
        self._ended, self._risen = found.reason, ""
        self.t_ = 0
        self.loss_curve_ = [float(v) for v in found.history["objective"][1:]]
        self.loss_ = self.best_loss_ = float(found.value)
        self.validation_scores_ = self.best_validation_score_ = None
        if context is not None:
            context.end(found)
        if found.reason == "max_iter":
            warn_unfinished(type(self).__name__, found)
        elif found.reason == "max_fun":
            spent = f"no convergence in max_fun={self.max_fun} evaluations of the loss"
            warn(f"{type(self).__name__}: {spent}; raise max_fun", ConvergenceWarning)

    def _attributes(self, state: Any) -> dict[str, Any]:
        """The fitted attributes if the fit stopped here."""
        trained = isinstance(state, TrainState)
        vector = self._answer(state) if trained else state.x
        none = [None for layer in self.layers_ for _ in layer.parts()]
        found = {"vector_": vector, "states_": list(state.states) if trained else none}
        found |= {"n_iter_": 1, "history_": History(), "loss_curve_": [], "t_": 0}
        found["loss_"] = float(state.objective if trained else state.value)
        return found | {name: getattr(self, name) for name in KNOWN if hasattr(self, name)}

    def _answer(self, state: TrainState) -> Array:
        trainer = getattr(self, "_trainer", None)
        return state.vector if trainer is None else trainer.answer(state).copy()

    @property
    def network_(self) -> Network:
        """The trained network."""
        return self._fresh_network().with_vector(self.vector_, self.states_)

    def _fresh_network(self) -> Network:
        """The network with its parameters, whose layers remember nothing of the training."""
        loss, p = self._head().loss, self.n_features_in_
        return network_with(self.layers_, self.vector_, loss=loss, n_inputs=p)

    @property
    def coefs_(self) -> list[Array]:
        """Weights of each dense layer, (inputs, units)."""
        return self._views(0)

    @property
    def intercepts_(self) -> list[Array]:
        """Biases of each dense layer."""
        return self._views(1)

    def _views(self, which: int) -> list[Array]:
        params = self.network_.plan.params(self.vector_)
        dense_layers = [p for p in params if p and p[0].ndim == 2]
        return [p[which] for p in dense_layers if len(p) > which]

    def _outputs(self, X: Any) -> Array:
        X = self._check_input(X)
        network = self.network_
        starts = range(0, X.shape[0], LEAF_ROWS)

        def part(start: int) -> Array:
            rows = dense(X[start : start + LEAF_ROWS])
            return infer(network.plan, network.vector, network.states, rows)

        return part(0) if len(starts) == 1 else np.concatenate(list(map_threads(part, starts)))

    def trace(self, X: ArrayLike) -> NetworkTrace:
        """Every node's weighted sum and activation."""
        rows = dense(self._check_input(X))
        return self.network_.trace(rows)

    def hidden_features(self, X: ArrayLike, layer: int = -1) -> Array:
        """The activations of a hidden layer: the basis functions the network learned."""
        trace = self.trace(X)
        hidden = [trace.inputs] if len(trace.post) == 1 else trace.post[:-1]
        if not -len(hidden) <= layer < len(hidden):
            raise ValueError(f"layer must be one of {len(hidden)} hidden layers, got {layer!r}")
        return hidden[layer]

    def _check_state(self) -> None:
        if not hasattr(self, "vector_"):
            return
        network = self._fresh_network()
        if len(self.states_) != len(network.states):
            raise ValueError(f"states_ must have {len(network.states)} entries")
        for mine, fresh in zip(self.states_, network.states, strict=True):
            if [np.shape(a) for a in mine or ()] != [np.shape(a) for a in fresh or ()]:
                raise ValueError("states_ must have the shapes of the layers")

    def _look_for_collapse(self, data: Data) -> None:
        at = np.arange(data.some(LOOK))
        x, t, _ = data.take(at)
        self._scales = spread_ratio(x)
        if len(x) < 2 or not np.ptp(t, axis=0).any() or not np.ptp(x, axis=0).any():
            return
        network = self.network_
        out = infer(network.plan, network.vector, network.states, x)
        if np.ptp(out, axis=0).max() > FLAT * max(1.0, float(np.abs(out).max())):
            return
        what = f"{type(self).__name__}: the network has collapsed: every row gets the same answer"
        cure = "standardise the inputs, a smaller learning rate or alpha, another random_state"
        warn(f"{what}; cure: {cure}", CollapsedWarning)

    def _diagnosis(self) -> str:
        """What the history says of the training."""
        rows = self.history_
        if len(rows) < JUDGED:
            return "too short to judge"
        loss = rows["objective"]
        if self.validation_scores_ is not None and len(self.validation_scores_) > 2:
            best = int(np.argmax(self.validation_scores_)) + 1
            if best < len(self.validation_scores_) - 1 and loss[-1] < loss[best]:
                return f"over-fitting since epoch {best}: the validation score was best there"
        if loss[-1] > 1.1 * loss.min():
            kind = "diverging" if loss[-1] > loss[0] else "unsteady"
            return f"{kind}: the loss is above its lowest value; lower the learning rate"
        if self.n_iter_ >= self.max_iter and late_fall(loss) > 0.05 * abs(loss[-1]):
            return "too slow: the loss still falls; raise the learning rate or max_iter"
        ended = getattr(self, "_ended", "")
        if ended == "converged":
            return "settled: it stopped improving by tol"
        words = {name: f"ended at {name}, before it settled" for name in ("max_iter", "max_fun")}
        words["stopped"] = "stopped early"
        return words.get(ended, "ended before it settled")

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        check_is_fitted(self)
        units = [self.n_features_in_, *(w.shape[1] for w in self.coefs_)]
        inputs = "of comparable spread"
        if not self._scales <= UNSCALED:
            inputs = f"spreads differ {self._scales:.3g} times: standardise the inputs"
        numbers: dict[str, Any] = {"parameters": len(self.vector_), "loss": self.loss_}
        numbers |= {"epochs": self.n_iter_, "inputs": inputs}
        return Card(
            representation=(
                f"a network of {' - '.join(map(str, units))} units, output {self.out_activation_}; "
                "one hidden layer approximates any continuous function on a compact set; boolean "
                "and bounded continuous functions need 2 layers of weights, arbitrary ones 3"
            ),
            evaluation=f"mean {self._head().loss.words()} + {self._penalty_words()}",
            optimisation=f"{self._how()}, {self.n_iter_} epochs: {self._diagnosis()}",
            numbers=numbers,
        )

    def _penalty_words(self) -> str:
        if isinstance(self.alpha, int | float):
            return f"{self.alpha:g}/2 sum |W|^2 / rows of a batch (biases free)"
        return f"{self.alpha!r} of the weights"

    def _how(self) -> str:
        return self.solver if isinstance(self.solver, str) else repr(self.solver)


def canonical(X: Any) -> Any:
    """C-contiguous, or CSR without duplicates and with 32-bit indices where they suffice."""
    if not issparse(X):
        return np.ascontiguousarray(X)
    X = X.copy()
    X.sum_duplicates()
    if X.nnz < 2**31:
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def spread_ratio(x: Array) -> float:
    """The largest standard deviation of a column over the smallest that is not 0."""
    spread = x.std(axis=0)
    spread = spread[spread > 0]
    return float(spread.max() / spread.min()) if len(spread) else 1.0
