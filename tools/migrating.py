"""Write ``docs/migrating.md``: every estimator of scikit-learn, its name here, every difference.

    python tools/migrating.py [--check]

The differences are the rows of ``docs/differences.md``; the names are read from the installed
scikit-learn and from ``pellucid``. ``--check`` writes nothing and exits with 1 where the page is
stale; a test does the same.
"""

import argparse
import importlib
import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE, DIFFERENCES = ROOT / "docs/migrating.md", ROOT / "docs/differences.md"
sys.path.insert(0, str(ROOT / "tests/sklearn_suite"))

NEAR = {  # not the same method or not the same class: what here does the work
    "ExtraTreeClassifier": '`DecisionTreeClassifier(splitter="random")`',
    "ExtraTreeRegressor": '`DecisionTreeRegressor(splitter="random")`',
    "GridSearchCV": "scikit-learn's takes our models; `TunedEstimator` adds nested scores",
    "RandomizedSearchCV": "scikit-learn's takes our models; `TunedEstimator` adds nested scores",
    "TfidfVectorizer": "`make_pipeline(CountVectorizer(), TfidfTransformer())`",
    "MiniBatchKMeans": "`KMeans().fit_blocks(...)` for data larger than memory",
    "IncrementalPCA": "`PCA().fit_blocks(...)` for data larger than memory",
    "RidgeClassifier": "`LeastSquaresClassifier`",
    "RidgeClassifierCV": "`LeastSquaresClassifier`",
    "TransformedTargetRegressor": "scikit-learn's takes our models",
    "NearestCentroid": "`NearestPrototypes`",
    "OutputCodeClassifier": "`OneVsOneClassifier`, `OneVsRestClassifier`",
    "GraphicalLasso": "`pellucid.graphical` learns networks",
    "BernoulliRBM": "`pellucid.deep` has autoencoders",
}

INTRO = """# From scikit-learn

Where a class here has scikit-learn's name, changing the import is meant to be the whole migration:

    pellucid migrate script.py            shows the diff of the imports
    pellucid migrate --write script.py    makes it

Names that are not here stay with scikit-learn: its pipelines, searches, splitters, metrics and
estimators take our models, and ours take its. This page is generated from the installed
scikit-learn and from [the differences](differences.md) (`python tools/migrating.py`).

"""


def estimators() -> dict[str, str]:
    """Every public estimator of scikit-learn and its module."""
    import sklearn.experimental.enable_halving_search_cv
    import sklearn.experimental.enable_iterative_imputer  # noqa: F401
    from sklearn_names import public_names

    found = {}
    for module, names in public_names().items():
        for name in names:
            thing = getattr(importlib.import_module(module), name, None)
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
    text = page()
    if parser.parse_args().check:
        stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
        print("stale: run python tools/migrating.py" if stale else "the page is up to date")
        return int(stale)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
