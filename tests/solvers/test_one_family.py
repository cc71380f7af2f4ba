"""One family of solvers: one update rule, line searches that keep their word, certificates."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid
from pellucid import (
    SGDRegressor,
)
from pellucid.compiled.epochs.epochs import update
from pellucid.core.algebra.two_loop import Pair, remember, two_loop
from pellucid.core.loops.backtrack import backtrack, fell
from pellucid.neural import Dense, Network, train
from pellucid.solvers import (
    L2,
    AdaGrad,
    Adam,
    AdamW,
    Clipped,
    GradientDescent,
    InverseScaling,
    LinearObjective,
    Momentum,
    Objective,
    RMSProp,
)

SOURCE = Path(pellucid.__file__).parent
# The textbook writes every step out, and tests of its own hold it equal to the family.
FILES = [path for path in SOURCE.rglob("*.py") if "textbook" not in path.parts]
TESTS = Path(__file__).parents[1]
RULES = [Momentum(), Momentum(nesterov=True), AdaGrad(), RMSProp(), Adam(), AdamW(), Clipped(0.5)]
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
Y = X @ [1.0, -2.0, 0.0, 0.5] + 0.2 * rng.normal(size=60)


# --- no second implementation --------------------------------------------------------------------

# The family: where steps, searches and quasi-Newton directions may be written.
FAMILY = {
    "core/loops/backtrack.py", "kernel/linear_svm/line_minimum.py", "core/algebra/two_loop.py",
    "solvers/coordinate.py", "solvers/gradient_descent.py", "solvers/lbfgs.py",
    "solvers/line_search.py", "solvers/newton.py",
    "solvers/proximal.py", "solvers/rules.py", "solvers/subgradient.py",
    "compiled/epochs/epochs.py",
}  # fmt: skip

# Fused kernels and online learners that take their steps themselves, each with the test that holds
# it to the rule it says it follows.
# Boosting adds trees to a score, a sampler judges its step by the acceptance, and power transforms
# search in all columns at once.
HELD_TEXT = """
neural/training/adam_kernels.py update
neural/training/test_training.py::test_fused_adam_is_the_rule
reinforcement/learning/agent_kernels.py update
reinforcement/learning/test_agents.py::test_compiled_run_equals_plain_loop_through_update
reinforcement/learning/window_kernels.py update
reinforcement/learning/test_agent_windows.py::test_windows_of_one_step_are_td_and_sarsa_bit_by_bit
ensemble/boosting/ada_boost_regressor.py update
ensemble/boosting/test_ada_boost_regressor.py::test_errors_and_weights_follow_the_formulas
ensemble/boosting/gradient_model.py update
ensemble/boosting/test_gradient_boosting.py::test_same_as_scikit_learn
reinforcement/learning/td.py update
reinforcement/learning/test_agent_worlds.py::test_linear_td_finds_the_fixed_point
reinforcement/learning/action_values.py update
reinforcement/learning/test_agent_worlds.py::test_indicator_features_are_the_table
reinforcement/approximation/policy_gradient.py update
reinforcement/approximation/test_agent_gradients.py::test_expected_step_is_the_gradient_of_the_utility
linear/penalties/bridge.py newton
linear/penalties/test_bridge.py::test_the_gradient_vanishes
inference/sampling/hamiltonian.py shorter
inference/test_foundations_beyond.py::test_hamiltonian_moves
features/scaling/power.py shorter
solvers/test_one_family.py::test_searches_in_one_pass_are_searches_one_by_one
"""
WORDS = HELD_TEXT.split()
HELD = dict(zip(zip(WORDS[::3], WORDS[1::3], strict=True), WORDS[2::3], strict=True))
RATES = {"eta", "rate", "lr", "learning_rate", "step_size", "pace"}
STEPS = {"t", "step", "share", "stride", "eta", "rate", "length", "trial", "damping"}


def named(node):
    """The last part of a name: ``learning_rate`` of ``self.learning_rate``."""
    return getattr(node, "id", getattr(node, "attr", None))


def factors(node):
    """The factors of a product."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        return [*factors(node.left), *factors(node.right)]
    return [node]


