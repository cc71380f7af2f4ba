"""Bayes' classifier: known densities, its error, plug-in fits."""

import numpy as np
import pytest
import scipy.stats as st
from scipy.integrate import quad
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from pellucid import (
    BayesClassifier,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LossMatrixClassifier,
    QuadraticDiscriminantAnalysis,
)
from pellucid.inference import MultivariateNormal, Normal


class Bare:
    """A density that can be asked for nothing else than log densities and draws."""

    def __init__(self, law):
        self.law = law

    def log_density(self, x):
        return self.law.logpdf(x)

    def sample(self, n, random_state=None):
        return self.law.rvs(size=n, random_state=random_state)


def test_example_21_equal_spread():
    for laws in ([Normal(0, 1), Normal(2, 1)], [st.norm(0, 1), st.norm(2, 1)]):
        model = BayesClassifier(laws)
        np.testing.assert_allclose(model.boundaries(-10, 10), [1.0], atol=1e-12)
        for method in ("auto", "closed_form", "integration"):
            error = model.bayes_error(method)
            assert error.value == pytest.approx(0.1586552539, abs=1e-10)
        assert model.bayes_error().method == "closed_form"
        drawn = model.bayes_error("monte_carlo", random_state=0)
        assert abs(drawn.value - 0.1586552539) < 4 * drawn.standard_error
        assert 0 < drawn.standard_error < 1e-3


def test_example_21_unequal_spread():
    for laws in ([Normal(0, 1), Normal(0, 2)], [st.norm(0, 1), st.norm(0, 2)]):
        model = BayesClassifier(laws)
        cuts = [-1.3595559869, 1.3595559869]
        np.testing.assert_allclose(model.boundaries(-10, 10), cuts, atol=1e-10)
        error = model.bayes_error()
        assert (error.method, error.standard_error) == ("integration", 0.0)
        assert error.value == pytest.approx(0.3386627156, abs=1e-10)
    bare = BayesClassifier([Bare(st.norm(0, 1)), Bare(st.norm(0, 2))])
    assert bare.bayes_error().value == pytest.approx(0.3386627156, abs=1e-7)


def test_closed_form_in_several_dimensions_with_priors():
    S = np.array([[2.0, 0.5], [0.5, 1.0]])
    laws = [MultivariateNormal([0, 0], S), MultivariateNormal([1, 2], S)]
    model = BayesClassifier(laws, priors=[0.8, 0.2])
    exact, drawn = model.bayes_error(), model.bayes_error("monte_carlo", random_state=0)
    assert exact.method == "closed_form"
    assert abs(exact.value - drawn.value) < 4 * drawn.standard_error
    frozen = [st.multivariate_normal([0, 0], S), st.multivariate_normal([1, 2], S)]
    assert BayesClassifier(frozen, priors=[0.8, 0.2]).bayes_error().value == pytest.approx(
        exact.value
    )
    X, y = model.sample(200_000, random_state=1)
    assert abs(1 - model.score(X, y) - exact.value) < 0.004
    np.testing.assert_allclose(
        model.predict_proba(X[:50]), BayesClassifier(frozen, [0.8, 0.2]).predict_proba(X[:50])
    )
    same = BayesClassifier([laws[0], laws[0]], priors=[0.3, 0.7])
    assert same.bayes_error().value == pytest.approx(0.3)


def test_three_classes_costs_and_gaps():
    laws = [st.norm(0, 1), st.norm(3, 0.5), st.laplace(6, 1)]
    priors, L = np.array([0.5, 0.2, 0.3]), np.array([[0, 1, 4], [2, 0, 1], [9, 1, 0.0]])
    model = BayesClassifier(laws, priors, L)

    def least(x):
        joint = priors * [law.pdf(x) for law in laws]
        return (joint @ L).min()

    cuts = model.boundaries(-20, 30)
    by_quad = quad(least, -20, 40, points=list(cuts), limit=500)[0]
    assert model.bayes_error().value == pytest.approx(by_quad, rel=1e-7)
    grid = np.linspace(-10, 15, 2001)[:, None]
    joint = np.column_stack([p * law.pdf(grid[:, 0]) for p, law in zip(priors, laws, strict=True)])
    np.testing.assert_array_equal(model.predict(grid), (joint @ L).argmin(axis=1))
    plain = BayesClassifier(laws, priors)
    np.testing.assert_array_equal(plain.predict(grid), joint.argmax(axis=1))


def test_counts_are_summed():
    laws = [st.poisson(2), st.poisson(6)]
    x = np.arange(200)
    exact = np.minimum(laws[0].pmf(x), laws[1].pmf(x)).sum() / 2
    assert BayesClassifier(laws).bayes_error().value == pytest.approx(exact, rel=1e-10)
    assert BayesClassifier([st.poisson(2), st.norm(6)]).bayes_error(random_state=0).method == (
        "monte_carlo"
    )


def test_usable_without_fit():
    model = BayesClassifier([Normal(0, 1), Normal(2, 1)], priors=[0.9, 0.1])
    assert model.classes_.tolist() == [0, 1]
    odds = model.decision_function([[1.0]])
    assert odds[0] == pytest.approx(np.log(0.1 / 0.9))
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[0.9, 0.1]])
    np.testing.assert_allclose(np.exp(model.predict_log_proba([[1.0]])), [[0.9, 0.1]])
    far = model.predict_proba([[1e9], [-1e9]])
    assert np.isfinite(far).all()
    assert BayesClassifier([Normal(0, 1), Normal(2, 1)]).predict([[1.0]])[0] == 1  # even chance
    costs = LossMatrixClassifier(FrozenEstimator(model), [[0, 1], [99, 0]])
    assert costs.fit([[0.0], [1.0]], [0, 1]).predict([[0.5]])[0] == 1
    assert "given" in str(model.card())
    assert clone(model).predict([[5.0]])[0] == 1


