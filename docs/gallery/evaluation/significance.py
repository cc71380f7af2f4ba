import numpy as np

from pellucid import KNeighborsRegressor, LinearRegression, Ridge
from pellucid.evaluation import compare
from pellucid.plots import significance

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
y = X @ [1.0, 2.0, 0.0] + rng.normal(size=120)
models = {
    "least squares": LinearRegression(),
    "stiff": Ridge(300),
    "neighbours": KNeighborsRegressor(),
}
significance(compare(models, X, y, metric="rmse")).plot()
