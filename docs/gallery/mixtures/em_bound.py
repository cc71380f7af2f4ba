from pellucid import GaussianMixture
from pellucid.data import make_blobs
from pellucid.plots import em_bound

X, _ = make_blobs(90, centers=3, random_state=1)
em_bound(GaussianMixture(3, init_params="random", random_state=3).fit(X), X, most=12).plot()
