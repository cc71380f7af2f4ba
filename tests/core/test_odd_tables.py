"""Any table, target or weights that people hand over gives an answer or a sentence.

One row, one class, NaN, None, numbers at the ends of their types, sparse tables whose indices lie,
frames of every library: no other error, no NaN without a word, and no end of the interpreter.
"""

import ast
from pathlib import Path

import pytest
from estimators import names
from odd_tables import CASES, odd_fault, odd_faults

import pellucid

SHARE = 97  # of the cases, one in so many is in the normal run
ALL = [(name, kind, oddity) for name in names() for kind, oddity in CASES]
SOURCE = Path(pellucid.__file__).parent
DOOR = SOURCE / "core" / "arrays" / "reading.py"
CHECKS = {"check_array", "check_X_y", "validate_data"}


@pytest.mark.parametrize(("name", "kind", "oddity"), ALL[::SHARE])
def test_a_share_of_the_oddities(name, kind, oddity):
    fault = odd_fault(name, kind, oddity)
    assert fault is None, fault


@pytest.mark.parametrize(
    ("name", "kind", "oddity"),
    [
        ("NegativeBinomialRegressor", "y", "numbers of 30 digits"),
        ("RANSACRegressor", "weights", "huge whole numbers"),
        ("MultiTaskLasso", "y", "NaN in words"),
        ("ClassifierChain", "y", "pd.NA in words"),
        ("SelectKBest", "y", "pd.NA in words"),
        ("SelfTrainingClassifier", "y", "pd.NA in words"),
        ("IsotonicRegression", "X", "rows of several lengths"),
        ("LabelBinarizer", "y", "nothing"),
        ("MissingIndicator", "X", "objects with pd.NA"),
        ("DBSCAN", "new rows", "csr with a far index"),
    ],
)
def test_oddities_that_were_answered_wrongly(name, kind, oddity):
    fault = odd_fault(name, kind, oddity)
    assert fault is None, fault


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_every_oddity(name):
    found = odd_faults(name)
    assert not found, found


def test_tables_are_read_through_one_door():
    """scikit-learn's checks trust the indices of a sparse table: ours are taken instead."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text("utf-8")
        if path == DOOR or "sklearn" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                assert not CHECKS & {alias.name for alias in node.names}, path
