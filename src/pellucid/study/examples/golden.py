"""The golden numbers of ``pellucid doctor --self-test``: fits whose answers are known."""

import tempfile
import time
from collections.abc import Callable
from functools import partial
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

# A check that stops with one of these is a finding of the doctor, not a crash of it.
BROKEN = (
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


class Case(NamedTuple):
    """A fit whose answer is known: ``compute()`` must give ``expected`` to ``tolerance``."""

    name: str
    source: str
    expected: tuple[float, ...]
    tolerance: float  # largest relative error; absolute where 0 is expected
    compute: Callable[[], Any]


class Check(NamedTuple):
    """The outcome of one golden fit."""

    name: str
    source: str
    ok: bool
    error: float | None  # largest relative error, None when the fit stopped
    tolerance: float
    message: str
    seconds: float


def cases() -> list[Case]:
    """The golden numbers, each with its source."""
    from pellucid import data

    nist = [
        Case(
            f"least squares, {name}",
            "NIST's certified coefficients",
            tuple(data.nist_certified(name)["coef"]),
            tolerance,
            partial(fit_nist, name),
        )
        for name, tolerance in (
            ("norris", 1e-11),
            ("longley", 1e-11),
            ("wampler1", 1e-9),
            ("wampler2", 1e-9),
            ("wampler3", 1e-9),
        )
    ]
    return [
        *nist,
        Case(
            "k-means, eight points",
            "two rounds by hand: inertia, centres",
            (43 / 3, 7, 13 / 3, 1.5, 3.5, 11 / 3, 9),
            1e-12,
            fit_eight_points,
        ),
        Case(
            "Gaussian naive Bayes, 1 2 3 | 6 7 8",
            "by hand: variances, P(4.4)",
            (2 / 3, 2 / 3, 1 / (1 + exp(0.75))),
            1e-12,
            fit_two_groups,
        ),
        Case("save and load", "the same predictions, bit by bit", (0.0,), 0.0, save_and_load),
    ]


def fit_nist(name: str) -> Any:
    import numpy as np

    from pellucid import LinearRegression, data

    table, y = data.load_nist(name)
    X = table.to_numpy().astype(float)
    if name.startswith("wampler"):  # a polynomial of degree 5 in the one column
        X = X ** np.arange(1, 6)
    model = LinearRegression().fit(X, y)
    return np.append(model.intercept_, model.coef_)


def fit_eight_points() -> Any:
    import numpy as np

    from pellucid import KMeans

    X = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
    model = KMeans(3, init=X[[4, 5, 7]], n_init=1, tol=0.0).fit(X)
    return np.append(model.inertia_, model.cluster_centers_)


def fit_two_groups() -> Any:
    import numpy as np

    from pellucid import GaussianNB

    X = np.array([[1.0], [2.0], [3.0], [6.0], [7.0], [8.0]])
    model = GaussianNB(var_smoothing=0).fit(X, [0, 0, 0, 1, 1, 1])
    return np.append(model.var_, model.predict_proba([[4.4]])[0, 1])


def save_and_load() -> Any:
    import numpy as np

    import pellucid

    X = np.random.default_rng(0).normal(size=(50, 3))
    model = pellucid.LinearRegression().fit(X, X @ [1.0, -2.0, 0.5])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.pellucid")
        pellucid.save(model, path)
        return np.abs(pellucid.load(path).predict(X) - model.predict(X)).max()


def run_case(case: Case) -> Check:
    """Compute, compare, and turn a stopped fit into a failed check."""
    import numpy as np

    began = time.perf_counter()
    try:
        got = np.ravel(case.compute())
        want = np.array(case.expected)
        gap = np.abs(got - want)
        error = float(np.max(gap / np.where(want == 0, 1, np.abs(want))))
        ok, message = error <= case.tolerance, ""
    except BROKEN as stopped:
        error, ok, message = None, False, f"{type(stopped).__name__}: {stopped}"
    seconds = round(time.perf_counter() - began, 3)
    return Check(case.name, case.source, ok, error, case.tolerance, message, seconds)
