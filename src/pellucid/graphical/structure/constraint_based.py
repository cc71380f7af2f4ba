r"""Structure learning by tests: the PC algorithm.

Skeleton     start with all edges; for m = 0, 1, .. test every remaining pair (a, b) given each
             set of m neighbours of a (then of b); the first set that makes them independent is
             their separating set and the edge goes. ``stable``: neighbours are those at the
             beginning of the round m, so the answer does not depend on the order of the columns
             A test without degrees of freedom in well filled strata says nothing: there one
             variable is a function of the set (``either`` of ``lung`` and ``tub``)
Separators   the first set found is often too small: one of two causes may leave so little that a
             test does not see it. So of all sets of neighbours (in the skeleton that is left, up
             to the size tested) the one of largest p is the separating set of a pair
Colliders    a - c - b without a - b, c not in the separating set of a, b: a -> c <- b. Where two
             of them want one edge in opposite directions the pair that was separated more clearly
             (larger p) wins and the other is reported
Rest         Meek's rules; a member of the class by Dor & Tarsi's extension

Cost         O(d^m) tests of O(n) for neighbourhoods of size m; all tests of a pair and a round are
             one call (see ``graphical.structure.separating_kernels``).

References: Spirtes, Glymour & Scheines (2000); Colombo & Maathuis (2014); Ramsey (2016); Meek
(1995); Dor & Tarsi (1992).
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_weights
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.readable import readable
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.graphical.graphs.dag import DAG
from pellucid.graphical.graphs.equivalence import CPDAG, meek
from pellucid.graphical.learning.counts import CodedTable
from pellucid.graphical.structure import independence
from pellucid.graphical.structure.independence import METHODS, IndependenceTest, number_matrix
from pellucid.graphical.structure.knowledge import Constraints, EdgeKnowledge, constraints_of
from pellucid.graphical.structure.scores import parents_of
from pellucid.graphical.structure.separating_kernels import separate
from pellucid.graphical.structure.structure import StructureLearner

COLLIDERS = ("clearest", "first")
MANY_ROWS = 2_000  # rows from which pairs are tested in threads


@readable
class MadeTest(NamedTuple):
    """One test that was made.

    >>> MadeTest("a", "b", (), 0.0, 1, 1.0).p_value
    1.0
    """

    a: Any  # a variable
    b: Any  # another
    given: tuple[Any, ...]  # variables conditioned on
    statistic: float  # of the test
    dof: int  # degrees of freedom
    p_value: float  # of independence


class Examined(NamedTuple):
    """The tests of a pair in one round, and the set that separates it (or None)."""

    tests: list[tuple[tuple[int, ...], IndependenceTest]]
    given: tuple[int, ...] | None


Examine = Callable[[Any, int, int, int], Examined]  # graph, a, b, size of the sets


class Skeleton(NamedTuple):
    joined: Any  # (d, d) bool, symmetric
    separators: dict[tuple[int, int], tuple[tuple[int, ...], float]]  # set and p-value
    tests: list[tuple[int, int, tuple[int, ...], IndependenceTest]]


def find_skeleton(
    examine: Examine, limits: Constraints, *, max_given: int | None, stable: bool, threads: bool
) -> Skeleton:
    """Edges that no test could remove; required ones are not tested."""
    d = len(limits.allowed)
    joined = limits.allowed | limits.allowed.T | limits.required | limits.required.T
    done = limits.required | limits.required.T
    found = Skeleton(joined, {}, [])
    most = d - 2 if max_given is None else max_given
    for m in range(max(most, 0) + 1):
        enough = joined.sum(axis=0) > m  # m neighbours and the other end
        pairs = np.argwhere(np.triu(joined & ~done & (enough[:, None] | enough))).tolist()
        if not pairs:
            break
        if not stable:
            for a, b in pairs:  # each removal changes what the next pair sees
                _keep(found, (a, b), examine(joined, a, b, m), done)
            continue

        frozen = joined.copy()

        def look(pair: list[int], m: int = m, graph: BoolArray = frozen) -> Examined:
            return examine(graph, pair[0], pair[1], m)

        results = map_threads(look, pairs) if threads else map(look, pairs)
        for (a, b), result in zip(pairs, list(results), strict=True):
            _keep(found, (a, b), result, done)
    return found


def _keep(found: Skeleton, pair: tuple[int, int], result: Examined, done: Any) -> None:
    a, b = pair
    if result.tests and all(outcome.dof == 0 for _, outcome in result.tests):
        done[a, b] = True  # larger sets have no degrees of freedom either
    found.tests.extend((a, b, given, outcome) for given, outcome in result.tests)
    if result.given is not None:
        found.joined[a, b] = found.joined[b, a] = False
        found.separators[pair] = (result.given, result.tests[-1][1].p_value)


def count_examiner(table: CodedTable, method: str, alpha: float) -> Examine:
    """g2 or chi2 tests of codes, all of a pair and a round in one call."""
    codes, card, w = table.codes, table.card, table.w

    def examine(graph: BoolArray, a: int, b: int, m: int) -> Examined:
        rule = (card, w, method == "g2", alpha, float(independence.MOST_CELLS))
        sets, results, separated = separate(codes, graph, a, b, m, *rule)
        given = [tuple(some) for some in sets.tolist()]
        made = []
        for some, (statistic, dof, p) in zip(given, results.tolist(), strict=True):
            made.append((some, IndependenceTest(max(statistic, 0.0), int(dof), p)))  # not -1e-16
        return Examined(made, given[-1] if separated else None)

    return examine


def number_examiner(C: independence.Correlations, alpha: float) -> Examine:
    """Tests of partial correlations, one set after the other."""

    def examine(graph: BoolArray, a: int, b: int, m: int) -> Examined:
        made, tried = [], set()
        for centre, other in ((a, b), (b, a)):
            near = [int(u) for u in np.flatnonzero(graph[centre]) if u != other]
            for given in combinations(near, m):
                if given in tried:
                    continue
                tried.add(given)
                made.append((given, independence.partial_correlation_test(C, a, b, given)))
                if made[-1][1].p_value > alpha:
                    return Examined(made, given)
        return Examined(made, None)

    return examine


def clearest_separators(examine: Examine, skeleton: Skeleton, threads: bool) -> Skeleton:
    """The set of largest p for every pair with a common neighbour, among all neighbours.

    ``examine`` must not stop at a separating set. Sets are no larger than those tested before.
    """
    joined, known = skeleton.joined, {test[:3] for test in skeleton.tests}
    most = max((len(given) for _, _, given, _ in skeleton.tests), default=0)

    def look(pair: tuple[int, int]) -> list[tuple[tuple[int, ...], IndependenceTest]]:
        a, b = pair
        return [test for m in range(most + 1) for test in examine(joined, a, b, m).tests]

    pairs = [(a, b) for a, b in skeleton.separators if (joined[a] & joined[b]).any()]
    separators, tests = dict(skeleton.separators), list(skeleton.tests)
    for pair, found in zip(pairs, (map_threads if threads else map)(look, pairs), strict=True):
        for given, outcome in found:
            if (*pair, given) not in known:
                tests.append((*pair, given, outcome))
            if outcome.p_value > separators[pair][1] and (outcome.dof > 0 or not given):
                separators[pair] = (given, outcome.p_value)
    return Skeleton(joined, separators, tests)


class Orientation(NamedTuple):
    cpdag: CPDAG
    conflicts: list[str]


def orient(skeleton: Skeleton, names: Sequence[Any], limits: Constraints) -> Orientation:
    """Colliders by the separating sets, what is known, and Meek's rules."""
    joined, d = skeleton.joined, len(names)
    arrows = np.zeros((d, d), bool)
    for u, v in np.argwhere(joined):
        if limits.required[u, v] or (limits.allowed[u, v] and not limits.allowed[v, u]):
            arrows[u, v] = True
    conflicts = []
    order = sorted(skeleton.separators.items(), key=lambda item: (-item[1][1], item[0]))
    for (a, b), (given, _) in order:
        for c in np.flatnonzero(joined[a] & joined[b]).tolist():
            if c in given:
                continue
            if arrows[c, a] or arrows[c, b] or _leads(arrows, c, a) or _leads(arrows, c, b):
                conflicts.append(
                    f"{names[a]!r} -> {names[c]!r} <- {names[b]!r} contradicts an edge that was "
                    "directed before"
                )
                continue
            arrows[a, c] = arrows[b, c] = True
    lines = {frozenset((names[a], names[b])) for a, b in np.argwhere(joined & ~arrows & ~arrows.T)}
    directed = {(names[a], names[b]) for a, b in np.argwhere(arrows)}
    return Orientation(meek(directed, lines), conflicts)