def assigned(node):
    """(target, what it becomes) of an assignment; None for others."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return node.targets[0], node.value
    if isinstance(node, ast.AugAssign):
        return node.target, ast.BinOp(node.target, node.op, node.value)
    return None


def has_rate(node):
    """A product of which one factor is a rate is somewhere in it."""
    return any(
        named(part) in RATES
        for product in ast.walk(node)
        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult | ast.Div)
        for part in (product.left, product.right)
    )


def same(a, b):
    return ast.dump(a).replace("Store()", "Load()") == ast.dump(b).replace("Store()", "Load()")


def is_update(node):
    """w <- w + or - rate times something."""
    found = assigned(node)
    if found is None or not isinstance(found[1], ast.BinOp):
        return False
    target, value = found
    return (
        isinstance(value.op, ast.Add | ast.Sub)
        and has_rate(value.right)
        and same(value.left, target)
    )


def is_shorter(node):
    """step <- step / 2 or step * factor, also inside ``np.where``."""
    found = assigned(node)
    if found is None or named(found[0]) not in STEPS:
        return False
    target, value = found
    for part in ast.walk(value):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult | ast.Div):
            other = part.right if same(part.left, target) else part.left
            if not (same(part.left, target) or same(part.right, target)):
                continue
            half = getattr(other, "value", None) in (2, 0.5)
            if half or named(other) in {"factor", "shrink", "SHRINK", "HALF"}:
                return True
    return False


def is_armijo(node):
    """new <= value + c t slope: a comparison with a sum whose second part has three factors."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.LtE | ast.GtE):
        return False
    sides = [node.left, *node.comparators]
    sums = [part for side in sides for part in ast.walk(side)
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add | ast.Sub)]  # fmt: skip
    return any(
        len(factors(part.right)) >= 3 and any(named(f) in STEPS for f in factors(part.right))
        for part in sums
    )


def is_newton(node):
    """A loop that goes on by x - solve(H, g)."""
    if not isinstance(node, ast.For | ast.While):
        return False
    for part in ast.walk(node):
        found = assigned(part)
        if found is None or not isinstance(found[1], ast.BinOp):
            continue
        calls = [side for side in (found[1].left, found[1].right) if isinstance(side, ast.Call)]
        if isinstance(found[1].op, ast.Add | ast.Sub) and any(
            re.search(r"linalg\.solve$|cho_solve$|potrs$", ast.unparse(call.func)) for call in calls
        ):
            return True
    return False


def is_memory(node):
    """The loops of L-BFGS: over reversed pairs (s, y, ...)."""
    return (
        isinstance(node, ast.For)
        and isinstance(node.iter, ast.Call)
        and named(node.iter.func) == "reversed"
        and isinstance(node.target, ast.Tuple)
        and {"s", "y"} <= {named(part) for part in node.target.elts}
    )


def is_loop_of_scipy(node):
    """scipy.optimize.minimize and line_search."""
    return isinstance(node, ast.ImportFrom) and node.module == "scipy.optimize" and bool(
        {"minimize", "line_search", "fmin_l_bfgs_b"} & {alias.name for alias in node.names}
    )  # fmt: skip


ASSIGNED = {"update": is_update, "shorter": is_shorter}
LOOPS = {"newton": is_newton, "memory": is_memory}
PATTERNS = {
    ast.Assign: ASSIGNED, ast.AugAssign: ASSIGNED, ast.For: LOOPS, ast.While: LOOPS,
    ast.Compare: {"armijo": is_armijo}, ast.ImportFrom: {"scipy": is_loop_of_scipy},
}  # fmt: skip


STEPPING = "|".join(sorted(RATES | STEPS))
WORDS = re.compile(  # without one of these no pattern fits: most files need not be parsed
    rf"\b({STEPPING})\s*[*/]|[*/]\s*(\w+\.)?({STEPPING})\b"
    r"|\breversed\(|linalg\.solve|cho_solve|potrs|scipy\.optimize"
)


