"""The registry, intervals, rates and tables against scikit-learn, statsmodels and SciPy."""

import json
import pickle

import numpy as np
import pytest
import sklearn.metrics as sm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from statsmodels.stats.proportion import proportion_confint

from pellucid.data import make_exponential
from pellucid.evaluation import (
    MetricTable,
    best_threshold,
    classification_metrics,
    clustering_metrics,
    confusion_table,
    mean_cost,
    mean_interval,
    metric_interval,
    multilabel_metrics,
    proportion_interval,
    ranking_metrics,
    rates,
    regression_metrics,
    resolve_metric,
    threshold_curve,
)
from pellucid.evaluation.metrics.metrics import predictions_for, task_of
from pellucid.evaluation.metrics.registry import METRICS


@pytest.fixture(scope="module")
def binary():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=300)
    s = np.round(1 / (1 + np.exp(-rng.normal(size=300) - 1.5 * (y - 0.5))), 2)
    return y, (s > 0.5).astype(int), s


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, size=400)
    raw = np.exp(rng.normal(size=(400, 3)) + np.eye(3)[y])
    P = raw / raw.sum(axis=1, keepdims=True)
    return y, P.argmax(axis=1), P


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(2)
    y = rng.normal(size=120)
    return y, y + rng.exponential(size=120) - 1


# --- the catalogue's examples ----------------------------------------------------------------


def test_example_1_rates_and_proportions():
    r = rates(8, 2, 30, 60)
    assert_allclose(
        [r.accuracy, r.rebalanced_accuracy, r.balanced_accuracy, r.precision, r.recall],
        [0.68, 0.7333333333, 0.7333333333, 0.2105263158, 0.8],
        atol=1e-10,
    )
    assert_allclose([r.specificity, r.f_beta, r.mcc], [2 / 3, 1 / 3, 0.2884299752], atol=1e-10)
    assert_allclose(rates(8, 2, 30, 60, beta=0.5).f_beta, 0.2469135802, atol=1e-10)
    assert_allclose(rates(8, 2, 30, 60, beta=2).f_beta, 0.5128205128, atol=1e-10)
    assert_allclose(proportion_interval(68, 100)[1:3], [0.5833738139, 0.7633085268], atol=1e-10)
    assert_allclose(proportion_interval(17, 20)[1:3], [0.6395811353, 0.9476312541], atol=1e-10)
    exact = proportion_interval(17, 20, method="exact")
    assert_allclose(exact[1:3], [0.6210731735, 0.9679290628], atol=1e-10)
    assert_allclose(proportion_interval(0, 10)[1:3], [0, 0.2775327999], atol=1e-10)


def test_example_2_three_classes():
    C = np.array([[5, 1, 0], [2, 6, 2], [0, 1, 3]])
    y = np.repeat(np.arange(3), C.sum(axis=1))
    p = np.concatenate([np.repeat(np.arange(3), row) for row in C])
    table = classification_metrics(y, p)
    assert_array_equal(table.confusion.counts, C)
    precision = [table.per_class[k]["precision"].estimate for k in range(3)]
    recall = [table.per_class[k]["recall"].estimate for k in range(3)]
    assert_allclose(precision, [5 / 7, 0.75, 0.6])
    assert_allclose(recall, [5 / 6, 0.6, 0.75])
    assert_allclose(table["accuracy"].estimate, 0.7)
    assert_allclose(table["f1"].estimate, 0.7008547009, atol=1e-10)


def test_example_3_regression():
    table = regression_metrics([1, 3, 5], [1, 2, 3])
    assert_allclose(table["rmse"].estimate, 1.2909944487, atol=1e-10)


def test_example_3_make_exponential():
    X, y = make_exponential()
    fitted = LinearRegression().fit(np.reshape(X, (len(y), -1)), y)
    table = regression_metrics(y, fitted.predict(np.reshape(X, (len(y), -1))))
    assert_allclose(table["mse"].estimate, 384.325983, atol=1e-5)
    assert_allclose(table["nrmse"].estimate, 0.458122, atol=1e-6)
    assert_allclose(table["r2"].estimate, 0.790124, atol=1e-6)


