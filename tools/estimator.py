"""Write every place that a new estimator touches, so that only mathematics is left to write.

    make estimator FAMILY=discriminant NAME=PassiveAggressiveClassifier [KIND=…] [SUB=…]

KIND is classifier, regressor, transformer or clusterer; where scikit-learn has a class of that
name, KIND and the constructor's keywords come from there.
"""

import argparse
import ast
import inspect
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("classifier", "regressor", "transformer", "clusterer")
MOST = 20  # files of a folder

SOURCE = '''r"""{Words}: say in one line what it does.

Model        what is assumed of the data
Objective    what is minimised or maximised
Algorithm    the steps in the letters of the code below, and their cost
Reference    who showed it, and where
"""

from typing import Any, NamedTuple, Self

from sklearn.base import ClusterMixin, OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, Estimator, Regressor, Transformer, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card


class {Name}Fit(NamedTuple):
    """What the fit finds: a field for each quantity of the model, with its shape."""

    parameters: Array


def fit_{name}({data}) -> {Name}Fit:
    """Return the solution for {shapes}."""
    raise NotImplementedError("fit_{name}: the mathematics of the fit is missing")


def {verb}_{name}(parameters: Array, X: Array) -> {answer}:
    """Return {what}, for X (n, p)."""
    raise NotImplementedError("{verb}_{name}: the mathematics of the answer is missing")


class {Name}({bases}):
    """{Words}.
{doc}
    Attributes
    ----------
    parameters_ : ndarray
        What the fit found.

    Examples
    --------
    >>> from pellucid import {Name}
    >>> model = {Name}().fit({example})
    """
{init}
    @with_callbacks
    def fit(self, X: ArrayLike, {y}) -> Self:
        """Fit to the rows of X (n, p){target}."""
        rows = self._check_training(X{given})
        context = FitContext.of_rows(
            self,
            rows{weight},
            attributes=lambda _: {{k: v for k, v in vars(self).items() if k.endswith("_")}},
        )
        self.parameters_ = fit_{name}({call}).parameters
{after}        context.end()
        return self
{method}
    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        raise NotImplementedError("{Name}.card: the formulas and numbers of the card are missing")
'''

METHOD = '''
    def {verb}(self, X: ArrayLike) -> {returned}:
        """Return {what}, for X (n, p)."""
        X = self._check_input(X)
        return {result}
'''

TESTS = '''"""{Words}: an oracle, an invariant, a recovery."""

import numpy as np
import pytest

from pellucid import {Name}

rng = np.random.default_rng(0)


def table(n=60):
    X = rng.normal(size=(n, 3))
    return X, {labels}


def test_oracle():
    """Another program, or certified numbers, solve the same problem."""
    {Name}().fit(*table())
    pytest.fail("{Name} needs an oracle: compare it with another solution")


def test_invariant():
    """A law that every solution obeys, such as a gradient of zero."""
    {Name}().fit(*table())
    pytest.fail("{Name} needs an invariant: check a law that every solution obeys")


def test_recovery():
    """Parameters that made the data come back."""
    {Name}().fit(*table())
    pytest.fail("{Name} needs a recovery: draw from a known model, find it")
'''

PAGE = """# {Words}

`{Name}` ({kind}): say what it is for, when to take it, and when not.

## The idea

Intuition first, at most 150 words, no symbol.

## The mathematics

Model, objective, step, why the step is right, cost; typeset, every symbol named once.

## Example

```python
from pellucid import {Name}

model = {Name}().fit({example})
model.card()
```

## Choosing

| you see | do |
|---|---|

## Pitfalls

- What breaks it, and what the warnings mean.
"""

BENCHMARK = '''"""{Words} against the fastest peer."""

import numpy as np

from benchmarks.harness import Case


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 20))
    return X, {labels}


def pellucid_{name}(data):
    from pellucid import {Name}

    return {run}

{peer}

CASES = [
    Case(
        "{Name} 100,000 x 20",
        table,
        {{"pellucid": pellucid_{name}{contender}}},
        lambda ours, theirs: bool(np.allclose(ours, theirs)),
        "16 MB of X read once",
    ),
]
'''

PEER = """
def sklearn_{name}(data):
    from {module} import {Name}

    return {run}

"""


def snake(name: str) -> str:
    """NearestCentroid -> nearest_centroid, PLSRegression -> pls_regression."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def twin(name: str) -> type | None:
    """scikit-learn's class of that name."""
    from sklearn.utils.discovery import all_estimators

    return dict(all_estimators()).get(name)


def guess(name: str, family: str, theirs: type | None) -> str:
    """The kind, from scikit-learn's class, the name or the family."""
    found = [m.__name__ for m in theirs.__mro__] if theirs else []
    for kind, mixin in zip(
        KINDS, ("Classifier", "Regressor", "Transformer", "Cluster"), strict=True
    ):
        if f"{mixin}Mixin" in found:
            return kind
    homes = {"cluster": "clusterer", "decomposition": "transformer", "features": "transformer"}
    return "regressor" if "Regress" in name else homes.get(family, "classifier")


