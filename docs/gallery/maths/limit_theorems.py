from pellucid.inference import Exponential
from pellucid.plots import limit_theorems

limit_theorems(Exponential(1.0)).plot()
