"""Gaussian mixtures and what is built on them, against scikit-learn.

All contenders of a mixture case begin at the same parameters and make the same number of rounds, so
the answers must agree to rounding.
"""

import numpy as np

from benchmarks.harness import Case

N, P, K, ROUNDS = 100_000, 20, 10, 20
DIAGONAL = ("diag", "spherical")


def quiet(function):
    """Without the warning that ROUNDS are too few to converge."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function()


def groups():
    rng = np.random.default_rng(0)
    means = 2 * rng.standard_normal((K, P)) + 5
    roots = 0.3 * rng.standard_normal((K, P, P)) + np.eye(P)
    parts = [rng.standard_normal((N // K, P)) @ roots[k] + means[k] for k in range(K)]
    X = np.vstack(parts)
    rng.shuffle(X)
    return X, X[rng.choice(N, K, replace=False)]


def start_of(X, kind):
    T = np.cov(X.T)
    if kind == "full":
        return np.tile(T, (K, 1, 1))
    return np.tile(np.diag(T), (K, 1)) if kind == "diag" else T


def pellucid_mixture(kind):
    def fit(data):
        from pellucid import GaussianMixture
        from pellucid.mixture import MixtureStart

        X, means = data
        start = MixtureStart(means=means, covariances=start_of(X, kind))
        options = {"covariance_type": kind, "max_iter": ROUNDS, "tol": 0.0}
        return GaussianMixture(K, init_params=start, **options).fit(X).means_

    return fit


def sklearn_mixture(kind):
    def fit(data):
        from sklearn.mixture import GaussianMixture

        X, means = data
        C = start_of(X, kind)
        options = {"covariance_type": kind, "max_iter": ROUNDS, "tol": 0.0}
        options |= {"weights_init": np.full(K, 1 / K), "means_init": means}
        options |= {"precisions_init": 1 / C if kind in DIAGONAL else np.linalg.inv(C)}
        model = GaussianMixture(K, init_params="random_from_data", random_state=0, **options)
        return quiet(lambda: model.fit(X)).means_

    return fit


def begun(model, X, means):
    """The model as if a fit had ended with equal groups about the means: both go on from there."""
    T, share = np.cov(X.T), N / K
    later = share * np.arange(K - 1, -1, -1)
    root = np.linalg.inv(np.linalg.cholesky(T)).T
    model.weight_concentration_ = (np.full(K, 1 + share), 1 / K + later)
    model.mean_precision_, model.degrees_of_freedom_ = np.full(K, 1 + share), np.full(K, P + share)
    model.means_, model.weights_, model.converged_ = means, np.full(K, 1 / K), False
    model.lower_bound_ = -np.inf
    model.covariances_, model.precisions_cholesky_ = np.tile(T, (K, 1, 1)), np.tile(root, (K, 1, 1))
    return model


def bayesian(cls):
    """ROUNDS rounds from the same posterior: the means, and the bound as the last number."""

    def fit(data):
        X, means = data
        options = {"n_components": K, "max_iter": ROUNDS, "tol": 0.0, "warm_start": True}
        model = quiet(lambda: begun(cls()(**options), X, means).fit(X))
        return np.append(model.means_, model.lower_bound_)

    return fit


def our_bayesian():
    from pellucid import BayesianGaussianMixture

    return BayesianGaussianMixture


def their_bayesian():
    from sklearn.mixture import BayesianGaussianMixture

    return BayesianGaussianMixture


def with_holes():
    """A tenth of the cells is missing, in nearly as many patterns as rows."""
    X, means = groups()
    X = X[:20_000].copy()
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    return X, means


def pellucid_holes(data):
    from pellucid import GaussianMixture
    from pellucid.mixture import MixtureStart

    X, means = data
    start = MixtureStart(means=means, covariances=np.tile(4.0 * np.eye(P), (K, 1, 1)))
    model = GaussianMixture(K, init_params=start, max_iter=2, tol=0.0, reg_covar=0.0)
    return model.fit(X).means_


def numpy_holes(data):
    """The same rounds, row pattern by row pattern, with NumPy's algebra."""
    X, means = data
    n, pi, C = len(X), np.full(K, 1 / K), np.tile(4.0 * np.eye(P), (K, 1, 1))
    patterns, which = np.unique(np.isnan(X), axis=0, return_inverse=True)
    rows = [np.flatnonzero(which.ravel() == q) for q in range(len(patterns))]
    for _ in range(2):
        N, M, S = np.zeros(K), np.zeros((K, P)), np.zeros((K, P, P))
        for gap, own in zip(patterns, rows, strict=True):
            o, u = np.flatnonzero(~gap), np.flatnonzero(gap)
            C_oo = C[:, o[:, None], o]
            B = np.linalg.solve(C_oo, C[:, o[:, None], u])  # (k, o, u)
            D = X[own][:, o] - means[:, None, o]  # (k, n, o)
            square = (D * np.linalg.solve(C_oo, D.transpose(0, 2, 1)).transpose(0, 2, 1)).sum(2)
            J = np.log(pi)[:, None] - 0.5 * (square + np.linalg.slogdet(C_oo)[1][:, None])
            R = np.exp(J - J.max(axis=0))
            R /= R.sum(axis=0)
            F = np.zeros((K, len(own), P))
            F[:, :, o], F[:, :, u] = D, D @ B
            N += R.sum(axis=1)
            M += (R[:, :, None] * F).sum(axis=1)
            S += F.transpose(0, 2, 1) @ (R[:, :, None] * F)
            rest = C[:, u[:, None], u] - C[:, u[:, None], o] @ B
            S[:, u[:, None], u] += R.sum(axis=1)[:, None, None] * rest
        shift = M / N[:, None]
        C = S / N[:, None, None] - shift[:, :, None] * shift[:, None, :]
        means, pi = means + shift, N / n
    return means


