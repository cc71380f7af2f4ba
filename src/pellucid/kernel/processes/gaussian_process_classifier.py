r"""Gaussian-process classification: a process behind a sigmoid, by Laplace's approximation.

Model        f ~ GP(0, k),   p(y = 1 | f) = 1/(1 + e^-f);   more classes: one against the rest, or
             one for every pair
Posterior    normal about its mode (``laplace.py``); probabilities integrate the sigmoid over it
Evidence     Laplace's Z is maximised over the numbers of k, from the kernel's own start and from
             ``n_restarts_optimizer`` random ones
Cost         n^3/3 a Newton step, some five to ten a mode; 2 n^3 more for a gradient

Reference: Rasmussen & Williams, Gaussian Processes for Machine Learning (2006), chapter 3.
"""

import time
from collections.abc import Callable
from copy import deepcopy
from itertools import combinations
from typing import Any, Self

import numpy as np
from sklearn.gaussian_process.kernels import RBF, CompoundKernel, ConstantKernel
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, check_labels, encode_labels, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import validate_data
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.loops.iterate import FitContext, History
from pellucid.core.records import Card
from pellucid.kernel.processes import hyperparameters, laplace
from pellucid.kernel.processes.covariance import Covariance
from pellucid.kernel.processes.evidence import threads_for
from pellucid.kernel.processes.hyperparameters import takes_vectors, theta_of, with_theta
from pellucid.kernel.processes.laplace import Mode, Problem


