from pellucid import PCA
from pellucid.data import load_iris
from pellucid.plots import scree

X, _ = load_iris()
scree(PCA(2).fit(X)).plot()
