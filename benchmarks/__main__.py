"""``python -m benchmarks [family ...] [--no-write]``: run the cases and print the tables."""

import importlib
import pkgutil
import sys
from pathlib import Path

import benchmarks
from benchmarks.harness import run_case, table, write


def families() -> list[str]:
    """Every module of this package that defines CASES."""
    names = (m.name for m in pkgutil.iter_modules(benchmarks.__path__))
    others = ("harness", "__main__", "calibration")  # simulations are no races
    return [name for name in names if not name.startswith(others)]


def main(arguments: list[str]) -> int:
    asked = [a for a in arguments if not a.startswith("-")]
    unknown = set(asked) - set(families())
    if unknown:
        print(f"unknown family {', '.join(sorted(unknown))}; there are: {', '.join(families())}")
        return 2
    results = []
    for family in asked or families():
        module = f"benchmarks.{family}"
        for index in range(len(importlib.import_module(module).CASES)):
            result = run_case(module, index)
            print(table(result), flush=True)
            results.append(result)
    if not asked and "--no-write" not in arguments:
        write(results, Path(__file__).with_name("RESULTS.md"))
    wrong = [r.case for r in results if not all(row["same"] for row in r.rows)]
    if wrong:
        print(f"different answers: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
