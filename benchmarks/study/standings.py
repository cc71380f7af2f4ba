"""The page ``STUDY.md``: who came where, how sure that is, and who knows how good they are.

    python -m benchmarks.study.standings FILE [FILE ...] [--about=SENTENCE ...]

The score of a tool on a table is the mean over the splits that all tools have. A tool that failed
on a table is last there. Mean ranks are compared by Friedman's test and Nemenyi's critical
difference. *Covers*: the share of jobs in which the tool's own interval holds its score on the
judged rows (ours: the score of the model that the interval is about, before the refit on all rows).
That score has chance of its own, so an honest interval covers it less often than it says: *within
chance* is the share in which own estimate and score differ by no more than both explain (the two
half-widths, squared and added). *Too good by* is the median of how much better
than its score a tool believes itself to be, in percent.
"""

import math
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.study.fleet import lines_of
from benchmarks.study.splits import SPLITS
from pellucid.evaluation import friedman_test

PAGE = Path(__file__).parents[1] / "STUDY.md"
NEAR, FAR = 0.02, 0.03  # shares of the best score
BOOSTERS = ("lightgbm", "hgb", "catboost")
OURS = ("quick", "standard", "thorough")
NAMES = {
    "quick": "pellucid, quick", "standard": "pellucid, standard", "thorough": "pellucid, thorough",
    "lightgbm": "LightGBM, defaults", "hgb": "HistGradientBoosting, defaults",
    "linear": "linear pipeline", "catboost": "CatBoost, defaults", "flaml": "FLAML",
    "mljar": "mljar-supervised, Explain", "autogluon": "AutoGluon, medium",
}  # fmt: skip
Z = 1.959964


class Board(NamedTuple):
    """Mean scores of the tools (columns) on the tables (rows); NaN where a tool failed."""

    measure: str
    tables: list[str]
    tools: list[str]
    scores: Any  # (tables, tools)
    each: Any  # (tables, tools, splits)

    @property
    def losses(self) -> Any:
        """As something to make small."""
        return -self.scores if self.measure == "accuracy" else self.scores


def board_of(lines: list[dict[str, Any]], measure: str) -> Board:
    """The board of one measure, over the splits and tables that all tools have met.

    A table on which every tool failed ranks nobody and is left out.
    """
    kind = "number" if measure == "rmse" else "class"
    met: dict[str, dict[tuple[str, int], float]] = {}
    for line in [x for x in lines if x["kind"] == kind]:
        score = line.get("scores", {}).get(measure, [math.nan])[0]
        met.setdefault(line["table"], {})[line["tool"], line["split"]] = score
    tools = [t for t in NAMES if any(t == tool for cells in met.values() for tool, _ in cells)]
    each = {}
    for table, cells in met.items():
        splits = [i for i in range(SPLITS) if all((t, i) in cells for t in tools)]
        row = np.full((len(tools), SPLITS), math.nan)
        if splits:
            row[:, splits] = [[cells[t, i] for i in splits] for t in tools]
        if not np.isnan(row).all():
            each[table] = row
    stacked = np.array(list(each.values())).reshape(len(each), len(tools), SPLITS)
    there = ~np.isnan(stacked).all(axis=1, keepdims=True)  # splits that were run
    means = np.where(there, stacked, 0.0).sum(axis=2) / np.maximum(there.sum(axis=2), 1)
    return Board(measure, list(each), tools, means, stacked)


def signed(board: Board) -> Any:
    """Losses with a failure worse than everything else on its table."""
    losses = board.losses
    worst = np.nanmax(np.where(np.isnan(losses), -np.inf, losses), axis=1, keepdims=True)
    return np.where(np.isnan(losses), worst + np.abs(worst) + 1.0, losses)


def joined(boards: list[Board]) -> tuple[Any, list[str]]:
    """Losses over the tables of all boards, for the tools that are on each."""
    tools = [t for t in boards[0].tools if all(t in b.tools for b in boards)]
    columns = [[b.tools.index(t) for t in tools] for b in boards]
    return np.vstack([signed(b)[:, at] for b, at in zip(boards, columns, strict=True)]), tools


