"""Small fits and single rows: fit of 150 x 4 and the answer for one row, beside scikit-learn.

    python -m benchmarks.small [names ...] [--repeats N] [--out FILE] [--behind]

Every class that has scikit-learn's name is made with its default settings in both libraries (a few
cannot be, or would run for long: SETTINGS), fitted to the same table and asked for one row. The two
take turns in one process with one thread, and the median of the processor's time is shown in
microseconds, so that other work on the machine counts little. A ratio above 1: ours is faster.
``--behind`` shows only what is slower. Compilation is no part of it: each fit runs twice before.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SETTINGS: dict[str, dict[str, Any]] = {  # for both libraries
    "BaggingClassifier": {"random_state": 0},
    "BaggingRegressor": {"random_state": 0},
    "BisectingKMeans": {"n_clusters": 3, "random_state": 0},
    "ExtraTreesClassifier": {"n_estimators": 10, "random_state": 0},
    "ExtraTreesRegressor": {"n_estimators": 10, "random_state": 0},
    "GradientBoostingClassifier": {"n_estimators": 10, "random_state": 0},
    "GradientBoostingRegressor": {"n_estimators": 10, "random_state": 0},
    "HistGradientBoostingClassifier": {"max_iter": 10},
    "HistGradientBoostingRegressor": {"max_iter": 10},
    "IsolationForest": {"n_estimators": 10, "random_state": 0},
    "KMeans": {"n_clusters": 3, "random_state": 0},
    "MLPClassifier": {"max_iter": 20, "random_state": 0},
    "MLPRegressor": {"max_iter": 20, "random_state": 0},
    "RandomForestClassifier": {"n_estimators": 10, "random_state": 0},
    "RandomForestRegressor": {"n_estimators": 10, "random_state": 0},
    "SelectKBest": {"k": 2},
    "SpectralClustering": {"n_clusters": 3, "random_state": 0},
}
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PELLUCID_NUM_THREADS")
INNER = "LogisticRegression"  # of a class that needs an estimator
ANSWERS = ("predict", "transform", "kneighbors", "score_samples", "fit_predict")


class Line(NamedTuple):
    """Microseconds of one class."""

    name: str
    fit: float
    fit_theirs: float
    answer: float  # NaN where the class answers no single row
    answer_theirs: float

    @property
    def ratios(self) -> tuple[float, float]:
        """Theirs by ours: fit and answer."""
        return self.fit_theirs / self.fit, self.answer_theirs / self.answer


def pairs() -> dict[str, tuple[Any, Any]]:
    """Our class and scikit-learn's, by their common name."""
    from sklearn.utils import all_estimators

    import pellucid

    theirs = dict(all_estimators())
    names = sorted(set(pellucid.__all__) & set(theirs))
    return {name: (getattr(pellucid, name), theirs[name]) for name in names}


def build(cls: Any, inner: Any) -> Any:
    """The estimator with its settings; ``inner`` for the one that it needs."""
    given = dict(SETTINGS.get(cls.__name__, {}))
    try:
        return cls(**given)
    except TypeError:
        return cls(inner(), **given)


def data(model: Any) -> tuple[Any, Any]:
    """150 x 4 with the target that the tags ask for."""
    from sklearn.base import is_classifier
    from sklearn.utils import get_tags

    rng = np.random.default_rng(0)
    group = np.arange(150) % 3
    X = rng.normal(size=(150, 4)) + 2.0 * np.eye(3, 4)[group]
    tags = get_tags(model)
    if tags.input_tags.positive_only or tags.input_tags.categorical:
        X = np.floor(np.abs(X))
    if tags.target_tags.one_d_labels:
        return group, None
    if is_classifier(model):
        several = tags.target_tags.multi_output and not tags.target_tags.single_output
        return X, np.column_stack([group == 0, group == 1]).astype(int) if several else group
    y = np.exp(0.2 * X[:, 0]) + 0.1 * rng.random(150)
    if tags.target_tags.multi_output and not tags.target_tags.single_output:
        return X, np.column_stack([y, y])
    return X, y


def microseconds(calls: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Medians of the processor's time of calls that take turns."""
    times: list[list[int]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, found in zip(calls, times, strict=True):
            began = time.process_time_ns()
            call()
            found.append(time.process_time_ns() - began)
    return [float(np.median(found)) / 1000 for found in times]


def measure(name: str, ours: Any, theirs: Any, inners: tuple[Any, Any], repeats: int) -> Line:
    """One line; an error of either library goes through."""
    models = [build(cls, inner) for cls, inner in zip((ours, theirs), inners, strict=True)]
    X, y = data(models[1])

    def fit(model: Any) -> Callable[[], Any]:
        return (lambda: model.fit(X)) if y is None else (lambda: model.fit(X, y))

    fits = [fit(model) for model in models]
    for call in fits * 2:
        call()
    fitting = microseconds(fits, repeats)
    method = next((m for m in ANSWERS[:-1] if all(hasattr(one, m) for one in models)), None)
    answering = [float("nan")] * 2
    if method is not None:
        asks = [lambda one=one: getattr(one, method)(X[:1]) for one in models]
        for call in asks * 2:
            call()
        answering = microseconds(asks, 3 * repeats)
    return Line(name, fitting[0], fitting[1], answering[0], answering[1])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--out", default="")
    parser.add_argument("--behind", action="store_true")
    options = parser.parse_args(arguments)
    if any(os.environ.get(pool) != "1" for pool in POOLS):  # to be set before NumPy is imported
        command = [sys.executable, "-m", "benchmarks.small", *arguments]
        return subprocess.run(command, env=os.environ | dict.fromkeys(POOLS, "1")).returncode
    warnings.simplefilter("ignore")
    found = pairs()
    inners = found[INNER]
    print("| class | fit us | scikit-learn | ratio | one row us | scikit-learn | ratio |")
    print("|---|---|---|---|---|---|---|")
    lines, failed = [], []
    for name, (ours, theirs) in found.items():
        if options.names and name not in options.names:
            continue
        try:
            line = measure(name, ours, theirs, inners, options.repeats)
        except Exception as error:  # noqa: BLE001  one class that cannot run is named at the end
            failed.append(f"{name}: {type(error).__name__}: {error}"[:150])
            continue
        lines.append(line)
        a, b = line.ratios
        if not options.behind or a < 1 or b < 1:
            cells = f"{line.fit:.0f} | {line.fit_theirs:.0f} | {a:.2f}"
            answer = f"{line.answer:.0f} | {line.answer_theirs:.0f} | {b:.2f}"
            print(f"| {name} | {cells} | {answer} |", flush=True)
    slower = [sum(line.ratios[i] < 1 for line in lines) for i in range(2)]
    print(f"\n{len(lines)} classes; slower than scikit-learn: fit {slower[0]}, one row {slower[1]}")
    print("\n".join(["not measured:", *failed]) if failed else "")
    if options.out:
        Path(options.out).write_text(json.dumps([line._asdict() for line in lines], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
