"""What the learners of structure share: the door for their data, and the density of their graph.

A learned graph is a claim about the distribution, so a learner is a density estimator: with
tables that are posterior means (one imaginary sample for every cell) ``score_samples`` gives
log p(x) of rows, and ``cross_validate`` compares scores, tests and searches by held-out rows.
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, check_weights, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray
from pellucid.core.loops.iterate import FitContext
from pellucid.graphical.graphs.dag import DAG
from pellucid.graphical.learning.completion import log_densities
from pellucid.graphical.learning.counts import CodedTable, encode_table, family_counts, n_cells
from pellucid.graphical.learning.learn_tables import learn_table
from pellucid.graphical.structure.scores import complete_table, parents_of


def dag_from(edges: BoolArray, names: Sequence[Any]) -> DAG:
    """A boolean matrix as a graph of names.

    >>> dag_from(np.array([[False, True], [False, False]]), ["a", "b"])
    DAG(a->b)
    """
    return DAG([(names[u], names[v]) for u, v in np.argwhere(edges)], names)


def edge_matrix(dag: DAG, names: Sequence[Any]) -> Any:
    """The graph as a boolean matrix, parents by rows."""
    place = {name: j for j, name in enumerate(names)}
    edges = np.zeros((len(place), len(place)), bool)
    for a, b in dag.edges:
        edges[place[a], place[b]] = True
    return edges


def smoothed_tables(
    table: CodedTable, parents: Sequence[tuple[int, ...]], pseudo: float = 1.0
) -> list[Array]:
    """Posterior means with ``pseudo`` imaginary samples in every cell."""
    families = [(*some, v) for v, some in enumerate(parents)]
    counts = family_counts(table, families)
    return [learn_table(N, np.full(N.shape, pseudo)).values for N in counts]


class Criterion(str):
    """The name of a score that can also be called: scikit-learn's ``model.score(X)``."""

    model: Any

    def __call__(self, X: ArrayLike, y: ArrayLike | None = None) -> float:
        return self.model.mean_log_likelihood(X)


class ScoreParameter:
    """The parameter ``score`` of a learner, which is scikit-learn's method ``score`` as well.

    The name of the criterion is what is stored and what ``get_params`` gives; read from the
    model it is the same text, and calling it scores rows.
    """

    def __get__(self, model: BaseEstimator, owner: Any = None) -> Any:
        if model is None:
            return self
        if "score" not in model.__dict__:
            raise AttributeError("score")
        value = model.__dict__["score"]
        if not isinstance(value, str):
            return value
        word = Criterion(value)
        word.model = model
        return word

    def __set__(self, model: BaseEstimator, value: Any) -> None:
        model.__dict__["score"] = str(value) if isinstance(value, Criterion) else value


class StructureLearner(Estimator):
    """Base of the learners: a subclass turns a table of codes into a graph."""

    _answers_nonfinite = True  # log 0 of a row that cannot be

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "density_estimator"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    @abstractmethod
    def _learn(self, table: CodedTable, context: FitContext | None) -> None:
        """Set ``dag_`` and what else there is to say from a complete table."""

    @with_callbacks
    def fit(self, X: ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        table = self._open(X, sample_weight)
        so_far = partial(self._attributes, table)
        given: dict[str, Any] = {"X": X, "y": y, "sample_weight": sample_weight}
        context = FitContext(self, **given, max_steps=None, attributes=so_far)
        self.learn(table, context)
        context.end()
        return self

    def _open(self, X: Any, sample_weight: Any) -> CodedTable:
        columns = self._check_columns(X, reset=True)
        n = n_cells(columns[0])
        w = check_weights(sample_weight, np.empty((n, 1)))
        return complete_table(encode_table(columns, self._feature_names(), w))

    def learn(self, table: CodedTable, context: FitContext | None = None) -> DAG:
        """Learn from codes: the way in for estimators that hold a learner."""
        self._learn(table, context)
        self.states_ = dict(zip(table.names, table.states, strict=True))
        self.tables_ = self._tables(table)
        return self.dag_

    def _tables(self, table: CodedTable) -> list[Array]:
        return smoothed_tables(table, parents_of(self.dag_, table.names))

    def _attributes(self, table: CodedTable, state: object) -> dict[str, Any]:
        """The fitted attributes as if the search had stopped here; None: at its end."""
        return {name: value for name, value in vars(self).items() if name.endswith("_")}

    def _codes(self, X: ArrayLike) -> CodedTable:
        check_is_fitted(self)
        columns = self._check_columns(X, reset=False)
        n = n_cells(columns[0])
        table = encode_table(columns, tuple(self.states_), np.ones(n), self.states_)
        return complete_table(table)

    def score_samples(self, X: ArrayLike) -> Array:
        """log p(x) of every row under the learned graph; an unknown state is refused."""
        table = self._codes(X)
        parents = parents_of(self.dag_, table.names)
        return log_densities(table.codes, parents, self.tables_, table.card)

    def mean_log_likelihood(self, X: ArrayLike) -> float:
        """The mean of ``score_samples``: what scikit-learn's ``score`` gives."""
        return float(self.score_samples(X).mean())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters by name."""
        found = super().get_params(deep)
        if "score" in found:
            found["score"] = self.__dict__["score"]
        return found

    def _check_state(self) -> None:
        super()._check_state()
        if not hasattr(self, "n_features_in_"):
            return
        names = tuple(self.states_)
        if set(self.dag_.nodes) != set(names) or len(names) != self.n_features_in_:
            raise ValueError("dag_ and states_ must name the same variables")
        for name, values, shape in zip(names, self.tables_, self._table_shapes(), strict=True):
            if np.shape(values) != shape:
                raise ValueError(f"the table of {name!r} must have the shape {shape}")

    def _table_shapes(self) -> list[tuple[int, ...]]:
        card = [len(states) for states in self.states_.values()]
        parents = parents_of(self.dag_, tuple(self.states_))
        return [tuple(card[u] for u in (*some, v)) for v, some in enumerate(parents)]
