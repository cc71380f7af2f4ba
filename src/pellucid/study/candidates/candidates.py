r"""Which models a study tries: one row per model, guessing and the linear baseline first.

A row names the public classes it needs and is taken as soon as all of them exist, so a new family
joins every study by one line here. Spaces list their values **simplest first**. Penalties are on
the scale of one row (``alpha = n lambda`` for ridge, ``C = 1 / (n lambda)`` for logistic
regression), because the features are standardised and the same lambda then means the same
stiffness for any n.

    complexity   0 guessing, 1 linear, 2 quadratic, splines, neighbours, trees, 4 ensembles and
                 kernels, 5 networks, 6 averages of several
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import pellucid
from pellucid.core.arrays import check
from pellucid.study.candidates.change import ChangeRegressor
from pellucid.study.candidates.guessing import guess_for
from pellucid.study.candidates.halving import portfolio
from pellucid.study.candidates.log_scale import LogScaleRegressor
from pellucid.study.candidates.ordered import OrderedClassifier
from pellucid.study.candidates.products import ProductClassifier, ProductRegressor
from pellucid.study.candidates.table_boosting import (
    TableBoosting,
    TableBoostingClassifier,
    TableBoostingRegressor,
)
from pellucid.study.records import Candidate, Task

AVERAGE = "average"  # of the others, once they are trained (``blend``)
JOINED = (AVERAGE, "stack")  # what is made of the others (``blend``, ``stacked``)
EFFORTS = ("quick", "standard", "thorough")
ONE_LABEL = ("binary", "multiclass")
NUMBER = ("regression", "ranking")
ONE_NUMBER = ("regression",)
MANY_NUMBERS = ("multi_output_regression",)
LAMBDAS = (10.0, 1.0, 0.1, 0.01, 1e-3, 1e-5)
MOST_CLASSES = 40  # that are compared pair by pair
MANY_ROWS = 50_000  # from here on models whose cost grows faster than n are left out


class Setting(NamedTuple):
    """What the choice of candidates may depend on; of the target only its scale and counts."""

    task: Task
    effort: str
    n: int  # learning rows
    p: int  # features
    n_classes: int
    least_class: int  # rows of the rarest class
    spread: float  # standard deviation of a number target
    texts: tuple[str, ...]  # text columns
    seed: int
    cost_matrix: Any = None
    level: float = 1.0  # mean of a number target
    lags: bool = False  # are there columns of the past?
    amounts: bool = False  # positive numbers that spread more the larger they are


Made = tuple[Any, dict[str, list[Any]]]  # estimator and space


class Entry(NamedTuple):
    """One row of the registry."""

    key: str
    name: str
    needs: tuple[str, ...]  # public classes
    kinds: tuple[str, ...]  # of task
    complexity: int
    effort: str  # the least effort at which it is tried
    make: Callable[[Setting], Made]
    reason: str
    when: Callable[[Setting], bool] = lambda s: True
    features: dict[str, Any] = {}  # noqa: RUF012  options of TableFeatures; never written to
    scaled: bool = True


def public(name: str) -> Any:
    """A public class by name; None while it does not exist."""
    home = pellucid._HOME.get(name)
    return None if home is None else getattr(import_module(f"pellucid.{home}"), name)


def _new(name: str, **options: object) -> Any:
    return public(name)(**options)


def _seeded(s: Setting, name: str, **options: object) -> Any:
    return _new(name, random_state=s.seed, **options)


def _guess(s: Setting) -> Made:
    return guess_for(s.task, s.cost_matrix), {}


def _ridge(s: Setting) -> Made:
    return _new("Ridge"), {"alpha": [s.n * value for value in LAMBDAS]}


def _logistic(s: Setting) -> Made:
    return _new("LogisticRegression", max_iter=500), {"C": [1 / (s.n * v) for v in LAMBDAS]}


def _ridge_products(s: Setting) -> Made:
    return ProductRegressor(), {"alpha": [s.n * value for value in LAMBDAS]}


def _logistic_products(s: Setting) -> Made:
    return ProductClassifier(), {"C": [1 / (s.n * value) for value in LAMBDAS[1:5]]}


def _lasso(s: Setting) -> Made:
    shares = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
    return _new("Lasso", max_iter=5000), {"alpha": [s.spread * share for share in shares]}


def _elastic(s: Setting) -> Made:
    """Of the two penalties only the absolute one is in units of the target: the mix follows."""
    shares = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
    both = s.spread + 1
    model = _new("ElasticNet", l1_ratio=s.spread / both, max_iter=5000)
    return model, {"alpha": [both * share for share in shares]}


def _lda(s: Setting) -> Made:
    return _new("LinearDiscriminantAnalysis", solver="lsqr"), {"shrinkage": [0.9, 0.5, 0.1, 0.01]}


def _rda(s: Setting) -> Made:
    model = _new("RegularizedDiscriminantAnalysis")
    if s.p >= s.least_class:  # one covariance for all, drawn towards a diagonal or round one
        return model, {"alpha": [0.0], "gamma": [0.95, 0.75, 0.5, 0.25]}
    return model, {"alpha": [0.25, 0.75], "gamma": [0.5, 0.1, 0.01]}


def _qda(s: Setting) -> Made:
    return _new("QuadraticDiscriminantAnalysis"), {"reg_param": [0.5, 0.1, 0.01]}


def _bayes(s: Setting) -> Made:
    return _new("GaussianNB"), {"var_smoothing": [0.1, 1e-3]}


def _diagonal(s: Setting) -> Made:
    return _new("GaussianNB", shared_variance=True), {"var_smoothing": [1.0, 0.1, 1e-3]}


def _word_bayes(s: Setting) -> Made:
    return _new("MultinomialNB"), {"alpha": [10.0, 1.0, 0.1]}


def _neighbours(kind: str) -> Callable[[Setting], Made]:
    def make(s: Setting) -> Made:
        sizes = [k for k in (51, 25, 11, 5, 1) if k <= max(1, s.n // 4)]
        return _new(f"KNeighbors{kind}"), {"n_neighbors": sizes}

    return make


def _tree(kind: str) -> Callable[[Setting], Made]:
    def make(s: Setting) -> Made:
        leaf = max(2, min(20, s.n // 50))
        model = _seeded(s, f"DecisionTree{kind}", min_samples_leaf=leaf)
        return model, {"max_depth": [1, 2, 3, 5, 8]}

    return make


def _forest(kind: str) -> Callable[[Setting], Made]:
    """Votes of pure leaves: tuning brings next to nothing."""

    def make(s: Setting) -> Made:
        return _trees(s, f"RandomForest{kind}"), {}

    return make


def _extra_trees(kind: str) -> Callable[[Setting], Made]:
    def make(s: Setting) -> Made:
        return _trees(s, f"ExtraTrees{kind}"), {}

    return make


def _trees(s: Setting, name: str) -> Any:
    leaf = 1 if s.n < MANY_ROWS else 20
    trees = 100 if s.effort != "thorough" else 300
    options: dict[str, Any] = {"n_estimators": trees, "min_samples_leaf": leaf}
    if name.endswith("Regressor"):
        options["max_features"] = 0.5 if s.p > 3 else 1.0
    return _seeded(s, name, **options)


def _boosting(kind: str) -> Callable[[Setting], Made]:
    """The settings are those of ``halving.portfolio``."""

    def make(s: Setting) -> Made:
        boosted = TableBoostingClassifier if kind == "Classifier" else TableBoostingRegressor
        model: Any = boosted(random_state=s.seed)
        if kind == "Regressor" and s.task.metric in ("mae", "median_ae"):
            model.set_params(loss="absolute_error")
        return model, {}

    return make


def _poisson(s: Setting) -> Made:
    """The curvature of a log link is the mean: so is the unit of the penalty."""
    return _new("PoissonRegressor", max_iter=500), {"alpha": [s.level * v for v in LAMBDAS]}


def _negative_binomial(s: Setting) -> Made:
    return _new("NegativeBinomialRegressor", max_iter=500), {"alpha": list(LAMBDAS)}


def _poisson_boosting(s: Setting) -> Made:
    model, space = _boosting("Regressor")(s)
    return model.set_params(loss="poisson"), space


def _ordinal(s: Setting) -> Made:
    inner = _new("OrdinalLogisticRegression", max_iter=200)
    space = {"estimator__C": [1 / (s.n * value) for value in LAMBDAS]}
    return OrderedClassifier(inner, list(s.task.order)), space


def _gamma(s: Setting) -> Made:
    return _new("GammaRegressor", max_iter=500), {"alpha": list(LAMBDAS)}


def _log_ridge(s: Setting) -> Made:
    inner, space = _ridge(s)
    return LogScaleRegressor(inner), {f"estimator__{name}": v for name, v in space.items()}


def _gamma_boosting(s: Setting) -> Made:
    model, space = _boosting("Regressor")(s)
    return model.set_params(loss="gamma"), space


def _ridge_change(s: Setting) -> Made:
    """The stiffest says the last value and the mean change."""
    space = {"estimator__regressor__alpha": [s.n * value for value in (1e3, 100.0, *LAMBDAS[:5])]}
    return ChangeRegressor(_new("ScaledRegressor", regressor=_new("Ridge"))), space


def _change(family: Callable[[str], Callable[[Setting], Made]]) -> Callable[[Setting], Made]:
    def make(s: Setting) -> Made:
        inner, space = family("Regressor")(s)
        return ChangeRegressor(inner), {f"estimator__{name}": v for name, v in space.items()}

    return make


def _svc(s: Setting) -> Made:
    return _new("SVC"), {"C": [0.1, 1.0, 10.0]}


def _svr(s: Setting) -> Made:
    """Tube and cost are in units of the target."""
    costs = [s.spread * value for value in (0.1, 1.0, 10.0)]
    return _new("SVR", epsilon=0.1 * s.spread), {"C": costs}


def _network(kind: str) -> Callable[[Setting], Made]:
    def make(s: Setting) -> Made:
        # networks take long to import
        from pellucid.study.candidates.unit_network import UnitNetwork

        kept: dict[str, Any] = {"max_iter": 300, "early_stopping": s.n >= 500}
        kept["random_state"] = s.seed
        model = UnitNetwork(**kept) if kind == "Regressor" else _new("MLPClassifier", **kept)
        return model, {"hidden_layer_sizes": [(8,), (32,), (32, 32)]}

    return make


def _per_label(outer: str) -> Callable[[Setting], Made]:
    def make(s: Setting) -> Made:
        inner, space = _logistic(s)
        options = {"random_state": s.seed} if outer == "ClassifierChain" else {}
        return _new(outer, estimator=inner, **options), {
            f"estimator__{name}": values for name, values in space.items()
        }

    return make


def _ranker(s: Setting) -> Made:
    return _new("PairwiseRanker"), {}


def _counted(s: Setting) -> bool:
    return s.task.nature == "counts" and s.level > 0


def _in_order(s: Setting) -> bool:
    return s.task.nature == "ordered"


def _grows(s: Setting) -> bool:
    return s.amounts


def _has_past(s: Setting) -> bool:
    return s.lags


def _few_rows(s: Setting) -> bool:
    return s.n < MANY_ROWS


def _room(s: Setting) -> bool:
    """Whether every class has rows enough for a covariance of its own."""
    return s.least_class > 2 * s.p and s.p <= 200


def _not_wide(s: Setting) -> bool:
    return s.p <= 2 * s.n and s.p <= 500


def _few_products(s: Setting) -> bool:
    """Whether the products of all pairs are affordable, and not more than the rows can bear."""
    return 1 < s.p <= 30 and s.p * (s.p + 3) // 2 <= s.n and _few_rows(s)


def _few_pairs(s: Setting) -> bool:
    """Support vectors are found for every pair of classes: 200 classes are 19,900 problems."""
    return s.n <= 5000 and s.n_classes <= MOST_CLASSES


def _narrow(s: Setting) -> bool:
    return s.p <= 300


def _boostable(s: Setting) -> bool:
    """Whether trees on all columns can be boosted in passable time, and have rows to grow on."""
    return s.p <= 500 or (s.p <= s.n and s.n * s.p <= 20_000_000)


def _has_text(s: Setting) -> bool:
    return bool(s.texts)


WIDE = "many columns for the rows: a penalty keeps the coefficients small"
WORDS = {  # key -> name: reason
    "guess": "guessing: what can be said without looking at the columns",
    "logistic": "logistic regression: the linear baseline for classes",
    "ridge": "ridge regression: the linear baseline for numbers",
    "poisson": "Poisson regression: linear on the log scale, for counts: never below 0",
    "negative_binomial": "negative binomial regression: "
    "as Poisson regression, for counts that spread more than Poisson counts",
    "ordinal": "ordinal logistic regression: one line for all steps from a label to the next",
    "gamma": "Gamma regression: "
    "linear on the log scale, for amounts that spread more the larger they are",
    "log_ridge": "ridge regression on the log scale: "
    "linear in the logarithm; the mean is predicted, by smearing",
    "lda": "linear discriminant analysis: linear, with the same spread in every class",
    "lasso": "lasso: linear, with few columns",
    "elastic_net": "elastic net: linear, with groups of related columns",
    "diagonal": "diagonal discriminant analysis: "
    "linear, columns taken one by one: for more columns than rows",
    "bayes": "naive Bayes: columns taken one by one: needs few rows",
    "word_bayes": "naive Bayes on words: the classic for texts",
    "rda": "regularised discriminant analysis: between linear and quadratic, shrunk",
    "qda": "quadratic discriminant analysis: a spread of its own for every class",
    "logistic_splines": "logistic regression on splines: smooth bends in every number",
    "ridge_splines": "ridge regression on splines: smooth bends in every number",
    "ridge_products": "ridge regression on products: squares, and what two columns do together",
    "logistic_products": "logistic regression on products: "
    "squares, and what two columns do together",
    "ridge_lags": "ridge regression with lags: linear, with the values known the moment before",
    "logistic_lags": "logistic regression with lags: "
    "linear, with the values known the moment before",
    "forest_lags": "random forest with lags: "
    "many trees, averaged, with the values known the moment before",
    "boosting_lags": "gradient boosting with lags: "
    "trees that mend each other's errors, with the values known the moment before",
    "neighbours": "nearest neighbours: rows like this one",
    "tree": "decision tree: a few questions in a row, easy to read",
    "forest": "random forest: many trees, averaged",
    "extra_trees": "extra-trees forest: many trees with random cuts, averaged",
    "boosting": "gradient boosting: trees that mend each other's errors",
    "gamma_boosting": "Gamma boosting: "
    "trees that mend each other's errors on the log scale, in shares of the size",
    "poisson_boosting": "Poisson boosting: "
    "trees that mend each other's errors on the log scale, for counts: never below 0",
    "svm": "support vector machine: a wide margin in a space of similarities",
    "network": "neural network: layers of weighted sums",
    "per_label": "logistic regression per label: every label by itself",
    "chain": "chain of logistic regressions: a label may lean on the labels before it",
    "pairwise": "pairwise ranking: learns which of two rows comes first",
}
EVERY = (*ONE_LABEL, "multilabel", *NUMBER, *MANY_NUMBERS)
REFERENCE, SPLINES, UNSCALED = {"reference": True}, {"knots": 5}, {"scale": False}
TEXT = {"words": "count", "only": "text"}
LOGISTIC, RDA = "LogisticRegression", "RegularizedDiscriminantAnalysis"
LAGS, RAW_LAGS = {"lags": True}, {"scale": False, "lags": True}
FOREST, CLASS_BOOSTED = "RandomForestRegressor", "HistGradientBoostingClassifier"
ORDINAL = "OrdinalLogisticRegression"
NEGATIVE, BOOSTED = "NegativeBinomialRegressor", "HistGradientBoostingRegressor"
PER_LABEL, CHAIN = f"MultiOutputClassifier {LOGISTIC}", f"ClassifierChain {LOGISTIC}"
Q, S, T = EFFORTS  # the least effort at which a model is tried


def _entry(
    key: str,
    needs: str,
    kinds: tuple[str, ...],
    complexity: int,
    effort: str,
    make: Callable[[Setting], Made],
    when: Callable[[Setting], bool] = lambda s: True,
    features: dict[str, Any] = {},  # noqa: B006  never written to
) -> Entry:
    """A row with its name and reason from WORDS."""
    name, reason = WORDS[key].split(": ", 1)
    if needs == "SVR":
        reason = "a tube in a space of similarities"
    classes, scaled = tuple(needs.split()), features.get("scale", True)
    return Entry(
        key, name, classes, kinds, complexity, effort, make, reason, when, features, scaled
    )


def _pair(
    key: str,
    family: str,
    complexity: int,
    effort: str,
    make: Callable[[str], Callable[[Setting], Made]],
    when: Callable[[Setting], bool],
    features: dict[str, Any] = {},  # noqa: B006  never written to
) -> tuple[Entry, Entry]:
    """The classifier and the regressor of a family."""
    one, two = "Classifier", "Regressor"
    rest = (when, features)
    return (
        _entry(key, family + one, ONE_LABEL, complexity, effort, make(one), *rest),
        _entry(key, family + two, NUMBER, complexity, effort, make(two), *rest),
    )


REGISTRY: tuple[Entry, ...] = (
    _entry("guess", "", EVERY, 0, Q, _guess),
    _entry("logistic", LOGISTIC, ONE_LABEL, 1, Q, _logistic),
    _entry("ridge", "Ridge", (*NUMBER, *MANY_NUMBERS), 1, Q, _ridge),
    *_pair("boosting", "HistGradientBoosting", 4, Q, _boosting, _boostable),
    _entry("poisson", "PoissonRegressor", ONE_NUMBER, 1, Q, _poisson, _counted),
    _entry("negative_binomial", NEGATIVE, ONE_NUMBER, 1, S, _negative_binomial, _counted),
    _entry("ordinal", ORDINAL, ("multiclass",), 1, Q, _ordinal, _in_order),
    _entry("gamma", "GammaRegressor", ONE_NUMBER, 1, Q, _gamma, _grows),
    _entry("log_ridge", "Ridge", ONE_NUMBER, 1, Q, _log_ridge, _grows),
    _entry("lda", "LinearDiscriminantAnalysis", ONE_LABEL, 1, Q, _lda, _narrow, REFERENCE),
    _entry("lasso", "Lasso", NUMBER, 1, S, _lasso),
    _entry("elastic_net", "ElasticNet", NUMBER, 1, S, _elastic, lambda s: s.p > 1),
    _entry("diagonal", "GaussianNB", ONE_LABEL, 1, Q, _diagonal, lambda s: not _narrow(s)),
    _entry("bayes", "GaussianNB", ONE_LABEL, 2, S, _bayes),
    _entry("word_bayes", "MultinomialNB", ONE_LABEL, 1, Q, _word_bayes, _has_text, TEXT),
    _entry("rda", RDA, ONE_LABEL, 2, S, _rda, lambda s: _narrow(s) and _few_rows(s), REFERENCE),
    _entry("qda", "QuadraticDiscriminantAnalysis", ONE_LABEL, 2, S, _qda, _room, REFERENCE),
    _entry("logistic_splines", LOGISTIC, ONE_LABEL, 2, S, _logistic, _not_wide, SPLINES),
    _entry("ridge_splines", "Ridge", NUMBER, 2, S, _ridge, _not_wide, SPLINES),
    _entry("ridge_products", "Ridge", NUMBER, 2, S, _ridge_products, _few_products),
    _entry("logistic_products", LOGISTIC, ("binary",), 2, S, _logistic_products, _few_products),
    _entry("logistic_products", LOGISTIC, ("multiclass",), 2, T, _logistic_products, _few_products),
    *_pair("neighbours", "KNeighbors", 2, S, _neighbours, lambda s: _few_rows(s) and s.p <= 50),
    *_pair("tree", "DecisionTree", 2, Q, _tree, lambda s: True, UNSCALED),
    _entry("poisson_boosting", BOOSTED, ONE_NUMBER, 4, S, _poisson_boosting, _counted),
    _entry("gamma_boosting", BOOSTED, ONE_NUMBER, 4, S, _gamma_boosting, _grows),
    *_pair("forest", "RandomForest", 4, S, _forest, lambda s: True),
    *_pair("extra_trees", "ExtraTrees", 4, S, _extra_trees, _few_rows),
    _entry("svm", "SVC", ONE_LABEL, 4, S, _svc, _few_pairs),
    _entry("svm", "SVR", NUMBER, 4, S, _svr, lambda s: s.n <= 5000),
    _entry("ridge_lags", "Ridge", ONE_NUMBER, 1, Q, _ridge_change, _has_past, RAW_LAGS),
    _entry("logistic_lags", LOGISTIC, ONE_LABEL, 1, Q, _logistic, _has_past, LAGS),
    _entry("forest_lags", FOREST, ONE_NUMBER, 4, S, _change(_forest), _has_past, RAW_LAGS),
    _entry("boosting_lags", BOOSTED, ONE_NUMBER, 4, S, _change(_boosting), _has_past, RAW_LAGS),
    _entry(
        "boosting_lags",
        CLASS_BOOSTED,
        ONE_LABEL,
        4,
        S,
        _boosting("Classifier"),
        _has_past,
        RAW_LAGS,
    ),
    *_pair("network", "MLP", 5, T, _network, _few_rows),
    _entry("per_label", PER_LABEL, ("multilabel",), 1, Q, _per_label("MultiOutputClassifier")),
    _entry("chain", CHAIN, ("multilabel",), 2, S, _per_label("ClassifierChain")),
    _entry("pairwise", "PairwiseRanker", ("ranking",), 1, Q, _ranker),
)


class Tried(NamedTuple):
    """A candidate with the options of its features."""

    candidate: Candidate
    features: dict[str, Any]
    portfolio: tuple[dict[str, Any], ...] = ()  # settings to race where there is no space


def find_candidates(setting: Setting, wanted: tuple[str, ...] | None = None) -> list[Tried]:
    """The candidates of a setting; guessing and a linear model are always among them.

    ``wanted`` restricts them by key; the guess stays, since everything is measured against it.
    """
    check.one_of(EFFORTS, effort=setting.effort)
    fitting = [e for e in REGISTRY if setting.task.kind in e.kinds and _exists(e)]
    if wanted is not None:
        known = sorted({e.key for e in fitting} | set(JOINED))
        for key in wanted:
            if key not in known:
                raise ValueError(
                    f"candidate {key!r} is not one of {', '.join(known)} for this task"
                    f"{check.hint(key, known)}"
                )
        chosen = [e for e in fitting if e.key in wanted or e.complexity == 0]
    else:
        most = EFFORTS.index(setting.effort)
        chosen = [e for e in fitting if EFFORTS.index(e.effort) <= most and e.when(setting)]
    return [_tried(entry, setting) for entry in chosen]


def _exists(entry: Entry) -> bool:
    return all(name in pellucid._HOME for name in entry.needs)


def _tried(entry: Entry, setting: Setting) -> Tried:
    estimator, space = entry.make(setting)
    reason = entry.reason
    if setting.p >= setting.n and entry.complexity == 1:
        reason = f"{reason}; {WIDE}"
    candidate = Candidate(
        entry.name, entry.key, estimator, space, entry.complexity, reason, entry.scaled
    )
    features = {key: value for key, value in entry.features.items() if key != "only"}
    if entry.features.get("only") == "text":
        features["columns"] = list(setting.texts)
    settings = portfolio(*_size(setting)) if isinstance(estimator, TableBoosting) else ()
    return Tried(candidate, features, settings)


def _size(s: Setting) -> tuple[int, int, int, str, int]:
    return s.n, s.p, s.n_classes, s.effort, s.seed