def test_example_4_mean_of_fold_scores():
    found = mean_interval([0.90, 0.85, 0.88, 0.92, 0.87])
    assert_allclose(found[:3], [0.884, 0.8504521, 0.9175479], atol=1e-7)
    assert_allclose(found.standard_error**2, 1.46e-4, atol=1e-10)


def test_example_11_costs():
    truth = ["healthy"] * 9 + ["sick"]
    called = ["sick"] * 3 + ["healthy"] * 7
    assert mean_cost(truth, called, [[0, 10], [60, 0]]) == 9
    with pytest.raises(ValueError, match="square"):
        mean_cost(truth, called, [[0, 10, 1], [60, 0, 1]])
    with pytest.raises(ValueError, match=">= 0"):
        mean_cost(truth, called, [[0, -10], [60, 0]])


# --- proportions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"), [("wilson", "wilson"), ("exact", "beta"), ("normal", "normal")]
)
@pytest.mark.parametrize(("s", "n"), [(0, 7), (3, 7), (7, 7), (480, 1000)])
def test_proportions_agree_with_statsmodels(ours, theirs, s, n):
    found = proportion_interval(s, n, confidence=0.9, method=ours)
    assert_allclose(found[1:3], proportion_confint(s, n, alpha=0.1, method=theirs), atol=1e-12)


def test_hoeffding_is_clipped():
    found = proportion_interval(1, 4, method="hoeffding")
    assert found.low == 0
    assert found.high == pytest.approx(0.25 + np.sqrt(np.log(40) / 8))


@pytest.mark.parametrize(
    ("s", "n", "message"), [(1, 0, "n must be > 0"), (3, 2, "at most"), (-1, 2, ">= 0")]
)
def test_bad_proportions(s, n, message):
    with pytest.raises(ValueError, match=message):
        proportion_interval(s, n)


def test_one_value_has_no_interval():
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(mean_interval([3.0]).low)
    with pytest.raises(ValueError, match="empty"):
        mean_interval([])


# --- points against scikit-learn -------------------------------------------------------------

LABEL_TWINS = {
    "accuracy": sm.accuracy_score,
    "balanced_accuracy": sm.balanced_accuracy_score,
    "precision": sm.precision_score,
    "recall": sm.recall_score,
    "f1": sm.f1_score,
    "mcc": sm.matthews_corrcoef,
    "kappa": sm.cohen_kappa_score,
    "hamming": sm.hamming_loss,
}
SCORE_TWINS = {
    "roc_auc": sm.roc_auc_score,
    "average_precision": sm.average_precision_score,
    "log_loss": sm.log_loss,
    "brier": sm.brier_score_loss,
}
NUMBER_TWINS = {
    "mse": sm.mean_squared_error,
    "rmse": sm.root_mean_squared_error,
    "r2": sm.r2_score,
    "mae": sm.mean_absolute_error,
    "median_ae": sm.median_absolute_error,
}


@pytest.mark.parametrize("name", list(LABEL_TWINS))
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_agree_with_scikit_learn(name, weighted, binary):
    y, p, _ = binary
    w = np.random.default_rng(3).random(len(y)) if weighted else None
    ours = resolve_metric(name).score(y, p, w)
    assert_allclose(ours, LABEL_TWINS[name](y, p, sample_weight=w), atol=1e-12)
    names = np.array(["no", "yes"])
    assert_allclose(resolve_metric(name).score(names[y], names[p], w), ours)


@pytest.mark.parametrize("name", list(SCORE_TWINS))
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_agree_with_scikit_learn(name, weighted, binary):
    y, _, s = binary
    w = np.random.default_rng(3).random(len(y)) if weighted else None
    assert_allclose(
        resolve_metric(name).score(y, s, w), SCORE_TWINS[name](y, s, sample_weight=w), atol=1e-12
    )


@pytest.mark.parametrize("name", list(NUMBER_TWINS))
@pytest.mark.parametrize("outputs", [1, 2])
def test_numbers_agree_with_scikit_learn(name, outputs, numbers):
    y, p = numbers
    if outputs == 2:
        y, p = np.column_stack([y, y**2]), np.column_stack([p, y])
    assert_allclose(resolve_metric(name).score(y, p), NUMBER_TWINS[name](y, p), atol=1e-12)


