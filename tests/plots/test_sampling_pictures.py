"""Pictures of posteriors and chains of classifiers: the numbers drawn, and that they draw."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.pipeline import make_pipeline

from pellucid import BayesianLogisticRegression, LogisticRegression, StandardScaler, plots
from pellucid.inference import GaussianWalk, laplace_approximation, metropolis_hastings, rhat

# pictures of few draws, on purpose
pytestmark = pytest.mark.filterwarnings("ignore:do not trust these draws")

NAMES = ["dose", "age"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def few(n=16, p=2, seed=1):
    rng = np.random.default_rng(seed)
    y = np.repeat(["no", "yes"], n // 2)
    return rng.normal(size=(n, p)) + 1.4 * (y == "yes")[:, None], y


@pytest.fixture(scope="module")
def fitted():
    X, y = few()
    X = pd.DataFrame(X, columns=NAMES)
    return BayesianLogisticRegression(prior=9.0).fit(X, y), X, y


REPEATED = set()  # kinds whose SVG was already compared with a second one: drawing is slow


def drawn(picture, *said):
    """It draws, has words, gives the same SVG twice, and the texts given are on it."""
    found = picture.plot()
    assert isinstance(found, Axes | Figure)
    assert len(picture.alt) > 30
    assert picture.alt.endswith(".")
    figure = getattr(found, "figure", found)
    texts = " ".join(t.get_text() for t in figure.findobj(Text)).replace("\n", " ")
    for word in said:
        assert word in texts, f"{word!r} is not in the picture"
    plt.close(figure)
    if type(picture) not in REPEATED:
        REPEATED.add(type(picture))
        assert plots.svg(picture) == plots.svg(picture)


def log_posterior(theta, X, y, variance):
    f = theta[0] + np.asarray(X) @ theta[1:]
    sign = np.where(y == "yes", 1.0, -1.0)
    return float(-np.logaddexp(0, -sign * f).sum() - theta @ theta / (2 * variance))


def normal(x):
    return -0.5 * float(x @ x)


# --- laplace ----------------------------------------------------------------------------------


def test_laplace_draws_the_true_posterior_and_the_normal_one(fitted):
    model, X, y = fitted
    picture = plots.laplace(model, X, y, columns=NAMES)
    a, b = picture.lines
    top = log_posterior(model.map_, X, y, 9.0)
    for r, c in ((10, 20), (60, 60), (100, 30)):
        theta = np.array([model.map_[0], a[c], b[r]])  # the intercept is held at the mode
        assert_allclose(picture.exact[r, c], log_posterior(theta, X, y, 9.0) - top, atol=1e-8)
    A = np.linalg.inv(model.posterior_covariance_)[1:, 1:]
    assert_allclose(picture.covariance, np.linalg.inv(A))
    gap = np.array([a[20], b[10]]) - model.map_[1:]
    assert_allclose(picture.normal[10, 20], -0.5 * gap @ A @ gap)
    assert picture.exact.max() <= 1e-9  # the mode is the top
    assert 0 < picture.gap < 0.5
    drawn(picture, "coefficient of dose", "mode (MAP)", "other parameters held at the mode")


def test_laplace_of_one_parameter_and_of_many_data_agrees_better():
    gaps = []
    for n in (16, 4000):
        X, y = few(n, 1)
        model = BayesianLogisticRegression(prior=9.0, fit_intercept=False).fit(X, y)
        picture = plots.laplace(model, X, y)
        gaps.append(picture.gap)
    assert gaps[1] < 0.1 * gaps[0]
    drawn(picture, "normal approximation")


def test_laplace_of_a_log_density():
    found = laplace_approximation(lambda x: normal(x) - 0.1 * float(x[0]) ** 4, [1.0, 0.0])
    picture = plots.laplace(
        found, log_density=lambda x: normal(x) - 0.1 * float(x[0]) ** 4, names=["u", "v"]
    )
    assert picture.gap > 0.05
    drawn(picture, "coefficient of u")


def test_laplace_of_metropolis_uses_the_curvature_at_the_mode(fitted):
    model, X, y = fitted
    walked = BayesianLogisticRegression(prior=9.0, method="metropolis", n_draws=3000,
                                        n_burn=2000, random_state=0).fit(X, y)  # fmt: skip
    assert_allclose(
        plots.laplace(walked, X, y).covariance, plots.laplace(model, X, y).covariance, rtol=1e-6
    )


def test_laplace_refuses_what_it_cannot_draw(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="needs the data of the fit"):
        plots.laplace(model)
    with pytest.raises(ValueError, match="must be those of the fit"):
        plots.laplace(model, X, y[::-1])
    with pytest.raises(ValueError, match="log_density="):
        plots.laplace(laplace_approximation(normal, [1.0]))
    with pytest.raises(ValueError, match="got LogisticRegression"):
        plots.laplace(LogisticRegression().fit(X, y), X, y)


# --- probability contours and boundaries ------------------------------------------------------


@pytest.mark.parametrize("method", ["laplace", "metropolis"])
def test_contours_are_straight_at_the_mode_and_curved_in_the_average(method):
    X, y = few()
    options = {"n_draws": 2000, "n_burn": 2000, "random_state": 0}
    model = BayesianLogisticRegression(prior=9.0, method=method, **options).fit(X, y)
    picture = plots.probability_contours(model, X, y)
    a, b = picture.lines
    there = np.array([1.0, a[50], b[15]])
    assert_allclose(picture.point[15, 50], expit(there @ model.map_))
    assert_allclose(picture.average[15, 50], model.predict_proba(there[None, 1:])[0, 1])
    assert (np.abs(picture.average - 0.5) <= np.abs(picture.point - 0.5) + 0.02).mean() > 0.95
    assert model.method == method  # the model is left as it was
    drawn(picture, "At the mode: straight", "P(yes)")


def test_contours_refuse_what_has_no_average(fitted):
    _, X, y = fitted
    with pytest.raises(ValueError, match="method 'laplace' or 'metropolis'"):
        plots.probability_contours(BayesianLogisticRegression(method="map").fit(X, y), X, y)
    one = BayesianLogisticRegression().fit(X[["age"]], y)
    with pytest.raises(ValueError, match="needs two inputs"):
        plots.probability_contours(one, X[["age"]], y)


def test_sampled_boundaries_are_those_of_the_model(fitted):
    model, X, y = fitted
    picture = plots.sampled_boundaries(model, X, y, 7, random_state=3)
    planes = model.sample_boundaries(7, random_state=3)
    a, b = picture.lines
    for F, plane in zip(picture.scores, planes, strict=True):
        assert_allclose(F[10, 40], plane.score([[a[40], b[10]]])[0])
    assert_allclose(picture.mean[5, 6], model.boundary().score([[a[6], b[5]]])[0])
    drawn(picture, "7 draws", "posterior mean", "dose")


def test_sampled_boundaries_of_one_and_of_many_columns():
    X, y = few(40, 5)
    line = make_pipeline(StandardScaler(), BayesianLogisticRegression()).fit(X, y)
    picture = plots.sampled_boundaries(line, X, y, 5)
    assert "principal axes of 5 columns" in picture.note
    one = BayesianLogisticRegression().fit(X[:, :1], y)
    found = plots.sampled_boundaries(one, X[:, :1], y, 5)
    assert found.scores.shape == (5, 401)
    drawn(found, "P(yes)")
    with pytest.raises(ValueError, match="BayesianLogisticRegression of two classes"):
        plots.sampled_boundaries(LogisticRegression().fit(X, y), X, y)


# --- chains -----------------------------------------------------------------------------------


def test_metropolis_steps_hold_every_move():
    chain = metropolis_hastings(normal, [0.5, 0.5], n_draws=60, keep_proposals=True,
                                random_state=0)  # fmt: skip
    picture = plots.metropolis_steps(chain, normal, n=30, which=2)
    assert_array_equal(picture.places, chain.draws[2, :31])
    assert_array_equal(picture.accepted, chain.accepted[2, 1:31])
    yes = picture.accepted
    assert_array_equal(picture.places[1:][yes], picture.tried[yes])  # accepted: it went there
    assert_array_equal(picture.places[1:][~yes], picture.places[:-1][~yes])  # rejected: it stayed
    assert_allclose(picture.density.max(), 1)
    drawn(picture, "accepted", "rejected: stays")
    both = plots.metropolis_steps(
        chain, lambda x: -0.5 * (x**2).sum(axis=1), n=30, which=2, vectorized=True
    )
    assert_allclose(both.density, picture.density)


def test_metropolis_steps_of_one_coordinate_is_a_trace():
    chain = metropolis_hastings(normal, [0.0], n_draws=50, keep_proposals=True, random_state=0)
    drawn(plots.metropolis_steps(chain, normal), "target density", "rejected proposal")
    drawn(plots.metropolis_steps(chain, names=["θ"]), "θ")


def test_metropolis_steps_refuse_what_they_cannot_draw():
    plain = metropolis_hastings(normal, [0.0], n_draws=10, random_state=0)
    with pytest.raises(ValueError, match="keep_proposals=True"):
        plots.metropolis_steps(plain)
    three = metropolis_hastings(normal, np.zeros(3), n_draws=10, keep_proposals=True)
    with pytest.raises(ValueError, match="one or two coordinates"):
        plots.metropolis_steps(three)
    two = metropolis_hastings(normal, np.zeros(2), n_draws=10, keep_proposals=True)
    with pytest.raises(ValueError, match="below 4"):
        plots.metropolis_steps(two, which=4)


def test_metropolis_flow_writes_beside_its_arrows_and_never_across():
    picture = plots.metropolis_flow()
    place = {name: at for name, _, at, _ in picture.boxes}
    words = [text for text in picture.plot().texts if text.get_text() in ("yes", "no")]
    bent = ("enough", "propose")
    straight = [(a, b) for a, b, word in picture.arrows if word and (a, b) != bent]
    for (a, b), text in zip(straight, words, strict=False):
        middle = (place[a][0] + place[b][0]) / 2
        assert text.get_ha() == ("left" if text.get_position()[0] > middle else "right")


def test_metropolis_flow_names_every_step():
    picture = plots.metropolis_flow()
    boxes = {name for name, *_ in picture.boxes}
    assert all(a in boxes and b in boxes for a, b, _ in picture.arrows)
    assert ("enough", "propose", "no") in picture.arrows  # the loop
    drawn(picture, "propose", "accept", "reject")


def test_chains_hold_the_running_moments():
    found = metropolis_hastings(normal, [0.0, 0.0], n_draws=300, random_state=0)
    picture = plots.chains(found, names=["a", "b"])
    t = 120
    assert_allclose(picture.mean[1, t - 1], found.draws[1, :t].mean(axis=0), atol=1e-12)
    assert_allclose(picture.variance[1, t - 1], found.draws[1, :t].var(axis=0), atol=1e-12)
    assert_allclose(picture.rhat, rhat(found.draws, rank=True))
    drawn(picture, "chain 4", "mean so far", "variance so far", "R-hat")


def test_chains_take_arrays_and_models(fitted):
    _, X, y = fitted
    model = BayesianLogisticRegression(method="metropolis", n_draws=2000, n_burn=2000,
                                       random_state=0).fit(X, y)  # fmt: skip
    picture = plots.chains(model, columns=["age"])
    assert picture.names == ("age",)
    assert picture.note == "1 of 3 parameters"
    assert_array_equal(picture.draws[:, :, 0], model.draws_[:, :, 2])
    far = np.stack([np.random.default_rng(c).normal(9 * c, 1, 50) for c in range(2)])
    assert "do not agree" in plots.chains(far).alt
    with pytest.raises(ValueError, match="at most 5"):
        plots.chains(np.random.default_rng(0).normal(size=(2, 10, 7)), columns=range(6))
    with pytest.raises(ValueError, match="chains needs"):
        plots.chains(3)


@pytest.mark.parametrize("target", ["bimodal", "correlated"])
def test_longer_steps_are_accepted_less_often(target):
    picture = plots.target_shapes(target, scales=(0.2, 1.0, 4.0), n_draws=500)
    rates = [walk.acceptance for walk in picture.walks]
    assert rates[0] > rates[1] > rates[2]
    assert_allclose(picture.density.max(), 1)
    drawn(picture, "accepted", "R-hat")


def test_short_steps_do_not_find_the_second_mode():
    near, far = plots.target_shapes("bimodal", scales=(0.2, 3.0), n_draws=800).walks
    assert near.rhat > 1.3 > far.rhat
    again = metropolis_hastings(
        lambda x: np.logaddexp(-((x - [-2.5, 0]) ** 2).sum(axis=1) / 0.72,
                               -((x - [2.5, 0]) ** 2).sum(axis=1) / 0.72),
        [0.0, 0.0], n_draws=800, n_burn=0, proposal=GaussianWalk(0.2), vectorized=True,
        random_state=0,
    )  # fmt: skip
    assert_allclose(near.draws, again.draws)


def test_your_own_target_and_a_wrong_one():
    drawn(plots.target_shapes(normal, scales=1.0, n_draws=50, names=("a", "b")), "Your target")
    with pytest.raises(ValueError, match="target must be"):
        plots.target_shapes(3.0)
    with pytest.raises(ValueError, match="two coordinates, got 3"):
        plots.target_shapes(normal, start=np.zeros(3), n_draws=10)
