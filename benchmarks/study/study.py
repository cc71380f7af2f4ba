"""Whole studies side by side: ours, FLAML, mljar-supervised, and boosting with defaults.

    PELLUCID_PEERS=/path/to/python python -m benchmarks.study.study [--seconds=10] [--keep=FOLDER]
        [--tables=NAME,NAME]

Outer cross-validation, three folds: every tool gets two thirds of a table and the same seconds,
and the model it chooses predicts the third it never saw. Each run is a process of its own. FLAML
and mljar-supervised live in an environment of their own, whose interpreter PELLUCID_PEERS names
(``pip install flaml[automl] mljar-supervised``); without it they are left out, and STUDY.md says
so. ``--keep`` stores the predictions, and what is stored there is not run again.

    score      accuracy or rmse over all rows, or the mean average precision of the folds
    interval   95 %: Wilson (accuracy), bootstrap of the rows within the folds (the others)
    behind     score of the best less ours on the same bootstrap rows: 95 % interval
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.harness import machine
from benchmarks.study.study_tables import TABLES, Table
from pellucid.evaluation.intervals.intervals import proportion_interval

FOLDER = Path(__file__).parents[1]
FOLDS, DRAWS = 3, 2000
PEERS = ("flaml", "mljar")
OURS = ("pellucid", "pellucid-thorough")
NAMES = {
    "pellucid": "pellucid, standard", "pellucid-thorough": "pellucid, thorough",
    "flaml": "FLAML", "mljar": "mljar-supervised, Explain",
    "sklearn": "scikit-learn HistGradientBoosting",
}  # fmt: skip


class Answer(NamedTuple):
    """A tool on all folds of a table."""

    prediction: Any  # of every row
    likely: Any  # probability of "yes", or empty
    seconds: float  # mean of the folds
    busy: float  # processor seconds, mean of the folds
    chosen: list[str]


def folds_of(table: Table, frame: pl.DataFrame) -> list[Any]:
    kind = KFold if table.metric == "rmse" else StratifiedKFold
    rows = np.zeros((frame.height, 1))
    return list(kind(FOLDS, shuffle=True, random_state=0).split(rows, frame["y"].to_numpy()))


def run_tool(tool: str, table: Table, keep: Path, seconds: float) -> Answer | str:
    """The answers of one tool, or the sentence it failed with."""
    frame = table.make()
    found: list[Any] = []
    prediction = np.empty(frame.height, dtype=object)
    likely = np.full(frame.height, np.nan)
    for i, (learn, judge) in enumerate(folds_of(table, frame)):
        folder = keep / table.name.replace(" ", "_") / str(i)
        folder.mkdir(parents=True, exist_ok=True)
        frame[learn].write_csv(folder / "train.csv")
        frame[judge].drop("y").write_csv(folder / "test.csv")
        said = _run(tool, folder, table.metric, seconds)
        if isinstance(said, str):
            return said
        prediction[judge] = said["prediction"]
        if table.metric == "average_precision":
            likely[judge] = said["likely"]
        found.append(said)
    mean = {key: float(np.mean([one[key] for one in found])) for key in ("seconds", "busy")}
    return Answer(prediction, likely, **mean, chosen=[str(one["chosen"]) for one in found])


def _run(tool: str, folder: Path, metric: str, seconds: float) -> dict[str, Any] | str:
    out = folder / f"{tool}.npz"
    if not out.exists():
        python = os.environ["PELLUCID_PEERS"] if tool in PEERS else sys.executable
        script = str(Path(__file__).with_name("study_workers.py"))
        with tempfile.TemporaryDirectory() as scratch:  # some tools write where they stand
            done = subprocess.run(
                [python, script, tool, str(folder.resolve()), metric, str(seconds)],
                capture_output=True, text=True, cwd=scratch,
            )  # fmt: skip
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["no word"])[-1]
    with np.load(out) as stored:
        return dict(stored)


class Score(NamedTuple):
    """One tool on one table; ``draws`` are the scores of the bootstrap samples."""

    estimate: float
    low: float
    high: float
    draws: Any


def score(table: Table, frame: pl.DataFrame, answer: Answer) -> Score:
    """The measure with its interval; every tool gets the same bootstrap rows."""
    y = frame["y"].to_numpy()
    parts = [judge for _, judge in folds_of(table, frame)]
    rng = np.random.default_rng(0)
    if table.metric == "average_precision":
        hit = (y == "yes").astype(int)

        def measure(cut: list[Any]) -> float:
            each = [average_precision_score(hit[at], answer.likely[at]) for at in cut]
            return float(np.mean(each))
    else:
        number = table.metric == "rmse"
        said = answer.prediction.astype(float) if number else answer.prediction.astype(str)
        gain = (said - y) ** 2 if number else (said == y.astype(str)).astype(float)

        def measure(cut: list[Any]) -> float:
            mean = float(gain[np.concatenate(cut)].mean())
            return float(np.sqrt(mean)) if number else mean

    draws = np.array([
        measure([rng.choice(at, len(at)) for at in parts]) for _ in range(DRAWS)
    ])  # fmt: skip
    estimate = measure(parts)
    if table.metric == "accuracy":
        one = proportion_interval(round(estimate * len(y)), len(y))
        return Score(estimate, one.low, one.high, draws)
    return Score(estimate, *np.quantile(draws, [0.025, 0.975]), draws)


def section(table: Table, answers: dict[str, Answer | str]) -> tuple[str, list[str]]:
    """One table as Markdown, and the tools of ours that are not within the best's interval."""
    frame = table.make()
    sign = -1.0 if table.metric == "rmse" else 1.0
    known = {k: a for k, a in answers.items() if isinstance(a, Answer)}
    scores = {k: score(table, frame, a) for k, a in known.items()}
    best = max(scores, key=lambda k: sign * scores[k].estimate)
    lines = [
        f"## {table.name}: {frame.height:,} rows x {frame.width - 1} columns, {table.metric}", "",
        "| tool | score | 95 % interval | seconds | processor s | within the best's interval "
        "| behind the best | chosen in the folds |", "|---|---:|---:|---:|---:|---|---:|---|",
    ]  # fmt: skip
    out = []
    for tool, one in scores.items():
        low, high = scores[best].low, scores[best].high
        within = sign * one.estimate >= (low if sign > 0 else -high)
        gap = np.quantile(sign * (scores[best].draws - one.draws), [0.025, 0.975])
        behind = "best" if tool == best else f"{gap[0]:.3g} to {gap[1]:.3g}"
        if tool in OURS and not within:
            out.append(f"{table.name} ({NAMES[tool]})")
        answer = known[tool]
        lines.append(
            f"| {NAMES[tool]} | {one.estimate:.4g} | {one.low:.4g} to {one.high:.4g} "
            f"| {answer.seconds:.1f} | {answer.busy:.1f} | {'yes' if within else '**no**'} "
            f"| {behind} | {', '.join(dict.fromkeys(answer.chosen))} |"
        )
    lines += [f"| {NAMES[k]} | failed: {a} | | | | | | |"
              for k, a in answers.items() if isinstance(a, str)]  # fmt: skip
    return "\n".join([*lines, ""]), out


