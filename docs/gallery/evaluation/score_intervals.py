import numpy as np

from pellucid.evaluation import classification_metrics
from pellucid.plots import score_intervals

rng = np.random.default_rng(0)
y = rng.integers(0, 2, size=120)
said = np.where(rng.random(120) < 0.85, y, 1 - y)
score_intervals(classification_metrics(y, said)).plot()
