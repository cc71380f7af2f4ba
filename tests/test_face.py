"""What editors and type checkers see of the package: names, signatures, mistakes."""

import importlib
import subprocess
import sys
from pathlib import Path

import jedi
import pytest

import pellucid

ROOT = Path(__file__).parent.parent
WRONG = {
    "pellucid.Ridgee": "attr-defined",
    "from pellucid import Ridgee": "attr-defined",
    "KMeans(n_cluster=3)": "call-arg",
    'Ridge(alpha="no")': "arg-type",
    'SVC(kernel="linear", random_state="seven")': "arg-type",
}
RIGHT = """
KMeans(n_clusters=3, n_init=2, random_state=0).fit(frame).predict(frame)
Ridge(alpha=np.array([1.0, 2.0])), Ridge(alpha=[1.0, 2.0]), Ridge(alpha=1, random_state=rng)
pellucid.linear.Ridge(alpha=1.0).fit(X, y).predict(X)
pellucid.linear.Ridge(alpha=1.0).fit([[0.0], [1.0]], [0.0, 1.0]).predict([[2.0]])
pellucid.linear.Ridge(alpha=1.0).fit(frame[["a"]], frame["b"]).predict(frame[["a"]])
pellucid.linear.Ridge(alpha=1.0).fit(table[["a"]], table["b"]).predict(table[["a"]])
"""
HEAD = """
import numpy as np
import pandas as pd
import polars as pl
import pellucid
from pellucid import SVC, KMeans, Ridge

rng = np.random.default_rng(0)
X, y = rng.normal(size=(9, 1)), np.arange(9.0)
frame = pd.DataFrame({"a": y, "b": y})
table = pl.DataFrame({"a": y, "b": y})
"""


def test_the_stubs_are_what_the_tables_say():
    command = [sys.executable, ROOT / "tools/stubs.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("from pellucid import KM", ["KMeans", "KMedoids"]),
        ("from pellucid import KMeans\nKMeans(n_", ["n_clusters=", "n_init="]),
        ("from pellucid.neighbors import KNei", ["KNeighborsClassifier", "KNeighborsRegressor"]),
        (
            "import pellucid\npellucid.linear.RidgeC",
            ["RidgeClassifier", "RidgeClassifierCV", "RidgeCV"],
        ),
        ("from pellucid import Ridge\nRidge().fit(1, 2).predict_", ["predict_blocks"]),
    ],
)
def test_an_editor_completes(code, names):
    found = jedi.Script(code).complete()
    assert [c.name_with_symbols for c in found if c.name[0] != "_"] == names


def test_a_type_checker_tells_right_from_wrong(tmp_path):
    """mypy as a user runs it, on files that import the installed package."""
    (tmp_path / "wrong.py").write_text(HEAD + "\n".join(WRONG) + "\n")
    (tmp_path / "right.py").write_text(HEAD + RIGHT)
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "wrong.py", "right.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    first = len(HEAD.splitlines()) + 1
    for line, (code, kind) in enumerate(WRONG.items(), first):
        mine = [e for e in errors if e.startswith(f"wrong.py:{line}:")]
        assert mine, f"{code} passes\n{done.stdout}"
        assert f"[{kind}]" in mine[0]
    assert len(errors) == len(WRONG), done.stdout


def test_what_is_right_runs():
    exec(HEAD + RIGHT, {})


@pytest.mark.parametrize("package", ["", *pellucid._PACKAGES])
def test_the_stub_has_every_public_name(package):
    """Names that are imported on first use stand in the stub, and no others."""
    module = importlib.import_module(f"pellucid.{package}".rstrip("."))
    if not hasattr(module, "_HOME"):
        return
    stub = Path(module.__file__).with_suffix(".pyi").read_text()
    names = {line.split(" as ")[1].rstrip(",") for line in stub.splitlines() if " as " in line}
    assert names == set(module.__all__)
