"""Shapes that several pictures draw: contours of a function, ellipses of a normal distribution."""

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.style import Axes, legend


def draw_contours(ax: Axes, x: Array, y: Array, values: Array, label: str) -> None:
    """Filled contours at equal steps of the square root, so that the floor shows."""
    low, high = float(values.min()), float(values.max())
    levels = low + (high - low) * np.linspace(0, 1, 13) ** 2
    if not high > low:
        levels = low + np.linspace(0, 1, 13) * max(abs(low), 1.0)
    shown = ax.contourf(x, y, values, levels=levels, cmap="Blues", alpha=0.75)
    ax.contour(x, y, values, levels=levels[1:], colors="#6B7280", linewidths=0.5)
    bar = ax.figure.colorbar(shown, ax=ax, label=label, ticks=levels[::3])
    bar.ax.set_yticklabels([f"{v:.3g}" for v in levels[::3]])
    ax.grid(False)


def framed_legend(ax: Axes) -> None:
    """A legend that can be read on top of filled contours."""
    shown = legend(ax, loc="best")
    shown.set_frame_on(True)
    shown.get_frame().set(alpha=0.8, linewidth=0)


def ellipse(mean: Array, covariance: Array, radius: float, n: int = 181) -> Array:
    """Points (n, 2) with (p - mean)' covariance^-1 (p - mean) = radius^2.

    >>> ellipse(np.zeros(2), np.eye(2), 2.0, 3).round(6) + 0.0
    array([[ 2.,  0.],
           [-2.,  0.],
           [ 2.,  0.]])
    """
    angle = np.linspace(0, 2 * np.pi, n)
    values, vectors = np.linalg.eigh(covariance)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return mean + radius * circle @ root
