from pellucid import GaussianMixture
from pellucid.data import make_blobs
from pellucid.plots import hardening

X, _ = make_blobs(90, centers=3, random_state=1)
hardening(GaussianMixture(3, random_state=0).fit(X), X).plot()
