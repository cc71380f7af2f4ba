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

from typing import Any

from pellucid.ensemble.forest.classifier import ForestClassifier
from pellucid.ensemble.forest.regressor import ForestRegressor


class ExtraTreesClassifier(ForestClassifier):
    """A committee of classification trees with random thresholds, each on all rows.

    ``sample_weight``, NaN, categories and threads as in ``RandomForestClassifier``.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : str or SplitSearch, default="gini"
        "gini", "entropy", "log_loss" or "misclassification".
    max_depth : int, default=None
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
    min_weight_fraction_leaf : float, default=0.0
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Features of which one threshold is drawn in each node.
    max_leaf_nodes : int, default=None
    min_impurity_decrease : float, default=0.0
    bootstrap : bool, default=False
        True: every tree draws its rows with replacement.
    oob_score : bool or callable, default=False
        Needs ``bootstrap=True``.
    n_jobs : int, default=None
    random_state : int, RandomState, Generator or None, default=None
    verbose : int, default=0
        Accepted without effect.
    warm_start : bool, default=False
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
    ccp_alpha : float, default=0.0
    max_samples : int, float or None, default=None
    monotonic_cst : array-like of -1, 0, 1, default=None
    sampling : "bootstrap", Bootstrap, Disjoint or None, default="bootstrap"
        The default leaves it to ``bootstrap``.
    categorical_features : "from_dtype", mask, column numbers, names or None
    interaction_cst : sequence of sets of column numbers, "pairwise", "no_interactions" or None

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
        criterion: Any = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        sampling: Any = "bootstrap",
        categorical_features: Any = "from_dtype",
        interaction_cst: Any = None,
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
    max_depth : int, default=None
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
    min_weight_fraction_leaf : float, default=0.0
    max_features : int, float, "sqrt", "log2" or None, default=1.0
        Features of which one threshold is drawn in each node.
    max_leaf_nodes : int, default=None
    min_impurity_decrease : float, default=0.0
    bootstrap : bool, default=False
        True: every tree draws its rows with replacement; ``return_std`` needs it.
    oob_score : bool or callable, default=False
    n_jobs : int, default=None
    random_state : int, RandomState, Generator or None, default=None
    verbose : int, default=0
        Accepted without effect.
    warm_start : bool, default=False
    ccp_alpha : float, default=0.0
    max_samples : int, float or None, default=None
    monotonic_cst : array-like of -1, 0, 1, default=None
    sampling : "bootstrap", Bootstrap, Disjoint or None, default="bootstrap"
    categorical_features : "from_dtype", mask, column numbers, names or None
    interaction_cst : sequence of sets of column numbers, "pairwise", "no_interactions" or None

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
        criterion: Any = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        sampling: Any = "bootstrap",
        categorical_features: Any = "from_dtype",
        interaction_cst: Any = None,
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
