"""Bayesian logistic regression, Markov chains and naive Bayes on mixed columns, against the peers.

Chains that make the same moves with the same law have the same effective sample size, so for them
the ratio of times is the ratio of effective draws per second.
"""

import numpy as np

from benchmarks.harness import Case

N, P = 50_000, 20
ROWS, COLUMNS, CHAINS, BURN, DRAWS = 5_000, 10, 4, 500, 1_500
WALKERS, STEPS = 32, 5_000
MANY, NUMBERS, WORDS, K = 200_000, 15, 15, 5


def labels(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (rng.random(n) < 1 / (1 + np.exp(-X @ rng.normal(size=p) / 2))).astype(int)


def tall():
    return labels(N, P)


def laplace(data):
    from pellucid import BayesianLogisticRegression

    model = BayesianLogisticRegression().fit(*data)
    return np.concatenate([model.map_, np.diag(model.posterior_covariance_)])


def laplace_peer(data):
    """The mode by scikit-learn's Newton solver, the covariance by NumPy."""
    from sklearn.linear_model import LogisticRegression

    X, y = data
    D = np.column_stack([np.ones(len(X)), X])
    peer = LogisticRegression(solver="newton-cholesky", fit_intercept=False, tol=1e-8).fit(D, y)
    p = peer.predict_proba(D)[:, 1]
    H = (D * (p * (1 - p))[:, None]).T @ D + np.eye(D.shape[1])
    return np.concatenate([peer.coef_[0], np.diag(np.linalg.inv(H))])


def averaged(data):
    from pellucid.linear.bayes.averaged_sigmoid import log_averages

    return np.exp(log_averages(*data)[1])


def averaged_peer(data):
    """Gauss-Hermite with 64 points, what one would write."""
    from scipy.special import expit

    m, s = data
    z, w = np.polynomial.hermite_e.hermegauss(64)
    return expit(m[:, None] + s[:, None] * z) @ (w / w.sum())


def scores():
    rng = np.random.default_rng(0)
    return rng.normal(size=100_000) * 3, rng.uniform(0, 1.5, size=100_000)


def small():
    return labels(ROWS, COLUMNS)


def proposal_root(X, y):
    """2.38/sqrt(d) times the root of the inverse Hessian at the mode, as "auto" does."""
    from sklearn.linear_model import LogisticRegression

    D = np.column_stack([np.ones(len(X)), X])
    mode = LogisticRegression(fit_intercept=False, tol=1e-8).fit(D, y).coef_[0]
    p = 1 / (1 + np.exp(-D @ mode))
    H = (D * (p * (1 - p))[:, None]).T @ D + np.eye(D.shape[1])
    root = np.linalg.cholesky(np.linalg.inv(H)) * 2.38 / np.sqrt(D.shape[1])
    return D, mode, root


def walk(data):
    import warnings

    from pellucid import BayesianLogisticRegression

    model = BayesianLogisticRegression(
        method="metropolis", n_draws=DRAWS, n_burn=BURN, n_chains=CHAINS, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data).posterior_mean_


def walk_numpy(data):
    X, y = data
    D, mode, root = proposal_root(X, y)
    rng = np.random.default_rng(0)
    pull = y @ D

    def value(T):
        A = D @ T.T
        return T @ pull - np.logaddexp(0, A).sum(axis=0) - 0.5 * (T * T).sum(axis=1)

    T = np.tile(mode, (CHAINS, 1))
    old, total = value(T), np.zeros(len(mode))
    for t in range(BURN + DRAWS):
        new = T + rng.standard_normal(T.shape) @ root.T
        values = value(new)
        yes = np.log(rng.random(CHAINS)) <= values - old
        T, old = np.where(yes[:, None], new, T), np.where(yes, values, old)
        if t >= BURN:
            total += T.mean(axis=0)
    return total / DRAWS


_compiled = {}


def walk_blackjax(data):
    """Its random walk, all chains in one compiled scan; compiled in the warm-up call."""
    import blackjax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    D, mode, root = proposal_root(*data)
    if "run" not in _compiled:
        Dj, pull = jnp.asarray(D), jnp.asarray(data[1] @ D)

        def value(t):
            return t @ pull - jax.nn.softplus(Dj @ t).sum() - 0.5 * t @ t

        kernel = blackjax.additive_step_random_walk(
            value, blackjax.mcmc.random_walk.normal(jnp.asarray(root))
        )

        def one(state, key):
            state, _ = jax.vmap(kernel.step)(jax.random.split(key, CHAINS), state)
            return state, state.position

        def run(start, key):
            state = jax.vmap(kernel.init)(start)
            return jax.lax.scan(one, state, jax.random.split(key, BURN + DRAWS))[1]

        _compiled["run"] = jax.jit(run)
    start = jnp.asarray(np.tile(mode, (CHAINS, 1)))
    draws = np.asarray(_compiled["run"](start, jax.random.key(0)))
    return draws[BURN:].mean(axis=(0, 1))


def nothing():
    return None


def banana(T):
    return -0.5 * (T[:, 0] ** 2 / 4 + (T[:, 1] - T[:, 0] ** 2 / 4) ** 2)


def general(_):
    from pellucid.inference import GaussianWalk, metropolis_hastings

    chains = metropolis_hastings(
        banana, np.zeros(2), n_draws=STEPS, n_burn=0, n_chains=WALKERS,
        proposal=GaussianWalk(1.5), vectorized=True, random_state=0,
    )  # fmt: skip
    return chains.mean


def general_emcee(_):
    import emcee

    rng = np.random.default_rng(0)
    sampler = emcee.EnsembleSampler(WALKERS, 2, banana, vectorize=True)
    sampler.run_mcmc(rng.normal(size=(WALKERS, 2)), STEPS)
    return sampler.get_chain(flat=True).mean(axis=0)


def general_numpy(_):
    """The loop a person would write, all chains at once, keeping what ours keeps."""
    rng = np.random.default_rng(0)
    x = np.zeros((WALKERS, 2))
    value = banana(x)
    draws, values = np.empty((STEPS, WALKERS, 2)), np.empty((STEPS, WALKERS))
    accepted = np.empty((STEPS, WALKERS), bool)
    for t in range(STEPS):
        y = x + 1.5 * rng.standard_normal((WALKERS, 2))
        new = banana(y)
        yes = np.log(rng.random(WALKERS)) <= new - value
        x = np.where(yes[:, None], y, x)
        value = np.where(yes, new, value)
        draws[t], values[t], accepted[t] = x, value, yes
    return draws.mean(axis=(0, 1))


def traces():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 5_000, 20))
    for t in range(1, 5_000):
        x[:, t] += 0.8 * x[:, t - 1]
    return x


