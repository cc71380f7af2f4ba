"""Wrong changes of the source, drawn at random, and whether the tests see them: ``make mutants``.

    python tests/mutants [--count 40] [--seed 0] [--jobs 2] [--only evaluation study/judging]

A change is tried in a copy of the tree with the tests of its package, the examples in the changed
file, and the tests that every estimator has (for the classes of the file), up to the first failure.
What survives is printed as a diff: kill it with a test, or list it in ``equivalent.toml`` with the
reason why no test can see it. The exit code is 1 below ``--goal``. A test that fails without any
change does not count. With ``--out`` every verdict is a line of JSON in a file, and a run that was
cut off (``--minutes``) goes on where it stopped.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any

from mutation_sites import KINDS, changes
from mutation_trials import ROOT, THREADS, Mutant, Trials, copy_tree

SOURCE = ROOT / "src/pellucid"
UNTRIED = ("deep",)  # needs PyTorch


def equivalents() -> set[tuple[str, str, str]]:
    """Changes that no test can see: file, line before, line after."""
    table = tomllib.loads((Path(__file__).parent / "equivalent.toml").read_text())
    return {(e["file"], e["line"], e["becomes"]) for e in table.get("change", [])}


def sites(only: list[str]) -> dict[str, list[Mutant]]:
    """Every possible change by its kind, of the packages that have tests."""
    found: dict[str, list[Mutant]] = {kind: [] for kind in KINDS}
    for path in sorted(SOURCE.rglob("*.py")):
        short = path.relative_to(SOURCE)
        package = short.parts[0]
        if (
            path.name == "__init__.py"
            or package in UNTRIED
            or not (ROOT / "tests" / package).is_dir()
        ):
            continue
        if only and not any(str(short).startswith(name) for name in only):
            continue
        for change in changes(path.read_text()):
            found[change.kind].append(Mutant(short, package, change))
    return {kind: mutants for kind, mutants in found.items() if mutants}


def draw(count: int, seed: int, only: list[str]) -> list[Mutant]:
    """Kinds equally often, places at random within a kind, none twice, none known as equivalent."""
    rng, by_kind, equal = random.Random(seed), sites(only), equivalents()
    found: list[Mutant] = []
    while len(found) < count and any(by_kind.values()):
        kind = rng.choice([kind for kind, mutants in by_kind.items() if mutants])
        mutant = by_kind[kind].pop(rng.randrange(len(by_kind[kind]))).with_lines()
        if (str(mutant.path), mutant.before, mutant.after) not in equal:
            found.append(mutant)
    return found


def shown(mutant: Mutant) -> str:
    where = f"src/pellucid/{mutant.path}:{mutant.row} ({mutant.change.kind})"
    return f"{where}\n  - {mutant.before}\n  + {mutant.after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=40, help="how many changes")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="copies at work")
    parser.add_argument("--only", nargs="*", default=[], help="folders or files of src/pellucid")
    parser.add_argument("--limit", type=float, default=300, help="seconds a test may take")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no change after these")
    parser.add_argument("--out", type=Path, help="verdicts as lines of JSON, added to")
    parser.add_argument("--goal", type=float, default=0.85, help="share to be caught")
    parser.add_argument("--budget", type=float, default=600, help="begin no far test after these")
    parser.add_argument("--list", action="store_true", help="print the changes and try none")
    options = parser.parse_args()
    mutants = draw(options.count, options.seed, options.only)
    if options.list:
        print("\n".join(map(shown, mutants)))
        return 0
    os.environ.update(THREADS)  # before the processes start that load the libraries
    (ROOT / "build").mkdir(exist_ok=True)  # links need the same disk
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="mutants-") as folder:
        return report(options, mutants, Path(folder))


def key(mutant: Mutant) -> str:
    """What names a change in the file of verdicts."""
    return f"{mutant.path}:{mutant.row} {mutant.change.start} {mutant.change.kind}"


def known(path: Path | None) -> dict[str, dict[str, Any]]:
    """The verdicts that a file holds already."""
    lines = path.read_text().splitlines() if path and path.exists() else []
    return {row["change"]: row for row in map(json.loads, lines)}


def report(options: argparse.Namespace, mutants: list[Mutant], folder: Path) -> int:
    trees: SimpleQueue[Path] = SimpleQueue()
    for k in range(options.jobs):
        copy_tree(folder / str(k))
        trees.put(folder / str(k))
    trials, found = Trials(options.limit, options.budget), known(options.out)
    end, lock = time.monotonic() + 60 * options.minutes, Lock()

    def tried(some: list[Mutant]) -> None:
        tree = trees.get()
        try:
            for mutant, verdict in trials.in_forks(tree, some) if time.monotonic() < end else ():
                mark = "caught  " if verdict.caught else "SURVIVED"
                said = verdict.test or verdict.said
                row = {"change": key(mutant), "caught": verdict.caught, "by": said[:200]}
                with lock:
                    print(f"{mark} {verdict.seconds:5.0f} s  {shown(mutant)}\n  {said}", flush=True)
                    found[key(mutant)] = row
                    if options.out:
                        with options.out.open("a") as out:
                            out.write(json.dumps(row) + "\n")
        finally:
            trees.put(tree)

    todo: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        if key(mutant) not in found:
            todo.setdefault(mutant.package, []).append(mutant)
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(tried, todo.values()))
    tried_ones = [mutant for mutant in mutants if key(mutant) in found]
    survivors = [mutant for mutant in tried_ones if not found[key(mutant)]["caught"]]
    total = Counter(m.package for m in tried_ones)
    alive = Counter(m.package for m in survivors)
    for package in sorted(total):
        print(f"{package:14} {total[package] - alive[package]} of {total[package]}")
    if trials.unsound:
        print("\nLeft out, since they fail without a change:", *sorted(trials.unsound), sep="\n")
    share = 1 - len(survivors) / max(len(tried_ones), 1)
    print(f"\n{len(tried_ones) - len(survivors)} of {len(tried_ones)} caught ({share:.0%})")
    if len(tried_ones) < len(mutants):
        print(f"{len(mutants) - len(tried_ones)} not tried")
    print("\n".join(["", "Survivors:", *map(shown, survivors)] if survivors else []))
    return int(share < options.goal or len(tried_ones) < len(mutants))


if __name__ == "__main__":
    sys.exit(main())
