r"""Bayesian logistic regression: every coefficient vector, weighted by its posterior.

Model        P(y = 1 | x, theta) = sigma(theta.d), d = (1, x), theta ~ N(m, V)
             K > 2: softmax over theta_k.d, the same prior for every class
Answer       P(y = 1 | x) = E sigma(theta.d) over the posterior of theta
map          theta at the mode only (plug-in): the boundary is a plane at any distance equally
             sure
laplace      theta ~ N(mode, H^-1), so theta.d ~ N(m.d, d'H^-1 d): one integral per row
metropolis   draws of the posterior itself by random walks (walk_kernels), steps of covariance
             (2.38^2/q) H^-1; the average over the draws

Far from the data theta.d is uncertain, and the averaged probability comes back towards 1/2 where
the plug-in one goes to 0 or 1. The prior makes the posterior proper: separable data need nothing
special. Mode and curvature: ``posterior_mode.py``; the integral: ``averaged_sigmoid.py``.

References: MacKay (1992); Spiegelhalter & Lauritzen (1990); Roberts & Rosenthal (2001); Bishop,
PRML, sections 4.4 and 4.5.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.linalg import lapack
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, with_callbacks
from pellucid.core.algebra.hyperplane import Hyperplane
from pellucid.core.algebra.linalg import in_range
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Numbers, Seed
from pellucid.core.loops.iterate import FitContext, came_to_rest
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.random import generator, stream
from pellucid.core.runtime.threads import map_threads, single_threaded_blas, thread_count
from pellucid.core.runtime.warn import warn
from pellucid.inference.distributions.normal import Normal, lower_root
from pellucid.inference.sampling.chains import FEW, RHAT_LIMIT
from pellucid.inference.sampling.diagnostics import LEAST_DRAWS, effective_sample_size, rhat
from pellucid.inference.sampling.proposals import scaled
from pellucid.linear.bayes import posterior_mode
from pellucid.linear.bayes.averaged_sigmoid import log_averages, log_sigmoid, normal_points, softmax
from pellucid.linear.bayes.posterior_mode import MAX_STEPS, Mode, Prior, design
from pellucid.linear.bayes.walk_kernels import logistic_values, softmax_values, walk_posterior

METHODS = ("map", "laplace", "metropolis")
SEGMENT = 256  # steps whose noise is drawn at a time
CELLS = 2_000_000  # numbers in a table of rows times draws
DISPERSED = 2.0  # standard deviations of the starts, in those of the posterior


class Walked(NamedTuple):
    """What the chains did after the warm-up."""

    draws: Array  # (C, T, q)
    accepted: BoolArray  # (C, T)


class Walker(NamedTuple):
    """The posterior as the kernel wants it."""

    XT: Array  # (d, n)
    w: Array  # (n,) or (0,)
    pull: Array  # (q,)
    prior: Prior
    softmax: bool

    def values(self, theta: Array) -> Array:
        """Log posterior of every row, up to a constant."""
        out = np.empty(len(theta))
        kernel = softmax_values if self.softmax else logistic_values
        kernel(self.XT, self.w, self.pull, *self.prior, np.ascontiguousarray(theta), out)
        return out


def check_prior(prior: Any, q: int, n_classes: int) -> Prior:
    """A variance, or (mean, covariance) of the q coefficients of one class or of all."""
    copies = 1 if n_classes == 2 else n_classes
    if not isinstance(prior, tuple):
        check.positive(prior=prior)
        if not np.isfinite(prior):
            raise ValueError(f"prior must be a finite variance, got {prior!r}")
        return Prior(np.zeros(copies * q), np.full((1, copies * q), 1 / np.sqrt(float(prior))))
    if len(prior) != 2:
        raise ValueError(f"prior must be a variance or a pair (mean, covariance), got {prior!r}")
    mean = np.asarray(prior[0], dtype=np.float64)
    V = np.asarray(prior[1], dtype=np.float64)
    for name, part, square in (("mean", mean, False), ("covariance", V, True)):
        shapes = [(), (q,), (copies * q,), *([(q, q), (copies * q, copies * q)] if square else [])]
        if part.shape not in shapes or not np.isfinite(part).all():
            known = f"(), ({q},) or ({copies * q},){f' or square ({q}, {q})' if square else ''}"
            what = f"the {name} of prior must be finite numbers of shape {known}, intercept first"
            raise ValueError(f"{what}; got shape {part.shape}")
    mean = np.tile(mean, copies) if mean.shape == (q,) else np.broadcast_to(mean, copies * q)
    if V.ndim < 2:
        V = np.tile(V, copies) if V.shape == (q,) else np.broadcast_to(V, copies * q)
        if not (V > 0).all():
            raise ValueError(f"the covariance of prior must be > 0, got {V.min():g}")
        return Prior(mean.copy(), 1 / np.sqrt(V)[None])
    root = np.linalg.inv(lower_root(V, "the covariance of prior"))
    if len(root) < copies * q:
        root = np.kron(np.eye(copies), root)
    return Prior(mean.copy(), np.ascontiguousarray(root))


def run_chains(
    walker: Walker, start: Array, root: Array, n_burn: int, n_draws: int, seed: int
) -> Walked:
    """Random walks from the rows of ``start``; steps are root z."""
    C, q = start.shape
    draws = np.empty((C, n_draws, q))
    accepted = np.empty((C, n_draws), np.bool_)
    n_groups = min(thread_count(), C)
    groups = [np.arange(g, C, n_groups) for g in range(n_groups)]

    def work(chains: IntArray) -> None:
        rngs = [(stream(seed, int(c), 0), stream(seed, int(c), 1)) for c in chains]
        state = np.ascontiguousarray(start[chains])
        value = walker.values(state)
        for first in range(0, n_burn + n_draws, SEGMENT):
            moves = np.stack([r[0].standard_normal((SEGMENT, q)) @ root.T for r in rngs])
            log_u = np.log1p(-np.stack([r[1].random(SEGMENT) for r in rngs]))
            out, yes = np.empty(moves.shape), np.empty(log_u.shape, np.bool_)
            data = walker.XT, walker.w, walker.pull, *walker.prior, walker.softmax
            walk_posterior(*data, state, value, moves, log_u, out, yes)
            a, b = max(n_burn - first, 0), min(n_burn + n_draws - first, SEGMENT)
            if b > a:
                to = slice(first + a - n_burn, first + b - n_burn)
                draws[chains, to], accepted[chains, to] = out[:, a:b], yes[:, a:b]

    list(map_threads(work, groups))
    return Walked(draws, accepted)


class BayesianLogisticRegression(Classifier):
    """Logistic regression that averages over the posterior of its coefficients.

    All coefficients have the prior, the intercept too. ``sample_weight`` equals repetition.
    Separable data are fine. ``posterior_mean_`` and the like list the intercept first; with K > 2
    classes they hold the p + 1 coefficients of each class in turn.

    Parameters
    ----------
    prior : float or tuple (mean, covariance), default=1.0
        The variance s2 of N(0, s2 I), ``> 0``; or mean (number or vector) and covariance (number,
        vector of variances or matrix) of the coefficients of a class, intercept first.
    method : {"laplace", "map", "metropolis"}, default="laplace"
        Normal approximation at the mode; the mode alone; draws by random walks.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    n_draws, n_chains, n_burn : int, default=1000, 4, 1000
        Draws kept per chain (at least 4), chains, draws before those. With K > 2, "laplace"
        averages over ``n_draws`` points.
    step : "auto", float, array of shape (q,) or (q, q), default="auto"
        Standard deviation of the random walk, one per coefficient, or its covariance; "auto" is
        2.38/sqrt(q) times the root of the normal approximation.
    random_state : None, int, RandomState or Generator, default=None
        Of the chains.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    map_ : ndarray of shape (q,)
        The mode; q is p + 1, or K (p + 1) for K > 2 classes (without intercept p, K p).
    posterior_mean_, posterior_covariance_ : ndarray of shape (q,) and (q, q)
        Of the normal approximation, or of the draws (divisor N).
    coef_, intercept_ : ndarray of shape (n_rules, p) and (n_rules,)
        The posterior mean by feature; one rule for two classes, else K.
    log_evidence_ : float
        Laplace's approximation of log p(y | X).
    draws_ : ndarray of shape (n_chains, n_draws, q)
        With "metropolis", as are ``acceptance_rate_`` (per chain, of the kept draws), ``rhat_``
        (by ranks) and ``ess_`` (bulk), each per coefficient.
    history_, n_iter_
        Steps of Newton's method to the mode.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from pellucid import BayesianLogisticRegression
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 1, 0, 1, 1]
    >>> model = BayesianLogisticRegression(prior=10.0).fit(X, y)
    >>> model.map_.round(4), model.predict_proba([[2.5], [10.0], [30.0]])[:, 1].round(4)
    (array([-1.9566,  0.8608]), array([0.5406, 0.8978, 0.9167]))
    """

    def __init__(
        self,
        *,
        prior: float | tuple[Numbers, Numbers] = 1.0,
        method: str = "laplace",
        fit_intercept: bool = True,
        n_draws: int = 1000,
        n_chains: int = 4,
        n_burn: int = 1000,
        step: Literal["auto"] | Numbers = "auto",
        random_state: Seed = None,
    ) -> None:
        self.prior = prior
        self.method = method
        self.fit_intercept = fit_intercept
        self.n_draws = n_draws
        self.n_chains = n_chains
        self.n_burn = n_burn
        self.step = step
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the posterior mode and its normal approximation."""
        self._check_parameters()
        rows = self._check_training(X, y, sample_weight)
        K = len(self.classes_)
        if K < 2:
            raise ValueError(f"y must have at least two classes, got one class: {self.classes_[0]}")
        prior = check_prior(self.prior, self._width(), K)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight, max_steps=MAX_STEPS)
        context.attributes = self._normal
        normal = self._normal(self._climb(rows, prior, context))
        self.map_, self.posterior_mean_ = normal["map_"], normal["posterior_mean_"]
        self.posterior_covariance_ = normal["posterior_covariance_"]
        self.log_evidence_ = normal["log_evidence_"]
        self.coef_, self.intercept_ = normal["coef_"], normal["intercept_"]
        if self.method == "metropolis":
            self._walk(rows, prior)
        return self

    def _check_parameters(self) -> None:
        check.one_of(METHODS, method=self.method)
        check.boolean(fit_intercept=self.fit_intercept)
        check.whole(at_least=LEAST_DRAWS, n_draws=self.n_draws)
        check.whole(n_chains=self.n_chains)
        check.whole(at_least=0, n_burn=self.n_burn)
        if isinstance(self.step, str):
            check.one_of(("auto",), step=self.step)

    def _width(self) -> int:
        """Coefficients of one class."""
        return self.n_features_in_ + bool(self.fit_intercept)

    def _climb(self, rows: Rows, prior: Prior, context: FitContext) -> Mode:
        K, intercept = len(self.classes_), self.fit_intercept
        with single_threaded_blas():
            start = np.zeros(len(prior.mean))
            terms = posterior_mode.posterior_terms(rows, K, intercept, prior, start)
            step = partial(posterior_mode.newton_step, rows, K, intercept, prior)
            how: dict[str, Any] = {"max_iter": MAX_STEPS, "tol": posterior_mode.TOLERANCE}
            how["record"] = lambda m: {"objective": -m.terms.value, "halvings": m.halvings}
            return self._iterate(step, Mode(start, terms, 0), context=context, **how).state

    def _normal(self, mode: Mode) -> dict[str, Any]:
        """The fitted attributes of the normal approximation at ``mode``."""
        L, _ = lapack.dpotrf(mode.terms.hessian, lower=1, clean=1)
        half = lapack.dtrtri(L, lower=1)[0]  # H^-1 = half' half
        found = {"map_": mode.theta, "posterior_mean_": mode.theta}
        found |= {"posterior_covariance_": half.T @ half, **self._by_feature(mode.theta)}
        return {**found, "log_evidence_": posterior_mode.log_evidence(mode)}

    def _by_feature(self, theta: Array) -> dict[str, Array]:
        table = theta.reshape(-1, self._width())
        intercept = table[:, 0].copy() if self.fit_intercept else np.zeros(len(table))
        return {"coef_": table[:, int(self.fit_intercept) :].copy(), "intercept_": intercept}

    def _walk(self, rows: Rows, prior: Prior) -> None:
        K, q = len(self.classes_), len(prior.mean)
        seed = int(generator(self.random_state).integers(2**62))
        root = lower_root(self.posterior_covariance_, "the posterior covariance")
        auto = isinstance(self.step, str)
        move = root * (2.38 / np.sqrt(q)) if auto else scaled(np.eye(q), self.step).T  # move z
        noise = np.stack([stream(seed, c, 2).standard_normal(q) for c in range(self.n_chains)])
        start = self.map_ + DISPERSED * noise @ root.T
        XT, w = posterior_mode.kernel_rows(rows, self.fit_intercept)
        with single_threaded_blas():  # more threads would round differently
            pull = posterior_mode.label_pull(rows, K, self.fit_intercept)
        walker = Walker(XT, w, pull, prior, K > 2)
        self.draws_, accepted = run_chains(walker, start, move, self.n_burn, self.n_draws, seed)
        flat = self.draws_.reshape(-1, q)
        mean = flat.mean(axis=0)
        self.acceptance_rate_ = accepted.mean(axis=1)
        self.rhat_ = rhat(self.draws_, rank=True)
        self.ess_ = effective_sample_size(self.draws_, "bulk")
        self.posterior_mean_ = mean
        self.posterior_covariance_ = (flat - mean).T @ (flat - mean) / len(flat)
        self.coef_, self.intercept_ = self._by_feature(mean).values()
        self._warn_of_chains()

    def _warn_of_chains(self) -> None:
        if found := self._objections():
            warn("; ".join(found))

    def _objections(self) -> list[str]:
        """What speaks against the draws, or against the mode."""
        found: list[str] = []
        if self.method != "metropolis":
            late = f"the search for the mode did not converge in {self.n_iter_} steps"
            return [] if came_to_rest(self.history_, posterior_mode.TOLERANCE) else [late]
        if not (self.rhat_ <= RHAT_LIMIT).all():
            j = int(np.argmax(np.nan_to_num(self.rhat_, nan=np.inf)))
            worst = f"R-hat of {self._names()[j]!r} is {self.rhat_[j]:.4g} > {RHAT_LIMIT}"
            remedy = "several modes, or run longer: raise n_draws and n_burn"
            found.append(f"the chains disagree: {worst} ({remedy})")
        least = float(self.acceptance_rate_.min())
        if least < 0.1:
            remedy = 'correlated parameters: give a smaller or shaped step, such as step="auto"'
            found.append(f"a chain accepts {least:.3g} < 0.1 of its proposals ({remedy})")
        if not (self.ess_ >= FEW).all():
            few = f"{float(self.ess_.min()):.3g} of {self.draws_[..., 0].size}"
            found.append(f"few effective draws: {few}; raise n_draws")
        return found

    def _names(self) -> tuple[str, ...]:
        one = (("intercept",) if self.fit_intercept else ()) + self._feature_names()
        if len(self.classes_) == 2:
            return one
        return tuple(f"{label}: {name}" for label in self.classes_.tolist() for name in one)

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log P(k | x), shape (n, K), averaged over the posterior (``map``: at the mode)."""
        D = design(self._check_input(X), self.fit_intercept)
        if len(self.classes_) == 2:
            return np.column_stack(self._binary_logs(D))
        with np.errstate(divide="ignore"):
            logs = np.log(self._classes_average(D))
        return np.maximum(logs, np.log(np.finfo(float).tiny))

    def predict_proba(self, X: ArrayLike) -> Array:
        """P(k | x), shape (n, K); rows sum to 1."""
        return np.exp(self.predict_log_proba(X))

    def decision_function(self, X: ArrayLike) -> Array:
        """Log odds of ``classes_[1]``, (n,); for K > 2 the log probabilities (n, K)."""
        logs = self.predict_log_proba(X)
        return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs

    def predict(self, X: ArrayLike) -> Any:
        """The more probable class of each row."""
        score = self.decision_function(X)
        return self.classes_[(score >= 0).astype(int) if score.ndim == 1 else score.argmax(axis=1)]

    def _binary_logs(self, D: Array) -> tuple[Array, Array]:
        """log P(classes_[0]) and log P(classes_[1])."""
        if self.method == "map":
            a = D @ self.map_
            return log_sigmoid(-a), log_sigmoid(a)
        if self.method == "laplace":
            return log_averages(*self._score_law(D))
        P = self._over_draws(D, lambda A: np.exp(log_sigmoid(A)).mean(axis=1))
        Q = self._over_draws(D, lambda A: np.exp(log_sigmoid(-A)).mean(axis=1))
        tiny = np.finfo(float).tiny
        return np.log(np.maximum(Q, tiny)), np.log(np.maximum(P, tiny))

    def _score_law(self, D: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of theta.d under the normal approximation."""
        size = np.maximum(np.abs(D).max(axis=1, initial=0.0), 1.0)  # squares must not overflow
        U = D / size[:, None]
        variance = ((U @ self.posterior_covariance_) * U).sum(axis=1)
        return D @ self.map_, size * np.sqrt(np.maximum(variance, 0.0))

    def _over_draws(self, D: Array, function: Callable[..., Any]) -> Array:
        """``function`` of the scores (rows, draws) of two classes, a few rows at a time."""
        theta = self.draws_.reshape(-1, self.draws_.shape[2])
        step = max(1, CELLS // len(theta))
        starts = range(0, len(D), step)
        parts = map_threads(lambda i: function(D[i : i + step] @ theta.T), starts)
        return np.concatenate(list(parts))

    def _classes_average(self, D: Array) -> Array:
        """P(k | x) for K > 2."""
        if self.method == "map":
            return softmax(D @ self.map_.reshape(-1, D.shape[1]).T)
        average = partial(np.mean, axis=1)
        return self._over_classes(D, average)

    def _over_classes(self, D: Array, function: Callable[..., Any]) -> Array:
        """``function`` of probabilities (rows, points, K), a few rows at a time."""
        K, d = len(self.classes_), D.shape[1]
        if self.method == "metropolis":
            theta = self.draws_.reshape(-1, K, d)
            scores = partial(np.einsum, "nd,skd->nsk", optimize=True)
            n_points = len(theta)
        else:
            n_points = 2 * ((self.n_draws + 1) // 2)
            Z = normal_points(self.n_draws, K)
        step = max(1, CELLS // (n_points * K))

        def part(i: int) -> Array:
            rows = D[i : i + step]
            if self.method == "metropolis":
                return function(softmax(scores(rows, theta)))
            M, roots = self._class_law(rows)
            return function(softmax(M[:, None, :] + Z @ np.swapaxes(roots, 1, 2)))

        return np.concatenate(list(map_threads(part, range(0, len(D), step))))

    def _class_law(self, D: Array) -> tuple[Array, Array]:
        """Means (n, K) and roots (n, K, K) of the normal scores of every row."""
        K, d = len(self.classes_), D.shape[1]
        size = np.maximum(np.abs(D).max(axis=1, initial=0.0), 1.0)
        U = D / size[:, None]
        S = self.posterior_covariance_.reshape(K, d, K, d)
        V = np.einsum("ni,kilj,nj->nkl", U, S, U, optimize=True)
        values, vectors = np.linalg.eigh(in_range(V, "the variance of the scores"))
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        return D @ self.map_.reshape(K, d).T, roots * size[:, None, None]

    def predict_interval(self, X: ArrayLike, confidence: float = 0.95) -> Array:
        """Central credible intervals of P(classes_[1]), (n, 2); for K > 2 (n, K, 2)."""
        check.fraction(confidence=confidence)
        D = design(self._check_input(X), self.fit_intercept)
        q = ((1 - confidence) / 2, (1 + confidence) / 2)
        if len(self.classes_) > 2:
            return self._over_classes(D, lambda P: np.moveaxis(np.quantile(P, q, axis=1), 0, -1))
        if self.method == "metropolis":
            edges = self._over_draws(D, lambda A: np.quantile(A, q, axis=1).T)
        else:
            m, s = self._score_law(D)
            edges = m[:, None] + s[:, None] * ndtri(q)
        return np.exp(log_sigmoid(edges))

    def sample_coef(self, n: int, random_state: Seed = None) -> Array:
        """n draws of all coefficients from the posterior, intercept first: (n, q)."""
        check_is_fitted(self)
        check.whole(n=n)
        rng = generator(random_state)
        if self.method == "metropolis":
            flat = self.draws_.reshape(-1, self.draws_.shape[2])
            return flat[rng.integers(len(flat), size=n)]
        root = lower_root(self.posterior_covariance_, "posterior_covariance_")
        return self.map_ + rng.standard_normal((n, len(root))) @ root.T

    def sample_boundaries(self, n: int = 20, random_state: Seed = None) -> list[Hyperplane]:
        """The boundaries P = 1/2 of n draws; two classes only."""
        check_is_fitted(self)
        K, i = len(self.classes_), int(self.fit_intercept)
        if K > 2:
            raise ValueError(f"sample_boundaries needs two classes, got {K}; see sample_coef")
        draws = self.sample_coef(n, random_state)
        return [Hyperplane(t[i:], t[0] if i else 0.0) for t in draws]

    def boundary(self, k: Any = None, l: Any = None) -> Hyperplane:  # noqa: E741
        """The plane between two classes at ``coef_``; its positive side is k."""
        check_is_fitted(self)
        labels = self.classes_.tolist()
        if len(labels) == 2 and k is None and l is None:
            return Hyperplane(self.coef_[0], self.intercept_[0])
        for label in (k, l):
            if label not in labels:
                raise ValueError(f"boundary needs two of the labels {labels}, got {k!r} and {l!r}")
        if k == l:
            raise ValueError(f"boundary needs two different labels, got {k!r} twice")
        a, b = labels.index(k), labels.index(l)
        if len(labels) == 2:
            return Hyperplane((a - b) * self.coef_[0], (a - b) * self.intercept_[0])
        return Hyperplane(self.coef_[a] - self.coef_[b], self.intercept_[a] - self.intercept_[b])

    def marginal(self, j: int) -> Any:
        """The posterior of coefficient j (0 is the intercept): a ``Normal``, or all its draws."""
        check_is_fitted(self)
        if not 0 <= j < len(self.map_):
            raise ValueError(f"j must be in 0..{len(self.map_) - 1}, got {j!r}")
        if self.method == "metropolis":
            return self.draws_[:, :, j].ravel()
        return Normal(float(self.map_[j]), float(np.sqrt(self.posterior_covariance_[j, j])))

    def summary(self, confidence: float = 0.95) -> Summary:
        """Posterior mean, standard deviation and central interval of every coefficient."""
        check_is_fitted(self)
        check.fraction(confidence=confidence)
        sd = np.sqrt(np.diag(self.posterior_covariance_))
        q = ((1 - confidence) / 2, (1 + confidence) / 2)
        arrays = {"estimate": self.posterior_mean_, "standard_error": sd}
        if self.method == "metropolis":
            flat = self.draws_.reshape(-1, len(sd))
            arrays["low"], arrays["high"] = np.quantile(flat, q, axis=0)
            arrays |= {"rhat": self.rhat_, "ess": self.ess_}
        else:
            half = ndtri(q[1]) * sd
            arrays |= {"low": self.posterior_mean_ - half, "high": self.posterior_mean_ + half}
        arrays["odds_ratio"] = np.exp(np.clip(self.posterior_mean_, -700, 700))
        how = "draws" if self.method == "metropolis" else "the normal approximation at the mode"
        between = f"with probability {confidence:g} a coefficient lies between low and high"
        against = self._objections()
        said = f"posterior by {how}: standard_error is its standard deviation"
        return Summary(
            title="Bayesian logistic regression",
            names=self._names(),
            arrays=arrays,
            scalars={"log_evidence": self.log_evidence_},
            valid=not against,
            reason="; ".join(against),
            notes=(said if against else f"{said}, and {between}",),
        )

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.classes_)
        rules, p = (1 if K == 2 else K), self.n_features_in_
        q = rules * self._width()
        shapes: dict[str, tuple[int, ...]] = {"coef_": (rules, p), "intercept_": (rules,)}
        shapes |= {"map_": (q,), "posterior_mean_": (q,), "posterior_covariance_": (q, q)}
        if hasattr(self, "draws_"):
            shapes |= {"draws_": (self.n_chains, self.n_draws, q), "rhat_": (q,), "ess_": (q,)}
        return shapes

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> model = BayesianLogisticRegression().fit([[0.0], [1.0]], [0, 1])
        >>> round(model.card().numbers["log_evidence"], 4)
        -1.5755
        """
        check_is_fitted(self)
        binary = len(self.classes_) == 2
        link = "sigma(b + x.w)" if binary else "softmax_k(b_k + x.w_k)"
        pair = isinstance(self.prior, tuple)
        given = "given mean and covariance" if pair else f"N(0, {self.prior:g} I)"
        how = {
            "map": "the mode alone, found by step-halved Newton",
            "laplace": "normal approximation at the mode (step-halved Newton), integrated by "
            + ("the trapezoid rule" if binary else f"{self.n_draws} points"),
            "metropolis": f"{self.n_chains} Gaussian random walks of {self.n_draws} draws after "
            f"{self.n_burn} for warm-up",
        }[self.method]
        numbers = {"log_evidence": self.log_evidence_, "coefficients": len(self.map_)}
        numbers["steps to the mode"] = self.n_iter_
        if self.method == "metropolis":
            numbers["acceptance"] = float(self.acceptance_rate_.mean())
            numbers["largest R-hat"] = float(self.rhat_.max())
            numbers["least effective draws"] = float(self.ess_.min())
        scales: tuple[str, ...] = ()
        if binary and not pair:
            mode = f"the mode is that of logistic regression with C = {self.prior:g}"
            scales = (f"{mode} and the intercept penalised too",)
        return Card(
            representation=f"P(y | x) = E {link} over the posterior of the coefficients",
            evaluation=f"posterior of all coefficients, intercept included; prior {given}",
            optimisation=how,
            numbers=numbers,
            warnings=tuple(self._objections()),
            scales=scales,
        )
