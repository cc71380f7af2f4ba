"""Measures of impurity against the share of one of two classes."""

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.functions.impurities import class_impurity
from pellucid.plots.panels.marks import STYLES
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend


class ImpurityCurves(Panel):
    p: Array  # (n,)
    entropy: Array  # bits
    gini: Array
    misclassification: Array

    def _draw(self, ax: Axes) -> None:
        names = ("entropy (bits)", "entropy / 2", "gini", "misclassification")
        curves = (self.entropy, self.entropy / 2, self.gini, self.misclassification)
        lines = tuple(zip(names, curves, strict=True))
        tints = (colour(0), colour(5), colour(1), colour(2))
        for (label, values), tint, style in zip(lines, tints, STYLES, strict=True):
            ax.plot(self.p, values, style, color=tint, lw=2, label=label)
        ylim = (0, 1.04)
        ax.set(
            xlabel="share p of the first of two classes", ylabel="impurity", xlim=(0, 1), ylim=ylim
        )
        legend(ax, loc="upper right")
        heading(ax, "Impurity: none for a pure node, most for an even one")


def impurity_curves(*, n: int = 201) -> ImpurityCurves:
    """Gini, entropy and misclassification of a node of two classes against the share of one.

    ``n``: points of the curves, at least 3.

    Examples
    --------
    >>> from pellucid.plots import impurity_curves
    >>> picture = impurity_curves(n=3)
    >>> picture.entropy.tolist(), picture.gini.tolist(), picture.misclassification.tolist()
    ([0.0, 1.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.5, 0.0])
    """
    check.whole(at_least=3, n=n)
    p = np.linspace(0, 1, n)
    shares = np.stack([p, 1 - p], axis=1)
    alt = (
        "Entropy, gini and misclassification against the share of one of two classes: all are 0 "
        "for a pure node and greatest at 0.5; the first two bend, the last has straight sides."
    )
    H, G, M = (class_impurity(shares, name) for name in ("entropy", "gini", "misclassification"))
    return ImpurityCurves(alt, p, H, G, M)
