"""scikit-learn's own tests with our classes in place of theirs.

    python tests/sklearn_suite [-j 2] [--json FILE] [--write] [MODULE ...]

Every test module of the installed scikit-learn that speaks of a class we have runs twice, each time
in a process of its own: with theirs and with ours. Printed is, for each module and in all, how many
tests pass with theirs and make a model of ours, how many of them pass with ours, and the others by
the reason in ``reasons.txt``. The exit code is 1 where a failure has no line there or a line no
failure. ``--write`` drops stale lines and adds those of failures that say themselves what they are
(a private name, another sentence, an answer where scikit-learn refuses, no warning); read them
before they are kept. What is left is a fault, or wants a line written by hand.
"""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sklearn_names import test_modules
from sklearn_runs import (
    Comparison,
    both_sides,
    compare,
    judge,
    read_reasons,
    renewed,
    write_reasons,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="parts of the paths of test modules")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write every touched test and failure here")
    parser.add_argument("-k", dest="only", help="pytest's expression of tests")
    parser.add_argument("--quick", action="store_true", help="theirs: only for new failures")
    parser.add_argument("--write", action="store_true", help="renew the lines that are evident")
    options = parser.parse_args()
    modules = [
        m for m in test_modules() if not options.modules or any(p in m for p in options.modules)
    ]

    def both(module):
        theirs, ours = both_sides(module, only=options.only, quick=options.quick)
        shown = compare(theirs, ours)
        seconds = [sum(o.seconds for o in side.values()) for side in (theirs, ours)]
        print(
            f"{module:62s} {len(shown.touched):5d} {len(shown.failures):5d} "
            f"{seconds[0]:7.1f} {seconds[1]:7.1f} s",
            flush=True,
        )
        done[module] = shown._asdict()
        if options.json:
            options.json.write_text(json.dumps(done, indent=1))
        return shown

    done: dict = {}
    print(f"{'module':62s} touched failed theirs ours")
    with ThreadPoolExecutor(options.jobs) as pool:
        shown = dict(zip(modules, pool.map(both, modules), strict=True))
    if options.write:
        write_reasons(renewed(shown, read_reasons()))
    return report(shown)


def report(shown: dict[str, Comparison]) -> int:
    """Print the counts by section of the page; 1 where a line is missing or stale."""
    verdict = judge(shown, read_reasons())
    touched = sum(len(found.touched) for found in shown.values())
    failed = sum(len(found.failures) for found in shown.values())
    share = 1 - failed / max(touched, 1)
    print(f"\ntouched {touched}, passed {touched - failed} ({share:.1%})")
    for section, count in verdict.sections.items():
        print(f"  {count:5d}  {section}")
    print(f"  {len(verdict.unlabelled):5d}  without a line")
    for test in verdict.unlabelled:
        print(f"without a line: {test}")
    for line in verdict.stale:
        print(f"stale: {line}")
    return 1 if verdict.unlabelled or verdict.stale else 0


if __name__ == "__main__":
    sys.exit(main())
