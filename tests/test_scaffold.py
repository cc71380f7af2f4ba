"""``make estimator`` writes every place; what then fails names the missing mathematics."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NEW = {  # kind: family, name; the first is a class of scikit-learn, whose keywords it takes
    "classifier": ("discriminant", "PassiveAggressiveClassifier"),
    "regressor": ("neighbors", "SteadyRegression"),
    "transformer": ("features", "WindowTransformer"),
    "clusterer": ("cluster", "ShiftClustering"),
}
PROBE = """
import importlib, inspect, sys, traceback, unittest
import pellucid
from sklearn.utils.estimator_checks import estimator_checks_generator

for pair in sys.argv[2:]:
    family, name = pair.split(".")
    cls = getattr(pellucid, name)
    assert inspect.getfile(cls).startswith(sys.argv[1]), inspect.getfile(cls)
    missing = 0
    for model, check in estimator_checks_generator(cls()):
        try:
            check(model)
        except unittest.SkipTest:
            continue
        except Exception:
            assert "is missing" in traceback.format_exc(), traceback.format_exc()
            missing += 1
    assert missing > 10, (name, missing)
    module = cls.__module__.rpartition(".")[2]
    assert name in importlib.import_module(f"benchmarks.{family}.{module}").CASES[0].name
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
    """The source, test, page and benchmark of each new class."""
    ends = ("passive_aggressive_classifier", "steady_regression")
    ends += ("window_transformer", "shift_clustering")
    return [p for end in ends for p in copy.rglob(f"*{end}.*") if p.suffix in (".py", ".md")]


def test_lint_and_stubs_hold(copy):
    new = files(copy)
    assert len(new) == 16
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


def test_the_contract_lacks_only_mathematics(copy):
    pairs = [".".join(pair) for pair in NEW.values()]
    done = run(copy, "-W", "ignore", "-c", PROBE, copy, *pairs)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_new_tests_and_pages_name_what_is_missing(copy):
    """Three tests and the example of the page fail; parameters, page and benchmark are in place."""
    new = [p for p in files(copy) if "tests" in p.relative_to(copy).parts]
    about = {p.stem for p in files(copy)} | {name for _, name in NEW.values()}
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", " or ".join(about)]
    done = run(copy, "-m", "pytest", *options, *new, "tests/test_docs.py")
    failed = [line for line in done.stdout.splitlines() if line.startswith("E  ")]
    assert len(failed) == 16, done.stdout
    assert all("is missing" in line for line in failed), done.stdout
