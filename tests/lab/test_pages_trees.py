"""The pages about beliefs, neighbours, trees, committees and margins: they show what was fitted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import (
    SVC,
    AdaBoostClassifier,
    DecisionTreeClassifier,
    GaussianNB,
    KNeighborsClassifier,
    RandomForestClassifier,
    StandardScaler,
)
from pellucid.inference import BetaBernoulli
from pellucid.lab.page import LabData, hold_out, make_trace
from pellucid.lab.pages import folder_of as page_of
from pellucid.lab.pages.decision_trees.splits import divisions, enough_gain
from pellucid.lab.pages.decision_trees.table import grow
from pellucid.lab.pages.margins.parts import lifted, smo_words
from pellucid.lab.scene import DIGITS, lattice


def preset(page, name):
    """The trace of a preset, its training rows and its held-out rows."""
    page = page_of(page)
    place = [p.name for p in page.presets].index(name)
    data = page.presets[place].data(np.random.default_rng(0))
    return make_trace(page, place), *data.train, *data.test


def run(page, name, **params):
    """The same preset with other settings."""
    page = page_of(page)
    chosen = next(p for p in page.presets if p.name == name)
    known = page.settings({**chosen.params, **params})
    return page.run(chosen.data(np.random.default_rng(0)), known, 0)


def mark(frame, kind, panel=0):
    return next(m for m in frame.state["panels"][panel]["marks"] if m["mark"] == kind)


def painted(frame, model, of=lambda X: X):
    """The regions of a frame are those of the model."""
    drawn = mark(frame, "regions")
    codes = [DIGITS.index(c) for c in drawn["cells"]]
    cells = lattice(drawn["box"], drawn["rows"])[2]
    assert_allclose(codes, model.predict(of(cells)))


# neighbours


def test_regions_by_k_are_the_estimators():
    trace, X, y, X_test, y_test = preset("neighbours", "Two moons")
    for k in (1, 7, 25):
        frame = next(f for f in trace.frames if f.numbers["k"] == k)
        model = KNeighborsClassifier(k).fit(X, y)
        painted(frame, model)
        assert frame.objective == pytest.approx((model.predict(X) != y).mean())
        assert frame.held_out == pytest.approx((model.predict(X_test) != y_test).mean())
    assert trace.frames[0].objective == 0.0  # one neighbour: the row itself


def test_the_circle_goes_through_the_last_neighbour():
    trace, X, *_ = preset("neighbours", "One query")
    for frame in trace.frames:
        path = mark(frame, "line")
        query = frame.state["panels"][0]["marks"][-1]
        radius = np.hypot(np.array(path["x"]) - query["x"][0], np.array(path["y"]) - query["y"][0])
        assert_allclose(radius, frame.numbers["distance"], rtol=1e-4)
        away = np.sort(np.hypot(*(X - [query["x"][0], query["y"][0]]).T))
        assert away[frame.numbers["k"] - 1] == pytest.approx(frame.numbers["distance"], rel=1e-4)


def test_an_unscaled_axis_breaks_and_scaling_repairs():
    broken = run("neighbours", "Unscaled axis").frames[-1]
    mended = run("neighbours", "Unscaled axis", standardise=True)
    assert broken.held_out > 0.3
    assert mended.frames[-1].held_out < 0.15
    _, X, y, *_ = preset("neighbours", "Unscaled axis")
    scaler = StandardScaler().fit(X)
    model = KNeighborsClassifier(15).fit(scaler.transform(X), y)
    painted(mended.frames[-1], model, scaler.transform)


def test_noise_columns_make_all_rows_alike():
    clean = run("neighbours", "50 columns of noise", noise=0)
    noisy = run("neighbours", "50 columns of noise")
    assert noisy.frames[0].numbers["farthest / nearest"] < 2
    assert clean.frames[0].numbers["farthest / nearest"] > 10
    assert min(f.held_out for f in noisy.frames) > min(f.held_out for f in clean.frames) + 0.2


# trees


@pytest.mark.parametrize("method", ["ID3", "C4.5", "CART"])
@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("fill", ["fractions", "most common value"])
def test_the_split_taken_is_the_best_one_shown(method, missing, fill):
    """The curves and tables of the page agree with what the tree did."""
    page = page_of("decision_trees")
    params = page.settings({"method": method, "missing": missing, "fill": fill})
    grown = grow(page.presets[0].data(np.random.default_rng(3)), params, 0)
    tree = grown.model.tree_
    asked = np.flatnonzero(tree.feature >= 0)
    assert len(asked) >= (1 if method == "C4.5" and fill == "fractions" and missing else 3)
    for node in asked.tolist():
        found = [divisions(grown, node, j) for j in range(2)]
        own = found[int(tree.feature[node])]
        if method == "C4.5":  # of average gain at least
            bar = enough_gain(grown, found) - 1e-3
            found = [f for f in found if f is not None and f.gain[0] >= bar]
            if not np.isnan(tree.threshold[node]):
                assert own.threshold[0] == tree.threshold[node]
        merit = [np.max(f.ratio if method == "C4.5" else f.gain) for f in found if f is not None]
        best = np.argmax(own.ratio if method == "C4.5" else own.gain)
        assert max(merit) == pytest.approx((own.ratio if method == "C4.5" else own.gain)[best])
        if method != "CART":
            assert own.gain[best] == pytest.approx(tree.gain[node], abs=1e-9)
            continue
        sides = grown.children[node]
        weight = grown.weight[:, [node, *sides]].sum(axis=0)
        inside = (weight[1:] * tree.impurity[sides]).sum() / weight[0]
        assert own.gain[best] == pytest.approx(tree.impurity[node] - inside, abs=1e-9)


def test_the_last_frame_of_growth_is_the_tree():
    trace, X, y, X_test, y_test = preset("decision_trees", "CART grows")
    model = DecisionTreeClassifier(max_depth=4).fit(X, y)
    painted(trace.frames[-1], model)
    assert trace.frames[-1].numbers["leaves"] == model.get_n_leaves()
    assert trace.frames[-1].held_out == pytest.approx((model.predict(X_test) != y_test).mean())
    assert [f.numbers["leaves"] for f in trace.frames] == list(range(1, len(trace.frames) + 1))


def test_pruning_on_validation_rows_takes_the_noise_back():
    trace = run("decision_trees", "Pruning on validation rows")
    leaves = [f.numbers["leaves"] for f in trace.frames]
    top = int(np.argmax(leaves))
    assert 0 < top < len(leaves) - 1
    assert leaves[-1] < leaves[top]
    held = [f.held_out for f in trace.frames[top:]]
    assert (np.diff(held) <= 1e-12).all()
    assert held[-1] < held[0]


def test_many_cuts_are_thinned():
    """A large tree of noise is cut back to little: more cuts than frames."""
    page = page_of("decision_trees")
    rng = np.random.default_rng(0)
    data = LabData(rng.normal(size=(400, 2)), rng.integers(0, 8, 400))
    params = page.settings({"criterion": "entropy", "depth": 8, "pruning": "cost complexity",
                            "alpha": 0.05})  # fmt: skip
    trace = page.run(data, params, 0)
    leaves = [f.numbers["leaves"] for f in trace.frames]
    assert max(leaves) - leaves[-1] > 90
    assert len(leaves) <= 200
    pruned = DecisionTreeClassifier(max_depth=8, criterion="entropy", ccp_alpha=0.05)
    assert leaves[-1] == pruned.fit(data.X, data.y).get_n_leaves()
    painted(trace.frames[-1], pruned)


def test_an_identifier_fools_id3_and_not_c45():
    id3 = run("decision_trees", "ID attribute")
    c45 = run("decision_trees", "ID attribute", method="C4.5", depth=1)
    assert id3.frames[1].formula.startswith("row number?")
    assert id3.frames[-1].objective == 0.0
    assert id3.frames[-1].held_out > 0.35
    assert c45.frames[1].formula.startswith("x1")
    assert c45.frames[-1].held_out < 0.1


def test_missing_in_one_class_is_asked_for():
    broken = run("decision_trees", "Missing values")
    chance = run("decision_trees", "Missing values", lost="by chance", missing=0.3)
    assert broken.frames[1].formula.startswith("x1 known")
    assert broken.frames[-1].objective < 0.1
    assert broken.frames[-1].held_out > 0.4
    assert chance.frames[-1].held_out < 0.3


# committees


def test_a_forest_frame_by_frame():
    trace, X, y, X_test, y_test = preset("ensembles", "Random forest")
    model = RandomForestClassifier(25, max_depth=4, max_features=1, oob_score=True, random_state=0)
    model.fit(X, y)
    last = trace.frames[-1]
    painted(last, model)
    assert last.numbers["out-of-bag error"] == pytest.approx(1 - model.oob_score_)
    assert last.held_out == pytest.approx((model.predict(X_test) != y_test).mean())
    first = trace.frames[1].numbers
    assert first["out-of-bag error"] == pytest.approx(first["its own out-of-bag error"])


def test_adaboost_chases_wrong_labels():
    trace, X, y, X_test, y_test = preset("ensembles", "Label noise")
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=40).fit(X, y)
    assert_allclose([f.objective for f in trace.frames], model.history_["objective"])
    F = model.decision_function(X_test) * model.estimator_weights_.sum() / 4  # sum of alpha h
    loss = np.exp(-(2 * y_test - 1) * F).mean()
    assert trace.frames[-1].held_out == pytest.approx(loss)
    held = [f.held_out for f in trace.frames]
    assert held[-1] > 1.3 * min(held)  # while the training loss never rises
    assert (np.diff([f.objective for f in trace.frames]) < 1e-12).all()


def test_a_learning_rate_is_in_the_formula():
    frame = run("ensembles", "AdaBoost", rate=0.5, rounds=3).frames[2]
    error, alpha = frame.numbers["weighted error ε"], frame.numbers["weight α"]
    assert alpha == pytest.approx(0.5 * 0.5 * np.log((1 - error) / error))
    assert "α = ν · ½ ln((1 − ε)/ε) = 0.5 · ½ ln(" in frame.formula
    assert "ν" not in run("ensembles", "AdaBoost", rounds=3).frames[2].formula


def test_stumps_cannot_say_exclusive_or():
    stumps = run("ensembles", "Stumps only").frames[-1]
    deeper = run("ensembles", "Stumps only", depth=2).frames[-1]
    assert stumps.numbers["held-out error"] > 0.25 > 0.15 > deeper.numbers["held-out error"]


# margins


def test_steps_end_at_the_machine():
    trace, X, y, *_ = preset("margins", "Soft margin")
    model = SVC(kernel="linear", C=1.0).fit(X, y)
    last = trace.frames[-1]
    assert last.objective == pytest.approx(model.primal_objective_)
    assert last.numbers["support vectors"] == len(model.support_)
    bars = mark(last, "bars", 1)["height"]
    assert_allclose(np.sort(bars), np.sort(model.multipliers_), rtol=1e-4, atol=1e-6)
    assert trace.frames[0].objective == pytest.approx(len(y))  # every slack is 1
    assert last.gap < 1e-2 < trace.frames[0].gap


def test_multipliers_are_counted_from_one():
    model = SVC(kernel="linear").fit([[0.0], [1.0]], [0, 1])
    words = smo_words(model, np.zeros(2), 1, 1.0)
    assert "a[1]: 0 → " in words
    assert "a[2]: 0 → " in words


def test_no_hard_margin_where_classes_overlap():
    trace = run("margins", "C = ∞, not separable")
    value = [f.objective for f in trace.frames]
    assert value[-1] / value[-2] == pytest.approx(10, rel=1e-2)  # as the price
    assert "no hard margin" in trace.verdict
    whole = run("margins", "Hard margin")
    assert whole.frames[-1].numbers["training error"] == 0.0
    assert "no hard" not in whole.verdict


def test_a_narrow_kernel_remembers_every_row():
    trace, X, *_ = preset("margins", "Tiny σ")
    last = trace.frames[-1].numbers
    good = run("margins", "Tiny σ", sigma=0.6).frames[-1].numbers
    assert last["support vectors"] == len(X)
    assert last["training error"] == 0.0
    assert last["held-out error"] > good["held-out error"] + 0.15


def test_the_lift_is_the_feature_map_of_the_kernel():
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert_allclose(lifted(X) @ lifted(X).T, (X @ X.T) ** 2)


# beliefs


def test_gaussian_naive_bayes_ends_at_the_fit():
    trace, X, y, *_ = preset("bayes", "Gaussian naive Bayes")
    model = GaussianNB(var_smoothing=1e-3).fit(X, y)
    painted(trace.frames[-1], model)
    assert trace.frames[-1].numbers["rows so far"] == len(X)


def test_conjugate_updates_are_sums_of_counts():
    trace, _, y, *_ = preset("bayes", "Conjugate updates")
    for frame in (trace.frames[0], trace.frames[7], trace.frames[-1]):
        m = frame.numbers["rows seen"]
        belief = BetaBernoulli(2.0, 6.0)
        belief = belief.update(y[:m]) if m else belief
        assert (frame.numbers["a"], frame.numbers["b"]) == (belief.alpha, belief.beta)


def test_a_zero_count_rules_a_class_out():
    frames = run("bayes", "Zero count").frames
    zero = frames[2]
    used = [frame.numbers["evidence used"] for frame in frames[:3]]
    assert used == ["none", "range of x1", "range of x1, range of x2"]
    soft = run("bayes", "Zero count", alpha=1.0).frames[2]
    bars = [m for m in soft.state["panels"][2]["marks"] if m.get("label", "").startswith("post")]
    assert zero.numbers["class of the query"] == 0
    assert zero.numbers["its probability"] == 1.0
    assert bars[0]["height"][1] > 0.2


def test_one_normal_density_holds_one_of_two_peaks():
    trace = run("bayes", "Bimodal: Laplace")
    assert "another peak" in trace.verdict
    assert "another peak" not in run("bayes", "Laplace's approximation").verdict
    assert (np.diff([f.objective for f in trace.frames]) < 1e-9).all()  # Newton climbs


def test_small_steps_stay_on_one_peak_and_large_ones_do_not():
    small = run("bayes", "Bimodal: Metropolis")
    large = run("bayes", "Bimodal: Metropolis", step=5.0, draws=1500)
    assert small.verdict.endswith("says 1.")
    share = float(large.verdict.split()[-1].rstrip("."))
    assert 0.2 < share < 0.8


def test_a_ridge_refuses_round_steps():
    ridge = run("bayes", "Correlated target").frames[-1].numbers["accepted"]
    round_ = run("bayes", "Metropolis and boundaries").frames[-1].numbers["accepted"]
    assert int(ridge.split()[0]) < 60 < 150 < int(round_.split()[0])


@pytest.mark.parametrize(
    ("page", "more"),
    [
        ("neighbours", {"k": 5}),
        ("decision_trees", {}),
        ("ensembles", {"rounds": 4}),
        ("bayes", {"draws": 40}),
    ],
)
def test_three_classes(page, more):
    """Tables of a reader may have more than two classes."""
    rng = np.random.default_rng(2)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 3 * np.column_stack([y == 1, y == 2])
    data = LabData(X, y, hold_out(60, 0))
    page = page_of(page)
    for method in next(c for c in page.controls if c.name == "method").options:
        trace = page.run(data, page.settings({**more, "method": method}), 0)
        assert len(trace.frames) >= 2
        assert trace.to_json()
