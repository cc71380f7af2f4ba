"""The share of different rows in a bootstrap sample: 1 - (1 - 1/n)^n, towards 1 - 1/e."""

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.random import stream
from pellucid.ensemble.committees.bootstrap import bootstrap_indices
from pellucid.ensemble.committees.resampling import expected_unique_fraction
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend

LIMIT = 1 - np.exp(-1.0)


class UniqueShare(Panel):
    n: IntArray  # (m,)
    expected: Array  # (m,)
    sizes: IntArray  # (draws,) of the samples
    drawn: Array  # (draws,) their share of different rows

    def _draw(self, ax: Axes) -> None:
        ax.plot(self.sizes, self.drawn, "o", color=GREY, ms=3, alpha=0.6, label="one sample each")
        ax.plot(self.n, self.expected, color=colour(0), lw=2, label="expected")
        ax.axhline(LIMIT, color=colour(1), ls="--", lw=1.3, label=f"1 − 1/e = {LIMIT:.3f}")
        ylim = (min(0.35, float(self.drawn.min()) - 0.02), 1.03)
        ax.set(xlabel="number of rows n", ylabel="share of different rows", xscale="log", ylim=ylim)
        legend(ax)
        heading(ax, "A bootstrap sample holds about 63 % of the rows; the rest are out of bag")


def unique_share(n: int = 1000, *, random_state: int = 0) -> UniqueShare:
    """The share of the rows that a bootstrap sample of the same size holds.

    ``n``: most rows; ``random_state``: of the samples shown beside the curve.

    Examples
    --------
    >>> from pellucid.plots import unique_share
    >>> unique_share(3).expected.round(3)
    array([1.   , 0.75 , 0.704])
    """
    check.whole(n=n)
    sizes = np.unique(np.geomspace(1, n, 100).round().astype(np.intp))
    expected = np.array([expected_unique_fraction(int(m)) for m in sizes])
    shown = np.repeat(sizes, 2)
    drawn = [
        len(np.unique(bootstrap_indices(int(m), random_state=stream(random_state, i))[0])) / m
        for i, m in enumerate(shown)
    ]
    alt = (
        f"Expected share of different rows in a bootstrap sample of 1 to {n} rows: from 1 to "
        f"{expected[-1]:.4g}, near 1 - 1/e = {LIMIT:.4g}, with {len(shown)} samples scattered "
        "round it."
    )
    return UniqueShare(alt, sizes, expected, shown, np.array(drawn))
