from pellucid.data import load_iris
from pellucid.plots import split_scan

X, y = load_iris()
split_scan(X, y, column=2).plot()
