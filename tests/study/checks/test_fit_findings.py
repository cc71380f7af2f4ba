"""Findings that come from what the fits say, and what the time limit leaves out."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    PolynomialFeatures,
    Ridge,
    learn,
    load,
)
from pellucid.study import Plan, Study
from pellucid.study.candidates.products import ProductClassifier, ProductRegressor
from pellucid.study.checks.fit import _classes, _constant
from pellucid.study.verdict.insights import explain


def codes(record):
    return {one.code: one for one in record.findings}


def two_heaps(gap, n=120):
    rng = np.random.default_rng(0)
    c = np.arange(n) % 2
    x = rng.normal(size=(n, 2)) + gap * c[:, None]
    return pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": np.array(["no", "yes"])[c]})


def test_separable_classes_are_said():
    """PEL404 comes from the logistic fit without a penalty; it is nothing to mend next."""
    plan = Plan(candidates=("logistic",), keep=("a", "b"))
    record = learn(two_heaps(8.0), "y", plan=plan, effort="quick")
    found = codes(record)["PEL404"]
    assert found.evidence["separation"] == "complete"
    assert found.where == ("logistic regression without a penalty",)
    assert not any("separable" in sentence for sentence in record.verdict.text)
    assert "PEL407" not in codes(record)  # separated is not unconverged
    assert record.insight.coefficients["separation"] == "complete"


def test_overlapping_classes_are_not_separable():
    plan = Plan(candidates=("logistic",))
    assert "PEL404" not in codes(learn(two_heaps(1.0), "y", plan=plan, effort="quick"))


def test_zero_counts_of_words_are_said():
    rng = np.random.default_rng(1)
    words = {"ham": "meeting report budget", "spam": "prize winner cash"}
    rows = []
    for i in range(80):
        label = ("ham", "spam")[i % 2]
        own = rng.choice(words[label].split(), 4)
        rows.append({"text": " ".join([*own, *rng.choice(["the", "a", "of"], 6)]), "y": label})
    plan = Plan(candidates=("word_bayes",))
    found = codes(learn(pl.DataFrame(rows), "y", plan=plan, effort="quick"))["PEL414"]
    assert found.where == ("naive Bayes on words",)
    assert found.severity == "info"
    assert found.evidence["pairs"]["naive Bayes on words"] >= 6


def small_class(columns):
    rng = np.random.default_rng(2)
    y = np.repeat(["few", "many"], [12, 108])
    X = rng.normal(size=(120, columns)) + 0.8 * (y == "few")[:, None]
    return pl.DataFrame({f"x{j}": X[:, j] for j in range(columns)} | {"y": y})


def test_a_class_with_fewer_rows_than_columns_is_named():
    plan = Plan(candidates=("lda", "rda"))
    found = codes(learn(small_class(15), "y", plan=plan))["PEL415"]
    assert found.where == ("few",)
    assert found.severity == "info"  # shrunk matrices cope
    assert found.evidence["rows"]["few"] <= found.evidence["features"] == 15


def test_classes_with_rows_enough_are_not_named():
    plan = Plan(candidates=("lda",))
    assert "PEL415" not in codes(learn(small_class(3), "y", plan=plan))


# --- the time limit ----------------------------------------------------------------------------


def test_what_may_be_is_left_out_when_time_is_over():
    rng = np.random.default_rng(3)
    x = rng.normal(size=200)
    table = {"x": x, "y": x + rng.normal(size=200)}
    plan = Plan(candidates=("ridge", "lasso"), time_limit=1e-6)
    record = learn(table, "y", plan=plan)
    for words in ("lasso", "tuning on all learning rows", "the importance of the columns",
                  "the learning curve", "the coefficients"):  # fmt: skip
        assert words in record.partial
    assert record.insight.importance is None
    assert record.insight.learning_curve is None
    assert record.final.table["rmse"].estimate < 1.5  # the test rows were used all the same
    assert record.model.predict(pl.DataFrame({"x": x})).shape == (200,)
    whole = learn(table, "y", plan=plan._replace(time_limit=None))
    assert whole.partial == ""
    assert whole.insight.importance[0]["name"] == "x"


def test_a_roomy_limit_changes_nothing():
    plan = Plan(candidates=("lda",))
    free = learn(two_heaps(1.0), "y", plan=plan)
    boxed = learn(two_heaps(1.0), "y", plan=plan._replace(time_limit=600.0))
    assert boxed.partial == ""
    assert_array_equal(free.leaderboard[0].folds, boxed.leaderboard[0].folds)
    assert free.final.table.to_dict() == boxed.final.table.to_dict()


def test_parts_come_in_turn_until_it_is_late():
    """Late after the second part: the rest is named, in order."""
    study = Study(two_heaps(1.0), "y", plan=Plan(candidates=("lda",)))
    study.train()
    outcomes = study._done["train"].outcomes
    asked = iter([False, False, True, True])
    found, skipped = explain(study._workshop, outcomes[1], None, None, late=lambda: next(asked))
    assert found.coefficients is not None
    assert found.importance is not None
    assert skipped == ["the dependence on the columns", "the learning curve"]


# --- products and rounds -----------------------------------------------------------------------


def test_products_are_ridge_on_standardised_terms():
    rng = np.random.default_rng(4)
    X, new = rng.normal(size=(60, 3)), rng.normal(size=(9, 3))
    y = X[:, 0] * X[:, 1] + rng.normal(size=60)
    expand = PolynomialFeatures(2, include_bias=False).fit(X)
    Z = expand.transform(X)
    plain = Ridge(2.0).fit((Z - Z.mean(axis=0)) / Z.std(axis=0), y)
    expected = plain.predict((expand.transform(new) - Z.mean(axis=0)) / Z.std(axis=0))
    assert_allclose(ProductRegressor(2.0).fit(X, y).predict(new), expected)


def test_products_forgive_an_idle_column():
    X = np.column_stack([np.arange(20.0), np.ones(20)])
    assert_allclose(ProductRegressor(1e-8).fit(X, X[:, 0] ** 2).predict(X), X[:, 0] ** 2, atol=1e-3)


def test_a_saddle_needs_products(tmp_path):
    """No column says anything by itself; the model is chosen, kept and gives the same answers."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=300) > 0, "same", "other")
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
    plan = Plan(candidates=("logistic", "logistic_splines", "logistic_products"))
    record = learn(table, "y", plan=plan)
    assert (record.verdict.kind, record.verdict.chosen) == (
        "shown", "logistic regression on products"
    )  # fmt: skip
    assert {one["name"] for one in record.insight.importance[:2]} == {"a", "b"}
    record.save(tmp_path / "model.pellucid")
    again = load(tmp_path / "model.pellucid")
    inputs = table.drop("y")
    assert_array_equal(again.predict_proba(inputs), record.model.predict_proba(inputs))
    P = record.model[-1].predict_proba(np.zeros((2, 3)))
    assert_allclose(P.sum(axis=1), 1.0)
    last = record.model[-1]
    assert isinstance(getattr(last, "estimator_", last), ProductClassifier)  # maybe calibrated


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_added_rounds_give_the_model_of_all_rounds(kind):
    """What lets tuning go on from 20 rounds to 50."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(150, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=150), [-0.5, 0.5])
    classes = kind == "classifier"
    make = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    options = {"early_stopping": False, "max_leaf_nodes": 4, "random_state": 0}
    grown = make(max_iter=20, warm_start=True, **options).fit(X, y)
    grown.set_params(max_iter=50).fit(X, y)
    whole = make(max_iter=50, **options).fit(X, y)
    said = "predict_proba" if classes else "predict"
    assert_array_equal(getattr(grown, said)(X), getattr(whole, said)(X))


def test_training_keeps_time_for_the_end():
    """A study of many candidates ends near its limit, its parts after training included."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 6))
    table = pl.DataFrame(X).with_columns(pl.Series("y", X[:, 0] ** 2 + rng.normal(size=400)))
    plan = Plan(candidates=("ridge", "tree"))
    record = learn(table, "y", plan=plan._replace(time_limit=1e-3))
    for part in ("decision tree", "the refit", "the learning curve", "the search for leaks"):
        assert part in record.partial
    assert record.insight.learning_curve is None
    assert not learn(table, "y", plan=plan).partial


