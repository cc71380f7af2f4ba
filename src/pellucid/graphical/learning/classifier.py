r"""Classification with a Bayesian network.

Model        a network over the features and the class; P(k | x) is proportional to the product of
             the tables that hold the class, with missing cells summed out
Structures   naive    class -> every feature
             tan      naive, and a tree among the features: the maximum spanning tree of the
                      conditional mutual information I(x_i, x_j | class), away from the first
                      feature; the best of all such trees by likelihood
             a graph over the features and one more node, the class; or a structure learner
Tables       posterior means of a Dirichlet prior (``learn_tables``), with missing training cells by
             expectation-maximisation (``em``) from the estimates of the complete families

References: Friedman, Geiger & Goldszmidt (1997); Mitchell (1997), sections 6.9 and 6.11.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, check_weights, fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.graphical.graphs.dag import DAG, as_dag
from pellucid.graphical.learning import counts as coding
from pellucid.graphical.learning import learn_tables
from pellucid.graphical.learning.completion import posteriors
from pellucid.graphical.learning.counts import CodedTable, add_counts, encode_table, family_counts
from pellucid.graphical.learning.em import fit_em, gather
from pellucid.graphical.learning.fitting import leaf_columns, leaf_values, merge_values
from pellucid.graphical.learning.learn_tables import DirichletPrior, learn_table, prior_exponent
from pellucid.graphical.network.network import BayesianNetwork
from pellucid.graphical.network.tables import CPT
from pellucid.graphical.structure import trees
from pellucid.graphical.structure.scores import complete_table, parents_of
from pellucid.graphical.structure.trees import conditional_information, pair_families

ROUNDS, TOLERANCE = 200, 1e-6  # of EM, per row
CLASS = "class"
ROWS = 8192  # rows whose look-ups stay in the cache
JOINED = 4096  # cells of tables that are added up before rows are looked up


def tan_edges(count: Callable[[Any], Any], class_: int) -> list[tuple[int, int]]:
    """Class to every feature 0 .. class_ - 1, and the best tree among these."""
    features = range(class_)
    weights = conditional_information(count(pair_families(features, class_)), class_)
    return [(class_, v) for v in features] + trees.spanning_forest(weights, -1.0)


def class_log_joint(
    codes: IntArray,
    class_: int,
    parents: Sequence[tuple[int, ...]],
    tables: Sequence[Array],
    card: IntArray,
) -> Array:
    """log of the product of the tables that hold the class, (n, K); no cell is missing."""
    n, K = codes.shape[1], int(card[class_])
    out = np.empty((n, K))
    parts = joined(class_parts(class_, parents, tables, K), card)

    def work(first: int) -> None:
        block = codes[:, first : first + ROWS]
        total = out[first : first + ROWS]
        total[:] = 0.0
        for some, logs in parts:
            at = np.zeros(block.shape[1], np.intp)
            for u in some:
                at *= card[u]
                at += block[u]
            total += logs.take(at, axis=0)

    blocks = range(0, n, ROWS)
    for _ in map(work, blocks) if len(blocks) == 1 else map_threads(work, blocks):
        pass
    return out


def class_parts(
    class_: int, parents: Sequence[tuple[int, ...]], tables: Sequence[Array], K: int
) -> list[tuple[tuple[int, ...], Array]]:
    """The tables that hold the class: their other variables, and log values (cells, K)."""
    parts = []
    for v, some in enumerate(parents):
        family = (*some, v)
        if class_ in family:
            others = tuple(u for u in family if u != class_)
            with np.errstate(divide="ignore"):
                logs = np.log(np.moveaxis(tables[v], family.index(class_), -1))
            parts.append((others, np.ascontiguousarray(logs.reshape(-1, K))))
    return parts


def joined(
    parts: list[tuple[tuple[int, ...], Array]], card: IntArray
) -> list[tuple[tuple[int, ...], Array]]:
    """Neighbouring tables added up into one while it stays small: fewer look-ups for a row."""
    found: list[tuple[tuple[int, ...], Array]] = []
    for some, logs in parts:
        if found and len(found[-1][1]) * len(logs) <= JOINED:
            before, sums = found.pop()
            both = (sums[:, None] + logs[None]).reshape(-1, logs.shape[1])
            some, logs = (*before, *some), both
        found.append((some, logs))
    return found


def log_shares(joint: Array) -> Array:
    """Rows of log shares, normalised in place; every row has a finite entry."""

    def work(first: int) -> None:
        part = joint[first : first + ROWS]
        part -= part.max(axis=1, keepdims=True)
        part -= np.log(np.exp(part).sum(axis=1, keepdims=True))

    blocks = range(0, len(joint), ROWS)
    for _ in map(work, blocks) if len(blocks) == 1 else map_threads(work, blocks):
        pass
    return joint


class BayesianNetworkClassifier(Classifier):
    """A Bayesian network over the features and the class.

    Categories of any kind; numbers count as categories too, so cut measurements into intervals
    first. Missing cells (NaN, None) are summed out. A category that the fit never saw is refused,
    a number outside the data counts as missing with a warning; declared ``states`` have smoothed
    tables from the start. ``sample_weight`` equals repetition; ``fit_blocks`` counts numbered
    categories in files larger than memory.

    Parameters
    ----------
    structure : {"naive", "tan"}, DAG, edge list or structure learner, default="naive"
        A graph has the features (x0, x1, ... without names) and one more node, the class. A
        learner is fitted to the features and the column "class".
    prior : DirichletPrior or None, default=DirichletPrior()
        Imaginary samples of every table, the class prior included; None: maximum likelihood.
    states : dict of name -> states or None, default=None
        States of some features; else the sorted values of the data. A category outside is refused.
    missing : {"em", "drop", "raise"}, default="em"
        Missing training cells: expectation-maximisation, families that are complete, or refuse.
    random_state : int, RandomState, Generator or None, default=None
        Passed on to a structure learner that has none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    network_ : BayesianNetwork
    class_name_ : name of the class in the network
    states_ : dict of name -> states of the features
    tables_ : list of arrays in the order of ``states_``, the class last
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from pellucid import BayesianNetworkClassifier
    >>> X = [["sunny", "hot"], ["rainy", "cool"], ["sunny", "cool"], ["rainy", "hot"]]
    >>> model = BayesianNetworkClassifier().fit(X, ["no", "yes", "no", "yes"])
    >>> model.predict([["sunny", "hot"], ["rainy", None]]).tolist()
    ['no', 'yes']
    >>> model.predict_proba([["sunny", "hot"]]).round(2)
    array([[0.75, 0.25]])
    """

    _accepts_nan = True

    fit_blocks = fit_blocks

    def __init__(
        self,
        structure: object = "naive",
        *,
        prior: DirichletPrior | None = DirichletPrior(),  # noqa: B008  immutable
        states: Mapping[Any, Any] | None = None,
        missing: str = "em",
        random_state: Seed = None,
    ) -> None:
        self.structure = structure
        self.prior = prior
        self.states = states
        self.missing = missing
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.classifier_tags.poor_score = True
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        check.one_of(("em", "drop", "raise"), missing=self.missing)
        columns = self._check_columns(X, reset=True)
        n = coding.n_cells(columns[0])
        c = self._check_target(y, n)
        w = check_weights(sample_weight, np.empty((n, 1)))
        features = encode_table(columns, self._feature_names(), w, self.states)
        kept = np.bincount(c, w, len(self.classes_)) > 0
        if not kept.all():  # a class of weight 0 is absent
            self.classes_, c = self.classes_[kept], (np.cumsum(kept) - 1)[c]
        self._need_classes()
        given: dict[str, Any] = {"X": X, "y": y, "sample_weight": sample_weight}
        context = FitContext(self, **given, max_steps=None, attributes=self._so_far)
        self._fit_table(features, c, w)
        context.end()
        return self

    def _so_far(self, state: object) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name.endswith("_")}

    def _fit_rows(self, source: Source, map_: Map) -> None:
        """The values in one pass over blocks, the counts in a second, those of pairs for tan."""
        check.one_of(("em", "drop", "raise"), missing=self.missing)
        if hasattr(self.structure, "fit"):
            raise ValueError("fit_blocks has no structure learner: give a graph, or use fit")
        names, labels = self._feature_names(), self.classes_
        seen = reduce_rows(Statistic(leaf_values, merge_values), source, map_)
        values = self._block_states(names, seen)
        self.class_name_, d = self._class_name(names), len(names)
        states = (*values, tuple(labels.tolist()))
        nothing = np.empty((d + 1, 0), np.int16)
        table = CodedTable((*names, self.class_name_), states, nothing, np.empty(0))
        leaf = partial(leaf_class_counts, table=table, drop=self.missing == "drop")

        def count(families: Sequence[Any]) -> list[Array]:
            summarise = partial(leaf, families=families)
            return reduce_rows(Statistic(summarise, add_counts), source, map_)

        dag = self._graph(table, d, count)
        parents = parents_of(dag, table.names)
        families = [(*some, v) for v, some in enumerate(parents)]
        *counts, total = count([*families, (d,)])
        kept = total > 0  # a class of weight 0 is absent
        self.classes_ = labels[kept]
        self._need_classes()
        pairs = zip(counts, families, strict=True)
        counts = [N.compress(kept, axis=f.index(d)) if d in f else N for N, f in pairs]
        table = table._replace(states=(*values, tuple(self.classes_.tolist())))
        self._keep(dag, table, parents, self._tables_of(counts, table.names))

    def _block_states(self, names: Sequence[str], seen: Any) -> list[tuple[Any, ...]]:
        """The states of every feature: those given, else the values seen in the blocks."""
        given = dict(self.states or {})
        states = [tuple(given.get(n, v.tolist())) for n, v in zip(names, seen, strict=True)]
        for name, some in zip(names, states, strict=True):
            if not some:
                raise ValueError(
                    f"variable {name!r} has no value but missing ones: give its states"
                )
        return states

    def _need_classes(self) -> None:
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes or more, got one class: "
                f"{self.classes_[0]!r}"
            )

    def _fit_table(self, features: CodedTable, c: IntArray, w: Array) -> None:
        d = len(features.names)
        self.class_name_ = self._class_name(features.names)
        labels = tuple(self.classes_.tolist())
        codes = np.concatenate([features.codes, c[None].astype(np.int16)])
        codes[d, w == 0] = 0  # rows that do not count may hold a class that is gone
        names, states = (*features.names, self.class_name_), (*features.states, labels)
        table = CodedTable(names, states, codes, coding.bare_weights(w))
        if self.missing == "raise":
            complete_table(table)
        dag = self._graph(table, d, partial(family_counts, table))
        parents = parents_of(dag, table.names)
        self._keep(dag, table, parents, self._estimate(table, parents))

    def _keep(self, dag: DAG, table: CodedTable, parents: Any, tables: list[Array]) -> None:
        self.states_ = dict(zip(table.names[:-1], table.states[:-1], strict=True))
        self.tables_ = tables
        self.network_ = as_network(dag, table, parents, tables)

    def _class_name(self, names: tuple[Any, ...]) -> Any:
        """The node of a given graph that is no feature, else "class"."""
        if isinstance(self.structure, str) or hasattr(self.structure, "fit"):
            return CLASS if CLASS not in names else f"{CLASS}_of_row"
        others = [node for node in as_dag(self.structure).nodes if node not in names]
        if len(others) != 1:
            raise ValueError(
                "structure must have exactly one node that is no feature, the class; "
                f"it has {len(others)}: {others[:4]}"
            )
        return others[0]

    def _graph(self, table: CodedTable, class_: int, count: Callable[[Any], Any]) -> DAG:
        names, structure = table.names, self.structure
        if isinstance(structure, str):
            check.one_of(("naive", "tan"), structure=structure)
            edges = [(class_, v) for v in range(class_)]
            if structure == "tan":
                edges = tan_edges(count, class_)
            return DAG([(names[a], names[b]) for a, b in edges], names)
        if not hasattr(structure, "fit"):
            return as_dag(structure, names)
        learner = clone(structure)
        if getattr(learner, "random_state", 0) is None:
            learner.set_params(random_state=self.random_state)
        return as_dag(learner.learn(complete_table(table)), names)

    def _estimate(self, table: CodedTable, parents: list[tuple[int, ...]]) -> list[Array]:
        card = table.card
        families = [(*some, v) for v, some in enumerate(parents)]
        if self.missing == "em" and (table.codes < 0).any():
            shapes = [tuple(int(card[u]) for u in f) for f in families]
            c = [prior_exponent(self.prior, n, s) for n, s in zip(table.names, shapes, strict=True)]
            rows = gather(table, parents)
            begin = [learn_table(N + 1e-3, a).values for N, a in zip(rows.complete, c, strict=True)]
            em = partial(fit_em, max_iter=ROUNDS, tol=TOLERANCE * table.weight)
            run = em(rows, begin, c, [False] * len(c), name=type(self).__name__)
            self.history_, self.n_iter_ = run.history, max(run.n_iter, 1)
            return run.state.tables
        return self._tables_of(family_counts(table, families), table.names)

    def _tables_of(self, counts: Sequence[Array], names: Sequence[Any]) -> list[Array]:
        """Posterior means (or shares) of counts, by variable."""
        found = {
            name: learn_table(N, prior_exponent(self.prior, name, N.shape))
            for name, N in zip(names, counts, strict=True)
        }
        learn_tables.warn_unseen({name: f.unseen for name, f in found.items()})
        return [f.values for f in found.values()]

    def _joint(self, X: ArrayLike) -> Array:
        """log P(k | x) of every row."""
        check_is_fitted(self)
        columns = self._check_columns(X, reset=False)
        n = coding.n_cells(columns[0])
        names, lenient = tuple(self.states_), self.states is None
        table = encode_table(columns, names, np.ones(n), self.states_, lenient=lenient)
        d, K = len(self.states_), len(self.classes_)
        codes = np.concatenate([table.codes, np.full((1, n), -1, np.int16)])
        card = np.append(table.card, K)
        parents = parents_of(self.network_.dag_, (*names, self.class_name_))
        gaps = table.codes.min(axis=0) < 0
        if not gaps.any():
            out = class_log_joint(codes, d, parents, self.tables_, card)
        else:
            out = np.empty((n, K))
        if gaps.any() and not gaps.all():
            full = np.ascontiguousarray(codes[:, ~gaps])
            out[~gaps] = class_log_joint(full, d, parents, self.tables_, card)
        if gaps.any():
            some = np.ascontiguousarray(codes[:, gaps])
            with np.errstate(divide="ignore"):
                out[gaps] = np.log(posteriors(d, some, parents, self.tables_, card))
        lost = ~np.isfinite(out.max(axis=1))
        if lost.any():  # every class rules the row out: nothing is left but the prior
            with np.errstate(divide="ignore"):
                out[lost] = np.log(self._class_prior())
        return log_shares(out)

    def _class_prior(self) -> Array:
        return self.network_.query(self.class_name_).values

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log P(k | x), shape (n, classes)."""
        return self._joint(X)

    def predict_proba(self, X: ArrayLike) -> Array:
        """P(k | x), shape (n, classes); missing cells are summed out."""
        return np.exp(self._joint(X))

    def predict(self, X: ArrayLike) -> Any:
        """Predict for each row of ``X``."""
        best = self._joint(X).argmax(axis=1)  # refuses a model that is not fitted
        return self.classes_[best]

    def _check_state(self) -> None:
        super()._check_state()
        if not hasattr(self, "n_features_in_"):
            return
        names = (*self.states_, self.class_name_)
        card = [*(len(s) for s in self.states_.values()), len(self.classes_)]
        if set(self.network_.dag_.nodes) != set(names) or len(self.tables_) != len(names):
            raise ValueError("network_, states_ and tables_ must have the same variables")
        for v, some in enumerate(parents_of(self.network_.dag_, names)):
            if np.shape(self.tables_[v]) != tuple(card[u] for u in (*some, v)):
                raise ValueError(f"the table of {names[v]!r} does not fit the states")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        kind = self.structure if isinstance(self.structure, str) else "given or learned"
        prior = "no prior" if self.prior is None else f"the prior {self.prior}"
        rounds = (
            f"; EM for missing cells, {self.n_iter_} rounds" if hasattr(self, "n_iter_") else ""
        )
        dag, size = self.network_.dag_, self.network_.n_parameters_
        numbers = {"classes": len(self.classes_), "features": self.n_features_in_}
        return Card(
            representation=f"P(class | x) from a Bayesian network, structure {kind}",
            evaluation=f"likelihood of features and class together, with {prior}",
            optimisation=f"counts in closed form{rounds}",
            numbers={**numbers, "edges": len(dag.edges), "parameters": size},
        )


def leaf_class_counts(rows: Rows, table: CodedTable, families: Any, drop: bool) -> list[Array]:
    """The counts of every family in one leaf of an empty table; the class is its last variable."""
    live = rows.w > 0
    columns = leaf_columns(rows, range(rows.X.shape[1]), drop)
    names, w = table.names[:-1], rows.w[live]
    cells = encode_table(columns, names, w, dict(zip(names, table.states[:-1], strict=True)))
    codes = np.concatenate([cells.codes, np.asarray(rows.y)[live][None].astype(np.int16)])
    return family_counts(table._replace(codes=codes, w=cells.w), families)


def as_network(
    dag: DAG, table: CodedTable, parents: Sequence[tuple[int, ...]], tables: Sequence[Array]
) -> BayesianNetwork:
    """Learned tables as a network that answers queries."""
    cpds = []
    for v, (name, values) in enumerate(zip(table.names, tables, strict=True)):
        above = [table.names[u] for u in parents[v]]
        cpds.append(CPT(name, values, parents=above, states=table.states[v]))
    network = BayesianNetwork(cpds=cpds)
    network._install(dag, cpds)
    return network
