"""Stochastic gradient descent: epochs over 1,000,000 x 50, and batch methods on 100,000 x 50.

Bound of an epoch: X is 400 MB, fetched row by row in random order, and every update waits for the
one before it. scikit-learn keeps no history of its epochs.
"""

import numpy as np

from benchmarks.harness import Case

N, P, EPOCHS = 1_000_000, 50, 5
LIMIT = f"{EPOCHS} epochs of 400 MB in random order, 1 M dependent updates each"


def regression():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    return X, X @ rng.standard_normal(P) + rng.standard_normal(N)


def classification():
    X, f = regression()
    return X, (f > 0).astype(np.float64)


def pellucid_sgd(data):
    from pellucid import SGDRegressor

    model = SGDRegressor(max_iter=EPOCHS, tol=None, random_state=0).fit(*data)
    return np.append(model.intercept_, model.coef_)


def sklearn_sgd(data):
    from sklearn.linear_model import SGDRegressor

    model = SGDRegressor(max_iter=EPOCHS, tol=None, random_state=0).fit(*data)
    return np.append(model.intercept_, model.coef_)


def pellucid_logistic(data):
    from pellucid.solvers import L2, GradientDescent, InverseScaling, LinearObjective

    X, y = data
    f = LinearObjective(X, y, "logistic", L2(5e-5), unpenalised=(0,), intercept=True)
    solver = GradientDescent(
        InverseScaling(0.05, 0.25), batch_size=1, max_iter=EPOCHS, tol=None, random_state=0
    )
    return solver.minimise(f, "zeros").x


def sklearn_logistic(data):
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(
        "log_loss", max_iter=EPOCHS, tol=None, random_state=0, learning_rate="invscaling",
        eta0=0.05, power_t=0.25,
    ).fit(*data)  # fmt: skip
    return np.append(model.intercept_, model.coef_)


def smaller():
    X, y = regression()
    return X[:100_000], (y[:100_000] > 0).astype(np.float64)


def pellucid_lbfgs(data):
    from pellucid.solvers import L2, LBFGS, LinearObjective

    X, y = data
    f = LinearObjective(X, y, "logistic", L2(5e-4), unpenalised=(0,), intercept=True)
    return LBFGS(tol=1e-7).minimise(f, "zeros", record=None).x


def sklearn_lbfgs(data):
    from sklearn.linear_model import LogisticRegression

    X, y = data
    model = LogisticRegression(C=1 / (2 * len(X) * 5e-4), tol=1e-7, max_iter=1000).fit(X, y)
    return np.append(model.intercept_, model.coef_)


STEPS = 20_000


def small_bowl():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 10))
    return A.T @ A / 20 + 0.1 * np.eye(10), rng.normal(size=10)


def pellucid_steps(data):
    from pellucid.solvers import GradientDescent, Objective

    A, b = data
    f = Objective(lambda w: float(w @ A @ w / 2 - b @ w), lambda w: A @ w - b)
    solver = GradientDescent(0.05, max_iter=STEPS, tol=None)
    return solver.minimise(f, np.zeros(10), record=None).x


def numpy_steps(data):
    """The loop a person would write, with the guards that ours has."""
    A, b = data
    w = best = np.zeros(10)
    first = least = np.inf
    for _ in range(STEPS):
        w = w - 0.05 * (A @ w - b)
        value = float(w @ A @ w / 2 - b @ w)
        first = value if first == np.inf else first
        if not np.isfinite(value) or value > 1e10 * max(1.0, abs(first)):
            break
        if value < least:
            best, least = w, value
    return best


def near(ours, theirs):
    """Two stochastic descents in different orders end close to each other."""
    return bool(np.abs(ours - theirs).max() <= 0.05 * np.abs(theirs).max())


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, atol=1e-4))


CASES = [
    Case(
        f"SGDRegressor, {EPOCHS} epochs, {N:,} x {P}",
        regression,
        {"pellucid": pellucid_sgd, "scikit-learn": sklearn_sgd},
        near,
        LIMIT,
        rounds=2,
        repeats=2,
    ),
    Case(
        f"GradientDescent(batch_size=1), logistic, {EPOCHS} epochs with history, {N:,} x {P}",
        classification,
        {"pellucid": pellucid_logistic, "scikit-learn": sklearn_logistic},
        near,
        LIMIT,
        rounds=2,
        repeats=2,
    ),
    Case(
        f"LBFGS, logistic with L2, 100,000 x {P}",
        smaller,
        {"pellucid": pellucid_lbfgs, "scikit-learn": sklearn_lbfgs},
        close,
        "two products with X per evaluation: 80 MB read",
        "The same SciPy loop; ours also records every step.",
    ),
    Case(
        f"GradientDescent per step, {STEPS:,} steps in 10 dimensions",
        small_bowl,
        {"pellucid": pellucid_steps, "NumPy loop": numpy_steps},
        close,
        "one value and one gradient a step: six small NumPy calls",
        "The loop has the same guards against divergence and keeps the best point. "
        "Behind: a step of ours goes through rule, schedule, history and callbacks, "
        "a few Python calls more.",
    ),
]
