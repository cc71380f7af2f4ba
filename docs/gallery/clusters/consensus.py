from pellucid import KMeans
from pellucid.cluster import consensus_matrix
from pellucid.data import make_blobs
from pellucid.plots import consensus

X, _ = make_blobs(60, centers=4, random_state=4)
labels = KMeans(4, random_state=0).fit(X).labels_
consensus(consensus_matrix(KMeans(4), X, random_state=0), labels).plot()
