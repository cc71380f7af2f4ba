"""The layout of a new figure; imported where one is made, since Matplotlib is."""

from typing import Any

from matplotlib.layout_engine import ConstrainedLayoutEngine


class Settled(ConstrainedLayoutEngine):
    """Constrained layout, twice in every drawing.

    Titles fold where their axes end, and the axes have their places only after the first time:
    saved after one, the second line of a title would be cut off.
    """

    def execute(self, fig: Any) -> Any:
        """Place the axes, fold the titles, place the axes."""
        super().execute(fig)
        return super().execute(fig)