def _leads(arrows: BoolArray, a: int, b: int) -> bool:
    """Whether a directed path leads from a to b."""
    seen, stack = {a}, [a]
    while stack:
        for v in np.flatnonzero(arrows[stack.pop()]):
            if v == b:
                return True
            if v not in seen:
                seen.add(int(v))
                stack.append(int(v))
    return False


def extend(graph: CPDAG, nodes: Sequence[Any]) -> DAG | None:
    """A directed graph with the same skeleton and colliders, or None (Dor & Tarsi).

    >>> extend(CPDAG(frozenset(), frozenset([frozenset("ab"), frozenset("bc")])), list("abc"))
    DAG(b->a, c->b)
    """
    place = {node: i for i, node in enumerate(nodes)}
    d = len(nodes)
    arrows, lines = np.zeros((d, d), bool), np.zeros((d, d), bool)
    for a, b in graph.directed:
        arrows[place[a], place[b]] = True
    for a, b in map(tuple, graph.undirected):
        lines[place[a], place[b]] = lines[place[b], place[a]] = True
    out, left = arrows.copy(), np.ones(d, bool)
    joined = arrows | arrows.T | lines | np.eye(d, dtype=bool)
    while left.any():
        for v in np.flatnonzero(left):
            if (arrows[v] & left).any():
                continue  # not a sink
            friends = lines[v] & left
            near = friends | (arrows[:, v] & left)
            if joined[friends][:, near].all():
                out[friends, v] = True
                left[v] = False
                break
        else:
            return None
    return DAG([(nodes[a], nodes[b]) for a, b in np.argwhere(out)], nodes)


