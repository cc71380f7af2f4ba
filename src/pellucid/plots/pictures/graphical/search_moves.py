"""The moves of a search over graphs, and the score after each."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, Model
from pellucid.plots.panels.marks import tone
from pellucid.plots.panels.style import GREY, Picture, axes, heading, legend

NAMED = 25  # moves that get their edge written
LOOKS = {"start": 6, "add": 2, "remove": 1, "reverse": 0, "rebuild": 3}


class SearchMoves(Picture):
    """The score after every move that is shown, and what was done."""

    score: Array  # (m,)
    moves: tuple[tuple[str, str, str], ...]  # add, remove, reverse, rebuild; parent, child
    level: int  # sideways moves at the end that found nothing better, not shown
    name: str

    def plot(self, ax: Any = None) -> Any:
        ax = axes(ax, figsize=(min(11.0, max(6.0, 0.42 * len(self.score) + 2)), 4.4))
        step = np.arange(len(self.score))
        ax.plot(step, self.score, color=GREY, lw=1.2, zorder=1)
        for kind, k in LOOKS.items():
            some = [i for i, move in enumerate(self.moves) if move[0] == kind]
            if some:
                ax.scatter(some, self.score[some], s=42, label=kind, zorder=3, **tone(k))
        named = len(self.moves) <= NAMED
        ticks = [tick(*move) for move in self.moves]
        if named:
            long = max(map(len, ticks)) > 5 or len(ticks) > 8
            names = ("rotation", "ha", "rotation_mode")
            turned = zip(
                names, (60, "right", "anchor") if long else (0, "center", "default"), strict=True
            )
            ax.set_xticks(step, ticks, fontsize="small", **dict(turned))
        ax.set(xlabel="edge moved" if named else "move", ylabel=self.name)
        note = f"{self.level} sideways moves found nothing better" if self.level else ""
        heading(ax, f"{len(self.moves) - 1} moves to the score {self.score[-1]:.6g}", note)
        legend(ax, loc="lower right")
        return ax


def tick(kind: str, a: str, b: str) -> str:
    """What stands under a move.

    >>> tick("add", "a", "b"), tick("rebuild", "a", "a")
    ('a → b', 'around a')
    """
    if kind == "rebuild":
        return f"around {a}" if a == b else f"around {a}, {b}"
    return f"{a} → {b}" if a else "start"


def search_moves(E: Model) -> SearchMoves:
    """Score after each edge added, removed or reversed.

    ``E``: ScoreBasedStructure fitted by hill_climbing or tabu.

    Examples
    --------
    >>> import polars as pl
    >>> from pellucid import ScoreBasedStructure
    >>> from pellucid.plots import search_moves
    >>> X = pl.DataFrame({"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 1] * 9})
    >>> search_moves(ScoreBasedStructure().fit(X)).moves
    (('start', '', ''), ('add', 'a', 'b'))
    """
    history = getattr(E, "history_", None)
    if history is None or "move" not in history.columns:
        raise ValueError(
            f"E must be a ScoreBasedStructure fitted by hill_climbing or tabu, got "
            f"{type(E).__name__} without moves in history_"
        )
    rows = [history[i] for i in range(len(history))]
    score = np.array([row["objective"] for row in rows], dtype=np.float64)
    best = score.max()
    last = int(np.flatnonzero(score >= best - 1e-9 * max(abs(best), 1.0))[0])
    moves = tuple(
        (
            r["move"],
            *(str(r[end] or "") if r["parent"] is not None else "" for end in ("parent", "child")),
        )
        for r in rows[: last + 1]
    )
    kind = E.__dict__.get("score", "score")
    counts = {k: sum(m[0] == k for m in moves) for k in ("add", "remove", "reverse", "rebuild")}
    rebuilt = f", {counts['rebuild']} times nodes rebuilt" if counts["rebuild"] else ""
    alt = (
        f"Search over graphs: {counts['add']} edges added, {counts['remove']} removed and "
        f"{counts['reverse']} reversed{rebuilt}; the {kind} rises from {score[0]:.6g} to "
        f"{best:.6g}."
    )
    return SearchMoves(alt, score[: last + 1], moves, len(rows) - 1 - last, str(kind))
