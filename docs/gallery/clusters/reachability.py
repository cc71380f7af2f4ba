from pellucid import OPTICS
from pellucid.data import make_moons
from pellucid.plots import reachability

X, _ = make_moons(200, noise=0.06, random_state=0)
reachability(OPTICS(min_samples=10).fit(X)).plot()
