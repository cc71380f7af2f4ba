"""Pictures of evaluation and splits: the numbers of each record against its definition."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_curve
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline

from pellucid import (
    ConformalRegressor,
    LinearRegression,
    PolynomialFeatures,
    Ridge,
    StandardScaler,
    plots,
)
from pellucid.evaluation import (
    BootstrapDraw,
    BootstrapSplit,
    SimulatedDraw,
    best_threshold,
    bias_variance,
    classification_metrics,
    compare,
    complexity_curve,
    confusion_table,
    corrected_t_test,
    cross_validated,
    cv_summary,
    decompose_squared,
    decompose_zero_one,
    finite_class_bound,
    metric_interval,
    paired_t_test,
    proportion_interval,
    regression_metrics,
    reliability,
    size_curve,
    three_way_split,
    threshold_curve,
    validation_bound,
)
from pellucid.plots import svg
from pellucid.plots.panels.ranked import rows_behind
from pellucid.plots.panels.style import colour


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def scored(n=120, seed=0, strength=1.5, decimals=2):
    """Labels and scores with ties."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    score = 1 / (1 + np.exp(-(strength * (y - 0.5) + rng.normal(size=n))))
    return y, np.round(score, decimals)


def table(n=80, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ np.arange(1.0, p + 1) + rng.normal(size=n)


def drawn(picture):
    """Draws, and says how the axes are named."""
    ax = picture.plot()
    assert picture.alt.endswith(".")
    ax.figure.canvas.draw()
    return ax


# --- classification ----------------------------------------------------------------------------


def test_confusion_counts_and_shares():
    truth, said = list("aaabbbbc"), list("aabbbbac")
    picture = plots.confusion(confusion_table(truth, said))
    assert picture.labels == ("a", "b", "c")
    assert_array_equal(picture.counts, [[2, 1, 0], [1, 3, 0], [0, 0, 1]])
    assert_allclose(picture.shares, [[2 / 3, 1 / 3, 0], [1 / 4, 3 / 4, 0], [0, 0, 1]])
    assert picture.accuracy == 6 / 8
    ax = drawn(picture)
    assert ax.get_xlabel() == "predicted"
    assert ax.get_ylabel() == "true"
    assert "2\n67%" in {text.get_text() for text in ax.texts}


def test_confusion_colours_grow_from_white_towards_those_of_right_and_wrong():
    ax = plots.confusion(confusion_table(list("aaab"), list("aabb"))).plot()
    cells = np.asarray(ax.images[0].get_array())
    assert_allclose(cells[1, 0], 1.0)  # no row there
    blue, orange = (np.array(to_rgb(colour(i))) for i in (0, 1))
    assert_allclose(cells[1, 1], 1 - 0.85 * (1 - blue))
    assert_allclose(cells[0, 1], 1 - 0.85 * np.sqrt(1 / 3) * (1 - orange))


def test_confusion_class_without_rows_and_whole_report():
    picture = plots.confusion(confusion_table(["a", "a"], ["a", "b"]))
    assert_allclose(picture.shares, [[0.5, 0.5], [0, 0]])
    y, score = scored()
    report = classification_metrics(y, (score > 0.5).astype(int))
    assert_array_equal(plots.confusion(report).counts, report.confusion.counts)
    with pytest.raises(ValueError, match="ConfusionTable, got list"):
        plots.confusion([[1, 2], [3, 4]])


def test_roc_points_and_delong_interval():
    y, score = scored()
    picture = plots.roc(threshold_curve(y, score))
    fpr, tpr, _ = roc_curve(y, score, drop_intermediate=False)
    assert_allclose(picture.false_positive[0], fpr)
    assert_allclose(picture.recall[0], tpr)
    direct = metric_interval("roc_auc", y, score)
    assert_allclose(picture.areas[0][:4], direct[:4], rtol=1e-12)
    assert picture.areas[0].method == "delong"
    ax = drawn(picture)
    title = ax.get_title(loc="left")
    assert f"{direct.low:.3f} to {direct.high:.3f}, DeLong" in title


def test_roc_band_holds_the_curve_and_the_spread_of_new_data():
    """At a false positive rate of 0.3 the band is as wide as curves of new samples spread."""
    y, score = scored(400, decimals=6)
    picture = plots.roc(threshold_curve(y, score))
    own = np.interp(picture.grid, picture.false_positive[0], picture.recall[0])
    inside = (picture.low[0] <= own + 1e-9) & (own <= picture.high[0] + 1e-9)
    assert inside.mean() > 0.97
    at = 60
    assert_allclose(picture.grid[at], 0.3)
    fresh = []
    for seed in range(1, 200):
        a, b = scored(400, seed, decimals=6)
        fpr, tpr, _ = roc_curve(a, b, drop_intermediate=False)
        fresh.append(np.interp(0.3, fpr, tpr))
    spread = np.subtract(*np.quantile(fresh, [0.975, 0.025]))
    assert 0.6 < (picture.high[0, at] - picture.low[0, at]) / spread < 1.6


def test_roc_several_weighted_bootstrap_and_bad_input():
    y, score = scored(60)
    w = np.random.default_rng(1).integers(1, 4, 60)
    one = threshold_curve(y, score, sample_weight=w)
    many = threshold_curve(np.repeat(y, w), np.repeat(score, w))
    picture = plots.roc({"weighted": one, "repeated": many})
    assert_allclose(picture.areas[0][:4], picture.areas[1][:4], rtol=1e-10)
    assert_array_equal(picture.low[0], picture.low[1])
    labels = [text.get_text() for text in drawn(picture).get_legend().get_texts()]
    assert labels[0].startswith("weighted: area 0.")
    boot = plots.roc(one, method="bca", n=11).areas[0]
    assert boot.method == "bca"
    assert boot.low < boot.estimate < boot.high
    with pytest.raises(ValueError, match=r"a curve of evaluation\.threshold_curve is needed"):
        plots.roc(score)


def test_rows_behind_a_curve_give_the_curve():
    y, score = scored()
    again = threshold_curve(*rows_behind(threshold_curve(y, score))[:2],
                            sample_weight=rows_behind(threshold_curve(y, score))[2])  # fmt: skip
    assert_allclose(again.tp, threshold_curve(y, score).tp)


def test_long_curves_are_thinned_but_keep_ends_and_numbers():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    curve = threshold_curve(y, y + rng.normal(size=20_000))
    picture = plots.precision_recall(curve)
    assert len(picture.recall[0]) <= 5003
    assert picture.recall[0][-1] == 1.0
    assert picture.average_precision[0].estimate == curve.average_precision
    assert np.isnan(picture.average_precision[0].low)
    rates = plots.thresholds(curve)
    assert rates.best == best_threshold(curve)
    assert rates.best[0] in rates.threshold
    assert len(plots.roc(curve, n=5).recall[0]) <= 5004


def test_precision_recall_best_and_area():
    y, score = scored()
    curve = threshold_curve(y, score, beta=2.0)
    picture = plots.precision_recall(curve, n_resamples=200)
    assert_array_equal(picture.precision[0], curve.precision)
    threshold, value = best_threshold(curve)
    assert picture.best[0, 0] == threshold
    r, p = picture.best[0, 1:]
    assert_allclose(5 * p * r / (4 * p + r), value)
    assert_allclose(picture.prevalence, y.mean())
    area = picture.average_precision[0]
    steps = np.diff(picture.recall[0], prepend=0.0) @ picture.precision[0]
    assert_allclose(area.estimate, steps)
    assert area.low < area.estimate < area.high
    drawn(picture)
    with pytest.raises(ValueError, match="share one beta"):
        plots.precision_recall({"a": curve, "b": threshold_curve(y, score)}, n_resamples=10)


def test_thresholds_rates_cost_and_best():
    y, score = scored()
    curve = threshold_curve(y, score, cost_matrix=[[0, 1], [5, 0]])
    picture = plots.thresholds(curve)
    for t in picture.threshold[[0, 10, -1]]:
        said = score >= t
        at = int(np.flatnonzero(picture.threshold == t)[0])
        assert_allclose(picture.rates[1, at], said[y == 1].mean())
        assert_allclose(picture.rates[2, at], (~said)[y == 0].mean())
        assert_allclose(picture.rates[4, at], (said == y).mean())
        misses, alarms = (~said & (y == 1)).sum(), (said & (y == 0)).sum()
        assert_allclose(picture.cost[at], (5 * misses + alarms) / len(y))
    assert (np.diff(picture.threshold) > 0).all()
    assert picture.metric == "cost"
    assert picture.best == (picture.threshold[::-1][picture.cost[::-1].argmin()],
                            picture.cost.min())  # fmt: skip
    assert "best mean cost" in drawn(picture).get_title(loc="left")
    plain = plots.thresholds(threshold_curve(y, score), metric="youden")
    assert plain.cost is None
    assert_allclose(plain.best[1], (plain.rates[1] + plain.rates[2] - 1).max())


def test_reliability_diagram_counts_bins_beyond_chance():
    y, score = scored(300)
    r = reliability(y, score)
    picture = plots.reliability_diagram({"model": r, "same": r})
    assert_array_equal(picture.observed[0], r.observed)
    off = sum(not lo <= p <= hi for p, lo, hi in zip(r.probability, r.low, r.high, strict=True))
    assert picture.outside == (off, off)
    assert_allclose(picture.ece, r.ece)
    drawn(picture)
    drawn(plots.reliability_diagram(r))
    with pytest.raises(ValueError, match=r"must come from evaluation\.reliability"):
        plots.reliability_diagram(score)


# --- curves ------------------------------------------------------------------------------------


def test_learning_curve_means_limits_and_collapsed():
    X, y = table()
    curve = size_curve(LinearRegression(), X, y, sizes=[10, 30, 64], metric="rmse")
    picture = plots.learning_curve(curve)
    assert_array_equal(picture.sizes, [10, 30, 64])
    for i in range(3):
        s = cv_summary(curve.test[i])
        assert_allclose(picture.test[i], [s.mean, s.low, s.high])
        assert_allclose(picture.train[i, 0], curve.train[i].mean())
    marks = np.zeros((3, 5), dtype=bool)
    marks[0, 2] = True
    ax = drawn(plots.learning_curve(curve._replace(collapsed=marks)))
    assert ax.get_ylabel() == "rmse"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "collapsed: predicts a constant" in labels
    with pytest.raises(ValueError, match=r"must come from evaluation\.size_curve"):
        plots.learning_curve(curve.test)


@pytest.mark.parametrize("metric", ["r2", "rmse"])
def test_validation_curve_marks_best_and_one_standard_error(metric):
    X, y = table(60, 10)
    values = [1e4, 1e3, 100.0, 30.0, 10.0, 1.0]
    curve = complexity_curve(Ridge(), X, y, parameter="alpha", values=values, metric=metric)
    picture = plots.validation_curve(curve)
    sign = 1 if metric == "r2" else -1
    mean = curve.test.mean(axis=1)
    error = curve.test.std(axis=1, ddof=1) / np.sqrt(5)
    assert picture.best == int((sign * mean).argmax())
    assert_allclose(picture.limit, mean[picture.best] - sign * error[picture.best])
    within = np.flatnonzero(sign * mean >= sign * picture.limit)
    assert picture.one_standard_error == within[0]  # simplest first
    ax = drawn(picture)
    assert ax.get_xlabel() == "alpha"
    assert ax.get_xscale() == "log"


def test_validation_curve_of_words_and_of_pairs():
    X, y = table(40, 3)
    curve = complexity_curve(
        make_pipeline(PolynomialFeatures(), Ridge()), X, y,
        parameter=("polynomialfeatures__degree", "ridge__alpha"), values=([1, 2], [10.0, 1.0, 0.1]),
    )  # fmt: skip
    picture = plots.validation_curve(curve)
    assert_allclose(picture.test, curve.test.mean(axis=2))
    best = np.unravel_index(picture.test.argmax(), picture.test.shape)
    assert picture.best == tuple(best)
    ax = drawn(picture)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("degree", "alpha")
    words = complexity_curve(
        LinearRegression(), X, y, parameter="fit_intercept", values=[False, True]
    )
    ticks = drawn(plots.validation_curve(words)).get_xticklabels()
    assert [tick.get_text() for tick in ticks] == ["False", "True"]


def wave(X):
    return np.sin(2 * np.pi * np.asarray(X)[:, 0])


def polynomial(degree):
    return make_pipeline(PolynomialFeatures(degree, include_bias=False), LinearRegression())


def test_bias_variance_fits_agree_with_bias_variance():
    x = np.linspace(0, 1, 25)[:, None]
    draw = SimulatedDraw(wave, x, 0.3)
    models = {f"degree {d}": polynomial(d) for d in (1, 8)}
    picture = plots.bias_variance_fits(models, draw, n_models=12, n=25)
    for i, model in enumerate(models.values()):
        parts = bias_variance(model, draw, x, n_models=12)
        assert_allclose(picture.bias2[i], parts.bias2)
        assert_allclose(picture.variance[i], parts.variance)
    assert picture.bias2[0] > picture.bias2[1]
    assert picture.variance[0] < picture.variance[1]
    assert_allclose(picture.truth, wave(x))
    assert_allclose(picture.mean, picture.curves.mean(axis=1))
    figure = picture.plot()
    assert len(figure.axes) == 2
    assert svg(picture) == svg(picture)
    with pytest.raises(ValueError, match="without axes"):
        picture.plot(figure.axes[0])


def test_bias_variance_fits_of_a_frame_without_truth():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 2)), columns=["age", "height"])
    draw = BootstrapDraw(X, X["age"].to_numpy())
    picture = plots.bias_variance_fits(Ridge(), draw, column="height", n_models=4, n=7)
    assert picture.truth is None
    assert picture.bias2 is None
    assert picture.names[0] == "height"
    assert_allclose(picture.grid[[0, -1]], [X["height"].min(), X["height"].max()])
    assert "median" in picture.note
    picture.plot()