def torch_mixture(data):
    """The same rounds written with PyTorch's batched algebra."""
    import torch

    X, means = (torch.from_numpy(a) for a in data)
    C = torch.from_numpy(start_of(data[0], "full"))
    pi = torch.full((K,), 1 / K, dtype=torch.float64)
    for _ in range(ROUNDS):
        L = torch.linalg.cholesky(C)
        J = torch.empty((N, K), dtype=torch.float64)
        for k in range(K):
            Y = torch.linalg.solve_triangular(L[k], (X - means[k]).T, upper=False)
            J[:, k] = pi[k].log() - 0.5 * (Y**2).sum(0) - L[k].diagonal().log().sum()
        R = torch.softmax(J, dim=1)
        Nk = R.sum(0)
        pi, means = Nk / N, (R.T @ X) / Nk[:, None]
        for k in range(K):
            D = X - means[k]
            C[k] = (D * R[:, k : k + 1]).T @ D / Nk[k] + 1e-6 * torch.eye(P, dtype=torch.float64)
    return means.numpy()


def near(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-6, atol=1e-6))


def counts():
    rng = np.random.default_rng(0)
    rates = rng.gamma(2.0, 4.0, (3, 10))
    return rng.poisson(rates[rng.integers(3, size=20_000)]).astype(float), rates + 1.0


def pellucid_poisson(data):
    from pellucid import Mixture
    from pellucid.mixture import PoissonComponent

    X, rates = data
    model = Mixture([PoissonComponent(r) for r in rates], max_iter=20, tol=0.0).fit(X)
    return np.array([c.rates for c in model.components_])


def numpy_poisson(data):
    from scipy.special import gammaln, logsumexp

    X, rates = data
    pi = np.full(3, 1 / 3)
    for _ in range(20):
        logs = (X[:, None] * np.log(rates) - rates - gammaln(X + 1)[:, None]).sum(axis=2)
        J = np.log(pi) + logs
        R = np.exp(J - logsumexp(J, axis=1, keepdims=True))
        pi, rates = R.mean(axis=0), (R.T @ X) / R.sum(axis=0)[:, None]
    return rates


