r"""The study: from a file and a question to an honest answer, stage by stage.

    formalise -> split -> audit -> features -> candidates -> train -> evaluate -> verdict

Each stage is a method that may be called by itself (it calls what must come before it, once);
``run`` calls them all. The split comes before the audit looks at the target, and whatever looks
at the target sees learning rows only. The test rows are used once, at the end. Same data, seed and
effort give the same record, seconds apart.
"""

import os
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

import pellucid
from pellucid.core import check
from pellucid.core.threads import single_threaded_blas
from pellucid.data import load
from pellucid.data.loader import known_columns, name_list
from pellucid.evaluation.comparison import Comparison, compare_folds
from pellucid.evaluation.diagnosis import diagnose_fit
from pellucid.evaluation.folds import FoldScore
from pellucid.study.assessing import Evaluation, assess, build_model
from pellucid.study.auditing import audit_table
from pellucid.study.calibrating import calibration_scores
from pellucid.study.candidates import EFFORTS, Setting, Tried, find_candidates
from pellucid.study.deciding import threshold_costs
from pellucid.study.drifting import sketch_columns
from pellucid.study.findings import code_set, sorted_findings
from pellucid.study.fit_findings import Facts, fit_findings
from pellucid.study.insights import explain
from pellucid.study.records import (
    Audit,
    Candidate,
    ColumnPlan,
    FeatureRecord,
    Final,
    LeaderboardRow,
    Plan,
    SplitRecord,
    StudyRecord,
    Task,
)
from pellucid.study.residual_checks import residual_record
from pellucid.study.scoring import Scorer, fold_interval, make_scorer
from pellucid.study.signal import signal_p_values
from pellucid.study.splitting import make_split
from pellucid.study.targets import CLASSES, labelled_rows, target_array
from pellucid.study.tasks import detect_task
from pellucid.study.thresholds import find_cut
from pellucid.study.training import (
    Choice,
    Outcome,
    Trained,
    Workshop,
    choose_outcome,
    run_candidate,
    train_all,
    tune,
)
from pellucid.study.verdicts import Case, reach_verdict

Progress = Callable[[str, int, int, str], None]
STAGES = ("formalise", "split", "audit", "features", "train", "evaluate", "verdict")
RANK_CELLS = 5_000_000  # beyond so many cells the rank is not computed
FEW_PER_FEATURE = 10
NO_FAMILY = {
    "clustering": "there is no target to learn; `pellucid cluster` groups the rows of a table",
    "anomaly": "there is no target to learn; `pellucid anomalies` rates the rows of a table",
}


class TaskError(ValueError):
    """The question cannot be answered from this table: one class, too few rows, no column left."""


