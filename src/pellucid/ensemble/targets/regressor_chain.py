r"""A chain of regressors: each target is a feature of the targets after it.

    E[y_k | x, y_1 .. y_{k-1}]  fitted for k = 1 .. L in the given order

fit       link k learns target order_[k] from [x, earlier targets]: the true ones, or with ``cv``
          out-of-fold predictions, which err as much as those that prediction will use
predict   link k reads the predictions of the earlier links

With linear links, all columns and no penalty the chain predicts what separate fits predict: the
earlier predictions are linear in x already. It helps where links are not linear, or shrunk.

References: Spyromitros-Xioufis, Tsoumakas, Groves & Vlahavas (2016).
"""

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils._user_interface import _print_elapsed_time
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, Matrix, Seed
from pellucid.core.meta import fitted
from pellucid.core.records import Card
from pellucid.ensemble.labels.chain import Augmented, chain_order
from pellucid.ensemble.labels.one_vs_rest import inner_has
from pellucid.ensemble.targets.multi_output_regressor import MetaRegressor
from pellucid.ensemble.targets.target_blocks import OneTarget, count_targets, links


class RegressorChain(MetaRegressor):
    """Several targets, each predicted with the help of those before it.

    Parameters
    ----------
    estimator : regressor
        Cloned for each target.
    order : array-like of shape (L,), "random" or None, default=None
        The order of the targets in the chain; None: as the columns of y.
    cv : int, splitter, iterable or None, default=None
        None: links learn from the true earlier targets. Else from out-of-fold predictions.
    random_state : int, RandomState or None, default=None
        For ``order="random"``.
    verbose : bool, default=False
        Print the time of each link.

    Attributes
    ----------
    estimators_ : list of fitted estimators
        In the order of the chain.
    order_ : ndarray of shape (L,)

    Examples
    --------
    >>> from pellucid import DecisionTreeRegressor, RegressorChain
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 10], [0, 10], [1, 20], [1, 20]]
    >>> RegressorChain(DecisionTreeRegressor(max_depth=1)).fit(X, Y).predict([[2.4]]).tolist()
    [[1.0, 20.0]]
    """

    _tells_itself = True  # about each link

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        order: ArrayLike | Literal["random"] | None = None,
        cv: Folds = None,
        random_state: Seed = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, Y: Matrix, **fit_params: Any) -> Self:
        """Fit one link per target; ``fit_params``, such as ``sample_weight``, go to the links."""
        check.boolean(verbose=self.verbose)
        weight = fit_params.pop("sample_weight", None)
        X, n, params, context = self._begin(X, Y, weight, fit_params, open_door=True)
        Y = self._open_targets(Y, n)
        L = Y.shape[1]
        if self.cv is not None:
            self._refuse_cells(X)
        self.order_ = chain_order(self.order, L, self.random_state)
        self.estimators_, self.n_rows_ = [], n
        table = Augmented(X, L)
        for link, j in enumerate(self.order_):
            y = np.ascontiguousarray(Y[:, j])
            message = f"({link + 1} of {L}) Processing order {j}"
            with _print_elapsed_time("Chain", message if self.verbose else None):
                model = fitted(clone(self.estimator), table.table(), y, **params)
                if link + 1 < L:
                    table.add(y if self.cv is None else self._held_out(table.table(), y, params))
            self.estimators_.append(model)
        context.end()
        return self

    @inner_has("fit_blocks")
    def fit_blocks(self, blocks: Any, *, backend: Any = None) -> Self:
        """Fit on ``pellucid.data.blocks(..., target=[...])``, one link after the other."""
        check.boolean(verbose=self.verbose)
        if self.cv is not None:
            raise ValueError(
                "fit_blocks needs cv=None: out-of-fold predictions of all rows would be held in "
                "memory"
            )
        L = count_targets(self, blocks, backend)
        self.order_, self.n_rows_ = chain_order(self.order, L, self.random_state), blocks.n_rows
        self.estimators_ = []
        for j, earlier in links(self.order_):
            message = f"({len(earlier) + 1} of {L}) Processing order {j}"
            with _print_elapsed_time("Chain", message if self.verbose else None):
                source = OneTarget(blocks, j, earlier)
                model = clone(self.estimator).fit_blocks(source, backend=backend)
            self.estimators_.append(model)
        return self

    def _held_out(self, X: Matrix, y: Array, params: dict[str, Any]) -> Array:
        """What the later links learn from where ``cv`` is given."""
        return cross_val_predict(self.estimator, X, y, cv=self.cv, params=params or None)

    def predict(self, X: ArrayLike) -> Array:
        """The numbers predicted for each row, (n, L)."""
        table = Augmented(self._open(X, reset=False), len(self.estimators_))
        found: list[Any] = [None] * len(self.estimators_)
        for model, j in zip(self.estimators_, self.order_, strict=True):
            found[j] = np.asarray(model.predict(table.table()))
            table.add(found[j])
        return np.column_stack(found)

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "order_") and sorted(self.order_.tolist()) != list(
            range(len(self.estimators_))
        ):
            raise ValueError("order_ must name each of the estimators_ once")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        L, p = len(self.estimators_), self.n_features_in_
        source = "true values" if self.cv is None else "out-of-fold predictions"
        return Card(
            representation=f"one {type(self.estimator).__name__} per target, reading x and the "
            "predictions of the earlier targets",
            evaluation=f"that of the inner estimator, given the {source} of the earlier targets",
            optimisation=f"{L} fits of all {self.n_rows_} rows with {p} to {p + L - 1} columns, "
            "one after the other",
            numbers={"targets": L, "fits": L, "rows per fit": self.n_rows_},
        )
