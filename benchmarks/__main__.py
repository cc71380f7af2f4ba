"""``python -m benchmarks [family ...] [--rounds=N] [--no-write]``: run cases, print the tables.

A run of some families renews their lines of RESULTS.md and leaves the others as they were.
``--rounds`` limits the processes per contender (a case says how many it wants).
"""

import importlib
import pkgutil
import sys
from pathlib import Path

import benchmarks
from benchmarks.harness import Result, read, run_case, table, write

RESULTS = Path(__file__).with_name("RESULTS.md")


def families() -> list[str]:
    """Every module of this package that defines CASES."""
    names = (m.name for m in pkgutil.iter_modules(benchmarks.__path__))
    others = ("harness", "__main__", "calibration")  # simulations are no races
    alone = ("study", "study_tables", "study_workers")  # `python -m benchmarks.study`
    return [name for name in names if not name.startswith(others) and name not in alone]


def run_family(family: str, rounds: int | None) -> list[Result]:
    """All cases of a family; one that cannot run is named and leaves no line."""
    module = f"benchmarks.{family}"
    results = []
    for index, case in enumerate(importlib.import_module(module).CASES):
        try:
            result = run_case(module, index, rounds)
        except RuntimeError as error:
            print(f"### {case.name}\n\nnot run: {error}\n", flush=True)
            continue
        print(table(result), flush=True)
        results.append(result)
    return results


def main(arguments: list[str]) -> int:
    asked = [a for a in arguments if not a.startswith("-")]
    rounds = [int(a.partition("=")[2]) for a in arguments if a.startswith("--rounds=")]
    unknown = set(asked) - set(families())
    if unknown:
        print(f"unknown family {', '.join(sorted(unknown))}; there are: {', '.join(families())}")
        return 2
    results = read(RESULTS)
    fresh = []
    for family in asked or families():
        found = run_family(family, rounds[0] if rounds else None)
        fresh += found
        results = [r for r in results if r.family != family] + found
        if "--no-write" not in arguments:
            write(sorted(results, key=lambda r: r.family), RESULTS)
    wrong = [r.case for r in fresh if not all(row["same"] for row in r.rows)]
    if wrong:
        print(f"different answers: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