def parts(kind: str, name: str) -> dict[str, str]:
    """What differs between the kinds."""
    answer = f"{'transform' if kind == 'transformer' else 'predict'}_{name}"
    weighted = {
        "y": "y: ArrayLike, sample_weight: ArrayLike | None = None",
        "given": ", y, sample_weight",
        "weight": ", sample_weight",
        "verb": "predict",
        "run": "{Name}().fit(*data).predict(data[0])",
        "after": "",
    }
    alone = {
        "y": "y: Any = None",
        "given": "",
        "weight": "",
        "target": "; y is ignored",
        "data": "X: Array",
        "shapes": "X (n, p)",
        "call": "rows.X",
        "example": "[[0.0], [1.0], [4.0], [6.0]]",
        "labels": "None",
        "after": "",
    }
    result = f"{answer}(self.parameters_, X)"
    return {
        "classifier": weighted
        | {
            "bases": "Classifier",
            "target": " with the labels y (n,)",
            "data": "X: Array, y: IntArray, w: Array, n_classes: int",
            "shapes": "X (n, p), codes y (n,) of the classes and weights w (n,)",
            "call": "rows.X, rows.y, rows.w, len(self.classes_)",
            "answer": "IntArray",
            "what": "the class of each row",
            "returned": "Any",
            "result": f"self.classes_[{result}]",
            "example": "[[0.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1]",
            "labels": "(X[:, 0] > 0).astype(int)",
        },
        "regressor": weighted
        | {
            "bases": "Regressor",
            "target": " with the numbers y (n,)",
            "data": "X: Array, y: Array, w: Array",
            "shapes": "X (n, p), y (n,) and weights w (n,)",
            "call": "rows.X, rows.y, rows.w",
            "answer": "Array",
            "what": "the number predicted for each row",
            "returned": "Array",
            "result": result,
            "example": "[[0.0], [1.0], [4.0], [6.0]], [1.0, 2.0, 5.0, 7.0]",
            "labels": "X[:, 0] - X[:, 1]",
        },
        "transformer": alone
        | {
            "bases": "OneToOneFeatureMixin, Transformer",
            "verb": "transform",
            "answer": "Array",
            "what": "the columns as they are after the transformation",
            "returned": "Array",
            "result": result,
            "run": "{Name}().fit(data[0]).transform(data[0])",
        },
        "clusterer": alone
        | {
            "bases": "ClusterMixin, Estimator",
            "verb": "predict",
            "answer": "IntArray",
            "what": "the number of each row's cluster",
            "returned": "IntArray",
            "result": result,
            "run": "{Name}().fit(data[0]).labels_",
            "after": f"        self.labels_ = {answer}(self.parameters_, rows.X)\n",
        },
    }[kind]


def constructor(theirs: type | None) -> tuple[str, str]:
    """The section of the docstring and ``__init__`` with the keywords of scikit-learn's class."""
    keywords = list(inspect.signature(theirs).parameters.values()) if theirs else []
    if not keywords:
        return "", "\n    def __init__(self) -> None:\n        pass\n"
    text = inspect.getdoc(theirs) or ""
    doc, head, body, star = ["", "    Parameters", "    ----------"], ["self"], [], False
    for p in keywords:
        if p.default == "deprecated":
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            head, star = [*head, "*"], True
        found = re.search(rf"^{p.name} ?: ?(.+)$", text, flags=re.MULTILINE)
        kind = found.group(1) if found else f"default={p.default!r}"
        doc.append(textwrap.wrap(f"    {p.name} : {kind}", 96)[0].rstrip(","))
        doc.append("        As in scikit-learn.")
        hint = (
            type(p.default).__name__ if isinstance(p.default, bool | int | float | str) else "Any"
        )
        empty = p.default is p.empty
        head.append(f"{p.name}: {'Any' if empty else f'{hint} = {written(p.default)}'}")
        body.append(f"        self.{p.name} = {p.name}")
    init = f"\n    def __init__({', '.join(head)}) -> None:\n" + "\n".join(body) + "\n"
    return "\n".join(doc) + "\n", init


def written(default: object) -> str:
    """A default as source; None for what has no literal, such as a function or a type.

    >>> written(0.5), written(len)
    ('0.5', 'None')
    """
    try:
        ast.literal_eval(repr(default))
    except (SyntaxError, ValueError):
        return "None"
    return repr(default)