def test_bias_variance_curve_adds_up_and_finds_the_least():
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=9), rng.normal(size=(5, 9))
    results = {d: decompose_squared(f + rng.normal(s, s, (6, 9)), f, y)
               for d, s in ((1, 2.0), (3, 0.2), (8, 1.0))}  # fmt: skip
    picture = plots.bias_variance_curve(results, parameter="degree")
    assert picture.values == (1, 3, 8)
    assert_allclose(picture.total, picture.bias2 + picture.variance + picture.noise)
    assert picture.values[picture.best] == 3
    assert drawn(picture).get_xlabel() == "degree"


def test_bias_variance_curve_of_labels_and_bad_input():
    parts = decompose_zero_one([[0, 1], [0, 0], [1, 0]], [0, 1])
    picture = plots.bias_variance_curve([parts, parts], values=["stump", "tree"])
    assert picture.noise is None
    assert picture.loss == "zero_one"
    drawn(picture)
    with pytest.raises(ValueError, match="share one loss"):
        plots.bias_variance_curve([parts, decompose_squared([[1.0], [2.0]], [1.0])])
    with pytest.raises(ValueError, match="one value per result"):
        plots.bias_variance_curve([parts], values=[1, 2])


def test_bounds_against_rows_and_size():
    def bound(n, size):
        return finite_class_bound(0.1, n, size)

    picture = plots.bounds(bound, [1000, 5, 100], sizes=[10, 10**6], against="size")
    assert picture.n == (5, 100, 1000)
    for i, size in enumerate((10, 10**6)):
        for j, n in enumerate((5, 100, 1000)):
            assert_allclose(picture.values[i, j], 0.1 + np.sqrt(np.log(size / 0.05) / (2 * n)))
    assert picture.needed == (5, 100)  # with a million members five rows say nothing
    assert drawn(picture).get_xlabel() == "|F|"
    alone = plots.bounds(lambda n: validation_bound(0.2, n), [10, 100])
    assert_allclose(alone.values[0], [validation_bound(0.2, n).value for n in (10, 100)])
    assert drawn(alone).get_xlabel() == "rows n"
    with pytest.raises(ValueError, match="needs sizes"):
        plots.bounds(bound, [10], against="size")


