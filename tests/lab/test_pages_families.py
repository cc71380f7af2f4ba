"""Pages of single families: what their frames say is what the estimators and the rows say."""

from itertools import pairwise, product

import numpy as np
import pytest
from story_facts import trace_of

from pellucid.lab.page import make_trace, rows_of
from pellucid.lab.pages import page_of


def test_hidden_markov_beliefs_are_sums_over_all_paths():
    """Filtered, smoothed and best path against all 64 paths of the week."""
    trace = trace_of(page_of("hidden_markov"), "A week of umbrellas")
    A, B = np.array([[0.7, 0.3], [0.3, 0.7]]), np.array([[0.9, 0.1], [0.2, 0.8]])
    seen = [0, 0, 1, 0, 0, 1]

    def p(path):
        moves = np.prod([A[i, j] for i, j in pairwise(path)])
        return 0.5 * moves * np.prod([B[k, x] for k, x in zip(path, seen, strict=False)])

    for t in range(6):
        upto = {path: p(path) for path in product((0, 1), repeat=t + 1)}
        rain = sum(v for path, v in upto.items() if path[-1] == 0) / sum(upto.values())
        assert trace.frames[t].numbers["P(rain) now"] == pytest.approx(rain, rel=1e-3)
        whole = {path: p(path) for path in product((0, 1), repeat=6)}
        rain = sum(v for path, v in whole.items() if path[t] == 0) / sum(whole.values())
        hindsight = trace.frames[11 - t].numbers["P(rain) with hindsight"]
        assert hindsight == pytest.approx(rain, rel=1e-3)
    best = max(whole, key=whole.get)
    assert trace.frames[-1].numbers["best path"] == " ".join(("rain", "dry")[k] for k in best)
    share = whole[best] / sum(whole.values())
    assert trace.frames[-1].numbers["its share"] == pytest.approx(share, rel=1e-3)


def test_hidden_markov_days_can_be_clicked():
    """Every box of a day has a control of its name that knows "unknown", as the click asks."""
    page = page_of("hidden_markov")
    names = {node["label"].split("\n")[0] for node in
             make_trace(page).frames[0].state["panels"][0]["nodes"]}  # fmt: skip
    for t in range(1, 7):
        assert f"day{t}" in names
        control = next(c for c in page.controls if c.name.endswith(f"_day{t}"))
        assert "unknown" in control.options
    with pytest.raises(ValueError, match="click a day"):
        page.run(None, page.settings({f"seen_day{t}": "unknown" for t in range(1, 7)}), 0)


def test_the_tube_is_that_of_its_rows():
    """Counts and price of the last frame from the rows and the curve alone."""
    from pellucid import SVR
    from pellucid.kernel import GaussianKernel

    page = page_of("support_vector_regression")
    X, y = page.presets[0].data(np.random.default_rng(0)).train
    model = SVR(kernel=GaussianKernel(1.0), C=5.0, epsilon=0.3, max_iter=3000).fit(X, y)
    paid = np.maximum(0.0, np.abs(y - model.predict(X)) - 0.3)
    last = make_trace(page).frames[-1]
    assert last.numbers["Σ slack"] == pytest.approx(paid.sum(), rel=1e-3)
    assert last.numbers["support vectors"] == len(model.support_)
    marks = {m["label"]: m for m in last.state["panels"][0]["marks"]}
    assert len(marks["slack ξ"]["x0"]) == last.numbers["outside the tube"]
    assert len(marks["support vectors"]["x"]) == len(model.support_)


def test_every_cut_of_the_staircase_is_the_best_one():
    """The new cut leaves fewer squares than any other cut of any leaf."""
    page = page_of("regression_tree")
    X, y = page.presets[0].data(np.random.default_rng(0)).train
    x, edges = X[:, 0], []
    for frame in make_trace(page).frames[1:]:

        def left(cuts):
            place = np.searchsorted(np.sort(cuts), x)
            if np.bincount(place, minlength=len(cuts) + 1).min() < 3:  # rows in a leaf at least
                return np.inf
            return sum(((y[place == k] - y[place == k].mean()) ** 2).sum()
                       for k in np.unique(place))  # fmt: skip

        s = np.sort(x)
        best = min(left([*edges, t]) for t in (s[1:] + s[:-1]) / 2)
        edges.append(frame.numbers["new cut"])
        assert left(edges) == pytest.approx(best, rel=1e-9)
        assert frame.objective == pytest.approx(best / len(y), rel=1e-9)


def test_kernel_directions_hold_the_shares_that_are_said():
    """Against the eigenvalues of the centred Gram matrix by NumPy."""
    page = page_of("kernel_pca")
    X, _ = page.presets[0].data(np.random.default_rng(0)).train
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * 0.7**2))
    C = np.eye(len(K)) - 1 / len(K)
    values = np.sort(np.linalg.eigvalsh(C @ K @ C))[::-1]
    frames = make_trace(page).frames
    assert frames[2].numbers["variance in all"] == pytest.approx(values.sum(), rel=1e-3)
    for d in range(1, 5):
        said = frames[2 + d].numbers["share so far"]
        assert said == pytest.approx(values[:d].sum() / values.sum(), rel=1e-3)


