import numpy as np

from pellucid.decomposition import subspace_stability
from pellucid.plots import subspace_angles

X = np.random.default_rng(0).normal(size=(300, 3)) * [9.0, 1.0, 1.0]
subspace_angles(subspace_stability(X, 1, random_state=0)).plot()
