import numpy as np

from pellucid import GaussianMixture
from pellucid.plots import mixture_density

rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(0, 1, 120), rng.normal(3, 0.8, 80)])[:, None]
mixture_density(GaussianMixture(2, random_state=0).fit(x), x).plot()
