from pellucid.neighbors import LSHIndex
from pellucid.plots import collision_curve

collision_curve([LSHIndex(t, 4, family="cosine") for t in (2, 5, 20)]).plot()
