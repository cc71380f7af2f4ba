r"""Averaging over structures instead of choosing one.

Posterior    P(G | D) = P(G) exp(score(G)) / sum over graphs
Prior        uniform over legal graphs; or sparse, prod_v 1 / C(d - 1, parents of v): the number of
             parents of a node is uniform, then which they are. Most graphs have many edges, so
             the first believes in many of them, the second does not
Answers      P(q | D) = sum_G P(G | D) P(q | G, D): each network's answer, weighted. Tables are
             posterior means with the same equivalent sample size as the score
Consensus    the graph of least expected distance to the truth (``consensus``)
Size         "auto": the equivalent sample size is unknown too, uniform over powers of 2
Graphs       all of them up to 5 variables (but for tables of more than 65,536 cells and 8 for every
             row, which data cannot support), drawn by structure MCMC (``structure_chain``) beyond,
             or those of a given list

References: Madigan & Raftery (1994); Madigan & York (1995); Hoeting et al. (1999).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import comb, logsumexp
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.graphical.graphs.dag import DAG, as_dag
from pellucid.graphical.graphs.enumeration import MOST_NODES
from pellucid.graphical.learning.completion import distinct_columns, posteriors
from pellucid.graphical.learning.counts import CodedTable, encode_table, family_counts, n_cells
from pellucid.graphical.learning.learn_tables import learn_table
from pellucid.graphical.network.factor import Factor
from pellucid.graphical.network.names import Name, Names, names_of, state_index
from pellucid.graphical.network.network import BayesianNetwork
from pellucid.graphical.network.tables import CPT
from pellucid.graphical.structure import scores, structure
from pellucid.graphical.structure.consensus import consensus_graph
from pellucid.graphical.structure.exact_search import all_graphs, bits_to_edges
from pellucid.graphical.structure.hill_climbing import Climber, search_graph
from pellucid.graphical.structure.knowledge import Constraints, EdgeKnowledge, constraints_of
from pellucid.graphical.structure.score_based import parent_limit
from pellucid.graphical.structure.scores import SCORES, SIZES, Score, likeliest_size, make_score
from pellucid.graphical.structure.structure import ScoreParameter, StructureLearner, dag_from
from pellucid.graphical.structure.structure_chain import draw_graphs

PRIORS = ("uniform", "sparse")
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
        Its exponential is the weight of a graph.
    equivalent_sample_size : float or "auto", default=10.0
        Of bdeu, and of the tables whatever the score. "auto": averaged over powers of 2 from 1/8
        to 128 by their posterior probability.
    max_parents : int or None, default=None
        Most parents of a node.
    n_samples : int, default=1000
        Graphs that the chain keeps.
    knowledge : EdgeKnowledge or None, default=None
        Edges that are known or impossible.
    structure_prior : {"uniform", "sparse"}, default="uniform"
        Over graphs, or over the number of parents of every node, which leaves out weak edges.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random numbers.

    Attributes
    ----------
    dags_ : list of DAG, the most probable first
    weights_ : ndarray, their posterior probabilities
    dag_ : DAG, the most probable
    cpdag_ : CPDAG of it
    consensus_ : DAG of least expected distance to the truth: nearer than ``dag_`` on few data
    expected_distance_ : float, the structural Hamming distance that the posterior expects of it
    edge_probabilities_ : ndarray (d, d), P(u -> v | D)
    equivalent_sample_size_ : float, the number given or the posterior (geometric) mean
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
        candidates: str | Sequence[Any] = "auto",
        score: str = "bdeu",
        equivalent_sample_size: Any = 10.0,
        max_parents: int | None = None,
        n_samples: int = 1000,
        knowledge: EdgeKnowledge | None = None,
        structure_prior: str = "uniform",
        random_state: Seed = None,
    ) -> None:
        self.candidates = candidates
        self.score = score
        self.equivalent_sample_size = equivalent_sample_size
        self.max_parents = max_parents
        self.n_samples = n_samples
        self.knowledge = knowledge
        self.structure_prior = structure_prior
        self.random_state = random_state

    def _learn(self, table: CodedTable, context: FitContext | None) -> None:
        check.whole(n_samples=self.n_samples)
        check.one_of(PRIORS, structure_prior=self.structure_prior)
        names = table.names
        ladder = self._ladder(table)
        limits = constraints_of(self.knowledge, names)
        limit = parent_limit(self.max_parents, len(names))
        graphs, weights, shares = self._posterior(ladder, limits, limit)
        order = np.argsort(-weights, kind="stable")
        self.graphs_ = np.asarray(graphs, dtype=np.int64)[order]
        self.weights_ = weights[order] / weights.sum()
        number = np.arange(len(names))
        joined = self.graphs_[:, None, :] >> number[:, None] & 1  # (graphs, parent, child)
        self.edge_probabilities_ = np.tensordot(self.weights_, joined, 1)
        self.dag_ = dag_from(bits_to_edges(self.graphs_[0]), names)
        self.cpdag_ = self.dag_.cpdag()
        known = limits if isinstance(self.candidates, str) else None
        found = consensus_graph(self.graphs_, self.weights_, known, limit)
        self.consensus_ = dag_from(bits_to_edges(found.graph), names)
        self.expected_distance_ = found.distance
        self.equivalent_sample_size_ = self._size(table, shares)
        self.families_ = self._count_families(table)

    def _ladder(self, table: CodedTable) -> list[Score]:
        """The score, or bdeu for every size that comes into question."""
        name, size = self.__dict__["score"], self.equivalent_sample_size
        check.one_of(SCORES, score=name)
        if not scores.size_is_open(size):
            return [make_score(table, name, size)]
        return [make_score(table, name, e) for e in (SIZES if name == "bdeu" else SIZES[:1])]

    def _size(self, table: CodedTable, shares: Array) -> float:
        """The equivalent sample size of the tables."""
        if not isinstance(self.equivalent_sample_size, str):
            return float(self.equivalent_sample_size)
        if len(shares) == 1:  # another score, which says nothing about it
            return likeliest_size(table, scores.parents_of(self.dag_, table.names))
        return float(np.exp(shares @ np.log(SIZES)))

    def _posterior(
        self, ladder: list[Score], limits: Constraints, limit: int
    ) -> tuple[Any, Array, Array]:
        """Graphs, their weights, and the weights of the rungs of the ladder."""
        table, d = ladder[0].table, len(ladder[0].card)
        if not isinstance(self.candidates, str):
            graphs, values = self._given(ladder)
        else:
            check.one_of(("auto",), candidates=self.candidates)
            if d > MOST_NODES:
                return self._drawn(ladder, limits, limit)
            most = max(LARGE_FAMILY, 8 * table.n_rows)
            pairs = [all_graphs(score, limits, limit, most) for score in ladder]
            graphs, values = pairs[0][0], np.array([some for _, some in pairs])
        prior, graphs = self._by_parents(d), np.asarray(graphs, np.int64)
        values = values + prior[np.bitwise_count(graphs)].sum(axis=1)
        shares = np.exp(logsumexp(values, axis=1) - logsumexp(values))
        return graphs, np.exp(logsumexp(values, axis=0) - logsumexp(values)), shares

    def _drawn(
        self, ladder: list[Score], limits: Constraints, limit: int
    ) -> tuple[Any, Array, Array]:
        """Graphs of a chain that begins at the top of a climb."""
        rung = len(ladder) // 2
        for _ in ladder:
            climber = Climber(ladder[rung], limits, limit, False, {})
            names = climber.score.table.names
            start = search_graph(climber, limits.required.copy(), names).state.best_edges
            parents = [np.flatnonzero(column).tolist() for column in start.T]
            better = int(np.argmax([score.total(parents) for score in ladder]))
            if better == rung:
                break
            rung = better
        rng = generator(self.random_state)
        prior = self._by_parents(len(ladder[0].card))
        drawn = draw_graphs(ladder, start, limits, limit, self.n_samples, rng, rung, prior)
        self.acceptance_ = drawn.acceptance
        return drawn.graphs, drawn.counts / drawn.counts.sum(), drawn.rungs / drawn.rungs.sum()

    def _by_parents(self, d: int) -> Array:
        """log prior of a family with 0, 1, .., d - 1 parents, up to a constant."""
        if self.structure_prior == "uniform":
            return np.zeros(d)
        return -np.log(comb(d - 1, np.arange(d)))

    def _given(self, ladder: list[Score]) -> tuple[Any, Array]:
        """The candidates as bits of the parents, and their score on every rung."""
        names = ladder[0].table.names
        dags = [as_dag(dag, names) for dag in self.candidates]
        if not dags:
            raise ValueError("candidates must hold at least one graph")
        matrices = [structure.edge_matrix(dag, names) for dag in dags]
        parents = [[np.flatnonzero(column).tolist() for column in E.T] for E in matrices]
        bits = [[sum(1 << u for u in some) for some in graph] for graph in parents]
        return bits, np.array([[score.total(some) for some in parents] for score in ladder])

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
        columns = self.graphs_[: self._kept()].T
        keys = [(v, int(bits)) for v, some in enumerate(columns) for bits in np.unique(some)]
        families = [(*_members(bits), v) for v, bits in keys]
        found = {}
        for (v, bits), N in zip(keys, family_counts(table, families), strict=True):
            a = np.full(N.shape, self.equivalent_sample_size_ / N.size)
            found[f"{v}:{bits}"] = learn_table(N, a).values
        return found

    def _tables(self, table: CodedTable) -> list[Array]:
        return self._graph_tables(self.graphs_[0])

    def _graph_tables(self, graph: Sequence[int]) -> list[Array]:
        return [self.families_[f"{v}:{int(bits)}"] for v, bits in enumerate(graph)]

    def edge_probability(self, a: Names, b: Names) -> float:
        """P(a -> b | D)."""
        check_is_fitted(self)
        (a,), (b,) = names_of(a, self.states_), names_of(b, self.states_)
        names = tuple(self.states_)
        return float(self.edge_probabilities_[names.index(a), names.index(b)])

    def _networks(self) -> list[tuple[float, BayesianNetwork]]:
        names, out = tuple(self.states_), []
        for weight, graph in zip(self.weights_[: self._kept()], self.graphs_, strict=False):
            cpds = []
            for name, values, bits in zip(names, self._graph_tables(graph), graph, strict=True):
                above = [names[u] for u in _members(int(bits))]
                cpds.append(CPT(name, values, parents=above, states=self.states_[name]))
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

    def _densities(self, codes: IntArray, card: IntArray) -> Iterator[tuple[Array, Array]]:
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

    def _family_logs(self, v: int, bits: int, codes: IntArray, card: IntArray) -> Array:
        at = np.zeros(codes.shape[1], np.int64)
        for u in (*_members(bits), v):
            at = at * card[u] + codes[u]
        return np.log(self.families_[f"{v}:{bits}"]).ravel()[at]

    def predict_proba(self, X: ArrayLike, variable: Name = None) -> Array:
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

    def _incomplete(self, v: int, codes: IntArray, card: IntArray) -> Array:
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

    def _rows(self, X: ArrayLike, lenient: bool = False) -> tuple[tuple[Any, ...], Any, Any]:
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
            evaluation=f"P(G | D) proportional to P(G) exp({self.__dict__['score']}), P(G) "
            f"{self.structure_prior} over legal graphs",
            optimisation=f"{how}; answers are averages over the graphs",
            numbers={
                "variables": len(self.states_),
                "graphs": len(self.weights_),
                "weight of the best": float(self.weights_[0]),
                "effective number of graphs": float(1.0 / (self.weights_**2).sum()),
                "edges of the consensus": len(self.consensus_.edges),
                "its expected distance to the truth": self.expected_distance_,
                "equivalent sample size": self.equivalent_sample_size_,
            },
        )


def _members(bits: int) -> tuple[int, ...]:
    """The numbers of the variables in a set.

    >>> _members(5)
    (0, 2)
    """
    return tuple(u for u in range(bits.bit_length()) if bits >> u & 1)
