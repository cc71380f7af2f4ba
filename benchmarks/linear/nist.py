"""Correct digits (log relative error) on NIST's reference data: moments, least squares, solvers.

    python -m benchmarks.linear.nist          prints the table of docs/nist.md

LRE = -log10(|found - certified| / |certified|), the worst number of a set, at most 15. The data of
NumAcc1 to 4 and Wampler4 and 5 follow from their definitions; the others are bundled.
"""

from fractions import Fraction
from typing import Any

import numpy as np

CASES: list[Any] = []  # no race: digits, not seconds
MOST = 15.0


def correct_digits(found: Any, exact: Any) -> float:
    """Of the worst number."""
    worst = MOST
    for a, b in zip(np.ravel(found).tolist(), np.ravel(exact).tolist(), strict=True):
        error = abs(Fraction(a) - Fraction(b))
        if error:
            worst = min(worst, -float(np.log10(float(error / abs(Fraction(b) or 1)))))
    return max(worst, 0.0)


def univariate() -> dict[str, Any]:
    """NumAcc1 to 4."""
    swing = np.tile([0.1, 0.3], 500)
    return {
        "NumAcc1": np.array([10000001.0, 10000003.0, 10000002.0]),
        "NumAcc2": np.append(1.2, 1 + swing),
        "NumAcc3": np.append(1000000.2, 1000000 + swing),
        "NumAcc4": np.append(10000000.2, 10000000 + swing),
    }


def exact_moments(x: Any) -> tuple[float, float]:
    """Mean and n-1 variance of the numbers as stored, by fractions, rounded once."""
    values = [Fraction(v) for v in x.tolist()]
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / (len(values) - 1)
    return float(mean), float(variance)


def regressions() -> dict[str, Any]:
    """Name -> design without intercept, y, certified coefficients (intercept first)."""
    from pellucid.data import load_nist, nist_certified

    found = {}
    for name in ("norris", "longley", "wampler1", "wampler2", "wampler3"):
        X, y = (part.to_numpy().astype(np.float64) for part in load_nist(name))
        if name.startswith("wampler"):
            X = X[:, :1] ** np.arange(1, 6)
        found[name] = X, y, np.array(nist_certified(name)["coef"])
    X, y1, ones = found["wampler1"]
    delta = found["wampler3"][1] - y1  # orthogonal to the powers: the coefficients stay 1
    found["wampler4"] = X, y1 + 100 * delta, ones
    found["wampler5"] = X, y1 + 10000 * delta, ones
    return found


def with_ones(X: Any) -> Any:
    return np.column_stack([np.ones(len(X)), X])


def pellucid_fit(X: Any, y: Any) -> Any:
    from pellucid import LinearRegression

    model = LinearRegression().fit(X, y)
    return np.append(model.intercept_, model.coef_)


def sklearn_fit(X: Any, y: Any) -> Any:
    from sklearn.linear_model import LinearRegression

    model = LinearRegression().fit(X, y)
    return np.append(model.intercept_, model.coef_)


def numpy_fit(X: Any, y: Any) -> Any:
    return np.linalg.lstsq(with_ones(X), y, rcond=None)[0]


def statsmodels_fit(X: Any, y: Any) -> Any:
    import statsmodels.api as sm

    return sm.OLS(y, with_ones(X)).fit().params


def newton_fit(X: Any, y: Any) -> Any:
    """The solver on columns scaled to length 1, as its page advises; two steps refine."""
    from pellucid.solvers import LinearObjective, Newton

    D = with_ones(X)
    size = np.linalg.norm(D, axis=0)
    f = LinearObjective(D / size, y, scale="half_sum")
    return Newton(max_iter=3, tol=None).minimise(f, "zeros").x / size


FITS = {"pellucid": pellucid_fit, "Newton": newton_fit, "NumPy lstsq": numpy_fit,
        "scikit-learn": sklearn_fit, "statsmodels": statsmodels_fit}  # fmt: skip


def tables() -> str:
    """The two tables in Markdown."""
    from pellucid.maths import moments

    lines = ["| set | pellucid mean | variance | NumPy mean | variance |", "|---|---|---|---|---|"]
    for name, x in univariate().items():
        mean, variance = exact_moments(x)
        ours = moments(x, ddof=1)
        row = [(ours.mean[0], mean), (ours.cov[0, 0], variance), (x.mean(), mean),
               (x.var(ddof=1), variance)]  # fmt: skip
        lines.append(f"| {name} | " + " | ".join(f"{correct_digits(*p):.1f}" for p in row) + " |")
    lines += ["", "| set | " + " | ".join(FITS) + " |", "|---" * (len(FITS) + 1) + "|"]
    for name, (X, y, certified) in regressions().items():
        row = [f"{correct_digits(fit(X, y), certified):.1f}" for fit in FITS.values()]
        lines.append(f"| {name} | " + " | ".join(row) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(tables())
