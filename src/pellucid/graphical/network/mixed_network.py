r"""Networks of categories and numbers together; the mathematics is in ``mixed``."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import NotFittedError

from pellucid.base import Estimator, check_weights, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.loops.iterate import FitContext, History
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.graphical.graphs.dag import as_dag
from pellucid.graphical.learning.counts import encode_table, enumerated_states, n_cells
from pellucid.graphical.learning.learn_tables import DirichletPrior
from pellucid.graphical.network import mixed
from pellucid.graphical.network.factor import Factor
from pellucid.graphical.network.memory import byte_limit, size_text
from pellucid.graphical.network.mixed import MixedAnswer, check_mixed, flat_cell, stacked
from pellucid.graphical.network.names import Name, names_of, state_index
from pellucid.graphical.network.rows import number_columns
from pellucid.graphical.network.tables import CPT


class MixedBayesianNetwork(Estimator):
    """A Bayesian network of categories and numbers (conditional linear Gaussian).

    With ``cpds`` it answers at once; ``fit`` learns tables and lines from complete rows. Columns of
    text, truth values and categories, and those named in ``states``, are discrete, other numbers
    are continuous. ``sample_weight`` equals repetition.

    Parameters
    ----------
    structure : DAG, list of (parent, child) or None, default=None
        None: the graph of the ``cpds``; without them the columns are independent. A discrete
        variable cannot have a continuous parent.
    cpds : list or dict of CPT, ConditionalGaussianCPD or LinearGaussianCPD, default=None
        The known distributions; None: learned by ``fit``.
    states : dict of name -> states or None, default=None
        States of discrete variables; else all values of an enumeration (a Polars Enum), the
        sorted values of the data of any other column.
    prior : DirichletPrior or None, default=None
        Imaginary samples of the tables.

    Attributes
    ----------
    dag_ : DAG
    cpds_ : dict of name -> CPT or ConditionalGaussianCPD
    states_ : dict of the discrete variables
    n_parameters_ : int
    log_likelihood_ : float, of the training rows

    Examples
    --------
    >>> import polars as pl
    >>> from pellucid.graphical import MixedBayesianNetwork
    >>> X = pl.DataFrame({"kind": list("aabb"), "size": [1.0, 2.0, 5.0, 7.0]})
    >>> network = MixedBayesianNetwork([("kind", "size")]).fit(X)
    >>> network.query("size", {"kind": "b"}).mean
    array([6.])
    >>> network.query("kind", {"size": 2.0}).values.round(3)
    array([1., 0.])
    """

    _answers_nonfinite = True  # log 0 of a row that cannot be

    def __init__(
        self,
        structure: object = None,
        *,
        cpds: Sequence[Any] | Mapping[Any, Any] | None = None,
        states: Mapping[Any, Any] | None = None,
        prior: DirichletPrior | None = None,
    ) -> None:
        self.structure = structure
        self.cpds = cpds
        self.states = states
        self.prior = prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "density_estimator"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __getattr__(self, name: str) -> Any:
        """With ``cpds`` the fitted attributes are there without ``fit``."""
        if name in ("dag_", "cpds_", "states_", "n_parameters_") and self.__dict__.get("cpds"):
            self._install(self.structure, self.cpds)
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "cpds_" in self.__dict__ or bool(self.cpds)

    def _ready(self) -> dict[Name, Any]:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: give cpds or call fit"
            )
        return self.cpds_

    def _install(self, structure: Any, cpds: Any) -> None:
        self.dag_, self.cpds_ = check_mixed(structure, cpds)
        self.states_ = {n: c.states for n, c in self.cpds_.items() if isinstance(c, CPT)}
        self.n_parameters_ = sum(map(mixed.free_numbers, self.cpds_.values()))

    def _check_state(self) -> None:
        if "cpds_" in self.__dict__:
            dag, cpds = check_mixed(None, self.cpds_)
            states = {n: c.states for n, c in cpds.items() if isinstance(c, CPT)}
            if dag != self.dag_ or states != self.states_:
                raise ValueError("dag_, states_ and cpds_ do not fit together")

    # --- rows --------------------------------------------------------------------------------

    def _split(
        self, columns: Sequence[Any], names: Any, w: Array, states: Any, discrete: Any
    ) -> Any:
        """Codes of the discrete columns and numbers of the others, by name."""
        at = [j for j, name in enumerate(names) if name in discrete]
        table = None
        if at:
            table = encode_table([columns[j] for j in at], [names[j] for j in at], w, states)
        codes = {} if table is None else dict(zip(table.names, table.codes, strict=True))
        for name, code in codes.items():
            if (code[np.asarray(w) > 0] < 0).any():
                raise ValueError(f"column {name!r} contains NaN; a mixed network needs all cells")
        rest = [j for j in range(len(names)) if j not in set(at)]
        return table, codes, number_columns([names[j] for j in rest], [columns[j] for j in rest])

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        columns = self._check_columns(X, reset=True)
        names, n = self._feature_names(), n_cells(columns[0])
        w = np.array(check_weights(sample_weight, np.empty((n, 1))))
        if not (w > 0).any():
            raise ValueError("all weights are 0: no row is left")
        if (w > 0).sum() < 2:
            raise ValueError(f"lines need two rows or more, got n_samples={int((w > 0).sum())}")
        discrete = set(self.states or {})
        for name, column in zip(names, columns, strict=True):
            if not isinstance(column, np.ndarray) or column.dtype.kind not in "iuf":
                discrete.add(name)
        states = {**enumerated_states(columns, names), **(self.states or {})}
        table, codes, numbers = self._split(columns, names, w, states, discrete)
        graph = self.structure or ()
        if self.structure is None and self.cpds:
            graph = check_mixed(None, self.cpds)[0]
        dag = as_dag(graph, names)
        unknown = [v for v in dag.nodes if v not in names]
        if unknown:
            raise ValueError(f"X has no column for the variable {unknown[0]!r}")
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight, max_steps=1)
        cpds = mixed.learn_mixed(dag, table, codes, numbers, w, self.prior)
        self._install(dag, cpds)
        live = w > 0
        self.log_likelihood_ = float(w[live] @ self._densities(codes, numbers)[live])
        row = {"step": 1, "objective": self.log_likelihood_, "gap": 0.0, "seconds": 0.0}
        self.history_ = History([row])
        context.end()
        return self

    def _densities(self, codes: Mapping[Name, Any], numbers: Mapping[Name, Array]) -> Array:
        total: Any = 0.0
        for v, cpd in self.cpds_.items():
            if isinstance(cpd, CPT):
                with np.errstate(divide="ignore"):
                    total = total + np.log(cpd.values)[tuple(codes[u] for u in (*cpd.parents, v))]
            else:
                x = numbers[v]
                U = stacked([numbers[u] for u in cpd.parents], len(x))
                cell = flat_cell([codes[u] for u in cpd.given], cpd.intercepts.shape, len(x))
                total = total + cpd.log_density(x, cell, U)
        return np.asarray(total)

    def score_samples(self, X: ArrayLike) -> Array:
        """log p of every row: probabilities of categories times densities of numbers."""
        cpds = self._ready()
        door = self if hasattr(self, "n_features_in_") else type(self)(cpds=cpds)
        columns = door._check_columns(X, reset=door is not self)
        names = door._feature_names()
        missing = [v for v in self.dag_.nodes if v not in names]
        if missing:
            raise ValueError(f"X has no column for the variable {missing[0]!r}")
        w = np.ones(n_cells(columns[0]))
        _, codes, numbers = self._split(columns, names, w, self.states_, self.states_)
        return self._densities(codes, numbers)

    def score(self, X: ArrayLike, y: ArrayLike | None = None) -> float:
        """The mean log density of the rows."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, *, random_state: Seed = None) -> Any:
        """Independent draws as a frame, parents first."""
        import polars as pl

        cpds, rng = self._ready(), generator(random_state)
        check.whole(n_samples=n_samples)
        codes: dict[Name, Any] = {}
        numbers: dict[Name, Array] = {}
        for v in self.dag_.topological_order():
            cpd = cpds[v]
            if isinstance(cpd, CPT):
                sums = np.cumsum(cpd.values, axis=-1)[tuple(codes[u] for u in cpd.parents)]
                u = rng.random(n_samples) * sums[..., -1]
                codes[v] = (u[:, None] >= sums).sum(axis=1)
            else:
                at = tuple(codes[u] for u in cpd.given)
                U = stacked([numbers[u] for u in cpd.parents], n_samples)
                noise = rng.standard_normal(n_samples) * np.sqrt(cpd.variances[at])
                numbers[v] = cpd.intercepts[at] + (cpd.coefficients[at] * U).sum(axis=1) + noise
        cells = {
            str(v): np.asarray(self.states_[v])[codes[v]] if v in codes else numbers[v]
            for v in self.dag_.nodes
        }
        return pl.DataFrame(cells)

    # --- queries -----------------------------------------------------------------------------

    def query(
        self,
        variables: Any,
        evidence: Mapping[Name, Any] | None = None,
        *,
        max_bytes: float | None = None,
    ) -> Any:
        """P(variables | evidence): a Factor for discrete variables, else a MixedAnswer."""
        cpds, given = self._ready(), dict(evidence or {})
        names = names_of(variables, cpds)
        names_of(tuple(given), cpds)
        twice = [v for v in names if v in given]
        if twice:
            raise ValueError(f"variable {twice[0]!r} is asked for and observed at the same time")
        matter = self.dag_.ancestors((*names, *given)) | {*names, *given}
        order = tuple(v for v in self.dag_.topological_order() if v in matter)
        states = {v: self.states_[v] for v in given if v in self.states_}
        fixed = {v: state_index(some, given[v], v) for v, some in states.items()}
        self._refuse(order, fixed, max_bytes)
        found = mixed.configurations(cpds, order, fixed)
        place = {v: i for i, v in enumerate(v for v in order if v not in self.states_)}
        numbers = tuple(v for v in names if v in place)
        seen = {v: float(x) for v, x in given.items() if v in place}
        if not np.isfinite([*seen.values()]).all():
            raise ValueError(f"the evidence of numbers must be finite, got {seen}")
        asked, at = [place[v] for v in numbers], [place[v] for v in seen]
        log_w, means, cov = mixed.conditioned(found, asked, at, np.array([*seen.values()]))
        if log_w.max() == -np.inf:
            shown = ", ".join(f"{v} = {s}" for v, s in given.items())
            raise ValueError(f"impossible evidence: the network gives {shown} the probability 0")
        w = np.exp(log_w - logsumexp(log_w))
        return self._answer(names, numbers, found.codes, w, means, cov)

    def _answer(
        self, names: Sequence[Name], numbers: Any, codes: Any, w: Array, means: Array, cov: Array
    ) -> Any:
        scope = {v: self.states_[v] for v in names if v in self.states_}
        shape = [len(states) for states in scope.values()]
        factor = None
        if scope:
            cell = flat_cell([codes[v] for v in scope], shape, len(w))
            factor = Factor(scope, np.bincount(cell, w, math.prod(shape)).reshape(shape))
        if not numbers:
            return factor
        mean = w @ means
        D = means - mean
        total = np.einsum("m,mij->ij", w, cov) + (w[:, None] * D).T @ D
        return MixedAnswer(factor, numbers, mean, total, w, means, cov)

    def _refuse(self, order: tuple[Name, ...], fixed: Mapping[Name, int], limit: Any) -> None:
        free = [v for v in order if v in self.states_ and v not in fixed]
        m = math.prod(float(len(self.states_[v])) for v in free)
        c = len([v for v in order if v not in self.states_])
        needed, allowed = 8.0 * m * (len(free) + 4 * c * c + 4), byte_limit(limit)
        if needed > allowed:
            raise MemoryError(
                f"the query needs {size_text(needed)} for {m:.3g} configurations of {len(free)} "
                f"discrete variables, more than the {size_text(allowed)} allowed; observe some of "
                "them, or raise max_bytes"
            )

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        cpds = self._ready()
        learned = hasattr(self, "log_likelihood_")
        numbers = {"discrete": len(self.states_), "continuous": len(cpds) - len(self.states_)}
        numbers |= {"edges": len(self.dag_.edges), "parameters": self.n_parameters_}
        return Card(
            representation="p(x) = prod p(x_i | parents): tables of categories, and normal numbers "
            "with a line for each configuration of their discrete parents",
            evaluation="log-likelihood of complete rows",
            optimisation="counts and least squares in closed form" if learned else "given",
            numbers=numbers | ({"log_likelihood": self.log_likelihood_} if learned else {}),
        )
