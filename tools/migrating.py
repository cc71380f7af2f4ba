"""Write ``docs/migrating.md``: every estimator of scikit-learn, its name here, every difference.

    python tools/migrating.py [--check]

With it come ``docs/scikit-learn-names.md``, every public name of scikit-learn and what to use here,
and ``src/pellucid/_scikit_learn.py``, the table from which ``pellucid.Birch`` answers.

The differences are the rows of ``docs/differences.md``; the names are read from the installed
scikit-learn and from ``pellucid``. ``--check`` writes nothing and exits with 1 where the page is
stale; a test does the same.
"""

import argparse
import importlib
import inspect
import re
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages

ROOT = Path(__file__).parents[1]
PAGE, DIFFERENCES = ROOT / "docs/migrating.md", ROOT / "docs/differences.md"
EVERY_NAME, TABLE = ROOT / "docs/scikit-learn-names.md", ROOT / "src/pellucid/_scikit_learn.py"
sys.path.insert(0, str(ROOT / "tests/sklearn_suite"))

NEAR = {  # not the same method or not the same class: what here does the work
    "ExtraTreeClassifier": '`DecisionTreeClassifier(splitter="random")`',
    "ExtraTreeRegressor": '`DecisionTreeRegressor(splitter="random")`',
    "GridSearchCV": "scikit-learn's takes our models; `TunedEstimator` adds nested scores",
    "RandomizedSearchCV": "scikit-learn's takes our models; `TunedEstimator` adds nested scores",
    "IncrementalPCA": "`PCA().fit_blocks(...)` for data larger than memory",
    "TransformedTargetRegressor": "scikit-learn's takes our models",
    "OutputCodeClassifier": "`OneVsOneClassifier`, `OneVsRestClassifier`",
    "BernoulliRBM": "`pellucid.deep` has autoencoders",
}

HIDDEN = {"conftest", "externals", "tests", "experimental"}  # packages without public names

INTRO = """# From scikit-learn

Where a class here has scikit-learn's name, changing the import is meant to be the whole migration:

    pellucid migrate script.py            shows the diff of the imports
    pellucid migrate --write script.py    makes it

Names that are not here stay with scikit-learn: its pipelines, searches, splitters, metrics and
estimators take our models, and ours take its. This page is generated from the installed
scikit-learn and from [the differences](differences.md) (`python tools/migrating.py`).

"""


NAMES_INTRO = """# Every public name of scikit-learn

What to use here for each of them. A name that is not here answers with its import:

```python
>>> import pellucid
>>> pellucid.Pipeline
Traceback (most recent call last):
AttributeError: module 'pellucid' has no attribute 'Pipeline': scikit-learn's works with our \
estimators, from sklearn.pipeline import Pipeline

```

The differences of the classes that are here are on [the page about migrating](migrating.md). This
page is generated from the installed scikit-learn (`python tools/migrating.py`).
"""

TABLE_TEXT = '''"""Public names of scikit-learn by module, for ``pellucid.Birch``. Generated.

``python tools/migrating.py`` writes this file from the installed scikit-learn; it is read only when
a name is asked for that is not here.
"""

NAMES = {{
{rows}}}


def sentence(name: str) -> str:
    """Which import of scikit-learn has the name; "" where none has.

    >>> sentence("Birch")
    ": scikit-learn\'s works with our estimators, from sklearn.cluster import Birch"
    """
    for module, names in NAMES.items():
        if name in names.split():
            found = f"from {{module}} import {{name}}"
            return f": scikit-learn\'s works with our estimators, {{found}}"
    return ""
'''


def defined(module: str) -> set[str]:
    """Public names of a module: ``__all__``, what it defines, or else shows of private modules."""
    home = importlib.import_module(module)
    if hasattr(home, "__all__"):
        return set(home.__all__)
    things = {name: getattr(thing, "__module__", None) for name, thing in vars(home).items()}
    own = {name for name, place in things.items() if place == module}
    private = re.compile(r"sklearn(\.\w+)*\._\w+")
    shown = {name for name, place in things.items() if private.match(str(place))}
    return own or shown


def deeper() -> list[str]:
    """Public modules of scikit-learn below its packages, such as ``sklearn.utils.extmath``."""
    import sklearn

    names = [found.name for found in walk_packages(sklearn.__path__, "sklearn.")]
    parts = {name: name.split(".")[1:] for name in names}
    return [
        name
        for name, path in parts.items()
        if len(path) > 1 and not any(part.startswith("_") or part in HIDDEN for part in path)
    ]


