"""Public names of the installed scikit-learn, and the classes that Pellucid has under them."""

import ast
import re
from functools import cache
from pathlib import Path

import sklearn
import sklearn.experimental.enable_halving_search_cv
import sklearn.experimental.enable_iterative_imputer

import pellucid

ROOT = Path(sklearn.__file__).parent
HIDDEN = {"conftest", "externals", "tests", "experimental"}
ABOUT_ITSELF = ("externals/", "tests/test_common.py", "tests/test_docstring", "tests/test_public_")
DEEPER = ("sklearn.feature_extraction.text", "sklearn.feature_extraction.image")


@cache
def public_names() -> dict[str, list[str]]:
    """The lists ``__all__`` of the public modules of scikit-learn, read without importing them."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        name = ".".join(("sklearn", *parts))
        shallow = len(parts) == 1 or name in DEEPER
        if shallow and not parts[0].startswith("_") and parts[0] not in HIDDEN:
            found[name] = sorted(listed(path))
    return found


def listed(path: Path) -> set[str]:
    """The names in ``__all__`` of a source file."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return {n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant)}
    return set()


def shared_names() -> set[str]:
    """Public classes of scikit-learn whose names are ours too."""
    theirs = {name for names in public_names().values() for name in names if name[0].isupper()}
    return theirs & set(pellucid.__all__)


def test_modules() -> tuple[str, ...]:
    """The test files of scikit-learn that speak of a name we have, as paths within its package."""
    word, names = re.compile(r"\w+"), shared_names()
    paths = {str(path.relative_to(ROOT)): path for path in sorted(ROOT.rglob("tests/**/test_*.py"))}
    return tuple(
        name
        for name, path in paths.items()
        if not name.startswith(ABOUT_ITSELF) and names.intersection(word.findall(path.read_text()))
    )
