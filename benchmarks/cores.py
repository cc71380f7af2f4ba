"""Seconds at 1, 2, 4, 8 and 16 threads beside the peers at the same number of threads.

    python -m benchmarks.cores [--threads 1,2,4,8,16] [--out FILE] [--only NAMES] [--repeats N]

Every fit is timed in a process of its own, whose thread pools are set before anything is imported:
it makes the data, fits once to warm up, then keeps the best of ``--repeats`` calls (fewer when they
are long). Before the clock runs, each family of ours is fitted once in processes side by side, so
that compiling is no part of it. A line of JSON goes to FILE when a process ends; what has a line
there is not run again. The table is printed at the end: seconds, how many times faster than on one
thread, the score (so that a fast wrong answer is seen), and what was slower with more threads.

A number of threads above the cores of this machine is left out, and said so. Peers that cannot be
imported are left out.

    --only NAMES     families, separated by commas: boosting, forest, logistic, ...
    --quick          a tenth of the rows: to see that it runs
    --total SECONDS  no process is begun after that
"""

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

POOLS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS", "PELLUCID_NUM_THREADS",
)  # fmt: skip
OURS = "pellucid"
ENOUGH = 8.0  # seconds of timed calls after which no other is begun
SLOWER = 1.05  # a fit that takes this many times longer with more threads is named


class Family(NamedTuple):
    """Data, and one function per library that fits them and answers with a score."""

    rows: int
    data: Callable[[int], Any]
    contenders: dict[str, Callable[[Any, int], float]]  # (data, threads) -> score


def two_classes(columns: int) -> Callable[[int], Any]:
    """Rows of two classes: linear, an interaction, noise."""

    def make(n: int) -> Any:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, columns))
        signal = X[:, 0] + 0.5 * X[:, 1] - X[:, 2] * X[:, 3] + rng.normal(size=n)
        return X, (signal > 0).astype(int)

    return make


def numbers(columns: int) -> Callable[[int], Any]:
    """Rows with a target that is a linear function and noise."""

    def make(n: int) -> Any:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, columns)) @ np.diag(np.linspace(1, 3, columns))
        return X, X @ rng.normal(size=columns) + rng.normal(size=n)

    return make


def groups(columns: int, k: int) -> Callable[[int], Any]:
    """Rows around k centres that overlap."""

    def make(n: int) -> Any:
        rng = np.random.default_rng(0)
        centres = 2 * rng.normal(size=(k, columns))
        return centres[rng.integers(k, size=n)] + rng.normal(size=(n, columns)), None

    return make


def fits(library: str, path: str, score: str = "score", **keywords: Any) -> Callable[..., float]:
    """Fit ``library.path(**keywords)``; ``{threads}`` stands for the number of threads.

    ``score`` is the method that judges the fit on the first 2,000 rows, or an attribute.
    """

    def run(data: Any, threads: int) -> float:
        module, _, name = f"{library}.{path}".rpartition(".")
        given = {key: threads if v == "{threads}" else v for key, v in keywords.items()}
        X, y = data
        model = getattr(importlib.import_module(module), name)(**given)
        model.fit(X) if y is None else model.fit(X, y)
        if score == "score":
            return float(model.score(X[:2000], None if y is None else y[:2000]))
        return float(np.sum(getattr(model, score)))

    return run


def both(path: str, score: str = "score", jobs: bool = False, **keywords: Any) -> dict[str, Any]:
    """Ours and scikit-learn's class of that name, with the same keywords."""
    theirs = keywords | ({"n_jobs": "{threads}"} if jobs else {})
    name = path.rpartition(".")[2]
    return {
        OURS: fits("pellucid", name, score, **keywords),
        "scikit-learn": fits("sklearn", path, score, **theirs),
    }


def booster(data: Any, threads: int) -> float:
    """LightGBM with the settings of the others."""
    from lightgbm import LGBMClassifier

    X, y = data
    settings = {"n_estimators": 100, "learning_rate": 0.1, "num_leaves": 31, "verbose": -1}
    return float(LGBMClassifier(**settings, n_jobs=threads).fit(X, y).score(X[:2000], y[:2000]))


def nearest(library: str) -> Callable[..., float]:
    """Label the second half of the rows by the ten nearest of the first."""

    def run(data: Any, threads: int) -> float:
        if library == OURS:
            from pellucid import KNeighborsClassifier

            model = KNeighborsClassifier(10)
        else:
            from sklearn.neighbors import KNeighborsClassifier

            model = KNeighborsClassifier(10, n_jobs=threads)
        (X, y), half = data, len(data[0]) // 2
        return float(np.mean(model.fit(X[:half], y[:half]).predict(X[half:]) == y[half:]))

    return run


FAMILIES = {
    "boosting": Family(
        200_000,
        two_classes(30),
        both(
            "ensemble.HistGradientBoostingClassifier",
            max_iter=100,
            learning_rate=0.1,
            max_leaf_nodes=31,
            early_stopping=False,
        )
        | {"lightgbm": booster},
    ),
    "forest": Family(
        50_000,
        two_classes(20),
        both("ensemble.RandomForestClassifier", jobs=True, n_estimators=100, random_state=0),
    ),
    "logistic": Family(200_000, two_classes(50), both("linear_model.LogisticRegression")),
    "linear": Family(400_000, numbers(60), both("linear_model.LinearRegression")),
    "pca": Family(200_000, numbers(100), both("decomposition.PCA", n_components=10)),
    "kmeans": Family(
        200_000,
        groups(20, 20),
        both("cluster.KMeans", "inertia_", n_clusters=20, n_init=1, random_state=0),
    ),
    "mixture": Family(
        100_000,
        groups(10, 8),
        both("mixture.GaussianMixture", n_components=8, max_iter=30, tol=1e-9, random_state=0),
    ),
    "neighbours": Family(
        100_000, two_classes(8), {OURS: nearest(OURS), "scikit-learn": nearest("sklearn")}
    ),
    "svc": Family(10_000, two_classes(20), both("svm.SVC", C=1.0)),
    "network": Family(
        20_000,
        two_classes(50),
        both("neural_network.MLPClassifier", max_iter=10, n_iter_no_change=100, random_state=0),
    ),
}