def said_of(model, X, y):
    """Codes that a study would report of this network."""
    from types import SimpleNamespace

    from pellucid.study.checks.network import network_findings

    part = SimpleNamespace(Z_learn=X, y_learn=y)
    shop = SimpleNamespace(outer_part=lambda i, features: part)
    tried = SimpleNamespace(features={})
    outcome = SimpleNamespace(models=[model], name="network", tried=tried)
    return {one.code: one for one in network_findings([outcome], shop)}


@pytest.mark.filterwarnings("ignore")
def test_networks_say_what_went_wrong():
    """PEL408: rates on both sides of the bound; PEL413: twelve logistic layers."""
    from pellucid import MLPClassifier, MLPRegressor
    from pellucid.study.checks.network import sharpness

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) * [3.0, 1.0, 1.0]
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=80)

    def fitted(rate, momentum):
        model = MLPRegressor(
            hidden_layer_sizes=(4,), solver="sgd", learning_rate_init=rate, momentum=momentum,
            nesterovs_momentum=False, max_iter=2, random_state=0,
        )  # fmt: skip
        return model.fit(X, y)

    calm = fitted(1e-4, 0.0)
    assert "PEL408" not in said_of(calm, X, y)
    wild = fitted(1e-4, 0.0)
    top = sharpness(wild.network_, X, y)
    wild.history_[-1]["learning_rate"] = 2.1 / top  # as if the last step had been this long
    assert said_of(wild, X, y)["PEL408"].evidence["lambda_max"] == pytest.approx(top)
    wild.momentum = 0.2  # momentum allows longer steps
    assert "PEL408" not in said_of(wild, X, y)
    deep = MLPClassifier((5,) * 12, activation="logistic", max_iter=3, random_state=0)
    labels = np.where(y > 0, "up", "down")
    assert "PEL413" in said_of(deep.fit(X, labels), X, labels)
    shallow = MLPClassifier((5,), max_iter=50, random_state=0).fit(X, labels)
    assert said_of(shallow, X, labels) == {}