# --- comparisons -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def comparison():
    X, y = table(80, 4)
    models = {"stiff": Ridge(1e3), "ridge": Ridge(1.0), "ols": LinearRegression()}
    return compare(models, X, y, metric="rmse", cv=5, random_state=0)


def test_score_intervals_of_a_comparison(comparison):
    picture = plots.score_intervals(comparison)
    assert picture.names == ("stiff", "ridge", "ols")
    assert_allclose(picture.estimate, comparison.scores.mean(axis=1))
    assert_allclose(picture.low, [s.low for s in comparison.summaries])
    assert_array_equal(picture.folds, comparison.scores)
    ax = drawn(picture)
    assert ax.get_xlabel() == "rmse"
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(picture.names)


def test_score_intervals_of_tables_and_folds():
    y, score = scored()
    report = classification_metrics(y, (score > 0.5).astype(int))
    picture = plots.score_intervals(report, names=["recall", "accuracy"])
    assert_allclose(picture.high, [report.recall.high, report.accuracy.high])
    X, y = table()
    wide = plots.score_intervals(regression_metrics(100 * y, 90 * y))
    assert drawn(wide).get_xscale() == "symlog"
    found = cross_validated(Ridge(), X, y, metric="rmse")
    folds = plots.score_intervals({"ridge": found})
    assert_allclose(folds.low, found.corrected.low)
    assert folds.label == "rmse"
    with pytest.raises(ValueError, match="'auc' is not in the table"):
        plots.score_intervals(report, names=["auc"])
    with pytest.raises(ValueError, match="an interval with low and high"):
        plots.score_intervals({"a": 0.3})


