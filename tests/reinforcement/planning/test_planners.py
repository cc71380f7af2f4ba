"""Value iteration, policy iteration, finite horizon and the linear programme against each other."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_mdps import random_mdp
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import pellucid
from pellucid.core.runtime.threads import limit_threads
from pellucid.reinforcement import (
    MDP,
    FiniteHorizon,
    LinearProgramming,
    PolicyIteration,
    ValueIteration,
    grid_world,
    policy_evaluation,
)
from pellucid.reinforcement.planning import sweep_kernels as mdp_sweeps
from pellucid.reinforcement.planning.value_iteration import (
    State,
    plain_sweeps,
    rows_of_mdp,
    shared_sweeps,
    sweep_step,
)

ORDERS = [False, True, "marked"]
RIGHT = [[[0.2, 0.8, 0.0]], [[0.0, 0.2, 0.8]], [[0.0, 0.0, 1.0]]]
STAY_GO = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
FORMS = ["state", "action", "outcome"]


def best_by_linprog(mdp):
    """An independent oracle: the dense linear programme."""
    S, A = mdp.rewards.shape
    rows, right = [], []
    P = mdp.transitions.toarray()
    for s, a in itertools.product(range(S), range(A)):
        if np.isfinite(mdp.rewards[s, a]):
            rows.append(mdp.discount * P[s * A + a] - np.eye(S)[s])
            right.append(-mdp.rewards[s, a])
    return linprog(np.ones(S), A_ub=rows, b_ub=right, bounds=(None, None)).x


# --- the examples of the catalogue -----------------------------------------------------------


def test_example_26_sweeps():
    mdp = MDP(RIGHT, [0, 0, 1], discount=0.9, terminal=[2])
    model = ValueIteration().fit(mdp)
    want = [(0, 0, 1), (0, 0.72, 1), (0.5184, 0.8496, 1), (0.705024, 0.872928, 1)]
    np.testing.assert_allclose(model.history_["values"][:4], want, atol=1e-12)
    for order in ORDERS:
        exact = ValueIteration(tol=1e-12, in_place=order).fit(mdp)
        np.testing.assert_allclose(exact.values_, [0.7709696609, 0.8780487805, 1], atol=5e-11)
    stay = [[[0.2, 0.8, 0], [1, 0, 0]], [[0, 0.2, 0.8], [0, 1, 0]], [[0, 0, 1], [0, 0, 1]]]
    both = MDP(stay, [0, 0, 1], discount=0.9, terminal=[2])
    np.testing.assert_allclose(both.evaluate([1, 1, 0]), [0, 0, 1], atol=1e-15)


@pytest.mark.parametrize("model", [
    ValueIteration(tol=1e-10), ValueIteration(tol=1e-10, in_place=True),
    ValueIteration(tol=1e-10, in_place="marked"), PolicyIteration(random_state=0),
    PolicyIteration(evaluation=5, random_state=0), LinearProgramming(),
], ids=str)  # fmt: skip
def test_example_27_two_states(model):
    mdp = MDP(STAY_GO, [[1, 0], [2, 0]], discount=0.9)
    model = clone(model).fit(mdp)
    np.testing.assert_allclose(model.values_, [18, 20], atol=1e-8)
    np.testing.assert_allclose(model.q_, [[17.2, 18], [20, 16.2]], atol=1e-8)
    np.testing.assert_array_equal(model.policy_, [1, 0])
    assert (model.act(0), model.act(1)) == (1, 0)
    np.testing.assert_array_equal(model.predict([1, 0, 0]), [0, 1, 1])


def test_example_27_horizon():
    mdp = MDP(STAY_GO, [[1, 0], [2, 0]], discount=1.0)
    model = FiniteHorizon(3).fit(mdp)
    np.testing.assert_array_equal(model.values_[1:, 0], [1, 2, 4])
    assert model.policy_[0, 0] == 0  # one step to go: stay
    assert model.policy_[2, 0] == 1  # three: go
    assert (model.act(0, 1), model.act(0, 3)) == (0, 1)
    assert model.values_.shape == (4, 2)
    assert model.n_iter_ == len(model.history_) == 3


@pytest.mark.parametrize("model", [
    ValueIteration(tol=1e-12), ValueIteration(tol=1e-12, in_place="marked"), PolicyIteration(),
], ids=str)  # fmt: skip
def test_example_28_frozen_lake_and_cliff(model):
    lake = MDP.from_gymnasium("FrozenLake-v1", discount=0.99)
    np.testing.assert_allclose(clone(model).fit(lake).values_[0], 0.5420259320, atol=1e-9)
    cliff = MDP.from_gymnasium("CliffWalking-v1", discount=1.0)
    best = clone(model).fit(cliff)
    np.testing.assert_allclose(best.values_[36], -13)
    (walk,) = cliff.simulate(best.policy_, random_state=0)
    assert walk.rewards.sum() == -13


def test_taxi_is_solved():
    """Twenty for the passenger, one off for every move: best starts are worth 15 and less."""
    taxi = MDP.from_gymnasium("Taxi-v4", discount=1.0)
    a = PolicyIteration(random_state=0).fit(taxi)
    b = ValueIteration(in_place="marked").fit(taxi)
    np.testing.assert_allclose(a.values_, b.values_, atol=1e-8)
    assert 3 <= a.values_[taxi.start > 0].min() <= a.values_[taxi.start > 0].max() <= 15


def test_the_grid_of_the_book():
    """Russell & Norvig's utilities of the 4 x 3 world."""
    want = [0.812, 0.868, 0.918, 1, 0.762, 0.660, -1, 0.705, 0.655, 0.611, 0.388]
    mdp = grid_world(["...+", ".#.-", "S..."])
    for model in (ValueIteration(), PolicyIteration(random_state=1), LinearProgramming()):
        np.testing.assert_allclose(model.fit(mdp).values_, want, atol=5e-4)
    arrows = [mdp.actions[a][0] for a in PolicyIteration(random_state=1).fit(mdp).policy_]
    assert "".join(arrows) == "rrruuuuulll"


