import numpy as np

from pellucid import Ridge
from pellucid.evaluation import complexity_curve
from pellucid.plots import sweep

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 20))
y = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=60)
values = [0.1, 1.0, 10.0, 100.0, 1000.0]
sweep(complexity_curve(Ridge(), X, y, parameter="alpha", values=values, cv=5)).plot()