def test_isolation_depths_are_those_of_the_score():
    """2^(-mean depth / c) of the depths that are drawn is the score of the estimator."""
    trace = trace_of(page_of("isolation_forest"), "Three strangers")
    c = trace.frames[0].numbers["c(ψ)"]
    last = trace.frames[-1]
    marks = {m["label"]: m for m in last.state["panels"][1]["marks"]}
    for name in "AB":
        drawn = np.mean(marks[f"depth of {name}"]["y"])
        assert last.numbers[f"mean depth of {name}"] == pytest.approx(drawn, rel=1e-3)
        assert last.numbers[f"score of {name}"] == pytest.approx(2 ** (-drawn / c), rel=1e-3)


def test_the_bins_of_calibration_hold_the_rows_that_are_ringed():
    """Rows in rings, share of class 1 and gap of every bin are counted again."""
    trace = trace_of(page_of("calibration"), "Naive Bayes counts twice")
    gaps = {"before": 0.0, "after": 0.0}
    for frame in trace.frames[:5] + trace.frames[6:11]:
        ringed = frame.state["panels"][0]["marks"][-1]["group"]
        assert len(ringed) == frame.numbers["rows in it"]
        assert np.mean(ringed) == pytest.approx(frame.numbers["happened o"], rel=1e-3)
        gaps[frame.formula.split(",")[0]] += frame.numbers["gap"] * len(ringed) / 260
    for name, gap in gaps.items():
        assert trace.frames[-1].numbers[f"mean gap {name}"] == pytest.approx(gap, rel=1e-2)


def test_conformal_intervals_hold_the_points_that_are_drawn():
    """Covered and missed rows lie inside and outside the band of the page."""
    trace = trace_of(page_of("conformal"), "Round a line")
    last = trace.frames[-1]
    marks = {m["label"]: m for m in last.state["panels"][0]["marks"]}
    x, f, q = marks["f"]["x"], marks["f"]["y"], trace.frames[10].numbers["q"]
    for name, inside in (("covered", True), ("missed", False)):
        far = np.abs(np.array(marks[name]["y"]) - np.interp(marks[name]["x"], x, f))
        assert (far <= q + 1e-3).all() if inside else (far >= q - 1e-3).all()
    assert len(marks["covered"]["x"]) == last.numbers["covered"]
    assert len(marks["covered"]["x"]) + len(marks["missed"]["x"]) == 90


def test_labels_run_one_edge_a_round():
    """The rows with a label after a round are those within so many edges of a given one."""
    trace = trace_of(page_of("label_spreading"), "Two labels")
    X = np.asarray(trace.data["X"])
    near = ((X[:, None] - X[None]) ** 2).sum(axis=2).argsort(axis=1)[:, :6]
    reached = ~np.asarray(trace.data["held_out"])
    joined = np.zeros((len(X), len(X)), bool)
    joined[np.repeat(np.arange(len(X)), 6), near.ravel()] = True
    for frame in trace.frames[1:9]:
        reached = reached | joined[:, reached].any(axis=1)
        assert frame.numbers["rows with a label now"] == reached.sum()


def test_a_step_for_counts_is_the_weighted_line_that_is_drawn():
    """z, its weights and the next line by NumPy, from the numbers of the frame before; likelihood
    and Pearson's sum at the end."""
    from scipy.stats import poisson

    page = page_of("poisson_regression")
    X, y = page.presets[0].data(np.random.default_rng(0)).train
    D = np.column_stack([np.ones(len(y)), X[:, 0]])
    frames = trace_of(page, "Counts that grow").frames
    for before, now in pairwise(frames):
        mu = np.exp(D @ [before.numbers["b"], before.numbers["w"]])
        z = np.log(mu) + (y - mu) / mu
        b, w = np.linalg.solve(D.T @ (mu[:, None] * D), D.T @ (mu * z))
        marks = {m.get("label"): m for m in now.state["panels"][1]["marks"]}
        line, dots = marks["b + w x"], marks["z, as large as √μ"]
        assert np.allclose(dots["y"], z, rtol=2e-3, atol=2e-3)
        assert np.allclose(line["y"], b + w * np.array(line["x"]), rtol=2e-3, atol=2e-3)
    mu = np.exp(D @ [frames[-1].numbers["b"], frames[-1].numbers["w"]])
    assert frames[-1].objective == pytest.approx(-poisson(mu).logpmf(y).mean(), rel=1e-6)
    pearson = ((y - mu) ** 2 / mu).sum() / (len(y) - 2)
    assert frames[-1].numbers["X² / (n − 2)"] == pytest.approx(pearson, rel=1e-3)


def test_counts_below_zero_are_refused():
    page = page_of("poisson_regression")
    rows = {"X": [[0.0], [1.0], [2.0]], "y": [1.0, -1.0, 2.0]}
    with pytest.raises(ValueError, match="below 0, got -1"):
        page.run(rows_of(page, rows, 0), page.settings(), 0)
