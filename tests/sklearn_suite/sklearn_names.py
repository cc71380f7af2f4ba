"""Public names of the installed scikit-learn, and the classes that Pellucid has under them."""

import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path

import sklearn
import sklearn.experimental.enable_halving_search_cv
import sklearn.experimental.enable_iterative_imputer

import pellucid

HIDDEN = {"conftest", "externals", "tests", "experimental"}
ABOUT_ITSELF = ("externals/", "tests/test_common.py", "tests/test_docstring", "tests/test_public_")
DEEPER = ("sklearn.feature_extraction.text", "sklearn.feature_extraction.image")


@cache
def public_names() -> dict[str, list[str]]:
    """The public names of each public module of scikit-learn."""
    names = [m.name for m in pkgutil.iter_modules(sklearn.__path__)]
    names = [f"sklearn.{n}" for n in names if n not in HIDDEN and not n.startswith("_")]
    return {
        name: sorted(getattr(importlib.import_module(name), "__all__", ()))
        for name in [*names, *DEEPER]
    }


def shared_names() -> set[str]:
    """Public classes of scikit-learn whose names are ours too."""
    theirs = {name for names in public_names().values() for name in names if name[0].isupper()}
    return theirs & set(pellucid.__all__)


def test_modules() -> tuple[str, ...]:
    """The test files of scikit-learn that speak of a name we have, as paths within its package."""
    root, word, names = Path(sklearn.__file__).parent, re.compile(r"\w+"), shared_names()
    paths = {str(path.relative_to(root)): path for path in sorted(root.rglob("tests/**/test_*.py"))}
    return tuple(
        name
        for name, path in paths.items()
        if not name.startswith(ABOUT_ITSELF) and names.intersection(word.findall(path.read_text()))
    )