def test_fold_differences_of_records_use_the_corrected_test():
    X, y = table()
    a, b = (cross_validated(m, X, y, cv=5, metric="rmse") for m in (Ridge(1.0), Ridge(50.0)))
    picture = plots.fold_differences(a, b, names=("light", "heavy"))
    assert_allclose(picture.differences, a.scores - b.scores)
    assert picture.test == corrected_t_test(a.scores, b.scores, test_ratio=0.25)
    assert not picture.greater_is_better
    ax = drawn(picture)
    assert ax.get_ylabel() == "rmse of light less that of heavy"
    won = int((a.scores < b.scores).sum())
    assert f"light is better: {won}" in [t.get_text() for t in ax.get_legend().get_texts()]
    other = cross_validated(Ridge(), X, y, cv=KFold(5, shuffle=True, random_state=1))
    with pytest.raises(ValueError, match="different folds"):
        plots.fold_differences(a, other)
    with pytest.raises(ValueError, match="both"):
        plots.fold_differences(a, [1.0, 2.0])


def test_fold_differences_of_scores():
    a, b = [0.9, 0.8, 0.7], [0.8, 0.8, 0.75]
    picture = plots.fold_differences(a, b)
    assert_allclose(picture.differences, [0.1, 0.0, -0.05], atol=1e-12)
    assert picture.test == paired_t_test(a, b)
    drawn(picture)


