"""Lint, types, layers, and the tests that a change can affect; ``make check``.

    python tools/check.py [--base COMMIT] [--list]

Changed files are those that differ from COMMIT (the merge base with the upstream branch, or HEAD)
and those that git does not know. A changed module affects the modules of its family that import
it, directly or not, and the test files that import one of these. The tests of every estimator
(contract, promises, pages) run for the classes that an affected module defines or inherits from.
What is left out is said at the end; ``make test`` runs everything.
"""

import argparse
import ast
import importlib
import inspect
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
sys.path.insert(0, str(SOURCE))
# Files with a test for every class, page or module: only those of the change are picked.
EVERY = tuple(f"tests/test_{name}.py" for name in ("contract", "promises", "docs", "layers"))
HOUSE = ("tests/test_folders.py", "tests/test_public_names.py")


def git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.splitlines()


def changed_files(base: str | None) -> list[Path]:
    """Paths below the root that are new or differ from the base, and still exist."""
    base = base or (git("merge-base", "HEAD", "@{upstream}") or ["HEAD"])[0]
    names = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return [Path(name) for name in sorted(set(names)) if (ROOT / name).exists()]


def module_of(path: Path) -> str:
    """src/pellucid/linear/ridge/ridge.py -> pellucid.linear.ridge.ridge."""
    parts = path.relative_to("src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    return {module_of(p.relative_to(ROOT)): p for p in (SOURCE / "pellucid").rglob("*.py")}


@cache
def homes() -> dict[str, str]:
    """Public name, such as pellucid.linear.Ridge, -> the module that defines it."""
    found = {}
    for package in [m for m, p in modules().items() if p.name == "__init__.py"]:
        if "lazy_names" in modules()[package].read_text():
            for name, home in importlib.import_module(package)._HOME.items():
                found[f"{package}.{name}"] = f"{package}.{home}"
    return found


@cache
def imports(path: Path) -> set[str]:
    """The modules of the library that a file imports or names, lazy names resolved."""
    named = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute):
            named.add(ast.unparse(node))
    found = {homes().get(name, name) for name in named if name.startswith("pellucid")}
    return found & modules().keys()


def family(module: str) -> str:
    return ".".join(module.split(".")[:2])


def affected(changed: set[str]) -> set[str]:
    """The changed modules and those of their families that import one of them."""
    found, families = set(changed), {family(m) for m in changed}
    while True:
        more = {
            module
            for module, path in modules().items()
            if family(module) in families and module not in found and imports(path) & found
        }
        more = {m for m in more if modules()[m].name != "__init__.py"}
        if not more:
            return found
        found |= more


def classes(touched: set[str]) -> list[str]:
    """Public classes that a touched module defines, or that inherit from one of its classes."""
    found = set()
    for path, home in homes().items():
        package, _, name = path.rpartition(".")
        if package == "pellucid" and (home in touched or family(home) in map(family, touched)):
            value = getattr(importlib.import_module(home), name)
            parents = value.__mro__ if inspect.isclass(value) else ()
            if {cls.__module__ for cls in parents} & touched:
                found.add(name)
    return sorted(found)


def test_files(touched: set[str], changed: list[Path]) -> tuple[list[str], list[str]]:
    """Those that import a touched module or were changed, and all others."""
    run, rest = [], []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name = str(path.relative_to(ROOT))
        if name in EVERY + HOUSE:
            continue
        wanted = Path(name) in changed or bool(imports(path) & touched)
        (run if wanted else rest).append(name)
    return run, rest


def step(title: str, command: list[str]) -> bool:
    """Run one command; print its output where it fails."""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    empty = command[1] == "pytest" and done.returncode == 5  # no test was selected
    good = done.returncode == 0 or empty
    last = (done.stdout.strip().splitlines() or [""])[-1] if command[1] == "pytest" else ""
    print(f"{'ok  ' if good else 'FAIL'} {title} ({time.perf_counter() - began:.0f} s) {last}")
    if not good:
        print(done.stdout + done.stderr)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", help="compare with this commit")
    parser.add_argument("--list", action="store_true", help="say what would run")
    asked = parser.parse_args()
    changed = changed_files(asked.base)
    sources = [p for p in changed if p.parts[0] == "src" and p.suffix == ".py"]
    start = {module_of(p) for p in sources if p.name != "__init__.py"}
    touched = affected(start)
    run, rest = test_files(touched, changed)
    names = classes(touched)
    pages = [p.name for p in changed if p.suffix == ".md"]
    print(f"{len(changed)} changed files, {len(touched)} modules, classes: {', '.join(names)}")
    print("test files:", *run, *(str(p) for p in sources))
    if asked.list:
        return 0
    workers = ["-m", "pytest", "-q", "-n", "2", "--dist=worksteal", "-m", "not slow"]
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    steps = [
        ("ruff check", ["-m", "ruff", "check", "."]),
        ("ruff format", ["-m", "ruff", "format", "--check", "."]),
        ("stubs", ["tools/stubs.py", "--check"]),
        ("layers", ["-c", lint]),
        ("types", ["-m", "mypy"]),
    ]
    about = [*names, *pages, *(p.name for p in sources), "numba", "hides"]
    wanted = " or ".join(sorted(set(about)))
    steps.append((f"contract: {wanted}", [*workers, *EVERY, "-k", wanted]))
    files = [*HOUSE, *run, "--doctest-modules", *map(str, sources)]
    steps.append(("tests of the change", [*workers, *files]))
    good = [step(title, command) for title, command in steps]
    mine = {family(m) for m in touched}
    users = {
        family(m).removeprefix("pellucid.") for m, p in modules().items() if imports(p) & touched
    }
    users -= {m.removeprefix("pellucid.") for m in mine}
    print(f"left out: {len(rest)} test files, the contract of all other classes, slow tests")
    if users:
        print(f"also used by {', '.join(sorted(users))}: run make test before you share this")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
