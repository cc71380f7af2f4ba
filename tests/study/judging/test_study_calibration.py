"""Calibration from the learning rows: never worse than guessing, and the labels fit it."""

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import log_loss

import pellucid
from pellucid import Plan, learn
from pellucid.study.judging.calibration import TemperedClassifier, find_beta, tempered


def noise_with_names(n=160, seed=0):
    """A weak signal, and columns that let a model be too sure of itself."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 30))
    y = np.where(X[:, 0] + 2.5 * rng.normal(size=n) > 0.5, "yes", "no")
    return pl.DataFrame({**{f"x{j}": X[:, j] for j in range(30)}, "y": y})


def test_full_trust_changes_nothing_and_none_is_guessing():
    P = np.random.default_rng(0).dirichlet([1, 2, 3], size=20)
    share = np.array([0.2, 0.3, 0.5])
    assert tempered(P, share, 1.0, 1e-9) == pytest.approx(P, rel=1e-9)
    assert tempered(P, share, 0.0, 1e-9) == pytest.approx(np.tile(share, (20, 1)))


def test_the_trust_in_a_model_that_is_too_sure_is_recovered():
    rng = np.random.default_rng(1)
    logit = rng.normal(size=20_000)
    y = (rng.random(20_000) < 1 / (1 + np.exp(-logit))).astype(int)
    p = 1 / (1 + np.exp(-3 * logit))  # three times too sure
    P = np.column_stack([1 - p, p])
    assert find_beta(P, y, np.array([0.5, 0.5]), 1e-6) == pytest.approx(1 / 3, abs=0.03)


def test_a_useless_model_is_not_trusted():
    rng = np.random.default_rng(2)
    P = rng.dirichlet([0.3, 0.3], size=500)
    y = rng.integers(2, size=500)
    assert find_beta(P, y, np.array([0.5, 0.5]), 1e-6) < 0.1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_saved_classifier_is_worse_than_guessing(seed):
    table = noise_with_names(seed=seed)
    plan = Plan(candidates=("bayes", "forest"))
    record = learn(table, "y", plan=plan, random_state=seed)
    new = noise_with_names(4000, seed=seed + 100)
    P = record.predict_proba(new)
    y = new["y"].to_numpy()
    share = (table["y"] == "yes").mean()
    guess = -np.mean(np.where(y == "yes", np.log(share), np.log(1 - share)))
    assert log_loss(y, P, labels=record.model.classes_) < guess + 0.02
    said = record.model.classes_[P.argmax(axis=1)]
    assert (record.predict(new) == said).all()


def test_a_tempered_model_is_saved_and_loaded(tmp_path):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 3)), rng.integers(2, size=80)
    model = TemperedClassifier(pellucid.GaussianNB(), 0.4).fit(X, y)
    pellucid.save(model, tmp_path / "m.pellucid")
    again = pellucid.load(tmp_path / "m.pellucid")
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert "trust" in str(model.card())
