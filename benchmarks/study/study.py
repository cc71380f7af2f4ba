"""Whole studies side by side: ours and the other one-command tools, at equal seconds.

    pip install --no-deps -r benchmarks/study/tables.txt
    python -m benchmarks.study.export TABLES
    python -m benchmarks.study.study --tables TABLES --out results.jsonl --seconds 30
        --python flaml=A/bin/python --python mljar=B/bin/python --python autogluon=C/bin/python

Options are those of ``benchmarks.study.fleet``. One job runs at a time, on two threads, unless told
otherwise. FLAML (``pip install "flaml[automl]"``), mljar-supervised, AutoGluon
(``autogluon.tabular[lightgbm,catboost,xgboost]``) and CatBoost want environments of their own,
which ``--python`` names; a tool that is not named there and cannot be imported here is left out,
and the page says so. Jobs that have a line in ``--out`` are not run again. At the end STUDY.md is
written from all lines.
"""

import os
import subprocess
import sys
import time
from importlib.util import find_spec

from benchmarks.harness import machine
from benchmarks.study.fleet import Race, options, race_of, run, warm
from benchmarks.study.standings import NAMES, PAGE, page

PACKAGES = {
    "lightgbm": ("lightgbm", "lightgbm"), "catboost": ("catboost", "catboost"),
    "flaml": ("flaml", "flaml"), "mljar": ("supervised", "mljar-supervised"),
    "autogluon": ("autogluon.tabular", "autogluon.tabular"),
}  # fmt: skip


def present(race: Race) -> tuple[str, ...]:
    """The tools that can be run: here, or by an interpreter that was named."""
    return tuple(
        tool for tool in race.tools
        if tool not in PACKAGES or tool in race.pythons
        or find_spec(PACKAGES[tool][0].partition(".")[0]) is not None
    )  # fmt: skip


def versions(race: Race) -> str:
    """What the peers are, by the interpreters that run them."""
    found = []
    for tool in [t for t in race.tools if t in PACKAGES]:
        package = PACKAGES[tool][1]
        call = f"from importlib.metadata import version as v; print(v({package!r}))"
        done = subprocess.run(
            [race.pythons.get(tool, sys.executable), "-c", call], capture_output=True, text=True
        )
        said = done.stdout.strip() if done.returncode == 0 else "absent"
        found.append(f"{package} {said}")
    return ", ".join(found) or "none"


def main(arguments: list[str]) -> int:
    parser = options()
    parser.description = __doc__
    parser.set_defaults(tools=",".join(NAMES), threads=2)
    given = parser.parse_args(arguments)
    asked = race_of(given)
    race = asked._replace(tools=present(asked))
    if given.warm:
        warm(given.jobs)
    lines = run(race)
    absent = [NAMES[t] for t in asked.tools if t not in race.tools]
    about = [
        f"date: {time.strftime('%Y-%m-%d')}", f"machine: {machine()}", f"peers: {versions(race)}",
        f"{race.jobs} job(s) at a time, {race.threads} thread(s) each; load average "
        f"{os.getloadavg()[1]:.1f}: above the number of cores the seconds say little",
        *([f"not run: {', '.join(absent)}"] if absent else []),
    ]  # fmt: skip
    PAGE.write_text(page(lines, about))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