def labelled():
    X, _ = groups()
    y = (X[:, 0] + X[:, 1] > X[:, :2].sum(axis=1).mean()).astype(int)
    return X[:40_000], y[:40_000]


def pellucid_mda(data):
    from pellucid import MixtureDiscriminantAnalysis

    X, y = data
    model = MixtureDiscriminantAnalysis(3, random_state=0)
    return quiet(lambda: model.fit(X, y)).score(X, y)


def sklearn_mda(data):
    from sklearn.mixture import GaussianMixture

    X, y = data
    parts = [quiet(lambda c=c: GaussianMixture(3, random_state=0).fit(X[y == c])) for c in (0, 1)]
    joint = np.column_stack([m.score_samples(X) for m in parts]) + np.log(np.bincount(y) / len(y))
    return (joint.argmax(axis=1) == y).mean()


def no_worse(ours, theirs):
    return bool(ours >= theirs - 0.02)  # the starts differ


def mostly_unlabelled():
    X, y = labelled()
    return X, np.where(np.arange(len(y)) % 50 == 0, y, -1)


def pellucid_semi(data):
    from pellucid import SemiSupervisedMixture

    return quiet(lambda: SemiSupervisedMixture(max_iter=20, tol=0.0).fit(*data)).mixture_.means_


def numpy_semi(data):
    from scipy.special import logsumexp
    from scipy.stats import multivariate_normal

    X, y = data
    R = np.where(y[:, None] >= 0, np.eye(2)[np.maximum(y, 0)], 0.0)
    for _ in range(21):
        Nk = R.sum(axis=0)
        pi, means = Nk / Nk.sum(), (R.T @ X) / Nk[:, None]
        J = np.empty((len(X), 2))
        for c in range(2):
            D = X - means[c]
            S = (D * R[:, c : c + 1]).T @ D / Nk[c] + 1e-6 * np.eye(P)
            J[:, c] = np.log(pi[c]) + multivariate_normal(means[c], S).logpdf(X)
        free = y < 0
        R[free] = np.exp(J - logsumexp(J, axis=1, keepdims=True))[free]
    return means


def with_odd_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 10)) @ rng.standard_normal((10, 10))
    X[:2000] += 15 * X.std(axis=0)
    return X


def pellucid_envelope(X):
    from pellucid import EllipticEnvelope

    return EllipticEnvelope(random_state=0).fit(X).predict(X)


def sklearn_envelope(X):
    from sklearn.covariance import EllipticEnvelope

    return EllipticEnvelope(random_state=0).fit(X).predict(X)


def agree(ours, theirs):
    return bool(np.mean(np.abs(ours - theirs) < 1e-3) > 0.995)


def pellucid_outlier(X):
    from pellucid import DensityOutlier, GaussianMixture

    model = DensityOutlier(GaussianMixture(3, random_state=0, tol=1e-4))
    return (quiet(lambda: model.fit(X)).predict(X) == -1).mean()


def sklearn_outlier(X):
    from sklearn.mixture import GaussianMixture

    model = quiet(lambda: GaussianMixture(3, random_state=0, tol=1e-4).fit(X))
    scores = model.score_samples(X)
    return (model.score_samples(X) < np.percentile(scores, 10)).mean()


def pellucid_ascent(data):
    from pellucid import GradientGaussianMixture
    from pellucid.mixture import MixtureStart

    X, means = data
    start = MixtureStart(means=means, covariances=start_of(X, "diag"))
    model = GradientGaussianMixture(
        K, covariance_type="diag", init_params=start, max_iter=ROUNDS, tol=0.0
    )
    return quiet(lambda: model.fit(X)).means_


