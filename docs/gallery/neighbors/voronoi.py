from pellucid.data import make_moons
from pellucid.plots import voronoi

X, y = make_moons(30, noise=0.2, random_state=0)
voronoi(X, y).plot()
