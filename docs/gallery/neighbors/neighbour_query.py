from pellucid import KNeighborsClassifier
from pellucid.data import make_moons
from pellucid.plots import neighbour_query

X, y = make_moons(60, noise=0.2, random_state=0)
neighbour_query(KNeighborsClassifier(7, weights="distance").fit(X, y), [0.5, 0.2]).plot()
