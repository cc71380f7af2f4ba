"""A corrupt sparse table is refused before anything takes rows of it, by every class and function.

Rows of it are read from outside its memory, and the interpreter may die: so children are asked.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from corrupt_rows import KINDS, cases
from scipy.sparse import csr_matrix
from trapped_tables import Followed, trapped

from pellucid import CalibratedClassifierCV, GaussianNB, TunedEstimator
from pellucid.core.arrays.sparse import check_places
from pellucid.evaluation import compare, cross_validated

PROGRAM = Path(__file__).with_name("corrupt_rows.py")
WORDS = r"pointers \(indptr\) do not fit"


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_follows_pointers_before_it_looks(kind):
    path = os.pathsep.join(filter(None, sys.path))
    child = subprocess.run(
        [sys.executable, PROGRAM, kind],
        env={**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    last = child.stderr[-1000:]
    assert child.returncode == 0, f"ended with {child.returncode} after {last}"
    assert not json.loads(child.stdout), child.stdout


def test_what_takes_a_table_is_found():
    assert {"evaluation.cross_validated", "data.blocks", "kernel.gram"} <= set(cases("functions"))


@pytest.mark.parametrize("follow", [lambda X: X[:2], lambda X: X.tocsc(), lambda X: X @ X.T])
def test_the_trap_springs(follow):
    table = trapped(np.ones((40, 4)))
    with pytest.raises(Followed):
        follow(table)
    with pytest.raises(ValueError, match=WORDS):
        check_places(table)


@pytest.mark.parametrize(
    "read",
    [
        lambda X, y: CalibratedClassifierCV(GaussianNB()).fit(X, y),
        lambda X, y: TunedEstimator(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}).fit(X, y),
        lambda X, y: cross_validated(GaussianNB(), X, y),
        lambda X, y: compare({"a": GaussianNB(), "b": GaussianNB(var_smoothing=1e-3)}, X, y),
    ],
)
def test_what_cuts_a_table_says_why_not(read):
    X, y = csr_matrix(np.ones((40, 4))), np.arange(40) % 2
    X.indptr[2] = 10**6
    with pytest.raises(ValueError, match=WORDS):
        read(X, y)