def diagnostics(x):
    from pellucid.inference import effective_sample_size, rhat

    return np.stack([rhat(x, rank=True), effective_sample_size(x, "bulk")])


def diagnostics_arviz(x):
    import arviz

    return np.stack(
        [
            [float(arviz.rhat(x[:, :, j])) for j in range(x.shape[2])],
            [float(arviz.ess(x[:, :, j], method="bulk")) for j in range(x.shape[2])],
        ]
    )


def mixed():
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=MANY)
    numbers = rng.normal(size=(MANY, NUMBERS)) + y[:, None] * rng.normal(size=NUMBERS)
    codes = (rng.integers(6, size=(MANY, WORDS)) * (1 + y[:, None])) % 7
    return np.column_stack([numbers, codes]).astype(np.float64), y


KINDS = dict.fromkeys(range(NUMBERS, NUMBERS + WORDS), "categorical")


def mixed_ours(data):
    from pellucid import MixedNB

    return MixedNB(KINDS).fit(*data).predict_proba(data[0])[::50]


def mixed_peer(data):
    from mixed_naive_bayes import MixedNB

    X, y = data
    model = MixedNB(categorical_features=list(KINDS), alpha=1.0, var_smoothing=1e-9)
    return model.fit(X, y).predict_proba(X)[::50]


def mixed_pair(data):
    """Two classifiers of scikit-learn; their joints add up, less one prior."""
    from scipy.special import softmax
    from sklearn.naive_bayes import CategoricalNB, GaussianNB

    X, y = data
    a, b = X[:, :NUMBERS], X[:, NUMBERS:].astype(int)
    normal, table = GaussianNB().fit(a, y), CategoricalNB().fit(b, y)
    joint = normal.predict_joint_log_proba(a) + table.predict_joint_log_proba(b)
    return softmax(joint - np.log(normal.class_prior_), axis=1)[::50]


def close(rtol, atol=0.0):
    return lambda a, b: bool(np.allclose(a, b, rtol=rtol, atol=atol))


CASES = [
    Case(
        f"BayesianLogisticRegression, laplace, {N} x {P}",
        tall,
        {"pellucid": laplace, "scikit-learn + NumPy": laplace_peer},
        close(1e-5, 1e-6),
        "six Newton steps of n d^2 multiply-adds",
    ),
    Case(
        "average of a sigmoid over normal scores, 100000 rows",
        scores,
        {"pellucid": averaged, "Gauss-Hermite in NumPy": averaged_peer},
        close(0.0, 1e-6),
        "37 sigmoids per row",
    ),
    Case(
        f"BayesianLogisticRegression, metropolis, {ROWS} x {COLUMNS}, {CHAINS} chains of {DRAWS}",
        small,
        {"pellucid": walk, "NumPy": walk_numpy, "blackjax": walk_blackjax},
        close(0.0, 0.02),
        "n d multiply-adds and one exponential per row and step",
        note="Same walk everywhere, so the ratio is that of effective draws per second.",
    ),
    Case(
        f"metropolis_hastings, a 2-D target, {WALKERS} chains of {STEPS}",
        nothing,
        {"pellucid": general, "emcee": general_emcee, "NumPy loop": general_numpy},
        close(0.0, 0.5),
        "one call of the density per step",
        note="emcee moves differently (stretch moves): the figure is draws per second.",
    ),
    Case(
        "R-hat by ranks and bulk ESS, 4 chains of 5000, 20 coordinates",
        traces,
        {"pellucid": diagnostics, "arviz": diagnostics_arviz},
        close(1e-8),
        "a sort and a Fourier transform per coordinate",
    ),
    Case(
        f"MixedNB, {MANY} rows, {NUMBERS} numbers and {WORDS} categories, fit and predict",
        mixed,
        {"pellucid": mixed_ours, "mixed-naive-bayes": mixed_peer, "scikit-learn pair": mixed_pair},
        close(1e-5, 1e-6),
        "two reads of X",
    ),
]
