import numpy as np

from pellucid.evaluation import decompose_squared
from pellucid.plots import bias_variance_curve

rng = np.random.default_rng(0)
x = np.linspace(-1, 1, 25)
truth = np.sin(3 * x)
samples = [truth + 0.4 * rng.normal(size=25) for _ in range(40)]
parts = {
    degree: decompose_squared(
        [np.polyval(np.polyfit(x, y, degree), x) for y in samples], truth=truth
    )
    for degree in (1, 2, 3, 5, 7, 9)
}
bias_variance_curve(parts, parameter="degree").plot()