# --- oracles on random processes ---------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(4))
def test_all_planners_and_a_linear_programme_agree(seed, form):
    mdp = random_mdp(seed, form=form, discount=[0.0, 0.5, 0.9, 0.99][seed])
    want = best_by_linprog(mdp)
    models = [ValueIteration(tol=1e-11, in_place=order) for order in ORDERS]
    models += [PolicyIteration(random_state=seed), PolicyIteration(evaluation=7, random_state=seed)]
    for model in [*models, LinearProgramming()]:
        model.fit(mdp)
        np.testing.assert_allclose(model.values_, want, atol=2e-7, err_msg=str(model))
        np.testing.assert_allclose(mdp.evaluate(model.policy_), want, atol=2e-7)
        np.testing.assert_allclose(model.q_.max(axis=1), model.values_, atol=2e-7)
    assert mdp.residual(models[3].values_) < 1e-9


def test_brute_force_over_all_policies():
    mdp = random_mdp(5, S=5, A=2, ends=0)
    every = []
    for policy in itertools.product(range(2), repeat=5):
        if np.isfinite(mdp.rewards[np.arange(5), policy]).all():
            every.append(mdp.evaluate(np.array(policy)))
    np.testing.assert_allclose(PolicyIteration(random_state=0).fit(mdp).values_, np.max(every, 0))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6), discount=st.sampled_from([0.3, 0.9, 0.99, 0.999]),
    order=st.sampled_from(ORDERS), exponent=st.integers(1, 6), form=st.sampled_from(FORMS),
)  # fmt: skip
def test_the_promised_bound_holds(seed, discount, order, exponent, form):
    """Property: the true error is never above ``error_bound_``, which is below tol g / (1 - g)."""
    mdp = random_mdp(seed, discount=discount, form=form, ends=seed % 3)
    model = ValueIteration(tol=10.0**-exponent, in_place=order, max_iter=100_000).fit(mdp)
    exact = PolicyIteration(random_state=0).fit(mdp).values_
    error = np.abs(model.values_ - exact).max()
    rounding = 1e-12 * (1 + np.abs(exact).max()) / (1 - discount)
    assert error <= model.error_bound_ + rounding
    assert model.error_bound_ <= 10.0**-exponent * discount / (1 - discount)
    assert model.history_["change"][-1] < 10.0**-exponent


