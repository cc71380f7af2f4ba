from pellucid.data import make_moons
from pellucid.plots import scatter

X, y = make_moons(120, noise=0.15, random_state=0)
scatter(X, y).plot()