def peers() -> str:
    """The versions of the tools in the other environment, or that there is none."""
    python = os.environ.get("PELLUCID_PEERS")
    if python is None:
        return "PELLUCID_PEERS names no interpreter: FLAML and mljar-supervised were not run"
    names = ("flaml", "mljar-supervised", "scikit-learn", "lightgbm", "xgboost")
    call = f"from importlib.metadata import version as v; print(*[n + ' ' + v(n) for n in {names}])"
    done = subprocess.run([python, "-c", call], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def main(arguments: list[str]) -> int:
    options = dict(a.removeprefix("--").partition("=")[::2] for a in arguments)
    seconds = float(options.get("seconds", 10))
    tools = [tool for tool in NAMES if tool not in PEERS or "PELLUCID_PEERS" in os.environ]
    sections, outside = [], []
    with tempfile.TemporaryDirectory() as scratch:
        keep = Path(options.get("keep", scratch))
        wanted = options.get("tables", ",".join(t.name for t in TABLES)).split(",")
        for table in (t for t in TABLES if t.name in wanted):
            answers = {tool: run_tool(tool, table, keep, seconds) for tool in tools}
            text, out = section(table, answers)
            print(text, flush=True)
            sections.append(text)
            outside += out
    head = [
        "# Studies side by side", "",
        f"Written by `python -m benchmarks.study.study`. {FOLDS} outer folds; every tool has "
        f"{seconds:g} s to learn",
        "from two thirds of the rows and is told the measure; the model it chooses predicts the",
        "rows it never saw. Ours sets a fifth of what it gets aside as its own test rows and does",
        "not learn from them; the others learn from all. Seconds include the report-ready record",
        "(ours) or the explanations (mljar-supervised), and compilation that was not cached.",
        "`behind the best` is the 95 % interval of the difference on the same rows.", "",
        f"- date: {time.strftime('%Y-%m-%d')}", f"- machine: {machine()}", f"- peers: {peers()}",
        f"- tables: {len(sections)} of {len(TABLES)}; load average {os.getloadavg()[1]:.1f}: above "
        "the number of cores the seconds say little, and a limit in seconds gives a tool less",
        f"- ours outside the interval of the best: {'; '.join(outside) or 'nowhere'}", "",
    ]  # fmt: skip
    (FOLDER / "STUDY.md").write_text("\n".join([*head, *sections]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
