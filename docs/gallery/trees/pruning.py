from pellucid import DecisionTreeClassifier
from pellucid.data import make_moons
from pellucid.plots import pruning

X, y = make_moons(200, noise=0.3, random_state=0)
pruning(DecisionTreeClassifier(), X, y).plot()
