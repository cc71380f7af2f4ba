"""``python -m benchmarks [family ...] [options]``: run cases, print the tables.

Every case renews its line of RESULTS.md as soon as it is done and leaves the others as they were.

    --rounds=N      at most N processes per contender (a case says how many it wants)
    --limit=S       a process that is not done after S seconds is given up
    --case=TEXT     only cases whose name contains TEXT
    --missing       only cases that have no line yet
    --no-write      print, and leave RESULTS.md alone
"""

import importlib
import pkgutil
import re
import sys
from pathlib import Path

import benchmarks
from benchmarks.harness import Case, Result, read, run_case, table, write

RESULTS = Path(__file__).with_name("RESULTS.md")


def families() -> dict[str, str]:
    """The modules that define CASES, by the last part of their name: ``lasso``, ``svm``, ..."""
    found = pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")
    names = {m.name.rpartition(".")[2]: m.name for m in found if m.name.count(".") == 2}
    return {name: module for name, module in sorted(names.items()) if has_cases(module)}


def has_cases(module: str) -> bool:
    """Whether a file of benchmarks/ races: its source is asked, for importing it may cost much."""
    path = RESULTS.parents[1] / module.replace(".", "/")
    return bool(re.search(r"^CASES\b", path.with_suffix(".py").read_text(), re.MULTILINE))


def option(arguments: list[str], name: str) -> str | None:
    """The text behind ``--name=``, if it was given."""
    found = [a.partition("=")[2] for a in arguments if a.startswith(f"--{name}=")]
    return found[-1] if found else None


def wanted(case: Case, family: str, stored: list[Result], arguments: list[str]) -> bool:
    has_line = any(r.family == family and r.case == case.name for r in stored)
    named = (option(arguments, "case") or "") in case.name
    return named and not ("--missing" in arguments and has_line)


def renewed(stored: list[Result], result: Result, names: list[str]) -> list[Result]:
    """The stored results with this one in its place and without cases the family lost."""
    others = [r for r in stored if r.family != result.family]
    mine = {r.case: r for r in stored if r.family == result.family} | {result.case: result}
    return sorted(others + [mine[n] for n in names if n in mine], key=lambda r: r.family)


def run_family(family: str, arguments: list[str]) -> list[Result]:
    """The wanted cases of a family; one that cannot run is named and leaves no line."""
    module = families()[family]
    cases = importlib.import_module(module).CASES
    rounds, limit = option(arguments, "rounds"), option(arguments, "limit")
    results = []
    for index, case in enumerate(cases):
        if not wanted(case, family, read(RESULTS), arguments):
            continue
        try:
            result = run_case(
                module, index, int(rounds) if rounds else None, float(limit) if limit else None
            )
        except RuntimeError as error:
            print(f"### {case.name}\n\nnot run: {error}\n", flush=True)
            continue
        print(table(result), flush=True)
        results.append(result)
        if "--no-write" not in arguments:
            write(renewed(read(RESULTS), result, [c.name for c in cases]), RESULTS)
    return results


def main(arguments: list[str]) -> int:
    asked = [a for a in arguments if not a.startswith("-")]
    unknown = set(asked) - set(families())
    if unknown:
        print(f"unknown family {', '.join(sorted(unknown))}; there are: {', '.join(families())}")
        return 2
    fresh = [result for family in asked or families() for result in run_family(family, arguments)]
    wrong = [r.case for r in fresh if not all(row["same"] for row in r.rows)]
    if wrong:
        print(f"different answers: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