def torch_ascent(data):
    """Automatic differentiation of the same objective in the same coordinates."""
    import torch

    X = torch.from_numpy(data[0])
    means = torch.tensor(data[1], requires_grad=True)
    u = torch.tensor(0.5 * np.log(start_of(data[0], "diag")), requires_grad=True)
    a = torch.full((K,), -np.log(K), dtype=torch.float64, requires_grad=True)
    for _ in range(ROUNDS):
        square = ((X[:, None] - means) / u.exp()).pow(2).sum(2)
        value = torch.logsumexp(torch.log_softmax(a, 0) - 0.5 * square - u.sum(1), 1).mean()
        steps = torch.autograd.grad(value, (means, u, a))
        with torch.no_grad():
            for parameter, slope in zip((means, u, a), steps, strict=True):
                parameter += 0.01 * slope
    return means.detach().numpy()


def _mixture_case(kind, limit):
    peers = {"scikit-learn": sklearn_mixture(kind)}
    if kind == "full":
        peers["PyTorch"] = torch_mixture
    name = f"GaussianMixture {N:,} x {P}, k = {K}, {kind}, {ROUNDS} rounds"
    return Case(name, groups, {"pellucid": pellucid_mixture(kind), **peers}, near, limit, "", 1, 1)


CASES = [
    _mixture_case("full", "n k p^2 multiply-adds a round for the distances; sums less"),
    _mixture_case("tied", "as full"),
    _mixture_case("diag", "4 n k p operations a round"),
    Case(
        f"GaussianMixture 20,000 x {P}, k = {K}, a tenth of the cells NaN, 2 rounds", with_holes,
        {"pellucid": pellucid_holes, "NumPy by patterns": numpy_holes}, near,
        "n k p^2 multiply-adds a round and u^3/3 for the u missing cells of each pattern",
        "No peer fits mixtures to rows with missing cells.", 1, 1,
    ),
    Case(
        f"BayesianGaussianMixture {N:,} x {P}, k = {K}, full, {ROUNDS} rounds", groups,
        {"pellucid": bayesian(our_bayesian), "scikit-learn": bayesian(their_bayesian)},
        near, "that of a mixture: the posterior costs nothing beside the sums", "", 1, 1,
    ),
    Case(
        f"GradientGaussianMixture {N:,} x {P}, k = {K}, diag, {ROUNDS} steps", groups,
        {"pellucid": pellucid_ascent, "PyTorch autograd": torch_ascent}, near,
        "4 n k p operations a step", "", 1, 1,
    ),
    Case(
        "Mixture of 3 Poisson products 20,000 x 10, 20 rounds", counts,
        {"pellucid": pellucid_poisson, "NumPy": numpy_poisson}, near,
        "3 n p logarithms a round", "", 1, 1,
    ),
    Case(
        "MixtureDiscriminantAnalysis 40,000 x 20, 2 classes of 3", labelled,
        {"pellucid": pellucid_mda, "scikit-learn mixtures": sklearn_mda}, no_worse,
        "that of a mixture in each class", "", 1, 1,
    ),
    Case(
        "SemiSupervisedMixture 40,000 x 20, 2 % labelled, 20 rounds", mostly_unlabelled,
        {"pellucid": pellucid_semi, "NumPy and SciPy": numpy_semi}, near,
        "that of a mixture on the unlabelled rows", "", 1, 1,
    ),
    Case(
        "EllipticEnvelope 20,000 x 10", with_odd_rows,
        {"pellucid": pellucid_envelope, "scikit-learn": sklearn_envelope}, agree,
        "n p^2 a step, a dozen steps with all rows", "", 1, 1,
    ),
    Case(
        "DensityOutlier with a mixture of 3, 20,000 x 10", with_odd_rows,
        {"pellucid": pellucid_outlier, "scikit-learn": sklearn_outlier}, agree,
        "that of the mixture", "", 1, 1,
    ),
]  # fmt: skip
