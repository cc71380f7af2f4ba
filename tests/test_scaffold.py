"""``make estimator`` writes every place; what then fails names the missing mathematics."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NEW = {  # kind: family, name; the first is a class of scikit-learn, whose keywords it takes
    "classifier": ("neighbors", "NearestCentroid"),
    "regressor": ("linear", "SteadyRegression"),
    "transformer": ("features", "WindowTransformer"),
    "clusterer": ("cluster", "ShiftClustering"),
}
PROBE = """
import doctest, importlib, inspect, sys, traceback
import numpy as np
import pellucid
from sklearn.utils.estimator_checks import estimator_checks_generator

name = sys.argv[1]
cls = getattr(pellucid, name)
assert "{copy}" in inspect.getfile(cls), inspect.getfile(cls)
missing = other = 0
for model, check in estimator_checks_generator(cls()):
    try:
        check(model)
    except Exception:
        text = traceback.format_exc()
        if " is missing" in text or "must be" in text:
            missing += 1
        else:
            other += 1
            print(text)
assert missing and not other, (missing, other)
importlib.import_module("benchmarks." + sys.argv[2]).CASES
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the repository with one new estimator of each kind."""
    target = tmp_path_factory.mktemp("copy")
    skip = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "pellucid-demo", "build")
    shutil.copytree(ROOT, target, ignore=skip, dirs_exist_ok=True)
    for kind, (family, name) in NEW.items():
        command = ["tools/estimator.py", family, name]
        command += [] if kind == "classifier" else ["--kind", kind]
        done = run(target, *command)
        assert done.returncode == 0, done.stdout + done.stderr
    return target


def run(copy, *command):
    paths = {"PYTHONPATH": f"{copy / 'src'}:{copy}:{copy / 'tests/helpers'}"}
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=copy,
        env={**os.environ, **paths},
        capture_output=True,
        text=True,
    )


def files(copy):
    return [p for n in ("*_centroid", "*dy_regression", "*w_transformer", "*t_clustering")
            for p in copy.rglob(f"{n}.*")]  # fmt: skip


def test_lint_and_stubs_hold(copy):
    new = files(copy)
    assert len(new) == 16  # source, test, page and benchmark of each
    python = [p for p in new if p.suffix == ".py"]
    for command in (["check"], ["format", "--check"]):
        done = run(copy, "-m", "ruff", *command, *python, *copy.rglob("src/pellucid/__init__.py*"))
        assert done.returncode == 0, done.stdout + done.stderr
    assert run(copy, "tools/stubs.py", "--check").returncode == 0
    for family, name in NEW.values():
        for package in ("", family):
            stub = (copy / "src/pellucid" / package / "__init__.pyi").read_text()
            assert f" {name} as {name}" in stub
        assert f"pellucid.{family}.{name} (" in (copy / "tests/public_names.txt").read_text()


@pytest.mark.parametrize(("family", "name"), list(NEW.values()), ids=list(NEW))
def test_the_contract_lacks_only_mathematics(copy, family, name):
    probe = PROBE.replace("{copy}", str(copy))
    low = next(p.stem for p in files(copy) if "benchmarks" in p.parts and name in p.read_text())
    done = run(copy, "-W", "ignore", "-c", probe, name, f"{family}.{low}")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_new_tests_and_pages_name_what_is_missing(copy):
    new = [p for p in files(copy) if "tests" in p.relative_to(copy).parts]
    names = " or ".join([name for _, name in NEW.values()])
    done = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *new)
    failed = [line for line in done.stdout.splitlines() if line.startswith("E  ")]
    assert len(failed) == 12
    assert all("is missing" in line for line in failed), done.stdout
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", names]
    done = run(copy, "-m", "pytest", *options, "tests/test_docs.py")
    assert done.returncode == 0, done.stdout
