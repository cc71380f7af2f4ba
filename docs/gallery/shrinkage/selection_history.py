import numpy as np

from pellucid import LinearRegression
from pellucid.features import SequentialFeatureSelector
from pellucid.plots import selection_history

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 6))
y = X @ [3.0, -2.0, 1.0, 0.5, 0.0, 0.0] + rng.normal(size=80)
chosen = SequentialFeatureSelector(LinearRegression(), n_features_to_select=4).fit(X, y)
selection_history(chosen).plot()