def test_known_densities_with_data_take_labels_and_shares():
    X, y = [[0.0], [0.1], [2.2]], ["a", "a", "b"]
    model = BayesClassifier([Normal(0, 1), Normal(2, 1)]).fit(X, y)
    np.testing.assert_allclose(model.priors_, [2 / 3, 1 / 3])
    assert model.predict([[-1.0], [3.0]]).tolist() == ["a", "b"]


def test_plug_in_is_the_discriminant_it_should_be():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    X = rng.normal(size=(300, 2)) * (1 + y[:, None]) + 2 * y[:, None]
    model = BayesClassifier().fit(X, y)
    qda = QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), qda.predict_proba(X), rtol=1e-9)
    one = BayesClassifier().fit(X[:, :1], y)
    nb = GaussianNB(var_smoothing=0).fit(X[:, :1], y)
    np.testing.assert_allclose(one.predict_proba(X[:, :1]), nb.predict_proba(X[:, :1]), rtol=1e-9)
    assert LinearDiscriminantAnalysis().fit(X, y).score(X, y) <= model.score(X, y) + 0.02


@pytest.mark.parametrize(
    ("family", "law"),
    [
        ("laplace", st.laplace),
        ("exponential", st.expon),
        ("poisson", st.poisson),
        ("bernoulli", st.bernoulli),
    ],
)
def test_families_are_maximum_likelihood(family, law):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 400)
    draw = {
        "laplace": lambda: rng.laplace(3.0 * y, 1.0 + y),
        "exponential": lambda: rng.exponential(1.0 + 3.0 * y),
        "poisson": lambda: rng.poisson(2.0 + 3.0 * y),
        "bernoulli": lambda: rng.random(800) < 0.2 + 0.5 * y,
    }[family]
    x = np.asarray(draw(), dtype=float)
    model = BayesClassifier(family).fit(x[:, None], y)
    own = x[y == 1]
    params = {
        "laplace": lambda: (np.median(own), np.abs(own - np.median(own)).mean()),
        "exponential": lambda: (0.0, own.mean()),
        "poisson": lambda: (own.mean(),),
        "bernoulli": lambda: (own.mean(),),
    }[family]()
    frozen = law(*params)
    log = (
        frozen.logpmf
        if hasattr(frozen, "logpmf") and family in ("poisson", "bernoulli")
        else (frozen.logpdf)
    )
    np.testing.assert_allclose(model.densities_[1].log_density(x[:, None]), log(x), rtol=1e-9)
    error = model.bayes_error(random_state=0)
    assert 0.02 < error.value < 0.5
    drawn = model.bayes_error("monte_carlo", random_state=0)
    assert abs(error.value - drawn.value) < 5 * drawn.standard_error + 1e-12
    assert abs(1 - model.score(x[:, None], y) - error.value) < 0.06


def test_mixed_families_and_weights():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 100)
    X = np.abs(rng.normal(size=(200, 1))) + y[:, None]
    w = rng.integers(0, 3, size=200)
    a = BayesClassifier(["exponential", "normal"]).fit(X, y, sample_weight=w)
    b = BayesClassifier(["exponential", "normal"]).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-10)
    outside = a.predict_proba([[-5.0]])
    np.testing.assert_allclose(outside, [[0.0, 1.0]])


def test_refusals():
    X, y = np.arange(8.0).reshape(4, 2), ["a", "a", "b", "b"]
    with pytest.raises(ValueError, match=r"class a .*singular"):
        BayesClassifier().fit(X, y)
    with pytest.raises(ValueError, match="did you mean 'normal'"):
        BayesClassifier("normall").fit(X, y)
    with pytest.raises(ValueError, match="for each of 2 classes"):
        BayesClassifier(["normal"]).fit(X, y)
    with pytest.raises(ValueError, match="numbers >= 0, class a has -1"):
        BayesClassifier("exponential").fit([[-1.0], [1.0], [2.0]], ["a", "a", "b"])
    with pytest.raises(ValueError, match="needs counts"):
        BayesClassifier("poisson").fit([[0.5], [1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="priors must"):
        BayesClassifier([Normal(0, 1), Normal(1, 1)], priors=[0.5, 0.6]).predict([[0.0]])
    with pytest.raises(ValueError, match="log_density"):
        BayesClassifier([Normal(0, 1), 3]).predict([[0.0]])
    known = BayesClassifier([Normal(0, 1), Normal(1, 1)])
    with pytest.raises(ValueError, match="one number"):
        known.predict([[0.0, 1.0]])
    with pytest.raises(ValueError, match="closed_form needs"):
        BayesClassifier([Normal(0, 1), Normal(1, 2)]).bayes_error("closed_form")
    with pytest.raises(ValueError, match="low must be below"):
        known.boundaries(1, 1)
    S = np.eye(2)
    plane = BayesClassifier([MultivariateNormal([0, 0], S), MultivariateNormal([1, 1], 2 * S)])
    with pytest.raises(ValueError, match="one column"):
        plane.boundaries(0, 1)
    with pytest.raises(ValueError, match="integration needs"):
        plane.bayes_error("integration")
    assert plane.bayes_error(random_state=0).method == "monte_carlo"