def nearest_dag(graph: CPDAG, nodes: Sequence[Any]) -> tuple[DAG, list[str]]:
    """Some acyclic graph with the same skeleton; directions that close a cycle are turned."""
    place = {node: i for i, node in enumerate(nodes)}
    arrows = np.zeros((len(nodes), len(nodes)), bool)
    conflicts = []
    directed = sorted(graph.directed, key=lambda edge: (place[edge[0]], place[edge[1]]))
    loose = sorted(tuple(sorted(pair, key=place.get)) for pair in graph.undirected)  # type: ignore[arg-type]
    for known, edges in ((True, directed), (False, loose)):
        for a, b in edges:
            u, v = place[a], place[b]
            if _leads(arrows, v, u):
                if known:
                    conflicts.append(f"{a!r} -> {b!r} would close a cycle and is turned")
                u, v = v, u
            arrows[u, v] = True
    return DAG([(nodes[a], nodes[b]) for a, b in np.argwhere(arrows)], nodes), conflicts


class NumberTable(NamedTuple):
    """Numbers for ``fisher_z``; its variables have no states."""

    names: tuple[Any, ...]
    Z: Array  # (n, d)
    weights: Array

    @property
    def n_rows(self) -> int:
        return len(self.Z)

    @property
    def states(self) -> tuple[tuple[Any, ...], ...]:
        return ((),) * len(self.names)


def regressions(table: NumberTable, parents: Sequence[tuple[int, ...]]) -> list[Array]:
    """Per node (intercept, coefficients, variance) of its regression on its parents."""
    root = np.sqrt(table.weights)
    fits = []
    for v, some in enumerate(parents):
        A = np.column_stack([np.ones(table.n_rows), table.Z[:, list(some)]])
        b = np.linalg.lstsq(A * root[:, None], table.Z[:, v] * root, rcond=None)[0]
        spread = np.average((table.Z[:, v] - A @ b) ** 2, weights=table.weights)
        least = 1e-12 * (float(np.abs(table.Z[:, v]).max()) ** 2 or 1.0)  # an exact fit
        fits.append(np.append(b, max(spread, least)))
    return fits


