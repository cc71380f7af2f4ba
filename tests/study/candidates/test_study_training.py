"""Training: nothing leaks, tuning is nested."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold, StratifiedKFold

import pellucid
from pellucid import Ridge, TableFeatures
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.study.candidates.candidates import REGISTRY, Setting, find_candidates, public
from pellucid.study.candidates.guessing import GuessClassifier, GuessRegressor
from pellucid.study.candidates.training import (
    Tried,
    Workshop,
    best_mean,
    run_candidate,
    train_all,
    tune,
)
from pellucid.study.judging.measure import make_scorer, mean_gain
from pellucid.study.records import Candidate, Task

BINARY = Task("binary", ("y",), ("a", "b"), "b", "accuracy", True, 0, "")
NUMBER = Task("regression", ("y",), (), None, "rmse", False, 0, "")


def workshop(frame, y, task, k=5, kinds=None, **options):
    splitter = StratifiedKFold if task is BINARY else KFold
    folds = list(splitter(k, shuffle=True, random_state=0).split(np.zeros(len(y)), y))
    kind = "stratified" if task is BINARY else "random"
    return Workshop(frame, y, folds, kind=kind, kinds=kinds or {}, scorer=make_scorer(task, None),
                    **options)  # fmt: skip


def tried(estimator, space=None, complexity=1, name="model", **features):
    return Tried(Candidate(name, name, estimator, space or {}, complexity, ""), features)


def run(shop, one):
    return run_candidate(shop, one, deadline=None, step=lambda fold: None)


def test_nested_scores_by_hand():
    """Features, tuning and score of an outer fold as the plain loop computes them."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=90), "c": rng.choice(["u", "v"], 90)})
    y = frame["x"].to_numpy() + rng.normal(size=90)
    shop = workshop(frame, y, NUMBER, k=3)
    alphas = [100.0, 1.0, 0.01]
    found = run(shop, tried(Ridge(), {"alpha": alphas}))
    for i, (learn, judge) in enumerate(shop.folds):
        inner = np.array([
            [_rmse(frame, y, a, b, alpha) for a, b in shop.inner_folds(learn)] for alpha in alphas
        ])  # fmt: skip
        chosen = alphas[best_mean(-inner, np.arange(3.0))]
        assert found.params[i] == {"alpha": chosen}
        assert_allclose(found.scores[i], _rmse(frame, y, learn, judge, chosen))


def _rmse(frame, y, learn, judge, alpha):
    features = TableFeatures()
    model = Ridge(alpha).fit(features.fit_transform(frame[learn], y[learn]), y[learn])
    return np.sqrt(np.mean((model.predict(features.transform(frame[judge])) - y[judge]) ** 2))


def test_closed_paths_give_the_same_scores_as_single_fits():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 5))
    y = X[:, 0] + rng.normal(size=80)
    shop = workshop(pl.DataFrame(X), y, NUMBER)
    one = tried(pellucid.Lasso(), {"alpha": [0.5, 0.1, 0.01]})
    parts = [shop.outer_part(i, {}) for i in range(5)]
    path = tune(shop, one, parts).scores
    for a, alpha in enumerate([0.5, 0.1, 0.01]):
        for i, part in enumerate(parts):
            model = pellucid.Lasso(alpha, tol=1e-10).fit(part.Z_learn, part.y_learn)
            assert_allclose(path[a, i], shop.score(model, part.Z_judge, part.judge), rtol=1e-3)


def test_judging_rows_have_no_part_in_the_features():
    """Whatever stands in the judging rows, the learning matrix of the fold stays the same."""
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"x": rng.normal(size=60), "c": rng.choice(["u", "v", "w"], 60)})
    y = rng.choice(["a", "b"], 60)
    shop = workshop(frame, y, BINARY)
    learn, judge = shop.folds[0]
    spoiled = frame.with_columns(
        x=pl.when(pl.int_range(60).is_in(judge)).then(1e6).otherwise("x"),
        c=pl.when(pl.int_range(60).is_in(judge)).then(pl.lit("z")).otherwise("c"),
    )
    other = workshop(spoiled, y, BINARY)
    assert_array_equal(shop.outer_part(0, {}).Z_learn, other.outer_part(0, {}).Z_learn)
    for a, b in shop.inner_folds(learn):
        assert not np.isin(judge, np.concatenate([a, b])).any()


def random_labels(n=300, seed=0):
    return np.random.default_rng([seed, 99]).choice(["a", "b"], n)


