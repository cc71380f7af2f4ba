from sklearn.datasets import load_digits

from pellucid import KNeighborsClassifier
from pellucid.plots import image_grid

X, y = load_digits(return_X_y=True)
model = KNeighborsClassifier(1).fit(X[:300], y[:300])
image_grid(X[300:700], (8, 8), y[300:700], model.predict(X[300:700]), most=20).plot()
