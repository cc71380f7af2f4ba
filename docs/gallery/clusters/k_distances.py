from pellucid.data import make_moons
from pellucid.plots import k_distances

X, _ = make_moons(200, noise=0.08, random_state=0)
k_distances(X, 4, eps=0.2).plot()