def descents(text):
    """Names of the patterns that a source shows."""
    if WORDS.search(text) is None:
        return set()
    return {
        name for node in ast.walk(ast.parse(text))
        for name, is_one in PATTERNS.get(type(node), {}).items() if is_one(node)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("for i in r:\n    w -= rate * g", "update"),
        ("w = w - self.learning_rate * (X.T @ e)", "update"),
        ("while f(t) > f0:\n    t *= 0.5", "shorter"),
        ("step = np.where(better, new, step / 2)", "shorter"),
        ("while not value <= old + noise:\n    share /= 2", "shorter"),
        ("if new <= value + ENOUGH * t * promise:\n    pass", "armijo"),
        ("enough = point.objective <= old.objective + SUFFICIENT * share * promise", "armijo"),
        ("for _ in range(9):\n    new = v - np.linalg.solve(H, g)", "newton"),
        ("for s, y, sy in reversed(pairs):\n    q -= s * y", "memory"),
        ("from scipy.optimize import minimize", "scipy"),
    ],
)
def test_the_guard_sees(text, name):
    assert name in descents(text)


def test_no_descent_outside_the_family():
    """Steps, line searches and quasi-Newton memories are written in the family alone."""
    found = {
        (path.relative_to(SOURCE).as_posix(), name)
        for path in FILES
        for name in descents(path.read_text())
        if path.relative_to(SOURCE).as_posix() not in FAMILY
    }
    assert found <= set(HELD)


def test_the_rules_are_written_once():
    """Second moments of gradients and velocities: ``update``, and Adam's fused kernel."""
    squares = re.compile(
        r"\(1\s*-\s*\w+\)\s*\*\s*(\w+(?:\[\w+\])?)\s*\*\s*\1\b|\bgrad\w*\s*\*\*\s*2"
    )
    velocity = re.compile(r"=\s*\w+\s*\*\s*(?:v|m|velocity)\b(?:\[\w+\])?\s*-\s*(?:eta|rate)\b")
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in FILES
        if squares.search(path.read_text()) or velocity.search(path.read_text())
    }
    assert found <= {"compiled/epochs/epochs.py", "neural/training/adam_kernels.py"}, found


# Compiled sweeps that fuse a step with their loop; each is held to a plain twin or to the minimum.
KERNELS_TEXT = """
neural/training/adam_kernels.py
neural/training/test_training.py::test_fused_adam_is_the_rule
reinforcement/learning/agent_kernels.py
reinforcement/learning/test_agents.py::test_compiled_run_equals_plain_loop_through_update
linear/penalties/bridge_kernels.py
linear/penalties/test_bridge.py::test_one_coefficient_is_minimised_globally
compiled/epochs/coordinate.py
solvers/test_solvers.py::test_lasso_oracle
kernel/linear_svm/crammer_singer_kernels.py
kernel/linear_svm/test_linear_svm.py::test_crammer_singer_is_liblinear_and_certified
compiled/epochs/epochs.py
solvers/test_gradient_descent.py::test_compiled_epochs_equal_the_general_path
compiled/epochs/logistic_coordinate.py
linear/logistic/test_logistic_l1.py::test_the_model_is_solved_up_to_its_damping
linear/perceptron/kernels.py
linear/perceptron/test_perceptron.py::test_rules_against_plain_loops
reinforcement/approximation/policy_gradient_kernels.py
reinforcement/approximation/test_agent_gradients.py::test_expected_step_is_the_gradient_of_the_utility
kernel/svm/kernels.py
kernel/svm/test_support_vector_machines.py::test_dual_objective_is_no_worse_than_libsvms
linear/stochastic/sparse_kernels.py
linear/stochastic/test_sgd_classifier.py::test_sparse_equals_dense
linear/lars/stagewise_kernels.py
linear/lars/test_stagewise.py::test_the_moves_are_the_textbooks
"""
KERNELS = dict(zip(KERNELS_TEXT.split()[::2], KERNELS_TEXT.split()[1::2], strict=True))


@pytest.mark.parametrize("place", sorted({*HELD.values(), *KERNELS.values()}))
def test_what_steps_by_itself_is_held_to_its_rule(place):
    """The tests named beside the exceptions exist, and so do the kernels."""
    file, name = place.split("::")
    assert f"def {name}" in (TESTS / file).read_text()
    assert all((SOURCE / kernel).exists() for kernel in KERNELS)


