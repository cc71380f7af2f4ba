from pellucid import PCA
from pellucid.data import load_iris
from pellucid.plots import reconstructions

X, _ = load_iris()
reconstructions(PCA(1).fit(X), X, most=3).plot()
