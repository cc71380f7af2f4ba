r"""Extremely randomised trees: forests whose thresholds are drawn, not searched for.

Model        mean of B trees on all rows; at every node ``max_features`` columns are drawn, one
             threshold in each, uniform between the least and the largest value of the node's
             rows; the best of these few questions is asked. A column of categories sends every
             level left or right by the toss of a coin
Why          random thresholds lower the correlation of the trees further than drawn columns do
             (``variance_of_average``), at the price of a little bias; nothing is searched, so that
             a node costs its rows once per column
Otherwise    as ``forest``: votes, out-of-bag evidence (``bootstrap=True``), proximities

References: Geurts, Ernst & Wehenkel (2006).
"""

from collections.abc import Callable
from typing import Literal

from pellucid.core.arrays.typing import ArrayLike, Seed
from pellucid.core.runtime.stand_ins import stands_for
from pellucid.ensemble.boosting.growth_limits import Interactions
from pellucid.ensemble.committees.bootstrap import Sampling
from pellucid.ensemble.forest.classifier import ForestClassifier, Weights
from pellucid.ensemble.forest.regressor import ForestRegressor
from pellucid.tree.splits import SplitSearch


class ExtraTreesClassifier(ForestClassifier):
    """A committee of classification trees with random thresholds, each on all rows.

    ``sample_weight``, NaN, categories and threads as in ``RandomForestClassifier``.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : str or SplitSearch, default="gini"
        "gini", "entropy", "log_loss" or "misclassification".
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Features of which one threshold is drawn in each node.
    bootstrap : bool, default=False
        True: every tree draws its rows with replacement.
    oob_score : bool or callable, default=False
        Needs ``bootstrap=True``.
    sampling : "bootstrap", Bootstrap, Disjoint or None, default="bootstrap"
        The default leaves it to ``bootstrap``.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, \
min_impurity_decrease, n_jobs, random_state, verbose, warm_start, class_weight, ccp_alpha, \
max_samples, monotonic_cst, categorical_features, interaction_cst
        As in ``RandomForestClassifier``.

    Attributes
    ----------
    forest_, estimators_, estimators_samples_, classes_, n_classes_, n_outputs_
        As in ``RandomForestClassifier``.
    feature_importances_, raw_importances_ : ndarray of shape (n_features,)
    oob_score_, oob_decision_function_, oob_curve_
        With ``oob_score``.

    Examples
    --------
    >>> from pellucid import ExtraTreesClassifier
    >>> X, y = [[i] for i in range(20)], ["low"] * 10 + ["high"] * 10
    >>> ExtraTreesClassifier(50, random_state=0).fit(X, y).predict([[2], [17]]).tolist()
    ['low', 'high']
    """

    _splitter = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str | SplitSearch = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | Literal["sqrt", "log2"] | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Weights = None,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: ArrayLike | None = None,
        sampling: Sampling = "bootstrap",
        categorical_features: ArrayLike | None = "from_dtype",
        interaction_cst: Interactions = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.sampling = sampling
        self.categorical_features = categorical_features
        self.interaction_cst = interaction_cst


class ExtraTreesRegressor(ForestRegressor):
    """A committee of regression trees with random thresholds, each on all rows.

    ``sample_weight``, NaN, categories and threads as in ``RandomForestRegressor``.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : str or SplitSearch, default="squared_error"
        "squared_error", "absolute_error", "poisson" or "friedman_mse" (= squared_error).
    max_features : int, float, "sqrt", "log2" or None, default=1.0
        Features of which one threshold is drawn in each node.
    bootstrap : bool, default=False
        True: every tree draws its rows with replacement; ``return_std`` needs it.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, \
min_impurity_decrease, oob_score, n_jobs, random_state, verbose, warm_start, ccp_alpha, \
max_samples, monotonic_cst, sampling, categorical_features, interaction_cst
        As in ``ExtraTreesClassifier``.

    Attributes
    ----------
    forest_, estimators_, estimators_samples_, feature_importances_, raw_importances_
        As in ``RandomForestRegressor``.
    oob_score_, oob_prediction_, oob_curve_
        With ``oob_score``.

    Examples
    --------
    >>> from pellucid import ExtraTreesRegressor
    >>> X, y = [[i] for i in range(20)], [0.0] * 10 + [1.0] * 10
    >>> ExtraTreesRegressor(50, random_state=0).fit(X, y).predict([[2], [17]]).tolist()
    [0.0, 1.0]
    """

    _splitter = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str | SplitSearch = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | Literal["sqrt", "log2"] | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: ArrayLike | None = None,
        sampling: Sampling = "bootstrap",
        categorical_features: ArrayLike | None = "from_dtype",
        interaction_cst: Interactions = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.sampling = sampling
        self.categorical_features = categorical_features
        self.interaction_cst = interaction_cst


stands_for("sklearn.ensemble", ExtraTreesClassifier)
stands_for("sklearn.ensemble", ExtraTreesRegressor)
