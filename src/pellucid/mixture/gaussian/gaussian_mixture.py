r"""Gaussian mixture by expectation-maximisation.

Model        p(x) = sum_k pi_k N(x; mu_k, S_k)
Objective    l = sum_i w_i log p(x_i)
Algorithm    E: r_ik = p(k | x_i).   M: weighted shares, means and covariances (+ reg I).
             l never falls (reg = 0); it ends in a local maximum, so several starts may be tried.
             O(n k p^2) a round, O(n k p) for diagonal and spherical covariances
Limit        with S = e I fixed and e -> 0, r becomes the assignment of k-means, whatever pi
Memory       a round is a sum over the rows, so files larger than memory serve (``fit_blocks``)
Gaps         NaN cells are summed out exactly (``missing_cells``): l is that of the observed cells

The structures and both steps are in ``gaussians``, the starts in ``starts``, the loop in ``em``.

References: Dempster, Laird & Rubin (1977); Bishop, PRML, ch. 9.
"""

from collections.abc import Iterator

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import MaybeArray, Rng, Seed
from pellucid.core.loops.iterate import FitContext, Iteration
from pellucid.core.records import Card
from pellucid.mixture.gaussian import starts
from pellucid.mixture.gaussian.em import Climb, climb, em_update
from pellucid.mixture.gaussian.gaussian_model import GaussianModel
from pellucid.mixture.gaussian.gaussians import Gaussians
from pellucid.mixture.gaussian.starts import Beginning, MixtureStart


class GaussianMixture(GaussianModel):
    """A mixture of normal densities, fitted by EM.

    Cells may be NaN (missing at random): EM takes their expectations, all methods use the density
    of the observed cells, and ``impute`` fills them.

    Parameters
    ----------
    n_components : int, default=1
        Number of normal densities.
    covariance_type : str, default="full"
        ``"full"`` (k, p, p), ``"tied"`` (p, p), ``"diag"`` (k, p), ``"tied_diag"`` (p,),
        ``"spherical"`` (k,) or ``"tied_spherical"`` (): the shape of ``covariances_``.
    tol : float, default=1e-3
        Stop when the mean log-likelihood changes by less; 0 runs ``max_iter`` rounds.
    reg_covar : float, default=1e-6
        Added to the variances; 0 is maximum likelihood.
    max_iter : int, default=100
        Most iterations.
    n_init : int, default=1
        Starts; the one with the largest likelihood is kept.
    init_params : str or MixtureStart, default="kmeans"
        ``"kmeans"``, ``"k-means++"``, ``"random"``, ``"random_from_data"``,
        ``"random_parameters"``, or known values, of which those named in ``fixed`` stay.
    weights_init, means_init, precisions_init : array-like, default=None
        Replace parts of the start.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random numbers.
    warm_start : bool, default=False
        Start from the parameters of the fit before.
    verbose, verbose_interval : ignored
        For compatibility with scikit-learn; use ``set_callbacks`` and ``history_``.

    Attributes
    ----------
    weights_, means_, covariances_ : ndarray
    precisions_, precisions_cholesky_ : ndarray
    converged_ : bool
    n_iter_ : int
        Rounds of the best start.
    lower_bound_ : float
        Mean log-likelihood at the end.
    lower_bounds_ : list
        Mean log-likelihood after each round.
    n_parameters_ : int
    history_ : History
        One row per round: log_likelihood (total, after it) and before; row 0 is the start.

    Examples
    --------
    >>> from pellucid import GaussianMixture
    >>> X = [[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]]
    >>> model = GaussianMixture(2, random_state=0).fit(X)
    >>> sorted(model.means_[:, 0].round(3).tolist())
    [2.0, 11.0]
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str | MixtureStart = "kmeans",
        weights_init: MaybeArray = None,
        means_init: MaybeArray = None,
        precisions_init: MaybeArray = None,
        random_state: Seed = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval

    def _check_parameters(self) -> None:
        self._check_common()
        check.non_negative(reg_covar=self.reg_covar)
        check.whole(n_init=self.n_init, verbose_interval=self.verbose_interval)
        check.boolean(warm_start=self.warm_start)

    def _reg(self) -> float:
        return float(self.reg_covar)

    def _continues(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "converged_")

    def _n_starts(self) -> int:
        one = self._continues() or isinstance(self.init_params, MixtureStart)
        return 1 if one else self.n_init

    def _starts(self, begin: Beginning, rng: Rng) -> Iterator[Gaussians]:
        if self._continues():
            yield Gaussians(self.weights_, self.means_, self.covariances_)
            return
        k, p, kind = begin.k, len(begin.problem.box.mean), self.covariance_type
        for start in super()._starts(begin, rng):
            if self.weights_init is not None:
                start = start._replace(weights=starts.checked_weights(self.weights_init, k))
            if self.means_init is not None:
                start = start._replace(means=starts.checked_means(self.means_init, k, p))
            if self.precisions_init is not None:
                C = starts.from_precisions(self.precisions_init, kind, k, p)
                start = start._replace(covariances=starts.checked_covariances(C, kind, k, p))
            yield start

    def _run(self, task: Climb, start: Gaussians, context: FitContext) -> Iteration:
        update = em_update(self.covariance_type, self._reg(), self._fixed())
        return climb(task, start, update, guard=self.reg_covar == 0, context=context)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        fixed = self._fixed()
        kept = f"; {', '.join(fixed)} held fixed" if fixed else ""
        return self._card(
            f"EM from {self._n_starts()} start(s) until the mean log-likelihood changes by less "
            f"than {self.tol:g} or {self.max_iter} rounds; {self.reg_covar:g} is added to the "
            f"variances{kept}"
        )
