"""Runs of scikit-learn's test modules with theirs and with ours, and what they show."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import sklearn

HERE = Path(__file__).parent
PACKAGE = Path(sklearn.__file__).parent
SECONDS = int(os.environ.get("SKLEARN_SWAP_SECONDS", "1800"))  # for one module
GOOD = ("passed", "skipped", "xfailed")


class Outcome(NamedTuple):
    """What came of one test."""

    outcome: str  # passed, failed, skipped, xfailed, begun (the process died), uncollected
    made: tuple[str, ...] = ()
    why: str = ""
    seconds: float = 0.0


def run_module(
    module: str,
    side: str,
    *,
    seconds: int = SECONDS,
    only: str | None = None,
    tests: list[str] | None = None,
) -> dict[str, Outcome]:
    """Run one test file of scikit-learn in a process of its own; ``side`` is theirs or ours."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.jsonl"
        out.touch()
        environment = {
            **os.environ,
            "SKLEARN_SWAP": side,
            "SKLEARN_SWAP_OUT": str(out),
            "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
            "MPLBACKEND": "Agg",
            "PYTHONHASHSEED": "0",
        }
        for name in ("PELLUCID_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            environment[name] = "1"
        for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST"):
            environment.pop(name, None)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "sklearn_swap",
            "-p",
            "no:cacheprovider",
        ]
        command += ["-p", "no:xdist", "--tb=short", "--rootdir", folder, "-c", os.devnull]
        command += ["-k", only] if only else []
        names = ["sklearn." + module.removesuffix(".py").replace("/", ".")]
        if tests and all(not t.endswith("::") for t in tests):
            bare = sorted({t.partition("::")[2].split("[")[0] for t in tests})
            names = [f"{names[0]}::{name}" for name in bare]
        try:
            done = subprocess.run(
                [*command, "--pyargs", *names],
                cwd=folder,
                env=environment,
                timeout=seconds,
                capture_output=True,
                text=True,
                check=False,
            )
            log = done.stdout[-2000:] + done.stderr[-2000:]
        except subprocess.TimeoutExpired:
            log = f"no end after {seconds} s"
        return read_outcomes(out, module, log)


def read_outcomes(out: Path, module: str, log: str) -> dict[str, Outcome]:
    """Lines of the plugin by the test's name within scikit-learn."""
    found: dict[str, Outcome] = {}
    for line in out.read_text().splitlines():
        record = json.loads(line)
        _, _, name = record["id"].partition("::")
        record.pop("id")
        record["made"] = tuple(record.get("made", ()))
        found[f"{module}::{name}"] = Outcome(**record)
    if not found:
        found[f"{module}::"] = Outcome("uncollected", why=log)
    return found


class Comparison(NamedTuple):
    """One module with theirs and with ours."""

    touched: tuple[str, ...]  # pass with theirs, make a model of ours
    failures: dict[str, str]  # of these, the failing ones, with the last words of each


def compare(theirs: dict[str, Outcome], ours: dict[str, Outcome]) -> Comparison:
    """Tests that pass with theirs and make our models, and those of them that fail with ours."""
    passed = [t for t, o in theirs.items() if o.outcome == "passed"]
    touched, failures = [], {}
    for test in passed:
        mine = ours.get(test, Outcome("missing", why="not collected with ours"))
        if mine.outcome in ("missing", "begun", "uncollected"):
            touched.append(test)
            failures[test] = mine.why or mine.outcome
        elif mine.made:
            touched.append(test)
            if mine.outcome == "failed":
                failures[test] = mine.why
    return Comparison(tuple(touched), failures)


