import numpy as np

from pellucid import Ridge
from pellucid.evaluation import size_curve
from pellucid.plots import learning_curve

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 8))
y = X[:, 0] - X[:, 1] + rng.normal(size=200)
learning_curve(size_curve(Ridge(), X, y, sizes=[12, 24, 48, 96, 160], metric="rmse")).plot()
