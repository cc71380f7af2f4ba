from pellucid import KMeans
from pellucid.data import make_blobs
from pellucid.plots import silhouette

X, _ = make_blobs(120, centers=3, random_state=4)
silhouette(X, KMeans(3, random_state=0).fit(X).labels_).plot()
