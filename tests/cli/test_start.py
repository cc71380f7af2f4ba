"""A command imports what it uses: starting is most of what a short command takes."""

import subprocess
import sys

HEAVY = (
    "scipy.stats", "scipy.interpolate", "numpy.testing", "numpy.f2py", "asyncio",
    "pandas", "matplotlib", "sklearn.model_selection", "sklearn.metrics",
    "pellucid.study.candidates.training", "pellucid.evaluation.hypotheses.rank_tests",
    "numba", "llvmlite", "psutil", "rich", "scipy.optimize", "scipy.sparse.linalg",
    "sklearn.preprocessing",
)  # fmt: skip
OWN = 250  # modules of our own that a prediction may load


def python(code, cwd):
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_predicting_loads_nothing_that_trains_or_tests(saved, tmp_path):
    code = f"""
import sys
from pellucid.cli import main
for model in {[str(saved.sex), str(saved.mass)]}:
    try:
        main(["predict", model, {str(saved.table)!r}, "--quiet", "--out", model[-12] + ".csv"])
    except SystemExit as done:
        assert not done.code
print([name for name in {HEAVY} if name in sys.modules])
print(sum(name.startswith("pellucid") for name in sys.modules))
"""
    heavy, own = python(code, tmp_path)
    assert heavy == "[]"
    assert int(own) <= OWN


def test_a_kernel_is_compiled_when_it_is_called(tmp_path):
    """Importing estimators, their kernels among them, loads no Numba; the first call does."""
    code = """
import sys
from pellucid import GaussianNB, HistGradientBoostingRegressor, LogisticRegression, Ridge
import pellucid.core.algebra.gram as gram
print("numba" in sys.modules)
import numpy as np
print(gram.joint_moments(np.ones((2, 1)), np.ones((2, 1)), np.ones(2)).weight)
print("numba" in sys.modules)
"""
    assert python(code, tmp_path) == ["False", "2.0", "True"]


def test_what_stands_in_gives_way(tmp_path):
    """Whoever asks the module that stands in gets the real one, and nothing is left behind."""
    code = """
import sys
from pellucid.cli.shared.start import start_sklearn
start_sklearn()
print("scipy.stats" in sys.modules, "pandas" in sys.modules)
from sklearn.utils import fixes
import numpy as np
print(fixes._mode(np.array([1, 2, 2]))[0].item())
frame = fixes.pd.DataFrame({"a": [1.0, 2.0]})
import pandas, scipy.stats
print(type(frame) is pandas.DataFrame, scipy.stats.rankdata([3, 1]).tolist())
from sklearn.preprocessing import QuantileTransformer, PowerTransformer
print(PowerTransformer().fit_transform([[1.0], [2.0], [4.0]]).shape)
print(QuantileTransformer(n_quantiles=3).fit_transform(frame.assign(b=1.0)).shape)
from sklearn.callback import ProgressBar
print(isinstance(ProgressBar(), ProgressBar))
from sklearn.preprocessing import SplineTransformer
print(SplineTransformer(n_knots=3, degree=2).fit_transform([[1.0], [2.0], [4.0]]).shape)
import numpy.testing, scipy.interpolate, asyncio
named = (numpy.testing.assert_allclose, scipy.interpolate.BSpline, asyncio.run)
print(*(one.__name__ for one in named))
start_sklearn()
"""
    assert python(code, tmp_path) == [
        "False False", "2", "True [2.0, 1.0]", "(3, 1)", "(2, 2)", "True", "(3, 4)",
        "assert_allclose BSpline run",
    ]  # fmt: skip
