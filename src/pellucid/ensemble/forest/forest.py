r"""Random forests: bagged trees that see a random part of the features at every node.

Model        mean of B trees; each on N rows drawn with replacement from N, every split the best
             among ``max_features`` columns drawn anew at its node
Why          trees of small bias and large variance s^2, correlation r: the variance of the mean
             is r s^2 + (1 - r) s^2 / B; drawing columns lowers r (``variance_of_average``)
Classes      ``classifier.py``: probability = mean of the trees' leaf shares
Numbers      ``regressor.py``: mean, standard error, quantiles and intervals
Out of bag   row i is judged by the trees that have not seen it: an error estimate without a
             second fit
Algorithm    ``growing.py``: columns coded once, trees in threads. O(B n log n max_features)

References: Breiman (2001); ESL, chapter 15.
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

__all__ = ["RandomForestClassifier", "RandomForestRegressor"]


class RandomForestClassifier(ForestClassifier):
    """A committee of classification trees, each on its own bootstrap and random features.

    Trees grow on coded columns: exactly up to 4096 rows, in at most 255 bins per column beyond
    (``criterion`` misclassification, several outputs, ``monotonic_cst`` and ``max_leaf_nodes``
    always exactly). ``sample_weight`` equals repetition (weights that are not whole are chances
    of being drawn), NaN is accepted, the forest is the same for any ``n_jobs``.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : str or SplitSearch, default="gini"
        "gini", "entropy", "log_loss" or "misclassification".
    max_depth : int, default=None
        Levels of questions at most.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Distinct rows that a node needs to be split, and that each side must keep.
    min_weight_fraction_leaf : float, default=0.0
        Share of the weight that each side of a split must keep.
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Features looked at in each node.
    max_leaf_nodes : int, default=None
        Grow the best leaf first until there are so many.
    min_impurity_decrease : float, default=0.0
        What a split must gain at least.
    bootstrap : bool, default=True
        False: every tree sees all rows.
    oob_score : bool or callable, default=False
        Judge each row by the trees that have not seen it; a callable ``score(y, answer)``.
    n_jobs : int, default=None
        Threads; None: as many as ``pellucid`` may use.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the drawn rows and columns.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    warm_start : bool, default=False
        Keep the trees of the fit before and add the missing ones.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
        What each class counts; "balanced" makes classes count alike, in all rows or in each draw.
    ccp_alpha : float, default=0.0
        Cost of a leaf in cost-complexity pruning.
    max_samples : int, float or None, default=None
        Rows that each tree draws.
    monotonic_cst : array-like of -1, 0, 1, default=None
        Columns along which the answer may only rise (1) or fall (-1).
    sampling : "bootstrap", Bootstrap, Disjoint or None, default="bootstrap"
        What each tree sees; wins over ``bootstrap`` and ``max_samples`` when not the default.
    categorical_features : "from_dtype", mask, column numbers, names or None
        Columns that are split as categories.
    interaction_cst : sequence of sets of column numbers, "pairwise", "no_interactions" or None
        As in ``DecisionTreeClassifier``.

    Attributes
    ----------
    forest_ : Forest
        All nodes of all trees in flat arrays.
    estimators_ : list of DecisionTreeClassifier
    estimators_samples_ : list of row numbers, with repetition
    classes_, n_classes_, n_outputs_, n_features_in_, feature_names_in_
    feature_importances_, raw_importances_ : ndarray of shape (n_features,)
    oob_score_, oob_decision_function_, oob_curve_
        With ``oob_score``: accuracy, class shares (n, K), error after 1, 2, ... trees.

    Examples
    --------
    >>> from pellucid import RandomForestClassifier
    >>> X, y = [[i] for i in range(20)], ["low"] * 10 + ["high"] * 10
    >>> model = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    >>> model.predict([[2], [17]]).tolist(), model.oob_score_ > 0.8
    (['low', 'high'], True)
    >>> model.vote_counts([[2]]).tolist()
    [[0, 50]]
    """

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
        bootstrap: bool = True,
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


class RandomForestRegressor(ForestRegressor):
    """A committee of regression trees, each on its own bootstrap and random features.

    Growth, weights, NaN and threads as in ``RandomForestClassifier``.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : str or SplitSearch, default="squared_error"
        "squared_error", "absolute_error", "poisson" or "friedman_mse" (= squared_error).
    max_features : int, float, "sqrt", "log2" or None, default=1.0
        Features looked at in each node.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, \
min_impurity_decrease, bootstrap, oob_score, n_jobs, random_state, verbose, warm_start, \
ccp_alpha, max_samples, monotonic_cst, sampling, categorical_features, interaction_cst
        As in ``RandomForestClassifier``.

    Attributes
    ----------
    forest_, estimators_, estimators_samples_, feature_importances_, raw_importances_
        As in ``RandomForestClassifier``.
    leaf_rows_, targets_
        The training rows of every leaf and the training targets, for ``predict_quantiles``.
    oob_score_, oob_prediction_, oob_curve_
        With ``oob_score``: R squared, answers, mean squared error after 1, 2, ... trees.

    Examples
    --------
    >>> from pellucid import RandomForestRegressor
    >>> X, y = [[i] for i in range(20)], [0.0] * 10 + [1.0] * 10
    >>> model = RandomForestRegressor(50, random_state=0).fit(X, y)
    >>> model.predict([[2], [17]]).tolist()
    [0.0, 1.0]
    >>> model.predict_quantiles([[2]], [0.1, 0.9]).tolist()
    [[0.0, 0.0]]
    >>> model.predict_interval([[2]], model.calibrate_intervals(X, y, confidence=0.8)).tolist()
    [[0.0, 0.0]]
    """

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
        bootstrap: bool = True,
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


stands_for("sklearn.ensemble", RandomForestClassifier)
stands_for("sklearn.ensemble", RandomForestRegressor)