def add_line(table: Path, name: str, home: str) -> None:
    """Put a name into the sorted table of an ``__init__.py``."""
    lines = table.read_text().splitlines()
    before = [
        i for i, x in enumerate(lines) if (m := re.match(r'    "(\w+)": "', x)) and m[1] < name
    ]
    first = next(i for i, x in enumerate(lines) if x.startswith("_HOME"))
    lines.insert(max(before, default=first) + 1, f'    "{name}": "{home}",')
    table.write_text("\n".join(lines) + "\n")


def places(family: str, sub: str, name: str) -> dict[str, Path]:
    """The new files, by what they hold."""
    inner = Path(family, sub)
    found = {
        "source": ROOT / "src/pellucid" / inner / f"{name}.py",
        "tests": ROOT / "tests" / inner / f"test_{name}.py",
        "page": ROOT / "docs/algorithms" / family / f"{name}.md",
        "benchmark": ROOT / "benchmarks" / family / f"{name}.py",
    }
    for path in found.values():
        if path.exists():
            sys.exit(f"{path.relative_to(ROOT)} is there already")
        if path.suffix == ".py" and len(list(path.parent.glob("*.py"))) >= MOST:
            sys.exit(f"{path.parent.relative_to(ROOT)} is full ({MOST} files): give SUB=folder")
    return found


def write(family: str, name: str, kind: str, sub: str) -> list[Path]:
    """Write the new files and the lines of the tables; return what was touched."""
    package = ROOT / "src/pellucid" / family
    table = package / "__init__.py"
    if not re.fullmatch(r"[A-Z]\w+", name):
        sys.exit(f"NAME is a class name such as NearestCentroid, got {name!r}")
    if not table.exists() or "_HOME" not in table.read_text():
        sys.exit(f"FAMILY is a folder of src/pellucid with a table of names, got {family!r}")
    if sub and not (package / sub / "__init__.py").exists():
        sys.exit(f"SUB is a folder of src/pellucid/{family}, got {sub!r}")
    low, theirs = snake(name), twin(name)
    kind = kind or guess(name, family, theirs)
    new = places(family, sub, low)
    words = low.replace("_", " ").capitalize()
    values: dict[str, Any] = {"Name": name, "name": low, "Words": words, "kind": kind}
    values |= parts(kind, low)
    values["run"] = values["run"].format(Name=name)
    values["method"] = METHOD.format(**values)
    values["doc"], values["init"] = constructor(theirs)
    module = theirs.__module__.rpartition("._")[0] or theirs.__module__ if theirs else ""
    values["peer"] = PEER.format(**values, module=module) if theirs else ""
    values["contender"] = f', "scikit-learn": sklearn_{low}' if theirs else ""
    texts = {"source": SOURCE, "tests": TESTS, "page": PAGE, "benchmark": BENCHMARK}
    for what, path in new.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[what].format(**values))
    home = f"{sub}.{low}" if sub else low
    add_line(table, name, home)
    add_line(ROOT / "src/pellucid/__init__.py", name, f"{family}.{home}")
    return [*new.values(), table, ROOT / "src/pellucid/__init__.py"]


def write_down(family: str, name: str) -> None:
    """Add the class to the list of public signatures and to the stubs of its two packages."""
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests/helpers"), str(ROOT / "tools")]
    from public_names import FILE, members, signature
    from stubs import packages, stubs

    import pellucid

    path, cls = f"pellucid.{family}.{name}", getattr(pellucid, name)
    new = {
        f"pellucid.{family}": [f"{path} {signature(cls)}", *members(path, cls)],
        "pellucid": [f"pellucid.{name} = {path}"],
    }
    lines = FILE.read_text().splitlines()
    for package, added in new.items():
        dots = package.count(".") + 1
        names = [line.split()[0] for line in lines]
        mine = [i for i, n in enumerate(names) if n.startswith(f"{package}.")]
        mine = [i for i in mine if dots > 1 or names[i].count(".") == 1]
        after = [i for i in mine if names[i].split(".")[dots] > name]
        place = after[0] if after else mine[-1] + 1
        lines[place:place] = added
    FILE.write_text("\n".join(lines) + "\n")
    folders = packages()
    for package, text in stubs(new).items():
        (folders[package] / "__init__.pyi").write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("family")
    parser.add_argument("name")
    parser.add_argument("--kind", default="", choices=("", *KINDS))
    parser.add_argument("--sub", default="")
    asked = parser.parse_args()
    touched = write(asked.family, asked.name, asked.kind, asked.sub)
    python = [str(p) for p in touched if p.suffix == ".py"]
    for command in (["check", "--fix", "--select=I,F401"], ["format"]):
        call = [sys.executable, "-m", "ruff", *command, "--quiet", *python]
        subprocess.run(call, cwd=ROOT, check=True)
    write_down(asked.family, asked.name)
    for path in touched:
        print(path.relative_to(ROOT))
    print("the stubs beside the tables, tests/public_names.txt")
    print("\nWhat is missing: python -m pytest", touched[1].relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