def test_significance_sorts_models_and_keeps_the_tests(comparison):
    picture = plots.significance(comparison)
    assert (np.diff(picture.mean) >= 0).all()  # rmse: least first
    for i, a in enumerate(picture.order):
        for j, b in enumerate(picture.order):
            assert picture.better[i, j] == comparison.better[a, b]
            assert picture.adjusted[i, j] == comparison.adjusted[a, b]
    assert picture.names[-1] == "stiff"
    assert picture.better[0, -1]
    texts = {text.get_text().split("\n")[0] for text in drawn(picture).texts}
    assert {"▲ better", "▼ worse"} <= texts
    with pytest.raises(ValueError, match=r"must come from evaluation\.compare"):
        plots.significance(comparison.better)


def test_prediction_intervals_cover_as_counted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.uniform(0, 10, 300)})
    y = pd.Series(2 * X["age"].to_numpy() + rng.normal(size=300), name="price")
    inner = LinearRegression()
    model = ConformalRegressor(inner, confidence=0.8, random_state=0).fit(X[:150], y[:150])
    picture = plots.prediction_intervals(model, X[150:], y[150:])
    low, high = model.predict_interval(X[150:]).T
    covered = (low <= y[150:]) & (y[150:] <= high)
    assert picture.coverage == proportion_interval(int(covered.sum()), 150)
    assert picture.confidence == 0.8
    assert_allclose(picture.width, (high - low).mean())
    assert (np.diff(picture.x) >= 0).all()
    assert picture.covered.sum() == covered.sum()
    ax = drawn(picture)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "price")


def test_prediction_intervals_of_many_columns_pipelines_and_refusal():
    X, y = table(120)
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X[:60], y[:60])
    picture = plots.prediction_intervals(model, X[60:], y[60:], confidence=0.5)
    frame = polars.DataFrame(X, schema=["a", "b", "c", "d"])
    plain = LinearRegression().fit(frame[:60], y[:60])
    other = plots.prediction_intervals(plain, frame[60:], y[60:], confidence=0.5)
    assert_allclose(picture.low, other.low)
    alone = plots.prediction_intervals(make_pipeline(plain), frame[60:], y[60:], confidence=0.5)
    assert_allclose(alone.low, other.low)
    assert picture.ranked
    assert (np.diff(picture.centre) >= 0).all()
    drawn(picture)
    with pytest.raises(ValueError, match="Silent has no predict_interval"):
        plots.prediction_intervals(Silent(), X, y)


