"""Fits on an accelerator against our own on all cores and scikit-learn's: ``GPU.md``.

    python -m benchmarks.gpu --out benchmarks/GPU.md [--scale 1.0] [--device cuda]

Every case is fitted with the rows resident on the device, from host memory through
``backends.use(Torch(...))``, by our own fit on all cores and by scikit-learn; best of several. The
ceiling is measured on the same device: bytes per second of a copy.
"""

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """One fit: how it is made here and by the peer, and what must agree."""

    name: str
    rows: int
    columns: int
    ours: Callable[[], Any]
    peer: Callable[[], Any]
    target: str  # "", "number" or "class"
    passes: Callable[[Any], float]  # reads of X that the fit cannot do without
    answer: Callable[[Any], np.ndarray]


def cases(scale: float) -> list[Case]:
    """The dense families."""
    from sklearn import cluster, decomposition, linear_model, mixture

    import pellucid as ours

    n = int(5_000_000 * scale)
    rng = np.random.default_rng(0)
    start = rng.normal(size=(50, 50))
    few = rng.normal(size=(8, 50))
    rounds = {"means_init": few, "max_iter": 10, "tol": 0.0, "random_state": 0}
    return [
        Case(
            "LinearRegression", n, 50, ours.LinearRegression, linear_model.LinearRegression,
            "number", lambda m: 1, lambda m: m.coef_,
        ),
        Case(
            "PCA(10)", n, 50, lambda: ours.PCA(10),
            lambda: decomposition.PCA(10, svd_solver="covariance_eigh"),
            "", lambda m: 1, lambda m: m.explained_variance_,
        ),
        Case(
            "LogisticRegression", n, 50, ours.LogisticRegression,
            lambda: linear_model.LogisticRegression(solver="newton-cholesky", tol=1e-8),
            "class", lambda m: float(np.max(m.n_iter_)), lambda m: m.coef_.ravel(),
        ),
        Case(
            "KMeans(50), 20 rounds", n * 2 // 5, 50,
            lambda: ours.KMeans(50, init=start, n_init=1, max_iter=20, tol=0.0),
            lambda: cluster.KMeans(50, init=start, n_init=1, max_iter=20, tol=0.0),
            "", lambda m: 20.0, lambda m: m.cluster_centers_,
        ),
        Case(
            "GaussianMixture(8), 10 rounds", n // 5, 50,
            lambda: ours.GaussianMixture(8, **rounds),
            lambda: mixture.GaussianMixture(8, **rounds),
            "", lambda m: 10.0, lambda m: np.sort(m.means_, axis=0),
        ),
    ]  # fmt: skip


def data(case: Case) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows in a few loose groups, a linear target."""
    rng = np.random.default_rng(1)
    groups = 3.0 * rng.normal(size=(8, case.columns))
    X = rng.normal(size=(case.rows, case.columns)) + groups[rng.integers(0, 8, case.rows)]
    w = rng.normal(size=case.columns) / 5
    noise = rng.normal(size=case.rows)
    if case.target == "number":
        return X, X @ w + noise
    return X, (X @ w + 2 * noise > 0).astype(np.int64) if case.target == "class" else None


def best(work: Callable[[], Any], settle: Callable[[], None], times: int) -> tuple[float, Any]:
    """Least seconds of several runs, after one that is not counted; 0 times: that one."""
    seconds, found = [], None
    for _ in range(times + 1):
        settle()
        begin = time.perf_counter()
        found = work()
        settle()
        seconds.append(time.perf_counter() - begin)
    return min(seconds[1:] or seconds), found


def bandwidth(torch: Any, device: str) -> float:
    """Bytes per second, read and written, of a copy on the device."""
    a = torch.empty(2**28, dtype=torch.float64, device=device)
    b = torch.empty_like(a)
    settle = torch.cuda.synchronize if device.startswith("cuda") else (lambda: None)
    seconds, _ = best(lambda: b.copy_(a), settle, 5)
    return 2 * a.numel() * 8 / seconds


def measure(case: Case, device: str, ceiling: float, peers: bool) -> str:
    """One line of the table."""
    import torch

    from pellucid.backends import Torch, use

    X, y = data(case)
    given = (X,) if y is None else (X, y)
    settle = torch.cuda.synchronize if device.startswith("cuda") else (lambda: None)
    here = Torch(device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 10 rounds are no convergence, on purpose
        cpu, model = best(lambda: case.ours().fit(*given), lambda: None, 2)
        with use(here):
            tensors = [torch.from_numpy(a).to(device) for a in given]
            resident, on_device = best(lambda: case.ours().fit(*tensors), settle, 3)
            tensors.clear()
            host, _ = best(lambda: case.ours().fit(*given), settle, 1)
        peer = best(lambda: case.peer().fit(*given), lambda: None, 0)[0] if peers else np.nan
    a, b = case.answer(model), case.answer(on_device)
    gap = float(np.abs(a - b).max() / np.abs(a).max())
    share = case.passes(on_device) * X.nbytes / resident / ceiling
    figures = f"{resident * 1e3:.1f} | {host * 1e3:.0f} | {cpu * 1e3:.0f} | {peer * 1e3:.0f}"
    ratios = f"{cpu / resident:.1f} | {peer / resident:.1f} | {share:.0%} | {gap:.1e}"
    return f"| {case.name} | {case.rows:,} x {case.columns} | {figures} | {ratios} |"


def main() -> None:
    """Measure and write the page."""
    options = argparse.ArgumentParser()
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--device", default="cuda")
    options.add_argument("--no-peers", action="store_true")
    options.add_argument("--only", default="")
    given = options.parse_args()
    import torch

    ceiling = bandwidth(torch, given.device)
    name = torch.cuda.get_device_name() if given.device.startswith("cuda") else platform.machine()
    lines = [
        "# Fits on an accelerator",
        "",
        f"Written by `python -m benchmarks.gpu` on {name}; {os.cpu_count()} cores for the other "
        f"columns. A copy on the device moves {ceiling / 1e12:.2f} TB/s, read and written. Double "
        "precision. *Share*: the reads of X that the method cannot do without, as a share of that. "
        "*Gap*: largest relative difference from the answer of our fit on the cores.",
        "",
        "| fit | table | resident ms | from host ms | our cores ms | scikit-learn ms "
        "| cores / resident | scikit-learn / resident | share | gap |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for case in cases(given.scale):
        if given.only.lower() in case.name.lower():
            lines.append(measure(case, given.device, ceiling, not given.no_peers))
            print(lines[-1], flush=True)
            given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
