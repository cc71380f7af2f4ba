r"""Averaging over structures instead of choosing one.

Posterior    P(G | D) = exp(score(G)) / sum over graphs, uniform prior over legal graphs
Answers      P(q | D) = sum_G P(G | D) P(q | G, D): each network's answer, weighted. Tables are
             posterior means with the same equivalent sample size as the score
Graphs       all of them up to 5 variables (but for tables of more than 65,536 cells and 8 for every
             row, which data cannot support), drawn by structure MCMC (``structure_chain``) beyond,
             or those of a given list

References: Madigan & Raftery (1994); Madigan & York (1995); Hoeting et al. (1999).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from pellucid.core import check
from pellucid.core.iterate import FitContext
from pellucid.core.random import generator
from pellucid.core.records import Card
from pellucid.core.typing import Array, ArrayLike
from pellucid.graphical.completion import distinct_columns, posteriors
from pellucid.graphical.counts import CodedTable, encode_table, family_counts, n_cells
from pellucid.graphical.dag import DAG, as_dag
from pellucid.graphical.enumeration import MOST_NODES
from pellucid.graphical.exact_search import all_graphs, bits_to_edges
from pellucid.graphical.factor import Factor
from pellucid.graphical.hill_climbing import Climber, search_graph
from pellucid.graphical.knowledge import Constraints, constraints_of
from pellucid.graphical.learn_tables import learn_table
from pellucid.graphical.names import names_of, state_index
from pellucid.graphical.network import BayesianNetwork
from pellucid.graphical.score_based import parent_limit
from pellucid.graphical.scores import Score, make_score
from pellucid.graphical.structure import ScoreParameter, StructureLearner, dag_from, edge_matrix
from pellucid.graphical.structure_chain import draw_graphs
from pellucid.graphical.tables import CPT

MOST_CELLS = 4096  # of a joint table that is written down
LARGE_FAMILY = 1 << 16  # cells; larger tables need 8 of them for every row, at most
NEGLIGIBLE = 1e-12  # weight that all graphs left out of an answer may have together


class ModelAveragingStructure(StructureLearner):
    """The posterior over graphs, and answers averaged over it.

    ``sample_weight`` equals repetition. ``score_samples`` is the log of the averaged density.

    Parameters
    ----------
    candidates : "auto" or list of DAG, default="auto"
        All graphs up to 5 variables, structure MCMC beyond; or these graphs (or edge lists).
    score : {"bdeu", "bic", "aic", "k2", "log_likelihood"}, default="bdeu"
    equivalent_sample_size : float, default=10.0
        Of bdeu, and of the tables whatever the score.
    max_parents : int or None, default=None
    n_samples : int, default=1000
        Graphs that the chain keeps.
    knowledge : EdgeKnowledge or None, default=None
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    dags_ : list of DAG, the most probable first
    weights_ : ndarray, their posterior probabilities
    dag_ : DAG, the most probable
    cpdag_ : CPDAG of it
    edge_probabilities_ : ndarray (d, d), P(u -> v | D)
    graphs_ : ndarray (graphs, d), the graphs of ``dags_`` as bits of each node's parents
    families_ : dict of the tables in use, "v:bits of the parents"
    states_ : dict of the states of each variable
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import polars as pl
    >>> from pellucid import ModelAveragingStructure
    >>> X = pl.DataFrame({"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 1] * 9, "c": [0, 1] * 18})
    >>> model = ModelAveragingStructure().fit(X)
    >>> len(model.dags_), round(model.edge_probability("a", "b"), 2)
    (25, 0.5)
    >>> model.query("a", {"b": 1}).values.round(2)
    array([0.11, 0.89])
    """

    score = ScoreParameter()

    def __init__(
        self,
        *,
        candidates: Any = "auto",
        score: str = "bdeu",
        equivalent_sample_size: float = 10.0,
        max_parents: int | None = None,
        n_samples: int = 1000,
        knowledge: Any = None,
        random_state: Any = None,
    ) -> None:
        self.candidates = candidates
        self.score = score
        self.equivalent_sample_size = equivalent_sample_size
        self.max_parents = max_parents
        self.n_samples = n_samples
        self.knowledge = knowledge
        self.random_state = random_state

    def _learn(self, table: CodedTable, context: FitContext | None) -> None:
        check.whole(n_samples=self.n_samples)
        names = table.names
        score = make_score(table, self.__dict__["score"], self.equivalent_sample_size)
        limits = constraints_of(self.knowledge, names)
        limit = parent_limit(self.max_parents, len(names))
        graphs, weights = self._posterior(score, limits, limit)
        order = np.argsort(-weights, kind="stable")
        self.graphs_ = np.asarray(graphs, dtype=np.int64)[order]
        self.weights_ = weights[order] / weights.sum()
        edges = [bits_to_edges(graph) for graph in self.graphs_]
        self.edge_probabilities_ = np.einsum("g,guv->uv", self.weights_, np.array(edges, float))
        self.dag_ = dag_from(edges[0], names)
        self.cpdag_ = self.dag_.cpdag()
        self.families_ = self._count_families(table)

    def _posterior(self, score: Score, limits: Constraints, limit: int) -> tuple[Any, Array]:
        names, d = score.table.names, len(score.card)
        if isinstance(self.candidates, str):
            check.one_of(("auto",), candidates=self.candidates)
            if d <= MOST_NODES:
                most = max(LARGE_FAMILY, 8 * score.table.n_rows)
                graphs, values = all_graphs(score, limits, limit, most)
                return graphs, np.exp(values - logsumexp(values))
            climber = Climber(score, limits, limit, False, {})
            start = search_graph(climber, limits.required.copy(), names).state.best_edges
            rng = generator(self.random_state)
            drawn = draw_graphs(score, start, limits, limit, self.n_samples, rng)
            self.acceptance_ = drawn.acceptance
            return drawn.graphs, drawn.counts / drawn.counts.sum()
        dags = [as_dag(dag, names) for dag in self.candidates]
        if not dags:
            raise ValueError("candidates must hold at least one graph")
        matrices = [edge_matrix(dag, names) for dag in dags]
        bits = [[sum(1 << int(u) for u in np.flatnonzero(E[:, v])) for v in range(d)]
                for E in matrices]  # fmt: skip
        values = np.array(
            [score.total([np.flatnonzero(E[:, v]).tolist() for v in range(d)]) for E in matrices]
        )
        return bits, np.exp(values - logsumexp(values))

    @property
    def dags_(self) -> list[DAG]:
        """The graphs, the most probable first."""
        check_is_fitted(self, "graphs_")
        return [dag_from(bits_to_edges(graph), tuple(self.states_)) for graph in self.graphs_]

    def _kept(self) -> int:
        """How many graphs it takes to leave out no weight that counts."""
        tail = np.cumsum(self.weights_[::-1])[::-1]
        return max(int(np.count_nonzero(tail > NEGLIGIBLE)), 1)

    def _count_families(self, table: CodedTable) -> dict[str, Array]:
        """The table of every family of the graphs that count, keyed "v:bits"."""
        used = {(v, int(b)) for graph in self.graphs_[: self._kept()] for v, b in enumerate(graph)}
        keys = sorted(used)
        families = [(*_members(bits), v) for v, bits in keys]
        found = {}
        for (v, bits), N in zip(keys, family_counts(table, families), strict=True):
            a = np.full(N.shape, self.equivalent_sample_size / N.size)
            found[f"{v}:{bits}"] = learn_table(N, a).values
        return found

    def _tables(self, table: CodedTable) -> list[Array]:
        return self._graph_tables(self.graphs_[0])

    def _graph_tables(self, graph: Sequence[int]) -> list[Array]:
        return [self.families_[f"{v}:{int(bits)}"] for v, bits in enumerate(graph)]

    def edge_probability(self, a: Any, b: Any) -> float:
        """P(a -> b | D)."""
        check_is_fitted(self)
        (a,), (b,) = names_of(a, self.states_), names_of(b, self.states_)
        names = tuple(self.states_)
        return float(self.edge_probabilities_[names.index(a), names.index(b)])

    def _networks(self) -> list[tuple[float, BayesianNetwork]]:
        names, out = tuple(self.states_), []
        for weight, graph in zip(self.weights_[: self._kept()], self.graphs_, strict=False):
            cpds = [
                CPT(name, values, parents=[names[u] for u in _members(int(bits))],
                    states=self.states_[name])
                for name, values, bits in zip(names, self._graph_tables(graph), graph, strict=True)
            ]  # fmt: skip
            out.append((float(weight), BayesianNetwork(cpds=cpds)))
        return out

    def query(self, variables: Any, evidence: Mapping[Any, Any] | None = None) -> Factor:
        """P(variables | evidence), averaged over the graphs."""
        check_is_fitted(self)
        names = names_of(variables, self.states_)
        scope = {name: self.states_[name] for name in names}
        shape = [len(states) for states in scope.values()]
        card = np.array([len(states) for states in self.states_.values()], np.int64)
        if np.prod(card, dtype=np.float64) <= MOST_CELLS:
            answer = self._answer(names, dict(evidence or {}), card)
        else:
            parts = [(w, net.query(names, evidence).values.ravel()) for w, net in self._networks()]
            answer = sum(w * values for w, values in parts) / sum(w for w, _ in parts)
        return Factor(scope, np.reshape(answer, shape))

    def _answer(self, names: tuple[Any, ...], evidence: dict[Any, Any], card: Any) -> Array:
        """Every graph's answer from its whole joint table, averaged."""
        order = tuple(self.states_)
        cells = np.indices(card).reshape(len(card), -1)
        for name, state in evidence.items():
            (known,) = names_of([name], self.states_)
            if name in names:
                raise ValueError(f"variable {name!r} is asked for and observed at the same time")
            at = state_index(tuple(self.states_[known]), state, known)
            cells = cells[:, cells[order.index(known)] == at]
        cell = np.zeros(cells.shape[1], np.int64)
        for name in names:
            v = order.index(name)
            cell = cell * card[v] + cells[v]
        size = int(np.prod([card[order.index(name)] for name in names]))
        into = np.zeros((cells.shape[1], size))
        into[np.arange(len(cell)), cell] = 1.0
        answer, total = np.zeros(size), 0.0
        for weights, logs in self._densities(cells, card):
            mass = np.exp(logs) @ into
            answer += weights @ (mass / mass.sum(axis=1, keepdims=True))
            total += weights.sum()
        return answer / total

    def _densities(self, codes: Any, card: Any) -> Iterator[tuple[Array, Array]]:
        """Weights (g,) and log p (g, n) of complete columns of codes, some graphs at a time."""
        graphs = self.graphs_[: self._kept()]
        logs, which = [], []
        for v in range(len(card)):
            bits, number = np.unique(graphs[:, v], return_inverse=True)
            logs.append(np.array([self._family_logs(v, int(b), codes, card) for b in bits]))
            which.append(number.ravel())
        step = max(1, (1 << 21) // max(codes.shape[1], 1))
        for a in range(0, len(graphs), step):
            some = slice(a, a + step)
            total = logs[0][which[0][some]]
            for table, number in zip(logs[1:], which[1:], strict=True):
                total = total + table[number[some]]
            yield self.weights_[: len(graphs)][some], total

    def _family_logs(self, v: int, bits: int, codes: Any, card: Any) -> Array:
        at = np.zeros(codes.shape[1], np.int64)
        for u in (*_members(bits), v):
            at = at * card[u] + codes[u]
        return np.log(self.families_[f"{v}:{bits}"]).ravel()[at]

    def predict_proba(self, X: ArrayLike, variable: Any = None) -> Array:
        """P(variable | the other cells) of every row, averaged; None: the last column.

        Missing cells are summed out, and so are numbers that the fit never saw, with a warning;
        the column of ``variable`` is not looked at.
        """
        names, codes, card = self._rows(X, lenient=True)
        (target,) = (names[-1],) if variable is None else names_of(variable, names)
        v = names.index(target)
        codes = codes.copy()
        codes[v] = 0
        if (codes < 0).any():
            return self._incomplete(v, codes, card)
        rows, number = distinct_columns(codes, card)
        K = int(card[v])
        grid = np.repeat(rows, K, axis=1)
        grid[v] = np.tile(np.arange(K), rows.shape[1])
        out, total = np.zeros((rows.shape[1], K)), 0.0
        for weights, logs in self._densities(grid, card):
            shares = logs.reshape(len(weights), -1, K)
            shares = np.exp(shares - logsumexp(shares, axis=2, keepdims=True))
            out += np.einsum("g,gnk->nk", weights, shares)
            total += weights.sum()
        return (out / total)[number]

    def _incomplete(self, v: int, codes: Any, card: Any) -> Array:
        out, total = np.zeros((codes.shape[1], int(card[v]))), 0.0
        for weight, graph in zip(self.weights_[: self._kept()], self.graphs_, strict=False):
            parents = [_members(int(bits)) for bits in graph]
            out += weight * posteriors(v, codes, parents, self._graph_tables(graph), card)
            total += weight
        return out / total

    def score_samples(self, X: ArrayLike) -> Array:
        """log of the averaged density of every row."""
        names, codes, card = self._rows(X)
        if (codes < 0).any():
            v, row = np.argwhere(codes < 0)[0]
            raise ValueError(f"column {names[v]!r} contains NaN in row {row}")
        rows, number = distinct_columns(codes, card)
        parts, total = [], 0.0
        for weights, logs in self._densities(rows, card):
            parts.append(logsumexp(logs, axis=0, b=weights[:, None]))
            total += weights.sum()
        return (logsumexp(parts, axis=0) - np.log(total))[number]

    def _rows(self, X: Any, lenient: bool = False) -> tuple[tuple[Any, ...], Any, Any]:
        check_is_fitted(self)
        columns = self._check_columns(X, reset=False)
        names = tuple(self.states_)
        n = n_cells(columns[0])
        table = encode_table(columns, names, np.ones(n), self.states_, lenient=lenient)
        return names, table.codes, table.card

    def _check_state(self) -> None:
        super()._check_state()
        if not hasattr(self, "n_features_in_"):
            return
        d = len(self.states_)
        if np.shape(self.graphs_) != (len(self.weights_), d):
            raise ValueError("graphs_ and weights_ do not fit together")
        if np.shape(self.edge_probabilities_) != (d, d):
            raise ValueError(f"edge_probabilities_ must have the shape {(d, d)}")
        card = [len(states) for states in self.states_.values()]
        for key, values in self.families_.items():
            v, bits = map(int, key.split(":"))
            if np.shape(values) != tuple(card[u] for u in (*_members(bits), v)):
                raise ValueError(f"the table of {key!r} does not fit the states")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        how = "structure MCMC" if hasattr(self, "acceptance_") else "every candidate scored"
        return Card(
            representation="a weighted set of directed acyclic graphs with smoothed tables",
            evaluation=f"P(G | D) proportional to exp({self.__dict__['score']}), uniform over "
            "legal graphs",
            optimisation=f"{how}; answers are averages over the graphs",
            numbers={
                "variables": len(self.states_),
                "graphs": len(self.weights_),
                "weight of the best": float(self.weights_[0]),
                "effective number of graphs": float(1.0 / (self.weights_**2).sum()),
            },
        )


def _members(bits: int) -> tuple[int, ...]:
    """The numbers of the variables in a set.

    >>> _members(5)
    (0, 2)
    """
    return tuple(u for u in range(bits.bit_length()) if bits >> u & 1)
