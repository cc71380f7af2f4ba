"""Folders that a reader takes in at a glance, and kernels that live beside their users."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src/pellucid"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts): path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.name != "__init__.py"
}
FOLDERS = sorted({path.parent for path in MODULES.values()})


@pytest.mark.parametrize("top", ["src", "tests", "benchmarks", "docs/algorithms", "examples"])
def test_a_folder_holds_at_most_20_files(top):
    kind = "*.md" if top == "docs/algorithms" else "*.py"
    folders = [ROOT / top, *(p for p in (ROOT / top).rglob("*") if p.is_dir())]
    large = {str(p.relative_to(ROOT)): n for p in folders if (n := len(list(p.glob(kind)))) > 20}
    assert not large


@pytest.mark.parametrize("folder", [pytest.param(p, id=str(p.relative_to(ROOT))) for p in FOLDERS])
def test_a_folder_says_what_lives_in_it(folder):
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    names = {p.stem for p in folder.iterdir()} - {"__init__", "__pycache__"}
    assert any(re.search(rf"\b{name}\b", text) for name in names), "say which file to read first"
    assert "TODO" not in text


def imported(path: Path) -> set[str]:
    """The modules of ours that a file imports, as dotted names without ``pellucid``."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pellucid."):
            module = node.module.removeprefix("pellucid.")
            names = {f"{module}.{alias.name}" for alias in node.names}
            found |= names & MODULES.keys() or {module}
    return found


def test_a_shared_kernel_has_users_in_two_families():
    """A kernel with one family of users lives beside them; ``compiled`` is for the others."""
    users = defaultdict(set)
    for name, path in MODULES.items():
        for other in imported(path):
            users[other].add(name)

    def families(name: str, seen: frozenset[str] = frozenset()) -> set[str]:
        """Directly, or through another kernel of ``compiled`` that needs this one."""
        found = set()
        for user in users[name] - seen:
            inner = user.startswith("compiled.")
            found |= families(user, seen | {name}) if inner else {user.split(".")[0]}
        return found

    shared = [name for name in MODULES if name.startswith("compiled.")]
    alone = {name: families(name) for name in shared if len(families(name)) < 2}
    assert shared
    assert not alone


def test_the_formatter_is_on():
    off = re.compile(r"# fmt: (skip|off)")
    assert sum(len(off.findall(path.read_text())) for path in SOURCE.rglob("*.py")) <= 50


def test_annotations_say_something():
    """``Any`` stands on fewer than one parameter in ten; kernels, and what writes their machine
    code, have no annotations."""
    total = vague = 0
    for path in [path for path in MODULES.values() if not path.name.startswith("simd")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if any(re.search("jit|intrinsic", ast.unparse(d)) for d in node.decorator_list):
                continue
            a = node.args
            for p in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]:
                if p is not None and p.arg not in ("self", "cls"):
                    total += 1
                    vague += p.annotation is None or ast.unparse(p.annotation) == "Any"
    assert vague < total / 10, f"{vague} of {total}"
