"""How far the directions of PCA turn when the rows are drawn again, and how variances move."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.style import GREY, Picture, colour, heading, panels

UNSTEADY = 30.0  # degrees; beyond it the subspace is anybody's


class SubspaceAngles(Picture):
    angles: Array  # (r,)
    median: float
    upper: float  # 95 % of the resamples are below
    eigenvalues: Array  # (r, d)
    intervals: Array  # (d, 2) middle 95 %

    def plot(self) -> Any:
        """Angles and eigenvalues; the figure."""
        left, right = panels(2, columns=2, size=(4.2, 3.4))
        bins = min(25, max(5, len(self.angles) // 4))
        range = (0, max(float(self.angles.max()), 1.0))
        left.hist(self.angles, bins=bins, color=colour(0), alpha=0.85, range=range)
        left.axvline(self.median, color="black", lw=1.4)
        left.axvline(self.upper, color=colour(1), ls="--", lw=1.4)
        left.set(xlabel="largest angle to the subspace of all rows (degrees)", ylabel="resamples")
        heading(left, f"median {self.median:.1f} (solid), 95 % below {self.upper:.1f} (dashed)")
        place = np.arange(1, self.eigenvalues.shape[1] + 1)
        middle = np.median(self.eigenvalues, axis=0)
        error, tint = np.abs(self.intervals.T - middle), colour(0)
        right.errorbar(
            place, middle, yerr=error, fmt="o", ms=7, color=tint, ecolor=GREY, capsize=4, lw=1.4
        )
        right.set_xticks(place if len(place) <= 12 else place[:: len(place) // 10])
        right.set(xlabel="direction", ylabel="eigenvalue", xlim=(0.5, len(place) + 0.5))
        heading(right, "eigenvalues: median and middle 95 %")
        left.figure.suptitle(self.title, fontsize="medium", wrap=True)
        return left.figure


def subspace_angles(stability: Any) -> SubspaceAngles:
    """Angles and eigenvalues of resampled PCA.

    ``stability``: record of ``pellucid.decomposition.subspace_stability``.

    Examples
    --------
    >>> from pellucid.decomposition import subspace_stability
    >>> from pellucid.plots import subspace_angles
    >>> X = np.random.default_rng(0).normal(size=(300, 3)) * [9.0, 1.0, 1.0]
    >>> picture = subspace_angles(subspace_stability(X, 1, random_state=0))
    >>> picture.angles.shape, picture.upper < 3
    ((100,), True)
    """
    if not hasattr(stability, "angles") or not hasattr(stability, "eigenvalues"):
        name = type(stability).__name__
        raise ValueError(f"stability must be the record of subspace_stability, got {name}")
    angles = np.asarray(stability.angles, dtype=np.float64)
    values = np.asarray(stability.eigenvalues, dtype=np.float64)
    median, upper = (float(v) for v in np.quantile(angles, [0.5, 0.95]))
    d = values.shape[1]
    said = "steady" if upper <= UNSTEADY else "unsteady: other rows give other directions"
    title = f"The first {d} direction{'s are' if d > 1 else ' is'} {said}"
    alt = (
        f"Largest angle of {len(angles)} resampled subspaces of {d} direction(s): median "
        f"{median:.1f}, 95 % below {upper:.1f} degrees. {title}."
    )
    intervals = np.quantile(values, [0.025, 0.975], axis=0).T
    return SubspaceAngles(alt, angles, median, upper, values, intervals, title=title)
