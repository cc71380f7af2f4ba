"""scikit-learn's own tests with our classes in place of theirs.

    python tests/sklearn_suite [-j 2] [--json FILE] [MODULE ...]

Every test module of the installed scikit-learn that speaks of a class we have runs twice, each time
in a process of its own: with theirs and with ours. Printed is, for each module and in all, how many
tests pass with theirs and make a model of ours, how many of them pass with ours, and the others by
the reason in ``reasons.txt``. The exit code is 1 where a failure has no line there or a line no
failure.
"""

import argparse
import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sklearn_names import test_modules
from sklearn_runs import GOOD, Outcome, compare, read_reasons, run_module


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="parts of the paths of test modules")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write every touched test and failure here")
    parser.add_argument("-k", dest="only", help="pytest's expression of tests")
    parser.add_argument("--quick", action="store_true", help="theirs: only what fails with ours")
    options = parser.parse_args()
    modules = [
        m for m in test_modules() if not options.modules or any(p in m for p in options.modules)
    ]

    def both(module):
        ours = run_module(module, "ours", only=options.only)
        if options.quick:
            wrong = [t for t, o in ours.items() if o.outcome not in GOOD]
            theirs = {t: Outcome("passed") for t, o in ours.items() if o.outcome == "passed"}
            theirs |= run_module(module, "theirs", tests=wrong) if wrong else {}
        else:
            theirs = run_module(module, "theirs", only=options.only)
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
    return report(shown)


def report(shown) -> int:
    """Print the counts by reason; 1 where a line is missing or stale."""
    reasons = [r for r in read_reasons() if r.pattern.split("::")[0] in shown]
    failures = {t: w for c in shown.values() for t, w in c.failures.items()}
    touched = sum(len(c.touched) for c in shown.values())
    sections = Counter()
    unlabelled = []
    for test in failures:
        line = next((r for r in reasons if r.covers(test)), None)
        if line is None:
            unlabelled.append(test)
        else:
            sections[line.section] += 1
    stale = [r.pattern for r in reasons if not any(r.covers(t) for t in failures)]
    share = 1 - len(failures) / max(touched, 1)
    print(f"\ntouched {touched}, passed {touched - len(failures)} ({share:.1%})")
    for section, count in sections.most_common():
        print(f"  {count:5d}  {section}")
    print(f"  {len(unlabelled):5d}  without a line; stale lines: {len(stale)}")
    for line in stale:
        print(f"stale: {line}")
    return 1 if unlabelled or stale else 0


if __name__ == "__main__":
    sys.exit(main())
