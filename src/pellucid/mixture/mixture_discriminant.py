r"""Mixture discriminant analysis: Bayes' rule with a Gaussian mixture in each class.

    p(c | x) = pi_c p_c(x) / sum_b pi_b p_b(x),    p_c(x) = sum_k pi_ck N(x; mu_ck, S_ck)

One component in each class is quadratic discriminant analysis with covariances 1/n_c.

References: Hastie & Tibshirani (1996); ESL, sec. 12.7.
"""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray, Seed
from pellucid.core.loops.iterate import FitContext, came_to_rest
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator, stream
from pellucid.discriminant.gaussian_rules import checked_priors, log_posterior, log_prior
from pellucid.mixture.gaussian.gaussian_mixture import GaussianMixture
from pellucid.mixture.gaussian.gaussians import STRUCTURES


class MixtureDiscriminantAnalysis(Classifier):
    """A classifier with one Gaussian mixture for each class.

    Parameters
    ----------
    n_components : int, default=2
        Components of each class.
    covariance_type : str, default="full"
        As in ``GaussianMixture``.
    reg_covar : float, default=1e-6
        Added to the variances.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random numbers.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None: the shares of the classes.
    max_iter : int, default=100
        Rounds of EM in each class.
    n_init : int, default=1
        Starts in each class.

    Attributes
    ----------
    mixtures_ : list of GaussianMixture
        In the order of ``classes_``; each has its own ``history_``.
    priors_ : ndarray of shape (n_classes,)
    classes_ : ndarray
    n_iter_ : int
        Rounds of the class that took most.

    Examples
    --------
    >>> from pellucid import MixtureDiscriminantAnalysis
    >>> X = [[0.0], [1.0], [8.0], [9.0], [4.0], [5.0], [4.5], [4.2]]  # "a" on both sides of "b"
    >>> y = ["a", "a", "a", "a", "b", "b", "b", "b"]
    >>> model = MixtureDiscriminantAnalysis(random_state=0, reg_covar=0.1).fit(X, y)
    >>> model.predict([[0.5], [4.4], [8.5]]).tolist()
    ['a', 'b', 'a']
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        covariance_type: str = "full",
        priors: MaybeArray = None,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.priors = priors
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: MaybeArray = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        check.whole(n_components=self.n_components, max_iter=self.max_iter, n_init=self.n_init)
        check.non_negative(reg_covar=self.reg_covar)
        check.one_of(STRUCTURES, covariance_type=self.covariance_type)
        rows = self._check_training(X, y, sample_weight)
        K = len(self.classes_)
        check.two_classes(self, K, rows.n_rows)
        data: dict[str, Any] = {"X": X, "y": y, "sample_weight": sample_weight}
        context = FitContext(self, **data, attributes=lambda _: dict(vars(self)))
        weight = np.bincount(rows.y, rows.w, minlength=K).astype(np.float64)
        for c in range(K):
            self._check_class(rows, c)
        self.priors_ = checked_priors(self.priors, weight)
        seed = int(generator(self.random_state).integers(2**62))
        self.mixtures_ = [self._fit_class(rows, c, seed) for c in range(K)]
        self.n_iter_ = max(mixture.n_iter_ for mixture in self.mixtures_)
        context.end()
        return self

    def _check_class(self, rows: Rows, c: int) -> None:
        own = (rows.y == c) & (rows.w > 0)
        n = max(int(np.count_nonzero(own)), int(rows.w[own].sum()))  # a weight of 3: three rows
        if n < self.n_components:
            found = f"class {self.classes_[c]} has {n} row(s) of positive weight"
            raise ValueError(f"{found}, fewer than n_components={self.n_components}")

    def _fit_class(self, rows: Rows, c: int, seed: int) -> GaussianMixture:
        own = (rows.y == c) & (rows.w > 0)
        names = ("n_components", "covariance_type", "reg_covar", "max_iter", "n_init")
        settings = {name: getattr(self, name) for name in names}
        mixture = GaussianMixture(**settings, random_state=stream(seed, c))
        mixture.fit(rows.X[own], sample_weight=rows.w[own])
        return mixture.set_params(random_state=None)  # its draws are over

    def _joint(self, X: ArrayLike) -> Array:
        X = self._check_input(X)
        logs = np.column_stack([mixture.score_samples(X) for mixture in self.mixtures_])
        joint = log_prior(self.priors_) + logs
        nowhere = np.asarray(~np.isfinite(joint).any(axis=1))
        return np.where(nowhere[:, None], log_prior(self.priors_), joint)

    def predict(self, X: ArrayLike) -> Any:
        """Predict for each row of ``X``."""
        joint = self._joint(X)
        return self.classes_[joint.argmax(axis=1)]

    def decision_function(self, X: ArrayLike) -> Array:
        """log pi_c p_c(x), (n, K); for two classes the log-odds of ``classes_[1]``, (n,)."""
        joint = self._joint(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log p(c | x), shape (n, K)."""
        return log_posterior(self._joint(X))

    def predict_proba(self, X: ArrayLike) -> Array:
        """p(c | x), shape (n, K)."""
        return np.exp(self.predict_log_proba(X))

    def sample(self, n_samples: int = 1, *, random_state: Seed = None) -> tuple[Array, Any]:
        """Draw (X, y): a class from the priors, then a row from its mixture; ordered by class."""
        check_is_fitted(self)
        check.whole(n_samples=n_samples)
        rng = generator(self.random_state if random_state is None else random_state)
        counts = rng.multinomial(n_samples, self.priors_)
        pairs = zip(self.mixtures_, counts, strict=True)
        drawn = [mixture.sample(int(m), random_state=rng)[0] for mixture, m in pairs if m]
        return np.vstack(drawn), np.repeat(self.classes_, counts)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"priors_": (len(self.classes_),)}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        parts = zip(self.classes_, self.mixtures_, strict=True)
        late = [str(c) for c, m in parts if not came_to_rest(m.history_, m.tol)]
        note = f"EM did not converge in max_iter={self.max_iter} rounds: {', '.join(late)}"
        return Card(
            f"argmax_c log pi_c + log p_c(x); each class a mixture of {self.n_components} normal "
            f"densities, covariances {self.covariance_type}",
            "likelihood of the rows of each class; priors: "
            + ("shares of the classes" if self.priors is None else "given"),
            f"EM in each class from {self.n_init} start(s), at most {self.max_iter} rounds; "
            f"{self.reg_covar:g} is added to the variances",
            {
                "classes": len(self.classes_),
                "features": self.n_features_in_,
                "parameters": sum(m.n_parameters_ for m in self.mixtures_) + len(self.classes_) - 1,
                "rounds": self.n_iter_,
            },
            warnings=(note,) if late else (),
        )
