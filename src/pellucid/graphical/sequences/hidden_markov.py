r"""Hidden Markov models: a network unrolled over time, with the same tables at every step.

Model        z_1 ~ initial,  z_t | z_{t-1} = j ~ A_j.,  x_t | z_t = k ~ emission k (``emissions``)
Filter       p(z_t | x_1..t)     one pass forwards
Smooth       p(z_t | x_1..T)     one more pass backwards
Decode       argmax p(z_1..T | x_1..T)     Viterbi, in logarithms
Learning     Baum-Welch, which is EM: expected first states, moves and emissions given all
             observations, then shares of these counts. The log-likelihood never falls.

Cost         O(T K^2) for T observations and K states, each round.

References: Baum, Petrie, Soules & Weiss (1970); Viterbi (1967); Rabiner (1989).
"""

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, check_weights, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng, Seed
from pellucid.core.loops.iterate import FitContext, Iteration, iterate
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.graphical.learning.counts import absent
from pellucid.graphical.sequences import baum_welch, emissions
from pellucid.graphical.sequences.baum_welch import Chain, Sequences, attributes, filtered, smoothed
from pellucid.graphical.sequences.emissions import CategoricalEmission, GaussianEmission


class HiddenMarkovModel(Estimator):
    """Hidden Markov model of many sequences.

    Every row of X is one sequence of single observations; shorter ones end in NaN (None), and a
    missing cell inside is summed out. With ``lengths`` the rows of X are the observations
    themselves, one sequence after the other, and may have several columns of numbers.
    ``sample_weight`` (of sequences) equals repetition.

    Parameters
    ----------
    n_states : int, default=2
        Hidden states.
    emission : {"gaussian", "categorical"}, default="gaussian"
        Numbers, normal in each state, or categories.
    covariance_type : {"diag", "full"}, default="diag"
        Of Gaussian observations with several columns.
    n_init : int, default=1
        Starts; the best end is kept. The first start of Gaussian states is not random.
    max_iter : int, default=200
        Most iterations.
    tol : float, default=1e-4
        Gain of the log-likelihood per observation below which learning ends.
    min_variance : float, default=1e-6
        Least variance of a state, in units of the variance of the data.
    start : HiddenMarkovModel or None, default=None
        A fitted or given model to begin with.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random numbers.

    Attributes
    ----------
    initial_ : array (n_states,)
    transition_ : array (n_states, n_states), rows sum to 1
    means_, covariances_ : arrays, of Gaussian states
    probabilities_ : array (n_states, categories), of categorical states
    categories_ : tuple of the values observed, of categorical states
    log_likelihood_ : float
    n_parameters_ : int
    history_, n_iter_

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.graphical import HiddenMarkovModel
    >>> X = [[0.1, -0.2, 0.0, 5.1, 4.9, 5.0], [0.2, 5.2, 4.8, 5.1, np.nan, np.nan]]
    >>> model = HiddenMarkovModel(2).fit(X)
    >>> model.predict(X)
    array([[ 0,  0,  0,  1,  1,  1],
           [ 0,  1,  1,  1, -1, -1]])
    >>> model.transition_.round(2)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """

    _accepts_nan = True

    def __init__(
        self,
        n_states: int = 2,
        *,
        emission: str = "gaussian",
        covariance_type: str = "diag",
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-4,
        min_variance: float = 1e-6,
        start: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.n_states = n_states
        self.emission = emission
        self.covariance_type = covariance_type
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.min_variance = min_variance
        self.start = start
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "density_estimator"
        tags.input_tags.string = self.emission == "categorical"
        return tags

    @classmethod
    def from_parameters(
        cls,
        initial: Any,
        transition: Any,
        *,
        means: Any = None,
        covariances: Any = None,
        probabilities: ArrayLike | None = None,
        categories: Any = None,
    ) -> Self:
        """A model that is known: Gaussian by ``means`` (K, p) and ``covariances``, categorical by
        ``probabilities`` (K, C).

        >>> fair = HiddenMarkovModel.from_parameters(
        ...     [1, 0], [[0.9, 0.1], [0.2, 0.8]], probabilities=[[0.5, 0.5], [0.1, 0.9]],
        ...     categories=["head", "tail"])
        >>> fair.predict([["head", "tail", "tail", "tail", "tail", "tail", "tail"]]).tolist()
        [[0, 1, 1, 1, 1, 1, 1]]
        """
        pi = baum_welch.distributions("initial", initial, 1)
        A = baum_welch.distributions("transition", transition, 2)
        K = len(pi)
        if A.shape != (K, K):
            raise ValueError(f"transition must be {K} x {K}, got the shape {A.shape}")
        if (means is None) == (probabilities is None):
            raise ValueError("give either means and covariances, or probabilities")
        values: Any = None
        emission: Any
        if probabilities is not None:
            values, emission = baum_welch.given_categories(probabilities, categories, K)
        else:
            emission = baum_welch.given_normals(means, covariances, K)
        full = values is None and emission.covariances.ndim == 3
        kind = "gaussian" if values is None else "categorical"
        model = cls(K, emission=kind, covariance_type="full" if full else "diag")
        if values is not None:
            model.categories_ = values
        model._install(Chain(pi, A, emission))
        return model

    # --- data --------------------------------------------------------------------------------

    def _open(self, X: Any, lengths: ArrayLike | None, *, reset: bool) -> Sequences:
        """Rows of all sequences one after the other."""
        categorical = self.emission == "categorical"
        known = reset or hasattr(self, "n_features_in_")
        door = self if known else type(self)(emission=self.emission)  # given, not fitted
        reset = reset or not known
        if categorical:
            cells = door._check_cells(X, reset=reset, text=True)
        else:
            cells = door._check_matrix(X, reset=reset, finite=True)
        if lengths is not None:
            first = baum_welch.offsets(lengths, len(cells))
            if categorical and cells.shape[1] != 1:
                raise ValueError(f"categories with lengths need one column, X has {cells.shape[1]}")
            rows = np.ascontiguousarray(cells[:, 0] if categorical else cells)
            return Sequences(rows if rows.flags.writeable else rows.copy(), first, 0)
        gone = absent(cells.ravel()).reshape(cells.shape)
        last = np.where(gone.all(axis=1), 1, cells.shape[1] - gone[:, ::-1].argmin(axis=1))
        kept = np.arange(cells.shape[1]) < last[:, None]
        first = np.concatenate([[0], np.cumsum(last)]).astype(np.int64)
        rows = cells[kept]
        return Sequences(rows if categorical else rows[:, None], first, cells.shape[1])

    def _coded(self, data: Sequences) -> Sequences:
        """Categories as codes; an unknown one is refused."""
        if self.emission != "categorical":
            if data.rows.shape[1] != self.means_.shape[1]:
                raise ValueError(
                    f"observations have {data.rows.shape[1]} columns, the model has "
                    f"{self.means_.shape[1]}"
                )
            if self.covariances_.ndim == 3:
                baum_welch.refuse_gaps(data.rows)
            return data
        place = {value: k for k, value in enumerate(self.categories_)}
        gone = absent(data.rows)
        cells = [None if g else v for v, g in zip(data.rows.tolist(), gone, strict=True)]
        unknown = [c for c in cells if c is not None and c not in place]
        if unknown:
            raise ValueError(f"category {unknown[0]!r} is unknown; there are {self.categories_}")
        codes = np.array([-1 if c is None else place[c] for c in cells], np.int64)
        return data._replace(rows=codes)

    def _laid_out(self, values: Array, data: Sequences, empty: Any) -> Any:
        """Values of all observations in the shape of X."""
        if not data.length:
            return values
        size = np.diff(data.first)
        out = np.full((len(size), data.length, *values.shape[1:]), empty, values.dtype)
        out[np.arange(data.length) < size[:, None]] = values
        return out

    # --- learning ----------------------------------------------------------------------------

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
    ) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        check.whole(n_states=self.n_states, n_init=self.n_init, max_iter=self.max_iter)
        check.one_of(("gaussian", "categorical"), emission=self.emission)
        check.one_of(("diag", "full"), covariance_type=self.covariance_type)
        check.non_negative(tol=self.tol)
        check.positive(min_variance=self.min_variance)
        data = self._open(X, lengths, reset=True)
        w = np.array(check_weights(sample_weight, np.empty((len(data.first) - 1, 1))))
        data, w = baum_welch.positive_only(data, w)
        if self.emission == "categorical":
            values = data.rows[~absent(data.rows)]
            if not len(values):
                raise ValueError("X has no observation that is not missing")
            given = getattr(self.start, "categories_", ())
            self.categories_ = tuple(given) or tuple(np.unique(values).tolist())
            data = self._coded(data)
        elif self.covariance_type == "full":
            baum_welch.refuse_gaps(data.rows)
        kept = {"categories_": self.categories_} if self.emission == "categorical" else {}
        context = FitContext(
            self,
            X=X,
            y=y,
            sample_weight=sample_weight,
            max_steps=self.max_iter,
            attributes=lambda s: {**attributes(s.chain, s.log_likelihood), **kept},
        )
        run = self._best_run(data, w, context)
        self.history_, self.n_iter_ = run.history, max(run.n_iter, 1)
        self._install(run.state.chain)
        self.log_likelihood_ = run.state.log_likelihood
        context.end(run.state)
        return self

    def _best_run(self, data: Sequences, w: Array, context: FitContext) -> Iteration:
        rng = generator(self.random_state)
        loop = partial(iterate, max_iter=self.max_iter, tol=self.tol, context=context)

        def step(state: baum_welch.Expected) -> tuple[baum_welch.Expected, float]:
            return baum_welch.baum_welch_step(state, data, w)

        def record(state: baum_welch.Expected) -> dict[str, Any]:
            return {"objective": state.log_likelihood, "log_likelihood": state.log_likelihood}

        best: Iteration | None = None
        for i in range(self.n_init):
            state = smoothed(self._begin(data, w, i, rng), data, w)
            name, loud = type(self).__name__, self.n_init == 1
            run = loop(step, state, record=record, name=name, warn=loud)
            if best is None or run.state.log_likelihood > best.state.log_likelihood:
                best = run
        assert best is not None
        return best

    def _begin(self, data: Sequences, w: Array, i: int, rng: Rng) -> Chain:
        """Where learning starts: a given model, groups of the observations, or random shares."""
        K = self.n_states
        if self.start is not None and i == 0:
            return self._given(data)
        if self.emission == "categorical":
            draw = rng.dirichlet
            b = draw(np.full(len(self.categories_), 2.0), K)
            return Chain(np.full(K, 1 / K), draw(np.full(K, 2.0), K), CategoricalEmission(b))
        weights = np.repeat(w, np.diff(data.first))
        rows, full = data.rows, self.covariance_type == "full"
        again = rng if i else None
        emission = emissions.start_gaussian(rows, weights, K, full, self.min_variance, again)
        A = (np.full((K, K), 1.0) + np.eye(K) * K) / (2 * K)
        return Chain(np.full(K, 1 / K), A, emission)

    def _given(self, data: Sequences) -> Chain:
        """The chain of ``start``, with the least variances of these data."""
        chain = self.start._chain()
        if self.start.emission != self.emission or len(chain.initial) != self.n_states:
            raise ValueError(
                f"start has {len(chain.initial)} states with {self.start.emission} emissions, "
                f"asked for are {self.n_states} with {self.emission} ones"
            )
        if self.emission == "categorical":
            return chain
        if chain.emission.means.shape[1] != data.rows.shape[1]:
            raise ValueError(
                f"start has {chain.emission.means.shape[1]} columns, the observations "
                f"have {data.rows.shape[1]}"
            )
        least = self.min_variance * np.maximum(np.nanvar(data.rows, axis=0), 1e-300)
        return chain._replace(emission=chain.emission._replace(floor=least))

    def _install(self, chain: Chain) -> None:
        for name, value in attributes(chain).items():
            setattr(self, name, value)

    def _chain(self) -> Chain:
        check_is_fitted(self, "transition_")
        if hasattr(self, "probabilities_"):
            emission: Any = CategoricalEmission(self.probabilities_)
        else:
            emission = GaussianEmission(self.means_, self.covariances_, self.floor_)
        return Chain(self.initial_, self.transition_, emission)

    # --- answers -----------------------------------------------------------------------------

    def _ready(self, X: ArrayLike, lengths: ArrayLike | None) -> tuple[Chain, Sequences]:
        chain = self._chain()
        return chain, self._coded(self._open(X, lengths, reset=False))

    def filter(self, X: ArrayLike, lengths: Any = None) -> Array:
        """p(z_t | observations up to t): (n, T, K), or (rows, K) with ``lengths``."""
        chain, data = self._ready(X, lengths)
        _, now, log_p = filtered(chain, data)
        if not np.isfinite(log_p).all():
            raise ValueError("impossible evidence: the model gives a sequence the probability 0")
        return self._laid_out(now, data, np.nan)

    def smooth(self, X: ArrayLike, lengths: Any = None) -> Array:
        """p(z_t | all observations): (n, T, K), or (rows, K) with ``lengths``."""
        chain, data = self._ready(X, lengths)
        shares = smoothed(chain, data, np.ones(len(data.first) - 1)).shares
        return self._laid_out(shares, data, np.nan)

    def predict(self, X: Any, lengths: ArrayLike | None = None) -> Any:
        """The most probable states (Viterbi): (n, T) with -1 after the end, or (rows,)."""
        chain, data = self._ready(X, lengths)
        return self._laid_out(baum_welch.decode(chain, data), data, -1)

    def score_samples(self, X: ArrayLike, lengths: ArrayLike | None = None) -> Array:
        """log p of every sequence."""
        chain, data = self._ready(X, lengths)
        return filtered(chain, data)[2]

    def score(
        self, X: ArrayLike, y: ArrayLike | None = None, lengths: ArrayLike | None = None
    ) -> float:
        """The mean log-likelihood of the sequences."""
        return float(self.score_samples(X, lengths).mean())

    def aic(self, X: ArrayLike, lengths: ArrayLike | None = None) -> float:
        """-2 l + 2 p: smaller is better."""
        return -2.0 * float(self.score_samples(X, lengths).sum()) + 2.0 * self.n_parameters_

    def bic(self, X: ArrayLike, lengths: ArrayLike | None = None) -> float:
        """-2 l + p log(observations): smaller is better."""
        chain, data = self._ready(X, lengths)
        total = float(filtered(chain, data)[2].sum())
        return -2.0 * total + self.n_parameters_ * float(np.log(data.first[-1]))

    def sample(self, length: int, n_sequences: int = 1, random_state: Seed = None) -> Any:
        """Draws: observations (n, length), with several columns (n, length, p), and states."""
        chain, rng = self._chain(), generator(random_state)
        check.whole(length=length, n_sequences=n_sequences)
        states = np.empty((n_sequences, length), np.int64)
        sums = np.cumsum(np.vstack([chain.transition, chain.initial]), axis=1)
        before = np.full(n_sequences, len(chain.initial))
        for t in range(length):
            u = rng.random(n_sequences) * sums[before, -1]
            before = states[:, t] = (u[:, None] >= sums[before]).sum(axis=1)
        drawn = chain.emission.draw(states.ravel(), rng)
        if self.emission == "categorical":
            drawn = np.asarray(self.categories_)[drawn]
        shape = (n_sequences, length, *drawn.shape[1:])
        return (drawn.reshape(shape)[..., 0] if shape[2:] == (1,) else drawn.reshape(shape)), states

    def _check_state(self) -> None:
        super()._check_state()
        if not hasattr(self, "transition_"):
            return
        K = len(self.initial_)
        shown = hasattr(self, "probabilities_")
        own = self.probabilities_ if shown else self.means_
        if self.transition_.shape != (K, K) or len(own) != K or own.ndim != 2:
            raise ValueError("initial_, transition_ and the emissions do not fit together")
        if not shown:
            p = own.shape[1]
            if self.covariances_.shape not in ((K, p), (K, p, p)) or self.floor_.shape != (p,):
                raise ValueError("means_ and covariances_ do not fit together")
        elif len(self.categories_) != own.shape[1]:
            raise ValueError("categories_ and probabilities_ do not fit together")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        chain = self._chain()
        shown = "categories" if self.emission == "categorical" else "normal numbers"
        how = "given, not learned"
        if hasattr(self, "n_iter_"):
            how = f"Baum-Welch (EM), {self.n_iter_} rounds, {self.n_init} starts"
        numbers = {"states": len(chain.initial), "parameters": self.n_parameters_}
        if hasattr(self, "log_likelihood_"):
            numbers["log_likelihood"] = self.log_likelihood_
        return Card(
            representation=f"{len(chain.initial)} hidden states in a Markov chain, each showing "
            f"{shown}: p(z, x) = p(z_1) prod p(z_t | z_t-1) prod p(x_t | z_t)",
            evaluation="log-likelihood of all sequences, the states summed out",
            optimisation=how,
            numbers=numbers,
        )
