r"""t-SNE: a map on which neighbours stay neighbours.

Rows         P, p_ij how near rows i and j are: Gaussian weights of a given perplexity, the number
             of neighbours that count (``affinities.py``)
Map          q_ij = w_ij/Z, w = (1 + d^2/f)^(-(f+1)/2), d the distance of the points on the map,
             f = max(k - 1, 1) degrees of freedom: far points may be farther than they are
Objective    KL = sum p log(p/q): neighbours that the map parts cost, strangers it joins do not
Step         gradient with momentum; a coordinate whose gradient keeps its sign has its own gain
             raised by 0.2, one that swings has it cut by 0.8. For 250 steps P is multiplied by
             ``early_exaggeration`` and the momentum is 0.5, so that groups gather; then 0.8
Forces       attraction by neighbours, repulsion by all: pairs, a grid or a tree (``forces.py``)
Cost         n k log n neighbours once; a step n k, and n^2, n + cells log cells or n log n

References: van der Maaten & Hinton (2008); van der Maaten (2014); Linderman et al. (2019);
Belkina et al. (2019) for the learning rate; Kobak & Berens (2019) for the start.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted, check_non_negative

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.scale import scaled, unit_exponent
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray, Seed
from pellucid.core.loops.admission import tell_rise
from pellucid.core.loops.iterate import FitContext, History
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.decomposition.maps.affinities import (
    METRICS,
    Metric,
    conditional,
    dense_joint,
    joint,
    metric_of,
)
from pellucid.decomposition.maps.forces import Repulsion, all_pairs, attraction, repulsion
from pellucid.decomposition.pca import PCA

START = 1e-4  # standard deviation of a start on the map, whose own unit is 1
RISE, CUT, LEAST = 0.2, 0.8, 0.01  # of gains
ENOUGH = 1e-7  # of the map's size: a new row that moves less stands
MOVES = 300  # of a new row at most


class Affinities(NamedTuple):
    """P by rows, as compiled code reads it, and sum p log p."""

    first: IntArray  # (n + 1,)
    index: Any  # int32
    p: Array
    negative_entropy: float


class Map(NamedTuple):
    """Points, the forces between them and how they move."""

    Y: Array  # (k, n)
    attraction: Array
    repulsion: Repulsion
    kl: float
    velocity: Array
    gains: Array
    norm: float = np.inf  # of the gradient of the last step
    exaggerated: bool = True
    steps: int = 0


class Schedule(NamedTuple):
    """How the descent goes on and when it ends."""

    rate: float
    exaggeration: float
    exploring: int  # steps with exaggeration
    every: int  # steps between two looks at the progress
    patience: int
    least_norm: float


def affinities(P: csr_array | Array) -> Affinities:
    """P as compiled code reads it."""
    S = csr_array(P)
    p = np.ascontiguousarray(S.data)
    index, first = S.indices.astype(np.int32), S.indptr.astype(np.int64)
    return Affinities(first, index, p, float(p @ np.log(p)))


def freedom(k: int) -> float:
    """Degrees of freedom of a map of k dimensions."""
    return float(max(k - 1, 1))


def divergence(A: Affinities, Y: Array, repel: Callable[..., Repulsion], grid: Any) -> Any:
    """(attraction, repulsion, KL) of the points Y (k, n)."""
    f = freedom(len(Y))
    pull, logs = attraction(A.first, A.index, A.p, Y, f)
    push = repel(Y, f, grid=grid)
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = A.negative_entropy + 0.5 * (f + 1) * logs + float(np.log(push.Z))
    return pull, push, kl


def gradient(at: Map, exaggeration: float) -> Array:
    """Of the KL divergence of exaggeration P, by coordinate (k, n)."""
    f = freedom(len(at.Y))
    Z = at.repulsion.Z
    return (2 * (f + 1) / f) * (exaggeration * at.attraction - at.repulsion.force / Z)


def descend(
    A: Affinities, repel: Callable[..., Repulsion], plan: Schedule, at: Map
) -> tuple[Map, float]:
    """Move all points; the gap is the norm of the gradient that moved them."""
    exaggerated = at.exaggerated and at.steps < plan.exploring
    if at.steps and at.steps % plan.every == 0 and at.norm <= plan.least_norm:
        exaggerated = False
    velocity, gains = at.velocity, at.gains
    if at.exaggerated and not exaggerated:
        velocity, gains = np.zeros_like(velocity), np.ones_like(gains)
    G = gradient(at, plan.exaggeration if exaggerated else 1.0)
    gains = np.maximum(np.where(velocity * G < 0, gains + RISE, gains * CUT), LEAST)
    velocity = (0.5 if exaggerated else 0.8) * velocity - plan.rate * gains * G
    Y = at.Y + velocity
    pull, push, kl = divergence(A, Y, repel, at.repulsion.grid)
    norm = float(np.linalg.norm(G))
    new = Map(Y, pull, push, kl, velocity, gains, norm, exaggerated, at.steps + 1)
    return new, norm if np.isfinite(kl) else np.nan


def why_ended(history: History, plan: Schedule) -> str:
    """Why the descent is over, "" where it goes on: asked every ``plan.every`` steps."""
    last = history[-1]
    if last["step"] % plan.every or last["exaggerated"]:
        return ""
    looks = [row for row in history if not (row["step"] % plan.every or row["exaggerated"])]
    best = min(looks, key=lambda row: row["objective"])
    if best is not last and last["step"] - best["step"] > plan.patience:
        return f"did not make any progress during the last {plan.patience} episodes. Finished."
    if last["gradient_norm"] <= plan.least_norm:
        return f"gradient norm {last['gradient_norm']:f}. Finished."
    return ""


def placed(p: Array, index: IntArray, Y: Array) -> Array:
    """Where new rows stand on a map that stays: sum_j p_j log(1 + |y - y_j|^2/f) is least.

    Each starts at its nearest row and moves to the mean of its neighbours, weighted by p_j times
    the u_j of the present place, until it stands: the sum never rises.
    """
    f = freedom(Y.shape[1])
    near = Y[index]  # (m, neighbours, k)
    at = near[np.arange(len(p)), p.argmax(axis=1)]
    still = ENOUGH * float(np.sqrt(np.square(Y - Y.mean(axis=0)).sum(axis=1).mean()))
    moving = np.arange(len(p))
    for _ in range(MOVES):
        if not len(moving):
            break
        d = np.square(near[moving] - at[moving, None]).sum(axis=2)
        w = p[moving] / (1 + d / f)
        new = np.einsum("mj,mjk->mk", w, near[moving]) / w.sum(axis=1)[:, None]
        step = np.sqrt(np.square(new - at[moving]).sum(axis=1))
        at[moving] = new
        moving = moving[step > still]
    return at


class TSNE(ClassNamePrefixFeaturesOutMixin, Transformer):
    """A map of the rows on which near rows stay near (t-SNE).

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map; at most 3 with ``method="barnes_hut"``.
    perplexity : float, default=30.0
        How many neighbours of a row count, smoothly; less than the number of rows.
    early_exaggeration : float, default=12.0
        Factor of the attraction in the first 250 steps, at least 1.
    learning_rate : float or "auto", default="auto"
        Length of the steps; "auto" is max(n/early_exaggeration/4, 50).
    max_iter : int, default=1000
        Most steps, at least 250.
    n_iter_without_progress : int, default=300
        The descent ends when the divergence has not fallen for so many steps after the
        exaggeration; looked at every 50 steps.
    min_grad_norm : float, default=1e-7
        It ends when the gradient is not longer. The map has no unit, so this has none either.
    metric : str or callable, default="euclidean"
        Distance of the rows, as ``sklearn.metrics.pairwise_distances`` takes it; "precomputed": X
        is the matrix of distances, or a sparse one with at least 3 perplexity + 1 of each row.
    metric_params : dict or None, default=None
        Further arguments of it.
    init : {"pca", "random"} or ndarray of shape (n, n_components), default="pca"
        Start: the leading principal components or noise, of standard deviation 1e-4, or your own.
    verbose : int, default=0
        Above 0 prints the stages, above 1 the divergence every 50 steps.
    random_state : int, RandomState, Generator or None, default=None
        Of a random start.
    method : {"barnes_hut", "exact"}, default="barnes_hut"
        "barnes_hut": int(3 perplexity + 1) neighbours attract, and the repulsion is computed in
        the form that should cost least for the map at hand: all pairs while rows are few; for one
        or two dimensions splines on a grid and Fourier transforms (an error of about 0.6 % of the
        force); else Barnes and Hut's tree (about 1 % with an angle of 0.5). "exact": all rows
        attract and repel, n^2 numbers in memory.
    angle : float, default=0.5
        Of the tree: a group that looks smaller acts as one body; 0 to 1. 0 is all pairs.
    n_jobs : ignored
        Threads are those of the library; the map is the same for any number of them.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components), the map
    kl_divergence_ : float
        That of ``embedding_``, without exaggeration.
    learning_rate_ : float
    n_iter_, history_ : steps; the divergence and the norm of the gradient at each

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import TSNE
    >>> X = np.repeat(np.eye(3), 20, axis=0) + 0.1 * np.random.default_rng(0).random((60, 3))
    >>> TSNE(perplexity=5, max_iter=250).fit_transform(X).shape
    (60, 2)
    """

    _accepts_sparse = True
    _tells_itself = True  # in scikit-learn's words
    _EXPLORATION_MAX_ITER = 250
    _N_ITER_CHECK = 50

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float = 30.0,
        early_exaggeration: float = 12.0,
        learning_rate: float | str = "auto",
        max_iter: int = 1000,
        n_iter_without_progress: int = 300,
        min_grad_norm: float = 1e-7,
        metric: str | Callable[..., Any] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        init: Any = "pca",
        verbose: int = 0,
        random_state: Seed = None,
        method: str = "barnes_hut",
        angle: float = 0.5,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_without_progress = n_iter_without_progress
        self.min_grad_norm = min_grad_norm
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.verbose = verbose
        self.random_state = random_state
        self.method = method
        self.angle = angle
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Draw the map."""
        self.fit_transform(X)
        return self

    @with_callbacks
    def fit_transform(self, X: ArrayLike, y: MaybeArray = None) -> Array:
        """Draw the map and return it."""
        self._check_parameters()
        rows = self._check_training(X).X
        self._check_rows(rows)
        self._rows = rows.copy()
        n, k = rows.shape[0], int(self.n_components)
        rate = max(n / self.early_exaggeration / 4, 50.0)
        self.learning_rate_ = rate if self.learning_rate == "auto" else float(self.learning_rate)
        A = self._affinities(self._unit(rows))
        repel = all_pairs_of if self.method == "exact" else partial(repulsion, angle=self.angle)
        Y = np.ascontiguousarray(self._start(self._unit(rows), n, k).T)
        still, gains = np.zeros_like(Y), np.ones_like(Y)
        pull, push, kl = divergence(A, Y, repel, None)
        start = Map(Y, pull, push, kl, still, gains)
        plan = self._schedule()
        context = FitContext(self, X=X, max_steps=self.max_iter, attributes=self._found)
        run = self._iterate(
            partial(descend, A, repel, plan),
            start,
            max_iter=self.max_iter,
            tol=None,
            record=partial(self._row, plan),
            context=context,
            start_row=False,
            stop=self._watch(plan),
        )
        self._risen = ""
        if not run.state.exaggerated:  # until then it is another objective
            tell_rise(self, run, start=kl)
        found = self._found(run.state)
        self.embedding_, self.kl_divergence_ = found["embedding_"], found["kl_divergence_"]
        self._tell(f"KL divergence after {self.n_iter_} iterations: {self.kl_divergence_:f}")
        return self.embedding_

    def _cure_of_a_rise(self) -> str:
        return f"lower learning_rate={self.learning_rate_:g}"

    def _check_parameters(self) -> None:
        check.whole(n_components=self.n_components)
        check.whole(at_least=250, max_iter=self.max_iter)
        check.whole(at_least=-1, n_iter_without_progress=self.n_iter_without_progress)
        check.positive(perplexity=self.perplexity)
        check.non_negative(min_grad_norm=self.min_grad_norm)
        check.one_of(("barnes_hut", "exact"), method=self.method)
        check.finite(early_exaggeration=self.early_exaggeration, angle=self.angle)
        if self.early_exaggeration < 1:
            raise ValueError(f"early_exaggeration must be >= 1, got {self.early_exaggeration!r}")
        if not 0 <= self.angle <= 1:
            raise ValueError(f"angle must be between 0 and 1, got {self.angle!r}")
        if not isinstance(self.learning_rate, str):
            check.positive(learning_rate=self.learning_rate)
        elif self.learning_rate != "auto":
            raise ValueError(f"learning_rate must be > 0 or 'auto', got {self.learning_rate!r}")
        if not callable(self.metric):
            check.one_of(METRICS, metric=self.metric)
        if not isinstance(self.init, np.ndarray):
            check.one_of(("pca", "random"), init=self.init)
        if self.method == "barnes_hut" and self.n_components > 3:
            raise ValueError(
                "'n_components' should be inferior to 4 for the barnes_hut algorithm as it relies "
                f"on quad-tree or oct-tree, got {self.n_components}; method='exact' takes more"
            )

    def _check_rows(self, X: Any) -> None:
        n = X.shape[0]
        if self.metric == "precomputed":
            if isinstance(self.init, str) and self.init == "pca":
                raise ValueError(
                    'The parameter init="pca" cannot be used with metric="precomputed".'
                )
            if n != X.shape[1]:
                raise ValueError(f"X should be a square distance matrix, got shape {X.shape}")
            check_non_negative(
                X, "TSNE.fit(). With metric='precomputed', X should contain positive distances."
            )
            if self.method == "exact" and issparse(X):
                raise TypeError(
                    'TSNE with method="exact" does not accept sparse precomputed distance matrix. '
                    'Use method="barnes_hut" or provide the dense distance matrix.'
                )
        if n < 2:
            raise ValueError("n_samples = 1, but a map needs at least 2 rows")
        if self.perplexity >= n:
            raise ValueError(f"perplexity ({self.perplexity}) must be less than n_samples ({n})")
        if isinstance(self.init, str) and self.init == "pca" and min(X.shape) < self.n_components:
            raise ValueError(
                f"init='pca' needs n_features and n_samples of at least n_components="
                f"{self.n_components}, got n_features={X.shape[1]}, n_samples={n}; "
                "use init='random'"
            )

    @property
    def _metric(self) -> Metric:
        return metric_of(self.metric, self.metric_params)

    @property
    def _exponent(self) -> int:
        """Of the power of two by which rows are divided, so that squares stay numbers."""
        if callable(self.metric) or self.metric not in ("euclidean", "l2", "precomputed"):
            return 0
        return unit_exponent(self._rows.data if issparse(self._rows) else self._rows)

    def _unit(self, X: Any) -> Any:
        """Rows in units of that power: no digit changes."""
        if not issparse(X):
            return scaled(X, self._exponent)
        return csr_array((scaled(X.data, self._exponent), X.indices, X.indptr), shape=X.shape)

    def _neighbours(self, n: int) -> int:
        return min(n - 1, int(3.0 * self.perplexity + 1))

    def _affinities(self, X: Any) -> Affinities:
        began, n = time.perf_counter(), X.shape[0]
        if self.method == "exact":
            self._tell("Computing pairwise distances...")
            P, beta = dense_joint(self._metric.squares(X), self.perplexity)
        else:
            k = self._neighbours(n)
            self._tell(f"Computing {k} nearest neighbors...")
            squares, index = self._metric.neighbours(X, None, k)
            self._tell(f"Computed neighbors for {n} samples in {elapsed(began)}...")
            began = time.perf_counter()
            p, beta = conditional(squares, self.perplexity)
            P = joint(p, index)
        width = np.sqrt(1 / np.where(beta > 0, beta, np.inf)).mean()
        self._tell(f"Mean sigma: {np.ldexp(width, self._exponent):f}")
        self._tell(f"Computed conditional probabilities in {elapsed(began)}", least=2)
        return affinities(P)

    def _start(self, X: Any, n: int, k: int) -> Array:
        if isinstance(self.init, np.ndarray):
            Y = np.array(self.init, dtype=np.float64)
            if Y.shape != (n, k) or not np.isfinite(Y).all():
                raise ValueError(
                    f"init must be an array of finite numbers of shape ({n}, {k}), got {Y.shape}"
                )
            return Y
        rng = generator(self.random_state)
        if self.init == "random":
            return START * rng.standard_normal((n, k))
        Y = PCA(k, random_state=rng).set_output(transform="default").fit_transform(X)
        spread = float(np.std(Y[:, 0]))
        if not spread > 0:
            warn("all rows are equal: the map is one point")
            return np.zeros((n, k))
        return np.asarray(Y / spread * START)

    def _schedule(self) -> Schedule:
        return Schedule(
            self.learning_rate_,
            float(self.early_exaggeration),
            self._EXPLORATION_MAX_ITER,
            self._N_ITER_CHECK,
            self.n_iter_without_progress,
            self.min_grad_norm,
        )

    def _row(self, plan: Schedule, at: Map) -> dict[str, Any]:
        return {
            "objective": at.kl,
            "gradient_norm": at.norm,
            "exaggerated": at.exaggerated,
            "form": at.repulsion.form,
        }

    def _watch(self, plan: Schedule) -> Callable[[History], bool]:
        """What ends the descent, and tells how it goes."""
        began = [time.perf_counter()]

        def ended(history: History) -> bool:
            row = history[-1]
            if row["step"] % plan.every == 0:
                self._tell(
                    f"Iteration {row['step']}: error = {row['objective']:.7f}, gradient norm = "
                    f"{row['gradient_norm']:.7f} ({plan.every} iterations in {elapsed(began[0])})",
                    least=2,
                )
                began[0] = time.perf_counter()
            if row["step"] == plan.exploring:
                told = f"KL divergence after {row['step']} iterations with early exaggeration"
                self._tell(f"{told}: {row['objective']:f}")
            why = why_ended(history, plan)
            if why:
                self._tell(f"Iteration {row['step']}: {why}", least=2)
            return bool(why)

        return ended

    def _tell(self, what: str, least: int = 1) -> None:
        if self.verbose >= least:
            sys.stdout.write(f"[t-SNE] {what}\n")

    def _found(self, at: Map) -> dict[str, Any]:
        return {"embedding_": np.ascontiguousarray(at.Y.T), "kl_divergence_": at.kl}

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def transform(self, X: ArrayLike) -> Any:
        """Places of new rows on the map, which stays as it is: among their neighbours.

        A row of the fit stands where it stood. With ``metric="precomputed"`` X holds the distances
        from the rows of the map.
        """
        rows = self._check_input(X)
        n = len(self.embedding_)
        squares, index = self._metric.neighbours(
            self._unit(self._rows), self._unit(rows), min(n, int(3.0 * self.perplexity + 1))
        )
        same = squares[:, 0] == 0
        where = self.embedding_[index[:, 0]]
        p, _ = conditional(squares, self.perplexity)
        return np.where(same[:, None], where, placed(p, index, self.embedding_))

    def _check_state(self) -> None:
        if hasattr(self, "embedding_"):
            n = len(self.embedding_)
            if self._rows.shape != (n, self.n_features_in_):
                raise ValueError("embedding_ and the rows do not fit")

    def card(self) -> Card:
        """What the map keeps, and how well."""
        check_is_fitted(self)
        n, k = self.embedding_.shape
        forms = sorted({row["form"] for row in self.history_})
        cut = ("it ended while the neighbours still pulled early_exaggeration times as hard",)
        return Card(
            f"{n} points in {k} dimensions",
            f"KL divergence of the neighbours (perplexity {self.perplexity:g}) from the map's = "
            f"{self.kl_divergence_:.6g}",
            f"gradient with momentum and gains, {self.n_iter_} steps of rate "
            f"{self.learning_rate_:g}; repulsion by {' and '.join(forms)}",
            {"rows": n, "dimensions": k, "KL divergence": self.kl_divergence_},
            warnings=(
                "sizes of groups and distances between them mean little",
                "another perplexity, another map",
                *(cut if self.history_[-1]["exaggerated"] else ()),
            ),
        )


def all_pairs_of(Y: Array, f: float, grid: Any = None) -> Repulsion:
    """All pairs, whatever their number."""
    return all_pairs(Y, f)


def elapsed(began: float) -> str:
    return f"{time.perf_counter() - began:.3f}s"
