import numpy as np

from pellucid import RandomForestRegressor
from pellucid.plots import dependence

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(200, 2))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=200)
dependence(RandomForestRegressor(random_state=0).fit(X, y), X, 0).plot()