class ConstraintBasedStructure(StructureLearner):
    """The PC algorithm: edges that no conditional independence can explain away.

    ``sample_weight`` equals repetition. As a density estimator (``score_samples``, ``score``) it
    has the tables of ``dag_`` with one imaginary sample in every cell; with ``"fisher_z"`` the
    linear-Gaussian regressions along it.

    Parameters
    ----------
    test : {"g2", "chi2", "fisher_z"}, default="g2"
        The first two for categories, the last for numbers.
    alpha : float, default=0.05
        Level of every test: an edge goes when a test has ``p > alpha``.
    max_given : int or None, default=None
        Largest number of variables a test is conditioned on.
    stable : bool, default=True
        Whether an edge goes only at the end of a round: the order of the columns has no effect.
    knowledge : EdgeKnowledge or None, default=None
        Edges that are known or impossible.
    colliders : {"clearest", "first"}, default="clearest"
        Which separating set of a pair decides about colliders: the one of largest p among all
        sets of neighbours, or the first that was found.

    Attributes
    ----------
    skeleton_ : frozenset of pairs (frozensets)
    sepsets_ : dict from pairs (frozensets) to the separating set (a frozenset)
    tests_ : list of MadeTest(a, b, given, statistic, dof, p_value), every test made
    cpdag_ : CPDAG
    dag_ : DAG, a member of the class
    conflicts_ : list of sentences about tests that contradict each other
    states_, tables_
        What ``score_samples`` needs.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import ConstraintBasedStructure
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(2, size=(2, 500))
    >>> c = np.where(rng.random(500) < 0.8, a | b, 1 - (a | b))
    >>> model = ConstraintBasedStructure(alpha=0.01).fit(np.column_stack([a, b, c]))
    >>> model.dag_, model.sepsets_[frozenset(["x0", "x1"])]
    (DAG(x0->x2, x1->x2), frozenset())
    """

    def __init__(
        self,
        *,
        test: str = "g2",
        alpha: float = 0.05,
        max_given: int | None = None,
        stable: bool = True,
        knowledge: EdgeKnowledge | None = None,
        colliders: str = "clearest",
    ) -> None:
        self.test = test
        self.alpha = alpha
        self.max_given = max_given
        self.stable = stable
        self.knowledge = knowledge
        self.colliders = colliders

    def _open(self, X: Any, sample_weight: Any) -> Any:
        check.one_of(METHODS, test=self.test)
        if self.test != "fisher_z":
            return super()._open(X, sample_weight)
        columns = self._check_columns(X, reset=True)
        names = self._feature_names()
        Z = number_matrix(columns, names)
        return NumberTable(names, Z, check_weights(sample_weight, Z))

    def _learn(self, table: CodedTable, context: FitContext | None) -> None:
        check.one_of(METHODS, test=self.test)
        check.fraction(alpha=self.alpha)
        check.boolean(stable=self.stable)
        check.one_of(COLLIDERS, colliders=self.colliders)
        if self.max_given is not None:
            check.whole(at_least=0, max_given=self.max_given)
        names, d = table.names, len(table.names)
        limits = constraints_of(self.knowledge, names)
        threads = table.n_rows >= MANY_ROWS and self.test != "fisher_z"
        examine, how = self._examiner(table, float(self.alpha)), {"stable": self.stable}
        skeleton = find_skeleton(examine, limits, max_given=self.max_given, threads=threads, **how)
        if self.colliders == "clearest":
            skeleton = clearest_separators(self._examiner(table, 1.0), skeleton, threads)
        self.cpdag_, self.conflicts_ = orient(skeleton, names, limits)
        dag = extend(self.cpdag_, names)
        if dag is None:
            dag, more = nearest_dag(self.cpdag_, names)
            self.conflicts_ += ["no graph has exactly these colliders", *more]
        self.dag_ = dag
        pairs = [(a, b) for a, b in combinations(range(d), 2) if skeleton.joined[a, b]]
        self.skeleton_ = frozenset(frozenset((names[a], names[b])) for a, b in pairs)
        self.sepsets_ = {
            frozenset((names[a], names[b])): frozenset(names[u] for u in given)
            for (a, b), (given, _) in skeleton.separators.items()
        }
        self.tests_ = [
            MadeTest(names[a], names[b], tuple(names[u] for u in given), *outcome)
            for a, b, given, outcome in skeleton.tests
        ]

    def _examiner(self, table: CodedTable, alpha: float) -> Examine:
        if self.test != "fisher_z":
            return count_examiner(table, self.test, alpha)
        if not isinstance(table, NumberTable):
            raise ValueError("test='fisher_z' needs a table of numbers; use 'g2' or 'chi2'")
        C = independence.correlations(table.Z, table.weights, table.names)
        return number_examiner(C, alpha)

    def _tables(self, table: Any) -> list[Array]:
        if isinstance(table, NumberTable):
            return regressions(table, parents_of(self.dag_, table.names))
        return super()._tables(table)

    def _table_shapes(self) -> list[tuple[int, ...]]:
        if self.test == "fisher_z":
            return [(len(some) + 2,) for some in parents_of(self.dag_, tuple(self.states_))]
        return super()._table_shapes()

    def score_samples(self, X: ArrayLike) -> Array:
        """log p(x) of every row under the learned graph; an unknown state is refused."""
        check_is_fitted(self)
        if self.test != "fisher_z":
            return super().score_samples(X)
        names = tuple(self.states_)
        Z = number_matrix(self._check_columns(X, reset=False), names)
        out = np.zeros(len(Z))
        for v, some in enumerate(parents_of(self.dag_, names)):
            b = self.tables_[v]
            error = Z[:, v] - b[0] - Z[:, list(some)] @ b[1:-1]
            out -= 0.5 * (np.log(2 * np.pi * b[-1]) + error**2 / b[-1])
        return out

    def score(self, X: ArrayLike, y: ArrayLike | None = None) -> float:
        """The mean log-likelihood of the rows."""
        return self.mean_log_likelihood(X)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        return Card(
            representation="an equivalence class of directed acyclic graphs (and one member)",
            evaluation=f"an edge stays if no test ({self.test}) makes its ends independent at the "
            f"level {self.alpha:g}",
            optimisation="PC: tests of growing order among neighbours, colliders from separating "
            f"sets, Meek's rules; {'stable' if self.stable else 'removing at once'}",
            numbers={
                "variables": len(self.states_),
                "edges": len(self.dag_.edges),
                "directed": len(self.cpdag_.directed),
                "tests": len(self.tests_),
                "conflicts": len(self.conflicts_),
            },
            warnings=tuple(self.conflicts_[:3]),
        )
