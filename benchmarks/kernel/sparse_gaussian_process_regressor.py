"""A Gaussian process of 20,000 rows through 100 points.

scikit-learn has no sparse process: its users search the width and the penalty of a ridge on
Nystroem's features by cross-validation, which gives no uncertainty. GPyTorch has the same process
(SGPR, on the CPU); its steps are Adam's, 50 of them, and it needs PyTorch.
"""

import numpy as np

from benchmarks.harness import Case
from benchmarks.kernel.gaussian_process_regressor import climbed


def table():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(20_000, 2))
    return X, np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.3 * rng.normal(size=20_000)


def pellucid_process(data):
    from pellucid import SparseGaussianProcessRegressor

    model = SparseGaussianProcessRegressor(n_inducing=100, random_state=0).fit(*data)
    return float(np.mean((model.predict(data[0]) - data[1]) ** 2))


def sklearn_search(data):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    X, y = data
    model = make_pipeline(Nystroem(n_components=100, random_state=0), Ridge())
    grid = {"nystroem__gamma": np.logspace(-2, 1, 6), "ridge__alpha": np.logspace(-3, 1, 5)}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    return float(np.mean((search.predict(X) - y) ** 2))


def gpytorch_process(data):
    import gpytorch
    import torch

    X, y = (torch.as_tensor(part) for part in data)
    points = X[torch.randperm(len(X), generator=torch.Generator().manual_seed(0))[:100]].clone()

    class Process(gpytorch.models.ExactGP):
        def __init__(self, noise):
            super().__init__(X, y, noise)
            self.mean_module = gpytorch.means.ConstantMean()
            inner = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=2))
            self.covar_module = gpytorch.kernels.InducingPointKernel(
                inner, inducing_points=points, likelihood=noise
            )

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    noise = gpytorch.likelihoods.GaussianLikelihood().double()
    model = Process(noise).double()
    climbed(model, noise, X, y)
    model.eval(), noise.eval()
    with torch.no_grad():
        return float(((model(X).mean - y) ** 2).mean())


CASES = [
    Case(
        "SparseGaussianProcessRegressor, 20,000 x 2, 100 points",
        table,
        {
            "pellucid": pellucid_process,
            "scikit-learn Nystroem + Ridge, 30 settings searched": sklearn_search,
            "GPyTorch SGPR": gpytorch_process,
        },
        lambda ours, theirs: bool(ours <= 1.01 * theirs),
        "n m^2 an evaluation, some forty of them",
        repeats=2,
    ),
]