class Silent:
    """A model that only predicts."""

    def predict(self, X):
        return np.zeros(len(X))


# --- splits ------------------------------------------------------------------------------------


def test_split_bar_counts_and_places():
    split = three_way_split(50, random_state=0)
    picture = plots.split_bar(split)
    assert picture.counts.tolist() == [30, 10, 10]
    assert_array_equal(picture.rows, np.arange(50))
    for i, part in enumerate(split):
        assert_array_equal(np.flatnonzero(picture.part == i), np.sort(part))
    drawn(picture)
    pair = plots.split_bar((np.arange(95), np.arange(95, 100)))
    assert pair.names == ("train", "test")
    texts = [t.get_text() for t in drawn(pair).get_legend().get_texts()]
    assert texts == ["train: 95", "test: 5"]
    long = plots.split_bar(three_way_split(20_000, random_state=0))
    assert len(long.rows) == 5000
    assert long.counts.sum() == 20_000
    with pytest.raises(ValueError, match="two parts"):
        plots.split_bar({"a": [0, 1], "b": [1, 2]})
    with pytest.raises(ValueError, match="got int"):
        plots.split_bar(3)


@pytest.mark.parametrize(
    "cv", [KFold(4, shuffle=True, random_state=0), TimeSeriesSplit(3), BootstrapSplit(6)]
)
def test_fold_scheme_follows_the_splitter(cv):
    if isinstance(cv, BootstrapSplit):
        cv = BootstrapSplit(6, random_state=0)
    picture = plots.fold_scheme(cv, 24)
    for line, (train, test) in zip(picture.use, cv.split(np.zeros((24, 1))), strict=True):
        assert_array_equal(np.flatnonzero(line == -1), np.sort(test))
        assert_array_equal(np.maximum(line, 0), np.bincount(train, minlength=24))
    assert "TimeSeries" not in picture.name or (picture.use == 0).any()
    drawn(picture)


def test_fold_scheme_classes_groups_many_folds_and_bad_input():
    y = np.repeat(["a", "b"], [20, 10])
    picture = plots.fold_scheme(5, 30, y=y)
    assert picture.name == "StratifiedKFold"
    for line in picture.use:
        assert ((line == -1) & (y == "b")).sum() == 2
    assert_array_equal(picture.strips["class"], np.repeat([0, 1], [20, 10]))
    groups = np.repeat(np.arange(6), 5)
    grouped = plots.fold_scheme(GroupKFold(3), np.zeros((30, 2)), groups=groups)
    for line in grouped.use:
        assert all(len(set(line[groups == g])) == 1 for g in range(6))
    drawn(grouped)
    many = plots.fold_scheme(20, 8000)
    assert many.use.shape == (15, 2000)
    assert len(many.train) == 20
    assert "the first 15 of 20 folds" in drawn(many).get_title(loc="left")
    with pytest.raises(ValueError, match="names row 9"):
        plots.fold_scheme([([0, 1], [9])], 5)
    with pytest.raises(ValueError, match="y must have 5 entries"):
        plots.fold_scheme(2, 5, y=[0, 1])


# --- all ---------------------------------------------------------------------------------------


def test_same_input_same_svg(comparison):
    y, score = scored(60)
    curve = threshold_curve(y, score)
    made = [
        lambda: plots.roc(curve, n=21),
        lambda: plots.confusion(confusion_table(y, score > 0.5)),
        lambda: plots.significance(comparison),
        lambda: plots.fold_scheme(3, 12),
    ]
    for make in made:
        assert svg(make()) == svg(make())


def test_pictures_draw_on_given_axes(comparison):
    figure, axes = plt.subplots(1, 2)
    assert plots.score_intervals(comparison).plot(axes[0]) is axes[0]
    assert plots.split_bar(three_way_split(20, random_state=0)).plot(axes[1]) is axes[1]
    assert figure.axes[0] is axes[0]


def test_folds_of_several_sizes_are_said_to_be():
    """Seven rows in three folds: two or three are tested."""
    assert "4 to 5 rows train and 2 to 3 test" in str(plots.fold_scheme(3, 7))
    assert "4 rows train and 2 test" in str(plots.fold_scheme(3, 6))
