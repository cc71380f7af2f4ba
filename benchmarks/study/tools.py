"""One tool on one split: learn from train.csv, predict test.csv. Runs in a process of its own.

    python tools.py FOLDER

It is run by the interpreter that has the tool, so nothing of Pellucid is imported at the top and
pandas only by the tools that want frames. FOLDER holds job.json, train.csv and test.csv;
answer.npz is written: predictions, probabilities, seconds, what was chosen, and the tool's own
estimate of its score with its interval where it has one.
"""

import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

LEVELS = 254  # the most levels that HistGradientBoosting takes


class Job(NamedTuple):
    """What every tool is given. ``group`` and ``time`` name columns of train.csv, or are None."""

    folder: Path
    tool: str
    target: str
    kind: str  # "number" or "class"
    metric: str  # rmse, accuracy or log_loss: what the tool is told to mind
    seconds: float  # to learn in
    threads: int
    group: str | None
    time: str | None

    @property
    def numbers(self) -> bool:
        return self.kind == "number"

    @property
    def files(self) -> tuple[Path, Path]:
        return self.folder / "train.csv", self.folder / "test.csv"


class Said(NamedTuple):
    """What a tool answers for the judged rows."""

    prediction: Any
    likely: Any = None  # (n, k) probabilities in the order of ``classes``
    classes: Any = None
    chosen: str = "defaults"
    own: tuple[float, float, float] | None = None  # its estimate of the metric, low, high
    tested: Any = None  # predictions of the model that estimate is about, where it is another one


def answers(job: Job, model: Any, test: Any, **more: Any) -> Said:
    """Ask a fitted scikit-learn-like model."""
    prediction = np.asarray(model.predict(test)).ravel()
    if job.numbers:
        return Said(prediction.astype(float), **more)
    likely = np.asarray(model.predict_proba(test), dtype=float)
    return Said(prediction.astype(str), likely, np.asarray(model.classes_).astype(str), **more)


# --- ours ----------------------------------------------------------------------------------------


def pellucid(job: Job) -> Said:
    from pellucid import learn
    from pellucid.study import Plan

    train, test = job.files
    record = learn(
        train, job.target, effort=job.tool, metric=job.metric,
        task="regression" if job.numbers else "auto",
        plan=Plan(time=job.time, groups=job.group, time_limit=job.seconds),
    )  # fmt: skip
    prediction = np.asarray(record.predict(test)).ravel()
    score = record.verdict.interval
    more = {"chosen": record.verdict.chosen, "own": (score.estimate, score.low, score.high)}
    if record.tested is not None:
        more["tested"] = np.asarray(record._replace(model=record.tested).predict(test)).ravel()
    if job.numbers:
        return Said(prediction.astype(float), **more)
    likely = np.asarray(record.predict_proba(test), dtype=float)
    return Said(prediction.astype(str), likely, np.asarray(record.model.classes_, str), **more)


# --- peers that want numbers ---------------------------------------------------------------------


class Coded(NamedTuple):
    """Numbers alone: levels as codes by frequency, missing and unknown cells as NaN."""

    X: Any
    y: Any
    test: Any
    levels: list[int]  # which columns hold codes


def coded(job: Job, most: int | None = None) -> Coded:
    """The tables as matrices; of a column of levels only the ``most`` frequent are kept."""
    import polars as pl

    train, test = (pl.read_csv(path, infer_schema_length=None) for path in job.files)
    y = train[job.target].to_numpy()
    names = [c for c in train.columns if c not in (job.target, job.group)]
    left, right, levels = [], [], []
    for j, name in enumerate(names):
        both = train[name], test[name]
        if name == job.time and train[name].dtype == pl.String:
            both = tuple(pl.Series(_seconds(one.to_list())) for one in both)
        elif train[name].dtype == pl.String:
            levels.append(j)
            counts = train[name].drop_nulls().value_counts(sort=True)
            known = {word: float(i) for i, word in enumerate(counts[name].to_list()[:most])}
            both = tuple(pl.Series([known.get(w) for w in one.cast(pl.String)]) for one in both)
        left.append(both[0].cast(pl.Float64, strict=False).to_numpy())
        right.append(both[1].cast(pl.Float64, strict=False).to_numpy())
    y = y.astype(float) if job.numbers else y.astype(str)
    return Coded(np.column_stack(left), y, np.column_stack(right), levels)


