from pellucid.data import make_rings
from pellucid.plots import feature_lift

X, y = make_rings(80, noise=0.1, random_state=0)
feature_lift(X, y, lambda X: (X**2).sum(axis=1)).plot()