def test_searches_in_one_pass_are_searches_one_by_one():
    """``fell`` on arrays is ``backtrack``'s question with slope 0, entry by entry."""
    old = rng.normal(size=50)
    new = old + rng.choice([-1e-3, 0.0, 1e-15, 1e-3, np.nan, np.inf], 50)
    for noise in (0.0, 1e-13):
        one_by_one = [
            backtrack(lambda t, v=v: (t, v), u, 0.0, most=1, noise=noise * abs(u)) is not None
            for u, v in zip(old, new, strict=True)
        ]
        assert_array_equal(fell(new, old, noise), one_by_one)


@pytest.mark.parametrize("rescale", [True, False])
@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_the_two_loops_are_bfgs(shape, rescale):
    """H g from pairs is the matrix of BFGS applied to g, and the newest pair's secant holds."""
    source = np.random.default_rng(4)
    A = source.normal(size=(6, 6))
    bend, start = A @ A.T + np.eye(6), np.diag(source.uniform(0.5, 2.0, 6))
    pairs = ()
    for _ in range(7):
        s = source.normal(size=6)
        pairs = remember(pairs, s.reshape(shape), (bend @ s).reshape(shape), 5)
    assert len(pairs) == 5
    s, y = pairs[-1].s.ravel(), pairs[-1].y.ravel()
    H = start * (s @ y / (y @ start @ y)) if rescale else start
    for pair in pairs:
        s, y, r = pair.s.ravel(), pair.y.ravel(), 1 / pair.sy
        V = np.eye(6) - r * np.outer(y, s)
        H = V.T @ H @ V + r * np.outer(s, s)
    g = source.normal(size=shape)
    kept = g.copy()
    initial = lambda v: (start @ v.ravel()).reshape(shape)  # noqa: E731
    found = two_loop(g, pairs, initial, rescale=rescale)
    assert_allclose(found.ravel(), H @ g.ravel(), rtol=1e-10)
    assert_array_equal(g, kept)
    assert_allclose(two_loop(pairs[-1].y, pairs, initial, rescale=rescale), pairs[-1].s, rtol=1e-9)
    assert_array_equal(two_loop(g, (), initial), initial(g))
    assert remember(pairs, pairs[0].s, -pairs[0].y, 5) == pairs  # no curvature, no memory
    assert isinstance(pairs[0], Pair)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_networks_agents_and_solvers_step_alike(rule):
    """The function that networks and agents call is the solver's step, bit for bit."""
    w, g = rng.normal(size=7), rng.normal(size=7)
    memory = rule.start(7)
    at, m, r = w.copy(), memory.m.copy(), memory.r.copy()
    for t in range(1, 6):
        w, memory = rule.step(w, g, 0.05, memory)
        update(*rule.code(), at, g, 0.05, m, r, t)
        assert_array_equal(at, w)
        g = g[::-1].copy()


@pytest.mark.parametrize("rule", [None, *RULES], ids=str)
@pytest.mark.parametrize("size", [None, 7])
def test_a_linear_network_trains_by_the_same_steps(rule, size):
    """One identity unit on inputs and a bias is the linear model on [X, 1], epoch by epoch."""
    start = np.array([0.3, -0.2, 0.1, 0.4, -0.5])
    f = LinearObjective(
        np.column_stack([X, np.ones(60)]), Y, penalty=L2(0.05), scale="half_mean", unpenalised=(4,)
    )
    unit = Network([Dense(1, "identity")], n_inputs=4, random_state=0).with_vector(start)
    for epochs in (1, 2, 12):
        solver = GradientDescent(
            InverseScaling(0.05), rule, batch_size=size, max_iter=epochs, tol=None, shuffle=False
        )
        found = train(unit, X, Y, solver=solver, penalty=L2(0.05))
        assert_allclose(found.network.vector, solver.minimise(f, start).x, rtol=1e-9, atol=1e-12)
    if size is None:  # a row of either history is the value after the update
        assert_allclose(
            found.history["objective"], solver.minimise(f, start).history["value"], rtol=1e-9
        )


