"""Numbers published elsewhere, each with its citation: ours must agree to every printed digit.

A ``.toml`` file is one source. A case names its table (``golden_tables.py``), the call whose result
is ``fit``, and under ``numbers`` an expression with the published figures as they were printed. A
figure agrees when ours is within half a unit of its last digit; ``digits`` caps the significant
digits compared where the source itself stopped early, ``note`` says how a convention differs.
"""

import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_tables import load

import pellucid
from pellucid import evaluation, features, graphical, linear, reinforcement

SOURCES = {
    path.stem: tomllib.loads(path.read_text())
    for path in sorted(Path(__file__).parent.glob("*.toml"))
}
CASES = [
    pytest.param(case, id=f"{name}-{case['name']}")
    for name, source in SOURCES.items()
    for case in source["case"]
]
PACKAGES = (evaluation, features, graphical, linear, reinforcement, pellucid)
HOMES = {name: package for package in PACKAGES for name in package.__all__}
DIGITS = 10  # no published figure is compared to more


def evaluate(expression: str, names: dict[str, Any]) -> Any:
    """The value of an expression in public names of the library and the case's own names."""
    ours = {w: getattr(HOMES[w], w) for w in re.findall(r"\w+", expression) if w in HOMES}
    return eval(expression, {"np": np, **ours, **names})


def room(printed: str, digits: int) -> float:
    """Half a unit of the last digit that was printed, or of the last one that is compared."""
    number = Decimal(printed)
    last = number.as_tuple().exponent
    assert isinstance(last, int), f"{printed} is not a number"
    last = max(last, number.adjusted() - digits + 1) if number else last
    return 0.5000001 * 10.0**last


def disagreements(case: dict[str, Any]) -> list[str]:
    names = load(case.get("data", ""), case.get("table", {}))
    names["fit"] = evaluate(case["call"], names)
    wrong = []
    for expression, text in case["numbers"].items():
        printed = text.split()
        ours = np.ravel(np.asarray(evaluate(expression, names), float))
        if len(ours) != len(printed):
            wrong.append(f"{expression}: {len(ours)} numbers of ours, {len(printed)} published")
            continue
        for i, (a, b) in enumerate(zip(ours, printed, strict=True)):
            if not abs(a - float(b)) <= room(b, case.get("digits", DIGITS)):
                wrong.append(f"{expression}[{i}]: ours {a:.12g}, published {b}")
    return wrong


@pytest.mark.parametrize("case", CASES)
def test_ours_is_the_published_number(case):
    wrong = disagreements(case)
    assert not wrong, "\n".join(wrong)


def test_every_source_is_cited_and_the_suite_is_large():
    """A source says who published the figures and where; there are at least 500 of them."""
    assert all(len(source["citation"]) > 30 for source in SOURCES.values())
    assert {"name", "call", "numbers"} <= set.intersection(*(set(c.values[0]) for c in CASES))
    count = sum(len(t.split()) for c in CASES for t in c.values[0]["numbers"].values())
    assert count >= 500


def test_a_wrong_digit_is_seen():
    """One unit in the last printed digit fails; half a unit passes."""
    case = {"name": "mean", "call": "np.mean([1.0, 2.0])", "numbers": {"fit": "1.50"}}
    assert not disagreements(case)
    assert disagreements({**case, "numbers": {"fit": "1.51"}})
    assert disagreements({**case, "numbers": {"fit": "1.5 1.5"}})
    assert not disagreements({**case, "numbers": {"fit": "1.504"}, "digits": 2})
