r"""Structure learning by a score.

Objective    the graph with the largest decomposable score (see ``scores``)
Size         "auto": graph and equivalent sample size of bdeu in turns, each given the other
Searches     hill_climbing, tabu     single moves (``hill_climbing``)
             chow_liu                the best tree (``trees``)
             exhaustive, exact       the optimum, for 5 and 20 variables (``exact_search``)

References: Koller & Friedman (2009), chapter 18.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import BoolArray, Seed
from pellucid.core.loops.iterate import FitContext, History
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.graphical.learning.counts import CodedTable
from pellucid.graphical.structure import hill_climbing, scores
from pellucid.graphical.structure.exact_search import FoundGraph, exact_graph, exhaustive_graph
from pellucid.graphical.structure.hill_climbing import Climber, SearchState, search_graph, shake
from pellucid.graphical.structure.knowledge import Constraints, EdgeKnowledge, constraints_of
from pellucid.graphical.structure.scores import SCORES, Score, likeliest_size, make_score
from pellucid.graphical.structure.structure import ScoreParameter, StructureLearner, dag_from
from pellucid.graphical.structure.trees import chow_liu

SEARCHES = ("hill_climbing", "tabu", "chow_liu", "exhaustive", "exact")
FIRST_SIZE = 8.0  # where the turns of "auto" begin


class ScoreBasedStructure(StructureLearner):
    """The graph with the largest score that a search finds.

    ``sample_weight`` equals repetition. As a density estimator (``score_samples``, ``score``) it
    has the tables of its graph with one imaginary sample in every cell.

    Parameters
    ----------
    score : {"bic", "aic", "log_likelihood", "k2", "bdeu"}, default="bic"
        What the search maximises.
    search : {"hill_climbing", "tabu", "chow_liu", "exhaustive", "exact"}, default="hill_climbing"
        The last two find the optimum: of at most 5 and 20 variables.
    max_parents : int or None, default=None
        Of every node, ``>= 1``.
    equivalent_sample_size : float or "auto", default=10.0
        Of bdeu. "auto": the power of 2 between 1/8 and 128 under which the data are most probable,
        found in turns with the graph.
    n_restarts : int, default=0
        Times that the best graph is shaken and climbed again (hill_climbing and tabu).
    knowledge : EdgeKnowledge or None, default=None
        Edges that are known or impossible.
    random_state : int, RandomState, Generator or None, default=None
        Of the restarts.

    Attributes
    ----------
    dag_ : DAG
    cpdag_ : CPDAG, its equivalence class
    score_ : float
    equivalent_sample_size_ : float, the number given or found
    history_ : History of the search that found it: each ``move``, its ``parent``, ``child`` and
        ``gain``; ``objective`` is the score
    n_iter_ : int, its moves
    states_ : dict of the states of each variable
    tables_ : list of arrays, smoothed tables for ``score_samples``
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import polars as pl
    >>> from pellucid import ScoreBasedStructure
    >>> X = pl.DataFrame({"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 1] * 9, "c": [0, 1] * 18})
    >>> model = ScoreBasedStructure().fit(X)
    >>> model.dag_.skeleton() == {frozenset("ab")}, model.history_["move"].tolist()[:2]
    (True, ['start', 'add'])
    """

    score = ScoreParameter()

    def __init__(
        self,
        *,
        score: str = "bic",
        search: str = "hill_climbing",
        max_parents: int | None = None,
        equivalent_sample_size: float | str = 10.0,
        n_restarts: int = 0,
        knowledge: EdgeKnowledge | None = None,
        random_state: Seed = None,
    ) -> None:
        self.score = score
        self.search = search
        self.max_parents = max_parents
        self.equivalent_sample_size = equivalent_sample_size
        self.n_restarts = n_restarts
        self.knowledge = knowledge
        self.random_state = random_state

    def _learn(self, table: CodedTable, context: FitContext | None) -> None:
        check.one_of(SEARCHES, search=self.search)
        check.whole(at_least=0, n_restarts=self.n_restarts)
        limit = parent_limit(self.max_parents, len(table.names))
        limits = constraints_of(self.knowledge, table.names)
        found = self._search(table, limits, limit, context)
        self.dag_ = dag_from(found.edges, table.names)
        self.cpdag_ = self.dag_.cpdag()
        self.score_ = found.score

    def _search(
        self, table: CodedTable, limits: Constraints, limit: int, context: FitContext | None
    ) -> FoundGraph:
        """The best graph; with an open size, in turns with the size that suits it best."""
        name, size = self.__dict__["score"], self.equivalent_sample_size
        open_ = scores.size_is_open(size)
        size = FIRST_SIZE if open_ else float(size)
        tried: dict[float, tuple[FoundGraph, History, int]] = {}
        while size not in tried:
            self.equivalent_sample_size_ = size
            score = make_score(table, name, size)
            if self.search in ("hill_climbing", "tabu"):
                found = self._climb(score, limits, limit, context)
            else:
                found = self._optimum(score, limits, limit)
            tried[size] = found, self.history_, self.n_iter_
            if open_ and name == "bdeu":
                parents = [np.flatnonzero(column).tolist() for column in found.edges.T]
                size = likeliest_size(table, parents)
        self.equivalent_sample_size_ = size = max(tried, key=lambda e: tried[e][0].score)
        found, self.history_, self.n_iter_ = tried[size]
        return found

    def _climb(
        self, score: Score, limits: Constraints, limit: int, context: FitContext | None
    ) -> FoundGraph:
        if (limits.required.sum(axis=0) > limit).any():
            raise ValueError(f"more edges are required than max_parents={limit} allows")
        climber = Climber(score, limits, limit, self.search == "tabu", {})
        names = score.table.names
        label = type(self).__name__
        run = search_graph(climber, limits.required.copy(), names, context=context, name=label)
        rng = generator(self.random_state)
        for _ in range(self.n_restarts):
            moves = 4 + 3 * len(names)  # fewer are undone by the same climb
            start = shake(run.state.best_edges, limits, limit, moves, rng)
            again = search_graph(climber, start, names, context=context, name=label)
            if again.state.best_score > run.state.best_score + 1e-9:
                run = again
        self.history_, self.n_iter_ = run.history, run.n_iter
        return FoundGraph(run.state.best_edges, run.state.best_score)

    def _optimum(self, score: Score, limits: Constraints, limit: int) -> FoundGraph:
        names, d = score.table.names, len(score.card)
        if self.search == "exact":
            found = exact_graph(score, limits, limit)
        elif self.search == "exhaustive":
            found = exhaustive_graph(score, limits, limit)
        else:
            S, edges = np.empty((d, d)), np.zeros((d, d), bool)
            hill_climbing.count_rows(score, edges, S, range(d))
            edges[tuple(np.array(chow_liu(S, limits.allowed)).reshape(-1, 2).T)] = True
            refuse_broken(edges, limits, names)
            found = FoundGraph(edges, 0.0)
        parents = [tuple(np.flatnonzero(found.edges[:, v]).tolist()) for v in range(d)]
        value = score.total(parents)  # the same sums for all searches
        row = {"step": 1, "objective": value, "move": "optimum", "gap": 0.0, "seconds": 0.0}
        self.history_, self.n_iter_ = History([row]), 1
        return FoundGraph(found.edges, value)

    def _attributes(self, table: CodedTable, state: object) -> dict[str, Any]:
        found = super()._attributes(table, state)
        if not isinstance(state, SearchState):
            return found
        dag = dag_from(state.best_edges, table.names)
        seen = ScoreBasedStructure()
        seen.dag_ = dag
        found |= {"dag_": dag, "cpdag_": dag.cpdag(), "score_": state.best_score}
        states = dict(zip(table.names, table.states, strict=True))
        return {**found, "states_": states, "tables_": seen._tables(table)}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        how = {
            "hill_climbing": "the best move (add, remove, reverse an edge) while it gains, then "
            "sideways and by rebuilding nodes at the top; a local optimum",
            "tabu": "the best move of a pair not moved lately, up or down, and rebuilt nodes; the "
            "best graph seen",
            "chow_liu": "maximum spanning forest of the pairwise gains; the best of all forests",
            "exhaustive": "every graph; the global optimum",
            "exact": "dynamic programming over sets of variables; the global optimum",
        }[self.search]
        size = f", equivalent sample size {self.equivalent_sample_size_:g}"
        return Card(
            representation="a directed acyclic graph: p(x) = prod_i p(x_i | parents)",
            evaluation=f"maximise the score {self.score}"
            + (size if self.score == "bdeu" else "")
            + f" ({', '.join(SCORES)} can be chosen)",
            optimisation=f"{how}; restarts {self.n_restarts}",
            numbers={
                "variables": len(self.states_),
                "edges": len(self.dag_.edges),
                "directed in the whole class": len(self.cpdag_.directed),
                "score": self.score_,
                "moves": sum(row["move"] not in ("start", "optimum") for row in self.history_),
            },
        )


def parent_limit(max_parents: int | None, d: int) -> int:
    """The most parents of a node."""
    if max_parents is None:
        return max(d - 1, 1)
    check.whole(max_parents=max_parents)
    return min(int(max_parents), max(d - 1, 1))


def refuse_broken(edges: BoolArray, limits: Constraints, names: tuple[Any, ...]) -> None:
    """A tree is not shaped by directions: knowledge it breaks is refused."""
    bad = np.argwhere((edges & ~limits.allowed) | (limits.required & ~edges))
    if len(bad):
        u, v = bad[0]
        raise ValueError(
            f"the best tree breaks the knowledge about {names[u]!r} -> {names[v]!r}; "
            "search='exact' or 'hill_climbing' keeps to it"
        )
