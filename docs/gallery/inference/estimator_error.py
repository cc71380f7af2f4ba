import numpy as np

from pellucid.inference import Normal, study_estimator
from pellucid.plots import estimator_error

sizes = (4, 8, 16, 32, 64)
study = study_estimator(np.median, Normal(0.0, 2.0), 0.0, n=sizes, bound="mean", random_state=0)
estimator_error(study).plot()
