r"""What the evidence models share: prediction N(x'w + b, 1/alpha + (x - mean)' sigma (x - mean)).

``alpha_`` is the precision of the noise and ``sigma_`` the posterior covariance of the slopes; the
intercept is the mean of y seen from the mean of X, as in scikit-learn, and adds no variance to
``return_std``. Intervals are wider: they count the error of the intercept, 1/(alpha n), and that
the precisions are estimates (``_wide``).
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.iterate import came_to_rest
from pellucid.core.records import Summary
from pellucid.linear.bayes.integrated import Integrated
from pellucid.linear.linear_model import LinearModel

EQUAL_NOISE = "intervals are for independent normal noise of equal size"


def predict_interval(
    self: Any, X: ArrayLike, *, confidence: float = 0.95, kind: str = "prediction"
) -> Array:
    """Central intervals (n, 2) for new observations ("prediction") or for the line ("mean")."""
    check.fraction(confidence=confidence)
    check.one_of(("prediction", "mean"), kind=kind)
    middle = self.predict(X)
    half = self._half(X, confidence, new=kind == "prediction")
    return np.stack([middle - half, middle + half], axis=-1)


class NormalPredictive(LinearModel):
    """Base of the linear models with a normal posterior of their slopes."""

    _multi_output = False
    predict_interval = predict_interval
    _interval_note: str

    def _live(self) -> IntArray:
        """The columns that ``sigma_`` speaks of."""
        return np.arange(self.n_features_in_)

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Mean of the predictive distribution, and its standard deviation given the precisions.

        ``return_std`` takes ``alpha_`` and ``lambda_`` as if they were known, as scikit-learn does;
        ``predict_interval`` integrates over what is not known of them and is wider.
        """
        mean = super().predict(X)
        return (mean, np.sqrt(self._variance(X) + 1 / self.alpha_)) if return_std else mean

    def _variance(self, X: ArrayLike) -> Array:
        """Posterior variance of x'w about the mean of X."""
        live = self._live()
        Z = self._dense_input(X)[:, live] - self.X_offset_[live]
        return ((Z @ self.sigma_) * Z).sum(axis=1)

    def _wide(self) -> Integrated:
        """Scale of the live slopes, noise and degrees of freedom of the intervals."""
        raise NotImplementedError

    def _extra(self) -> Array:
        """What each slope's variance has beyond that, (p,)."""
        return np.zeros(self.n_features_in_)

    def _integrated(self) -> Integrated:
        """The slopes of all columns with the precisions integrated out."""
        wide, live, C = self._wide(), self._live(), np.diag(self._extra())
        C[np.ix_(live, live)] += wide.covariance
        return wide._replace(covariance=C)

    def _half(self, X: ArrayLike, confidence: float, *, new: bool) -> Array:
        """Half the width of the central interval, of the line or of a new observation."""
        wide, Z = self._wide(), self._dense_input(X) - self.X_offset_
        L = Z[:, self._live()]
        spread = ((L @ wide.covariance) * L).sum(axis=1) + Z**2 @ self._extra()
        spread += wide.noise * (new + self.fit_intercept / self.n_observations_)
        return wide.cut(confidence) * np.sqrt(spread)

    def summary(self, confidence: float = 0.95) -> Summary:
        """Posterior mean, standard deviation and central intervals of the slopes."""
        check.fraction(confidence=confidence)
        check_is_fitted(self)
        live, wide = self._live(), self._wide()
        sd, spread = np.zeros(self.n_features_in_), self._extra()
        sd[live] = np.sqrt(np.diag(self.sigma_))
        spread[live] += np.diag(wide.covariance)
        half = wide.cut(confidence) * np.sqrt(spread)
        note = "standard_error is the posterior standard deviation given the precisions found"
        return Summary(
            title=type(self).__name__,
            names=self._feature_names(),
            arrays=interval_table(self.coef_, sd, half),
            scalars={"intercept": self.intercept_, "noise_precision": float(self.alpha_)},
            notes=(*self._unfinished(), note, self._interval_note, EQUAL_NOISE),
        )

    @property
    def _converged(self) -> bool:
        return came_to_rest(self.history_, self.tol)

    def _unfinished(self) -> tuple[str, ...]:
        return () if self._converged else ("the iteration did not converge",)


def interval_table(mean: Array, sd: Array, half: Array) -> dict[str, Array]:
    """The columns of a summary: means, deviations, and the intervals ``mean`` -+ ``half``."""
    return {"estimate": mean, "standard_error": sd, "low": mean - half, "high": mean + half}


def gamma_parameters(model: BaseEstimator) -> None:
    """Check the parameters that the evidence models share."""
    check.whole(max_iter=model.max_iter)
    numbers = ("tol", "alpha_1", "alpha_2", "lambda_1", "lambda_2")
    check.non_negative(**{name: getattr(model, name) for name in numbers})
    switches = ("compute_score", "fit_intercept", "copy_X")
    check.boolean(**{name: getattr(model, name) for name in switches})