def bent(kind, n=240):
    """A number that bends with x, with rows of groups, of days, or of neither."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    table = {"x": x, "z": rng.normal(size=n), "y": x + 0.25 * x**2 + rng.normal(size=n)}
    if kind == "groups":
        who = np.arange(n) // 6
        table |= {
            "who": [f"p{i}" for i in who],
            "y": table["y"] + 4 * rng.exponential(size=40)[who],
        }
    if kind == "days":
        table |= {"day": np.datetime64("2024-01-01") + np.arange(n)}
        table["y"] = table["y"] * np.repeat([1.0, 1.0, 1.0, 9.0, 30.0, 1.0], 40)
    return pl.DataFrame(table)


def test_nothing_is_advised_that_was_done():
    """Curves that were tried, groups that were found and time that was kept are not advised."""
    linear = learn(bent("rows"), "y", effort="quick", plan=Plan(candidates=("ridge",)))
    both = learn(bent("rows"), "y", effort="quick", plan=Plan(candidates=("ridge", "neighbours")))
    assert "splines" in codes(linear)["PEL409"].fix
    if both.verdict.chosen == "ridge regression":
        assert "Tried and not shown to be better: nearest" in codes(both)["PEL409"].fix
        assert codes(both)["PEL409"].severity == "info"
    for kind, plan in (("groups", Plan(groups="who")), ("days", Plan(time="day"))):
        found = codes(learn(bent(kind), "y", effort="quick", plan=plan)).get("PEL504")
        if found is not None:
            assert "look for groups" not in found.fix


def test_no_gain_is_said_of_the_yardstick():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"x": rng.normal(size=1500), "y": rng.normal(size=1500)})
    record = learn(table, "y", effort="quick")
    assert record.verdict.kind == "excluded"
    found = codes(record)["PEL405"]
    assert "guessing" not in f"{found.title} {found.why} {found.fix}"
    assert record.comparison is None or "guessing" not in record.comparison.names


def test_constant_predictions_say_why():
    """Drawn to the shares of the classes, or simply so; the classes never said are not told too."""
    said = SimpleNamespace(prediction=np.array(["no"] * 5))
    row = SimpleNamespace(name="a tree", chosen=True, complexity=2)
    by_class = [{"label": "yes", "n": 2, "recall": 0.0}, {"label": "no", "n": 3, "recall": 1.0}]
    evaluation = SimpleNamespace(said=said, final=SimpleNamespace(by_class=by_class, n=5))
    choice = SimpleNamespace(signal=True)
    facts = SimpleNamespace(rows=[row], evaluation=evaluation, choice=choice, trust=0.02)
    (found,) = _constant(facts)
    assert "drawn to 0.02 of the way from the shares of the classes" in found.why
    facts.trust = 1.0
    assert "drawn" not in _constant(facts)[0].why
    assert _classes(facts) == []


@pytest.mark.parametrize(("recalls", "named"), [((0.4, 0.9), ("a",)), ((0.4, 0.45), None)])
def test_a_model_that_misses_every_class_is_bad_and_not_one_sided(recalls, named):
    """Counting every class alike would not help it."""
    by_class = [{"label": k, "n": 20, "recall": r} for k, r in zip("ab", recalls, strict=True)]
    said = SimpleNamespace(prediction=np.array(list("ab") * 20))
    facts = SimpleNamespace(
        evaluation=SimpleNamespace(said=said, final=SimpleNamespace(by_class=by_class, n=40)),
        choice=SimpleNamespace(signal=True),
        task=SimpleNamespace(metric="accuracy"),
        shop=SimpleNamespace(scorer=SimpleNamespace(cost_matrix=None)),
    )
    assert [one.where for one in _classes(facts)] == ([] if named is None else [named])
