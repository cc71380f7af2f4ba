"""Pictures of neural networks: the numbers drawn are those of the definitions, and they draw."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.text import Text
from sklearn.exceptions import ConvergenceWarning

from pellucid import GaussianNB, MLPClassifier, MLPRegressor, Ridge, plots
from pellucid.data import load_iris, make_moons
from pellucid.evaluation import complexity_curve
from pellucid.neural import Network, Value, gradient_flow
from pellucid.solvers import GradientDescent


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


REPEATED = set()  # kinds whose SVG was already compared with a second one: drawing is slow


def drawn(picture):
    """It draws on its own axes, gives the same SVG twice and has words; the texts drawn."""
    found = picture.plot()
    assert isinstance(found, Axes | Figure)
    assert len(picture.alt) > 30
    assert picture.alt.endswith(".")
    figure = found if isinstance(found, Figure) else found.figure
    if type(picture) in REPEATED:
        figure.draw_without_rendering()
    else:
        REPEATED.add(type(picture))
        assert plots.svg(picture) == plots.svg(picture)
    return " | ".join(text.get_text() for text in figure.findobj(Text))


@pytest.fixture(scope="module")
def moons():
    M, c = make_moons(120, noise=0.2, random_state=0)
    return pd.DataFrame(M, columns=["width", "height"]), np.where(c == 1, "low", "high")


@pytest.fixture(scope="module")
def model(moons):
    solver = GradientDescent(0.5, max_iter=30, batch_size=20, tol=None)
    found = MLPClassifier((4,), solver=solver, early_stopping=True, random_state=0)
    with pytest.warns(ConvergenceWarning, match="convergence"):
        return found.fit(*moons)


# --- diagrams -------------------------------------------------------------------------------------


def test_network_holds_weights_biases_and_values(model, moons):
    X, _ = moons
    picture = plots.network(model, X.iloc[3])
    L = picture.layers
    assert L.sizes == (2, 4, 1)
    assert L.kinds == ("relu", "logistic")
    for mine, theirs in zip(L.weights, model.coefs_, strict=True):
        assert np.allclose(mine, theirs)
    for mine, theirs in zip(L.biases, model.intercepts_, strict=True):
        assert np.allclose(mine, theirs)
    hidden = np.maximum(X.iloc[3].to_numpy() @ L.weights[0] + L.biases[0], 0)
    assert np.allclose(picture.values[1], hidden)
    assert np.isclose(picture.values[2][0], model.predict_proba(X[3:4])[0, 1])
    assert picture.n_parameters == 17
    assert "height" in drawn(picture)
    assert plots.network(model).values == ()


def test_network_of_sizes():
    neuron = plots.network((3, 1))
    assert neuron.n_parameters == 4
    drawn(neuron)
    loops = plots.network((3, 4, 2), recurrent=True)
    assert loops.n_parameters == 4 * 4 + 4 * 4 + 5 * 2
    assert "recurrent" in drawn(loops)
    assert "… 64 in all" in drawn(plots.network((64, 3)))
    with pytest.raises(ValueError, match="at least inputs and outputs"):
        plots.network((3,))
    with pytest.raises(ValueError, match="needs a network with weights"):
        plots.network((3, 1), [1, 2, 3])
    with pytest.raises(ValueError, match="Network or a fitted MLP, got Ridge"):
        plots.network(Ridge())


def no_edge_crosses_a_node(picture):
    """An edge is drawn clear of the middle of every node, at its ends too."""
    ax = picture.plot()
    edges = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    assert len(edges) == len({(a, b) for a, b, _ in picture.edges})
    lines = [edge.get_path().interpolated(20).vertices for edge in edges]
    least = min(np.linalg.norm(line - at, axis=1).min() for line in lines for at in picture.at)
    return least > 0.2


def test_computation_graph_has_values_and_derivatives():
    def f(x1, x2):
        return x1**2 * x2.exp() * (1 - (x2**3).exp())

    picture = plots.computation_graph(f, {"x1": 2.0, "x2": 0.5})
    found = {node.name: node.gradient for node in picture.nodes}
    assert np.isclose(picture.result, -0.8780987469)
    assert np.isclose(found["x1"], -0.8780987469)
    assert np.isclose(found["x2"], -6.4828366192)
    for i, node in enumerate(picture.nodes):  # a gradient is the sum of those that flow in
        flow = sum(picture.nodes[b].gradient * s for a, b, s in picture.edges if a == i)
        assert np.isclose(node.gradient, flow) or i == len(picture.nodes) - 1
    for a, b, _ in picture.edges:  # values flow to the right
        assert picture.at[a, 0] < picture.at[b, 0]
    assert "x2" in drawn(picture)
    assert no_edge_crosses_a_node(picture)
    assert no_edge_crosses_a_node(plots.computation_graph(lambda a, b: a * b + a, {"a": 2, "b": 3}))
    a = Value(3.0, "a")
    assert "3 + 3" in drawn(plots.computation_graph(a * a))
    assert plots.computation_graph(a * a).nodes[0].gradient == 6.0
    with pytest.raises(ValueError, match="needs values="):
        plots.computation_graph(f)
    with pytest.raises(ValueError, match="must return a Value, got float"):
        plots.computation_graph(lambda a: 1.0, {"a": 2.0})


def test_backward_pass_is_backpropagation(model, moons):
    X, y = moons
    x = X.iloc[0].to_numpy()
    picture = plots.backward_pass(model, x, y[0])
    inputs, hidden, out = picture.values
    t = float(y[0] == "low")
    W2 = picture.layers.weights[1]
    assert np.allclose(picture.deltas[1], out - t)  # logistic with cross-entropy
    assert np.allclose(picture.deltas[0], (picture.deltas[1] @ W2.T) * (hidden > 0))
    assert np.allclose(picture.gradients[1], np.outer(hidden, picture.deltas[1]))
    assert np.allclose(picture.gradients[0], np.outer(inputs, picture.deltas[0]))
    assert np.isclose(picture.loss, -np.log(out[0] if t else 1 - out[0]))
    assert "Gradients of the weights" in drawn(picture)
    iris, species = load_iris()
    three = MLPClassifier((3,), solver="lbfgs", max_iter=20, random_state=0)
    with pytest.warns(ConvergenceWarning, match="convergence"):
        three.fit(iris, species)
    shown = plots.backward_pass(three, iris.row(0), "virginica")
    assert np.allclose(shown.target, [0, 0, 1])
    assert np.isclose(shown.deltas[-1].sum(), 0, atol=1e-9)  # softmax: o - t
    with pytest.raises(ValueError, match="one of the classes"):
        plots.backward_pass(model, x, "middle")
    net = Network.from_weights([[[2.0], [-1.0]]], activations=["relu"])
    with pytest.raises(ValueError, match="1 numbers, one per output, got 2"):
        plots.backward_pass(net, [1.0, 1.0], [1.0, 2.0])


def test_activation_derivatives_are_slopes():
    picture = plots.activation("logistic", "tanh", "identity", "softmax", n=2001)
    slopes = np.gradient(picture.values, picture.z, axis=1)
    assert np.allclose(picture.derivatives[:, 1:-1], slopes[:, 1:-1], atol=1e-4)
    drawn(plots.activation())
    assert np.isnan(plots.activation("step").derivatives).all()
    with pytest.raises(ValueError, match="low must be below high"):
        plots.activation("relu", low=1, high=0)


# --- how it learned -------------------------------------------------------------------------------


def test_training_is_the_history(model, moons):
    picture = plots.training(model)
    assert np.allclose(picture.losses[0][1:], model.loss_curve_)
    assert np.allclose(picture.validation[0][1:], model.validation_scores_)
    assert picture.validation[0][picture.best[0]] == np.nanmax(picture.validation[0])
    assert "best: epoch" in drawn(picture)
    X, y = moons
    runs = {}
    for rate in (0.01, 1.0):
        solver = GradientDescent(rate, max_iter=10, tol=None)
        runs[f"rate {rate}"] = MLPClassifier((3,), solver=solver, random_state=0).fit(X, y)
    both = plots.training(runs)
    assert both.losses[1][-1] < both.losses[0][-1]
    assert "rate 0.01" in drawn(both)
    with pytest.raises(ValueError, match="keeps no history_"):
        plots.training(GaussianNB().fit(X, y))


def test_sweep_draws_every_run_and_crosses_collapsed_ones(moons):
    X, _ = moons
    curve = complexity_curve(Ridge(), X, X["width"], parameter="alpha", values=[0.1, 1.0, 1e9],
                             cv=4)  # fmt: skip
    picture = plots.sweep(curve)
    assert np.allclose(picture.test, curve.test)
    assert picture.best == curve.best
    assert np.array_equal(picture.collapsed, np.asarray(curve.collapsed))
    drawn(picture)
    marked = np.zeros((3, 4), bool)
    marked[2, :3] = True
    crossed = plots.sweep(curve._replace(collapsed=marked))
    assert "collapsed runs (3)" in drawn(crossed)
    assert "3 runs collapsed" in crossed.alt
    with pytest.raises(ValueError, match="must be a ComplexityCurve"):
        plots.sweep({"a": 1})


def test_gradient_norms_by_epoch_and_on_the_way_back(model, moons):
    X, y = moons
    picture = plots.gradient_norms(model)
    last = [row["gradient_norms"] for row in model.history_][-1]
    assert np.allclose(picture.norms[-1], last)
    assert picture.verdict == ""
    drawn(picture)
    t = (y == "low").astype(float)
    both = plots.gradient_norms(model, X.to_numpy(), t)
    flow = gradient_flow(model.network_, X.to_numpy(), t)
    assert np.allclose(both.deltas, flow.rms_deltas)
    assert both.verdict == flow.verdict
    assert "One pass back" in drawn(both)
    quick = MLPRegressor("squared_error", (2,), solver="lbfgs", random_state=0).fit(X, X["width"])
    if "gradient_norms" not in quick.history_.columns:
        with pytest.raises(ValueError, match="give X and y"):
            plots.gradient_norms(quick)
