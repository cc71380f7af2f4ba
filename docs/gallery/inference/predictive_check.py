import numpy as np

from pellucid import inference
from pellucid.plots import predictive_check

rng = np.random.default_rng(0)
observed = rng.exponential(2.0, size=40)  # skewed; the model believes in normal noise
means = rng.normal(observed.mean(), observed.std() / 40**0.5, size=400)  # draws of the posterior
found = inference.predictive_check(
    observed,
    means,
    lambda mean, rng: rng.normal(mean, observed.std(), size=40),
    random_state=0,
)
predictive_check(found).plot()
