"""Pictures of classification: the numbers drawn are those of the definitions, and they draw."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from pellucid import (
    BayesClassifier,
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    LogisticRegressionCV,
    LossMatrixClassifier,
    MixedNB,
    MultinomialNB,
    Perceptron,
    PolynomialFeatures,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    SGDClassifier,
    StandardScaler,
    plots,
)
from pellucid.core.loops.iterate import History
from pellucid.data import load_iris, load_penguins, load_play_ball
from pellucid.discriminant import GaussianDensity
from pellucid.evaluation import size_curve
from pellucid.inference import Normal, bayes_decision
from pellucid.linear import logistic_path
from pellucid.solvers import GradientDescent, Newton
from pellucid.study import Task, audit, detect_task

SIZES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def penguins():
    X, y = load_penguins()
    table = X.with_columns(species=y).drop_nulls(SIZES)
    return table.select(SIZES).to_pandas().astype(float), table["species"].to_pandas()


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris()
    return X.to_pandas(), y.to_numpy()


def blobs(n=60, p=2, gap=2.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(["no", "yes"], n // 2)
    return rng.normal(size=(n, p)) + gap * (y == "yes")[:, None], y


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


# --- decision_regions -------------------------------------------------------------------------


def test_regions_are_the_predictions(penguins):
    X, y = penguins[0].iloc[:, :2], penguins[1]
    models = {"LDA": LinearDiscriminantAnalysis(), "QDA": QuadraticDiscriminantAnalysis(),
              "RDA": RegularizedDiscriminantAnalysis(0.5),
              "kNN": KNeighborsClassifier(7)}  # fmt: skip
    fits = {name: model.fit(X, y) for name, model in models.items()}
    picture = plots.decision_regions(fits, X, y)
    a, b = picture.lines
    for i, model in enumerate(fits.values()):
        assert_allclose(picture.errors[i], 1 - model.score(X, y))
        for r, c in ((0, 0), (90, 30), (17, 160)):
            there = pd.DataFrame([[a[c], b[r]]], columns=X.columns)
            assert model.predict(there)[0] == picture.classes[picture.regions[i][r, c]]
    drawn(picture, "LDA: ", "kNN: ", "bill_length_mm", "Chinstrap")
    with pytest.raises(ValueError, match="axes of their own"):
        picture.plot(plt.figure().add_subplot())


def test_regions_of_one_column_are_a_strip(iris):
    X, y = iris[0].iloc[:, [2]], iris[1]
    model = GaussianNB().fit(X, y)
    picture = plots.decision_regions(model, X, y)
    rows = pd.DataFrame(picture.lines[0][:, None], columns=X.columns)
    assert_array_equal(np.array(picture.classes)[picture.regions[0]], model.predict(rows))
    assert (picture.predicted[0] != picture.codes).sum() == 7
    drawn(picture, "true", "predicted", "wrong (7)", "petal_length_cm")


def test_many_columns_hold_the_others_at_their_median(penguins):
    X, y = penguins
    model = LinearDiscriminantAnalysis().fit(X, y)
    picture = plots.decision_regions(model, X, y, columns=("flipper_length_mm", 0))
    assert picture.names == ("flipper_length_mm", "bill_length_mm")
    assert picture.note == "bill_depth_mm, body_mass_g at the median"
    row = X.median().to_frame().T
    row.iloc[0, 2], row.iloc[0, 0] = picture.lines[0][40], picture.lines[1][100]
    assert model.predict(row)[0] == picture.classes[picture.regions[0][100, 40]]
    axes_picture = plots.decision_regions(model, X, y)
    assert "principal axes of 4 columns" in axes_picture.note
    drawn(axes_picture, "first axis", "others at their median")


def test_polars_arrays_and_pipelines_serve(penguins):
    X, y = penguins[0].iloc[:, :2], penguins[1]
    line = make_pipeline(StandardScaler(), LogisticRegression())
    a = plots.decision_regions(line.fit(pl.from_pandas(X), y), pl.from_pandas(X), y)
    b = plots.decision_regions(line.fit(X.to_numpy(), y), X.to_numpy(), y)
    assert_array_equal(a.regions[0], b.regions[0])
    assert a.names == ("bill_length_mm", "bill_depth_mm")
    assert b.names == ("x0", "x1")


def test_more_than_5000_points_are_thinned_with_a_fixed_seed():
    X, y = blobs(12_000)
    model = GaussianNB().fit(X, y)
    picture = plots.decision_regions(model, X, y)
    assert picture.at.shape == (5000, 2)
    assert_allclose(picture.errors[0], 1 - model.score(X, y))  # of all rows
    assert_array_equal(picture.at, plots.decision_regions(model, X, y).at)


@pytest.mark.parametrize("picture", [plots.decision_regions, plots.boundary])
def test_bad_input_is_one_sentence(picture):
    X, y = blobs()
    model = GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match="labels that the model was not fitted on: maybe"):
        picture(model, X, ["maybe"] * 60)
    with pytest.raises(ValueError, match="as many rows, got 60 and 59"):
        picture(model, X, y[:-1])
    with pytest.raises(ValueError, match="no column 'z'"):
        picture(model, X, y, columns=("z", 0))
    with pytest.raises(ValueError, match="keeps no parameters of its steps"):
        picture(model, X, y, steps=True)


# --- boundary ---------------------------------------------------------------------------------


def test_boundary_is_the_hyperplane_of_the_model():
    X, y = blobs()
    model = LogisticRegression().fit(X, y)
    (edge,) = plots.boundary(model, X, y).edges
    plane = model.boundary()
    assert_allclose(edge.coef, plane.coef / plane.norm)
    assert_allclose(edge.offset, -plane.intercept / plane.norm)
    assert (edge.negative, edge.positive, edge.shape) == ("no", "yes", "line")
    picture = plots.boundary(model, X, y)
    a, b = picture.lines
    assert_allclose(picture.probability[30, 50], model.predict_proba([[a[50], b[30]]])[0, 1])
    drawn(picture, "P(yes) = 0.1, 0.9", edge.equation(("x0", "x1")))


def test_boundary_has_one_line_per_pair_of_classes(penguins):
    X, y = penguins[0].iloc[:, :2], penguins[1]
    model = LinearDiscriminantAnalysis().fit(X, y)
    picture = plots.boundary(model, X, y)
    assert len(picture.edges) == 3
    for edge in picture.edges:
        plane = model.boundary(edge.positive, edge.negative)
        assert_allclose(edge.coef, plane.coef / plane.norm, rtol=1e-9)
        assert_allclose(edge.offset, -plane.intercept / plane.norm, rtol=1e-9)
    lead = np.sum([e.leading for e in picture.edges], axis=0)
    assert (lead >= 1).all()  # everywhere some pair leads
    drawn(picture, "Adelie | Chinstrap: ")


def test_boundary_on_principal_axes_is_where_the_scores_are_equal(penguins):
    X, y = penguins
    keep = y != "Gentoo"
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[keep], y[keep])
    picture = plots.boundary(model, X[keep], y[keep])
    (edge,) = picture.edges
    assert edge.coef is not None
    assert "principal axes" in picture.note
    places = np.stack(np.meshgrid(*picture.lines), axis=-1)
    sides = places @ edge.coef > edge.offset
    assert ((edge.scores > 0) == sides).mean() > 0.9999


def test_quadratic_terms_give_an_ellipse_and_qda_a_conic(penguins):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.where((X**2).sum(axis=1) > 1.4, "out", "in")
    line = make_pipeline(PolynomialFeatures(2, include_bias=False), LogisticRegression())
    picture = plots.boundary(line.fit(X, y), X, y)
    assert picture.edges[0].shape == "ellipse"
    drawn(picture, "boundary (ellipse)")
    X, y = penguins[0].iloc[:, :2], penguins[1]
    found = plots.boundary(QuadraticDiscriminantAnalysis().fit(X, y), X, y)
    assert {e.shape for e in found.edges} <= {"ellipse", "hyperbola", "parabola"}
    assert all(e.coef is None for e in found.edges)


def test_boundary_of_one_column_is_a_cut(iris):
    X, y = iris[0].iloc[:, [2]], iris[1]
    model = LinearDiscriminantAnalysis().fit(X, y)
    cuts = plots.boundary(model, X, y).cuts
    for cut, pair in zip(cuts, [(1, 0), (2, 1)], strict=True):
        plane = model.boundary(*(model.classes_[k] for k in pair))
        assert_allclose(cut, -plane.intercept / plane.coef[0], rtol=1e-6)
    drawn(plots.boundary(model, X, y), f"{cuts[0]:.4g}")


def test_perceptron_epochs_are_panels_and_frames(tmp_path):
    X, y = blobs(gap=4.0)
    model = Perceptron(shuffle=False, tol=None).fit(X, y)
    found = plots.boundary(model, X, y, steps=True)
    assert len(found.pictures) == min(6, len(model.history_))
    last = found.pictures[-1]
    assert_allclose(last.edges[0].coef, model.coef_[0] / np.linalg.norm(model.coef_))
    b, *w = model.history_[0]["parameters"]
    assert_allclose(found.pictures[0].edges[0].coef, w / np.linalg.norm(w))
    assert_allclose(found.pictures[0].edges[0].offset, -b / np.linalg.norm(w), atol=1e-12)
    assert found.titles[0].startswith("after epoch 1: ")
    drawn(found, "mistakes on the way")
    some = plots.boundary(model, X, y, steps=[0, -1])
    file = some.animate(tmp_path / "epochs.gif")
    with Image.open(file) as image:
        assert image.n_frames == 2
    folder = some.animate(tmp_path / "frames")
    assert sorted(p.name for p in folder.iterdir()) == ["step-000.png", "step-001.png"]
    with pytest.raises(ValueError, match=r"must end in \.gif or \.html or name a folder"):
        some.animate(tmp_path / "epochs.mp4")
    with pytest.raises(ValueError, match="positions in the"):
        plots.boundary(model, X, y, steps=[999])


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(solver=GradientDescent(0.2, max_iter=20, tol=None)),
        SGDClassifier(max_iter=5, tol=None, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
)
def test_steps_of_every_fit_with_parameters_end_at_the_fit(model):
    X, y = blobs()
    found = plots.decision_regions(model.fit(X, y), X, y, steps=3)
    whole = plots.decision_regions(model, X, y)
    assert len(found.pictures) == 3
    assert_array_equal(found.pictures[-1].regions[0], whole.regions[0])


def test_steps_of_several_classes(iris):
    X, y = iris[0].iloc[:, 2:], iris[1]
    model = Perceptron(max_iter=8, tol=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it cycles
        model.fit(X, y)
    found = plots.decision_regions(model, X, y, steps=[-1])
    assert_array_equal(found.pictures[0].regions[0], plots.decision_regions(model, X, y).regions[0])


# --- logistic pictures ------------------------------------------------------------------------


def test_sigmoid_holds_the_scores(penguins):
    X, y = penguins
    keep = y != "Gentoo"
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[keep], y[keep])
    picture = plots.sigmoid(model, X[keep], y[keep])
    assert_allclose(expit(picture.scores), model.predict_proba(X[keep])[:, 1])
    assert_allclose(picture.curve, expit(picture.grid))
    assert picture.wrong.sum() == (model.predict(X[keep]) != y[keep]).sum()
    drawn(picture, "P(Chinstrap)", "score")
    assert len(plots.sigmoid(model).scores) == 0
    drawn(plots.sigmoid(model))
    with pytest.raises(ValueError, match="two classes"):
        plots.sigmoid(LogisticRegression().fit(X, y))


def test_steepening_approaches_the_step():
    picture = plots.steepening((1, 3, 50))
    assert_allclose(picture.curves[1], expit(3 * picture.grid))
    assert picture.gap[0] > picture.gap[1] > picture.gap[2]
    drawn(picture, "c = 50", "step")
    with pytest.raises(ValueError, match="c must be > 0"):
        plots.steepening((1, -1))


def test_latent_area_above_zero_is_the_probability():
    X, y = blobs()
    model = LogisticRegression().fit(X, y)
    picture = plots.latent_logistic(model, X[[0, 25, 50]])
    assert_allclose(picture.area, model.predict_proba(X[[0, 25, 50]])[:, 1])
    for f, density in zip(picture.scores, picture.density, strict=True):
        assert_allclose(density, expit(picture.grid - f) * expit(f - picture.grid))
        area = quad(lambda t, f=f: expit(t - f) * expit(f - t), 0, 60)[0]
        assert_allclose(area, expit(f), atol=1e-7)
    drawn(picture, "area above 0", "P = ")
    assert plots.latent_logistic(model, X[0]).scores.shape == (1,)
    with pytest.raises(ValueError, match="1 to 6 rows, got 60"):
        plots.latent_logistic(model, X)


def test_logistic_coefficients_are_odds_ratios(penguins):
    X, y = penguins[0].iloc[:, :2], penguins[1]
    keep = y != "Gentoo"
    X = X + np.random.default_rng(0).normal(0, 3, X.shape)  # not separable
    model = LogisticRegression(C=np.inf).fit(X[keep], y[keep])
    found = model.summary()
    picture = plots.coefficients(model)
    assert picture.odds
    assert_allclose(picture.estimate, found.arrays["odds_ratio"][1:])
    assert_allclose(picture.low, np.exp(found.arrays["low"][1:]))
    drawn(picture, "odds ratio", "bill_depth_mm")
    plain = plots.coefficients(model, odds=False, intercept=True)
    assert_allclose(plain.estimate, found.arrays["estimate"])
    assert plain.names[0] == "intercept"
    several = plots.coefficients(LogisticRegression(C=np.inf).fit(X, y))
    assert len(several.names) == 4
    assert not any("intercept" in name for name in several.names)
    drawn(several)
    assert not plots.coefficients(LogisticRegression().fit(X, y)).valid


def test_coefficient_path_of_logistic_regression(iris):
    X, y = iris
    two = y != "setosa"
    path = logistic_path(X[two], y[two], l1_ratio=1.0, Cs=20)
    picture = plots.coefficient_path(path, names=list(X.columns))
    assert_allclose(picture.coefs, path.coefs.T)
    assert_allclose(picture.at, 1 / path.Cs)
    assert (picture.coefs[:, 0] == 0).all()
    drawn(picture, "petal_width_cm", "Logistic")
    three = logistic_path(X, y, l1_ratio=1.0, Cs=5)
    assert_allclose(plots.coefficient_path(three, target=2).coefs, three.coefs[:, 2].T)
    search = LogisticRegressionCV(Cs=5, l1_ratios=(1.0,), scoring="neg_log_loss")
    chosen = plots.coefficient_path(search.fit(X[two], y[two]), X[two], y[two])
    assert_allclose(chosen.marks[0][0], 1 / float(np.ravel(search.C_)[0]))


def test_objective_history_compares_descent_and_newton_and_marks_halvings():
    X, y = blobs(gap=1.0)
    fits = [
        LogisticRegression(solver=solver).fit(X, y)
        for solver in (GradientDescent(0.5, max_iter=30, tol=None), Newton())
    ]
    picture = plots.objective_history(*fits)
    assert_allclose(picture.objectives[0][0], picture.objectives[1][0])  # the same mean loss
    assert len(picture.objectives[1]) < len(picture.objectives[0])
    assert [len(h) for h in picture.halved] == [0, 0]
    history = History([{"step": t, "objective": 4.0 - t, "halvings": t % 2} for t in range(4)])
    marked = plots.objective_history(history)
    assert_array_equal(marked.halved[0], [1, 3])
    drawn(marked, "step shortened (2)")


def test_learning_curves_of_a_generative_and_a_discriminative_model():
    X, y = blobs(400, 4, gap=0.7)
    models = {"naive Bayes": GaussianNB(), "logistic": LogisticRegression()}
    curves = {
        name: size_curve(model, X, y, sizes=[20, 80, 300], random_state=0, metric="accuracy")
        for name, model in models.items()
    }
    picture = plots.learning_curve(curves)
    assert picture.labels == ("naive Bayes", "logistic")
    assert_allclose(picture.test[1][:, 0], [s.mean for s in curves["logistic"].test_summary])
    drawn(picture, "naive Bayes", "training rows")
    with pytest.raises(ValueError, match="must come from"):
        plots.learning_curve({})


# --- densities and discriminants --------------------------------------------------------------


def test_class_densities_of_gaussian_naive_bayes(iris):
    X, y = iris
    model = GaussianNB().fit(X, y)
    picture = plots.class_densities(model, X, y)
    assert [c.name for c in picture.columns] == list(X.columns)
    column = picture.columns[2]
    for k in range(3):
        law = norm(model.theta_[k, 2], np.sqrt(model.var_[k, 2]))
        expected = model.class_prior_[k] * law.pdf(column.values)
        assert_allclose(column.joint[k], expected, rtol=1e-9, atol=1e-300)
    laws = [norm(model.theta_[k, 2], np.sqrt(model.var_[k, 2])) for k in range(3)]

    def below(x):  # everything under the highest curve
        parts = [p * law.pdf(x) for p, law in zip(model.class_prior_, laws, strict=True)]
        return sum(parts) - max(parts)

    assert_allclose(column.error, quad(below, 0, 10, limit=400)[0], atol=1e-4)
    drawn(picture, "petal_width_cm alone", "overlap = error")


def test_class_densities_of_counts_with_and_without_smoothing():
    X, y = load_play_ball()
    X, y = X.to_pandas(), y.to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a zero count is what the picture shows
        picture = plots.class_densities(CategoricalNB().fit(X, y), X, y, smoothing=True)
    outlook = picture.columns[0]
    assert list(outlook.values) == ["Overcast", "Rainy", "Sunny"]
    # No: 0, 2, 3 of 5 rows; Yes: 4, 3, 2 of 9
    assert_allclose(outlook.joint[0], 5 / 14 * np.array([1, 3, 4]) / 8)
    assert_allclose(outlook.joint[1], 9 / 14 * np.array([5, 4, 3]) / 12)
    assert_allclose(outlook.plain[0], 5 / 14 * np.array([0, 2, 3]) / 5, atol=1e-9)
    assert_allclose(outlook.error, np.minimum(*outlook.joint).sum())
    drawn(picture, "Overcast", "without smoothing")


def test_class_densities_of_other_models(penguins):
    X, y = penguins
    margins = {}
    for model in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(),
                  RegularizedDiscriminantAnalysis(1.0), GaussianNB(), MixedNB()):  # fmt: skip
        found = plots.class_densities(model.fit(X, y), X, y, columns=["body_mass_g"])
        margins[type(model).__name__] = found.columns[0].joint
        column = found.columns[0]
        assert_allclose(np.trapezoid(column.joint.sum(axis=0), column.values), 1, atol=0.02)
    names = ("QuadraticDiscriminantAnalysis", "GaussianNB")
    assert_allclose(*(margins[name] for name in names), rtol=1e-6)  # the same normals
    one = X[["body_mass_g"]].to_numpy()
    found = plots.class_densities(GenerativeClassifier(GaussianDensity()).fit(one, y), one, y)
    assert found.columns[0].error < 0.4
    plugged = plots.class_densities(BayesClassifier("normal").fit(one, y), one, y).columns[0]
    assert_allclose(plugged.error, found.columns[0].error, atol=0.01)  # the same normals again
    known = BayesClassifier([Normal(0, 1), Normal(2, 1)])
    x, c = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    assert_allclose(plots.class_densities(known, x, c).columns[0].error, norm.cdf(-1), atol=1e-5)
    bits = (X.median() < X).to_numpy().astype(float)
    assert plots.class_densities(BernoulliNB().fit(bits, y), bits, y).columns[0].levels
    with pytest.raises(ValueError, match="no density of each column"):
        plots.class_densities(LogisticRegression().fit(x, c), x, c)
    with pytest.raises(ValueError, match="no density of each column"):
        plots.class_densities(MultinomialNB().fit(bits, y), bits, y)


def test_class_densities_of_a_constant_column_know_no_more_than_the_prior():
    X, y = blobs(40)
    X[:, 1] = 3.0
    y[:4] = "yes"
    picture = plots.class_densities(GaussianNB().fit(X, y), X, y)
    assert_allclose(picture.columns[1].error, 16 / 40, atol=1e-6)


def test_class_densities_show_the_six_columns_with_least_overlap():
    X, y = blobs(100, 8)
    X[:, 3] -= 2 * (y == "yes")  # useless
    picture = plots.class_densities(GaussianNB().fit(X, y), X, y)
    assert len(picture.columns) == 6
    assert "x3" not in [c.name for c in picture.columns]
    assert "6 of 8" in picture.note
    drawn(picture)


def test_discriminant_projection_errors_are_the_overlaps():
    rng = np.random.default_rng(0)
    S = np.array([[2.0, 1.5], [1.5, 2.0]])
    y = np.repeat([0, 1], [300, 100])
    X = rng.multivariate_normal([0, 0], S, 400) + np.outer(y, [2.0, 0.5])
    model = LinearDiscriminantAnalysis().fit(X, y)
    picture = plots.discriminant_projection(model, X, y, scaled=False)
    gap = model.means_[1] - model.means_[0]
    best, line = picture.discriminant, picture.centroid
    assert_allclose(line.direction, gap / np.linalg.norm(gap))
    w = np.linalg.solve(model.covariance_, gap)
    assert_allclose(best.direction, w / np.linalg.norm(w))
    assert_allclose(best.error, model.expected_error_, rtol=1e-9)
    assert best.error < line.error
    assert_allclose(best.cut_equal, best.means.mean())
    plane = model.boundary()  # w.x + w0 = 0 at w.x = -w0
    assert_allclose(best.cut_fitted, -plane.intercept / np.linalg.norm(plane.coef), rtol=1e-8)
    for view in (best, line):  # the densities cross at the cut
        sides = [p * norm(m, view.sd).pdf(view.cut_fitted)
                 for p, m in zip(view.priors, view.means, strict=True)]  # fmt: skip
        assert_allclose(*sides)
    drawn(picture, "line through the means", "discriminant direction", "cut, equal priors")


def test_discriminant_projection_of_many_columns_and_classes(penguins):
    X, y = penguins
    model = LinearDiscriminantAnalysis().fit(X, y)
    picture = plots.discriminant_projection(model, X, y, classes=("Adelie", "Chinstrap"))
    assert "units of their spread" in picture.note
    assert picture.discriminant.error < 0.02
    assert picture.centroid.error > 0.02
    assert_allclose(picture.arrows[0], [1, 0], atol=1e-12)
    assert_allclose(np.linalg.norm(picture.arrows, axis=1), 1)  # both lie in the plane
    drawn(picture, "Chinstrap")
    with pytest.raises(ValueError, match="two of"):
        plots.discriminant_projection(model, X, y, classes=("Adelie", "Emperor"))
    one = LinearDiscriminantAnalysis().fit(X[["body_mass_g"]], y)
    with pytest.raises(ValueError, match="two or more columns"):
        plots.discriminant_projection(one, X[["body_mass_g"]], y)
    with pytest.raises(ValueError, match="needs a fitted LinearDiscriminantAnalysis"):
        plots.discriminant_projection(GaussianNB().fit(X, y), X, y)


def test_discriminant_coordinates_are_the_transform(penguins):
    X, y = penguins
    model = LinearDiscriminantAnalysis().fit(X, y)
    picture = plots.discriminant_coordinates(model, X, y)
    assert_allclose(picture.at, model.transform(X))
    assert_allclose(picture.means[0], model.transform(X)[y == "Adelie"].mean(axis=0))
    assert_allclose(picture.shares, model.explained_variance_ratio_)
    drawn(picture, "discriminant coordinate 2", "Gentoo")
    keep = y != "Gentoo"
    two = LinearDiscriminantAnalysis().fit(X[keep], y[keep])
    assert plots.discriminant_coordinates(two, X[keep], y[keep]).at.shape[1] == 1
    drawn(plots.discriminant_coordinates(two, X[keep], y[keep]), "mean of Adelie")
    with pytest.raises(ValueError, match="two numbers from 1 to 2"):
        plots.discriminant_coordinates(model, X, y, coordinates=(1, 3))


def test_masking_names_the_class_between_the_others():
    rng = np.random.default_rng(0)
    y = np.repeat(["low", "middle", "high"], 60)
    X = np.concatenate([rng.normal(c, 0.8, (60, 2)) for c in (0, 3, 6)])
    picture = plots.indicator_masking(X, y)
    assert [p.degree for p in picture.panels] == [1, 2]
    assert picture.panels[0].masked == ("middle",)
    assert picture.panels[1].masked == ()
    assert_allclose(picture.panels[0].curves.sum(axis=0), 1)  # indicators sum to 1
    drawn(picture, "masked: middle", "class means spread most")
    one = plots.indicator_masking(X[:, :1], y, degrees=[1])
    model = LeastSquaresClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:, :1], y)
    assert_allclose(one.panels[0].curves.T, model.fitted_values(one.grid[:, None]), atol=1e-9)


# --- costs and taxonomy -----------------------------------------------------------------------


def test_cost_curve_is_the_lower_envelope_of_the_expected_costs():
    L = np.array([[0, 1, 0.2], [10, 0, 0.5]])
    picture = plots.cost_curve(L, labels=["well", "ill"], decisions=["go", "treat", "test"])
    for p, best in zip(picture.probability[::20], picture.best[::20], strict=True):
        assert_allclose(bayes_decision([1 - p, p], L).expected_loss, best, atol=1e-12)
    assert picture.order == ("go", "test", "treat")
    for cut, (a, b) in zip(picture.cuts, [(0, 2), (2, 1)], strict=True):
        risk = (1 - cut) * L[0] + cut * L[1]
        assert_allclose(risk[a], risk[b])
    drawn(picture, "P(ill)", "decide treat")
    assert plots.cost_curve([[0, 3], [1, 0]]).cuts == (0.75,)
    assert plots.cost_curve([[0, 5], [0, 5]]).cuts == ()  # one decision is always better
    with pytest.raises(ValueError, match="two classes"):
        plots.cost_curve(np.eye(3))


def test_cost_table_reads_a_fitted_model():
    X, y = blobs()
    names = ["leave", "act", "ask"]
    model = LossMatrixClassifier(GaussianNB(), [[0, 1, 0.1], [5, 0, 0.1]], decisions=names)
    picture = plots.cost_table(model.fit(X, y))
    assert (picture.labels, picture.decisions) == (("no", "yes"), ("leave", "act", "ask"))
    assert "leave when yes is true, at 5" in picture.alt
    drawn(picture, "decision", "truth", "ask")
    drawn(plots.cost_table([[0, -2], [3, 0]]))
    with pytest.raises(ValueError, match="2 labels and 3 decisions"):
        plots.cost_table([[0, 1, 2], [1, 0, 2]], labels=["a"])


def test_taxonomy_lights_the_branch():
    assert plots.taxonomy("regression").lit[-1] == "regression"
    assert plots.taxonomy(detect_task(pl.Series("y", ["a", "b"] * 20))).lit[-1] == "classification"
    assert isinstance(detect_task(pl.Series("y", [0, 1] * 20)), Task)
    assert plots.taxonomy(LogisticRegression()).lit[-1] == "discriminative"
    assert plots.taxonomy(make_pipeline(StandardScaler(), Perceptron())).lit[-1] == "by a score"
    assert plots.taxonomy(KNeighborsClassifier()).lit[-1] == "by example"
    drawn(plots.taxonomy(GaussianNB()), "generative", "naive Bayes")
    with pytest.raises(ValueError, match="task must be"):
        plots.taxonomy("weather")
    with pytest.raises(ValueError, match="task must be"):
        plots.taxonomy(StandardScaler())


# --- tables and images ------------------------------------------------------------------------


def test_profile_shows_columns_and_findings():
    X, y = load_penguins()
    found = audit(X.with_columns(species=y), "species")
    picture = plots.profile(found)
    assert [line.name for line in picture.lines] == [*X.columns, "species"]
    by_name = {line.name: line for line in picture.lines}
    assert_allclose(by_name["sex"].missing, X["sex"].null_count() / X.height)
    assert by_name["species"].role == "target"
    assert by_name["bill_length_mm"].counts.max() == 1
    assert [head.split()[0] for _, head, _ in picture.findings] == [f.code for f in found.findings]
    drawn(picture, "bill_length_mm", "Missing values")
    with pytest.raises(ValueError, match="needs the Audit"):
        plots.profile(X)


def test_profile_of_a_wide_table_keeps_the_columns_with_findings():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({f"c{j}": rng.normal(size=50) for j in range(40)} | {"still": [1.0] * 50})
    picture = plots.profile(audit(table.with_columns(y=pl.Series([0, 1] * 25)), "y"))
    assert len(picture.lines) == 30
    assert "still" in [line.name for line in picture.lines]


def test_image_grid_draws_the_misclassified_first():
    rng = np.random.default_rng(0)
    X = rng.random((30, 6))
    y, said = np.arange(30) % 10, np.arange(30) % 10
    said[[4, 17]] = 9, 1
    picture = plots.image_grid(X, (2, 3), y, said, most=12)
    assert_array_equal(picture.rows[:4], [4, 17, 0, 1])
    assert picture.titles[:3] == ("4 → 9", "7 → 1", "0")
    assert_allclose(picture.images[0], X[4].reshape(2, 3))
    assert_array_equal(picture.wrong[:3], [True, True, False])
    drawn(picture, "2 wrong", "4 → 9")
    drawn(plots.image_grid(X, (1, 2, 3), most=3))
    with pytest.raises(ValueError, match="no images of shape"):
        plots.image_grid(X, (3, 3))
    with pytest.raises(ValueError, match="as many rows"):
        plots.image_grid(X, (2, 3), y[:-1])