def _seconds(texts: list[str]) -> Any:
    """Dates in ISO text as seconds."""
    stamps = np.array([text.rstrip("Z") for text in texts], dtype="datetime64[s]")
    return stamps.astype(np.int64).astype(float)


def lightgbm(job: Job) -> Said:
    from lightgbm import LGBMClassifier, LGBMRegressor

    data = coded(job)
    kind = LGBMRegressor if job.numbers else LGBMClassifier
    model = kind(
        random_state=0, n_jobs=job.threads, deterministic=True, force_row_wise=True, verbose=-1
    )
    model.fit(data.X, data.y, categorical_feature=data.levels)
    return answers(job, model, data.test)


def histogram_boosting(job: Job) -> Said:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    data = coded(job, LEVELS)
    kind = HistGradientBoostingRegressor if job.numbers else HistGradientBoostingClassifier
    model = kind(random_state=0, categorical_features=data.levels or None).fit(data.X, data.y)
    return answers(job, model, data.test)


def linear(job: Job) -> Said:
    """Medians for missing numbers, one column per level, ridge or logistic regression."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    data = coded(job)
    plain = [j for j in range(data.X.shape[1]) if j not in data.levels]
    filled = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    columns = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=100)
    model = make_pipeline(
        make_column_transformer((filled, plain), (columns, data.levels), sparse_threshold=0.0),
        RidgeCV(np.logspace(-3, 4, 15)) if job.numbers else LogisticRegression(max_iter=500),
    )
    return answers(job, model.fit(data.X, data.y), data.test)


# --- peers that want frames ----------------------------------------------------------------------


def frames(job: Job, *, moments: bool) -> tuple[Any, Any, Any, Any]:
    """Inputs, target, inputs to predict, groups; words as categories, dates as such or as seconds.

    The column of groups is no input: the groups to predict are new.
    """
    import pandas as pd

    train, test = (pd.read_csv(path) for path in job.files)
    y = train.pop(job.target)
    groups = None if job.group is None else train.pop(job.group).astype("category").cat.codes
    test = test[train.columns]
    for name in train.columns:
        if pd.api.types.is_numeric_dtype(train[name]):
            continue
        if name == job.time:
            dates = [pd.to_datetime(t[name].str.rstrip("Z")) for t in (train, test)]
            train[name], test[name] = dates if moments else [d.astype("int64") for d in dates]
        else:
            train[name] = train[name].astype("category")
            test[name] = pd.Categorical(test[name], categories=train[name].cat.categories)
    return train, y, test, groups


def catboost(job: Job) -> Said:
    from catboost import CatBoostClassifier, CatBoostRegressor

    X, y, test, _ = frames(job, moments=False)
    words = [name for name in X.columns if str(X[name].dtype) == "category"]
    for name in words:  # CatBoost takes text, not the absence of it
        X[name], test[name] = (t[name].astype(object).fillna("missing") for t in (X, test))
    kind = CatBoostRegressor if job.numbers else CatBoostClassifier
    with tempfile.TemporaryDirectory() as scratch:
        model = kind(
            random_seed=0, thread_count=job.threads, verbose=False, cat_features=words,
            train_dir=scratch,
        )  # fmt: skip
        return answers(job, model.fit(X, y), test)


def flaml(job: Job) -> Said:
    from flaml import AutoML

    X, y, test, groups = frames(job, moments=True)
    split = {} if job.time is None else {"split_type": "time"}
    if groups is not None:
        split = {"split_type": "group", "groups": groups.to_numpy()}
    model = AutoML()
    model.fit(
        X, y, task="regression" if job.numbers else "classification", metric=job.metric,
        time_budget=job.seconds, seed=0, verbose=0, n_jobs=job.threads, **split,
    )  # fmt: skip
    loss = float(model.best_loss)
    own = 1 - loss if job.metric == "accuracy" else loss
    return answers(job, model, test, chosen=str(model.best_estimator), own=(own, np.nan, np.nan))


def mljar(job: Job) -> Said:
    from supervised import AutoML

    X, y, test, _ = frames(job, moments=True)
    with tempfile.TemporaryDirectory() as results:
        model = AutoML(
            mode="Explain", total_time_limit=int(job.seconds), random_state=0, verbose=0,
            eval_metric=job.metric.replace("_", ""), n_jobs=job.threads, results_path=results,
            explain_level=0,
        )  # fmt: skip
        model.fit(X, y)
        best = model._best_model
        own = abs(float(best.get_final_loss()))
        chosen = str(best.get_name())
        prediction = np.asarray(model.predict(test)).ravel()
        if job.numbers:
            return Said(prediction.astype(float), chosen=chosen, own=(own, np.nan, np.nan))
        table = model.predict_all(test)
        likely = table[[c for c in table.columns if c.startswith("prediction_")]]
        classes = [c.removeprefix("prediction_") for c in likely.columns]
        return Said(
            prediction.astype(str), likely.to_numpy(), np.array(classes), chosen,
            (own, np.nan, np.nan),
        )  # fmt: skip


def autogluon(job: Job) -> Said:
    from autogluon.tabular import TabularPredictor

    X, y, test, groups = frames(job, moments=True)
    names = {"rmse": "root_mean_squared_error"}
    table = X.assign(**{job.target: y})
    held = np.zeros(len(table), dtype=bool)  # what it may choose by: whole groups, or later rows
    if groups is not None:
        held = (groups % 5 == 0).to_numpy()
    elif job.time is not None:
        held[4 * len(table) // 5 :] = True
    with tempfile.TemporaryDirectory() as scratch:
        model = TabularPredictor(
            job.target, path=scratch, verbosity=0, eval_metric=names.get(job.metric, job.metric),
            problem_type="regression" if job.numbers else None,
        )  # fmt: skip
        model.fit(
            table[~held], tuning_data=table[held] if held.any() else None, num_gpus=0,
            presets="medium_quality", time_limit=job.seconds, num_cpus=job.threads,
        )  # fmt: skip
        board = model.leaderboard().set_index("model")
        chosen = str(model.model_best)
        own = (abs(float(board.loc[chosen, "score_val"])), np.nan, np.nan)
        prediction = model.predict(test).to_numpy()
        if job.numbers:
            return Said(prediction.astype(float), chosen=chosen, own=own)
        likely = model.predict_proba(test)
        words = np.array([str(c) for c in likely.columns])
        return Said(prediction.astype(str), likely.to_numpy(), words, chosen, own)


TOOLS: dict[str, Callable[[Job], Said]] = {
    "quick": pellucid,
    "standard": pellucid,
    "thorough": pellucid,
    "lightgbm": lightgbm,
    "hgb": histogram_boosting,
    "linear": linear,
    "catboost": catboost,
    "flaml": flaml,
    "mljar": mljar,
    "autogluon": autogluon,
}


def main(folder: str) -> None:
    warnings.simplefilter("ignore")
    job = Job(Path(folder), **json.loads((Path(folder) / "job.json").read_text()))
    began, busy = time.perf_counter(), time.process_time()
    said = TOOLS[job.tool](job)
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    np.savez(
        job.folder / "answer.npz", prediction=said.prediction,
        likely=np.empty(0) if said.likely is None else said.likely,
        classes=np.empty(0) if said.classes is None else said.classes,
        chosen=said.chosen, seconds=seconds, busy=busy,
        own=np.array([] if said.own is None else said.own, dtype=float),
        tested=np.array([]) if said.tested is None else np.asarray(said.tested),
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
