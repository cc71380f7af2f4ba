"""One tool, one table: learn from train.csv, predict test.csv. Runs in a process of its own.

    python study_workers.py TOOL FOLDER METRIC SECONDS

It is run by the interpreter that has the tool, so nothing of Pellucid is imported at the top.
Written to FOLDER/TOOL.npz: predictions, probabilities of "yes", seconds, and what was chosen.
"""

import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Job(NamedTuple):
    """What every tool is given."""

    folder: Path
    metric: str
    seconds: float  # time to learn in

    @property
    def numbers(self) -> bool:
        return self.metric == "rmse"

    def frames(self) -> tuple[Any, Any, Any]:
        """Inputs to learn from, target, inputs to predict; words as categories."""
        import pandas as pd

        train = pd.read_csv(self.folder / "train.csv")
        test = pd.read_csv(self.folder / "test.csv")
        y = train.pop("y")
        for name in train.columns:
            if not pd.api.types.is_numeric_dtype(train[name]):
                train[name] = train[name].astype("category")
                test[name] = pd.Categorical(test[name], categories=train[name].cat.categories)
        return train, y, test


def pellucid(job: Job, effort: str) -> tuple[Any, Any, str]:
    from pellucid import learn
    from pellucid.study import Plan

    record = learn(
        job.folder / "train.csv", "y", effort=effort, metric=job.metric,
        plan=Plan(time_limit=job.seconds),
    )  # fmt: skip
    return _said(job, record, job.folder / "test.csv", record.verdict.chosen)


def flaml(job: Job) -> tuple[Any, Any, str]:
    from flaml import AutoML

    X, y, test = job.frames()
    names = {"accuracy": "accuracy", "average_precision": "ap", "rmse": "rmse"}
    model = AutoML()
    model.fit(
        X, y, task="regression" if job.numbers else "classification", metric=names[job.metric],
        time_budget=job.seconds, seed=0, verbose=0, n_jobs=2,
    )  # fmt: skip
    return _said(job, model, test, str(model.best_estimator))


def mljar(job: Job) -> tuple[Any, Any, str]:
    from supervised import AutoML

    X, y, test = job.frames()
    with tempfile.TemporaryDirectory() as results:
        model = AutoML(
            mode="Explain", total_time_limit=int(job.seconds), eval_metric=job.metric,
            random_state=0, results_path=results, verbose=0, n_jobs=2,
        )  # fmt: skip
        model.fit(X, y)
        return _said(job, model, test, str(model._best_model.get_name()))


def histogram_boosting(job: Job) -> tuple[Any, Any, str]:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    X, y, test = job.frames()
    kind = HistGradientBoostingRegressor if job.numbers else HistGradientBoostingClassifier
    model = kind(random_state=0).fit(X, y)
    return _said(job, model, test, "defaults")


def _said(job: Job, model: Any, test: Any, chosen: str) -> tuple[Any, Any, str]:
    likely = model.predict_proba(test)[:, 1] if job.metric == "average_precision" else np.empty(0)
    return np.asarray(model.predict(test)).ravel(), np.asarray(likely, dtype=float), chosen


TOOLS = {
    "pellucid": lambda job: pellucid(job, "standard"),
    "pellucid-thorough": lambda job: pellucid(job, "thorough"),
    "flaml": flaml,
    "mljar": mljar,
    "sklearn": histogram_boosting,
}


def main(tool: str, folder: str, metric: str, seconds: str) -> None:
    warnings.simplefilter("ignore")
    job = Job(Path(folder), metric, float(seconds))
    began, busy = time.perf_counter(), time.process_time()
    prediction, likely, chosen = TOOLS[tool](job)
    np.savez(
        job.folder / f"{tool}.npz", prediction=prediction.astype(str), likely=likely,
        seconds=time.perf_counter() - began, busy=time.process_time() - busy, chosen=chosen,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