def test_three_classes_agree_with_scikit_learn(three):
    y, p, P = three
    table = classification_metrics(y, p, P)
    expected = {
        "precision": sm.precision_score(y, p, average="macro"),
        "recall": sm.recall_score(y, p, average="macro"),
        "f_beta": sm.f1_score(y, p, average="macro"),
        "precision_micro": sm.precision_score(y, p, average="micro"),
        "precision_weighted": sm.precision_score(y, p, average="weighted"),
        "f_beta_weighted": sm.f1_score(y, p, average="weighted"),
        "mcc": sm.matthews_corrcoef(y, p),
        "kappa": sm.cohen_kappa_score(y, p),
        "roc_auc": sm.roc_auc_score(y, P, multi_class="ovr"),
        "average_precision": sm.average_precision_score(np.eye(3)[y], P),
        "log_loss": sm.log_loss(y, P),
        "log_loss_sum": sm.log_loss(y, P, normalize=False),
        "brier": sm.brier_score_loss(y, P),
    }
    for name, value in expected.items():
        assert_allclose(table[name].estimate, value, atol=1e-12, err_msg=name)
        assert table[name].low <= value <= table[name].high, name


@pytest.mark.parametrize("name", sm.get_scorer_names())
def test_every_scikit_learn_scorer_resolves(name):
    metric = resolve_metric(name)
    assert metric.needs in ("labels", "scores", "probabilities")
    assert not metric.name.startswith("neg_")


@pytest.mark.parametrize(
    "name", ["f1_macro", "roc_auc_ovr", "neg_log_loss", "jaccard_weighted", "balanced_accuracy"]
)
def test_scorers_give_scikit_learns_numbers(name, three):
    X, y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    model = LogisticRegression().fit(X, y)
    metric, scorer = resolve_metric(name), sm.get_scorer(name)
    sign = 1 if metric.greater_is_better else -1
    assert_allclose(metric.evaluate(model, X, y), sign * scorer(model, X, y), atol=1e-12)


def test_defaults_and_tasks():
    assert resolve_metric(None, "regression").name == "r2"
    assert resolve_metric(None, "binary").name == "accuracy"
    assert task_of(LinearRegression()) == "regression"
    assert task_of(LogisticRegression()) == "classification"
    with pytest.raises(ValueError, match="needs a task"):
        resolve_metric(None)
    with pytest.raises(ValueError, match="did you mean 'rmse'"):
        resolve_metric("rsme")


def test_callables():
    def my_error(y, p):
        return np.abs(y - p).mean()

    metric = resolve_metric(my_error)
    assert not metric.greater_is_better
    assert metric.needs == "labels"
    assert metric.score([1, 2], [1, 4], [1, 3]) == 1.5  # whole weights are repetitions
    with pytest.raises(ValueError, match="whole"):
        metric.score([1, 2], [1, 4], [0.5, 1])
    assert resolve_metric(sm.accuracy_score).greater_is_better


def test_predictions_take_what_the_metric_needs():
    X, y = make_classification(80, 4, random_state=0)
    model = LogisticRegression().fit(X, y)
    assert_array_equal(predictions_for(resolve_metric("f1"), model, X), model.predict(X))
    assert_array_equal(predictions_for(resolve_metric("brier"), model, X), model.predict_proba(X))
    scores = predictions_for(resolve_metric("roc_auc"), model, X)
    assert_array_equal(scores, model.decision_function(X))
    with pytest.raises(ValueError, match="predict_proba"):
        predictions_for(resolve_metric("log_loss"), LinearRegression().fit(X, y), X)


@pytest.mark.parametrize(
    "name", [n for n in METRICS if n not in ("silhouette", "calinski_harabasz", "mean_cost")]
)
def test_weights_are_repetitions_in_every_metric(name, binary, numbers):
    y, p, s = binary
    a, b = {"classes": (y, p), "scores": (y, s), "probabilities": (y, s)}.get(
        METRICS[name].input, numbers
    )
    if name == "ndcg":
        a = np.abs(np.round(a))
    if name.endswith("deviance"):
        a, b = np.abs(a), np.exp(b)
    w = np.random.default_rng(5).integers(0, 4, size=len(a))
    rows = np.repeat(np.arange(len(a)), w)
    metric = resolve_metric(name)
    assert_allclose(metric.score(a, b, w), metric.score(a[rows], b[rows]), atol=1e-12)