@pytest.mark.parametrize("seed", range(5))
def test_discount_1_with_costs(seed):
    """Stochastic shortest paths: every step costs, so every planner finds the same way out."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(10, 0.3), size=(10, 3))
    mdp = MDP(P, -rng.random((10, 3)) - 0.1, discount=1.0, terminal=[9])
    want = PolicyIteration(random_state=seed).fit(mdp).values_
    models = [ValueIteration(tol=1e-11, in_place=order) for order in ORDERS]
    for model in [*models, PolicyIteration(evaluation=4, random_state=0), LinearProgramming()]:
        np.testing.assert_allclose(model.fit(mdp).values_, want, atol=1e-7, err_msg=str(model))
        np.testing.assert_allclose(mdp.evaluate(model.policy_), want, atol=1e-7)


# --- what an iteration must do -------------------------------------------------------------------


def test_a_sweep_is_the_bellman_operator():
    """Kernel against NumPy: synchronous sweeps are ``bellman``; in place reads the newest."""
    mdp = random_mdp(8, form="outcome")
    U = np.random.default_rng(0).normal(size=12)
    model = ValueIteration(max_iter=2, tol=1e-300, initial=U)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model.fit(mdp)
    np.testing.assert_allclose(model.history_["values"][0], mdp.bellman(U), rtol=1e-14)
    np.testing.assert_allclose(model.values_, mdp.bellman(mdp.bellman(U)), rtol=1e-13)
    V = U.copy()
    for s in range(12):
        V[s] = mdp.bellman(V)[s]
    with pytest.warns(ConvergenceWarning):
        placed = ValueIteration(max_iter=1, tol=1e-300, initial=U, in_place=True).fit(mdp)
    np.testing.assert_allclose(placed.values_, V, rtol=1e-13)


@pytest.mark.parametrize("A", [1, 2, 4, 7])
def test_shared_patterns_have_the_bits_of_plain_sums(A):
    """Few successors per state, probabilities that some states share, missing actions, ends."""
    S, rng = 60, np.random.default_rng(A)
    P = np.zeros((S, A, S))
    for s in range(S):
        near = rng.choice(S, size=3, replace=False)
        kinds = np.random.default_rng(s % 5).dirichlet(np.ones(3), size=A)
        P[s][:, near] = kinds
    P[7, A - 1] = 0.0 if A > 1 else P[7, A - 1]
    mdp = MDP(P, np.tile(rng.normal(size=(5, A)), (12, 1)), discount=0.9, terminal=[3, 50])
    rows = rows_of_mdp(mdp)
    plain, shared = plain_sweeps(rows), shared_sweeps(rows, S)
    assert (shared.kernel is plain.kernel) == (A == 1)  # one action: nothing to share
    U = rng.normal(size=S)
    for in_place in (False, True):
        (one, gap), (two, gap2) = (
            sweep_step(table, State(U, np.inf, 0), in_place=in_place) for table in (plain, shared)
        )
        np.testing.assert_array_equal(one.values, two.values)
        assert gap == gap2


def test_a_grid_has_a_few_patterns_and_the_same_sweeps():
    rng = np.random.default_rng(0)
    cells = np.where(rng.random((30, 30)) < 0.1, "#", ".")
    cells[0, 0], cells[-1, -1] = "S", "+"
    mdp = grid_world(["".join(row) for row in cells], discount=0.95)
    rows = rows_of_mdp(mdp)
    table = shared_sweeps(rows, mdp.n_states)
    assert len(table.arrays[3]) < 100  # rows of all patterns together
    U, V = np.zeros((2, mdp.n_states))
    for _ in range(50):
        U = sweep_step(table, State(U, np.inf, 0), in_place=False)[0].values
        V = sweep_step(plain_sweeps(rows), State(V, np.inf, 0), in_place=False)[0].values
    np.testing.assert_array_equal(U, V)
    np.testing.assert_array_equal(U, ValueIteration().fit(mdp).history_["values"][49])


def test_marked_sweeps_solve_for_what_stays():
    """U(s) = max_a (r + g sum over others) / (1 - g p(s|s,a)), in the order of the states."""
    mdp = random_mdp(9)
    P, g = mdp.transitions, mdp.discount
    first, before = np.empty(13, np.int32), np.empty(P.nnz, np.int32)
    n = mdp_sweeps.predecessors(P.indptr, P.indices, 12, first, before)
    D = P.toarray().reshape(12, 3, 12)
    for s in range(12):
        leads = np.flatnonzero((D[:, :, s] > 0).any(axis=1))
        np.testing.assert_array_equal(before[first[s] : first[s + 1]], leads)
    U = np.random.default_rng(0).normal(size=12)
    V, marked = U.copy(), np.ones(12, bool)
    for s in range(12):
        rest = D[s].copy()
        rest[:, s] = 0
        V[s] = ((mdp.rewards[s] + g * rest @ V) / (1 - g * D[s, :, s])).max()
    visited, _, change = mdp_sweeps.marked_sweep(
        P.indptr, P.indices, P.data, mdp.rewards.ravel(), g, W := U.copy(), marked, np.inf, first,
        before[:n],
    )  # fmt: skip
    np.testing.assert_allclose(W, V, rtol=1e-13)
    assert visited == 12
    np.testing.assert_allclose(change, np.abs(V - U).max())


def test_values_contract_and_policies_improve():
    mdp = random_mdp(10, discount=0.8)
    change = ValueIteration(tol=1e-9).fit(mdp).history_["change"]
    assert (change[1:] <= 0.8 * change[:-1] + 1e-15).all()
    history = PolicyIteration(random_state=3).fit(mdp).history_
    worth = [mdp.evaluate(policy) for policy in history["policy"]]
    for old, new in itertools.pairwise(worth):
        assert (new >= old - 1e-12).all()
    assert history["changed"][-1] == 0


def test_history_n_iter_and_objective():
    mdp = random_mdp(11)
    for model in (ValueIteration(), PolicyIteration(random_state=0), FiniteHorizon(5)):
        model.fit(mdp)
        assert len(model.history_) == model.n_iter_
        np.testing.assert_array_equal(model.history_["objective"], model.history_["change"])
        assert {"step", "objective", "gap", "seconds"} <= set(model.history_.columns)


def test_finite_horizon_is_value_iteration_cut_short():
    mdp = random_mdp(12, form="state")
    model = FiniteHorizon(6).fit(mdp)
    sweeps = ValueIteration().fit(mdp).history_["values"]
    np.testing.assert_allclose(model.values_[1:], sweeps[:6], atol=1e-14)
    assert not model.values_[0].any()
    ends = np.arange(12.0)
    late = FiniteHorizon(2, terminal_values=ends).fit(mdp)
    np.testing.assert_allclose(late.values_[2], mdp.bellman(mdp.bellman(ends)))
    with pytest.raises(ValueError, match="at most the horizon 2, got 3"):
        late.act(0, 3)


def test_permuting_the_states_permutes_the_answer():
    rng = np.random.default_rng(13)
    P, R, order = (
        rng.dirichlet(np.ones(7), size=(7, 2)),
        rng.normal(size=(7, 2)),
        rng.permutation(7),
    )
    plain, moved = MDP(P, R), MDP(P[order][:, :, order], R[order])
    for model in (ValueIteration(in_place="marked", tol=1e-12), PolicyIteration(random_state=0)):
        want = clone(model).fit(plain).values_[order]
        np.testing.assert_allclose(clone(model).fit(moved).values_, want, atol=1e-10)


def test_threads_do_not_change_the_bits(monkeypatch):
    monkeypatch.setattr("pellucid.reinforcement.planning.value_iteration.THREADED", 1)
    mdp = random_mdp(14, S=200)
    for order in (False, "marked"):
        with limit_threads(1):
            one = ValueIteration(in_place=order).fit(mdp)
        with limit_threads(3):
            three = ValueIteration(in_place=order).fit(mdp)
        np.testing.assert_array_equal(one.values_, three.values_)


def test_marked_visits_far_fewer_states():
    mdp = grid_world(["." * 60] * 59 + ["." * 59 + "+"], step_reward=-0.001, discount=0.99)
    fast = ValueIteration(in_place="marked", tol=1e-8).fit(mdp)
    slow = ValueIteration(tol=1e-8).fit(mdp)
    assert fast.history_["visited"].sum() < 0.2 * slow.history_["visited"].sum()
    np.testing.assert_allclose(fast.values_, slow.values_, atol=2e-6)
    np.testing.assert_allclose(mdp.evaluate(fast.policy_), slow.values_, atol=2e-6)


def test_the_history_keeps_values_within_bounds(monkeypatch):
    monkeypatch.setattr("pellucid.reinforcement.planning.value_iteration.KEPT", 36)
    history = ValueIteration().fit(random_mdp(15)).history_
    assert sum("values" in row for row in history) == 3
    assert len(history["change"]) > 3


# --- discount 1 and other degenerate cases -----------------------------------------------------


def test_discount_1_needs_a_way_to_the_end():
    trap = [[[1, 0, 0]], [[0, 0, 1]], [[0, 0, 1]]]
    mdp = MDP(trap, [-1, -1, 0], discount=1.0, terminal=[2])
    for model in (ValueIteration(), PolicyIteration(), LinearProgramming()):
        with pytest.raises(
            ValueError, match=r"reachable from every state, but state 0 reaches none"
        ):
            model.fit(mdp)
        with pytest.raises(ValueError, match="there is none; use a discount < 1"):
            model.fit(MDP(trap, [-1, -1, 0], discount=1.0))
    assert FiniteHorizon(4).fit(mdp).values_[4, 0] == -4  # a horizon makes it finite


def test_an_endless_first_policy_is_replaced_and_the_card_says_so():
    mdp = grid_world(["S.+"], slip=0.0)
    model = PolicyIteration(initial_policy=[3, 3, 0]).fit(mdp)
    np.testing.assert_allclose(model.values_, [0.92, 0.96, 1])
    assert "replaced by a shortest path" in str(model.card())
    assert "replaced" not in str(PolicyIteration(initial_policy=[1, 1, 0]).fit(mdp).card())


@pytest.mark.parametrize("model", [
    *(ValueIteration(in_place=order) for order in ORDERS), PolicyIteration(random_state=0),
    PolicyIteration(evaluation=3, random_state=0), LinearProgramming(),
], ids=str)  # fmt: skip
def test_discount_1_ties_between_going_and_standing(model):
    """Free steps to +1: standing still looks as good one step ahead, but never gets there."""
    mdp = grid_world(["S...+", "....."], step_reward=0.0, slip=0.0)
    model = clone(model).fit(mdp)
    np.testing.assert_allclose(model.values_, 1)
    np.testing.assert_allclose(mdp.evaluate(model.policy_), 1)


@pytest.mark.parametrize("evaluation", ["exact", 3])
def test_discount_1_resting_is_better_than_a_bad_end(evaluation):
    mdp = grid_world(["S.-"], step_reward=0.0, slip=0.0)
    want = ValueIteration().fit(mdp)
    np.testing.assert_array_equal(want.values_, [0, 0, -1])
    model = PolicyIteration(initial_policy=[1, 1, 0], evaluation=evaluation).fit(mdp)
    np.testing.assert_allclose(model.values_, [0, 0, -1], atol=1e-12)
    np.testing.assert_allclose(mdp.evaluate(model.policy_), [0, 0, -1], atol=1e-12)


def test_endless_reward_is_not_silent():
    mdp = grid_world(["S.+"], step_reward=0.5, slip=0.0)
    for order in ORDERS:
        with pytest.warns(ConvergenceWarning, match="no convergence"):
            ValueIteration(max_iter=50, in_place=order).fit(mdp)
    with pytest.raises(ValueError, match="no finite value: from state"):
        PolicyIteration(random_state=0).fit(mdp)
    with pytest.raises(ValueError, match="without end"):
        LinearProgramming().fit(mdp)


def test_linear_programme_and_its_dual():
    mdp = random_mdp(16, form="state", ends=2)
    w = np.random.default_rng(0).random(12) + 0.1
    model = LinearProgramming(weights=w).fit(mdp)
    x, live = model.occupancy_, ~mdp.terminal
    into = mdp.discount * (x.ravel() @ mdp.transitions.toarray())
    np.testing.assert_allclose(x.sum(axis=1)[live], (w + into)[live], atol=1e-8)
    paid = (x[live] * np.where(x[live] > 0, mdp.rewards[live], 0)).sum()
    ends = (w + into)[mdp.terminal] @ mdp.final_values[mdp.terminal]
    np.testing.assert_allclose(paid + ends, model.objective_)
    np.testing.assert_array_equal(x.argmax(axis=1)[live], model.policy_[live])
    with pytest.raises(ValueError, match="weights must be > 0"):
        LinearProgramming(weights=np.zeros(12)).fit(mdp)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (ValueIteration(tol=0), "tol must be > 0"),
        (ValueIteration(in_place="fast"), "in_place must be False, True or 'marked', got 'fast'"),
        (ValueIteration(initial=[1, 2]), "12 finite numbers"),
        (PolicyIteration(evaluation="exakt"), "did you mean 'exact'"),
        (PolicyIteration(evaluation=0), "evaluation must be a whole number >= 1, got 0"),
        (PolicyIteration(initial_policy=[0, 1]), "12 whole numbers"),
        (PolicyIteration(initial_policy=[5] * 12), "must be 0 to 2, got 5"),
        (FiniteHorizon(0), "horizon must be a whole number >= 1"),
    ],
    ids=str,
)
def test_parameters_are_refused_in_one_sentence(model, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(random_mdp(0))


def test_only_an_mdp_is_planned_and_only_states_are_asked():
    with pytest.raises(TypeError, match="a planner needs an MDP, got list"):
        ValueIteration().fit([[1, 2]])
    with pytest.raises(NotFittedError):
        ValueIteration().act(0)
    model = ValueIteration().fit(random_mdp(0))
    with pytest.raises(ValueError, match="whole numbers from 0 to 11"):
        model.act(12)


def test_unavailable_initial_action_is_refused():
    mdp = MDP([[[0, 0], [1, 0]], [[0, 1], [1, 0]]], [1, 2], actions=["x", "y"])
    with pytest.raises(ValueError, match="takes action 'x' in state 0, where it is not available"):
        PolicyIteration(initial_policy=[0, 0]).fit(mdp)


# --- the contract --------------------------------------------------------------------------------

MODELS = [ValueIteration(), ValueIteration(in_place="marked"), PolicyIteration(random_state=0),
          FiniteHorizon(4), LinearProgramming()]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_saved_cloned_and_repeated(model, tmp_path):
    mdp = random_mdp(17)
    fitted = clone(model).fit(mdp)
    again = clone(model).fit(mdp)
    pellucid.save(fitted, tmp_path / "plan.pellucid")
    loaded = pellucid.load(tmp_path / "plan.pellucid")
    for other in (again, loaded):
        np.testing.assert_array_equal(other.values_, fitted.values_)
        np.testing.assert_array_equal(other.policy_, fitted.policy_)
        assert str(other.card()) == str(fitted.card())
    assert getattr(pellucid, type(model).__name__) is type(model)


class Recorder:
    """Keeps the models it is shown, and stops after the second."""

    def __init__(self):
        self.models = []

    def setup(self, estimator, context): ...

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.parent is None:
            return False
        self.models.append(fitted_estimator)
        return len(self.models) >= 2


@pytest.mark.parametrize("model", MODELS[:4], ids=str)
def test_callbacks_see_the_plan_and_can_stop(model):
    recorder = Recorder()
    stopped = clone(model).set_callbacks(recorder).fit(random_mdp(18, discount=0.99))
    assert stopped.n_iter_ == 2
    np.testing.assert_array_equal(recorder.models[-1].values_, stopped.values_)
    stopped.card()


def test_a_large_sparse_process_by_every_planner():
    """20,000 states: nothing is densified, and the three answers agree."""
    S, A, rng = 20_000, 3, np.random.default_rng(19)
    near = (np.repeat(np.arange(S), 3 * A) + rng.integers(-30, 31, size=3 * S * A)) % S
    P = csr_array((np.tile([0.5, 0.3, 0.2], S * A), near, np.arange(0, 3 * S * A + 1, 3)),
                  shape=(S * A, S))  # fmt: skip
    mdp = MDP(P, rng.normal(size=(S, A)), discount=0.95)
    exact = PolicyIteration(random_state=0).fit(mdp)
    for model in (PolicyIteration(evaluation=20), ValueIteration(in_place="marked", tol=1e-9)):
        np.testing.assert_allclose(model.fit(mdp).values_, exact.values_, atol=1e-6)
        assert np.abs(model.values_ - exact.values_).max() <= model.error_bound_ + 1e-9
    np.testing.assert_allclose(policy_evaluation(mdp, exact.policy_), exact.values_, atol=1e-9)
