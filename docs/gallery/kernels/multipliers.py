from pellucid import SVC
from pellucid.data import make_moons
from pellucid.plots import multipliers

X, y = make_moons(40, noise=0.2, random_state=0)
multipliers(SVC(C=1.0).fit(X, y)).plot()
