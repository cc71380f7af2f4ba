"""Wrong changes of the source, drawn at random, and whether the tests see them: ``make mutants``.

    python tests/mutants [--count 40] [--seed 0] [--jobs 2] [--only evaluation study/judging]

A change is tried in a copy of the tree with the tests of its package, the examples in the changed
file, and the tests that every estimator has (for the classes of the file), up to the first failure.
What survives is printed as a diff: kill it with a test, or list it in ``equivalent.toml`` with the
reason why no test can see it. The exit code is 1 below ``--goal``. A package whose tests fail
without any change is left out, and said.
"""

import argparse
import os
import random
import sys
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from mutation_sites import KINDS, changes
from mutation_trials import ROOT, Mutant, Verdict, attempt, copy_tree, run_tests

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
    rng, by_kind, known = random.Random(seed), sites(only), equivalents()
    found: list[Mutant] = []
    while len(found) < count and any(by_kind.values()):
        kind = rng.choice([kind for kind, mutants in by_kind.items() if mutants])
        mutant = by_kind[kind].pop(rng.randrange(len(by_kind[kind]))).with_lines()
        if (str(mutant.path), mutant.before, mutant.after) not in known:
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
    parser.add_argument("--limit", type=float, default=0, help="seconds a change may take")
    parser.add_argument("--goal", type=float, default=0.85, help="share to be caught")
    parser.add_argument("--trust", action="store_true", help="do not run the unchanged tests first")
    parser.add_argument("--near", action="store_true", help="only tests that name the module")
    parser.add_argument("--list", action="store_true", help="print the changes and try none")
    options = parser.parse_args()
    mutants = draw(options.count, options.seed, options.only)
    if options.list:
        print("\n".join(map(shown, mutants)))
        return 0
    (ROOT / "build").mkdir(exist_ok=True)  # links need the same disk
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="mutants-") as folder:
        return report(options, mutants, Path(folder))


def report(options: argparse.Namespace, mutants: list[Mutant], folder: Path) -> int:
    trees: SimpleQueue[Path] = SimpleQueue()
    for k in range(options.jobs):
        copy_tree(folder / str(k))
        trees.put(folder / str(k))

    def unchanged(package: str) -> Verdict:
        tree = trees.get()
        try:
            return run_tests(tree, [f"tests/{package}"], 3600)
        finally:
            trees.put(tree)

    limits: dict[str, float] = {}

    def tried(mutant: Mutant) -> Verdict:
        tree = trees.get()
        try:
            verdict = attempt(tree, mutant, limits[mutant.package], options.near)
        finally:
            trees.put(tree)
        mark = "caught  " if verdict.caught else "SURVIVED"
        print(f"{mark} {verdict.seconds:5.0f} s  {shown(mutant)}\n  {verdict.by}", flush=True)
        return verdict

    with ThreadPoolExecutor(options.jobs) as pool:
        packages = sorted({mutant.package for mutant in mutants})
        for package in packages:
            limits[package] = options.limit or 1800
        if not options.trust:
            for package, verdict in zip(packages, pool.map(unchanged, packages), strict=True):
                print(f"{package}: {verdict.seconds:.0f} s unchanged, {verdict.by}", flush=True)
                limits[package] = options.limit or 3 * verdict.seconds + 120
                if verdict.caught:
                    mutants = [mutant for mutant in mutants if mutant.package != package]
        verdicts = list(pool.map(tried, mutants))
    survivors = [m for m, v in zip(mutants, verdicts, strict=True) if not v.caught]
    total = Counter(m.package for m in mutants)
    alive = Counter(m.package for m in survivors)
    for package in sorted(total):
        print(f"{package:14} {total[package] - alive[package]} of {total[package]}")
    share = 1 - len(survivors) / max(len(mutants), 1)
    print(f"\n{len(mutants) - len(survivors)} of {len(mutants)} caught ({share:.0%})")
    print("\n".join(["", "Survivors:", *map(shown, survivors)] if survivors else []))
    return int(share < options.goal)


if __name__ == "__main__":
    sys.exit(main())