def codes_table(rng, n):
    return pl.DataFrame({"code": [f"c{i}" for i in rng.integers(n // 2, size=n)]}), {}


def gaps_table(rng, n):
    X = rng.normal(size=(n, 5))
    X[rng.random(X.shape) < 0.4] = np.nan
    return pl.DataFrame(X).fill_nan(None), {}


def wide_table(rng, n):
    return pl.DataFrame(rng.normal(size=(n, 80))), {}


def scales_table(rng, n):
    return pl.DataFrame(rng.normal(size=(n, 4)) * 10.0 ** rng.integers(-6, 7, (n, 1))), {}


def words_table(rng, n):
    words = np.array([f"w{i}" for i in range(60)])
    return pl.DataFrame({"t": [" ".join(row) for row in rng.choice(words, (n, 8))]}), {"t": "text"}


TABLES = {"target code": codes_table, "imputation": gaps_table, "many columns": wide_table,
          "scaling": scales_table, "text": words_table}  # fmt: skip


@pytest.mark.parametrize("step", list(TABLES))
def test_no_leak_through_any_step(step):
    """Random labels: no model is better than guessing, however much each step could memorise."""
    rng = np.random.default_rng(3)
    n = 300
    frame, kinds = TABLES[step](rng, n)
    names = [str(name) for name in frame.columns]
    frame.columns = names
    gains = []
    for seed in range(8):
        y = random_labels(n, seed)
        shop = workshop(frame, y, BINARY, k=3, kinds=kinds)
        space = {"shrinkage": [0.9, 0.1]}
        model = pellucid.LinearDiscriminantAnalysis(solver="lsqr")
        with single_threaded_blas():
            gains.append(run(shop, tried(model, space)).scores.mean() - 0.5)
    # 300 rows judged once by three models: measured over many seeds, one gain has an sd of 0.045
    assert abs(np.mean(gains)) < 3 * 0.045 / np.sqrt(len(gains))


def test_no_leak_through_selection():
    """Pure noise, many columns: the lasso is no better than the mean."""
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(100, 300)), rng.normal(size=100)
    shop = workshop(pl.DataFrame(X), y, NUMBER)
    space = {"alpha": [0.3, 0.2, 0.1, 0.05]}
    lasso = run(shop, tried(pellucid.Lasso(max_iter=5000), space)).scores.mean()
    guess = run(shop, tried(GuessRegressor(), complexity=0)).scores.mean()
    assert lasso > guess - 0.05


def test_the_leak_would_be_seen():
    """The same table with codes learned from all rows: the score is far above chance."""
    rng = np.random.default_rng(3)
    frame, _ = codes_table(rng, 300)
    y = random_labels(300)
    leaky = TableFeatures().fit(frame, y).transform(frame)  # a row sees its own target
    shop = workshop(pl.DataFrame(leaky), y, BINARY)
    assert run(shop, tried(pellucid.LinearDiscriminantAnalysis())).scores.mean() > 0.7


def test_one_fold_is_judged_in_parts():
    rng = np.random.default_rng(4)
    x = rng.normal(size=400)
    y = np.where(x + rng.normal(size=400) > 0, "b", "a")
    shop = workshop(pl.DataFrame({"x": x}), y, BINARY)
    shop.folds = shop.folds[:1]
    found = run(shop, tried(pellucid.LinearDiscriminantAnalysis()))
    assert len(found.scores) == len(found.train_scores) == len(shop.judged()) == 10
    part = shop.outer_part(0, {})
    assert_allclose(
        found.scores.mean(), np.mean(found.models[0].predict(part.Z_judge) == part.y_judge)
    )


def test_many_rows_are_tuned_on_a_sample_and_it_is_said(monkeypatch):
    monkeypatch.setattr("pellucid.study.candidates.training.TUNING_ROWS", 60)
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 2))
    shop = workshop(pl.DataFrame(X), X[:, 0], NUMBER)
    assert sum(len(b) for _, b in shop.inner_folds(shop.folds[0][0])) == 60
    assert run(shop, tried(Ridge(), {"alpha": [1.0, 0.1]})).sampled == 60


def test_inner_folds_keep_groups_and_order():
    rng = np.random.default_rng(6)
    y, groups = rng.normal(size=90), np.repeat(np.arange(15), 6)
    frame = pl.DataFrame({"x": y})
    grouped = Workshop(frame, y, [(np.arange(60), np.arange(60, 90))], kind="groups", kinds={},
                       scorer=make_scorer(NUMBER, None), groups=groups)  # fmt: skip
    for a, b in grouped.inner_folds(np.arange(60)):
        assert not set(groups[a]) & set(groups[b])
    ordered = Workshop(frame, y, [(np.arange(60), np.arange(60, 90))], kind="sequential", kinds={},
                       scorer=make_scorer(NUMBER, None))  # fmt: skip
    for a, b in ordered.inner_folds(np.arange(60)):
        assert a.max() < b.min()


def test_a_candidate_that_fails_is_named():
    shop = workshop(pl.DataFrame({"x": np.arange(50.0)}), random_labels(50), BINARY)
    broken = tried(pellucid.MultinomialNB(), name="counts")  # refuses negative numbers
    found = train_all(shop, [tried(GuessClassifier(), complexity=0, name="guess"), broken])
    assert [one.name for one in found.outcomes] == ["guess"]
    assert found.failed[0].name == "counts"
    assert "negative" in found.failed[0].why.lower()


def test_the_time_limit_leaves_guess_and_baseline():
    shop = workshop(pl.DataFrame({"x": np.arange(50.0)}), random_labels(50), BINARY)
    models = [tried(pellucid.GaussianNB(), complexity=c, name=str(c)) for c in (1, 2, 4)]
    first = tried(GuessClassifier(), complexity=0, name="guess")
    found = train_all(shop, [first, *models], deadline=lambda outcomes: 0.0)
    assert [one.name for one in found.outcomes] == ["guess", "1"]
    assert found.skipped == ["2", "4"]


@pytest.mark.parametrize("effort", ["quick", "standard", "thorough"])
@pytest.mark.parametrize("shape", [(200, 5), (60, 2000), (100_000, 30)])
def test_registry(effort, shape):
    """Guessing first, a linear model next, every class exists and every space is simplest first."""
    n, p = shape
    for task in (BINARY, NUMBER):
        setting = Setting(task, effort, n, p, 2, n // 2, 1.0, (), 0)
        found = [one.candidate for one in find_candidates(setting)]
        assert (found[0].complexity, found[1].complexity) == (0, 1)
        for one in found:
            assert set(one.space) <= set(one.estimator.get_params())
        if p > n:
            assert "qda" not in [one.key for one in found]
        assert len({one.key for one in found}) == len(found)


@pytest.mark.parametrize("key", ["lasso", "elastic_net", "svm", "network"])
def test_candidates_do_not_mind_the_units_of_the_target(key):
    """Grams or kilograms: the same model, in other units."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, 0.5, 0.0] + 0.3 * rng.normal(size=80)
    said = []
    for factor, shift in ((1.0, 0.0), (500.0, 4000.0)):
        spread = float(np.std(factor * y))
        setting = Setting(NUMBER, "thorough", 80, 3, 2, 40, spread, (), 0)
        one = next(t for t in find_candidates(setting) if t.candidate.key == key).candidate
        values = {name: choices[-1] for name, choices in one.space.items()}
        model = one.estimator.set_params(**values).fit(X, factor * y + shift)
        said.append((model.predict(X) - shift) / factor)
    assert_allclose(said[0], said[1], atol=0.01)


def test_registry_switches_on_by_itself():
    for entry in REGISTRY:
        for name in entry.needs:
            assert (public(name) is not None) == (name in pellucid._HOME)


def test_unknown_candidate_is_answered_with_the_nearest():
    setting = Setting(BINARY, "quick", 100, 3, 2, 50, 1.0, (), 0)
    with pytest.raises(ValueError, match="did you mean 'lda'"):
        find_candidates(setting, ("ldaa",))


def test_guesses():
    X = np.zeros((4, 1))
    costs = [[0, 10], [1, 0]]
    y = ["no", "yes", "yes", "yes"]
    assert GuessClassifier().fit(X, y).predict(X).tolist() == ["yes"] * 4
    assert GuessClassifier(costs).fit(X, y).predict(X).tolist() == ["no"] * 4
    Y = np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    assert GuessClassifier().fit(X, Y).predict(X).tolist() == [[1, 0]] * 4
    assert GuessRegressor().fit(X, np.arange(8.0).reshape(4, 2)).predict(X)[0].tolist() == [3, 4]


def test_mean_gain_is_that_of_ranking_metrics():
    rng = np.random.default_rng(7)
    query = rng.integers(20, size=200)
    y, said = rng.integers(4, size=200).astype(float), rng.normal(size=200)
    table = pellucid.evaluation.ranking_metrics(y, said, query)
    assert_allclose(mean_gain(y, said, query), table["ndcg"].estimate)
