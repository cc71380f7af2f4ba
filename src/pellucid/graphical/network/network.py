r"""Bayesian networks.

Model        p(x) = prod_i p(x_i | x_pa(i)) along a directed acyclic graph
Inference    exact: variable elimination for one query (``elimination``), a clique tree for many
             (``clique_tree``); the cost is known before a table is built (``cost``)
Learning     counts (``learn_tables``), expectation maximisation where cells are missing (``em``),
             the graph itself by a structure learner; see ``fitting``

References: Pearl (1988); Lauritzen & Spiegelhalter (1988); Koller & Friedman (2009).
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from pellucid.base import Estimator, fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map, Seed
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.graphical.graphs import intervention
from pellucid.graphical.inference import approximate, sampling
from pellucid.graphical.inference.clique_tree import best_states, build_tree, calibrate, marginals
from pellucid.graphical.inference.cost import InferenceCost, plan
from pellucid.graphical.inference.elimination import Elimination, evidence_codes, log_evidence
from pellucid.graphical.learning import fitting
from pellucid.graphical.learning.learn_tables import DirichletPrior, table_intervals
from pellucid.graphical.network import building, gaussian, rows
from pellucid.graphical.network.arrays import NetworkArrays, network_arrays
from pellucid.graphical.network.factor import Factor
from pellucid.graphical.network.names import Name, Names, names_of
from pellucid.graphical.network.tables import CPT, LinearGaussianCPD

FROM_CPDS = ("dag_", "cpds_", "states_", "n_parameters_")


class BayesianNetwork(Estimator):
    """A Bayesian network: a graph, and for each variable its distribution given its parents.

    With ``cpds`` it answers queries at once; ``fit`` learns the distributions from a table of
    categories, where NaN or None is a missing cell. ``sample_weight`` equals repetition.

    Parameters
    ----------
    structure : DAG, list of (parent, child), structure learner or None, default=None
        None: the graph of the ``cpds``; without them, ``fit`` takes the columns as independent.
        A learner (anything with ``fit`` and ``dag_``) is fitted first.
    cpds : list or dict of CPT or LinearGaussianCPD, default=None
        The distributions. In ``fit`` the tables are where EM starts, and those with ``fixed=True``
        stay; linear-Gaussian ones say that the columns are numbers.
    states : dict of name -> states, "gaussian" or None, default=None
        States of some or all variables; else all values of an enumeration (a Polars Enum), the
        sorted values of the data of any other column. A variable without column is latent.
        "gaussian": all columns are numbers, fitted by least squares.
    prior : DirichletPrior or None, default=None
        Imaginary samples added to the counts.
    missing : {"em", "drop", "raise"}, default="em"
        Missing cells: expectation-maximisation, families that are complete, or refuse.
    max_iter : int, default=100
        Rounds of EM.
    tol : float, default=1e-6
        Change of the objective below which EM ends; 0 runs ``max_iter`` rounds.
    random_state : int, Generator or None, default=None
        For the start of EM.

    Attributes
    ----------
    dag_ : DAG
    cpds_ : dict of name -> CPT or LinearGaussianCPD
    states_ : dict of name -> tuple
    counts_ : dict of name -> array, the (expected) counts behind the tables, after ``fit``
    n_parameters_ : int
    history_, n_iter_
        Log-likelihood after each round of EM; one row for complete data.

    Examples
    --------
    >>> from pellucid.graphical import CPT, BayesianNetwork
    >>> on = ["on", "off"]
    >>> network = BayesianNetwork(cpds=[
    ...     CPT("A", [0.3, 0.7], states=on),
    ...     CPT("B", [0.3, 0.7], states=on),
    ...     CPT("C", [[[0.9, 0.1], [0.6, 0.4]], [[0.7, 0.3], [0.1, 0.9]]],
    ...         parents=["A", "B"], states=on),
    ... ])
    >>> network.query("A", {"C": "on"})
    Factor(A)
      on   0.513648
      off  0.486352
    >>> network.query("A", {"C": "on", "B": "on"}).at({"A": "on"}).__round__(6)
    0.355263
    >>> network.most_probable({"C": "on"})
    {'A': 'off', 'B': 'on'}
    """

    _answers_nonfinite = True  # log 0 of a row that cannot be

    _accepts_nan = True

    fit_blocks = fit_blocks

    def __init__(
        self,
        structure: object = None,
        *,
        cpds: Sequence[Any] | Mapping[Any, Any] | None = None,
        states: Mapping[Any, Any] | None = None,
        prior: DirichletPrior | None = None,
        missing: str = "em",
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: Seed = None,
    ) -> None:
        self.structure = structure
        self.cpds = cpds
        self.states = states
        self.prior = prior
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.estimator_type = "density_estimator"
        return tags

    # --- the parts ---------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """With ``cpds`` the fitted attributes are there without ``fit``."""
        if name in FROM_CPDS and self.__dict__.get("cpds") is not None:
            self._install(self.structure, self.cpds)
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "cpds_" in self.__dict__ or self.cpds is not None

    def _install(self, structure: Any, cpds: Any) -> None:
        """Set graph, distributions and states."""
        self.dag_, self.cpds_ = building.check_cpds(structure, cpds)
        self.states_ = {n: c.states for n, c in self.cpds_.items() if isinstance(c, CPT)}
        self.n_parameters_ = sum(map(building.free_parameters, self.cpds_.values()))
        for name in ("_arrays", "_engine", "_joint_normal"):
            self.__dict__.pop(name, None)
        if self.states_:  # now, so that answering changes nothing
            self._arrays  # noqa: B018

    def _check_state(self) -> None:
        """A model from a file: graph and distributions must fit together."""
        if "cpds_" in self.__dict__:
            dag, cpds = building.check_cpds(None, self.cpds_)
            states = {n: c.states for n, c in cpds.items() if isinstance(c, CPT)}
            if dag != self.dag_ or self.states_ != states:
                raise ValueError("dag_, states_ and cpds_ do not fit together")

    def _check_ready(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: give cpds or call fit"
            )

    def _is_gaussian(self) -> bool:
        self._check_ready()
        return any(isinstance(cpd, LinearGaussianCPD) for cpd in self.cpds_.values())

    def _need_tables(self, what: str) -> None:
        if self._is_gaussian():
            raise ValueError(f"{what} is for networks of tables, this one is Gaussian")

    @cached_property
    def _arrays(self) -> NetworkArrays:
        return network_arrays(self.dag_, self.cpds_)

    @cached_property
    def _engine(self) -> Elimination:
        return Elimination(self._arrays)

    @cached_property
    def _joint_normal(self) -> gaussian.GaussianAnswer:
        return gaussian.joint_normal(self.cpds_, self.dag_.topological_order())

    # --- learning ----------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        fitting.check_parameters(self)
        columns = self._check_columns(X, reset=True)
        if fitting.is_gaussian(self):
            fitting.fit_numbers(self, X, columns, sample_weight)
        else:
            fitting.fit_categories(self, X, columns, sample_weight)
        return self

    def _fit_rows(self, source: Source, map_: Map) -> None:
        fitting.check_parameters(self)
        fitting.fit_source(self, source, map_)

    def intervals(self, variable: Name, *, confidence: float = 0.95) -> tuple[Array, Array]:
        """Posterior intervals (low, high) of every entry of a learned table, in its shape.

        From the Dirichlet posterior of its counts; without a ``prior``, one imaginary sample in
        every cell. After EM the counts are expected ones, and the intervals too narrow.
        """
        self._need_tables("intervals")
        (name,) = names_of([variable], self.cpds_)
        if "counts_" not in self.__dict__:
            raise NotFittedError("intervals need the counts of a fit: call fit first")
        prior = DirichletPrior() if self.prior is None else self.prior
        N = self.counts_[name]
        return table_intervals(N, prior.pseudo_counts(name, N.shape), confidence)

    # --- inference ---------------------------------------------------------------------------

    def query(
        self,
        variables: Any,
        evidence: Mapping[Name, Any] | None = None,
        *,
        do: Mapping[Name, Any] | None = None,
        max_bytes: float | None = None,
    ) -> Any:
        """P(variables | evidence) as a Factor over exactly these variables in this order.

        A Gaussian network answers with ``names, mean, covariance``. ``do`` sets variables instead
        of observing them: P(variables | evidence, do(...)). ``max_bytes`` (default: half of the
        free memory) is what the tables may need in all.
        """
        if do:
            self._check_ready()
            twice = [name for name in do if name in (evidence or {})]
            if twice:
                raise ValueError(f"variable {twice[0]!r} is set and observed at the same time")
            cut = intervention.cut_off(self, do)
            return cut.query(variables, {**(evidence or {}), **do}, max_bytes=max_bytes)
        if self._is_gaussian():
            return gaussian.condition_normal(self._joint_normal, variables, evidence)
        arrays = self._arrays
        names = names_of(variables, arrays.place)
        seen, at = evidence_codes(arrays, evidence)
        for name in names:
            if evidence and name in evidence:
                raise ValueError(f"variable {name!r} is asked for and observed at the same time")
        targets = np.array([arrays.place[name] for name in names], np.int64)
        found = self._engine.ask(targets, seen, at, 0, max_bytes)
        if found.log_constant == -np.inf:
            raise impossible(evidence)
        scope = {name: self.states_[name] for name in names}
        return Factor._of(scope, found.values.reshape([len(s) for s in scope.values()]))

    def probability(
        self, event: Mapping[Name, Any], given: Mapping[Name, Any] | None = None
    ) -> float:
        """P(event | given), both name -> state."""
        self._need_tables("probability")
        given = dict(given or {})
        evidence_codes(self._arrays, event)
        seen, at = evidence_codes(self._arrays, given)
        below = log_evidence(self._engine, seen, at)
        if below == -np.inf:
            raise impossible(given)
        if any(name in given and given[name] != state for name, state in event.items()):
            return 0.0
        both = evidence_codes(self._arrays, {**given, **event})
        return float(np.exp(min(log_evidence(self._engine, *both) - below, 0.0)))

    def joint(self) -> Any:
        """The whole joint distribution, over all variables in the order of the graph."""
        self._check_ready()
        return self.query(self.dag_.nodes)

    def do(self, settings: Mapping[Name, Any]) -> "BayesianNetwork":
        """The network after setting variables to states: their causes no longer matter.

        >>> from pellucid.graphical import CPT, BayesianNetwork
        >>> network = BayesianNetwork(cpds=[
        ...     CPT("z", [0.5, 0.5]),
        ...     CPT("x", [[0.9, 0.1], [0.2, 0.8]], parents="z"),
        ...     CPT("y", [[[0.8, 0.2], [0.4, 0.6]], [[0.6, 0.4], [0.1, 0.9]]], parents=["x", "z"])])
        >>> seen, done = network.query("y", {"x": 1}), network.do({"x": 1}).query("y")
        >>> seen.values.round(4).tolist(), done.values.round(4).tolist()
        ([0.1556, 0.8444], [0.35, 0.65])
        >>> network.effect("y", {"x": 1}, adjust="z").values.round(4).tolist()
        [0.35, 0.65]
        """
        self._need_tables("do (query(..., do=...) serves both kinds)")
        return intervention.intervened(self, settings)

    def effect(self, variable: Name, do: Mapping[Name, Any], adjust: Names = None) -> Factor:
        """P(variable | do(x)) for one x from what can be seen: sum_z p(y | x, z) p(z).

        ``adjust`` is the set z, which must satisfy the back-door criterion; None takes a smallest
        one. The same as ``query(variable, do=...)``, by another way.
        """
        self._need_tables("effect")
        if len(do) != 1:
            raise ValueError(f"effect sets one variable, got {len(do)}; query(do=...) sets more")
        ((x, state),) = do.items()
        (x,), (y,) = names_of([x], self.cpds_), names_of([variable], self.cpds_)
        if adjust is None:
            sets = self.dag_.adjustment_sets(x, y)
            if not sets:
                raise ValueError(f"no set of variables blocks the back doors of {x!r} and {y!r}")
            adjust = sets[0]
        given = frozenset(names_of(adjust, self.cpds_))
        return intervention.adjusted(self, y, x, state, given)

    def approximate(
        self,
        variables: Names,
        evidence: Mapping[Name, Any] | None = None,
        *,
        method: str = "likelihood_weighting",
        n_samples: int = 100_000,
        random_state: Seed = None,
    ) -> approximate.ApproximateAnswer:
        """P(variables | evidence) from draws, with its errors and effective sample size.

        For networks whose exact answer ``cost`` forbids. ``method`` "gibbs" is better where the
        evidence is improbable, unless tables hold zeros.
        """
        self._need_tables("approximate")
        check.one_of(("likelihood_weighting", "gibbs"), method=method)
        check.whole(n_samples=n_samples)
        names = names_of(variables, self._arrays.place)
        seen, at = evidence_codes(self._arrays, evidence)
        both = [name for name in names if name in (evidence or {})]
        if both:
            raise ValueError(f"variable {both[0]!r} is asked for and observed at the same time")
        targets = np.array([self._arrays.place[name] for name in names], np.int64)
        seed = int(generator(random_state).integers(2**63))
        how = approximate.gibbs if method == "gibbs" else approximate.likelihood_weighting
        found = how(self._arrays, targets, seen, at, n_samples, seed)
        if found is None:
            raise ValueError(
                f"none of the {n_samples} draws agrees with the evidence: it is impossible, or too "
                "improbable for sampling"
            )
        approximate.warn_few(found, method)
        scope = {name: self.states_[name] for name in names}
        shape = [len(states) for states in scope.values()]
        share, error = found.share.reshape(shape), found.error.reshape(shape)
        return approximate.ApproximateAnswer(
            Factor(scope, share), error, found.effective, n_samples
        )

    def marginals(self, evidence: Mapping[Name, Any] | None = None) -> dict[Name, Factor]:
        """P(v | evidence) of every unobserved variable, by one pass over a clique tree."""
        self._need_tables("marginals")
        tree, found, codes = self._calibrated(evidence, maximise=False)
        shares = marginals(tree, found)
        free = {name: v for name, v in self._arrays.place.items() if v not in codes}
        states = {name: {name: self.states_[name]} for name in free}
        return {n: Factor._of(states[n], shares.get(v, np.ones(1))) for n, v in free.items()}

    def most_probable(self, evidence: Mapping[Name, Any] | None = None) -> dict[Name, Any]:
        """The most probable states of all unobserved variables together."""
        if self._is_gaussian():
            rest = [name for name in self.dag_.nodes if name not in (evidence or {})]
            law = self.query(rest, evidence)
            return dict(zip(law.names, law.mean.tolist(), strict=True))
        tree, found, codes = self._calibrated(evidence, maximise=True)
        best = best_states(tree, found)
        free = {name: v for name, v in self._arrays.place.items() if v not in codes}
        return {name: self.states_[name][best.get(v, 0)] for name, v in free.items()}

    def _calibrated(self, evidence: Mapping[Name, Any] | None, *, maximise: bool) -> Any:
        seen, at = evidence_codes(self._arrays, evidence)
        tree = build_tree(self._arrays, seen)
        codes = dict(zip(seen.tolist(), at.tolist(), strict=True))
        found = calibrate(self._arrays, tree, codes, maximise)
        if found.log_evidence == -np.inf:
            raise impossible(evidence)
        return tree, found, codes

    def cost(self, variables: Names, evidence: Mapping[Name, Any] | None = None) -> InferenceCost:
        """What ``query`` would need, without building a table: the order and the table sizes.

        ``evidence`` may be names only. Graph and ``states`` are enough, no ``cpds`` needed.
        """
        names, shape = building.shape_of_network(self)
        place = {name: i for i, name in enumerate(names)}
        targets = np.array([place[v] for v in names_of(variables, place)], np.int64)
        seen = np.array([place[v] for v in names_of(tuple(evidence or ()), place)], np.int64)
        found = plan(shape, targets, seen)
        order = tuple(names[v] for v in found.order)
        return InferenceCost(order, found.largest, 8.0 * found.entries)

    def sample(
        self,
        n_samples: int = 1,
        *,
        evidence: Mapping[Name, Any] | None = None,
        random_state: Seed = None,
    ) -> Any:
        """Independent draws as a frame, exact also with evidence."""
        check.whole(n_samples=n_samples)
        if self._is_gaussian():
            return rows.sample_gaussian(self, n_samples, evidence, random_state)
        arrays = self._arrays
        if evidence:
            tree, found, codes = self._calibrated(evidence, maximise=False)
            drawing = sampling.posterior_drawing(arrays, tree, found)
        else:
            drawing, codes = sampling.prior_drawing(arrays), {}
        seed = int(generator(random_state).integers(2**63))
        drawn = sampling.draw(drawing, n_samples, seed, codes)
        return sampling.decoded(drawn, arrays.names, arrays.states)

    # --- rows --------------------------------------------------------------------------------

    def score_samples(self, X: ArrayLike) -> Array:
        """log p of the observed cells of every row; missing cells are summed out."""
        self._check_ready()
        return rows.log_densities(self, X)

    def score(self, X: ArrayLike, y: ArrayLike | None = None) -> float:
        """The mean log-likelihood of the rows."""
        return float(self.score_samples(X).mean())

    def log_likelihood(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The log-likelihood of all rows, missing cells summed out."""
        found = self.score_samples(X)
        return float(found.sum() if sample_weight is None else np.asarray(sample_weight) @ found)

    def aic(self, X: ArrayLike) -> float:
        """Akaike's criterion -2 l + 2 p: smaller is better, as for scikit-learn's mixtures."""
        return -2.0 * self.log_likelihood(X) + 2.0 * self.n_parameters_

    def bic(self, X: ArrayLike) -> float:
        """The Bayesian criterion -2 l + p log n: smaller is better."""
        found = self.score_samples(X)
        return -2.0 * float(found.sum()) + self.n_parameters_ * float(np.log(len(found)))

    def predict_proba(self, X: ArrayLike, variable: Name = None) -> Array:
        """P(variable | the other cells) of every row, (n, states); None: the last variable.

        A column of ``variable`` is not looked at and may be left out of a frame.
        """
        self._need_tables("predict_proba")
        return rows.posteriors(self, X, self.dag_.nodes[-1] if variable is None else variable)

    def predict(self, X: Any, variable: Name = None) -> Any:
        """The most probable state of one variable given the other cells of every row."""
        shares = self.predict_proba(X, variable)
        states = self.states_[self.dag_.nodes[-1] if variable is None else variable]
        return np.asarray(states)[shares.argmax(axis=1)]

    def impute(self, X: ArrayLike) -> Any:
        """The table with every missing cell filled: the most probable completion of each row."""
        self._need_tables("impute")
        return rows.impute(self, X)

    # --- words -------------------------------------------------------------------------------

    def check(self, X: Any = None, *, atol: float = 1e-9, edges: bool = False) -> list[Any]:
        """What the course advises to look at when building a network, as findings.

        With a table ``X`` (or after ``fit``) also what the data cannot support; ``edges`` looks
        for edges that the distribution does not need.
        """
        self._need_tables("check")
        return building.findings(self, X, atol, edges)

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        self._check_ready()
        return building.card(self)


def impossible(evidence: Mapping[Name, Any] | None) -> ValueError:
    """The error for evidence of probability zero."""
    shown = ", ".join(f"{name} = {state}" for name, state in dict(evidence or {}).items())
    return ValueError(f"impossible evidence: the network gives {shown or 'it'} the probability 0")