class GaussianProcessClassifier(Classifier):
    """Probabilities from a process of unknown form.

    Parameters
    ----------
    kernel : kernel or None, default=None
        Of ``sklearn.gaussian_process.kernels`` or ``pellucid.kernel``; its numbers are learned.
        None is ``1.0 * RBF(1.0)`` with these numbers kept.
    optimizer : {"fmin_l_bfgs_b"}, callable or None, default="fmin_l_bfgs_b"
        A callable takes ``(goal, theta, bounds=)`` and returns the best theta and its value; None
        keeps the numbers of the kernel.
    n_restarts_optimizer : int, default=0
        Further starts, log-uniform within the bounds.
    max_iter_predict : int, default=100
        Most Newton steps to a mode.
    warm_start : bool, default=False
        Begin at the modes of the last fit.
    copy_X_train : bool, default=True
        False keeps the caller's X.
    random_state : int, RandomState, Generator or None, default=None
        Of the restarts.
    multi_class : {"one_vs_rest", "one_vs_one"}, default="one_vs_rest"
        With pairs there are no probabilities.
    n_jobs : ignored
        The linear algebra has the threads.

    Attributes
    ----------
    kernel_ : the kernel found; one for each problem together where classes are more than two
    modes_ : list of records, one for each problem of two classes
    log_marginal_likelihood_value_ : float, the mean over the problems
    classes_, n_classes_ : labels
    X_train_ : the rows
    history_, n_iter_ : minus the evidence at each step of the search, or of Newton without one

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from pellucid import GaussianProcessClassifier
    >>> x = np.linspace(0, 6, 40)[:, None]
    >>> model = GaussianProcessClassifier(1.0 * RBF()).fit(x, np.sin(x[:, 0]) > 0)
    >>> model.predict([[1.5], [4.5]]), model.predict_proba([[np.pi]]).round(1)
    (array([ True, False]), array([[0.5, 0.5]]))
    """

    _squares_x = True

    def __init__(
        self,
        kernel: Covariance | None = None,
        *,
        optimizer: str | Callable[..., Any] | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        max_iter_predict: int = 100,
        warm_start: bool = False,
        copy_X_train: bool = True,
        random_state: Seed = None,
        multi_class: str = "one_vs_rest",
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.max_iter_predict = max_iter_predict
        self.warm_start = warm_start
        self.copy_X_train = copy_X_train
        self.random_state = random_state
        self.multi_class = multi_class
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Find the modes, and the kernel's numbers of each problem of two classes."""
        self._check_parameters()
        X, codes = self._training(X, y)
        check.two_classes(self, len(self.classes_), len(codes))
        self.n_classes_ = len(self.classes_)
        before = getattr(self, "modes_", []) if self.warm_start else []
        context = FitContext(self, X=X, y=y, max_steps=None)
        self.X_train_ = X.copy() if self.copy_X_train else X
        self.modes_: list[Mode] = []
        rows: list[dict[str, Any]] = []
        began = time.perf_counter()
        for i, (chosen, sign) in enumerate(self._problems(codes)):
            so_far = time.perf_counter() - began
            old = before[i].f if i < len(before) and len(before[i].f) == len(chosen) else None
            problem = Problem(self.X_train_[chosen], sign, self.max_iter_predict, old)
            with threads_for(len(chosen)):
                mode, history = self._solve(problem, chosen, context)
            self.modes_.append(mode)
            for row in history:
                own = {"problem": i, "step": len(rows) + 1, "seconds": so_far + row["seconds"]}
                rows.append({**row, **own})
        self.history_, self.n_iter_ = History(rows), max(len(rows), 1)
        self.log_marginal_likelihood_value_ = float(np.mean([m.value for m in self.modes_]))
        context.end()
        return self

    def _check_parameters(self) -> None:
        check.whole(at_least=0, n_restarts_optimizer=self.n_restarts_optimizer)
        check.whole(max_iter_predict=self.max_iter_predict)
        check.boolean(warm_start=self.warm_start, copy_X_train=self.copy_X_train)
        check.one_of(("one_vs_rest", "one_vs_one"), multi_class=self.multi_class)
        if isinstance(self.kernel, CompoundKernel):
            raise ValueError("kernel cannot be a CompoundKernel")
        hyperparameters.check_search(self.kernel, self.optimizer)

    def _training(self, X: Any, y: ArrayLike) -> tuple[Any, IntArray]:
        if takes_vectors(self.kernel):
            rows = self._check_training(X, y)
            return rows.X, rows.y
        X = validate_data(self, X, ensure_2d=False, dtype=None)
        self.classes_, codes = encode_labels(check_labels(y, len(X), self))
        return X, codes

    def _problems(self, codes: IntArray) -> list[tuple[IntArray, Array]]:
        """The rows of every problem of two classes, and which of them are of the second."""
        everyone, k = np.arange(len(codes)), self.n_classes_
        if k == 2:
            return [(everyone, codes.astype(np.float64))]
        if self.multi_class == "one_vs_rest":
            return [(everyone, (codes == c).astype(np.float64)) for c in range(k)]
        pairs = []
        for a, b in combinations(range(k), 2):
            chosen = np.flatnonzero((codes == a) | (codes == b))
            pairs.append((chosen, (codes[chosen] == b).astype(np.float64)))
        return pairs

    def _solve(
        self, problem: Problem, chosen: IntArray, context: FitContext
    ) -> tuple[Mode, History]:
        """One problem: the numbers of the kernel, then its mode."""
        fixed = ConstantKernel(1.0, "fixed") * RBF(1.0, "fixed")
        kernel = fixed if self.kernel is None else deepcopy(self.kernel)
        history = None
        if self.optimizer is not None and len(theta_of(kernel)):

            def goal(theta: Array, eval_gradient: bool = True) -> Any:
                value, slope, _ = problem.evaluate(with_theta(kernel, theta), eval_gradient)
                return -value if slope is None else (-value, -slope)

            found = hyperparameters.search(
                goal,
                kernel,
                self.optimizer,
                self.n_restarts_optimizer,
                self.random_state,
                context,
            )
            kernel, history = with_theta(kernel, found.theta), found.history
        value, _, at = problem.evaluate(kernel, False)
        if history is None:
            gaps = [None, *np.abs(np.diff(at.values)).tolist()]
            columns = zip(at.values, gaps, at.seconds, strict=True)
            history = History(
                [{"objective": -v, "gap": gap, "seconds": t} for v, gap, t in columns]
            )
            for i, row in enumerate(history, 1):
                context.step(i, at, row)
        return Mode(kernel, chosen, problem.y, at.pi, at.root, at.L, at.f, value), history

    @property
    def kernel_(self) -> Any:
        """The kernel found; with more than two classes those of all problems."""
        kernels = [mode.kernel for mode in self.modes_]
        if len(kernels) == 1:
            return kernels[0]
        own = hyperparameters.is_ours(kernels[0])
        return tuple(kernels) if own else CompoundKernel(kernels)

    @property
    def base_estimator_(self) -> Any:
        """What solves the problem of two classes; a list where there are several."""
        return self.modes_[0] if len(self.modes_) == 1 else self.modes_

    def log_marginal_likelihood(
        self, theta: ArrayLike | None = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Laplace's evidence at the logarithms ``theta`` of the kernel's numbers, and its gradient.

        With more classes it is the mean over the problems; theta may then be that of one kernel,
        taken for all, or those of all together, and there is no gradient.
        """
        check_is_fitted(self)
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return self.log_marginal_likelihood_value_
        theta = np.asarray(theta, dtype=np.float64)
        k, size = len(self.modes_), len(theta_of(self.modes_[0].kernel))
        if k > 1 and eval_gradient:
            raise NotImplementedError(
                "Gradient of log-marginal-likelihood not implemented for multi-class GPC."
            )
        if len(theta) not in (size, size * k):
            raise ValueError(
                f"Shape of theta must be either {size} or {size * k}. Obtained theta with shape "
                f"{len(theta)}."
            )
        parts = np.split(theta, k) if len(theta) != size else [theta] * k
        values = [self._evidence(i, t, eval_gradient, clone_kernel) for i, t in enumerate(parts)]
        return values[0] if eval_gradient else np.mean(values)

    def _evidence(self, i: int, theta: Array, eval_gradient: bool, clone_kernel: bool) -> Any:
        mode = self.modes_[i]
        kernel = with_theta(mode.kernel, theta)
        if not clone_kernel:
            self.modes_[i] = mode._replace(kernel=kernel)
        start = mode.f if self.warm_start else None
        problem = Problem(self.X_train_[mode.rows], mode.y, self.max_iter_predict, start)
        value, slope, _ = problem.evaluate(kernel, eval_gradient)
        return (value, slope) if eval_gradient else value

    def _query(self, X: Any) -> Any:
        if takes_vectors(self.kernel):
            return self._check_input(X)
        check_is_fitted(self)
        return validate_data(self, X, ensure_2d=False, dtype=None, reset=False)

    def latent_mean_and_variance(self, X: Any) -> tuple[Array, Array]:
        """Mean and variance of f at the rows; two classes only."""
        check_is_fitted(self)
        if len(self.modes_) > 1:
            raise ValueError(
                "Returning the mean and variance of the latent function f is only supported for "
                f"binary classification, received {self.n_classes_} classes."
            )
        return laplace.latent(self.modes_[0], self.X_train_, self._query(X))

    def _chances(self, X: Any) -> Array:
        """The probability of the second class in every problem."""
        found = [laplace.probability(*laplace.latent(m, self.X_train_, X)) for m in self.modes_]
        return np.column_stack(found)

    def predict(self, X: Any) -> Any:
        """The likeliest class of every row."""
        rows = self._query(X)
        if len(self.modes_) == 1:
            f, _ = laplace.latent(self.modes_[0], self.X_train_, rows)
            return self.classes_[(f > 0).astype(np.intp)]
        chances = self._chances(rows)
        if self.multi_class == "one_vs_one":
            from pellucid.kernel.svm.pairs import decided, pair_votes

            chances = decided(*pair_votes(0.5 - chances, self.n_classes_))
        return self.classes_[chances.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """Probabilities (n, n_classes); those of one against the rest are made to sum to 1."""
        check_is_fitted(self)
        if self.n_classes_ > 2 and self.multi_class == "one_vs_one":
            raise ValueError(
                "one_vs_one multi-class mode does not support predicting probability estimates. "
                "Use one_vs_rest mode instead."
            )
        chances = self._chances(self._query(X))
        if len(self.modes_) == 1:
            return np.hstack([1.0 - chances, chances])
        return chances / chances.sum(axis=1, keepdims=True)

    def _check_state(self) -> None:
        for mode in getattr(self, "modes_", ()):
            n = len(mode.rows)
            shapes = mode.y.shape == mode.pi.shape == mode.root.shape == mode.f.shape == (n,)
            inside = not n or (mode.rows.min() >= 0 and mode.rows.max() < len(self.X_train_))
            if not (shapes and inside and mode.L.shape == (n, n)):
                raise ValueError("the modes and X_train_ do not fit together")

    def card(self) -> Card:
        """The kernels found, their evidence and the search."""
        check_is_fitted(self)
        kernels = ", ".join(str(m.kernel) for m in self.modes_[:3])
        more = f" and {len(self.modes_) - 3} more" * (len(self.modes_) > 3)
        learned = self.optimizer is not None and len(theta_of(self.modes_[0].kernel)) > 0
        how = "L-BFGS-B on Laplace's evidence" if learned else "the numbers of the kernel are kept"
        return Card(
            representation=f"p(y = 1 | x) = sigmoid(f(x)), f ~ GP(0, k), k = {kernels}{more}",
            evaluation="Laplace's approximation of the log evidence",
            optimisation=f"{how}; Newton's method for each mode",
            numbers={
                "rows": len(self.X_train_),
                "problems of two classes": len(self.modes_),
                "log evidence, mean": self.log_marginal_likelihood_value_,
            },
        )
