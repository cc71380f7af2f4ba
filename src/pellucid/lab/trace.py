"""What the lab shows: the steps of one run, as plain data.

A frame is one step: its objective and gap, the formula of the step with its numbers filled in, the
numbers worth reading, and ``state``, the scene to draw (see ``scene``). The browser knows nothing
of algorithms; whatever can be seen stands in a frame.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from pellucid.core.readable import framed, readable
from pellucid.core.records import plain

SCHEMA = "pellucid-trace/1"


class Frame(NamedTuple):
    """One step; ``held_out`` is the objective on rows that the fit did not see, where there are."""

    step: int
    objective: float | None
    gap: float | None
    formula: str
    numbers: dict[str, Any]
    state: dict[str, Any]
    held_out: float | None = None


@readable
class Trace(NamedTuple):
    """A run of one algorithm, frame by frame.

    ``algorithm`` is the class, ``params`` its settings, ``frames`` the steps, ``title`` the
    heading, ``schema`` the version of the format. ``data`` holds the rows (``kind``, ``X``, ``y``,
    ``names``, ``held_out``) and ``panels``, the part of the scene that stays the same, and perhaps
    ``curves``, the names of the objective's two curves where they are not training and held-out
    rows; ``card`` the model's own words; ``code`` the Python that gives the same numbers;
    ``objective`` the name of what the curve shows; ``verdict`` a sentence for the end.

    >>> from pellucid.lab import Trace
    >>> frame = Frame(0, 1.0, None, "w = 0", {"w": 0.0}, {"panels": []})
    >>> Trace("Nothing", {}, {}, {}, (frame,)).to_dict()["frames"][0]["formula"]
    'w = 0'
    """

    algorithm: str
    params: dict[str, Any]
    data: dict[str, Any]
    card: dict[str, Any]
    frames: tuple[Frame, ...]
    title: str = ""
    objective: str = "objective"
    verdict: str = ""
    code: str = ""
    schema: str = SCHEMA

    def to_dict(self) -> dict[str, Any]:
        """Lists, numbers and strings only; NaN and infinities are None."""
        return plain({**self._asdict(), "frames": [frame._asdict() for frame in self.frames]})

    def _repr_html_(self) -> str:
        """The lab inside a notebook's cell: the page of this run, with nothing to fetch."""
        from pellucid.lab.exporting import file_content, page_html

        return framed(
            page_html(file_content(self)), self.title or self.algorithm, "80vh", "allow-scripts"
        )

    def to_json(self, path: Any = None) -> str:
        """The same as JSON text, written to ``path`` if one is given."""
        text = json.dumps(self.to_dict(), allow_nan=False, separators=(",", ":"))
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text