def behind(board: Board) -> Any:
    """By what share of the best score each tool is behind it (NaN: failed)."""
    best = np.nanmin(board.losses, axis=1, keepdims=True)
    return (board.losses - best) / np.abs(best)


def honesty(lines: list[dict[str, Any]], tool: str) -> dict[str, float]:
    """How the tool's own estimates compare with its scores; empty where it has none."""
    covers, within, too_good = [], [], []
    for line in lines:
        if line["tool"] != tool or not line.get("own"):
            continue
        own, low, high = line["own"]
        about = (line.get("tested") or {}).get(line["metric"]) or line["scores"][line["metric"]]
        score, error = about
        sign = 1 if line["metric"] == "accuracy" else -1
        too_good.append(100 * sign * (own - score) / abs(score) if score else math.nan)
        half = Z * error
        if low is not None:
            covers.append(low <= score <= high)
            half = math.hypot(half, (own - low) if score < own else (high - own))
        within.append(abs(own - score) <= half)
    if not too_good:
        return {}
    shares = {"within": float(np.mean(within)), "too good": float(np.nanmedian(too_good))}
    return shares | ({"covers": float(np.mean(covers))} if covers else {}) | {"jobs": len(within)}


def summary(lines: list[dict[str, Any]]) -> str:
    """The head table: ranks, nearness, log loss, seconds and honesty of every tool."""
    boards = [b for b in (board_of(lines, m) for m in ("rmse", "accuracy")) if b.tables]
    losses, tools = joined(boards)
    test = friedman_test(losses, greater_is_better=False)
    words = board_of(lines, "log_loss")
    loss = friedman_test(signed(words), greater_is_better=False) if len(words.tables) > 1 else None
    rows = [
        "| tool | mean rank | within 2 % of the best | mean rank of log loss | mean seconds "
        "| processor s | covers | within chance | too good by | failed |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for rank, tool in zip(test.ranks, tools, strict=True):
        near = np.concatenate([behind(b)[:, b.tools.index(tool)] <= NEAR for b in boards])
        ranked = f"{loss.ranks[words.tools.index(tool)]:.2f}" if loss is not None else ""
        head = [NAMES[tool], f"{rank:.2f}", _percent(near.mean()), ranked]
        rows.append(f"| {' | '.join([*head, *_conduct(lines, tool)])} |")
    said = "differ" if test.reject else "are not shown to differ"
    more = f", {loss.critical_distance:.2f} for log loss" if loss is not None else ""
    rows += [
        "", f"{len(losses)} tables, {len(tools)} tools: the ranks {said} (Friedman, "
        f"p = {test.p_value:.2g}); two mean ranks differ when they are "
        f"{test.critical_distance:.2f} apart{more} (Nemenyi, 5 %).", "",
        *_apart(test, tools), "", _lost(boards), "",
    ]  # fmt: skip
    return "\n".join(rows)


def _conduct(lines: list[dict[str, Any]], tool: str) -> list[str]:
    """Seconds, honesty and failures of a tool, as cells."""
    mine = [x for x in lines if x["tool"] == tool]
    good = [x for x in mine if "error" not in x]
    own = honesty(good, tool)
    return [
        _mean(good, "seconds"), _mean(good, "busy"),
        _percent(own["covers"]) if "covers" in own else "no interval",
        _percent(own["within"]) if own else "no estimate",
        f"{own['too good']:.1f} %" if own else "", str(len(mine) - len(good)),
    ]  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _mean(lines: list[dict[str, Any]], name: str) -> str:
    return f"{np.mean([x[name] for x in lines]):.1f}" if lines else ""


def _apart(test: Any, tools: list[str]) -> list[str]:
    """Which of ours are shown ahead of or behind whom."""
    found = []
    for j, tool in enumerate(tools):
        others = [i for i in range(len(tools)) if test.different[i, j]]
        ahead = [NAMES[tools[i]] for i in others if test.ranks[j] < test.ranks[i]]
        after = [NAMES[tools[i]] for i in others if test.ranks[j] > test.ranks[i]]
        if tool in OURS:
            found.append(
                f"- {NAMES[tool]}: shown ahead of {', '.join(ahead) or 'none'}; "
                f"shown behind {', '.join(after) or 'none'}"
            )
    return found


def _lost(boards: list[Board]) -> str:
    """The tables on which a booster with defaults beats ours by 3 %, in every split."""
    found = []
    for board in boards:
        ours = [j for j, t in enumerate(board.tools) if t in OURS]
        peers = [k for k, t in enumerate(board.tools) if t in BOOSTERS]
        sign = -1 if board.measure == "accuracy" else 1
        for i, j, k in product(range(len(board.tables)), ours, peers):
            gap = (board.losses[i, j] - board.losses[i, k]) / abs(board.losses[i, k])
            pairs = sign * (board.each[i, j] - board.each[i, k])
            if gap > FAR and (pairs[~np.isnan(pairs)] > 0).all():
                who = f"{NAMES[board.tools[j]]} {100 * gap:.1f} % behind {NAMES[board.tools[k]]}"
                found.append(f"{board.tables[i]} ({who})")
    return f"Behind a default booster by over 3 %, in every split: {'; '.join(found) or 'nowhere'}."


def details(lines: list[dict[str, Any]]) -> str:
    """The scores of every table."""
    parts = []
    for measure in ("rmse", "accuracy", "log_loss"):
        board = board_of(lines, measure)
        if not board.tables:
            continue
        parts += [
            f"## {measure.replace('_', ' ')}", "",
            f"| table | {' | '.join(NAMES[t] for t in board.tools)} |",
            "|---|" + "---:|" * len(board.tools),
        ]  # fmt: skip
        for table, row, losses in zip(board.tables, board.scores, board.losses, strict=True):
            best = np.nanmin(losses)
            cells = [
                "failed" if np.isnan(v) else f"**{v:.4g}**" if one == best else f"{v:.4g}"
                for v, one in zip(row, losses, strict=True)
            ]
            parts.append(f"| {table} | {' | '.join(cells)} |")
        parts.append("")
    failed = [x for x in lines if "error" in x]
    if failed:
        parts += ["## Failed", ""]
        parts += [f"- {x['table']}, split {x['split']}, {NAMES[x['tool']]}: {x['error']}"
                  for x in failed]  # fmt: skip
    return "\n".join(parts)


def page(lines: list[dict[str, Any]], about: list[str]) -> str:
    """The whole page."""
    limits = sorted({line["limit"] for line in lines})
    told = sorted({line["metric"] for line in lines if line["kind"] == "class"})
    head = [
        "# Studies side by side", "",
        "Written by `python -m benchmarks.study.study` from public tables (`study/sources.py` says "
        "where each is from and why it is here). Three fixed splits of each, two thirds to learn "
        "from and one third to judge; groups are not split and later rows judge earlier ones. "
        f"Every tool has {' or '.join(f'{s:g}' for s in limits)} s, a process of its own, and is "
        f"told the measure (rmse for numbers, {' or '.join(told) or 'none'} for classes). Seconds "
        "include reading, learning and predicting.", "",
        *(f"- {line}" for line in about), "",
    ]  # fmt: skip
    doc = (__doc__ or "").strip().split("\n\n")[2].replace("\n", " ")
    return "\n".join([*head, summary(lines), doc, "", details(lines), ""])


def main(arguments: list[str]) -> int:
    about = [a.removeprefix("--about=") for a in arguments if a.startswith("--about=")]
    files = [Path(a) for a in arguments if not a.startswith("--about=")]
    lines = [line for path in files for line in lines_of(path)]
    PAGE.write_text(page(lines, [f"date: {time.strftime('%Y-%m-%d')}", *about]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