def every_name() -> dict[str, list[str]]:
    """Public names of scikit-learn by module, each once; "sklearn" has the modules themselves."""
    import sklearn
    from sklearn_names import public_names

    found: dict[str, list[str]] = {"sklearn": []}
    seen: set[str] = set()
    listed = {module: set(names) or defined(module) for module, names in public_names().items()}
    listed = {module: defined(module) for module in deeper()} | listed
    for name, module in estimators().items():
        listed[module].add(name)
    for module, together in sorted(listed.items()):
        names = sorted(together)
        if module.count(".") == 1:
            found["sklearn"].append(module.partition(".")[2])
        new = [name for name in names if name not in seen and not name.startswith("_")]
        seen.update(new)
        if new:
            found[module] = new
    top = {name for name in sklearn.__all__ if not name.startswith("_")}
    found["sklearn"] = sorted({*found["sklearn"], *(top - seen)})
    return found


def is_own_module(name: str) -> bool:
    """Whether ``pellucid.name`` is a module of ours, such as ``pellucid.tree``."""
    return find_spec(f"pellucid.{name}") is not None


def table() -> str:
    """The text of the table in the package."""
    rows = []
    for module, names in every_name().items():
        line = " ".join(name for name in names if not is_own_module(name))
        parts = [line] if len(line) <= 90 else textwrap.wrap(line, 86)
        if len(parts) == 1 and len(f'    "{module}": "{parts[0]}",') <= 100:
            rows.append(f'    "{module}": "{parts[0]}",')
            continue
        quoted = [f'        "{part} "' for part in parts[:-1]] + [f'        "{parts[-1]}"']
        rows.append("\n".join([f'    "{module}": (', *quoted, "    ),"]))
    return TABLE_TEXT.format(rows="\n".join(rows) + "\n")


def here(name: str) -> str:
    """What to use for a name: ours, what is near, or scikit-learn's own."""
    import pellucid

    if name in pellucid._HOME:
        return f"`pellucid.{name}`"
    for package in pellucid._PACKAGES:
        names = getattr(importlib.import_module(f"pellucid.{package}"), "__all__", ())
        if name in names:
            return f"`pellucid.{package}.{name}`"
    return NEAR.get(name) or "scikit-learn's, with our estimators"


def names_page() -> str:
    """The page of every public name."""
    parts = [NAMES_INTRO]
    for module, names in every_name().items():
        if module == "sklearn":
            continue
        rows = "\n".join(f"| `{name}` | {here(name)} |" for name in names)
        parts.append(f"\n## {module}\n\n| name | use |\n|---|---|\n{rows}\n")
    return "".join(parts)


def estimators() -> dict[str, str]:
    """Every public estimator of scikit-learn and its module."""
    import sklearn.experimental.enable_halving_search_cv
    import sklearn.experimental.enable_iterative_imputer  # noqa: F401
    from sklearn_names import public_names

    found = {}
    for module, names in public_names().items():
        home = importlib.import_module(module)
        for name in sorted({*names, *getattr(home, "__all__", ())}):  # experimental ones join late
            thing = getattr(home, name, None)
            if inspect.isclass(thing) and hasattr(thing, "get_params"):
                found.setdefault(name, module)
    return found


def differences() -> dict[str, list[str]]:
    """What differs by class: ``theirs -> here`` of each row of the table."""
    found: dict[str, list[str]] = {}
    for line in DIFFERENCES.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("| `") or len(cells) != 4:
            continue
        for name in re.findall(r"`(\w+)`", cells[0]):
            found.setdefault(name, []).append(f"{cells[1]} → {cells[2]}")
    return found


def page() -> str:
    """The text of the page."""
    import pellucid

    known, rows = differences(), {True: [], False: []}
    for name, module in sorted(estimators().items()):
        here = name in pellucid.__all__
        if here:
            told = "; ".join(known.get(name, [])) or "none listed"
            rows[here].append(f"| `{module}.{name}` | `pellucid.{name}` | {told} |")
        else:
            near = NEAR.get(name) or "stays with scikit-learn"
            rows[here].append(f"| `{module}.{name}` | {near} |")
    head = "| scikit-learn | here | differences: theirs → here |\n|---|---|---|\n"
    rest = "| scikit-learn | here |\n|---|---|\n"
    return (
        f"{INTRO}## The same name here ({len(rows[True])})\n\n{head}"
        + "\n".join(rows[True])
        + f"\n\n## Not here ({len(rows[False])})\n\n{rest}"
        + "\n".join(rows[False])
        + "\n"
    )


def main() -> int:
    """Write the page, or say whether it is stale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    texts = {PAGE: page(), EVERY_NAME: names_page(), TABLE: table()}
    if parser.parse_args().check:
        stale = [p.name for p, text in texts.items() if p.read_text(encoding="utf-8") != text]
        print(f"stale: {stale}, run python tools/migrating.py" if stale else "all up to date")
        return int(bool(stale))
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
