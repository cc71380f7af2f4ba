"""Pages of agents and networks: their frames say what the textbook and the estimators say."""

import numpy as np
import pytest
from story_facts import trace_of

from pellucid.deep import convolve
from pellucid.lab.page import make_trace
from pellucid.lab.pages import folder_of, page_of
from pellucid.lab.pages.attending.parts import Lookup
from pellucid.lab.pages.control import climbing, deep
from pellucid.lab.pages.control.parts import make_world
from pellucid.lab.pages.recurrence.parts import GOAL, HALF, Memory, side_by_side, slopes
from pellucid.textbook.networks.attention import attention
from pellucid.textbook.networks.autoencoder import steps
from pellucid.textbook.networks.recurrent_network import recurrent_network
from pellucid.textbook.projections.factor_analysis import factor_analysis
from pellucid.textbook.reinforcement.policy_gradient import climb


def marks_of(frame, panel):
    found = next(p for p in frame.state["panels"] if p["name"] == panel)
    return {m["label"]: m for m in found["marks"] if isinstance(m.get("label"), str)}


def test_policies_climb_as_in_the_textbook():
    """Every episode's table is the one that the textbook makes of its steps."""
    params = page_of("policy_gradient").settings({"show": "steps", "rate": 1.0})
    run = climbing.learned(make_world(params), params, 0)
    for k, walk in enumerate(run.walks):
        said = [(move.state, move.action, move.reward) for move in walk]
        new, G = climb(run.tables[k], said, params["discount"], 1.0, run.baselines[k])
        assert np.allclose(new, run.tables[k + 1], atol=1e-12)
        assert np.allclose(G, climbing.returns(walk, params["discount"]))


def test_bars_of_a_cell_are_as_long_as_its_actions_are_probable():
    params = page_of("policy_gradient").settings({"show": "steps"})
    run = climbing.learned(make_world(params), params, 0)
    star = marks_of(trace_of(page_of("policy_gradient"), "Policy gradient").frames[0], "world")
    far = np.hypot(
        *(np.subtract(star["π(a | s)"][f"{c}1"], star["π(a | s)"][f"{c}0"]) for c in "xy")
    )
    assert np.allclose(far, climbing.LONGEST * run.policies[0].max(), rtol=1e-4)


def test_the_worth_of_a_greedy_network_is_that_of_its_arrows():
    params = folder_of("control").settings({"method": deep.METHOD, "episodes": 3})
    world = make_world(params)
    run = deep.learned(world, params, 0)
    arrows = np.eye(4)[run.stages[-1].q.argmax(axis=1)]
    start = int(world.mdp.start.argmax())
    assert run.stages[-1].worth == pytest.approx(world.mdp.evaluate(arrows)[start])
    assert np.array_equal(run.stages[-1].q, run.agent.q_)


def test_straight_units_end_where_the_textbook_ends():
    """The loss of the page's last frame is that of the linear autoencoder's descent."""
    page = page_of("autoencoder")
    X, _ = next(p for p in page.presets if p.name == "Straight units").data(
        np.random.default_rng(0)
    ).train  # fmt: skip
    path = steps(X, *(np.random.default_rng(1).normal(size=s) for s in ((2, 1), (1, 2))), 0.1)
    best = [next(path).loss for _ in range(3000)][-1]
    assert trace_of(page, "Straight units").frames[-1].objective == pytest.approx(best, rel=1e-4)


def test_factors_end_where_the_textbook_ends():
    from pellucid.lab.pages.factors.page import tests as marks

    page = page_of("factor_analysis")
    X, _, _ = marks(page.settings(), 0)
    J = trace_of(page, "One ability").frames[-1].objective
    assert factor_analysis(X, 1).mean_l == pytest.approx(J, rel=1e-6)


