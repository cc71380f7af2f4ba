"""Watch k-means work: one row of history per round."""

import numpy as np

from pellucid import KMeans

X = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
model = KMeans(n_clusters=3, init=X[[4, 5, 7]], n_init=1).fit(X)

print("round  sum of squares")
for row in model.history_:
    print(f"{row['step']:>5}  {row['objective']:.4f}")
print(f"centres\n{model.cluster_centers_.round(4)}")
print(model.card())