def both_sides(
    module: str, *, only: str | None = None, quick: bool = False
) -> tuple[dict[str, Outcome], dict[str, Outcome]]:
    """Outcomes with theirs and with ours.

    ``quick``: theirs only where ours fails without a line; the other tests pass with theirs as they
    did when the line was written.
    """
    ours = run_module(module, "ours", only=only)
    if not quick:
        return run_module(module, "theirs", only=only), ours
    lines = read_reasons()
    bad = [t for t, o in ours.items() if o.outcome not in GOOD]
    wrong = [t for t in bad if not any(line.covers(t) for line in lines)]
    passed = {t for t, o in ours.items() if o.outcome == "passed"} | set(bad) - set(wrong)
    again = run_module(module, "theirs", tests=wrong) if wrong else {}
    return dict.fromkeys(passed, Outcome("passed")) | {
        t: again[t] for t in wrong if t in again
    }, ours


class Reason(NamedTuple):
    """A line of the reasons file."""

    pattern: str  # module::test for all its parameters, or with stars
    why: str
    section: str  # of docs/differences.md

    def covers(self, test: str) -> bool:
        """Whether the line speaks of this test."""
        plain = test == self.pattern or test.startswith(self.pattern + "[")
        stars = "*" in self.pattern and fnmatchcase(test, self.pattern.replace("[", "[[]"))
        return plain or stars


class Verdict(NamedTuple):
    """Failures by section, those without a line, lines without a failure."""

    sections: dict[str, int]
    unlabelled: list[str]
    stale: list[str]


def judge(shown: dict[str, Comparison], reasons: list[Reason]) -> Verdict:
    """Hold the failures of some modules against the lines about them."""
    lines = [r for r in reasons if r.pattern.split("::")[0] in shown]
    failures = [test for found in shown.values() for test in found.failures]
    sections: Counter[str] = Counter()
    unlabelled = []
    for test in failures:
        line = next((r for r in lines if r.covers(test)), None)
        if line is None:
            unlabelled.append(test)
        else:
            sections[line.section] += 1
    stale = [r.pattern for r in lines if not any(r.covers(test) for test in failures)]
    return Verdict(dict(sections.most_common()), unlabelled, stale)


def read_reasons(path: Path = HERE / "reasons.txt") -> list[Reason]:
    """The lines ``test | reason | #section``."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    return [
        Reason(*(part.strip() for part in line.split(" | ")))
        for line in lines
        if line and not line.startswith("#")
    ]


KINDS = (  # what a failure says of itself -> the reason, the section
    (r"has no attribute '(_\w+)'", "asks for the private name {}", "#{private}"),
    (r"expected (sklearn\.\S+), got", "asks for the private class {}", "#{private}"),
    (r"Regex pattern did not match", "says it in other words", "#wording"),
    (r"DID NOT RAISE", "has an answer here", "#what-is-accepted-here"),
    (r"DID NOT WARN", "gives no such warning here", "#warnings-of-the-solvers"),
)
PRIVATE = "names-that-scikit-learn-keeps-to-itself"


def evident(test: str, why: str) -> Reason | None:
    """A line for a failure that says itself what kind it is; None where someone must look.

    >>> evident("a.py::test_b[1]", "AttributeError: 'C' object has no attribute '_d'")[:2]
    ('a.py::test_b', 'asks for the private name _d')
    """
    for pattern, words, section in KINDS:
        found = re.search(pattern, why)
        if found:
            reason = words.format(*found.groups())
            return Reason(test.split("[")[0], reason, section.format(private=PRIVATE))
    return None


def renewed(shown: dict[str, Comparison], reasons: list[Reason]) -> list[Reason]:
    """The lines without the stale ones of these modules, and with those that are evident."""
    verdict = judge(shown, reasons)
    kept = [reason for reason in reasons if reason.pattern not in verdict.stale]
    told = {t: why for found in shown.values() for t, why in found.failures.items()}
    for test in verdict.unlabelled:
        line = evident(test, told[test])
        if line is not None and not any(known.covers(test) for known in kept):
            kept.append(line)
    return sorted(kept)


def write_reasons(reasons: list[Reason], path: Path = HERE / "reasons.txt") -> None:
    """Write the lines below the comments at the head of the file."""
    head = [line for line in path.read_text().splitlines() if line.startswith("#")]
    path.write_text("\n".join([*head, *(" | ".join(reason) for reason in reasons)]) + "\n")