def test_averaging_compiled_and_plain():
    """The mean of the recorded points, in compiled epochs and in plain ones."""
    f = LinearObjective(X, Y, "squared")
    plain = Objective(f.value, f.gradient, f.hessian, n_samples=60)
    for average in (True, 70):
        options = {"batch_size": 1, "max_iter": 3, "tol": None, "random_state": 0}
        runs = [
            GradientDescent(InverseScaling(0.02), average=average, **options).minimise(
                g, np.zeros(4), record="update"
            )
            for g in (f, plain)
        ]
        points = runs[0].history["x"][int(average) :]
        assert_allclose(runs[0].x, points.mean(axis=0), rtol=1e-10)
        assert_allclose(runs[1].x, runs[0].x, rtol=1e-10)
    noisy = GradientDescent(InverseScaling(0.02), batch_size=1)
    with pytest.raises(ValueError, match="average"):
        noisy.set_params(average=0).minimise(f, np.zeros(4))
    unit = Network([Dense(1, "identity")], n_inputs=4, random_state=0)
    with pytest.raises(ValueError, match="average"):
        train(unit, X, Y, solver=noisy.set_params(average=True))


def test_averaging_over_all_rows_and_before_it_begins():
    f = LinearObjective(X, Y, scale="half_mean")
    options = {"max_iter": 9, "tol": None}
    path = GradientDescent(0.1, **options).minimise(f, "zeros").history["x"]
    for first in (True, 4, 9):
        found = GradientDescent(0.1, average=first, **options).minimise(f, "zeros")
        assert_allclose(found.x, path[int(first) :].mean(axis=0), rtol=1e-12)
        assert_array_equal(found.history["x"], path)  # the points themselves
    late = GradientDescent(0.1, average=10, **options).minimise(f, "zeros")
    assert_array_equal(late.x, path[-1])


def test_averaging_reaches_the_efficient_variance():
    """Polyak and Ruppert: steps eta t^-a, 1/2 < a < 1, whose mean is as good as least squares.

    2000 rows seen once; over 60 tables the mean's squared error is near that of the exact
    solution, the last point's is several times as large.
    """
    errors = np.zeros(3)
    solver = GradientDescent(
        InverseScaling(0.3, 0.6), batch_size=1, max_iter=1, tol=None, shuffle=False
    )
    source = np.random.default_rng(3)
    for _ in range(60):
        D = source.normal(size=(2000, 3))
        y = D @ [1.0, -1.0, 0.5] + source.normal(size=2000)
        f = LinearObjective(D, y, scale="half_mean")
        answers = [
            np.linalg.lstsq(D, y)[0],
            solver.set_params(average=200).minimise(f, "zeros", record=None).x,
            solver.set_params(average=False).minimise(f, "zeros", record=None).x,
        ]
        errors += [((w - [1.0, -1.0, 0.5]) ** 2).sum() for w in answers]
    exact, mean, last = errors
    assert mean < 1.5 * exact
    assert last > 2 * mean


def test_clipping_bounds_every_plain_step():
    f = Objective(lambda w: float((w**4).sum()), lambda w: 4 * w**3)
    found = GradientDescent(0.1, rule=Clipped(2.0), max_iter=30, tol=None).minimise(f, [9.0, -9.0])
    steps = np.linalg.norm(np.diff(found.history["x"], axis=0), axis=1)
    assert steps.max() <= 0.2 + 1e-12
    assert found.reason != "diverged"
    with pytest.raises(ValueError, match="norm must be > 0"):
        GradientDescent(0.1, rule=Clipped(0.0)).minimise(f, [1.0])


def test_sgd_epochs_are_gradient_descent():
    """SGDRegressor without penalty and rate decay takes the steps of GradientDescent(batch 1)."""
    model = SGDRegressor(penalty=None, learning_rate="constant", eta0=0.01, shuffle=False,
                         max_iter=3, tol=None, fit_intercept=False).fit(X, Y)  # fmt: skip
    f = LinearObjective(X, Y, scale="half_mean")
    found = GradientDescent(0.01, batch_size=1, shuffle=False, max_iter=3, tol=None).minimise(
        f, np.zeros(4)
    )
    assert_allclose(model.coef_, found.x, rtol=1e-10)