def work(family: str, contender: str, threads: int, rows: int, repeats: int) -> dict[str, Any]:
    """One process: fit once to warm up, then keep the best time."""
    import warnings

    warnings.simplefilter("ignore")  # ten epochs are no converged network
    data = FAMILIES[family].data(rows)
    function = FAMILIES[family].contenders[contender]
    times: list[float] = []
    while len(times) < 2 or (len(times) <= repeats and sum(times[1:]) < ENOUGH):
        began = time.perf_counter()
        score = function(data, threads)
        times.append(time.perf_counter() - began)
    return {
        "family": family,
        "contender": contender,
        "threads": threads,
        "rows": rows,
        "seconds": min(times[1:]),
        "first": times[0],
        "calls": len(times) - 1,
        "score": score,
    }


def start(arguments: list[Any], threads: int) -> dict[str, Any]:
    """Run ``work`` in a process whose pools have that many threads."""
    environment = os.environ | dict.fromkeys(POOLS, str(threads))
    command = [sys.executable, "-m", "benchmarks.cores", "--one", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        family, contender = arguments[:2]
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"family": family, "contender": contender, "threads": threads, "error": last}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def installed(contender: str) -> bool:
    module = {"scikit-learn": "sklearn"}.get(contender, contender)
    return importlib.util.find_spec(module) is not None


def read(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def race(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Every family, contender and number of threads that has no line yet."""
    out, began = Path(options.out), time.monotonic()
    known = {(r["family"], r["contender"], r["threads"]) for r in read(out) if "error" not in r}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    asked = [int(t) for t in options.threads.split(",")]
    if skipped := [t for t in asked if t > (cores or 1)]:
        print(f"left out: {skipped} threads on a machine of {cores} cores", flush=True)
    names = options.only.split(",") if options.only else list(FAMILIES)
    rows = {name: FAMILIES[name].rows // (10 if options.quick else 1) for name in names}
    jobs = [
        (name, contender, t)
        for name in names
        for t in asked
        for contender in FAMILIES[name].contenders
        if t not in skipped and installed(contender) and (name, contender, t) not in known
    ]
    with ThreadPoolExecutor(max(1, (cores or 1) // 2)) as pool:  # compile, side by side
        first = {name for name, contender, _ in jobs if contender == OURS}
        list(pool.map(lambda name: start([name, OURS, 2, rows[name] // 10, 1], 2), sorted(first)))
    print(f"compiled {len(first)} families in {time.monotonic() - began:.0f} s", flush=True)
    for name, contender, t in jobs:
        if options.total and time.monotonic() - began > options.total:
            print("time is over: the same command goes on where it was", flush=True)
            break
        line = start([name, contender, t, rows[name], options.repeats], t)
        with out.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(line.get("error") or f"{name} {contender} {t}: {line['seconds']:.3f} s", flush=True)
    return read(out)


def table(lines: list[dict[str, Any]]) -> str:
    """Seconds (and times faster than on one thread), a column for each number of threads."""
    lines = [line for line in lines if "error" not in line]
    threads = sorted({line["threads"] for line in lines})
    shown = ["| family | library | " + " | ".join(map(str, threads)) + " | score |"]
    shown.append("|---" * (len(threads) + 3) + "|")
    slower = []
    for family in FAMILIES:
        for contender in FAMILIES[family].contenders:
            mine = [r for r in lines if (r["family"], r["contender"]) == (family, contender)]
            found = {r["threads"]: r["seconds"] for r in mine}
            if not found:
                continue
            cells = [cell(found, t) for t in threads]
            score = f"{mine[-1]['score']:.5g}"
            shown.append(f"| {family} | {contender} | " + " | ".join(cells) + f" | {score} |")
            slower += losses(family, found) if contender == OURS else []
    return "\n".join([*shown, "", *slower])


def cell(found: dict[int, float], t: int) -> str:
    if t not in found:
        return ""
    base = f" ({found[1] / found[t]:.1f}x)" if 1 in found and t > 1 else ""
    return f"{found[t]:.3f}{base}"


def losses(family: str, found: dict[int, float]) -> list[str]:
    """Where more threads took longer than fewer by more than a twentieth."""
    return [
        f"{family}: {b} threads take {found[b]:.3f} s, {a} take {found[a]:.3f} s"
        for a in sorted(found)
        for b in sorted(found)
        if a < b and found[b] > SLOWER * found[a]
    ]


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--one"]:
        family, contender, *numbers_ = arguments[1:]
        print(json.dumps(work(family, contender, *map(int, numbers_))))
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", default="1,2,4,8,16")
    parser.add_argument("--out", default="cores.jsonl")
    parser.add_argument("--only", default="")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--total", type=float, default=0.0)
    print(table(race(parser.parse_args(arguments))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