# --- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([0, 1], [0, 1, 1], "same length"),
        ([], [], "empty"),
        ([0, np.nan], [0, 1], "NaN"),
        (["a", None], ["a", "b"], "missing"),
        (["a", "b"], [0, 1], "text and numbers"),
    ],
)
def test_bad_labels(y, p, message):
    with pytest.raises(ValueError, match=message):
        resolve_metric("accuracy").score(np.array(y, dtype=object) if None in y else y, p)


def test_bad_scores():
    with pytest.raises(ValueError, match="NaN"):
        resolve_metric("roc_auc").score([0, 1], [0.2, np.nan])
    with pytest.raises(ValueError, match="one class"):
        resolve_metric("roc_auc").score([1, 1], [0.2, 0.3])
    with pytest.raises(ValueError, match="one class"):
        resolve_metric("roc_auc").score([0, 0], [0.2, 0.3])
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        resolve_metric("brier").score([0, 1], [0.2, 1.3])
    with pytest.raises(ValueError, match="sum to"):
        resolve_metric("log_loss").score([0, 1], [[0.2, 0.3], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("name", "y", "p"),
    [("precision", [0, 1], [0, 0]), ("recall", [0, 0], [0, 1]), ("r2", [2, 2], [1, 3]),
     ("nrmse", [2, 2], [1, 3]), ("mcc", [0, 1], [0, 0]), ("kappa", [1, 1], [1, 1])],
)  # fmt: skip
def test_undefined_is_nan_with_a_warning(name, y, p):
    with pytest.warns(UndefinedMetricWarning, match=name):
        assert np.isnan(resolve_metric(name).score(y, p))
    with pytest.warns(UndefinedMetricWarning, match=name):
        assert np.isnan(metric_interval(name, y, p).low)


def test_rates_warn():
    with pytest.warns(UndefinedMetricWarning, match="precision"):
        assert np.isnan(rates(0, 3, 0, 5).precision)
    with pytest.raises(ValueError, match="zero"):
        rates(0, 0, 0, 0)


# --- tables ----------------------------------------------------------------------------------


def test_metric_table_is_a_read_only_mapping(binary):
    table = classification_metrics(*binary, cost_matrix=[[0, 1], [2, 0]])
    assert isinstance(table, MetricTable)
    assert set(table) == set(table.to_frame()["metric"])
    with pytest.raises(AttributeError, match="read-only"):
        table.accuracy = 1
    with pytest.raises(TypeError):
        table["accuracy"] = 1
    with pytest.raises(KeyError, match="accuracy"):
        table["acuracy"]
    json.dumps(table.to_dict(), allow_nan=False)
    again = pickle.loads(pickle.dumps(table))
    assert again["f1"] == table["f1"]
    assert "accuracy" in str(again)
    assert table["mean_cost"].estimate == mean_cost(*binary[:2], [[0, 1], [2, 0]])


def test_table_and_single_intervals_agree(binary):
    y, p, s = binary
    table = classification_metrics(y, p, s)
    for name in ("accuracy", "error", "precision", "recall", "specificity"):
        assert table[name] == metric_interval(name, y, p), name
    for name in ("roc_auc", "log_loss", "brier"):
        assert table[name] == metric_interval(name, y, s), name


def test_positive_turns_the_table_round(binary):
    y, p, _ = binary
    assert_allclose(
        classification_metrics(y, p, positive=0)["precision"].estimate,
        sm.precision_score(y, p, pos_label=0),
    )
    first = confusion_table(y, p, positive=1)
    tn, fp, fn, tp = sm.confusion_matrix(y, p).ravel()
    assert_array_equal(first.counts, [[tp, fn], [fp, tn]])
    assert (first.tp[0], first.fn[0], first.fp[0], first.tn[0]) == (tp, fn, fp, tn)


def test_confusion_of_many_classes(three):
    y, p, _ = three
    w = np.random.default_rng(0).random(len(y))
    table = confusion_table(y, p, labels=[2, 0, 1], sample_weight=w)
    expected = sm.confusion_matrix(y, p, labels=[2, 0, 1], sample_weight=w)
    assert_allclose(table.counts, expected)
    assert_allclose(table.tp + table.fn + table.fp + table.tn, w.sum())
    with pytest.raises(ValueError, match="not in labels"):
        confusion_table(y, p, labels=[0, 1])


def test_warnings_of_a_classification():
    y = np.repeat([0, 1], [90, 10])
    with pytest.warns(UserWarning, match="rarest class has 10 %"):
        classification_metrics(y, y)
    y = np.repeat([0, 1], [50, 50])
    p = np.zeros(100, dtype=int)
    p[-3:] = 1
    with pytest.warns(UserWarning, match="rests on 3 predicted"):
        classification_metrics(y, p)


def test_regression_outputs(numbers):
    y, p = numbers
    Y, P = np.column_stack([y, 2 * y]), np.column_stack([p, p])
    table = regression_metrics(Y, P)
    assert len(table.outputs) == 2
    for name in ("rmse", "r2", "mae", "median_ae", "max_error", "rss"):
        mean = np.mean([part[name].estimate for part in table.outputs])
        assert_allclose(table[name].estimate, mean, rtol=1e-12)
    one = regression_metrics(y, p)
    assert_allclose(one["r2"].estimate, 1 - one["nrmse"].estimate ** 2)
    assert_allclose(one["rss"].estimate, ((y - p) ** 2).sum())


# --- thresholds ------------------------------------------------------------------------------


def test_threshold_curve_agrees_with_scikit_learn(binary):
    y, _, s = binary
    w = np.random.default_rng(0).integers(1, 4, size=len(y))
    for weight in (None, w):
        curve = threshold_curve(y, s, sample_weight=weight)
        fpr, tpr, thresholds = sm.roc_curve(y, s, sample_weight=weight, drop_intermediate=False)
        assert_array_equal(curve.threshold, thresholds[1:])
        assert_allclose(curve.recall, tpr[1:])
        assert_allclose(1 - curve.specificity, fpr[1:], atol=1e-15)
        precision, recall, _ = sm.precision_recall_curve(y, s, sample_weight=weight)
        assert_allclose(curve.precision, precision[:-1][::-1])
        assert_allclose(curve.roc_auc, sm.roc_auc_score(y, s, sample_weight=weight))
        assert_allclose(
            curve.average_precision, sm.average_precision_score(y, s, sample_weight=weight)
        )
        assert_allclose(curve.pr_area, sm.auc(recall, precision))


def test_best_threshold_by_brute_force(binary):
    y, _, s = binary
    L = np.array([[0.0, 1.0], [4.0, 0.0]])
    curve = threshold_curve(y, s, cost_matrix=L, beta=2.0)
    values = {
        "f_beta": [sm.fbeta_score(y, s >= t, beta=2.0) for t in curve.threshold],
        "accuracy": [sm.accuracy_score(y, s >= t) for t in curve.threshold],
        "youden": [2 * sm.balanced_accuracy_score(y, s >= t) - 1 for t in curve.threshold],
        "cost": [mean_cost(y, (s >= t).astype(int), L) for t in curve.threshold],
    }
    for name, each in values.items():
        best = np.argmin(each) if name == "cost" else np.argmax(each)
        threshold, value = best_threshold(curve, name)
        assert_allclose(value, each[best], atol=1e-12)
        assert threshold == curve.threshold[best] or np.isclose(
            each[list(curve.threshold).index(threshold)], each[best]
        )


def test_ties_take_the_higher_threshold():
    curve = threshold_curve([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    assert best_threshold(curve, "accuracy") == (4.0, 0.75)
    with pytest.raises(ValueError, match="no costs"):
        best_threshold(curve, "cost")
    with pytest.raises(ValueError, match="positive="):
        threshold_curve([0, 1, 2], np.eye(3))


# --- other tasks -----------------------------------------------------------------------------


def test_multilabel_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    Y = (rng.random((100, 4)) < 0.4).astype(int)
    Yhat = np.where(rng.random((100, 4)) < 0.2, 1 - Y, Y)
    Y[:, 0] |= Y.sum(axis=1) == 0
    table = multilabel_metrics(Y, Yhat)
    expected = {
        "subset_accuracy": sm.accuracy_score(Y, Yhat),
        "hamming": sm.hamming_loss(Y, Yhat),
        "f1_micro": sm.f1_score(Y, Yhat, average="micro"),
        "f1_macro": sm.f1_score(Y, Yhat, average="macro"),
        "jaccard": sm.jaccard_score(Y, Yhat, average="samples"),
    }
    for name, value in expected.items():
        assert_allclose(table[name].estimate, value, err_msg=name)
        assert table[name].low <= value <= table[name].high
    assert_allclose(resolve_metric("f1").score(Y, Yhat), expected["f1_macro"])
    w = rng.integers(0, 3, size=100)
    again = multilabel_metrics(np.repeat(Y, w, axis=0), np.repeat(Yhat, w, axis=0))
    for name, interval in multilabel_metrics(Y, Yhat, sample_weight=w).items():
        assert_allclose(interval.estimate, again[name].estimate)


def test_ranking_agrees_with_the_peers():
    from scipy.stats import kendalltau

    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(6), 30)
    y = rng.integers(0, 4, size=180).astype(float)
    s = np.round(y + rng.normal(size=180), 1)
    y[groups == 5] = 2  # one level: skipped
    table = ranking_metrics(y, s, groups)
    assert (table.groups, table.skipped) == (5, 1)
    parts = [(y[groups == g], s[groups == g]) for g in range(5)]
    expected = {
        "ndcg": np.mean([sm.ndcg_score([a], [b]) for a, b in parts]),
        "dcg": np.mean([sm.dcg_score([a], [b]) for a, b in parts]),
        "mean_average_precision": np.mean([sm.average_precision_score(a > 0, b) for a, b in parts]),
        "kendall_tau": np.mean([kendalltau(a, b).statistic for a, b in parts]),
    }
    pairs = []
    for a, b in parts:
        i, j = np.triu_indices(len(a), 1)
        different = a[i] != a[j]
        right = np.sign(a[i] - a[j]) * np.sign(b[i] - b[j])
        pairs.append(((right[different] + 1) / 2).mean())
    expected["pairwise_accuracy"] = np.mean(pairs)
    for name, value in expected.items():
        assert_allclose(table[name].estimate, value, atol=1e-12, err_msg=name)
    at_five = ranking_metrics(y, s, groups, k=5)
    value = np.mean([sm.ndcg_score([a], [b], k=5) for a, b in parts])
    assert_allclose(at_five["ndcg"].estimate, value)
    with pytest.raises(ValueError, match="one relevance level"):
        ranking_metrics([1, 1], [0.1, 0.2])


@pytest.mark.parametrize("p", [2, 40])
def test_clusterings_agree_with_scikit_learn(p):
    rng = np.random.default_rng(p)
    labels = rng.integers(0, 4, size=500)
    X = rng.normal(size=(500, p)) + 2 * labels[:, None]
    truth = np.where(rng.random(500) < 0.2, 0, labels)
    table = clustering_metrics(X, labels, truth=truth)
    expected = {
        "silhouette": sm.silhouette_score(X, labels),
        "calinski_harabasz": sm.calinski_harabasz_score(X, labels),
        "davies_bouldin": sm.davies_bouldin_score(X, labels),
        "adjusted_rand": sm.adjusted_rand_score(truth, labels),
        "normalised_mutual_information": sm.normalized_mutual_info_score(truth, labels),
    }
    for name, value in expected.items():
        assert_allclose(table[name].estimate, value, rtol=1e-9, err_msg=name)
    w = rng.integers(0, 3, size=500)
    rows = np.repeat(np.arange(500), w)
    weighted = clustering_metrics(X, labels, truth=truth, sample_weight=w)
    again = clustering_metrics(X[rows], labels[rows], truth=truth[rows])
    for name in again:
        assert_allclose(weighted[name].estimate, again[name].estimate, rtol=1e-9, err_msg=name)


def test_one_cluster_is_undefined():
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(clustering_metrics(np.eye(4), [0] * 4)["silhouette"].estimate)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "brier", "log_loss", "recall"])
def test_positive_may_be_the_earlier_label(name):
    X, y = make_classification(150, 4, flip_y=0.3, random_state=0)
    names = np.array(["a", "b"])
    metric = resolve_metric(name)
    earlier = metric.evaluate(LogisticRegression().fit(X, names[y]), X, names[y], positive="a")
    turned = names[1 - y]  # the same question with the labels exchanged
    later = metric.evaluate(LogisticRegression().fit(X, turned), X, turned)
    assert_allclose(earlier, later, rtol=1e-4)
