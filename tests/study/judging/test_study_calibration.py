"""Calibration from the learning rows: never worse than guessing, and the labels fit it."""

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import log_loss

import pellucid
from pellucid import Plan, learn
from pellucid.study.judging.calibration import (
    LEAST,
    TemperedClassifier,
    find_beta,
    shrinkage,
    tempered,
    trusted,
)


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


def test_weak_evidence_shrinks_the_trust_and_strong_evidence_does_not():
    """1 - 2 s^2 / d^2, s the standard error of the mean gain d; a group counts as one."""
    gain = np.random.default_rng(4).normal(0.2, 1.0, size=400)
    d, s = gain.mean(), gain.std(ddof=1) / 20
    alone = np.arange(400) % 200  # blocks of two
    assert shrinkage(gain, np.arange(400), twice=True) == pytest.approx(1 - 2 * (s / d) ** 2)
    assert shrinkage(gain, np.arange(400), twice=False) == pytest.approx(1 - (s / d) ** 2)
    assert shrinkage(gain + 5, alone, twice=True) > 0.99
    assert shrinkage(-gain, alone, twice=True) == LEAST
    same = np.repeat(gain[:40], 10)  # ten rows of each group say one thing
    groups = np.repeat(np.arange(40), 10)
    loose = shrinkage(same, np.arange(400), twice=True)
    assert shrinkage(same, groups, twice=True) < loose


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_model_of_noise_says_the_shares_and_keeps_its_order(seed):
    """Nothing in the columns: the kept classifier is no worse than guessing on 4,000 new rows."""
    rng = np.random.default_rng([seed, 9])

    def draw(n):
        X = rng.normal(size=(n, 3))
        return pl.DataFrame(
            {**{f"x{j}": X[:, j] for j in range(3)}, "y": rng.choice(list("ab"), n)}
        )

    plan = Plan(candidates=("logistic", "tree"))
    record = learn(draw(60), "y", plan=plan, random_state=seed, effort="quick")
    new = draw(4000)
    y, share = new["y"].to_numpy(), record.predict_proba(new).mean(axis=0)
    loss = log_loss(y, record.predict_proba(new), labels=["a", "b"])
    assert loss < -np.mean(np.log(np.where(y == "a", share[0], share[1]))) + 0.02
    assert record.verdict.kind != "shown"


def test_what_is_drawn_to_the_shares_is_said_and_not_denied(tmp_path):
    """A trust shrunk by weak evidence is in the file and in the words, and excludes nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 4))
    y = np.where(X[:, 0] + 2 * rng.normal(size=70) > 0.8, "yes", "no")
    table = pl.DataFrame({**{f"x{j}": X[:, j] for j in range(4)}, "y": y})
    plan = Plan(candidates=("logistic",))
    record = learn(table, "y", metric="roc_auc", plan=plan, effort="quick")
    kept = trusted(record.model[-1])
    assert 0 < kept.beta < 0.8
    assert record.verdict.kind == "not_shown"
    assert "drawn towards the shares of the classes" in str(record.verdict)
    pellucid.save(record.model, tmp_path / "m.pellucid")
    again = pellucid.load(tmp_path / "m.pellucid")
    assert trusted(again[-1]).beta == kept.beta
    assert (again.predict_proba(record._inputs(table)) == record.predict_proba(table)).all()


def test_a_tree_that_says_never_is_calibrated():
    """Leaves of one class say 0 of the others, which one new row makes infinitely wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    table = pl.DataFrame({**{f"x{j}": X[:, j] for j in range(3)}, "y": y})
    record = learn(table, "y", plan=Plan(candidates=("tree",)), effort="quick")
    P = record.tested.predict_proba(record._inputs(table))
    assert P.min() > 1e-3
    assert record.final.table["log_loss"].estimate < record.final.baseline["log_loss"].estimate