def test_rows_outside_of_a_region_are_those_below_its_edge():
    from pellucid import OneClassSVM
    from pellucid.kernel import GaussianKernel

    page = page_of("one_class_svm")
    X = page.presets[0].data(np.random.default_rng(0)).X
    model = OneClassSVM(kernel=GaussianKernel(1.5), nu=0.1, tol=1e-8).fit(X)
    last = trace_of(page, "A region for most").frames[-1]
    f = model.decision_function(X)
    assert last.numbers["rows outside"] == (f < -1e-3).sum()
    assert np.allclose(sorted(marks_of(last, "rows")["outside"]["x"]), np.sort(X[f < -1e-3, 0]))


def test_the_map_of_a_kernel_is_written_place_by_place():
    page = page_of("convolution")
    trace = trace_of(page, "An edge finder")
    f = (np.array([list(row) for row in trace.data["cells"].split("/")]) != ".").astype(float)
    z = convolve(f, [[-1, 0, 1]] * 3)
    assert [frame.numbers["z"] for frame in trace.frames[:-1]] == z.ravel().tolist()


def test_a_picture_can_be_painted():
    """What a click sends: cells without a start, which the page draws and looks at."""
    page = page_of("convolution")
    trace = page.run(None, page.settings({"cells": "..../.#../..../...."}), 0)
    assert trace.data["cells"] == "..../.#../..../...."
    with pytest.raises(ValueError, match="at least 4"):
        page.run(None, page.settings({"cells": "##/##"}), 0)


def test_weights_of_letters_are_those_of_their_questions_and_keys():
    params = page_of("attention").settings()
    lookup = Lookup.of(params, 0)
    for state in lookup.states[::100]:
        assert np.allclose(attention(state.Q, state.K, np.eye(5))[1], state.weights)
    J = [((s.weights - lookup.target) ** 2).sum() for s in lookup.states]
    assert J[-1] < 0.01 * J[0]
    one, two = lookup.states[:2]  # every letter's rows of Q and K are rows of the weights
    moved = max(np.abs(two.Q - one.Q).max(), np.abs(two.K - one.K).max())
    assert moved == pytest.approx(params["rate"] * one.slope)


def test_sequences_side_by_side_are_single_sequences():
    """And the slopes that are drawn are differences of the loss."""
    memory = Memory.of(page_of("recurrence").settings({"steps": 10}), 0)
    u, w, b, dw = memory.states[-1]
    h = memory.walks(10)
    for i in range(3):
        alone = recurrent_network(memory.x[:, [i]], np.array([[u]]), np.array([[w]]), np.array([b]))
        assert np.allclose(h[i], alone[:, 0], atol=1e-12)

    def loss(w):
        end = side_by_side(memory.x[:, :HALF], u, w, b)[-1]
        return float(((end - GOAL * memory.sign[:HALF]) ** 2).mean()) / 2

    assert dw == pytest.approx((loss(w + 1e-6) - loss(w - 1e-6)) / 2e-6, abs=1e-8)
    back = slopes(h[1], w, float(h[1, -1] - GOAL))
    first = h[1, 0] + np.array([1e-6, -1e-6])
    for t in range(1, h.shape[1]):
        first = np.tanh(memory.x[t, 1] * u + w * first + b)
    there = ((first - GOAL) ** 2 / 2) @ [1, -1] / 2e-6
    assert back[0] == pytest.approx(there, rel=1e-5, abs=1e-8)


def test_the_distance_of_two_laws():
    """0 where they are the same, ln 2 where they have nothing in common."""
    from pellucid.lab.pages.adversaries.parts import Game, apart
    from pellucid.textbook.networks.adversarial_network import State

    game = Game.of(page_of("adversaries").settings({"rounds": 10}), 0)
    here, far = (State(a, 0.7, np.zeros(3), 0.0, 0.0) for a in (2.0, -30.0))
    assert apart(game, here) == pytest.approx(0.0, abs=1e-12)
    assert apart(game, far) == pytest.approx(np.log(2))


def test_a_run_that_leaves_the_numbers_is_told():
    page = page_of("adversaries")
    place = [p.name for p in page.presets].index("Steps too long")
    assert "run away" in make_trace(page, place).verdict
