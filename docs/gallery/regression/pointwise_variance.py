import numpy as np

from pellucid import LinearRegression
from pellucid.plots import pointwise_variance

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, size=(30, 1))
line = LinearRegression().fit(x, 2 + x[:, 0] + rng.normal(size=30))
pointwise_variance(line, x).plot()
