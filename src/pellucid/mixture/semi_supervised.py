r"""A mixture with one Gaussian for each class, learnt from labelled and unlabelled rows.

Objective    sum_labelled w log pi_c N(x; mu_c, S_c) + u sum_unlabelled w log sum_c pi_c N(x; ..)
Start        the fit to the labelled rows alone
EM           E: r of an unlabelled row by Bayes' rule; a labelled row belongs to its class
             M: weighted shares, means and covariances, unlabelled rows counting u times
             u = 0 is the supervised fit; u < 1 trusts the labels more than the model

The labelled rows enter through their moments (N, mean, scatter of each class), so a round reads
the unlabelled rows only.

References: Nigam, McCallum, Thrun & Mitchell (2000).
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, check_labels, encode_labels, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray, Seed
from pellucid.core.loops.iterate import FitContext, strictly_below
from pellucid.core.loops.statistics import Moments, Rows, add_records, moments
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.mixture.gaussian import gaussians
from pellucid.mixture.gaussian.gaussian_mixture import GaussianMixture
from pellucid.mixture.gaussian.gaussians import CollapseError, Factors, Gaussians, Sums

FAR = 2.0  # standard deviations of a class by which unlabelled rows may move its mean unsaid


class HalfLabelled(NamedTuple):
    """Labelled rows as moments, unlabelled ones as they are (weights times u)."""

    known: list[Moments]  # of each class
    unknown: Rows | None
    structure: str
    reg: float


class LabelState(NamedTuple):
    """Where the fit stands: parameters and the E step at them."""

    step: int
    model: Gaussians
    sums: Sums


def labelled_sums(known: list[Moments], factors: Factors) -> Sums:
    """The sums of the labelled rows about the means in use, and their part of the objective."""
    N = np.array([m.weight for m in known])
    D = np.array([m.mean for m in known]) - factors.means
    A = np.array([m.scatter for m in known]) + N[:, None, None] * D[:, :, None] * D[:, None, :]
    if factors.dense:
        U = factors.root[:, :, : D.shape[1]]
        square = np.einsum("kst,ksu,ktu->k", A, *(2 * [np.broadcast_to(U, A.shape)]))
    else:
        A = np.diagonal(A, axis1=1, axis2=2)
        square = (factors.root * A).sum(axis=1)
    return Sums(N, N[:, None] * D, A, float((N * factors.const - 0.5 * square).sum()))


def expect(data: HalfLabelled, model: Gaussians) -> Sums:
    """The E step."""
    factors = gaussians.factors_of(model, data.structure)
    with single_threaded_blas():
        sums = labelled_sums(data.known, factors)
    if data.unknown is None:
        return sums
    return add_records(sums, gaussians.expectation(data.unknown, map_threads, factors))


def supervised(data: HalfLabelled) -> Gaussians:
    """The fit to the labelled rows alone."""
    N = np.array([m.weight for m in data.known])
    scatter = np.array([m.scatter for m in data.known])
    if data.structure not in ("full", "tied"):
        scatter = np.diagonal(scatter, axis1=1, axis2=2)
    means = np.array([m.mean for m in data.known])
    return Gaussians(N / N.sum(), means, gaussians.structured(scatter, N, data.structure, data.reg))


def moved(data: HalfLabelled, model: Gaussians) -> Array:
    """How far each class mean lies from the mean of its labels, in its standard deviations."""
    k, p = model.means.shape
    S = gaussians.full_covariances(model.covariances, data.structure, k, p)
    D = model.means - np.array([m.mean for m in data.known])
    return np.sqrt(np.einsum("kt,kt->k", D, np.linalg.solve(S, D[:, :, None])[:, :, 0]))


class SemiSupervisedMixture(Classifier):
    """A classifier with one Gaussian for each class that also learns from unlabelled rows.

    Parameters
    ----------
    covariance_type : str, default="full"
        As in ``GaussianMixture``.
    reg_covar : float, default=1e-6
        Added to the variances.
    unlabeled_weight : float, default=1.0
        How much an unlabelled row counts, ``>= 0``; 0 is the supervised fit.
    max_iter : int, default=200
        Most iterations.
    tol : float, default=1e-6
        Stop when the objective changes by less for each row; 0 runs ``max_iter`` rounds.
    random_state : ignored
        Nothing is drawn at random.

    Attributes
    ----------
    mixture_ : GaussianMixture
        Its components are the classes, in the order of ``classes_``.
    classes_ : ndarray
        The labels; ``-1`` (or ``"-1"`` among strings) marks a row without one.
    moved_ : ndarray of shape (n_classes,)
        How far the unlabelled rows moved each mean, in standard deviations of the class.
    n_iter_, converged_, history_
        Rounds, whether the last changed less than ``tol``, and one row for each.

    Examples
    --------
    >>> from pellucid import SemiSupervisedMixture
    >>> X = [[0.0], [0.6], [-0.5], [0.2], [5.0], [5.4], [4.5], [5.1]]
    >>> y = [0, 0, -1, -1, 1, 1, -1, -1]
    >>> model = SemiSupervisedMixture().fit(X, y)
    >>> model.mixture_.means_.ravel().round(3).tolist(), model.predict([[1.0]]).tolist()
    ([0.075, 5.0], [0])
    """

    def __init__(
        self,
        *,
        covariance_type: str = "full",
        unlabeled_weight: float = 1.0,
        reg_covar: float = 1e-6,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Seed = None,
    ) -> None:
        self.covariance_type = covariance_type
        self.unlabeled_weight = unlabeled_weight
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_target(self, y: ArrayLike, n: int) -> IntArray:
        """Codes of the sorted ``classes_``; -1 for rows without a label."""
        labels = check_labels(y, n, self)
        kind = labels.dtype.kind
        text = kind in "US" or (kind == "O" and all(isinstance(v, str) for v in labels))
        unlabelled = labels == ("-1" if text else -1)
        if unlabelled.any() and len(np.unique(labels[~unlabelled])) == 1:
            only = labels[~unlabelled][0]
            warn(f"y holds only -1 and {only}: -1 is taken as a class, not as a missing label")
            unlabelled = np.zeros(n, dtype=bool)
        if unlabelled.all():
            raise ValueError("y holds no class: every row is -1 (unlabelled)")
        self.classes_, known = encode_labels(labels[~unlabelled])
        codes = np.full(n, -1, dtype=np.intp)
        codes[~unlabelled] = known
        return codes

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: MaybeArray = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        check.non_negative(unlabeled_weight=self.unlabeled_weight, reg_covar=self.reg_covar)
        check.non_negative(tol=self.tol)
        check.whole(max_iter=self.max_iter)
        check.one_of(gaussians.STRUCTURES, covariance_type=self.covariance_type)
        rows = self._check_training(X, y, sample_weight)
        check.two_classes(self, len(self.classes_), rows.n_rows)
        data = self._data(rows)
        given: dict[str, Any] = {"X": X, "y": y, "sample_weight": sample_weight}
        context = FitContext(self, **given, max_steps=self.max_iter, attributes=self._attributes)
        try:
            start = supervised(data)
            begin = LabelState(0, start, expect(data, start))
            total = float(begin.sums.weight.sum())
            step = partial(self._step, data, total)
            limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": strictly_below(self.tol)}
            run = self._iterate(step, begin, **limits, record=_record, context=context)
        except CollapseError as error:
            name = "" if error.component is None else f"class {self.classes_[error.component]}: "
            raise ValueError(f"{name}{error}") from error
        self.mixture_ = self._attributes(run.state)["mixture_"]
        self.converged_ = run.converged
        self.moved_ = moved(data, run.state.model)
        self._say()
        return self

    def _data(self, rows: Rows) -> HalfLabelled:
        X, codes, w = rows.X, rows.y, np.ascontiguousarray(rows.w)
        known = []
        with single_threaded_blas():
            for c, label in enumerate(self.classes_):
                own = (codes == c) & (w > 0)
                if not own.any():
                    raise ValueError(f"class {label} has no row of positive weight")
                known.append(moments(X[own], w[own]))
        free = (codes < 0) & (w > 0)
        unknown = None
        if free.any() and self.unlabeled_weight > 0:
            unknown = Rows(X[free], None, self.unlabeled_weight * w[free])
        return HalfLabelled(known, unknown, self.covariance_type, float(self.reg_covar))

    @staticmethod
    def _step(data: HalfLabelled, total: float, state: LabelState) -> tuple[LabelState, float]:
        model = gaussians.maximise(state.model, state.sums, data.structure, reg=data.reg)
        sums = expect(data, model)
        return LabelState(state.step + 1, model, sums), abs(sums.value - state.sums.value) / total

    def _attributes(self, state: LabelState) -> dict[str, Any]:
        kind = self.covariance_type
        mixture = GaussianMixture.from_parameters(*state.model, covariance_type=kind)
        return {"mixture_": mixture, "n_iter_": state.step}

    def _say(self) -> None:
        far = np.flatnonzero(self.moved_ > FAR)
        if len(far):
            which = ", ".join(f"{self.classes_[c]} ({self.moved_[c]:.1f})" for c in far)
            far_off = f"moved the mean of class {which} standard deviations away from its labels"
            why = "the groups in the data may not be the classes; try a smaller unlabeled_weight"
            warn(f"unlabelled rows {far_off}: {why}")

    def predict_proba(self, X: ArrayLike) -> Array:
        """p(c | x), shape (n, K)."""
        rows = self._check_input(X)
        return self.mixture_.predict_proba(rows)

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log p(c | x), shape (n, K)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: ArrayLike) -> Any:
        """Predict for each row of ``X``."""
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        numbers: dict[str, Any] = {"classes": len(self.classes_), "features": self.n_features_in_}
        numbers |= {"rounds": self.n_iter_, "largest move of a mean": float(self.moved_.max())}
        return Card(
            f"argmax_c log pi_c + log N(x; mu_c, S_c), covariances {self.covariance_type}",
            "joint likelihood of the labelled rows and marginal likelihood of the unlabelled ones, "
            f"which count {self.unlabeled_weight:g} times",
            f"EM from the labelled fit, labels held; at most {self.max_iter} rounds or a change "
            f"below {self.tol:g}; {self.reg_covar:g} is added to the variances",
            numbers,
        )


def _record(state: LabelState) -> dict[str, Any]:
    return {"objective": state.sums.value, "log_likelihood": state.sums.value}