class Study:
    """One honest study of a table.

    Parameters
    ----------
    data : anything ``pellucid.data.load`` reads
        A path, a frame, a dict, an open file ...
    target : str or list of str
        The column(s) to predict.
    task : str, default="auto"
        The kind of task; "auto" looks at the target.
    metric : str, default="auto"
        The measure; chosen before training and then frozen.
    plan : Plan, optional
        What you know about the table: time, groups, costs, columns to drop or keep ...
    effort : {"quick", "standard", "thorough"}, default="standard"
    ignore : sequence of str
        Codes of findings to leave unsaid.
    random_state : int, default=0
    progress : callable (stage, done, total, text), optional
        Told how far the study is.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.study import Study
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> table = {"x": x, "y": 3 * x + 1 + rng.normal(size=200)}
    >>> study = Study(table, "y", effort="quick")
    >>> study.formalise().metric, study.split().kind
    ('rmse', 'random')
    >>> study.run().verdict.kind
    'linear_suffices'
    """

    def __init__(
        self,
        data: Any,
        target: Any = None,
        *,
        task: str = "auto",
        metric: str = "auto",
        plan: Plan | None = None,
        effort: str = "standard",
        ignore: Any = (),
        random_state: int = 0,
        progress: Progress | None = None,
    ) -> None:
        check.one_of(EFFORTS, effort=effort)
        self.plan = Plan() if plan is None else plan
        self.effort, self.random_state = effort, int(random_state)
        self.ignore = code_set(ignore)
        self._data, self._targets = data, name_list(target, "target")
        self._asked = (task, metric)
        self._progress = progress or (lambda stage, done, total, text: None)
        self._began = time.monotonic()
        self._done: dict[str, Any] = {}  # what each stage left
        self._doing = "starting"

    # --- stages ------------------------------------------------------------------------------

    def _stage(self, name: str, make: Callable[[], Any]) -> Any:
        """The record of a stage, made once."""
        if name not in self._done:
            self._doing = name
            at = STAGES.index(name) if name in STAGES else 0
            self._progress(name, at, len(STAGES), name)
            with single_threaded_blas():  # small matrices; and the same bits on any machine
                self._done[name] = make()
        return self._done[name]

    @property
    def frame(self) -> Any:
        """The table as a Polars frame."""
        if "frame" not in self._done:
            frame = load(self._data)
            if frame.height == 0:
                raise TaskError("the table has no rows")
            plan = self.plan
            named = [*self._targets, *plan.drop, *plan.keep]
            named += [name for name in (plan.time, plan.groups, plan.query) if name is not None]
            known_columns(named, dict.fromkeys(frame.columns), "the table")
            self._done["frame"] = frame
        return self._done["frame"]

    def formalise(self) -> Task:
        """Task, measure and experience; frozen from here on."""
        return self._stage("formalise", self._formalise)

    def _formalise(self) -> Task:
        kind, metric = self._asked
        frame = self.frame
        if not self._targets:
            raise TaskError(NO_FAMILY["anomaly" if kind == "anomaly" else "clustering"])
        single = len(self._targets) == 1
        task = detect_task(
            frame[self._targets[0]] if single else frame.select(self._targets),
            query=self.plan.query,
            kind=None if kind == "auto" else kind,
            metric=None if metric == "auto" else metric,
            cost_matrix=self.plan.cost_matrix,
        )
        if task.kind in NO_FAMILY:
            raise TaskError(NO_FAMILY[task.kind])
        if task.kind in CLASSES and len(task.classes) < 2:
            raise TaskError(
                f"the target {task.target[0]!r} has one class only, {task.classes[0]!r}; "
                "two are needed"
            )
        if self.plan.cost_matrix is not None:
            shape = np.shape(self.plan.cost_matrix)
            k = len(task.classes)
            if shape != (k, k):
                raise ValueError(f"cost_matrix must have the shape {(k, k)}, got {shape}")
        return task

    @property
    def task(self) -> Task:
        """The task; it cannot be changed."""
        return self.formalise()

    @property
    def metric(self) -> str:
        """The measure; it cannot be changed."""
        return self.formalise().metric

    def split(self) -> SplitRecord:
        """Which rows judge at the end, and the folds of the others."""
        return self._stage("split", self._split)

    def _split(self) -> SplitRecord:
        task = self.formalise()
        known = labelled_rows(self.frame, task)
        if int(known.sum()) < 10:
            raise TaskError(
                f"{int(known.sum())} rows have a target; at least 10 are needed for a study"
            )
        split = make_split(self.frame, task, self.plan, self.random_state)
        keep = lambda rows: np.asarray(rows)[known[np.asarray(rows)]]  # noqa: E731
        folds = tuple((keep(a), keep(b)) for a, b in split.folds)
        return split._replace(train=keep(split.train), test=keep(split.test), folds=folds)

    def audit(self) -> Audit:
        """What is wrong or remarkable about the table."""
        return self._stage("audit", self._audit)[0]

    def _audit(self) -> tuple[Audit, dict[str, str]]:
        split = self.split()
        found, left_out = audit_table(
            self.frame, self.formalise(), self.plan, split=split, ignore=tuple(self.ignore)
        )
        return found, dict(left_out)

    def left_out(self) -> dict[str, str]:
        """Columns that no model sees, and why."""
        self.audit()
        return self._done["audit"][1]

    def _inputs(self, extra: tuple[str, ...] = ()) -> dict[str, str]:
        """The input columns and their kinds."""
        out = set(self.left_out()) - set(extra)
        found = {}
        for column in self.audit().columns:
            name = column.name
            if name in self._targets or name in (self.plan.groups, self.plan.query):
                continue
            dropped = name in self.plan.drop or (name in out and name not in self.plan.keep)
            left = column.role == "left_out" and name not in (*self.plan.keep, *extra)
            if not (dropped or left):
                found[name] = column.kind
        return found

    def _shop(self, extra: tuple[str, ...] = ()) -> Workshop:
        task, split, frame = self.formalise(), self.split(), self.frame
        kinds = self._inputs(extra)
        if not kinds:
            raise TaskError("no column is left to learn from: every one is left out or dropped")
        known = labelled_rows(frame, task)
        y: Any = np.empty(0)
        some = target_array(frame.filter(known), task)
        y = np.zeros((frame.height, *some.shape[1:]), dtype=some.dtype)
        y[known] = some
        named = lambda name: None if name is None else frame[name].to_numpy()  # noqa: E731
        query = named(self.plan.query)
        return Workshop(
            frame.select(list(kinds)), y, split.folds, kind=split.kind, kinds=kinds,
            scorer=self._scorer(), groups=query if query is not None else named(self.plan.groups),
            query=query, effort=self.effort, seed=self.random_state,
        )  # fmt: skip

    def _scorer(self) -> Scorer:
        return make_scorer(self.formalise(), self.plan.cost_matrix)

    @property
    def _workshop(self) -> Workshop:
        if "shop" not in self._done:
            self._done["shop"] = self._shop()
        return self._done["shop"]

    def take(self, rows: Any) -> tuple[Any, Any]:
        """Inputs (a frame) and target (an array) of these rows, as every model gets them."""
        shop = self._workshop
        return shop.frame[rows], shop.y[rows]

    def features(self) -> FeatureRecord:
        """What becomes of every column, on the learning rows."""
        return self._stage("features", self._features)

    def _features(self) -> FeatureRecord:
        shop, split = self._workshop, self.split()
        features = shop.make_features({})
        Z = features.fit_transform(shop.frame[split.train], shop.y[split.train])
        n, p = Z.shape
        if p == 0:
            raise TaskError("no column varies in the learning rows: there is nothing to learn from")
        rank = int(np.linalg.matrix_rank(Z)) if Z.size <= RANK_CELLS else None
        plans = tuple(ColumnPlan(*row) for row in features.describe())
        reasons = {**self.left_out(), **dict.fromkeys(self.plan.drop, "dropped by the plan")}
        return FeatureRecord(plans, tuple(reasons.items()), n, p, rank, advice(n, p, rank))

    def candidates(self) -> list[Candidate]:
        """The models to try, guessing and the linear baseline first."""
        return [one.candidate for one in self._tried()]

    def _tried(self) -> list[Tried]:
        if "tried" not in self._done:
            self._done["tried"] = find_candidates(self._setting(), self.plan.candidates)
            if len(self._done["tried"]) < 2:
                raise TaskError(
                    f"no model of this version fits a task of the kind {self.task.kind}"
                )
        return self._done["tried"]

    def _setting(self) -> Setting:
        task, features, split = self.formalise(), self.features(), self.split()
        y = self._workshop.y[split.train]
        counts = np.unique(y, return_counts=True)[1] if task.kind in CLASSES else np.array([0])
        spread = 1.0 if task.kind in (*CLASSES, "multilabel") else float(np.std(y)) or 1.0
        texts = tuple(c.name for c in features.columns if c.kind == "text")
        return Setting(
            task, self.effort, len(split.train), features.n_features, len(counts),
            int(counts.min()), spread, texts, self.random_state, self.plan.cost_matrix,
        )  # fmt: skip

    def train(self) -> tuple[LeaderboardRow, ...]:
        """Every candidate on the same folds; the leaderboard, best first."""
        self._stage("train", self._train)
        return self._done["rows"]

    def _train(self) -> Trained:
        tried = self._tried()
        limit = self.plan.time_limit
        deadline = None if limit is None else self._began + limit

        def progress(done: int, total: int, text: str) -> None:
            self._doing = f"training {text}"
            self._progress("train", done, total, text)

        def keep(trained: Trained) -> None:
            self._done["trained"] = trained

        trained = train_all(self._workshop, tried, deadline=deadline, progress=progress, keep=keep)
        self._choose(trained)
        return trained

    def _choose(self, trained: Trained) -> None:
        shop = self._workshop
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            signal = signal_p_values(shop, trained.outcomes)
        choice = choose_outcome(shop, trained.outcomes, self.plan.alpha, signal)
        self._done["choice"] = choice
        self._done["rows"] = self._rows(trained.outcomes, choice)
        self._done["comparison"] = self._compare(trained.outcomes)

    def _rows(self, outcomes: list[Outcome], choice: Choice | None) -> tuple[LeaderboardRow, ...]:
        shop = self._workshop
        n = sum(len(judge) for _, judge in shop.folds)
        rows = []
        for i, one in enumerate(outcomes):
            rows.append(
                LeaderboardRow(
                    one.name,
                    one.key,
                    fold_interval(one.scores, shop.ratio(), self.metric, n),
                    float(one.train_scores.mean()),
                    one.seconds,
                    one.complexity,
                    float("nan") if choice is None else float(choice.p_worse[i]),
                    choice is not None and i == choice.chosen,
                    choice is not None and i == choice.best,
                    tuple(float(s) for s in one.scores),
                    _usual(one.params),
                    _note(one, len(shop.folds)),
                )
            )
        sign = shop.scorer.sign
        return tuple(sorted(rows, key=lambda r: (-sign * r.interval.estimate, r.complexity)))

    def _compare(self, outcomes: list[Outcome]) -> Comparison | None:
        shop = self._workshop
        sign = shop.scorer.sign
        ordered = sorted(outcomes, key=lambda o: (-sign * o.scores.mean(), o.complexity))
        found = {o.name: [FoldScore(float(s), None, None) for s in o.scores] for o in ordered}
        return compare_folds(
            found, shop.y, shop.judged(), test="corrected_t", correction="holm",
            alpha=self.plan.alpha, metric=self.metric,
            greater_is_better=self.formalise().greater_is_better,
        )  # fmt: skip

    def evaluate(self) -> Final:
        """Refit the winner on all learning rows and use the test rows once."""
        return self._stage("evaluate", self._evaluate).final

    def _evaluate(self) -> Evaluation:
        self.train()
        shop, split = self._workshop, self.split()
        trained, choice = self._done["train"], self._done["choice"]
        chosen, guess = trained.outcomes[choice.chosen], _guess_of(trained.outcomes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._doing = "tuning the chosen model"
            parts = shop.final_parts(chosen.tried.features)
            tuning = tune(shop, chosen.tried, parts, train=bool(chosen.tried.candidate.space))
            params = tuning.params[tuning.chosen]
            cut = find_cut(shop, chosen, self.task, self.plan.cost_matrix)
            self._doing = "fitting the chosen model"
            model = build_model(shop, chosen, split.train, params, self._costs(chosen, cut))
            dull = build_model(shop, guess, split.train, {}, None)
            self._doing = "scoring the test rows"
            found = assess(shop, model, dull, split.test, self.frame, cut)
        model.study_ = self._about(model, chosen, found, cut)
        rows = self._done["rows"]
        self._done["rows"] = tuple(r._replace(parameters=params) if r.chosen else r for r in rows)
        self._done |= {"model": model, "cut": cut, "tuning": tuning}
        self._explain(chosen, guess, found)
        return self._done["evaluation"]

    def _costs(self, chosen: Outcome, cut: Any) -> Any:
        """The costs by which the saved model decides; None: the likeliest class."""
        if not hasattr(chosen.models[0], "predict_proba") or chosen.complexity == 0:
            return None
        if self.plan.cost_matrix is not None and self.task.kind in CLASSES:
            return np.asarray(self.plan.cost_matrix, dtype=np.float64)
        if cut is None or not cut.moved:
            return None
        classes = chosen.models[0].classes_
        return threshold_costs(cut.threshold, int(np.flatnonzero(classes == self.task.positive)[0]))

    def _about(self, model: Any, chosen: Outcome, found: Evaluation, cut: Any) -> dict[str, Any]:
        """What the model file says of the study it comes from."""
        task, shop, split = self.task, self._workshop, self.split()
        said = found.said
        return {
            "target": list(task.target),
            "kind": task.kind,
            "classes": [str(label) for label in task.classes],
            "positive": None if task.positive is None else str(task.positive),
            "metric": task.metric,
            "score": found.final.table[task.metric].to_dict(),
            "name": chosen.name,
            "threshold": None if cut is None else cut.threshold,
            "columns": dict(shop.kinds),
            "query": self.plan.query,
            "digest": self.audit().digest,
            "rows": self.frame.height,
            "calibration": calibration_scores(
                task, getattr(model, "classes_", None), said.prediction, said.probability, found.y,
                split.kind,
            ),
            "training": sketch_columns(shop.frame[split.train], shop.kinds),
        }  # fmt: skip

    def _explain(self, chosen: Outcome, guess: Outcome, found: Evaluation) -> None:
        """Insight, diagnosis and findings about the fit."""
        shop, trained, choice = self._workshop, self._done["train"], self._done["choice"]
        self._doing = "explaining the model"
        self._progress("evaluate", 1, 3, "explaining the model")
        linear = next((o for o in trained.outcomes if o.complexity == 1), None)
        tuning = self._done["tuning"] if chosen.tried.candidate.space else None
        insight = explain(shop, chosen, linear, tuning)
        richer = [o for o in trained.outcomes if o.complexity > chosen.complexity]
        sign = shop.scorer.sign
        rich = max(richer, key=lambda o: sign * o.scores.mean()) if richer else None
        diagnosis = diagnose_fit(
            chosen.train_scores, chosen.scores, baseline=guess.scores,
            richer=None if rich is None or not choice.signal else rich.scores,
            greater_is_better=self.task.greater_is_better, alpha=self.plan.alpha,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            health = residual_record(shop)
        final = found.final._replace(
            residual_health=health, with_left_out=self._with_left_out(chosen)
        )
        found = found._replace(final=final)
        n = sum(len(judge) for _, judge in shop.folds)
        facts = Facts(
            self.task, trained.outcomes, choice, self._done["rows"], found, diagnosis, insight,
            health, self._done["cut"], n, self.plan.alpha,
        )  # fmt: skip
        self._done |= {"evaluation": found, "insight": insight, "diagnosis": diagnosis}
        self._done["fit findings"] = fit_findings(facts)

    def _with_left_out(self, chosen: Outcome) -> dict[str, Any] | None:
        """The score of the chosen model with the columns that were left out as leaks or names."""
        codes = ("PEL105", "PEL301", "PEL302")
        named = {c for f in self.audit().findings if f.code in codes for c in f.where}
        extra = tuple(
            name for name in self.left_out()
            if name in named and name not in self.plan.drop and name in self.frame.columns
        )  # fmt: skip
        if not extra or chosen.complexity == 0:
            return None
        shop = self._shop(extra)
        space = {name: [value] for name, value in _usual(chosen.params).items()}
        tried = chosen.tried._replace(candidate=chosen.tried.candidate._replace(space=space))
        outcome = run_candidate(shop, tried, deadline=None, step=lambda fold: None)
        n = sum(len(judge) for _, judge in shop.folds)
        one = fold_interval(outcome.scores, shop.ratio(), self.metric, n)
        return {
            "columns": list(extra), "metric": self.metric, "with": one.to_dict(),
            "without": fold_interval(chosen.scores, shop.ratio(), self.metric, n).to_dict(),
        }  # fmt: skip

    # --- the whole ---------------------------------------------------------------------------

    def run(self) -> StudyRecord:
        """Every stage in turn.

        An interrupt (Ctrl-C) is passed on; ``record`` then holds what was found until then.
        """
        try:
            self.audit()
            self.evaluate()
            self._stage("verdict", self._verdict)
        except KeyboardInterrupt:
            self._done["partial"] = f"interrupted while {self._doing}"
            raise
        self._progress("verdict", len(STAGES), len(STAGES), "done")
        return self.record()

    def _verdict(self) -> Any:
        metric, final = self.metric, self.evaluate()
        score = final.table[metric]
        return reach_verdict(
            Case(
                self.task, score, final.baseline[metric].estimate, final.n, self._done["rows"],
                self._done["choice"].signal, self._findings(), self.plan.alpha, self._limit(),
            )
        )  # fmt: skip

    def _findings(self) -> tuple[Any, ...]:
        audit = self._done["audit"][0].findings if "audit" in self._done else ()
        return sorted_findings([*audit, *self._done.get("fit findings", ())], self.ignore)

    def _limit(self) -> str:
        trained = self._done.get("trained")
        if trained is None or not trained.skipped:
            return ""
        names = ", ".join(trained.skipped)
        return f"the time limit of {self.plan.time_limit:g} s left no time for {names}"

    def record(self) -> StudyRecord:
        """What has been found so far; ``partial`` says what is missing."""
        done = self._done
        if "formalise" not in done or "audit" not in done:
            raise ValueError(f"there is no record yet: the study was {self._doing}")
        rows = done.get("rows", ())
        if not rows and "trained" in done:
            rows = self._rows(done["trained"].outcomes, None)
        whole = "verdict" in done
        partial = done.get("partial") or self._limit()
        if not whole and not partial:
            partial = f"the study is at the stage {self._doing}"
        model = done.get("model")
        step = None if model is None else model[-1]
        return StudyRecord(
            task=done["formalise"],
            audit=done["audit"][0],
            split=done.get("split"),
            features=done.get("features"),
            baseline=next((row for row in rows if row.complexity == 0), None),
            leaderboard=rows,
            comparison=done.get("comparison"),
            final=done["evaluation"].final if "evaluation" in done else None,
            diagnosis=done.get("diagnosis"),
            insight=done.get("insight"),
            findings=self._findings(),
            verdict=done.get("verdict"),
            card=None if step is None else step.card().to_dict(),
            model=model,
            reproduction=self._reproduction(),
            partial=partial,
        )

    def _reproduction(self) -> dict[str, Any]:
        done = self._done
        trained = done.get("trained")
        packages = ("numpy", "scipy", "scikit-learn", "numba", "polars")
        task, metric = self._asked
        return {
            "source": _source(self._data),
            "digest": done["audit"][0].digest,
            "rows": self.frame.height,
            "columns": self.frame.width,
            "target": self._targets,
            "task": task,
            "metric": metric,
            "plan": self.plan.to_dict(),
            "effort": self.effort,
            "seed": self.random_state,
            "ignore": sorted(self.ignore),
            "versions": {"pellucid": pellucid.__version__} | {p: version(p) for p in packages},
            "not_scored": [] if trained is None else [f._asdict() for f in trained.failed],
            "seconds": round(time.monotonic() - self._began, 2),
        }


def advice(n: int, p: int, rank: int | None) -> str:
    """One sentence on the number of features.

    >>> advice(275, 12, 12)
    '12 features for 275 rows: enough rows.'
    """
    text = f"{p} feature{'s' if p != 1 else ''} for {n} rows"
    if p >= n:
        return f"{text}: more features than rows; penalties are needed, selection or PCA may help."
    if n < FEW_PER_FEATURE * p:
        return f"{text}: few rows for each; penalties help, selection or PCA may help."
    if rank is not None and rank < p:
        return f"{text}: enough rows, but only {rank} of them are independent."
    return f"{text}: enough rows."


def _usual(params: list[dict[str, Any]]) -> dict[str, Any]:
    """The parameters chosen in most folds; of equal ones the first."""
    shown = [repr(one) for one in params]
    return params[max(range(len(params)), key=lambda i: (shown.count(shown[i]), -i))]


def _note(one: Outcome, folds: int) -> str:
    notes = []
    if one.unconverged:
        notes.append(f"not converged in {one.unconverged} of {folds} folds")
    if one.sampled:
        notes.append(f"tuned on {one.sampled:,} rows")
    return "; ".join(notes)


def _guess_of(outcomes: list[Outcome]) -> Outcome:
    return next(one for one in outcomes if one.complexity == 0)


def _source(data: Any) -> str:
    return os.fspath(data) if isinstance(data, str | os.PathLike) else "a table in memory"


def learn(
    data: Any,
    target: Any = None,
    *,
    task: str = "auto",
    metric: str = "auto",
    plan: Plan | None = None,
    effort: str = "standard",
    ignore: Any = (),
    random_state: int = 0,
    progress: Progress | None = None,
) -> StudyRecord:
    """Study a table and say how well the target can be predicted from it.

    The parameters are those of ``Study``; this is ``Study(...).run()``.

    Examples
    --------
    >>> import numpy as np
    >>> import pellucid
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> table = {"x": x, "y": 3 * x + 1 + rng.normal(size=200)}
    >>> record = pellucid.learn(table, "y", effort="quick")
    >>> record.verdict.kind, record.verdict.chosen
    ('linear_suffices', 'ridge regression')
    """
    return Study(
        data, target, task=task, metric=metric, plan=plan, effort=effort, ignore=ignore,
        random_state=random_state, progress=progress,
    ).run()  # fmt: skip
